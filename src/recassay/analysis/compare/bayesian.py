"""The Bayesian signed-rank test (Benavoli et al. 2014; 2017, "Time for a change", section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recassay.core.choices import DRAWS_OF, MANY_ALGORITHMS
from recassay.core.types import Float32Array, FloatArray

PRIOR_STRENGTH = 0.5
DRAWS = 50_000
FEWEST_DRAWS = 10_000

_SINGLE = 1e-6
"""Slack between sums of posterior weights, which are drawn in single precision and add up to 1."""


@dataclass(frozen=True, slots=True)
class BayesianPair:
    """Posterior probabilities that `left` is better, that both are equivalent, that `right` is better."""

    left: str
    right: str
    p_left: float
    """That `left` is better."""
    p_rope: float
    """That both are equivalent."""
    p_right: float
    """That `right` is better."""


def enough_draws(algorithms: int) -> int:
    """`DRAWS` for up to 100 pairs, fewer for more, `FEWEST_DRAWS` at least: a standard error of at most 0.005.

    With 200 algorithms 1,000, and a standard error of at most 0.016 (`core.choices.DRAWS_OF`).
    """
    pairs = algorithms * (algorithms - 1) // 2
    if algorithms > MANY_ALGORITHMS:
        return DRAWS_OF["compare"].number(None, algorithms)
    return int(np.clip(100 * DRAWS // max(pairs, 1), FEWEST_DRAWS, DRAWS))


def posterior_weights(n_datasets: int, draws: int, rng: np.random.Generator) -> Float32Array:
    """Draws, by column, of the weights of the pseudo-observation (row 0) and the datasets: Dirichlet(s, 1, ..., 1)."""
    concentration = [PRIOR_STRENGTH, *[1.0] * n_datasets]
    return np.ascontiguousarray(rng.dirichlet(concentration, size=draws).T, dtype=np.float32)


def signed_rank_rows(advantages: FloatArray, weights: Float32Array, rope: float) -> FloatArray:
    """p_left, p_rope and p_right of each pair (pairs x 3) from the advantages of left over right (pairs x datasets).

    A Dirichlet process prior of strength s = 0.5 centred on a pseudo-observation z_0 = 0; given weights w,
    theta_left = sum_ij w_i w_j [z_i + z_j > 2 rope], theta_right likewise below -2 rope, theta_rope the rest. Each
    probability is the share of draws in which that theta is the largest; ties share. With z sorted, the j that pair
    with i form a tail, so a theta takes one running sum and one product instead of the double sum.
    """
    from recassay.analysis.compare.bayesian_sums import count_winners

    winners = np.zeros((len(advantages), 3))
    z = np.pad(advantages, ((0, 0), (1, 0)))
    order = np.argsort(z, axis=1, kind="stable")
    count_winners(weights, order, np.take_along_axis(z, order, axis=1), float(rope), _SINGLE, winners)
    return winners / weights.shape[1]
