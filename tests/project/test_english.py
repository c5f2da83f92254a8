"""Phrases that a native editor would not write stay out of code, messages and pages."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PHRASES = re.compile(
    r"\banew\b|\b(?:a row|one row|a column|a value|one value|one file|one line|one table|a file|a panel) an? [a-z]+|"
    r"\b(?:is|are|was|were|to be) told\b|\btold (?:of|from|as|in|by|under|apart)\b|\btells? of\b|\bis none of\b|"
    r"\bwhoever\b|\bdear(?:er|est)?\b|\bwhat becomes of\b|\bserves more than\b",
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
     ("the control is none of them", True), ("there is none", False), ("a file and a folder", False)],
)  # fmt: skip
def test_what_is_found(text, expected):
    assert bool(PHRASES.search(text)) == expected
