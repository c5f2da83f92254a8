"""What the numbers support, in plain sentences: generated from the results and from nothing else."""

from __future__ import annotations

from collections.abc import Mapping

from recassay.core.analysis import AnalysisResult
from recassay.reporting.section import Part
from recassay.reporting.sections import SECTIONS


def verdict(results: Mapping[str, AnalysisResult]) -> list[str]:
    """The sentences of every result that has any, in reading order."""
    return [sentence for sentences in verdict_by_part(results).values() for sentence in sentences]


def verdict_by_part(results: Mapping[str, AnalysisResult]) -> dict[Part, list[str]]:
    """The sentences by the part of a report that shows their numbers; parts without any are left out."""
    said: dict[Part, list[str]] = {}
    for section in SECTIONS:
        for result in results.values():
            if isinstance(result, section.of) and (sentences := section.sentences(result)):
                said.setdefault(section.part, []).extend(sentences)
    return said
