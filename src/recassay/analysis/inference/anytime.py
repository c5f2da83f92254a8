"""Statements that stay valid however often one looks: a study may be watched, stopped and extended."""

from __future__ import annotations

import numpy as np
from scipy.special import betaln

from recassay.core.types import FloatArray

PRIOR = 0.5
"""Both parameters of the Beta mixture: Jeffreys' prior of the probability of winning."""


def sign_evidence(wins: FloatArray, losses: FloatArray) -> FloatArray:
    """How much a gambler makes who bets against "each wins half of the datasets", starting with 1 (an e-value).

    The mixture of the likelihood ratios of theta against 1/2 over a Beta(1/2, 1/2) prior,
    E = 2^n B(wins + 1/2, losses + 1/2) / B(1/2, 1/2), is a martingale under the null, so P(sup E >= 1 / alpha) <= alpha
    whatever the stopping rule (Ville 1939; Ramdas et al. 2023, "Game-theoretic statistics and safe anytime-valid
    inference"). Ties leave it as it is.
    """
    found = np.exp(
        (wins + losses) * np.log(2.0) + betaln(wins + PRIOR, losses + PRIOR) - betaln(PRIOR, PRIOR)
    )  # fmt: skip
    return np.asarray(found)


def anytime_p(wins: FloatArray, losses: FloatArray) -> FloatArray:
    """The p-value 1 / E (at most 1), valid at any time."""
    return np.minimum(1.0, 1.0 / sign_evidence(wins, losses))
