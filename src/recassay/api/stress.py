"""Verbs that ask how much of a benchmark's answer would survive a change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from recassay.analysis.stress.fit import stress_rankings
from recassay.analysis.stress.result import StressResult
from recassay.api.arguments import checked
from recassay.api.inputs import ResultsLike
from recassay.api.tables import read_matrix
from recassay.core.choices import Advanced, Draws, MissingPolicy


@checked
def stress(
    results: ResultsLike,
    metric: str | None = None,
    *,
    methods: Sequence[str] | None = None,
    draws: Annotated[Draws | None, Advanced] = None,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    beta_max: Annotated[float, Advanced] = 3.0,
    seed: Annotated[int, Advanced] = 0,
    wide: bool = False,
    transpose: bool = False,
) -> StressResult:
    """Which conclusions survive fewer datasets, fewer or more algorithms and other settings (KDD'24, 4.2.3 and B).

    Needs at least five datasets and three algorithms. `.verdict()` says the answer in words.

    Args:
        results: a results table (file or frame), several of them, the folder of a study, or loaded results.
        metric: label such as `ndcg@10`; by default `ndcg@10` or `accuracy` where present, else the only metric.
        methods: names of aggregation rules; by default all.
        draws: random subsets at each size, 1000 by default, fewer with more than 60 algorithms; all subsets where
            they are no more.
        missing: how to treat missing cells: refuse them, drop their datasets or algorithms, or take the worst value.
        higher_is_better: direction of a metric that RecAssay does not know.
        beta_max: largest ratio of the performance profiles.
        seed: the same seed gives the same numbers.
        wide: the rows of the table are algorithms and its columns datasets, where the table does not say it.
        transpose: the rows of the table are datasets and its columns algorithms.
    """
    _, matrix = read_matrix(
        results, metric, missing=missing, higher_is_better=higher_is_better, wide=wide, transpose=transpose
    )
    return stress_rankings(matrix, methods=methods, draws=draws, beta_max=beta_max, seed=seed)
