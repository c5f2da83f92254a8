"""What a benchmark of this size could have seen: the power of Wilcoxon-Holm, simulated from the table itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from recassay.analysis.inference.distributions import normal_cdf
from recassay.analysis.inference.wilcoxon import sum_distribution
from recassay.core import ties
from recassay.core.types import BoolArray, FloatArray

POWER = 0.8
FEWEST_DATASETS = 5

TABLES = 1_000
"""Simulated benchmarks behind a chance of finding the lead: its standard error is at most 0.016."""

_CELLS = 1_000_000
"""Differences of the other pairs that are drawn at once to learn the level that Holm leaves to the lead."""

_EXACT = 100
"""Differences up to which simulated p-values are exact; the normal approximation is near enough beyond."""


@dataclass(frozen=True, slots=True)
class PowerStatement:
    """What N datasets can show about the lead of the best mean rank (`left`) over the second (`right`).

    `smallest_p` is the smallest two-sided Wilcoxon p that N datasets can give, 2 / 2^N; times the number of pairs it is
    `smallest_p_holm`, and where that is not below alpha no pair can be significant, whatever the values. `chance` is
    how often a benchmark of N datasets drawn from these finds the lead (Wilcoxon-Holm over all pairs),
    `detectable_gap` the lead in mean rank that would be found with probability `power`, with `detectable_wins`, the
    share of datasets then won. None: below five datasets nothing is simulated; the two have the same ranks everywhere;
    or no lead is large enough. How many datasets would show the lead is a question for `plan`, which does not take it
    as true.
    """

    datasets: int
    """How many datasets there are (N)."""
    algorithms: int
    """How many algorithms."""
    pairs: int
    """How many pairs of them."""
    alpha: float
    power: float
    smallest_p: float
    smallest_p_holm: float
    wilcoxon_can_decide: bool
    """Whether any pair could be significant with so few datasets."""
    left: str
    right: str
    same: bool
    """Whether the two have the same rank on every dataset: then there is no lead to speak of."""
    observed_gap: float
    """The lead in mean rank as observed."""
    chance: float | None
    detectable_gap: float | None
    detectable_wins: float | None

    def sentence(self) -> str:
        """The statement in words; empty below five datasets."""
        size = f"With {self.datasets} datasets"
        if self.datasets < FEWEST_DATASETS or self.same:
            return ""
        if not self.wilcoxon_can_decide:
            return (
                f"{size} Wilcoxon-Holm cannot tell any two of {self.algorithms} algorithms apart, whatever the values: "
                f"its smallest corrected p is {min(self.smallest_p_holm, 1):.3g}."
            )
        share = f"{100 * self.power:.0f} %"
        if self.detectable_gap is None or self.detectable_wins is None or self.chance is None:
            needs = f"no lead of {self.left} over {self.right} would be found in {share} of such benchmarks"
            return f"{size} and {self.algorithms} algorithms, {needs}, however large (Wilcoxon-Holm)."
        said = (
            f"{size} and {self.algorithms} algorithms, Wilcoxon-Holm finds a lead like that of {self.left} over "
            f"{self.right} ({self.observed_gap:.2f} in mean rank) in {100 * self.chance:.0f} % of benchmarks drawn "
            f"from these datasets. It would be found in {share} if it were {self.detectable_gap:.2f} "
            f"({100 * self.detectable_wins:.0f} % of the datasets won)"
        )
        return f"{said}."


def power_statement(
    advantages: FloatArray,
    ranks: FloatArray,
    names: tuple[str, ...],
    *,
    alpha: float,
    rng: np.random.Generator,
) -> PowerStatement:
    """What these datasets can show about their two best algorithms.

    `advantages` (pairs x datasets) are the differences of every pair, those of the two best first; `ranks` are the
    two best algorithms' ranks on each dataset (2 x datasets). Benchmarks are drawn from the datasets with replacement
    and tested as this one was; smaller and larger leads come from the same differences (`_detectable`).
    """
    m, n = advantages.shape
    k = round((1 + np.sqrt(1 + 8 * m)) / 2)
    smallest = 2.0 ** (1 - n)
    can = smallest * m < alpha
    gap = float((ranks[1] - ranks[0]).mean())
    chance = detectable = wins = None
    same = bool((ranks[0] == ranks[1]).all())
    if n >= FEWEST_DATASETS and can and not same:
        level = _level(advantages[1:], n, m, alpha, rng)
        chance = _share_found(advantages[0], n, level, rng)
        detectable, wins = _detectable(advantages[0], ranks[1] - ranks[0], level, rng)
    return PowerStatement(
        datasets=n,
        algorithms=k,
        pairs=m,
        alpha=alpha,
        power=POWER,
        smallest_p=smallest,
        smallest_p_holm=smallest * m,
        wilcoxon_can_decide=can,
        left=names[0],
        right=names[1],
        same=same,
        observed_gap=gap,
        chance=chance,
        detectable_gap=detectable,
        detectable_wins=wins,
    )


@cache
def _lower_tails(n: int) -> FloatArray:
    """Wilcoxon's two-sided p for the smaller rank sum 0, 1, ... of n differences without ties."""
    return np.minimum(1.0, 2 * np.cumsum(sum_distribution(np.arange(1, n + 1))))


def _p_values(positive: FloatArray, n: int) -> FloatArray:
    """Wilcoxon's p of sums of positive ranks over n differences; half ranks, of equal values, are rounded up."""
    most = n * (n + 1) / 2
    smaller = np.minimum(positive, most - positive)
    if n <= _EXACT:
        return _lower_tails(n)[np.ceil(smaller).astype(np.int64)]
    return 2 * normal_cdf((smaller - most / 2) / np.sqrt(n * (n + 1) * (2 * n + 1) / 24))


def _positive_sums(gaps: FloatArray, counts: FloatArray) -> FloatArray:
    """Sums of positive ranks (tables x pairs) when each dataset is drawn as often as `counts` (tables x datasets) says.

    With the sizes of the differences in order and C their running count, a dataset that was drawn c times holds the
    ranks C - c + 1 to C: nothing is sorted anew. Tied sizes share the mean of their ranks; equal values count half for
    each side.
    """
    order = np.argsort(np.abs(gaps), axis=1, kind="stable")
    share = np.take_along_axis((np.sign(gaps) + 1) / 2, order, axis=1)
    sizes = np.take_along_axis(np.abs(gaps), order, axis=1)
    new = np.ones(sizes.shape, dtype=bool)
    new[:, 1:] = ties.beats(sizes[:, 1:], sizes[:, :-1])
    place = np.broadcast_to(np.arange(gaps.shape[1]), sizes.shape)
    first = np.maximum.accumulate(np.where(new, place, 0), axis=1)
    final = np.roll(new, -1, axis=1)
    final[:, -1] = True
    last = np.minimum.accumulate(np.where(final, place, gaps.shape[1])[:, ::-1], axis=1)[:, ::-1]
    drawn = counts[:, order]
    count = np.cumsum(drawn, axis=2)
    before = np.take_along_axis(count - drawn, first[None], axis=2)
    rank = (before + np.take_along_axis(count, last[None], axis=2) + 1) / 2
    return np.einsum("tpd,tpd,pd->tp", drawn, rank, share)


def _draw(datasets: int, n: int, tables: int, rng: np.random.Generator) -> FloatArray:
    return rng.multinomial(n, np.full(datasets, 1 / datasets), size=tables).astype(np.float64)


def _level(others: FloatArray, n: int, m: int, alpha: float, rng: np.random.Generator) -> FloatArray:
    """The level that Holm's step-down leaves to one pair, given the others, in some drawn benchmarks of n datasets.

    It is alpha / (m - j), j the number of the other pairs that are rejected one after the other before it.
    """
    if not len(others):
        return np.array([alpha])
    tables = int(np.clip(_CELLS // others.size, 20, 200))
    p = np.sort(_p_values(_positive_sums(others, _draw(others.shape[1], n, tables, rng)), n), axis=1)
    rejected = np.cumprod(p < alpha / (m - np.arange(len(others))), axis=1).sum(axis=1)
    return alpha / (m - rejected)


def _share_found(gap: FloatArray, n: int, level: FloatArray, rng: np.random.Generator) -> float:
    """The share of benchmarks of n datasets that find the difference, in its own direction."""
    return _found(_positive_sums(gap[None], _draw(len(gap), n, TABLES, rng))[:, 0], n, rng.choice(level, TABLES))


def _found(positive: FloatArray, n: int, level: FloatArray) -> float:
    return float(((4 * positive > n * (n + 1)) & (_p_values(positive, n) < level)).mean())


def _detectable(
    gap: FloatArray, rank_gap: FloatArray, level: FloatArray, rng: np.random.Generator
) -> tuple[float | None, float | None]:
    """The lead in mean rank, and the share of datasets won, that is found with probability `POWER`.

    Strength s from 0 to 1 keeps the sign of a dataset with probability s and tosses a coin otherwise; from 1 to 2 it
    turns a lost one into a won one with probability s - 1. The lead grows with s, and so does the chance.
    """
    n = len(gap)
    sign = np.sign(gap) if rank_gap.mean() > 0 else np.zeros(n)
    place = rng.integers(n, size=(TABLES, n))
    chance, coin, noise = rng.random((3, TABLES, n))
    ranks = np.argsort(np.argsort(np.abs(gap)[place] * (1 + 1e-6 * noise), axis=1), axis=1) + 1
    levels, drawn = rng.choice(level, TABLES), sign[place]
    usual = np.where(drawn == 0, coin < 0.5, drawn > 0)

    def won(strength: float) -> BoolArray:
        kept: BoolArray = np.where(chance < strength, usual, coin < 0.5) | (chance < strength - 1)
        return kept

    def found(strength: float) -> float:
        return _found((ranks * won(strength)).sum(axis=1), n, levels)

    if found(2.0) < POWER:
        return None, None
    low, high = 0.0, 2.0
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) >= POWER else (middle, high)
    first, most = float((sign * np.abs(rank_gap)).mean()), float(np.abs(rank_gap).mean())
    lead = high * first if high <= 1 else first + (high - 1) * (most - first)
    return lead, float(won(high).mean())
