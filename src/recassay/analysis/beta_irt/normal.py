"""A normal density for a beta-IRT posterior: around the mode (Laplace), or around the mass (variational)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from recassay.analysis.beta_irt.mode import MANY_CELLS
from recassay.analysis.beta_irt.model import Posterior, summed
from recassay.analysis.inference.extrapolation import Extrapolation
from recassay.core.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Gaussian:
    """A normal approximation of a posterior in z."""

    mean: FloatArray
    covariance: FloatArray
    converged: bool


def laplace(posterior: Posterior, z: FloatArray) -> Gaussian:
    """The normal density with the mode and the curvature of the posterior at z."""
    return Gaussian(z, _inverse(_positive(-posterior.evaluate(z)[2])), True)


def _positive(precision: FloatArray) -> FloatArray:
    """The nearest matrix without a direction wider than the priors allow (a standard deviation of 5).

    Nor one so narrow that rounding would spoil the others.
    """
    curvature, axes = np.linalg.eigh((precision + precision.T) / 2)
    return np.asarray((axes * np.clip(curvature, 0.04, _SHARPEST)) @ axes.T, dtype=np.float64)


def _inverse(matrix: FloatArray) -> FloatArray:
    inverse = np.linalg.inv(matrix)
    return np.asarray((inverse + inverse.T) / 2, dtype=np.float64)


# Points and weights for the mean over a standard normal in 3 dimensions, exact to degree 5 (McNamee and Stenger): those
# with one coordinate of 0, two, or three, from the centre outwards.
_CORNERS = np.array(
    sorted(
        (corner for corner in product((1, -1, 0), repeat=3) if 0 in corner),
        key=lambda corner: (-corner.count(0), -corner.index(0)),
    )
)
_POINTS, _WEIGHTS = np.sqrt(3) * _CORNERS, np.array([1 / 36, 1 / 18, 1 / 3])[(_CORNERS == 0).sum(axis=1) - 1]
_LINE, _LINE_WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
_LINE_WEIGHTS = _LINE_WEIGHTS / _LINE_WEIGHTS.sum()
_PUSH = 0.05
_SHARPEST = 1e10
_LARGEST_LEAP = 2.0
"""How many times wider than the step itself an extrapolated density may be: beyond, it left the posterior's place."""

_MOST_STEPS = 1000
_SETTLED = 1e-3
"""Where steps end in a circle, the nearest density found is good enough if its step is shorter than this."""

_NEAR = 0.3
"""A step that moves nothing by more than so many deviations is extrapolated: farther off, guesses lead in circles."""

_REMEMBERED = 5
_WIDEST = 2.0


def expected_cells(posterior: Posterior, mean: FloatArray, covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The means of the cells' gradients and second derivatives under a normal density.

    A cell depends on three coordinates only, so each mean is one over three dimensions (19 points).
    """
    n, m = posterior.respondents, posterior.items
    x, y, a = posterior.split(mean)
    i, j = np.arange(n)[:, None], np.arange(m)[None]
    place = np.stack(np.broadcast_arrays(i, n + j, n + m + j), axis=-1)
    root = np.linalg.cholesky(covariance[place[..., :, None], place[..., None, :]])
    shift = np.einsum("nmik,qk->qinm", root, _POINTS)
    _, first, second = posterior.cells(x[:, None] + shift[:, 0], y + shift[:, 1], a + shift[:, 2], True)
    return np.einsum("q,iqnm->inm", _WEIGHTS, first), np.einsum("q,ijqnm->ijnm", _WEIGHTS, second)


def expected_prior(posterior: Posterior, mean: FloatArray, covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The means of the first and the second derivatives of the log prior under a normal density."""
    _, first, second = posterior.prior(mean + _LINE[:, None] * np.sqrt(np.diag(covariance)))
    return _LINE_WEIGHTS @ first, _LINE_WEIGHTS @ second


def expected(posterior: Posterior, mean: FloatArray, covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The means of the gradient and of the Hessian of the log density under a normal density."""
    first, second = expected_cells(posterior, mean, covariance)
    prior_first, prior_second = expected_prior(posterior, mean, covariance)
    return posterior.gradient(first) + prior_first, summed(second) + np.diag(prior_second)


def variational(posterior: Posterior, start: Gaussian) -> Gaussian:
    """The normal density nearest to the posterior (smallest KL divergence from it), from `start`.

    Its mean and covariance solve E[gradient] = 0 and covariance^-1 = -E[Hessian] (Opper and Archambeau 2009), found by
    repeated substitution: with shorter steps when one leads away and, once near, extrapolated from the last steps. The
    joint mode of abilities and items exaggerates the discriminations (each new respondent brings a parameter: Neyman
    and Scott 1948), so that an interval around it covers too seldom; this density sits where the mass is. It ends
    when a step moves no mean and no deviation by more than 1e-6 deviations (1e-4 with more than `MANY_CELLS` cells):
    an end at 1e-3 was seen to depend on the last bits of the table. On a table too small to pin it down it ends without
    having converged.
    """
    tolerance = 1e-6 if posterior.respondents * posterior.items <= MANY_CELLS else 1e-4
    mean, precision, covariance = start.mean, _inverse(start.covariance), start.covariance
    extrapolation = Extrapolation(_REMEMBERED)
    length, last, unit = 1.0, np.inf, np.sqrt(np.diag(covariance))
    nearest, found = np.inf, start
    for _ in range(_MOST_STEPS):
        gradient, hessian = expected(posterior, mean, covariance)
        deviation = np.sqrt(np.diag(covariance))
        target = _positive(-hessian)
        step = np.linalg.solve(target, gradient)
        change = np.sqrt(np.abs(np.diag(_inverse(target)))) / deviation - 1
        away = float(max(np.abs(step / deviation).max(), np.abs(change).max()))
        if away < nearest:
            nearest, found = away, Gaussian(mean, covariance, away < _SETTLED)
        if away < tolerance:
            break
        # Near the solution: half steps, extrapolated from the last ones. Far from it: damped steps.
        if away < _NEAR:
            if away > 2 * last:
                extrapolation.forget()
            unit = unit if extrapolation.steps else deviation
            ahead = mean + step / 2, (precision + target) / 2
            guess = _from_flat(extrapolation.ahead(_flat(mean, precision, unit), _flat(*ahead, unit)), unit)
            mean, precision = guess if guess is not None and _near(guess[1], ahead[1]) else ahead
        else:
            extrapolation.forget()
            length = max(length / 2, 0.1) if away > last else min(1.0, 1.2 * length)
            mean = mean + min(length, 1 / away) * step
            precision = (1 - length) * precision + length * target
        last = away
        covariance = _inverse(precision)
    return found


def _flat(mean: FloatArray, precision: FloatArray, unit: FloatArray) -> FloatArray:
    """Mean and precision as one vector without units."""
    return np.concatenate([mean / unit, (precision * np.outer(unit, unit))[np.triu_indices(len(mean))]])


def _from_flat(flat: FloatArray, unit: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Mean and precision again; None where the precision is not positive definite."""
    n = len(unit)
    upper = np.zeros((n, n))
    upper[np.triu_indices(n)] = flat[n:]
    precision = (upper + upper.T - np.diag(np.diag(upper))) / np.outer(unit, unit)
    try:
        np.linalg.cholesky(precision)
    except np.linalg.LinAlgError:
        return None
    return flat[:n] * unit, precision


def _near(precision: FloatArray, other: FloatArray) -> bool:
    """Whether no standard deviation of the one is far wider than that of the other."""
    wide, usual = (np.sqrt(np.diag(_inverse(matrix))) for matrix in (precision, other))
    return bool((wide < _LARGEST_LEAP * usual).all())


def widen(posterior: Posterior, normal: Gaussian) -> Gaussian:
    """The variational normal with the covariance that its own response to a push implies.

    The nearest normal density is too narrow where the curvature of the posterior varies over it. To first order, a
    force on the coordinates moves its mean by (P - C)^-1, with P its precision, C_kl = tr(T_k S T_l S) / 2, S its
    covariance and T_k the mean derivative of the Hessian along coordinate k (linear response: Giordano, Broderick and
    Jordan 2018). No standard deviation grows by more than a factor of `_WIDEST`.
    """
    n, m = posterior.respondents, posterior.items
    root = np.linalg.cholesky(normal.covariance)
    kinds = [0] * n + [1] * m + [2] * m
    third, prior = [], []
    for kind in range(3):
        push = _PUSH * np.sqrt(np.diag(normal.covariance)).mean() * (np.array(kinds) == kind)
        ahead, behind = (
            (
                expected_cells(posterior, normal.mean + way * push, normal.covariance)[1],
                expected_prior(posterior, normal.mean + way * push, normal.covariance)[1],
            )
            for way in (1, -1)
        )
        third.append((ahead[0] - behind[0]) / (2 * push.max()))
        prior.append((ahead[1] - behind[1]) / (2 * push.max()))
    cells = np.stack(third)
    slopes = np.empty((posterior.size, posterior.size, posterior.size))
    respondents, items = np.arange(n), np.arange(n, posterior.size)
    for k, kind in enumerate(kinds):
        # A respondent's cells touch it and all items, an item's cells touch its two parameters and all respondents.
        item = (k - n) % m
        here, support = (
            (cells[kind][:, :, k : k + 1], np.r_[k, items])
            if kind == 0
            else (cells[kind][..., item : item + 1], np.r_[respondents, n + item, n + m + item])
        )
        hessian = summed(here)
        at = int(np.flatnonzero(support == k)[0])
        hessian[at, at] += prior[kind][k]
        part = root[support]
        slopes[k] = part.T @ hessian @ part
    flat = slopes.reshape(posterior.size, -1)
    share = root.T @ (0.5 * (flat @ flat.T)) @ root
    size, axes = np.linalg.eigh((share + share.T) / 2)
    stretch = 1 / (1 - np.clip(size, 0, 1 - 1 / _WIDEST**2))
    wide = root @ axes
    return Gaussian(normal.mean, np.asarray((wide * stretch) @ wide.T), normal.converged)
