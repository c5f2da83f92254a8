"""The verdict on one table: the status of each pair is computed here, once, and everything else is read off it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from recassay.analysis.inference.all_pairs import FLIPS, FLOOR, PairTests, compare_pairs, scaled_values, smallest_p
from recassay.analysis.inference.bootstrap import dataset_weights, intervals
from recassay.analysis.inference.distributions import normal_cdf, normal_quantile
from recassay.analysis.inference.effects import Effect, effect_kind, hodges_lehmann
from recassay.analysis.inference.equivalence import equivalence_p
from recassay.analysis.inference.predictive import FEWEST_DATASETS, probability_first
from recassay.analysis.inference.removal import fewest_to_remove
from recassay.analysis.inference.significance import dataset_ranks
from recassay.analysis.inference.winners import possible_winners
from recassay.analysis.verdict.letters import group_letters
from recassay.analysis.verdict.result import Grade, PairVerdict, Status, Verdict
from recassay.analysis.verdict.words import in_words
from recassay.core import ties
from recassay.core.choices import PRACTICALLY_EQUAL
from recassay.core.errors import UsageError
from recassay.core.names import canonical, did_you_mean
from recassay.core.seeds import derived_rng
from recassay.core.tables.matrix import Matrix
from recassay.core.types import BoolArray, FloatArray, IntArray


def judge(
    matrix: Matrix,
    *,
    control: str | None = None,
    within: float = PRACTICALLY_EQUAL,
    alpha: float = 0.05,
    replicates: int = 10_000,
    seed: int = 0,
) -> Verdict:
    """The verdict on a matrix; asked again with the same arguments it is not computed again.

    A pair is `better` where the all-pairs test rejects at `alpha` (`inference.all_pairs`), the mean ranks point the
    same way, and the interval of its effect does not reach below zero. The pairs of a `control` that was named
    beforehand are adjusted for its k - 1 comparisons only. A leader that beats every other at `alpha`, each pair alone,
    is better than all of them: naming the observed winner needs no further correction (Gutmann and Maymin 1987; Hung
    and Fithian 2019). A pair is `equivalent` where two one-sided tests, Holm-corrected, put their ratio within the
    margin, or where all values are the same. Everything else is `undecided`, or `undecidable` where even 2 / 2^N is not
    below alpha.
    """
    chosen = None if control is None else find_control(control, matrix.algorithms)
    return _judge(_Key(matrix), chosen, within, alpha, replicates, seed)


def find_control(name: str, algorithms: Sequence[str]) -> str:
    """The algorithm that is meant, whatever its case."""
    found = [one for one in algorithms if canonical(one) == canonical(name)]
    if not found:
        raise UsageError(f"the control {name!r} is none of the algorithms", fix=did_you_mean(name, list(algorithms)))
    return found[0]


class _Key:
    """A matrix that equals another with the same values and names."""

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix
        self.content: tuple[Any, ...] = (
            matrix.values.tobytes(), matrix.algorithms, matrix.datasets, matrix.metric, matrix.higher_is_better,
            matrix.missing,
        )  # fmt: skip

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.content == other.content

    def __hash__(self) -> int:
        return hash(self.content)


@lru_cache(maxsize=8)
def _judge(key: _Key, control: str | None, within: float, alpha: float, replicates: int, seed: int) -> Verdict:
    matrix = key.matrix
    decision = decide(matrix, control=control, within=within, alpha=alpha, seed=seed)
    order, ranks, mean_rank, better = decision.order, decision.ranks, decision.mean_rank, decision.better
    names, values = tuple(matrix.algorithms[a] for a in order), matrix.values[order]
    k, n = ranks.shape
    p_best, decidable = decision.p_best, decision.decidable
    enough = n >= FEWEST_DATASETS
    interval = again = None
    if enough:
        weights = dataset_weights(n, replicates, derived_rng(seed, "rank", matrix.metric))
        interval = intervals(weights @ ranks.T / n, n, 1 - alpha)
        again = probability_first(dataset_ranks(matrix), derived_rng(seed, "first again", matrix.metric))[order]
        if not decidable:
            p_best = possible_winners(ranks, derived_rng(seed, "possible winners", matrix.metric))
    could = p_best >= alpha
    leaders = tuple(name for name, rank in zip(names, mean_rank, strict=True) if not ties.beats(rank, mean_rank[0]))
    removal = fewest_to_remove(ranks) if len(leaders) == 1 else None
    found = Verdict(
        metric=matrix.metric,
        higher_is_better=matrix.higher_is_better,
        algorithms=names,
        datasets=matrix.datasets,
        alpha=alpha,
        within=within,
        control=control,
        grade=decision.grade,
        leaders=leaders,
        rival=next((name for name, yes in zip(names[1:], could[1:], strict=True) if yes), names[1]),
        could_be_best=tuple(name for name, yes in zip(names, could, strict=True) if yes),
        mean=values.mean(axis=1),
        mean_rank=mean_rank,
        interval=interval,
        rank_interval=np.stack([1 + better.sum(axis=0), k - better.sum(axis=1)], axis=1),
        leads_again=again,
        p_best=p_best,
        groups=group_letters(better | better.T),
        status=_square(decision.codes, k),
        pairs=_pairs(matrix, decision, alpha),
        smallest_p=smallest_p(n),
        visible_lead=visible_lead(k, n, decision.tests.critical) if decidable and decision.differing else None,
        removal=None if removal is None else (names[removal[0]], len(removal[1])),
        hopeful=_hopeful(matrix, leaders),
    )
    return replace(found, **in_words(found, matrix.missing))


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
    matrix: Matrix, *, control: str | None, within: float, alpha: float, seed: int, flips: int = FLIPS
) -> Decision:
    """The status of every pair and the grade, by the rules of `judge`; `flips` patterns of signs where not all."""
    observed = dataset_ranks(matrix)
    mean_rank = observed.mean(axis=1)
    order = sorted(range(len(observed)), key=lambda a: (mean_rank[a], matrix.algorithms[a]))
    ranks, mean_rank = observed[order], mean_rank[order]
    k, n = ranks.shape
    first, second = np.triu_indices(k, 1)
    tests = _tests(matrix, order, control, derived_rng(seed, "all pairs", matrix.metric), flips)
    same = (ranks[first] == ranks[second]).all(axis=1)
    equal = same | (equivalence_p(matrix.values[order], first, second, within=within)[1] < alpha)
    ahead = ties.beats(mean_rank[second], mean_rank[first]) & (tests.sums > 0)
    likely = np.flatnonzero(ahead & (tests.single < alpha))
    gains = np.full((len(first), 3), np.nan)
    gains[likely] = _gains(matrix, order, first[likely], second[likely], alpha)
    ahead[likely] = gains[likely, 1] >= -1e-12
    p = _verified(tests.adjusted, tests.single, ahead, first)
    decidable = smallest_p(n) < alpha
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


def _tests(matrix: Matrix, order: list[int], control: str | None, rng: np.random.Generator, flips: int) -> PairTests:
    """Every pair in the order of mean ranks; those of a control as a family of their own."""
    scaled = scaled_values(matrix)[order]
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


def _square(codes: Any, k: int) -> tuple[tuple[Status, ...], ...]:
    first, second = np.triu_indices(k, 1)
    square = np.full((k, k), "equivalent", dtype="<U11")
    square[first, second] = codes
    square[second, first] = np.where(codes == "better", "worse", codes)
    return tuple(tuple(row) for row in square.tolist())


def _grade(matrix: Matrix, better: BoolArray, could: BoolArray, *, decidable: bool) -> Grade:
    """The rule of the grade; it is written down in docs/verdict.md."""
    if not matrix.values.any():
        return "not_comparable"
    if not decidable:
        return "too_little_data"
    if better[0, 1:].all():
        return "clear_winner"
    return "no_difference" if could.all() else "shared_lead"


def _pairs(matrix: Matrix, decision: Decision, alpha: float) -> tuple[PairVerdict, ...]:
    order, ranks, codes = decision.order, decision.ranks, decision.codes
    first, second = np.triu_indices(len(order), 1)
    names = [matrix.algorithms[a] for a in order]
    kind = effect_kind(matrix)
    estimates, rest = decision.gains.copy(), np.isnan(decision.gains[:, 0])
    estimates[rest] = _gains(matrix, order, first[rest], second[rest], alpha)
    estimates = np.exp(estimates) if kind == "ratio" else estimates
    known = bool(np.isfinite(estimates).all())
    wins = (ranks[first] < ranks[second]).sum(axis=1).tolist()
    losses = (ranks[first] > ranks[second]).sum(axis=1).tolist()
    return tuple(
        PairVerdict(
            a=names[i],
            b=names[j],
            status=codes[at],
            wins=wins[at],
            losses=losses[at],
            ties=ranks.shape[1] - wins[at] - losses[at],
            effect=Effect(kind, estimate, (low, high) if known else None),
            p=float(decision.p[at]),
            p_single=float(decision.tests.single[at]),
        )
        for at, (i, j, (estimate, low, high)) in enumerate(
            zip(first.tolist(), second.tolist(), estimates.tolist(), strict=True)
        )
    )


def _gains(matrix: Matrix, order: list[int], first: IntArray, second: IntArray, alpha: float) -> FloatArray:
    """By how much the first of each pair is better (Hodges-Lehmann, with interval); logs where effects are ratios."""
    values = (np.log(matrix.values) if effect_kind(matrix) == "ratio" else matrix.values)[order]
    up = values if matrix.higher_is_better else -values
    return hodges_lehmann(up[first] - up[second], 1 - alpha)


def _hopeful(matrix: Matrix, leaders: tuple[str, ...]) -> str | None:
    """Who would lead instead if the cells that were filled with the worst value of their dataset had the best."""
    missing = matrix.missing
    if missing.policy != "worst" or not missing.cells:
        return None
    values = matrix.values.copy()
    best = values.max(axis=0) if matrix.higher_is_better else values.min(axis=0)
    for name, dataset in missing.cells:
        at = matrix.datasets.index(dataset)
        values[matrix.algorithms.index(name), at] = best[at]
    ranks = dataset_ranks(replace(matrix, values=values)).mean(axis=1)
    first = matrix.algorithms[int(ranks.argmin())]
    return None if first in leaders else first


def visible_lead(k: int, n: int, critical: float, power: float = 0.8) -> float | None:
    """The lead in mean rank, over equal others, that is shown with probability `power`; None where no lead would be.

    A lead of x deviations of a difference is shown where (n x - z sqrt(n)) / sqrt(n (1 + FLOOR + x^2)) exceeds the
    critical value, z the normal quantile of the power; it wins a share w = Phi(x) of the datasets against each other
    algorithm, and leads by k (w - 1/2) mean ranks.
    """
    x = np.linspace(0.0, 4.0, 801)
    shown = (n * x - normal_quantile(power) * np.sqrt(n)) / np.sqrt(n * (1 + FLOOR + x**2)) >= critical
    return float(k * (normal_cdf(x[shown.argmax()]) - 0.5)) if shown.any() else None
