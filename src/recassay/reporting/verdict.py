"""What the numbers support, in plain sentences: generated from the results and from nothing else."""

from __future__ import annotations

from collections.abc import Mapping

from recassay.core.analysis import AnalysisResult
from recassay.reporting.section import Part
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
    """The sentences by the part of a report that shows their numbers; parts without any are left out."""
    said: dict[Part, list[str]] = {}
    for section, name, result in with_sections(results):
        problems: list[str] = []
        if sentences := ask(section, "sentences", result, problems):
            said.setdefault(section.part, []).extend(sentences)
        if problems and not_done is not None:
            not_done[name] = problems[0]
    return said
