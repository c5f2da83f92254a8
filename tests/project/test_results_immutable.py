"""What an analysis concluded cannot be changed afterwards: every class of a `result.py` is frozen and has slots."""

from __future__ import annotations

import ast
from pathlib import Path

import recassay

ANALYSIS = Path(recassay.__file__).parent / "analysis"


def test_classes_of_results_are_frozen():
    marks = {
        f"{path.parent.name}.{node.name}": ast.unparse(mark)
        for path in ANALYSIS.rglob("result.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        for mark in node.decorator_list
        if ast.unparse(mark).startswith("dataclass")
    }
    assert len(marks) > 50
    loose = {name: mark for name, mark in marks.items() if "frozen=True" not in mark or "slots=True" not in mark}
    assert loose == {}
