"""Who is shown to be better than whom: the status of every pair of a table, and the grade that follows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from recassay.analysis.inference.all_pairs import (
    FLIPS,
    FLIPS_OF_MANY,
    WINNERS_SHARE,
    PairTests,
    compare_pairs,
    relative_values,
    scaled_values,
    smallest_p,
)
from recassay.analysis.inference.effects import above_zero, equivalence_p, pair_gaps
from recassay.analysis.inference.families import family_means, renumbered
from recassay.analysis.inference.pair_rows import blocks, count_wins
from recassay.analysis.inference.significance import advantages, dataset_ranks, holm
from recassay.analysis.inference.wilcoxon import exact_ties, wilcoxon_rows
from recassay.analysis.verdict.result import Grade
from recassay.core import ties
from recassay.core.choices import VERY_MANY, PairTest
from recassay.core.content import content_order, copies
from recassay.core.seeds import derived_rng
from recassay.core.tables.matrix import Matrix
from recassay.core.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """Who is shown to be better than whom. Arrays of algorithms and pairs are in `order`, the best mean rank first."""

    order: list[int]
    ranks: FloatArray
    """Algorithms x datasets; algorithms with the same values everywhere count as one and share its ranks."""
    copies: IntArray
    """By algorithm, the number of the set of values that it has; the best mean rank is 0."""
    codes: Any
    """The status of the first of each pair against the second."""
    p: FloatArray
    single: FloatArray
    """The p of each pair alone."""
    equal: tuple[FloatArray, FloatArray]
    """The p of "not equivalent" of each pair, alone and corrected."""
    wins: IntArray
    """Algorithms x algorithms: on how many datasets the row is better."""
    better: BoolArray
    """Algorithms x algorithms: the row is shown to be better than the column."""
    p_best: FloatArray
    units: int
    """How many datasets, or families of them, the tests rest on: those on which not all tie."""
    smallest: float
    """The smallest p of a pair, corrected as all are, that so many of them allow."""
    decidable: bool
    """Whether that is below alpha."""
    grade: Grade
    judged: BoolArray
    """Whether anything can be said of each: not of one whose missing cells were filled, if it is behind with them."""


def decide(
    matrix: Matrix,
    *,
    control: str | None,
    within: float,
    alpha: float,
    seed: int,
    test: PairTest = "sign-flips",
    flips: int | None = None,
    families: IntArray | None = None,
) -> Decision:
    """The status of every pair and the grade, by the rules of `judge`; `flips` patterns of signs at most.

    It rests on the numbers alone: algorithms with the same values everywhere count once, datasets on which all tie do
    not count, and what is drawn is drawn in an order of the content (`core.content`).
    """
    rows, member = copies(matrix.upward)
    ranks = dataset_ranks(matrix.part(rows, np.arange(len(matrix.datasets))))
    telling = np.flatnonzero((ranks != ranks[0]).any(axis=0))
    columns = telling if len(telling) else np.arange(ranks.shape[1])
    content = content_order(relative_values(matrix.part(rows, columns)).round(10))
    columns = columns[content.columns]
    numbers = None if families is None else renumbered(families, columns)
    asked = None if control is None else int(content.row_places[member[matrix.algorithms.index(control)]])
    decided = _decide(
        matrix.part(rows[content.rows], columns),
        control=asked, within=within, alpha=alpha, seed=seed, test=test, flips=flips, families=numbers,
    )  # fmt: skip
    # From sets of values in the order of their mean ranks back to algorithms.
    place, mean_rank = np.argsort(content.rows[decided.order])[member], ranks.mean(axis=1)[member]
    order = sorted(range(len(place)), key=lambda a: (mean_rank[a], matrix.algorithms[a]))
    sets = place[order]
    first, second = np.triu_indices(len(order), 1)
    same = sets[first] == sets[second]
    ahead, behind = np.minimum(sets[first], sets[second]), np.maximum(sets[first], sets[second])
    pair = np.where(same, 0, pair_number(ahead, behind, len(rows)))
    codes = np.where(same, "equivalent", decided.codes[pair])
    better = decided.better[np.ix_(sets, sets)]
    p_best, shown = decided.p_best[sets], ranks[member[order]]
    filled = _filled(matrix)[order]
    judged = ~filled | (p_best >= alpha)
    better[:, filled] = False  # nobody is shown to be behind by values that were made up
    unshown = (codes == "better") & filled[second]
    codes = np.where(unshown, "undecided", codes)
    p_best = np.where(filled, 1.0, p_best)
    return replace(
        decided,
        order=order,
        ranks=shown,
        copies=sets,
        codes=codes,
        p=np.where(same | unshown, 1.0, decided.p[pair]),
        single=np.where(same | unshown, 1.0, decided.single[pair]),
        equal=(np.where(same, 0.0, decided.equal[0][pair]), np.where(same, 0.0, decided.equal[1][pair])),
        wins=count_wins(shown),
        better=better,
        p_best=p_best,
        grade=_grade(matrix, better[0, judged], p_best[judged] >= alpha, decidable=decided.decidable),
        judged=judged,
    )


def _filled(matrix: Matrix) -> BoolArray:
    """Which algorithms have cells that were filled with the worst value of their dataset."""
    names = {name for name, _ in matrix.missing.cells} if matrix.missing.policy == "worst" else set()
    return np.array([name in names for name in matrix.algorithms])


def pair_number(first: IntArray, second: IntArray, k: int) -> IntArray:
    """Where the pairs (first, second), first < second, stand among all pairs of k."""
    return np.asarray(first * k - first * (first + 1) // 2 + second - first - 1)


def _decide(
    matrix: Matrix,
    *,
    control: int | None,
    within: float,
    alpha: float,
    seed: int,
    test: PairTest,
    flips: int | None,
    families: IntArray | None,
) -> Decision:
    """The same for algorithms that differ, in an order of their content."""
    observed = dataset_ranks(matrix)
    order = np.argsort(observed.mean(axis=1), kind="stable")
    ranks = observed[order]
    mean_rank, k = ranks.mean(axis=1), len(ranks)
    first, second = np.triu_indices(k, 1)
    scaled = family_means(scaled_values(matrix)[order], families, by_size=True)
    units, by_wilcoxon = scaled.shape[1], test == "wilcoxon-holm"
    if by_wilcoxon:
        tests = _wilcoxon_tests(matrix, order, control, families)
    else:
        tests = _tests(matrix, scaled, order, control, flips, alpha=alpha, seed=seed)
    wins = count_wins(ranks)
    same = (wins + wins.T)[first, second] == 0
    p_equal = equivalence_p(matrix.values[order], first, second, within=within, families=families)
    ahead = ties.beats(mean_rank[second], mean_rank[first]) & (tests.sums > 0)
    likely = np.flatnonzero(ahead & (tests.single < alpha) & (not by_wilcoxon))
    for part in blocks(len(likely), len(matrix.datasets)):
        at = likely[part]
        gaps = pair_gaps(matrix, order[first[at]], order[second[at]])[0]
        ahead[at] = above_zero(family_means(gaps, families), confidence=1 - alpha)
    p = tests.adjusted if by_wilcoxon else _shared(tests, first == 0, ahead)
    smallest = smallest_corrected_p(units, k, test=test, control=control is not None)
    decidable = smallest < alpha
    neither = "undecided" if decidable else "undecidable"
    names = np.array(["better", "equivalent", neither], dtype=object)
    codes = names[np.where((p < alpha) & ahead & ~same, 0, np.where(same | (p_equal[1] < alpha), 1, 2))]
    better = np.zeros((k, k), dtype=bool)
    better[first, second] = codes == "better"
    behind = np.ones((k, k))
    behind[first, second] = np.where(ahead & ~same, p, 1.0)
    p_best = behind.min(axis=0)
    grade = _grade(matrix, better[0], p_best >= alpha, decidable=decidable)
    return Decision(
        order.tolist(), ranks, np.arange(k), codes, p, tests.single, p_equal, wins, better, p_best, units, smallest,
        decidable, grade, np.ones(k, dtype=bool),
    )  # fmt: skip


def _shared(tests: PairTests, of_control: BoolArray, ahead: BoolArray) -> FloatArray:
    """The p of every pair when the observed leader's claim to beat every other has a share of alpha of its own.

    That claim needs no correction but the share: its p is the largest of the leader's single ones (Gutmann and Maymin
    1987; Hung and Fithian 2019), divided by the share. The other share tests all pairs. Where the leader's claim holds,
    its share passes on to the pairs (Bretz, Maurer, Brannath and Posch 2009). So the chance of any false finding is at
    most alpha.
    """
    if len(of_control) == 1:
        return tests.adjusted
    claim = tests.single[of_control].max() / WINNERS_SHARE if ahead[of_control].all() else np.inf
    p = np.minimum(tests.adjusted / (1 - WINNERS_SHARE), np.maximum(tests.adjusted, claim))
    return np.minimum(np.where(of_control, np.minimum(p, claim), p), 1.0)


def _tests(
    matrix: Matrix, scaled: FloatArray, order: IntArray, control: int | None, flips: int | None, alpha: float, seed: int
) -> PairTests:
    """Every pair in the order of mean ranks; those of a control as a family of their own."""
    first, second = np.triu_indices(len(order), 1)
    flips = flips or (FLIPS if len(order) <= VERY_MANY else FLIPS_OF_MANY)
    rng = derived_rng(seed, "all pairs", matrix.metric)
    tests = compare_pairs(scaled, first, second, rng, flips=flips, alpha=alpha)
    if control is None:
        return tests
    place = int(np.flatnonzero(order == control)[0])
    of_control = (first == place) | (second == place)
    adjusted = tests.adjusted.copy()
    adjusted[of_control] = compare_pairs(
        scaled, first[of_control], second[of_control], rng, flips=flips, alpha=alpha
    ).adjusted
    return replace(tests, adjusted=adjusted)


def _wilcoxon_tests(matrix: Matrix, order: IntArray, control: int | None, families: IntArray | None) -> PairTests:
    """Every pair by Wilcoxon's signed-rank test with Holm's correction; those of a control as a family of their own."""
    first, second = np.triu_indices(len(order), 1)
    single, effect = np.empty(len(first)), np.empty(len(first))
    for part in blocks(len(first), len(matrix.datasets)):
        gaps = family_means(advantages(matrix, order[first[part]], order[second[part]]), families)
        found = wilcoxon_rows(gaps, most_tied=exact_ties(len(order)))
        single[part], effect[part] = found.p, found.biserial
    adjusted = holm(single)
    if control is not None:
        place = int(np.flatnonzero(order == control)[0])
        of_control = (first == place) | (second == place)
        adjusted[of_control] = holm(single[of_control])
    return PairTests(single, adjusted, effect)


def smallest_corrected_p(units: int, k: int, *, test: PairTest, control: bool) -> float:
    """The smallest p of a pair among those of k algorithms that so many datasets, or families of them, allow."""
    if test == "wilcoxon-holm":
        return min(smallest_p(units) * (k - 1 if control else k * (k - 1) // 2), 1.0)
    return min(smallest_p(units) / (1.0 if k == 2 else 1 - WINNERS_SHARE), 1.0)


def _grade(matrix: Matrix, beaten: BoolArray, could: BoolArray, *, decidable: bool) -> Grade:
    """The rule of the grade (docs/verdict.md), by whom the leader, the first, beats and who could be best."""
    if not matrix.values.any():
        return "not_comparable"
    if not decidable:
        return "too_little_data"
    if len(beaten) > 1 and beaten[1:].all():
        return "clear_winner"
    return "no_difference" if could.all() else "shared_lead"
