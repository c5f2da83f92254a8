"""Friedman's test: the published statistics, and a p-value from the permutation distribution itself."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from math import exp, factorial, log, prod
from typing import Literal

import numpy as np

from recassay.analysis.inference.distributions import beta_sf, chi_square_sf, f_sf
from recassay.core.types import FloatArray, IntArray

Way = Literal["exact", "permutations", "moments"]
"""How the p-value was found: by all permutations, by random ones, or by a density with the moments of all."""

ENUMERATED = 200_000
"""Steps of the exact convolution that are taken at most: 2 algorithms on 550 datasets, 3 on 57, 4 on 14, 5 on 5,
6 on 3, up to 8 on 2 (with ties more)."""

MOST_WAYS = 1_000
"""With more arrangements than this on several datasets the convolution is not begun: it would not end in time."""

WHOLE = 62
"""Bits of a whole number that holds the rank sums of all algorithms."""

DRAWS = 10_000
"""Random permutations of the whole table where it is too large for that."""

DRAWN = 2_000
"""Cells of the largest table that is permuted at random; of larger ones the moments say as much."""


@dataclass(frozen=True, slots=True)
class FriedmanResult:
    """Friedman's test without and with the correction for ties, each with its Iman-Davenport F.

    `p` is the one to read: the probability of at least this statistic when the ranks within every dataset are permuted
    at random, found in the `way` named. The others are approximations for many datasets, kept because papers quote
    them: with few datasets they are wrong (all agree on 2 x 2: F gives 0, the truth is 0.5).
    """

    p: float
    way: Way
    chi_square: float
    """Friedman's statistic."""
    p_value: float
    """Its p-value by the chi-square approximation."""
    f: float
    """The F of Iman and Davenport; infinite, and its p-value NaN, where all datasets agree."""
    f_p_value: float
    """Its p-value."""
    degrees: tuple[int, int]
    """Degrees of freedom of F; the first is that of chi-square."""
    chi_square_ties: float
    """Friedman's statistic with the correction for ties."""
    p_value_ties: float
    """Its p-value."""
    f_ties: float
    """The F of Iman and Davenport of the corrected statistic."""
    f_p_value_ties: float
    """Its p-value."""

    @property
    def least_p(self) -> float | None:
        """Where `p` is an upper bound, what it is at most: random permutations show no less than one of all of them."""
        return 1 / DRAWS if self.way == "permutations" and self.p <= 1 / DRAWS else None


def friedman(ranks: FloatArray, rng: np.random.Generator | None = None) -> FriedmanResult:
    """Are the mean ranks of k algorithms on N datasets more different than chance? `ranks` is algorithms x datasets.

    chi^2 = 12 N / (k (k + 1)) * (sum_j R_j^2 - k (k + 1)^2 / 4), with k - 1 degrees of freedom, and
    F = (N - 1) chi^2 / (N (k - 1) - chi^2) with k - 1 and (k - 1)(N - 1) (Iman and Davenport 1980; Demšar 2006,
    section 3.2.2). With ties chi^2 is divided by 1 - sum (t^3 - t) / (N k (k^2 - 1)), as scipy does. Where every
    algorithm ties everywhere there is no evidence: statistics 0, p 1. For `p` see `permutation_p`.
    """
    k, n = ranks.shape
    mean = ranks.mean(axis=1)
    plain = 12 * n / (k * (k + 1)) * float((mean**2).sum() - k * (k + 1) ** 2 / 4)
    ties = sum(float((count**3 - count).sum()) for count in (np.unique(d, return_counts=True)[1] for d in ranks.T))
    correction = 1 - ties / (n * k * (k**2 - 1))
    corrected = plain / correction if correction > 0 else 0.0
    degrees = (k - 1, (k - 1) * (n - 1))

    def with_f(chi: float) -> tuple[float, float, float, float]:
        chi = max(chi, 0.0)
        room = n * (k - 1) - chi
        f = (n - 1) * chi / room if room > 1e-12 else float("inf")
        return chi, float(chi_square_sf(chi, k - 1)), f, float(f_sf(f, *degrees)) if np.isfinite(f) else float("nan")

    return FriedmanResult(*permutation_p(ranks, rng), *with_f(plain), degrees, *with_f(corrected))


def permutation_p(ranks: FloatArray, rng: np.random.Generator | None = None) -> tuple[float, Way]:
    """P(S >= observed) over independent permutations within each dataset, S the sum of squared rank sums.

    Given the ties, S orders tables as chi^2 and F do. Exact while the convolution takes at most `ENUMERATED` steps;
    beyond, the share among `DRAWS` random permutations, the observed table counted among them; for tables of more than
    `DRAWN` cells, a Beta density with the mean and variance of S (`_by_moments`).
    """
    k, n = ranks.shape
    doubled = np.rint(2 * ranks - (k + 1)).astype(np.int64).T
    observed = int((doubled.sum(axis=0) ** 2).sum())
    if not doubled.any():
        return 1.0, "exact"
    exact = _exact(doubled, observed)
    if exact is not None:
        return exact, "exact"
    if k * n > DRAWN:
        return _by_moments(doubled, observed), "moments"
    drawn = np.random.default_rng(0) if rng is None else rng
    sums = np.zeros((DRAWS, k), dtype=np.int64)
    alike = np.sort(doubled, axis=1)  # what is drawn does not depend on the order of algorithms or datasets
    for row in alike[np.lexsort(alike.T)]:
        sums += drawn.permuted(np.broadcast_to(row, (DRAWS, k)), axis=1)
    return float((1 + ((sums**2).sum(axis=1) >= observed).sum()) / (1 + DRAWS)), "permutations"


def arrangements(row: IntArray) -> int:
    """In how many ways these ranks can stand, equal ones not distinguished."""
    return factorial(len(row)) // prod(factorial(int(count)) for count in np.unique(row, return_counts=True)[1])


def _exact(rows: IntArray, observed: int) -> float | None:
    """The exact p, dataset by dataset; None where it takes too many steps.

    What is kept after a dataset are the possible rank sums with their probabilities. Sums that are the same but for
    the names of the algorithms have the same future, since every permutation is as likely: they are kept once, sorted.
    The first dataset, that with the most arrangements, can stand as it is for the same reason.
    """
    k = rows.shape[1]
    ways = [arrangements(row) for row in rows]
    largest = int(np.abs(rows).max(axis=1).sum())
    most = sorted(ways)[-2]
    hopeless = most > (ENUMERATED if len(rows) == 2 else MOST_WAYS)
    if hopeless or k * np.log2(2 * largest + 1) > WHOLE:
        return None
    digits = (2 * largest + 1) ** np.arange(k)  # rank sums as one whole number
    order = np.argsort(-np.array(ways), kind="stable")
    sums, chances, steps = np.sort(rows[order[0]])[None], np.ones(1), 0
    for at in order[1:]:
        steps += len(sums) * ways[at]
        if steps > ENUMERATED:
            return None
        placed = np.array(_placings(rows[at].tolist()))
        reached = np.sort((sums[:, None] + placed).reshape(-1, k), axis=1)
        _, first, where = np.unique((reached + largest) @ digits, return_index=True, return_inverse=True)
        sums, chances = reached[first], np.bincount(where, np.repeat(chances, len(placed))) / len(placed)
    return float(min(1.0, chances[(sums**2).sum(axis=1) >= observed].sum()))


def _placings(ranks: list[int]) -> list[tuple[int, ...]]:
    """Every arrangement of the ranks of one dataset, once each."""
    if len(set(ranks)) == len(ranks):
        return list(permutations(ranks))
    placed = []
    for rank in sorted(set(ranks)):
        rest = ranks.copy()
        rest.remove(rank)
        placed += [(rank, *others) for others in _placings(rest)]
    return placed


def _by_moments(rows: IntArray, observed: int) -> float:
    """P(S >= observed) by the Beta density between 0 and the largest S that has its mean and variance.

    With centred ranks r_i of dataset i, q_i = |r_i|^2: E S = sum q_i, Var S = 4 sum_{i<j} q_i q_j / (k - 1), and S is
    at most (sum sqrt(q_i))^2 (Kendall and Babington Smith 1939, for ranks without ties). Never below the probability of
    a single table.
    """
    k = rows.shape[1]
    q = (rows**2).sum(axis=1).astype(np.float64)
    largest = np.sqrt(q).sum() ** 2
    mean, variance = q.sum() / largest, 2 * (q.sum() ** 2 - (q**2).sum()) / (k - 1) / largest**2
    size = mean * (1 - mean) / variance - 1
    p = float(beta_sf(min(observed / largest, 1.0), mean * size, (1 - mean) * size))
    return max(p, exp(-sum(log(arrangements(row)) for row in rows[1:])), np.finfo(float).tiny)
