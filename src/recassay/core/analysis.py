"""What an analysis is: a question asked of a results table, and an answer with its numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import polars as pl

from recassay.core.choices import MissingPolicy, PairTest
from recassay.core.errors import NotApplicableError
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.results import Results

WITHOUT = {
    "characteristics": "needs the characteristics of the datasets: give `characteristics`, or the folder of a study",
    "strata": "popularity strata need a study's held-out interactions and lists; this is a table",
    "users": "only the folder of a study, or recassay evaluate with lists, knows the score of each user",
    "user_responses": "only the folder of a study knows which user got a hit",
    "adaptive": "it describes studies that were run adaptively (`adaptive`)",
    "instances": "it reads answers of classifiers on test instances, which a study of classifiers keeps",
}
"""Why an analysis does not apply where the evidence of that name is missing."""


@dataclass(frozen=True, slots=True)
class AnalysisSpec:
    """What was asked: the metric, how to read the table, how to draw chance, and what else is known.

    `control` is the algorithm that was named beforehand to be compared with every other. `evidence` holds, by name,
    ways to load what a bare table does not say (`characteristics` of the datasets, a study's held-out interactions,
    ...); an analysis asks for it with `required` or `known`, and only then is anything read.
    """

    metric: str
    missing: MissingPolicy = "error"
    higher_is_better: bool | None = None
    seed: int = 0
    alpha: float = 0.05
    test: PairTest = "sign-flips"
    replicates: int | None = None
    control: str | None = None
    evidence: Mapping[str, Callable[[], Any]] = field(default_factory=dict)

    @property
    def draws(self) -> int:
        """Bootstrap replicates where their number need not depend on that of the algorithms."""
        return 10_000 if self.replicates is None else self.replicates

    def matrix(self, results: Results, *, least_datasets: int = 2) -> Matrix:
        """The metric as a complete matrix, missing cells and direction as asked."""
        matrix = results.matrix(
            self.metric,
            missing=self.missing,
            higher_is_better=self.higher_is_better,
            least_datasets=least_datasets,
        )
        return replace(matrix, users=matrix.users or "user_scores" in self.evidence)

    def known(self, name: str) -> Any:
        """The evidence of that name, or None."""
        return self.evidence[name]() if name in self.evidence else None

    def required(self, name: str) -> Any:
        """The evidence of that name; without it the analysis does not apply."""
        if name not in self.evidence:
            raise NotApplicableError(WITHOUT.get(name, f"needs {name}, which these results do not have"))
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
    """An entry of the group `recassay.analyses`: `recassay analyze` runs each on the same table.

    `aside` above 0: it needs nothing but the table and the characteristics of the datasets, and its result can be
    pickled, so that it may run in a process of its own; those with greater numbers take longer and are started first.
    `early`: it is run before all others.
    """

    name: str
    question: str
    source: str
    run: Callable[[Results, AnalysisSpec], AnalysisResult]
    aliases: tuple[str, ...] = ()
    aside: int = 0
    early: bool = False
