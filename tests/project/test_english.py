"""Phrases that a native editor would not write stay out of code, messages and pages."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PHRASES = re.compile(
    r"\banew\b|\b(?:a row|one row|a column|a value|one value|one file|one line|one table|a file|a panel) an? [a-z]+|"
    r"\b(?:is|are|was|were|to be) told\b|\btold (?:of|from|as|in|by|under|apart)\b|\btells? of\b|\bis none of\b|"
    r"\bwhoever\b|\bdear(?:er|est)?\b|\bwhat becomes of\b|\bserves more than\b|"
    r"(?<!there )(?<!where )(?<!nor )\b(?:is|are|was|were) no "
    r"(?!(?:more|longer|less|one|such|wider|worse|better|smaller)\b)[a-z]",
    re.IGNORECASE,
)
"""Dialect: `is told of` for `is reported`, `one value a row` for `one value per row`."""

READ = {".py", ".md", ".js", ".html", ".toml"}


def test_no_page_docstring_or_message_speaks_dialect():
    command = ["git", "ls-files", "src", "docs", "benchmarks", ":(glob)*.md"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("needs the repository")
    paths = [ROOT / name for name in listed.stdout.splitlines() if Path(name).suffix in READ]
    assert len(paths) > 500
    found = [
        f"{path.relative_to(ROOT)}: {hit[0]!r}"
        for path in paths
        if path.is_file()
        for hit in PHRASES.finditer(path.read_text(errors="ignore"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a missing cell is told at once", True), ("One value a row of `top`", True), ("one value per row", False),
     ("the control is none of them", True), ("there is none", False), ("a file and a folder", False),
     ("it is no number", True), ("where there is no file", False), ("is no longer a cell, nor is no wider", False)],
)  # fmt: skip
def test_what_is_found(text, expected):
    assert bool(PHRASES.search(text)) == expected


NAMELESS = {"there", "apart", "own"}
"""Words that do not say what a name holds."""

OPTIONS = {
    ("analysis/review/claims.py", "own"), ("analysis/review/fit.py", "own"), ("core/tables/printed.py", "own"),
    ("reporting/content.py", "own"), ("reporting/page/forest.py", "own"), ("cli/call.py", "own"),
}  # fmt: skip
"""By file, those that stay: the option `--own` of `review` (the model that is a paper's own), and its page."""


def bound(node: ast.AST) -> str:
    """The name that a node binds, or nothing."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        return node.attr
    return getattr(node, "arg", "") if isinstance(node, ast.arg) else getattr(node, "name", "") or ""


def test_names_say_what_they_hold():
    source = ROOT / "src" / "recassay"
    found = {
        (path.relative_to(source).as_posix(), name)
        for path in source.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (name := bound(node)) in NAMELESS
    }
    assert found <= OPTIONS, sorted(found - OPTIONS)
