"""The notebooks of the documentation run from top to bottom, and show what they showed when they were written."""

from __future__ import annotations

import ast
import json

import pytest

from support.in_process import without_processes
from support.places import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))

BEGINNING = 80
"""What a cell shows is compared so far: the wording of long sentences may change."""


def test_there_are_notebooks_and_the_index_names_them():
    index = (ROOT / "docs" / "index.md").read_text()
    assert {path.stem for path in NOTEBOOKS} == {"own-table", "own-algorithm"}
    assert all(f"notebooks/{path.name}" in index for path in NOTEBOOKS)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_it_says(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    with without_processes():
        for cell in json.loads(path.read_text())["cells"]:
            if cell["cell_type"] != "code":
                continue
            tree = ast.parse("".join(cell["source"]))
            last = tree.body.pop()
            assert isinstance(last, ast.Expr), "a cell ends with what it shows"
            exec(compile(tree, path.name, "exec"), names)  # noqa: S102
            shown = eval(compile(ast.Expression(last.value), path.name, "eval"), names)  # noqa: S307
            (kept,) = cell["outputs"]
            assert repr(shown)[:BEGINNING] == "".join(kept["data"]["text/plain"])[:BEGINNING]
