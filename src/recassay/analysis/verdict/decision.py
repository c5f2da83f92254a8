"""Who is shown to be better than whom: the status of every pair of a table, and the grade that follows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from recassay.analysis.inference.all_pairs import (
    FLIPS,
    FLIPS_OF_MANY,
    PairTests,
    compare_pairs,
    scaled_values,
    smallest_p,
)
from recassay.analysis.inference.effects import above_zero, effect_kind, equivalence_p
from recassay.analysis.inference.families import family_means
from recassay.analysis.inference.pair_rows import blocks, count_wins
from recassay.analysis.inference.significance import dataset_ranks
from recassay.analysis.verdict.result import Grade
from recassay.core import ties
from recassay.core.choices import VERY_MANY
from recassay.core.seeds import derived_rng
from recassay.core.tables.matrix import Matrix
from recassay.core.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """Who is shown to be better than whom. Arrays of algorithms and pairs are in `order`, the best mean rank first."""

    order: list[int]
    ranks: FloatArray
    codes: Any
    """The status of the first of each pair against the second."""
    p: FloatArray
    tests: PairTests
    equal: tuple[FloatArray, FloatArray]
    """The p of "not equivalent" of each pair, alone and corrected."""
    wins: IntArray
    """Algorithms x algorithms: on how many datasets the row is better."""
    better: BoolArray
    """Algorithms x algorithms: the row is shown to be better than the column."""
    p_best: FloatArray
    decidable: bool
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
    wins = count_wins(ranks)
    same = (wins + wins.T)[first, second] == 0
    p_equal = equivalence_p(matrix.values[order], first, second, within=within, families=families)
    equal = same | (p_equal[1] < alpha)
    ahead = ties.beats(mean_rank[second], mean_rank[first]) & (tests.sums > 0)
    likely = np.flatnonzero(ahead & (tests.single < alpha))
    upward = upward_values(matrix, order)
    for part in blocks(len(likely), len(matrix.datasets)):
        at = likely[part]
        ahead[at] = above_zero(family_means(upward[first[at]] - upward[second[at]], families), 1 - alpha)
    # The leader's pairs have at most the p of "it beats every other": the largest of its single ones.
    own = first == 0
    p = np.where(own & ahead[own].all(), np.minimum(tests.adjusted, tests.single[own].max()), tests.adjusted)
    decidable = smallest_p(scaled.shape[1]) < alpha
    neither = "undecided" if decidable else "undecidable"
    names = np.array(["equivalent", "better", neither], dtype=object)
    codes = names[np.where(equal, 0, np.where((p < alpha) & ahead, 1, 2))]
    better = np.zeros((k, k), dtype=bool)
    better[first, second] = codes == "better"
    behind = np.ones((k, k))
    behind[first, second] = np.where(ahead & ~equal, p, 1.0)
    p_best = behind.min(axis=0)
    grade = _grade(matrix, better, p_best >= alpha, decidable=decidable)
    return Decision(order, ranks, codes, p, tests, p_equal, wins, better, p_best, decidable, grade)


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


def _grade(matrix: Matrix, better: BoolArray, could: BoolArray, *, decidable: bool) -> Grade:
    """The rule of the grade; it is written down in docs/verdict.md."""
    if not matrix.values.any():
        return "not_comparable"
    if not decidable:
        return "too_little_data"
    if better[0, 1:].all():
        return "clear_winner"
    return "no_difference" if could.all() else "shared_lead"


def upward_values(matrix: Matrix, order: list[int]) -> FloatArray:
    """Values in this order whose differences are effects, higher the better; logs where effects are ratios."""
    values = (np.log(matrix.values) if effect_kind(matrix) == "ratio" else matrix.values)[order]
    return values if matrix.higher_is_better else -values
