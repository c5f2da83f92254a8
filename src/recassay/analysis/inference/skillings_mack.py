"""Skillings and Mack's test: Friedman's for tables with missing cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recassay.analysis.inference.distributions import chi_square_sf
from recassay.core import ties
from recassay.core.types import FloatArray

DRAWS = 10_000
"""Random permutations behind the p-value, the observed table counted among them."""


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


def skillings_mack(values: FloatArray, *, higher_is_better: bool, rng: np.random.Generator) -> SkillingsMack | None:
    """Do k algorithms differ over datasets on which not all were run? `values` is algorithms x datasets, NaN missing.

    On dataset j with k_j values r_ij is the rank of i, or (k_j + 1) / 2 where i is missing;
    A_i = sum_j sqrt(12 / (k_j + 1)) (r_ij - (k_j + 1) / 2). With n_il the datasets that have both i and l, the
    covariance of A has -n_il beside the diagonal and sum_l n_il on it, and the statistic A' S^- A is chi-square with
    as many degrees of freedom as S has rank (Skillings and Mack 1981, Technometrics 23). Datasets with one value say
    nothing. None where no dataset has two.
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
    )


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
