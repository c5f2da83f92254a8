"""Stress by other algorithms: some left out (KDD'24, Figure 6), a copy or a new best one added (appendix B)."""

from __future__ import annotations

import numpy as np

from recassay.analysis.aggregation.contest import Extended
from recassay.analysis.inference.agreement import spearman
from recassay.analysis.stress.conclusions import Survival, survival
from recassay.analysis.stress.curve import Curve, Point, unchanged
from recassay.analysis.stress.ranker import Ranker, fewer_points, spread, subsets
from recassay.core import ties
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


def drop_algorithms(
    ranker: Ranker, reference: FloatArray, draws: int, rng: np.random.Generator
) -> tuple[Curve, Survival]:
    """Spearman's rho between the ranking of a random part of the algorithms and their order among all (Figure 6).

    The survival is that of the order when a third of the algorithms is left out.
    """
    total = ranker.contest.n_algorithms
    third = max(1, round(total / 3))
    points, survivals = [unchanged(len(ranker.rules))], {}
    for size in sorted({*kept_sizes(total), total - third}):
        chosen, exhaustive = subsets(total, size, draws, rng)
        ranks = ranker.among(chosen)
        before = ties.ranks(reference[:, chosen], higher_is_better=False)
        points.append(Point(total - size, spearman(ranks, before), exhaustive))
        if size == total - third:
            spaced = np.full((len(ranker.rules), len(chosen), total), np.nan)
            np.put_along_axis(spaced, np.broadcast_to(chosen, ranks.shape), ranks, axis=2)
            when = f"{third} of the {total} algorithms {'is' if third == 1 else 'are'} left out"
            survivals[size] = survival("algorithms", when, spaced, exhaustive=exhaustive)
    return Curve.of("drop_algorithms", "algorithms left out", ranker.names, points), survivals[total - third]


def add_copies(ranker: Ranker, weights: FloatArray) -> tuple[Curve, Survival]:
    """Spearman's rho of the order of the others after a slightly better or worse copy of one is added (B.1).

    Each algorithm is copied in turn at each factor; of more than 60 algorithms some are, evenly spread. The estimate is
    the mean over the copied algorithms on the table itself, the first row of `weights` (draws x datasets); the interval
    is over them and over the other rows, bootstrap draws of the datasets, before and after alike. An aggregation that
    is independent of irrelevant alternatives stays at 1.
    """
    contest, count = ranker.contest, ranker.contest.n_algorithms
    before = ranker(weights)
    copied = contest.values[0][spread(0, count - 1, fewer_points(count, count))]
    points, ranked = [], []
    for factor in COPY_FACTORS:
        better = improved(copied, factor, higher_is_better=contest.higher_is_better)
        after = np.stack([ranker.of(Extended(contest, copy), weights, judged=count) for copy in better], axis=1)
        rho = spearman(after, before[:, None])
        ranked.append(after[:, :, 0])
        points.append(Point(factor, rho[:, :, 0], len(copied) == count, around=rho.reshape(len(rho), -1)))
    kept = survival("copies", "a slightly better or worse copy of one algorithm is added",
                    np.concatenate(ranked, axis=1), exhaustive=len(copied) == count)  # fmt: skip
    return Curve.of("similar", "copy's factor to its original", ranker.names, points), kept


def add_best(ranker: Ranker, weights: FloatArray) -> Curve:
    """Spearman's rho of the order of the others after an algorithm is added that is best everywhere (B.2).

    It has the best value of each dataset, improved by the factor. Estimate and interval: as for copies.
    """
    contest, values = ranker.contest, ranker.contest.values[0]
    best = values.max(axis=0) if contest.higher_is_better else values.min(axis=0)
    before = ranker(weights)
    points = []
    for factor in BEST_FACTORS:
        new = improved(best, factor, higher_is_better=contest.higher_is_better)
        rho = spearman(ranker.of(Extended(contest, new), weights, judged=len(values)), before)
        points.append(Point(factor, rho[:, :1], True, around=rho))
    return Curve.of("new_best", "new best's factor to the best", ranker.names, points)
