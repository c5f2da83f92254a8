"""What the numbers support, in plain sentences: generated from the results and from nothing else."""

from __future__ import annotations

from collections.abc import Mapping

from recassay.core.analysis import AnalysisResult
from recassay.reporting.sections import SECTIONS


def verdict(results: Mapping[str, AnalysisResult]) -> list[str]:
    """The sentences of every result that has any, in reading order."""
    return [
        sentence
        for section in SECTIONS
        for result in results.values()
        if isinstance(result, section.of)
        for sentence in section.sentences(result)
    ]
