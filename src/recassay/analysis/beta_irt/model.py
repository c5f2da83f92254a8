"""The beta-IRT model: responses, log density of a cell with its derivatives, priors, and the posterior they make.

p_ij ~ Beta(alpha_ij, beta_ij), alpha_ij = (theta_i / delta_j)^a_j, beta_ij = ((1 - theta_i) / (1 - delta_j))^a_j
(Bi-ReIRT, equation 1), with theta, delta ~ Beta(1, 1) and a ~ Normal(1, sigma^2). Everything is computed in the
unconstrained coordinates z = (logit theta, logit delta, a), in which the flat priors are standard logistic ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, digamma, expit, logit

from recassay.analysis.beta_irt.trigamma import trigamma
from recassay.core.types import FloatArray

SMALLEST = 1e-9
"""No response nearer than this to 0 or 1 is taken at its word."""

_LARGEST_LOG = 40.0
_CAP = 8.0

Jet = tuple[FloatArray, FloatArray, FloatArray]
"""A function of (logit theta, logit delta, a): value, gradient (3 x ...), second derivatives (3 x 3 x ...)."""

CellFunction = Callable[[FloatArray, FloatArray, FloatArray, bool], Jet]
"""Its last argument says whether the second derivatives are wanted; they are zero when not."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable:
    """Responses of respondents (rows) to items (columns) inside (0, 1), NaN where missing.

    Zeros and ones cannot come from a Beta density. They are squeezed half-way between 0 and the smallest positive
    response, and between 1 and the largest below it (by 1e-9 at least, by 0.0005 at most), and are read as "at most
    this" and "at least this" (`below`, `above`), which keeps the intervals honest where a metric bottoms out.
    """

    values: FloatArray
    observed: FloatArray
    below: FloatArray
    above: FloatArray

    @classmethod
    def squeeze(cls, values: FloatArray) -> ScoreTable:
        """Responses from values in [0, 1] with NaN for missing cells."""
        observed = np.isfinite(values)
        given = values[observed]
        low = max(SMALLEST, float(given[given > 0].min(initial=1e-3)) / 2)
        high = 1 - max(SMALLEST, float((1 - given[given < 1]).min(initial=1e-3)) / 2)
        filled = np.where(observed, values, 0.5)
        return cls(
            values=np.clip(filled, low, high),
            observed=observed.astype(np.float64),
            below=(filled < low).astype(np.float64),
            above=(filled > high).astype(np.float64),
        )

    @classmethod
    def plain(cls, values: FloatArray) -> ScoreTable:
        """Responses as they are, for a fit that bears zeros and ones."""
        observed, none = np.isfinite(values), np.zeros(values.shape)
        return cls(np.where(observed, values, 0.5), observed.astype(np.float64), none, none)

    @property
    def squeezed(self) -> int:
        """How many responses were at or too near 0 or 1."""
        return int(self.below.sum() + self.above.sum())

    def counted(self, value: FloatArray, gradient: FloatArray, second: FloatArray) -> Jet:
        """Log likelihoods of cells without those that are missing, and nowhere above 0 for squeezed responses.

        In their cells log P becomes log(P / (1 + P^k)^(1/k)), which is unchanged where P is small.
        """
        beyond = self.below + self.above
        if beyond.any():
            share = expit(_CAP * value) * beyond
            outer = gradient[:, None] * gradient[None] if second.any() else 0.0
            second = second * (1 - share) - _CAP * share * (1 - share) * outer
            gradient = gradient * (1 - share)
            value = value - beyond * np.logaddexp(0.0, _CAP * value) / _CAP
        return value * self.observed, gradient * self.observed, second * self.observed


def log_expit(x: FloatArray) -> FloatArray:
    """log(1 / (1 + exp(-x))) without overflow."""
    return -np.logaddexp(0.0, -x)


def characteristic_curve(theta: FloatArray, delta: FloatArray, a: FloatArray) -> FloatArray:
    """The ICC, the expected response (equation 2): expit(a (logit theta - logit delta))."""
    return expit(a * (logit(theta) - logit(delta)))


def density_cells(responses: ScoreTable) -> CellFunction:
    """The log likelihood of each cell as a function of its three parameters, with analytic derivatives.

    A squeezed response enters with the probability of lying beyond the limit e: to first order in e it is
    e^alpha / (alpha B(alpha, beta)), capped smoothly at 1.
    """
    log_p, log_q = np.log(responses.values), np.log1p(-responses.values)

    def cells(x: FloatArray, y: FloatArray, a: FloatArray, curved: bool) -> Jet:
        theta, delta = expit(x), expit(y)
        u, v = log_expit(x) - log_expit(y), log_expit(-x) - log_expit(-y)
        log_alpha = np.clip(a * u, -_LARGEST_LOG, _LARGEST_LOG)
        log_beta = np.clip(a * v, -_LARGEST_LOG, _LARGEST_LOG)
        alpha, beta = np.exp(log_alpha), np.exp(log_beta)
        value = (alpha - 1) * log_p + (beta - 1) * log_q - betaln(alpha, beta)
        value = value + responses.below * (log_p - log_alpha) + responses.above * (log_q - log_beta)
        both = digamma(alpha + beta)
        g1 = alpha * (log_p - digamma(alpha) + both)
        g2 = beta * (log_q - digamma(beta) + both)
        if curved:
            spread = trigamma(alpha + beta)
            h11 = g1 + alpha**2 * (spread - trigamma(alpha))
            h22 = g2 + beta**2 * (spread - trigamma(beta))
            h12 = alpha * beta * spread
        g1, g2 = g1 - responses.below, g2 - responses.above

        zero = np.zeros_like(value)
        d1 = np.stack([a * (1 - theta) + zero, -a * (1 - delta) + zero, u])
        d2 = np.stack([-a * theta + zero, a * delta + zero, v])
        gradient = g1 * d1 + g2 * d2
        if not curved:
            return responses.counted(value, gradient, flat(value))
        cross = d1[:, None] * d2[None]
        second = d1[:, None] * d1[None] * h11 + (cross + cross.swapaxes(0, 1)) * h12 + d2[:, None] * d2[None] * h22
        second[0, 0] -= (g1 + g2) * a * theta * (1 - theta)
        second[1, 1] += (g1 + g2) * a * delta * (1 - delta)
        second[0, 2] += g1 * (1 - theta) - g2 * theta
        second[1, 2] += g2 * delta - g1 * (1 - delta)
        second[2, 0], second[2, 1] = second[0, 2], second[1, 2]
        return responses.counted(value, gradient, second)

    return cells


def flat(value: FloatArray) -> FloatArray:
    """The zeros that stand for second derivatives where none are wanted."""
    return np.zeros((1,) * (value.ndim + 2))


def second_of_gap(first: FloatArray, curve: FloatArray, inner: FloatArray) -> FloatArray:
    """The second derivatives of a function of a (x - y) from its two derivatives; `inner` are those of a (x - y)."""
    second = curve * inner[:, None] * inner[None]
    for i, sign in ((0, 1.0), (1, -1.0)):
        second[i, 2] += sign * first
        second[2, i] = second[i, 2]
    return second


def squared_error_cells(responses: ScoreTable, scale: float) -> CellFunction:
    """-(p - ICC)^2 / (2 scale^2) of each cell: the fit of the paper, as a log likelihood."""
    weight = responses.observed / scale**2

    def cells(x: FloatArray, y: FloatArray, a: FloatArray, curved: bool) -> Jet:
        mean = expit(a * (x - y))
        slope = mean * (1 - mean)
        error = responses.values - mean
        zero = np.zeros_like(mean)
        inner = np.stack([a + zero, -a + zero, x - y + zero])
        value, gradient = -0.5 * weight * error**2, weight * error * slope * inner
        if not curved:
            return value, gradient, flat(mean)
        curve = error * slope * (1 - 2 * mean) - slope**2
        return value, gradient, weight * second_of_gap(error * slope, curve, inner)

    return cells


def summed(cells: FloatArray) -> FloatArray:
    """Second derivatives of cells (3 x 3 x respondents x items) as one matrix, the order of a posterior's z."""
    n, m = cells.shape[2:]
    x, y, a = slice(0, n), slice(n, n + m), slice(n + m, n + 2 * m)
    whole = np.zeros((n + 2 * m, n + 2 * m))
    whole[x, x] = np.diag(cells[0, 0].sum(axis=1))
    whole[y, y] = np.diag(cells[1, 1].sum(axis=0))
    whole[a, a] = np.diag(cells[2, 2].sum(axis=0))
    whole[y, a] = whole[a, y] = np.diag(cells[1, 2].sum(axis=0))
    whole[x, y], whole[x, a] = cells[0, 1], cells[0, 2]
    whole[y, x], whole[a, x] = cells[0, 1].T, cells[0, 2].T
    return whole


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """The log posterior density of z = (logit theta of N respondents, logit delta and a of M items)."""

    cells: CellFunction
    respondents: int
    items: int
    sigma: float

    @property
    def size(self) -> int:
        """N + 2 M."""
        return self.respondents + 2 * self.items

    def split(self, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """logit theta, logit delta and a."""
        n, m = self.respondents, self.items
        return z[..., :n], z[..., n : n + m], z[..., n + m :]

    def curve(self, z: FloatArray) -> FloatArray:
        """The ICC of every respondent and item at z."""
        x, y, a = self.split(z)
        return np.asarray(expit(a * (x[:, None] - y)))

    def prior(self, z: FloatArray) -> Jet:
        """log prior of each coordinate (logistic, logistic, normal), its first and its second derivative."""
        logits, a = z[..., : -self.items], z[..., -self.items :]
        share = expit(logits)
        normal = -0.5 * ((a - 1) / self.sigma) ** 2 - np.log(self.sigma * np.sqrt(2 * np.pi))
        return (
            np.concatenate([log_expit(logits) + log_expit(-logits), normal], axis=-1),
            np.concatenate([1 - 2 * share, (1 - a) / self.sigma**2], axis=-1),
            np.concatenate([-2 * share * (1 - share), np.full_like(a, -1 / self.sigma**2)], axis=-1),
        )

    def gradient(self, cells: FloatArray) -> FloatArray:
        """Sum the cells' gradients (3 x ... x N x M) into one of z."""
        return np.concatenate([cells[0].sum(axis=-1), cells[1].sum(axis=-2), cells[2].sum(axis=-2)], axis=-1)

    def evaluate(self, z: FloatArray, curved: bool = True) -> Jet:
        """Log density, gradient and Hessian at z, all analytic; without the Hessian at each row of z, too."""
        x, y, a = self.split(z)
        value, first, second = self.cells(x[..., None], y[..., None, :], a[..., None, :], curved)
        p0, p1, p2 = self.prior(z)
        hessian = summed(second) + np.diag(p2) if curved else second
        return np.asarray(value.sum(axis=(-2, -1)) + p0.sum(axis=-1)), self.gradient(first) + p1, hessian

    def loss(self, z: FloatArray) -> tuple[float, FloatArray]:
        """Minus the log density and minus its gradient, for a minimiser."""
        value, gradient, _ = self.evaluate(z, curved=False)
        return -float(value), -gradient
