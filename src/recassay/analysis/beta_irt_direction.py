"""One direction of beta-IRT: respondents on items, with traits, curves, fit and warnings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from scipy.special import expit
from scipy.stats import norm

from recassay.analysis.beta_irt_fit import find_mode, least_squares
from recassay.analysis.beta_irt_model import Posterior, Responses
from recassay.analysis.beta_irt_normal import laplace, variational, widen
from recassay.analysis.beta_irt_sampling import sample_posterior
from recassay.core.errors import listing
from recassay.core.types import FloatArray

TRAITS = (("ability", "difficulty", "discrimination"), ("challenge", "difficulty_limit", "consistency"))
"""Names of theta, delta and a in the two directions (Bi-ReIRT, Table 1); in the second, of 1 - theta and 1 - delta."""

ITEM_TRAITS = {1: TRAITS[0][1:], 2: TRAITS[1][1:]}

GRID = np.linspace(0.0, 1.0, 101)
RELIABLE = 0.5
SPREAD = 1e-3
MIXED = 1.1
"""An r-hat up to which the chains are taken to agree."""


@dataclass(frozen=True, slots=True, eq=False)
class Trait:
    """A trait by name: estimate (posterior median), interval, and the mode of the joint posterior."""

    names: tuple[str, ...]
    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    mode: FloatArray

    def order(self) -> list[int]:
        """Positions from the largest estimate to the smallest."""
        return sorted(range(len(self.names)), key=lambda i: (-self.estimate[i], self.names[i]))

    def to_dict(self) -> dict[str, Any]:
        """Estimate and interval of each name."""
        return {
            n: {"estimate": float(e), "interval": [float(low), float(high)]}
            for n, e, low, high in zip(self.names, self.estimate, self.low, self.high, strict=True)
        }


@dataclass(frozen=True, slots=True, eq=False)
class Direction:
    """What one direction found.

    `exceeds[i, j]` is the probability that respondent i has more of the trait (ability, challenge) than j;
    `expected` (respondents x items) the ICC at the estimates; `noise` the standard deviation of the squared-error fit.
    """

    number: int
    respondents: tuple[str, ...]
    items: tuple[str, ...]
    traits: dict[str, Trait]
    probability_positive: FloatArray
    exceeds: FloatArray
    expected: FloatArray
    mse: float
    mse_mode: float
    log_likelihood: float
    reliability: float
    squeezed: int
    noise: float | None
    r_hat: float | None
    converged: bool
    warnings: tuple[str, ...]

    @property
    def range(self) -> tuple[float, float]:
        """The range of the respondents' trait: the shaded area of the paper's Figures 2 and 3."""
        estimate = self.traits[TRAITS[self.number - 1][0]].estimate
        return float(estimate.min()), float(estimate.max())

    def curves(self) -> pl.DataFrame:
        """The ICC of each item at 101 values of the respondents' trait (equations 3 and 4)."""
        level, slope = (self.traits[name].estimate for name in ITEM_TRAITS[self.number])
        trait = np.clip(GRID, 1e-6, 1 - 1e-6)
        logit = np.log(trait) - np.log1p(-trait)
        sign = 1 if self.number == 1 else -1
        value = expit(sign * slope[:, None] * (logit - (np.log(level) - np.log1p(-level))[:, None]))
        return pl.DataFrame(
            {
                "direction": np.full(value.size, self.number),
                "item": np.repeat(self.items, len(GRID)),
                "trait": np.tile(GRID, len(self.items)),
                "expected": value.ravel(),
            }
        )

    def exceeds_frame(self) -> pl.DataFrame:
        """Pairs of respondents with the probability that the left one has more of the trait."""
        n = len(self.respondents)
        left, right = (np.array(self.respondents)[i.ravel()] for i in np.indices((n, n)))
        frame = pl.DataFrame(
            {
                "direction": np.full(n * n, self.number),
                "left": left,
                "right": right,
                "probability_greater": self.exceeds.ravel(),
            }
        )
        return frame.filter(pl.col("left") != pl.col("right"))

    def exceeds_dict(self) -> dict[str, dict[str, float]]:
        """`{a: {b: P(a > b)}}`."""
        return {
            a: {b: float(self.exceeds[i, j]) for j, b in enumerate(self.respondents) if i != j}
            for i, a in enumerate(self.respondents)
        }

    def fit(self) -> dict[str, Any]:
        """How well the ICC fits."""
        return {
            "mse": self.mse,
            "mse_mode": self.mse_mode,
            "log_likelihood": self.log_likelihood,
            "reliability": self.reliability,
            "noise": self.noise,
            "r_hat": self.r_hat,
            "squeezed": self.squeezed,
            "converged": self.converged,
        }


def fit_direction(
    number: int,
    values: FloatArray,
    respondents: tuple[str, ...],
    items: tuple[str, ...],
    *,
    density: bool,
    sigma: float,
    confidence: float,
    rng: np.random.Generator | None = None,
) -> Direction:
    """Fit respondents (rows) on items (columns) by the Beta density, or by the squared error of the ICC.

    The posterior is described by the normal density nearest to it, widened; with `rng`, by draws.
    """
    responses = Responses.squeeze(values)
    posterior, mode = find_mode(responses, sigma)
    noise = None
    if not density:
        posterior, mode, noise = least_squares(Responses.plain(values), sigma, mode.z)
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
        sample = sample_posterior(posterior, normal, rng)
        draws, r_hat = sample.draws * flip, sample.r_hat
        covariance = np.cov(draws[:, theta].T)
        centre, low, high = np.quantile(draws, [0.5, outer, 1 - outer], axis=0)
        positive = (draws[:, slope] > 0).mean(axis=0)
        exceeds = np.stack([(draws[:, [i]] > draws[:, theta]).mean(axis=0) for i in range(n)])
    else:
        covariance = normal.covariance[theta, theta]
        deviation = np.sqrt(np.diag(normal.covariance))
        centre = normal.mean * flip
        low, high = centre + norm.ppf(outer) * deviation, centre - norm.ppf(outer) * deviation
        positive = norm.cdf(centre[slope] / deviation[slope])
        variance = np.diag(covariance)[:, None] + np.diag(covariance) - 2 * covariance
        exceeds = norm.cdf((centre[theta][:, None] - centre[theta]) / np.sqrt(np.maximum(variance, 1e-300)))
    np.fill_diagonal(exceeds, 0.5)
    scales: tuple[Callable[[FloatArray], FloatArray], ...] = (expit, expit, np.asarray)
    traits = {
        name: Trait(who, *(scale(v[part]) for v in (centre, low, high, mode.z * flip)))
        for name, who, scale, part in zip(TRAITS[number - 1], (respondents, items, items), scales, parts, strict=True)
    }
    expected, expected_mode = _curve(posterior, centre * flip), _curve(posterior, mode.z)
    x, y, a = posterior.split(centre * flip)
    likelihood = float(posterior.cells(x[:, None], y, a, False)[0].sum())
    if noise is not None:
        likelihood -= float(responses.observed.sum()) * float(np.log(noise * np.sqrt(2 * np.pi)))
    reliability = _reliability(centre[theta], covariance)
    settled = normal.converged if r_hat is None else r_hat < MIXED
    return Direction(
        number=number,
        respondents=respondents,
        items=items,
        traits=traits,
        probability_positive=positive,
        exceeds=exceeds,
        expected=expected,
        mse=float(np.nanmean((values - expected) ** 2)),
        mse_mode=float(np.nanmean((values - expected_mode) ** 2)),
        log_likelihood=likelihood,
        reliability=reliability,
        squeezed=responses.squeezed if density else 0,
        noise=noise,
        r_hat=r_hat,
        converged=mode.converged and settled,
        warnings=_warnings(number, values, items, reliability, mode.converged, settled),
    )


def _curve(posterior: Posterior, z: FloatArray) -> FloatArray:
    x, y, a = posterior.split(z)
    return np.asarray(expit(a * (x[:, None] - y)))


def _reliability(mean: FloatArray, covariance: FloatArray) -> float:
    """Share of the spread of the trait that is not uncertainty: V / (V + U) on the logit scale.

    V is the variance of the estimates, U the mean posterior variance of the deviations from their mean (a shift that
    all share does not count).
    """
    n = len(mean)
    centring = np.eye(n) - 1 / n
    between, within = float(mean.var()), float(np.trace(centring @ covariance @ centring)) / n
    return between / (between + within)


def _warnings(
    number: int, values: FloatArray, items: tuple[str, ...], reliability: float, found: bool, settled: bool
) -> tuple[str, ...]:
    """Where the assumption of diversity (Assumption 1) fails, and where the computation did not end."""
    notes = []
    who, what = ("algorithms", "dataset") if number == 1 else ("datasets", "algorithm")
    flat = np.nanmax(values, axis=0) - np.nanmin(values, axis=0) < SPREAD
    if flat.any():
        names = listing((n for n, is_flat in zip(items, flat, strict=True) if is_flat), most=6)
        notes.append(
            f"direction {number}: Assumption 1 (diversity) fails: all {who} score alike (within {SPREAD:g}) on "
            f"{what} {names}, whose parameters are the priors'"
        )
    if reliability < RELIABLE:
        notes.append(
            f"direction {number}: Assumption 1 (diversity) fails: the {who} cannot be told apart "
            f"(reliability {reliability:.2f}, below {RELIABLE:g})"
        )
    if not found:
        notes.append(f"direction {number}: the mode was not reached")
    if not settled:
        notes.append(f"direction {number}: the description of the posterior did not settle; its intervals are rough")
    return tuple(notes)
