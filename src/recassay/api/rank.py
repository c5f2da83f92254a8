"""The verb `rank`: which algorithm is best under each aggregation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from recassay.analysis.rank.fit import rank_algorithms
from recassay.analysis.rank.result import RankResult
from recassay.api.arguments import checked
from recassay.api.inputs import ResultsLike
from recassay.api.tables import read_matrix
from recassay.core.choices import Advanced, Draws, Level, MissingPolicy, PairTest


@checked
def rank(
    results: ResultsLike,
    metric: str | None = None,
    *,
    metrics: str | Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    families: str | Mapping[str, str] | None = None,
    missing: MissingPolicy = "error",
    test: Annotated[PairTest, Advanced] = "sign-flips",
    higher_is_better: bool | None = None,
    replicates: Annotated[Draws | None, Advanced] = None,
    confidence: Level = 0.95,
    seed: Annotated[int, Advanced] = 0,
    beta_max: Annotated[float, Advanced] = 3.0,
    beta_step: Annotated[float | None, Advanced] = None,
    wide: bool = False,
    transpose: bool = False,
) -> RankResult:
    """Which algorithm is best under each aggregation over datasets, with bootstrap intervals.

    Args:
        results: a results table (file or frame), several of them, the folder of a study, or loaded results.
        metric: label such as `ndcg@10`; by default `ndcg@10` or `accuracy` where present, else the only metric.
        metrics: metrics to grade, `all` for every metric of the table; by default those of the same kind. Without
            `metric` the first of them is the one that is ranked.
        methods: names of aggregation rules; by default all.
        families: datasets that belong together count as one piece of evidence: `auto` (by the start of their names), or
            a mapping from dataset to family.
        missing: how to treat missing cells: refuse them, drop their datasets or algorithms, or take the worst value.
        test: which test the verdict rests on: all pairs by flipped signs, or `wilcoxon-holm`, common in papers.
        higher_is_better: direction of a metric that RecAssay does not know.
        replicates: number of bootstrap replicates; by default 10,000, fewer with more than 60 algorithms.
        confidence: level of the intervals.
        seed: the same seed gives the same numbers.
        beta_max: largest ratio of the performance profiles.
        beta_step: step of the grid on which profiles are integrated; by default the areas are exact.
        wide: the rows of the table are algorithms and its columns datasets, where the table does not say it.
        transpose: the rows of the table are datasets and its columns algorithms.
    """
    if metric is None and metrics is not None and metrics not in ("all", ["all"], ("all",)):
        metric = metrics if isinstance(metrics, str) else next(iter(metrics), None)
    table, matrix = read_matrix(
        results, metric, missing=missing, higher_is_better=higher_is_better, wide=wide, transpose=transpose
    )
    return rank_algorithms(
        matrix, methods=methods, families=families, test=test, replicates=replicates, confidence=confidence, seed=seed,
        beta_max=beta_max, beta_step=beta_step, results=table, metrics=metrics, missing=missing,
    )  # fmt: skip
