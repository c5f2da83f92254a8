"""What an analysis is: a question asked of a results table, and an answer with its numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import polars as pl

from recassay.core.errors import NotApplicableError
from recassay.core.results import MissingPolicy, Results


@dataclass(frozen=True, slots=True)
class AnalysisSpec:
    """What was asked: the metric, how to read the table, how to draw chance, and what else is known.

    `evidence` holds, by name, ways to load what a bare table does not say (`characteristics` of the datasets, a
    study's held-out interactions, ...); an analysis asks with `need`, and only then is anything read.
    """

    metric: str
    missing: MissingPolicy = "error"
    higher_is_better: bool | None = None
    seed: int = 0
    alpha: float = 0.05
    replicates: int = 10_000
    evidence: Mapping[str, Callable[[], Any]] = field(default_factory=dict)

    def need(self, name: str, otherwise: str) -> Any:
        """The evidence of that name; without it the analysis does not apply, and `otherwise` says why."""
        if name not in self.evidence:
            raise NotApplicableError(otherwise)
        return self.evidence[name]()


@runtime_checkable
class AnalysisResult(Protocol):
    """What was concluded. `frames` are its tables by name, the main one first."""

    def to_frame(self) -> pl.DataFrame:
        """The main table."""

    def frames(self) -> dict[str, pl.DataFrame]:
        """Every table, by file name."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """An entry of the group `recassay.analyses`: `recassay analyze` runs each on the same table."""

    name: str
    question: str
    source: str
    run: Callable[[Results, AnalysisSpec], AnalysisResult]
    aliases: tuple[str, ...] = ()
