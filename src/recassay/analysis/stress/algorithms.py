"""Stress by other algorithms: some left out (KDD'24, Figure 6), a copy or a new best one added (appendix B)."""

from __future__ import annotations

import numpy as np

from recassay.analysis.aggregation.contest import Extended
from recassay.analysis.inference.agreement import spearman
from recassay.analysis.stress.curve import Curve, Point, unchanged
from recassay.analysis.stress.ranker import Ranker, fewer_points, reranked, spread, subsets
from recassay.analysis.stress.survival import Survival, survival
from recassay.core.types import FloatArray

COPY_FACTORS = (0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15)
"""How much better than the original a copy is: |1 - alpha| <= 0.15 (appendix B.1)."""

BEST_FACTORS = tuple(np.arange(1.0, 4.01, 0.25).tolist())
"""How much better than the best value of each dataset a new best algorithm is: 1 to 4 (appendix B.2)."""

POINTS = 12
"""The most numbers of algorithms at which a curve is measured."""


def improved(values: FloatArray, factor: float, *, higher_is_better: bool) -> FloatArray:
    """`values` made better by `factor` (below 1: worse): multiplied where growing is improving, else divided."""
    grows = (values >= 0) == higher_is_better
    return np.where(grows, values * factor, values / factor)


def kept_sizes(n_algorithms: int) -> list[int]:
    """Numbers of algorithms to keep: from all but one down to 3 (2 where there are only 3)."""
    return spread(min(3, n_algorithms - 1), n_algorithms - 1, fewer_points(POINTS, n_algorithms))


def a_third(n_algorithms: int) -> int:
    """How many algorithms the verdict leaves out."""
    return max(1, round(n_algorithms / 3))


def drop_algorithms(
    ranker: Ranker, values: FloatArray, reference: FloatArray, draws: int, rng: np.random.Generator
) -> tuple[Curve, Survival]:
    """Spearman's rho between the ranking of a random part of the algorithms and their order among all (Figure 6)."""
    total, third = len(values), a_third(len(values))
    points, kept = [unchanged(len(ranker.rules))], None
    contest = ranker.contest(values)
    for size in sorted({*kept_sizes(total), total - third}):
        drawn = subsets(total, size, draws, rng)
        ranks = ranker.among(contest, drawn.chosen)
        before = reranked(reference[:, drawn.chosen])
        points.append(Point(total - size, spearman(ranks, before), drawn.exhaustive))
        if size == total - third:
            spaced = np.full((len(ranker.rules), len(drawn.chosen), total), np.nan)
            np.put_along_axis(spaced, np.broadcast_to(drawn.chosen, ranks.shape), ranks, axis=2)
            when = f"{third} of the {total} algorithms {'is' if third == 1 else 'are'} left out"
            kept = survival("algorithms", when, spaced, exhaustive=drawn.exhaustive)
    if kept is None:
        raise AssertionError("the sizes include the verdict's own")
    names = tuple(rule.name for rule in ranker.rules)
    return Curve.of("drop_algorithms", "algorithms left out", names, points), kept


def add_copies(ranker: Ranker, values: FloatArray, bootstrap: FloatArray) -> tuple[Curve, Survival]:
    """Spearman's rho of the order of the others after a slightly better or worse copy of one is added (B.1).

    Each algorithm is copied in turn at each factor; of more than 60 algorithms some are, evenly spread. The estimate is
    the mean over the copied algorithms on the table itself; the interval is over them and over `bootstrap` (replicates
    x datasets) draws of the datasets, before and after alike. An aggregation that is independent of irrelevant
    alternatives stays at 1.
    """
    count, n_datasets = values.shape
    weights = np.vstack([np.ones((1, n_datasets)), bootstrap])
    contest = ranker.contest(values)
    before = ranker.of(contest, weights)
    copied = values[spread(0, count - 1, fewer_points(count, count))]
    points, ranked = [], []
    for factor in COPY_FACTORS:
        better = improved(copied, factor, higher_is_better=ranker.higher_is_better)
        after = np.stack([ranker.of(Extended(contest, copy), weights, judged=count) for copy in better], axis=1)
        rho = spearman(after, before[:, None])
        ranked.append(after[:, :, 0])
        points.append(Point(factor, rho[:, :, 0], len(copied) == count, around=rho.reshape(len(rho), -1)))
    names = tuple(rule.name for rule in ranker.rules)
    kept = survival("copies", "a slightly better or worse copy of one algorithm is added",
                    np.concatenate(ranked, axis=1), exhaustive=len(copied) == count)  # fmt: skip
    return Curve.of("similar", "copy's factor to its original", names, points), kept


def add_best(ranker: Ranker, values: FloatArray, bootstrap: FloatArray) -> Curve:
    """Spearman's rho of the order of the others after an algorithm is added that is best everywhere (B.2).

    It has the best value of each dataset, improved by the factor. Interval: over `bootstrap` draws of the datasets.
    """
    count, n_datasets = values.shape
    best = values.max(axis=0) if ranker.higher_is_better else values.min(axis=0)
    weights = np.vstack([np.ones((1, n_datasets)), bootstrap])
    contest = ranker.contest(values)
    before = ranker.of(contest, weights)
    points = []
    for factor in BEST_FACTORS:
        new = improved(best, factor, higher_is_better=ranker.higher_is_better)
        rho = spearman(ranker.of(Extended(contest, new), weights, judged=count), before)
        points.append(Point(factor, rho[:, :1], True, around=rho))
    names = tuple(rule.name for rule in ranker.rules)
    return Curve.of("new_best", "new best's factor to the best", names, points)
