"""What the numbers support, in plain sentences: generated from the results and from nothing else."""

from __future__ import annotations

from collections.abc import Mapping

from recassay.analysis.rank.result import RankResult
from recassay.core.analysis import AnalysisResult
from recassay.core.errors import listing
from recassay.reporting.section import Part, Section
from recassay.reporting.telling import ask, sections, with_sections


def verdict(results: Mapping[str, AnalysisResult], not_done: dict[str, str] | None = None) -> list[str]:
    """The sentences of every result that has any, in reading order.

    `not_done` gets, by the name of a section or an analysis, why it says nothing where it fails.
    """
    if not_done is not None:
        not_done |= sections()[1]
    return [sentence for sentences in verdict_by_part(results, not_done).values() for sentence in sentences]


def verdict_by_part(
    results: Mapping[str, AnalysisResult], not_done: dict[str, str] | None = None
) -> dict[Part, list[str]]:
    """The sentences by the part of a report that shows their numbers; parts without any are left out.

    Every sentence about the winner speaks of the algorithm with the best mean rank; where another result puts another
    one first, the second sentence says so.
    """
    said: dict[Part, list[str]] = {}
    for section, name, result in with_sections(results):
        problems: list[str] = []
        if sentences := ask(section, "sentences", result, problems):
            said.setdefault(section.part, []).extend(sentences)
            if isinstance(result, RankResult):
                said[section.part][1:1] = _others_first(results)
        if problems and not_done is not None:
            not_done[name] = problems[0]
    return said


def leaders(results: Mapping[str, AnalysisResult]) -> dict[str, str]:
    """By the name of an analysis, the algorithm that it puts first in the metric."""
    return {name: leader for _, name, leader in _leaders(results)}


def _leaders(results: Mapping[str, AnalysisResult]) -> list[tuple[Section, str, str]]:
    found = []
    for section, name, result in with_sections(results):
        try:
            leader = section.leader(result)
        except Exception:  # its sentences fail likewise, and that is told
            continue
        if leader is not None:
            found.append((section, name, leader))
    return found


def _others_first(results: Mapping[str, AnalysisResult]) -> list[str]:
    """Which results put another algorithm first than the mean rank does."""
    found = _leaders(results)
    first = next(leader for section, _, leader in found if section.of is RankResult)
    others = [f"{leader} ({section.title.lower()})" for section, _, leader in found if leader != first]
    if not others:
        return []
    return [f"Not every way to judge puts {first} first; others put there: {listing(others, most=None)}."]
