"""The verb `compare`: which differences are more than luck."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from recassay.analysis.compare.fit import compare_algorithms
from recassay.analysis.compare.result import CompareResult
from recassay.api.arguments import checked
from recassay.api.inputs import ResultsLike
from recassay.api.tables import read_matrix
from recassay.core.choices import (
    PRACTICALLY_EQUAL,
    Advanced,
    Alpha,
    BarsRule,
    Draws,
    Margin,
    MissingPolicy,
    PairTest,
    ZeroMethod,
)


@checked
def compare(
    results: ResultsLike,
    metric: str | None = None,
    *,
    families: str | Mapping[str, str] | None = None,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    alpha: Alpha = 0.05,
    test: Annotated[PairTest, Advanced] = "sign-flips",
    zeros: Annotated[ZeroMethod, Advanced] = "wilcox",
    rope: Annotated[float, Advanced] = 0.0,
    bars: Annotated[BarsRule | None, Advanced] = None,
    control: str | None = None,
    within: Margin = PRACTICALLY_EQUAL,
    draws: Annotated[Draws | None, Advanced] = None,
    seed: Annotated[int, Advanced] = 0,
    wide: bool = False,
    transpose: bool = False,
) -> CompareResult:
    """Which differences are more than luck: the verdict on every pair, and the tests that papers use beside it.

    Args:
        results: a results table (file or frame), several of them, the folder of a study, or loaded results.
        metric: label such as `ndcg@10`; by default `ndcg@10` or `accuracy` where present, else the only metric.
        families: datasets that belong together count as one piece of evidence: `auto` (by the start of their names), or
            a mapping from dataset to family.
        missing: how to treat missing cells: refuse them, drop their datasets or algorithms, or take the worst value.
        higher_is_better: direction of a metric that RecAssay does not know.
        alpha: level of the tests; intervals have level 1 - alpha.
        test: which test the verdict rests on: all pairs by flipped signs, or `wilcoxon-holm`, common in papers.
        zeros: how to treat equal values in Wilcoxon's test: drop (`wilcox`), rank (`pratt`) or split (`zsplit`).
        rope: half-width of practical equivalence in the metric's units, for the Bayesian test.
        bars: whose bars the critical-difference diagram draws; by default those of the verdict.
        control: an algorithm, chosen before seeing the results, to compare with every other.
        within: relative difference below which two algorithms are called practically equal.
        draws: posterior draws of the Bayesian test; by default 10,000 to 50,000, fewer with more than 60 algorithms.
        seed: the same seed gives the same numbers.
        wide: the rows of the table are algorithms and its columns datasets, where the table does not say it.
        transpose: the rows of the table are datasets and its columns algorithms.
    """
    table, matrix = read_matrix(
        results, metric, missing=missing, higher_is_better=higher_is_better, wide=wide, transpose=transpose
    )
    return compare_algorithms(
        matrix, alpha=alpha, test=test, zeros=zeros, rope=rope, bars=bars, control=control, within=within,
        families=families, gaps_kept=table.table(matrix.metric), names_kept=table.algorithms, draws=draws, seed=seed,
        results=table, missing=missing,
    )  # fmt: skip
