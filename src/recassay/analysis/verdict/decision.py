"""Who is shown to be better than whom: the status of every pair of a table, and the grade that follows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from recassay.analysis.inference.all_pairs import (
    FLIPS,
    FLIPS_OF_MANY,
    VERY_MANY,
    PairTests,
    compare_pairs,
    scaled_values,
    smallest_p,
)
from recassay.analysis.inference.effects import effect_kind, hodges_lehmann
from recassay.analysis.inference.equivalence import equivalence_p
from recassay.analysis.inference.families import family_means
from recassay.analysis.inference.significance import dataset_ranks
from recassay.analysis.verdict.result import Grade
from recassay.core import ties
from recassay.core.seeds import derived_rng
from recassay.core.tables.matrix import Matrix
from recassay.core.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """Who is shown to be better than whom. Arrays of algorithms and pairs are in `order`, the best mean rank first."""

    order: list[int]
    ranks: FloatArray
    mean_rank: FloatArray
    codes: Any
    """The status of the first of each pair against the second."""
    p: FloatArray
    tests: PairTests
    gains: FloatArray
    """Pairs x 3, as `hodges_lehmann` gives them, of the pairs that could be `better`; NaN for the others."""
    better: BoolArray
    """Algorithms x algorithms: the row is shown to be better than the column."""
    p_best: FloatArray
    decidable: bool
    differing: bool
    """Whether any two algorithms have different values on any dataset."""
    grade: Grade


def decide(
    matrix: Matrix,
    *,
    control: str | None,
    within: float,
    alpha: float,
    seed: int,
    flips: int | None = None,
    families: IntArray | None = None,
) -> Decision:
    """The status of every pair and the grade, by the rules of `judge`; `flips` patterns of signs at most."""
    flips = flips or (FLIPS if len(matrix.algorithms) <= VERY_MANY else FLIPS_OF_MANY)
    observed = dataset_ranks(matrix)
    mean_rank = observed.mean(axis=1)
    order = sorted(range(len(observed)), key=lambda a: (mean_rank[a], matrix.algorithms[a]))
    ranks, mean_rank = observed[order], mean_rank[order]
    k = len(ranks)
    first, second = np.triu_indices(k, 1)
    scaled = family_means(scaled_values(matrix)[order], families, by_size=True)
    tests = _tests(matrix, scaled, order, control, derived_rng(seed, "all pairs", matrix.metric), flips)
    same = (ranks[first] == ranks[second]).all(axis=1)
    equal = same | (equivalence_p(matrix.values[order], first, second, within=within, families=families)[1] < alpha)
    ahead = ties.beats(mean_rank[second], mean_rank[first]) & (tests.sums > 0)
    likely = np.flatnonzero(ahead & (tests.single < alpha))
    gains = np.full((len(first), 3), np.nan)
    gains[likely] = gains_of(matrix, order, first[likely], second[likely], alpha, families)
    ahead[likely] = gains[likely, 1] >= -1e-12
    p = _verified(tests.adjusted, tests.single, ahead, first)
    decidable = smallest_p(scaled.shape[1]) < alpha
    neither = "undecided" if decidable else "undecidable"
    codes = np.where(equal, "equivalent", np.where((p < alpha) & ahead, "better", neither))
    better = np.zeros((k, k), dtype=bool)
    better[first, second] = codes == "better"
    behind = np.ones((k, k))
    behind[first, second] = np.where(ahead & ~equal, p, 1.0)
    p_best = behind.min(axis=0)
    grade = _grade(matrix, better, p_best >= alpha, decidable=decidable)
    differing = not bool(same.all())
    return Decision(order, ranks, mean_rank, codes, p, tests, gains, better, p_best, decidable, differing, grade)


def _tests(
    matrix: Matrix, scaled: FloatArray, order: list[int], control: str | None, rng: np.random.Generator, flips: int
) -> PairTests:
    """Every pair in the order of mean ranks; those of a control as a family of their own."""
    first, second = np.triu_indices(len(order), 1)
    tests = compare_pairs(scaled, first, second, rng, flips)
    if control is None:
        return tests
    place = order.index(matrix.algorithms.index(control))
    own = (first == place) | (second == place)
    adjusted = tests.adjusted.copy()
    adjusted[own] = compare_pairs(scaled, first[own], second[own], rng, flips).adjusted
    return replace(tests, adjusted=adjusted)


def _verified(p: FloatArray, single: FloatArray, ahead: BoolArray, first: IntArray) -> FloatArray:
    """p-values of the leader's pairs, at most that of "it beats every other": the largest of its single ones."""
    own = first == 0
    return np.where(own & ahead[own].all(), np.minimum(p, single[own].max()), p)


def _grade(matrix: Matrix, better: BoolArray, could: BoolArray, *, decidable: bool) -> Grade:
    """The rule of the grade; it is written down in docs/verdict.md."""
    if not matrix.values.any():
        return "not_comparable"
    if not decidable:
        return "too_little_data"
    if better[0, 1:].all():
        return "clear_winner"
    return "no_difference" if could.all() else "shared_lead"


def gains_of(
    matrix: Matrix, order: list[int], first: IntArray, second: IntArray, alpha: float, families: IntArray | None
) -> FloatArray:
    """By how much the first of each pair is better (Hodges-Lehmann, with interval); logs where effects are ratios."""
    values = (np.log(matrix.values) if effect_kind(matrix) == "ratio" else matrix.values)[order]
    up = values if matrix.higher_is_better else -values
    return hodges_lehmann(family_means(up[first] - up[second], families), 1 - alpha)
