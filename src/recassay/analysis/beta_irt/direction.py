"""One direction of beta-IRT: from the posterior of respondents and items to traits with intervals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from recassay.analysis.beta_irt.choice import find
from recassay.analysis.beta_irt.mode import Mode
from recassay.analysis.beta_irt.model import Posterior, log_expit
from recassay.analysis.beta_irt.normal import laplace, variational, widen
from recassay.analysis.beta_irt.result import SPREAD, TRAITS, Direction, Trait
from recassay.analysis.beta_irt.sampling import sample_posterior
from recassay.analysis.inference.bootstrap import content_weights
from recassay.analysis.inference.distributions import normal_cdf, normal_quantile
from recassay.core.blocks import number_blocks
from recassay.core.seeds import derived_rng
from recassay.core.types import FloatArray

MIXED = 1.1
"""An r-hat up to which the chains are taken to agree."""


def fit_direction(
    number: int,
    values: FloatArray,
    respondents: tuple[str, ...],
    items: tuple[str, ...],
    mode: Mode,
    *,
    confidence: float,
    rng: np.random.Generator | None = None,
) -> Direction:
    """The traits of respondents (rows) on items (columns) from the posterior whose `mode` was found for `values`.

    The posterior is described by the normal density nearest to it, widened; with `rng`, by draws.
    """
    posterior = mode.posterior
    normal = widen(posterior, variational(posterior, laplace(posterior, mode.z)))
    n, m = values.shape
    parts = slice(0, n), slice(n, n + m), slice(n + m, n + 2 * m)
    theta, slope = parts[0], parts[2]
    flip = np.ones(posterior.size)
    if number == 2:
        flip[: n + m] = -1
    outer = (1 - confidence) / 2
    r_hat = None
    if rng is not None:
        sampled, r_hat = sample_posterior(posterior, normal, rng)
        draws = sampled * flip
        covariance = np.cov(draws[:, theta].T)
        centre, low, high = np.quantile(draws, [0.5, outer, 1 - outer], axis=0)
        positive = (draws[:, slope] > 0).mean(axis=0)
        exceeds = np.stack([(draws[:, [i]] > draws[:, theta]).mean(axis=0) for i in range(n)])
    else:
        covariance = normal.covariance[theta, theta]
        deviation = np.sqrt(np.diag(normal.covariance))
        centre = normal.mean * flip
        low, high = centre + normal_quantile(outer) * deviation, centre - normal_quantile(outer) * deviation
        positive = normal_cdf(centre[slope] / deviation[slope])
        variance = np.diag(covariance)[:, None] + np.diag(covariance) - 2 * covariance
        exceeds = normal_cdf((centre[theta][:, None] - centre[theta]) / np.sqrt(np.maximum(variance, 1e-300)))
    np.fill_diagonal(exceeds, 0.5)
    scales: tuple[Callable[[FloatArray], FloatArray], ...] = (expit, expit, np.asarray)
    traits = {
        name: Trait(who, *(scale(v[part]) for v in (centre, low, high, mode.z * flip)))
        for name, who, scale, part in zip(TRAITS[number - 1], (respondents, items, items), scales, parts, strict=True)
    }
    expected = posterior.curve(centre * flip)
    x, y, a = posterior.split(centre * flip)
    likelihood = float(posterior.cells(x[:, None], y, a, False)[0].sum())
    if mode.noise is not None:
        likelihood -= float(np.isfinite(values).sum()) * float(np.log(mode.noise * np.sqrt(2 * np.pi)))
    least = find(values, posterior.sigma, "bi-reirt", mode)
    reliability = _reliability(centre[theta], covariance)
    ends = shares_at_the_ends(posterior, centre * flip, values, derived_rng(0, "beta-irt items", str(number)))
    highest, lowest = ends if number == 1 else ends[::-1]
    flat = np.nanmax(values, axis=0) - np.nanmin(values, axis=0) < SPREAD
    settled = normal.converged if r_hat is None else r_hat < MIXED
    return Direction(
        number=number,
        respondents=respondents,
        items=items,
        traits=traits,
        probability_positive=positive,
        exceeds=exceeds,
        highest=highest,
        lowest=lowest,
        expected=expected,
        mse=float(np.nanmean((values - expected) ** 2)),
        mse_mode=float(np.nanmean((values - posterior.curve(mode.z)) ** 2)),
        mse_least=float(np.nanmean((values - least.posterior.curve(least.z)) ** 2)),
        log_likelihood=likelihood,
        reliability=reliability,
        squeezed=mode.squeezed,
        noise=mode.noise,
        precision=mode.precision,
        r_hat=r_hat,
        flat=tuple(name for name, alike in zip(items, flat, strict=True) if alike),
        reached=mode.converged,
        settled=settled,
    )


def _reliability(mean: FloatArray, covariance: FloatArray) -> float:
    """Share of the spread of the trait that is not uncertainty: V / (V + U) on the logit scale.

    V is the variance of the estimates, U the mean posterior variance of the deviations from their mean (a shift that
    all share does not count).
    """
    n = len(mean)
    centring = np.eye(n) - 1 / n
    between, within = float(mean.var()), float(np.trace(centring @ covariance @ centring)) / n
    return between / (between + within)


REPLICATES = 1_000
_GRID = np.linspace(-7.0, 7.0, 71)
_AT_ONCE = 4_000_000


def shares_at_the_ends(
    posterior: Posterior, z: FloatArray, values: FloatArray, rng: np.random.Generator
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
    drawn = content_weights(values, replicates=REPLICATES, rng=rng)
    for part in number_blocks(REPLICATES, n * len(_GRID), _AT_ONCE):
        height = np.einsum("rm,ngm->rng", drawn[part], density, optimize=True) + prior
        height = np.exp(height - height.max(axis=2, keepdims=True))
        mean = (height @ _GRID) / height.sum(axis=2)
        highest += np.bincount(mean.argmax(axis=1), minlength=n)
        lowest += np.bincount(mean.argmin(axis=1), minlength=n)
    return highest / REPLICATES, lowest / REPLICATES
