"""Scripts of `benchmarks/`: what they import is there, and the index has each of them."""

from __future__ import annotations

import ast
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
SCRIPTS = sorted(BENCHMARKS.glob("*.py"))


def imported(path: Path) -> list[str]:
    """The modules that a script imports when it starts."""
    body = ast.parse(path.read_text("utf-8")).body
    names = [alias.name for node in body if isinstance(node, ast.Import) for alias in node.names]
    return names + [str(node.module) for node in body if isinstance(node, ast.ImportFrom)]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_what_a_script_imports_is_there(script):
    gone = [
        name
        for name in imported(script)
        if name.partition(".")[0] not in sys.stdlib_module_names
        and not (BENCHMARKS / name.partition(".")[0]).with_suffix(".py").is_file()
        and not (BENCHMARKS / name.partition(".")[0]).is_dir()
        and find_spec(name) is None
    ]
    assert not gone


def test_every_script_is_in_the_index():
    index = (BENCHMARKS / "README.md").read_text("utf-8")
    assert [path.name for path in SCRIPTS if f"`{path.name}`" not in index] == ["run.py"]
