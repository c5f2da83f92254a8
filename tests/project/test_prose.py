"""Sentences that people read are made in `reporting/words`; `analysis` returns facts, and says why it refuses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ANALYSIS = Path(__file__).parents[2] / "src" / "recassay" / "analysis"

FEWEST_WORDS = 4

ALLOWED = {
    "question": "the question that an analysis answers; the words of the table are filled in where it is shown",
    "source": "the work that an analysis follows",
}
"""Arguments whose texts stand in `analysis`, and why."""


def sentences(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of the literals that are sentences, outside docstrings, errors and allowed arguments."""
    tree = ast.parse(source)
    passed: set[int] = set()
    for node in ast.walk(tree):
        stated = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        raised = isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and _name(node).endswith("Error"))
        if stated or raised or (isinstance(node, ast.keyword) and node.arg in ALLOWED):
            passed |= {id(inner) for inner in ast.walk(node)}
        if isinstance(node, ast.JoinedStr):
            passed |= {id(part) for part in node.values}
    for node in ast.walk(tree):
        if id(node) not in passed and _is_sentence(text := _text(node)):
            yield node.lineno, text


def _name(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def _text(node: ast.AST) -> str:
    """A text, or an f-string with X for what is put in."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _is_sentence(text: str) -> bool:
    """Several words that begin as a sentence or end as one."""
    several = len(re.findall(r"[A-Za-z]{2,}", text)) >= FEWEST_WORDS and " " in text.strip()
    return several and bool(re.match(r"[A-Z][a-z]+ [a-z]", text) or re.search(r"[a-zX%)][.?]$", text.rstrip()))


@pytest.mark.parametrize("path", sorted(ANALYSIS.rglob("*.py")), ids=lambda path: str(path.relative_to(ANALYSIS)))
def test_no_sentence_is_made_in_analysis(path):
    found = [f"{path.name}:{line}: {text}" for line, text in sentences(path.read_text(encoding="utf-8"))]
    assert found == [], "move it to reporting/words, and return its facts"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('x = f"{name} beats all others here."', ["X beats all others here."]),
        ('return_ = "No difference is shown between them"', ["No difference is shown between them"]),
        ('x = ("It is so, " "and so again.")', ["It is so, and so again."]),
        ('"""A docstring of many plain words."""', []),
        ('raise UsageError("too few datasets for a test.", fix="Give more of them, please.")', []),
        ('error = UsageError("There are too few datasets.")', []),
        ('Analysis(question="Which {algorithm} is the best?")', []),
        ('x = "arithmetic mean over all datasets"', []),
        ('x = "mean_rank.csv of the study"', []),
    ],
)
def test_what_counts_as_a_sentence(source, found):
    assert [text for _, text in sentences(source)] == found
