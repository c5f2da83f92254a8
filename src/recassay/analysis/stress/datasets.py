"""Stress by fewer datasets: some left out (KDD'24, Figure 5), and only 5 or 10 used (Table 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recassay.analysis.inference.agreement import spearman
from recassay.analysis.inference.bootstrap import random_subsets, subset_weights
from recassay.analysis.stress.conclusions import Survival, survival
from recassay.analysis.stress.curve import Curve, Point, unchanged
from recassay.analysis.stress.ranker import Ranker, fewer_points, spread, subsets
from recassay.core.types import FloatArray

SIZES = (5, 10)
"""The small numbers of datasets of the paper's Table 3."""

POINTS = 30
"""The most numbers of datasets at which a curve is measured."""


def several(n_datasets: int) -> int:
    """How many datasets the verdict leaves out: a sixth (5 of 30), at least two."""
    return max(2, round(n_datasets / 6))


def small_sizes(n_datasets: int) -> tuple[int, ...]:
    """5 and 10 where they are at most half of the datasets; half of them where neither is."""
    sizes = tuple(size for size in SIZES if 2 * size <= n_datasets)
    return sizes or (max(2, n_datasets // 2),)


def drop_datasets(
    ranker: Ranker, reference: FloatArray, draws: int, rng: np.random.Generator
) -> tuple[Curve, dict[int, Survival], FloatArray]:
    """Spearman's rho between the ranking on a random part of the datasets and that on all (section 4.2.3, Figure 5).

    reference: rules x algorithms, the ranks on all datasets. From 1 left out to 2 kept; where all subsets of a size
    number at most `draws`, each is taken once. With the curve come what survives where 1, several and half of the
    datasets are left out, by their number; and `[r, d, a]`, the rank of algorithm a under rule r when dataset d alone
    is left out.
    """
    _, count, total = ranker.contest.values.shape
    kept_apart = {1, several(total), total // 2}
    points, survivals = [unchanged(len(ranker.rules))], {}
    without = np.empty(0)
    for dropped in sorted({*spread(1, total - 2, fewer_points(POINTS, count)), *kept_apart}):
        chosen, exhaustive = subsets(total, total - dropped, max(draws, total) if dropped == 1 else draws, rng)
        ranks = ranker(subset_weights(chosen, total))
        points.append(Point(dropped, spearman(ranks, reference[:, None, :]), exhaustive))
        if dropped in kept_apart:
            when = f"{dropped} of the {total} datasets {'is' if dropped == 1 else 'are'} left out"
            survivals[dropped] = survival(f"datasets_{dropped}", when, ranks, exhaustive=exhaustive)
        if dropped == 1:
            # Combinations run so that the first lacks the last dataset.
            without = ranks[:, ::-1, :]
    return Curve.of("drop_datasets", "datasets left out", ranker.names, points), survivals, without


@dataclass(frozen=True, slots=True, eq=False)
class Subset:
    """Rankings from `size` datasets: rho with the ranking on all, and between two such sets.

    `numbers[what]` are rules x (mean, low, high, standard error, lowest). `what` is `full` (with all datasets), `pair`
    (two sets drawn independently, which may share datasets) or `disjoint` (two sets that share none). `dominated` are
    the pairs in which one algorithm dominates the other within the set, `against` those of them that an aggregation
    ranks the other way round, `level` those that it ties (both by rule).
    """

    size: int
    tried: int
    """How many sets were tried."""
    numbers: dict[str, FloatArray]
    dominated: int
    against: tuple[int, ...]
    level: tuple[int, ...]


def few_datasets(ranker: Ranker, reference: FloatArray, size: int, draws: int, rng: np.random.Generator) -> Subset:
    """Rankings from `size` random datasets (Table 3: 5 and 10).

    Section 4.2.3 speaks of pairs of subsets, yet the numbers of Table 3 are those of `full`: on the published results
    rho with the full ranking meets them, and rho between pairs lies about 0.1 below. Both are given here. Pareto
    efficiency is looked at on the same draws, where one algorithm often dominates another.
    """
    total = ranker.contest.values.shape[2]
    order = random_subsets(total, total, draws, rng)
    weights = subset_weights(order[:, :size], total)
    ranks = ranker(weights)
    rho = {
        "full": spearman(ranks, reference[:, None, :]),
        "pair": spearman(ranks, np.roll(ranks, 1, axis=1)),
    }
    if 2 * size <= total:
        rho["disjoint"] = spearman(ranks, ranker(subset_weights(order[:, size : 2 * size], total)))
    dominated, against, level = ranker.contest.duels[0].dominated(weights, ranks)
    return Subset(
        size,
        draws,
        {what: Point(size, part, False).estimate() for what, part in rho.items()},
        dominated,
        tuple(against.tolist()),
        tuple(level.tolist()),
    )
