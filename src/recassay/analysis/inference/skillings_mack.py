"""Skillings and Mack's test: Friedman's for tables with missing cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recassay.analysis.inference.distributions import chi_square_sf
from recassay.core import ties
from recassay.core.types import BoolArray, FloatArray

DRAWS = 10_000
"""Random permutations behind the p-value, the observed table counted among them."""


@dataclass(frozen=True, slots=True)
class UnseenCells:
    """What the missing cells of `algorithm` would have to be for another leader: the share of the other algorithms that
    it beats there, on average, beside the share that it beats where it was run. Below 0 or above 1: nothing would do.
    """

    algorithm: str
    cells: int
    """How many of its cells are missing on datasets with two values or more."""
    beaten: float
    """The share of the others that it beats on the datasets on which it was run."""
    needed: float
    """The share on the missing cells at which the leader changes."""
    leader: str
    """Who would lead then."""

    @property
    def possible(self) -> bool:
        """Whether any values of the missing cells change the leader."""
        return 0 <= self.needed <= 1


@dataclass(frozen=True, slots=True)
class SkillingsMack:
    """The statistic with its degrees of freedom, and two p-values.

    `p` is the share of random permutations within the datasets that reach the statistic: valid for few datasets, too.
    `p_chi_square` is the approximation for many, which papers quote.
    """

    statistic: float
    degrees: int
    """Its degrees of freedom."""
    p: float
    p_chi_square: float
    datasets: int
    """How many datasets counted."""
    missing: int
    """How many cells are missing."""
    unseen: UnseenCells | None
    """The nearest way in which the missing cells could change who leads; None where the leader is tied, or no dataset
    that counted has missing cells."""


def skillings_mack(
    values: FloatArray, names: Sequence[str], *, higher_is_better: bool, rng: np.random.Generator
) -> SkillingsMack | None:
    """Do k algorithms differ over datasets on which not all were run? `values` is algorithms x datasets, NaN missing.

    On dataset j with k_j values r_ij is the rank of i, or (k_j + 1) / 2 where i is missing;
    A_i = sum_j sqrt(12 / (k_j + 1)) (r_ij - (k_j + 1) / 2). With n_il the datasets that have both i and l, the
    covariance of A has -n_il beside the diagonal and sum_l n_il on it, and the statistic A' S^- A is chi-square with
    as many degrees of freedom as S has rank (Skillings and Mack 1981, Technometrics 23). Datasets with one value say
    nothing. None where no dataset has two. The test takes cells as missing for reasons that have nothing to do with
    their values; an algorithm that was not run where it is weak looks better than it is (`unseen_cells`).
    """
    seen = np.isfinite(values)
    seen &= seen.sum(axis=0) > 1
    if not seen.any():
        return None
    count = seen.sum(axis=0)
    scores = np.zeros(values.shape)
    for j in np.flatnonzero(count):
        at = seen[:, j]
        ranks = ties.ranks(values[at, j], higher_is_better=not higher_is_better)
        scores[at, j] = np.sqrt(12 / (count[j] + 1)) * (ranks - (count[j] + 1) / 2)
    together = (seen.astype(float) @ seen.T.astype(float)).astype(np.float64)
    np.fill_diagonal(together, 0.0)
    covariance = np.diag(together.sum(axis=1)) - together
    inverse = np.linalg.pinv(covariance, hermitian=True)
    degrees = int(np.linalg.matrix_rank(covariance, hermitian=True))
    total = scores.sum(axis=1)
    statistic = float(total @ inverse @ total)
    return SkillingsMack(
        statistic=statistic,
        degrees=degrees,
        p=_permutation_p(scores, seen, inverse, statistic, rng),
        p_chi_square=float(chi_square_sf(statistic, degrees)),
        datasets=int((count > 1).sum()),
        missing=int((~np.isfinite(values)).sum()),
        unseen=unseen_cells(scores[:, count > 1], seen[:, count > 1], names),
    )


def unseen_cells(scores: FloatArray, seen: BoolArray, names: Sequence[str]) -> UnseenCells | None:
    """How bad would the unseen cells of the leader have to be, or how good those of another, to change the leader?

    With s_ij the share of the other algorithms on dataset j that i beats (ties count half), the leader has the best
    mean of s over the datasets on which it was run. Unseen cells of all are taken to be like the seen ones, then those
    of one algorithm are changed until two means over all datasets are equal; the smallest change is kept.
    """
    count, n = seen.sum(axis=0), seen.shape[1]
    share = np.where(seen, 0.5 + scores / np.sqrt(12 / (count + 1)) / np.maximum(count - 1, 1), 0.0)
    mean = share.sum(axis=1) / np.maximum(seen.sum(axis=1), 1)
    first, second = np.argsort(-mean, kind="stable")[:2].tolist()
    if mean[first] - mean[second] < 1e-9:
        return None
    changes = []
    for a in np.flatnonzero((~seen).any(axis=1) & seen.any(axis=1)).tolist():
        holes = n - int(seen[a].sum())
        rival = second if a == first else first
        needed = float((n * mean[rival] - share[a].sum()) / holes)
        leader = names[second] if a == first else names[a]
        changes.append(UnseenCells(names[a], holes, float(mean[a]), needed, leader))
    return min(changes, key=lambda cells: abs(cells.needed - cells.beaten) + 10 * (not cells.possible), default=None)


def _permutation_p(
    scores: FloatArray, seen: FloatArray, inverse: FloatArray, statistic: float, rng: np.random.Generator
) -> float:
    totals = np.zeros((DRAWS, len(scores)))
    for j in range(scores.shape[1]):
        at = np.flatnonzero(seen[:, j])
        if len(at):
            totals[:, at] += rng.permuted(np.broadcast_to(scores[at, j], (DRAWS, len(at))), axis=1)
    drawn = np.einsum("da,ab,db->d", totals, inverse, totals)
    return float((1 + (drawn >= statistic * (1 - 1e-9)).sum()) / (1 + DRAWS))
