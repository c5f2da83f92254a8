"""Finding the mode of a beta-IRT posterior. Nothing here is random."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from scipy.special import betaln

from recassay.analysis.beta_irt.model import Posterior, ScoreTable, density_cells, log_expit, squared_error_cells
from recassay.core.types import FloatArray

GRADIENT = 1e-8
"""A mode is one where no component of the gradient exceeds this."""

MANY_CELLS = 5_000
"""Tables with more cells have one climb from the best start, and their densities are found to 0.01 deviations."""


Density = Literal["beta", "precision", "bi-reirt"]
"""That of the model, one with a precision of its own, or the paper's squared error."""


@dataclass(frozen=True, slots=True, eq=False)
class Mode:
    """A maximum of the posterior under one density: where, how high, how flat the gradient is there.

    `squeezed` responses were moved off 0 or 1; `noise` is the deviation of the squared-error fit, `precision` the phi
    of its kind.
    """

    density: Density
    posterior: Posterior
    z: FloatArray
    log_density: float
    gradient: float
    squeezed: int = 0
    noise: float | None = None
    precision: float | None = None

    @property
    def converged(self) -> bool:
        """Whether the gradient vanishes, as far as rounding lets it where responses are within 1e-9 of 0 or 1."""
        return self.gradient < 1e-4


def starting_abilities(responses: ScoreTable) -> list[FloatArray]:
    """Three guesses of logit theta from standardised logits of the responses.

    Their mean over items; the same after items that run against it have changed sign; and the first principal
    component, turned to agree with the mean. The random starts of a sampler or an optimiser end in mirrored modes:
    (theta, delta, a) -> (1 - theta, 1 - delta, -a) keeps the ICC.
    """
    weight = responses.observed
    logits = np.log(responses.values) - np.log1p(-responses.values)
    count = np.maximum(weight.sum(axis=0), 1)
    centred = (logits - (logits * weight).sum(axis=0) / count) * weight
    spread = np.sqrt((centred**2).sum(axis=0) / count)
    scores = centred / np.where(spread > 0, spread, 1.0)
    answered = np.maximum(weight.sum(axis=1), 1)
    total = scores.sum(axis=1) / answered
    sign = np.where(scores.T @ total < 0, -1.0, 1.0)
    first = np.linalg.svd(scores, full_matrices=False)[0][:, 0]
    guesses = [total, (scores * sign).sum(axis=1) / answered, first * (1.0 if first @ total >= 0 else -1.0)]
    return [1.6 * (guess - guess.mean()) / (guess.std() or 1.0) for guess in guesses]


def item_grid(sigma: float) -> tuple[FloatArray, FloatArray]:
    """All pairs of a logit delta within +-5 and a discrimination within 3.5 prior deviations of 1."""
    y, a = np.meshgrid(np.linspace(-5, 5, 31), 1 + sigma * np.linspace(-3.5, 3.5, 28), indexing="ij")
    return y.ravel(), a.ravel()


def best_items(x: FloatArray, responses: ScoreTable, sigma: float) -> tuple[FloatArray, FloatArray]:
    """Given abilities, the best (logit delta, a) of each item on a grid: no item is left at a wrong sign."""
    y, a = item_grid(sigma)
    log_alpha = np.clip(a * (log_expit(x)[:, None] - log_expit(y)), -40, 40)
    log_beta = np.clip(a * (log_expit(-x)[:, None] - log_expit(-y)), -40, 40)
    alpha, beta = np.exp(log_alpha), np.exp(log_beta)
    log_p, log_q = np.log(responses.values), np.log1p(-responses.values)
    score = (
        (alpha - 1).T @ (responses.observed * log_p)
        + (beta - 1).T @ (responses.observed * log_q)
        - betaln(alpha, beta).T @ responses.observed
        - log_alpha.T @ responses.below
        - log_beta.T @ responses.above
    )
    score += (log_expit(y) + log_expit(-y) - 0.5 * ((a - 1) / sigma) ** 2)[:, None]
    best = score.argmax(axis=0)
    return y[best], a[best]


def climb(posterior: Posterior, z: FloatArray, steps: int = 400) -> FloatArray:
    """L-BFGS from z."""
    from scipy.optimize import minimize  # loading it takes a third of what loading all analyses does; few climb

    return np.asarray(
        minimize(posterior.loss, z, jac=True, method="L-BFGS-B", options={"maxiter": steps, "maxcor": 20}).x
    )


def climb_with_items(
    posterior: Posterior,
    best_of: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
    z: FloatArray,
    height: float = -np.inf,
    steps: int = 400,
) -> tuple[FloatArray, float]:
    """Climb from the abilities in z (of this height), each item where `best_of` puts it given them, and again as long
    as that leads higher; the end and its height. An item whose sign z has wrong would else keep it."""
    n = posterior.respondents
    for _ in range(3):
        trial = climb(posterior, np.concatenate([z[:n], *best_of(z[:n])]), steps)
        reached = -posterior.loss(trial)[0]
        if reached < height + 1e-3:
            break
        z, height = trial, reached
    return z, height


def newton(posterior: Posterior, z: FloatArray, steps: int = 60) -> tuple[FloatArray, float, float]:
    """Newton's method with the curvature made positive and step halving; the end, its height and its gradient."""
    value, gradient, hessian = posterior.evaluate(z)
    for _ in range(steps):
        if np.abs(gradient).max() < GRADIENT:
            break
        curvature, axes = np.linalg.eigh(-hessian)
        step = axes @ ((axes.T @ gradient) / np.maximum(np.abs(curvature), 1e-6))
        length = 1.0
        while length > 1e-10:
            trial = posterior.evaluate(z + length * step)
            if trial[0] >= value - 1e-13 * abs(value):
                break
            length /= 2
        else:
            break
        z = z + length * step
        value, gradient, hessian = trial
    return z, float(value), float(np.abs(gradient).max())


def find_mode(responses: ScoreTable, sigma: float) -> Mode:
    """The best mode over several deterministic starts.

    Each start: abilities from the totals, items from the grid, L-BFGS; then items are put on the grid again, and
    where that leads higher the climb is repeated. Newton's method ends the best one. Of a table of more than
    `MANY_CELLS` only the start that is highest after 50 steps climbs on.
    """
    n, m = responses.values.shape
    posterior = Posterior(density_cells(responses), n, m, sigma)
    items = partial(best_items, responses=responses, sigma=sigma)
    abilities = starting_abilities(responses)
    if n * m > MANY_CELLS:
        tried = [climb(posterior, np.concatenate([x, *items(x)]), 50) for x in abilities]
        abilities = [min(tried, key=lambda z: posterior.loss(z)[0])[:n]]
    best, height = climb_with_items(posterior, items, abilities[0])
    for x in abilities[1:]:
        z, reached = climb_with_items(posterior, items, x)
        if reached > height + 1e-6:
            best, height = z, reached
    return Mode("beta", posterior, *newton(posterior, best), squeezed=responses.squeezed)


def least_squares(responses: ScoreTable, sigma: float, start: FloatArray) -> Mode:
    """The paper's fit, identified: the smallest squared error of the ICC, shift and scale fixed by the priors.

    The error alone does not tell (x, y, a) from (k x + c, k y + c, a / k), and its minimum lies at infinity. As a
    likelihood it is p_ij ~ Normal(ICC_ij, s^2); with the priors of the model it has a mode. s^2 is the squared error
    over the degrees of freedom (cells - parameters + 2), and mode and s are found in turn, from a wide s to a narrow
    one, so that the way down is the same every time.
    """
    n, m = responses.values.shape
    freedom = max(float(responses.observed.sum()) - (n + 2 * m) + 2, 1.0)
    z, scale = start, 0.2
    for _ in range(40):
        posterior = Posterior(squared_error_cells(responses, scale), n, m, sigma)
        z, height, slope = newton(posterior, climb(posterior, z, 2000), 100)
        error = (responses.values - posterior.curve(z)) * responses.observed
        target = max(float(np.sqrt((error**2).sum() / freedom)), 1e-3)
        if abs(np.log(target / scale)) < 1e-6:
            break
        scale = target
    return Mode("bi-reirt", posterior, z, height, slope, noise=scale)
