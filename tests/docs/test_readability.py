"""Every page can be read: Flesch reading ease of its prose, the length of its sentences, and of the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.places import ROOT

PAGES = sorted((ROOT / "docs").glob("*.md"))
EASE = 45
"""The least Flesch reading ease; plain English for adults begins at 60, papers are about 30."""

LONGEST_SENTENCE = 35
LONGEST_PAGE = 1500
"""Words of prose."""

LONG_SENTENCES: dict[str, int] = {}
"""Pages with sentences above the limit, and how many at most; none is, and the list may only shrink."""

LONG_PAGES: dict[str, str] = {}
"""Pages above the limit, each with its reason."""


def prose(text: str) -> str:
    """A page without code, tables, headings, pictures and markup; `code` stands for a name in the text."""
    text = re.sub(r"```.*?```|\$\$.*?\$\$", "", text, flags=re.S)
    text = re.sub(r"^(\s*\||#).*$|!\[[^]]*\]\([^)]*\)", "", text, flags=re.M)
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"`[^`]*`", "Code", re.sub(r"[*_]", "", text))


def sentences(text: str) -> list[str]:
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)", prose(text))
    joined = [" ".join(re.sub(r"^\s*(?:[-*]|\d+\.)\s+", "", block).split()) for block in blocks]
    return [part for block in joined for part in re.split(r"(?<=[.!?:;])\s+(?=[A-Z0-9\"“(])", block) if part]


def syllables(word: str) -> int:
    """Groups of vowels, without those that are written and not spoken; at least one."""
    letters = re.sub(r"[^a-z]", "", word.lower())
    silent = letters.endswith("e") and not letters.endswith(("le", "ee", "ie", "oe"))
    silent |= letters.endswith("ed") and not letters.endswith(("ted", "ded"))
    return max(1, len(re.findall(r"[aeiouy]+", letters)) - silent)


def reading_ease(text: str) -> float:
    """206.835 - 1.015 words per sentence - 84.6 syllables per word (Flesch 1948)."""
    parts = sentences(text)
    words = [word for part in parts for word in part.split() if re.search(r"\w", word)]
    return 206.835 - 1.015 * len(words) / len(parts) - 84.6 * sum(map(syllables, words)) / len(words)


def test_the_measure_tells_plain_from_learned_prose():
    plain = "The cat sat on the mat. It was warm there. We ran one test per user."
    learned = (
        "The aforementioned methodological considerations notwithstanding, heteroscedasticity necessitates the "
        "implementation of alternative inferential procedures whose asymptotic characteristics accommodate it."
    )
    assert reading_ease(plain) > 90
    assert reading_ease(learned) < 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_easy_to_read(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    parts = sentences(text)
    assert reading_ease(text) >= EASE
    too_long = [part for part in parts if len(part.split()) > LONGEST_SENTENCE]
    allowed = LONG_SENTENCES.get(page.name, 0)
    assert len(too_long) <= allowed, too_long
    if page.name not in LONG_PAGES:
        assert sum(len(part.split()) for part in parts) <= LONGEST_PAGE


EVIDENCE = sorted((ROOT / "docs" / "evidence").glob("*.md"))
ANSWERS = [page for page in PAGES if "](evidence/" in page.read_text(encoding="utf-8")]
FIRST_SCREEN = 12
"""Lines of a page that are seen without scrolling."""


def linked(text: str) -> set[str]:
    return set(re.findall(r"\]\(evidence/([a-z-]+\.md)", text))


def test_each_page_of_evidence_has_a_page_with_the_answer():
    told = {name for page in ANSWERS for name in linked(page.read_text(encoding="utf-8"))}
    assert told == {page.name for page in EVIDENCE}


@pytest.mark.parametrize("page", ["reproduction", "calibration", "adaptive-measured", "neural"])
def test_the_first_screen_says_what_was_found_and_the_evidence_stands_beside(page):
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    first, *_ = text.split("\n", 2)[2].split("\n\n")
    assert len(text.split("\n\n")[1].split("\n")) < FIRST_SCREEN
    assert re.search(r"\d", first), "a finding has a number"
    assert len(prose(text).split()) <= LONGEST_PAGE
    assert sum(line.startswith("|") for line in text.splitlines()) <= 50, "long tables stand in docs/evidence"
    assert linked(text)


@pytest.mark.parametrize("page", EVIDENCE, ids=lambda page: page.stem)
def test_evidence_says_how_to_make_it_again(page):
    start = page.read_text(encoding="utf-8")[:1500]
    scripts = re.findall(r"`(?:benchmarks/)?(\w+\.py)`", start)
    assert "recassay reproduce" in start or scripts
    assert [name for name in scripts if not (ROOT / "benchmarks" / name).is_file()] == []
