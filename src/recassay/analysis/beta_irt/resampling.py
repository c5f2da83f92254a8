"""Would another respondent be at the end with other items? The items are drawn anew, their parameters held."""

from __future__ import annotations

import numpy as np

from recassay.analysis.beta_irt.model import Posterior, log_expit
from recassay.core.types import FloatArray

REPLICATES = 1_000
_GRID = np.linspace(-7.0, 7.0, 71)
_AT_ONCE = 4_000_000


def shares_at_the_ends(
    posterior: Posterior, z: FloatArray, rng: np.random.Generator, replicates: int = REPLICATES
) -> tuple[FloatArray, FloatArray]:
    """The shares of bootstrap replicates in which each respondent has the highest and the lowest theta.

    A replicate draws the items with replacement and takes each respondent's posterior mean of logit theta from its
    answers to them, with the items' difficulty and discrimination as in `z`: what other items of this kind would have
    said, while a full fit of each replicate would take minutes.
    """
    n, m = posterior.respondents, posterior.items
    _, y, a = posterior.split(z)
    x, y, a = (np.broadcast_to(part, (len(_GRID), n, m)) for part in (_GRID[:, None, None], y, a))
    density = posterior.cells(x, y, a, False)[0].transpose(1, 0, 2)
    prior = log_expit(_GRID) + log_expit(-_GRID)
    highest, lowest = np.zeros(n), np.zeros(n)
    step = max(1, _AT_ONCE // (n * len(_GRID)))
    drawn = rng.multinomial(m, np.full(m, 1 / m), size=replicates).astype(np.float64)
    for start in range(0, replicates, step):
        height = np.einsum("rm,ngm->rng", drawn[start : start + step], density, optimize=True) + prior
        height = np.exp(height - height.max(axis=2, keepdims=True))
        mean = (height @ _GRID) / height.sum(axis=2)
        highest += np.bincount(mean.argmax(axis=1), minlength=n)
        lowest += np.bincount(mean.argmin(axis=1), minlength=n)
    return highest / replicates, lowest / replicates
