"""What the stress tests change: fewer datasets (KDD'24, Figure 5 and Table 3), fewer or more algorithms (Figure 6 and
appendix B), and another beta."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from recassay.analysis.aggregation.contest import Extended
from recassay.analysis.aggregation.rules import DolanMore
from recassay.analysis.inference.agreement import spearman
from recassay.analysis.inference.bootstrap import random_subsets, subset_weights
from recassay.analysis.stress.conclusions import Change, Survival, survival
from recassay.analysis.stress.curve import Curve, Points, measured
from recassay.analysis.stress.ranker import Ranker, fewer_points, spread, subsets
from recassay.core import ties
from recassay.core.content import content_order
from recassay.core.types import FloatArray

SIZES = (5, 10)
"""The small numbers of datasets of the paper's Table 3."""

DATASET_POINTS, ALGORITHM_POINTS = 30, 12
"""The most numbers of datasets, and of algorithms, at which a curve is measured."""

COPY_FACTORS = (0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15)
"""How much better than the original a copy is: |1 - alpha| <= 0.15 (appendix B.1)."""

BEST_FACTORS = tuple(np.arange(1.0, 4.01, 0.25).tolist())
"""How much better than the best value of each dataset a new best algorithm is: 1 to 4 (appendix B.2)."""

RULES_WITH_BETA = ("dm_auc", "dm_lbo")
BETAS = (1.25, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0, 10.0)


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
    order = content_order(ranker.contest.upward).columns
    kept_apart = {1, several(total), total // 2}
    points: Points = {0: measured(np.ones((len(ranker.rules), 1)), True)}  # nothing is left out: rho is 1
    survivals = {}
    without = np.empty(0)
    for dropped in sorted({*spread(1, total - 2, fewer_points(DATASET_POINTS, count)), *kept_apart}):
        chosen, exhaustive = subsets(order, total - dropped, max(draws, total) if dropped == 1 else draws, rng)
        ranks = ranker(subset_weights(chosen, total))
        points[dropped] = measured(spearman(ranks, reference[:, None, :]), exhaustive)
        if dropped in kept_apart:
            survivals[dropped] = survival(Change("datasets", dropped, total), ranks, exhaustive=exhaustive)
        if dropped == 1:
            # Combinations run so that the first lacks the last dataset.
            without = ranks[:, ::-1, :]
    return Curve.of("drop_datasets", ranker.names, points), survivals, without


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
    order = content_order(ranker.contest.upward).columns[random_subsets(total, total, draws, rng)]
    weights = subset_weights(order[:, :size], total)
    ranks = ranker(weights)
    rho = {
        "full": spearman(ranks, reference[:, None, :]),
        "pair": spearman(ranks, np.roll(ranks, 1, axis=1)),
    }
    if 2 * size <= total:
        rho["disjoint"] = spearman(ranks, ranker(subset_weights(order[:, size : 2 * size], total)))
    dominated, against, level = ranker.contest.duels.dominated(weights, ranks)
    numbers = {what: measured(part, False)[1] for what, part in rho.items()}
    return Subset(size, draws, numbers, dominated, tuple(against.tolist()), tuple(level.tolist()))


def improved(values: FloatArray, factor: float, *, higher_is_better: bool) -> FloatArray:
    """`values` made better by `factor` (below 1: worse): multiplied where growing is improving, else divided."""
    grows = (values >= 0) == higher_is_better
    return np.where(grows, values * factor, values / factor)


def kept_sizes(n_algorithms: int) -> list[int]:
    """Numbers of algorithms to keep: from all but one down to 3 (2 where there are only 3)."""
    return spread(min(3, n_algorithms - 1), n_algorithms - 1, fewer_points(ALGORITHM_POINTS, n_algorithms))


def drop_algorithms(
    ranker: Ranker, reference: FloatArray, draws: int, rng: np.random.Generator
) -> tuple[Curve, Survival]:
    """Spearman's rho between the ranking of a random part of the algorithms and their order among all (Figure 6).

    The survival is that of the order when a third of the algorithms is left out.
    """
    total = ranker.contest.n_algorithms
    order = content_order(ranker.contest.upward).rows
    third = max(1, round(total / 3))
    points: Points = {0: measured(np.ones((len(ranker.rules), 1)), True)}  # nothing is left out: rho is 1
    survivals = {}
    for size in sorted({*kept_sizes(total), total - third}):
        chosen, exhaustive = subsets(order, size, draws, rng)
        ranks = ranker.among(chosen)
        before = ties.ranks(reference[:, chosen], higher_is_better=False)
        points[total - size] = measured(spearman(ranks, before), exhaustive)
        if size == total - third:
            spaced = np.full((len(ranker.rules), len(chosen), total), np.nan)
            np.put_along_axis(spaced, np.broadcast_to(chosen, ranks.shape), ranks, axis=2)
            survivals[size] = survival(Change("algorithms", third, total), spaced, exhaustive=exhaustive)
    return Curve.of("drop_algorithms", ranker.names, points), survivals[total - third]


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
    points: Points = {}
    ranked = []
    for factor in COPY_FACTORS:
        better = improved(copied, factor, higher_is_better=contest.higher_is_better)
        after = np.stack([ranker.of(Extended(contest, copy), weights, judged=count) for copy in better], axis=1)
        rho = spearman(after, before[:, None])
        ranked.append(after[:, :, 0])
        points[factor] = measured(rho[:, :, 0], len(copied) == count, around=rho.reshape(len(rho), -1))
    kept = survival(Change("copies"), np.concatenate(ranked, axis=1), exhaustive=len(copied) == count)
    return Curve.of("similar", ranker.names, points), kept


def add_best(ranker: Ranker, weights: FloatArray) -> Curve:
    """Spearman's rho of the order of the others after an algorithm is added that is best everywhere (B.2).

    It has the best value of each dataset, improved by the factor. Estimate and interval: as for copies.
    """
    contest, values = ranker.contest, ranker.contest.values[0]
    best = values.max(axis=0) if contest.higher_is_better else values.min(axis=0)
    before = ranker(weights)
    points: Points = {}
    for factor in BEST_FACTORS:
        new = improved(best, factor, higher_is_better=contest.higher_is_better)
        rho = spearman(ranker.of(Extended(contest, new), weights, judged=len(values)), before)
        points[factor] = measured(rho[:, :1], True, around=rho)
    return Curve.of("new_best", ranker.names, points)


def vary_beta(ranker: Ranker, weights: FloatArray) -> Curve | None:
    """Spearman's rho between the ranking at another beta and at the ranker's own (3 in the paper).

    None where neither Dolan-Moré rule applies. The first row of `weights` is the table itself; the interval is over the
    others, bootstrap draws of the datasets.
    """
    those = replace(ranker, rules=tuple(rule for rule in ranker.rules if rule.name in RULES_WITH_BETA))
    if not those.rules:
        return None
    before = those(weights)
    points: Points = {}
    for beta in BETAS:
        rho = spearman(replace(those, options=DolanMore(beta))(weights), before)
        points[beta] = measured(rho[:, :1], True, around=rho)
    return Curve.of("beta", those.names, points)
