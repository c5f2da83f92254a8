"""Phrases that a native editor would not write stay out of code, messages and pages."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

NUMBER = r"(?:one|two|three|four|five|ten|several|(?<!with )\b[\d,]*\d)"
LINKING = (
    r"(?:of|a|an|for|from|to|than|that|with|without|in|on|at|and|or|is|as|by|per|times|stands?|makes?|leaves|names?|"
    r"where|ends|begins)"
)

PHRASES = re.compile(
    r"\banew\b|\b(?:a row|one row|a column|a value|one value|one file|one line|one table|a file|a panel|a bar|a curve)"
    r" an? [a-z]+|"
    rf"(?:\b{NUMBER} (?!{LINKING}\b)[a-z]+|\bonce|\btwice) an? "
    r"(?:row|column|line|user|item|event|dataset|cell|table|run|trial|job|worker|seed|algorithm|model|metric|pair)\b(?!')|"
    r"\b(?:is|are|was|were|be|been|being) told\b|\btold (?:of|from|as|in|by|under|apart)\b|\btells? of\b|"
    r"\b(?:all|both|not|then|at once) told\b|\bwhoever\b|\bdear(?:er|est)?\b|\bwhat becomes of\b|\bserves more than\b|"
    r"\bholds? against\b|\bof their meetings\b|\beverything again\b|\bspeak of others\b|"
    r"(?<!there )(?<!where )(?<!nor )\b(?:is|are|was|were) no "
    r"(?!(?:more|longer|less|one|such|wider|worse|better|smaller)\b)[a-z`{'\"]|"
    r"(?<!there )(?-i:\b(?:is|are|was|were) none\b)",
    re.IGNORECASE,
)
"""Dialect: `is told of` for `is reported`, `one value a row` for `one value per row`."""

WAS = re.compile(
    r"; (?:it|they|that|this) (?:was|were|had|did|read|took|gave|said|counted|could|would)\b", re.IGNORECASE
)
"""In a list of changes: `X is read; it was refused` for `X is read (before, it was refused)`."""

READ = {".py", ".md", ".js", ".html", ".toml"}


def in_one_line(text: str) -> str:
    """The text of a file without its line breaks, so that a phrase is found wherever a line ends."""
    return re.sub(r"\s*\n\s*(?:#+ )?", " ", text)


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
        for hit in PHRASES.finditer(in_one_line(path.read_text(errors="ignore")))
    ]
    assert found == []


def test_changes_do_not_end_in_what_was():
    pages = [ROOT / "CHANGELOG.md", ROOT / "docs" / "changes" / "next.md"]
    assert [hit[0] for page in pages for hit in WAS.finditer(in_one_line(page.read_text(encoding="utf-8")))] == []
    assert WAS.search("A value in percent is read; it was refused.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a missing cell is told at once", True), ("One value a row of `top`", True), ("one value per row", False),
     ("the control is none of them", True), ("there is none", False), ("a file and a folder", False),
     ("it is no number", True), ("two jobs a worker", True), ("imported once a run", True), ("1 for a pair", False),
     ("asks once per run", False), ("a line that is none", True), ("where there is none", False), ("x is None", False),
     ("a file is no\n    # table", True), ("f'{x} is no {kind}'", True), ("would win 63 % of their meetings", True),
     ("where there is no file", False), ("is no longer a cell, nor is no wider", False)],
)  # fmt: skip
def test_what_is_found(text, expected):
    assert bool(PHRASES.search(in_one_line(text))) == expected


NAMELESS = {"there", "apart", "own", "told", "said"}
"""Words that do not say what a name holds."""

OPTIONS = {
    ("analysis/review/claims.py", "own"), ("analysis/review/fit.py", "own"), ("core/tables/printed.py", "own"),
    ("reporting/content.py", "own"), ("reporting/page/forest.py", "own"), ("cli/call.py", "own"),
    ("api/study/bench.py", "told"), ("api/board.py", "told"), ("recommenders/bench.py", "told"),
    ("recommenders/bundle/check.py", "told"), ("api/publish/boards.py", "told"), ("reporting/words/board.py", "told"),
    ("reporting/board/page.py", "said"), ("api/recommend.py", "told"),
    ("runner/jobs.py", "said"), ("runner/work.py", "said"), ("runner/recording.py", "said"),
}  # fmt: skip
"""By file, those that stay: the option `--own` of `review` (the model that is a paper's own), and its page; the
argument `told` of `bench` and what it is handed on to; and the keys `told` and `said` of files that studies keep."""


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


COUNTED = re.compile(r"(?<!of )(?<!the )(?<!all )\{len\([\w.]+\)\} \{words\.(?:datasets|algorithms)\}")


def test_one_dataset_is_not_called_1_datasets():
    """Decodirt and user IRT need several of what they count."""
    several = {"plots/decodirt.py", "sections/decodirt.py", "words/decodirt.py", "sections/user_irt.py"}
    found = {
        "/".join(path.parts[-2:])
        for path in (ROOT / "src" / "recassay").rglob("*.py")
        if COUNTED.search(path.read_text(encoding="utf-8"))
    }
    assert found <= several, sorted(found - several)
