"""Tails and quantiles of the usual distributions.

They stand on `scipy.special`: `scipy.stats` says the same and takes longer to import than most analyses to run. What a
ranking of a usual table asks (the normal distribution of few values, quantiles of Student's t and of a few chi-squares)
is computed here: even `scipy.special` takes longer to import than such a ranking to make.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from recassay.core.types import FloatArray

_FARTHEST = 9.0
"""Standard deviations beyond which the normal density adds nothing to an integral in double precision."""

_FEW = 1_000
"""Up to so many values of the normal distribution, and so many degrees of freedom, are computed here."""

_FEW_QUANTILES = 20
"""The same of quantiles of chi-squares."""

_TAIL = 1e-3
"""Quantiles with less beyond them are left to `scipy.special`, whose tails stay exact."""


_NEAR = 1e-11
"""Rounding moves an angle by less than this."""


def normal_cdf(x: Any) -> Any:
    """P(Z <= x) for Z standard normal: erfc(-x / sqrt(2)) / 2."""
    if np.size(x) > _FEW:
        from scipy.special import ndtr

        return ndtr(x)
    scaled = np.negative(x, dtype=np.float64) * math.sqrt(0.5)
    return np.reshape([math.erfc(value) / 2 for value in scaled.ravel().tolist()], scaled.shape)[()]


def normal_sf(x: Any) -> Any:
    """P(Z > x) for Z standard normal."""
    return normal_cdf(np.negative(x))


def normal_pdf(x: Any) -> Any:
    """The density of the standard normal distribution."""
    return np.exp(-np.square(x) / 2) / np.sqrt(2 * np.pi)


def normal_quantile(p: Any) -> Any:
    """The x with P(Z <= x) = p."""
    from scipy.special import ndtri

    return ndtri(p)


def t_sf(x: Any, degrees: Any) -> Any:
    """P(T > x) for Student's t with these degrees of freedom."""
    from scipy.special import stdtr

    return stdtr(degrees, np.negative(x))


def t_quantile(p: Any, degrees: Any) -> Any:
    """The x with P(T <= x) = p."""
    if isinstance(p, float) and isinstance(degrees, int) and 0 < degrees <= _FEW and _TAIL <= p <= 1 - _TAIL:
        return _t_quantile(p, degrees)
    from scipy.special import stdtrit

    return stdtrit(degrees, p)


@cache
def _t_quantile(p: float, degrees: int) -> float:
    """The same by halving, with |T| = sqrt(n) tan(angle), whose distribution is a finite sum for n whole degrees.

    P(|T| <= t) is s (1 + c^2 / 2 + 1 3 / (2 4) c^4 + ... c^(n - 2)) for even n and 2 / pi (angle + s (c + 2 / 3 c^3 +
    ... c^(n - 2))) for odd n, with s and c the sine and cosine of the angle (Abramowitz and Stegun 1964, 26.7.3-4).
    """
    share = abs(2 * p - 1)
    near = _angle_near(share, degrees)
    low, high = 0.0, math.pi / 2
    while low < (angle := (low + high) / 2) < high:
        if abs(angle - near) > _NEAR:  # the side is known
            below = angle < near
        else:
            below = _share_within(angle, degrees) < share
        low, high = (angle, high) if below else (low, angle)
    return math.copysign(math.sqrt(degrees) * math.tan(angle), p - 0.5)


def _angle_near(share: float, degrees: int) -> float:
    """The angle with P(|T| <= sqrt(n) tan(angle)) = `share` but for rounding, by Newton's steps from 0.

    The slope of the share is 2 Gamma((n + 1) / 2) / (sqrt(pi) Gamma(n / 2)) cosine^(n - 1), which falls: no step goes
    too far.
    """
    angle, step = 0.0, math.inf
    top = 2 / math.sqrt(math.pi) * math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2))
    while step > 1e-13:
        slope = top * math.cos(angle) ** (degrees - 1)
        step = (share - _share_within(angle, degrees)) / slope
        angle += step
    return angle


def _share_within(angle: float, degrees: int) -> float:
    """P(|T| <= sqrt(n) tan(angle)); its terms are multiplied and added one after the other."""
    odd, cosine = degrees % 2, math.cos(angle)
    steps = np.arange(1 + odd, degrees, 2, dtype=np.float64)
    terms = np.cumprod(np.append(cosine if odd else 1.0, cosine * cosine * steps[:-1] / (steps[:-1] + 1)))
    within = math.sin(angle) * (float(np.cumsum(terms)[-1]) if len(steps) else 0.0)
    return 2 / math.pi * (angle + within) if odd else within


def chi_square_sf(x: Any, degrees: Any) -> Any:
    """P(X > x) for a chi-square of these degrees of freedom."""
    from scipy.special import chdtrc

    return chdtrc(degrees, x)


def chi_square_quantile(p: Any, degrees: Any) -> Any:
    """The x with P(X <= x) = p for a chi-square of these degrees of freedom."""
    few = np.size(p) <= _FEW_QUANTILES and np.min(p) >= _TAIL and np.max(p) <= 1 - _TAIL
    if isinstance(degrees, float) and 3 <= degrees <= _FEW and few:
        return np.reshape([_chi_square_quantile(one, degrees) for one in np.ravel(p).tolist()], np.shape(p))[()]
    from scipy.special import gammaincinv

    return 2 * gammaincinv(degrees / 2, p)


@cache
def _chi_square_quantile(p: float, degrees: float) -> float:
    """The same by Newton's steps from the mode, where the distribution turns from convex to concave: none goes too far.

    With a = degrees / 2, y = x / 2 and d(y) = y^a exp(-y) / Gamma(a + 1), P(X <= x) is d(y) (1 + y / (a + 1) + y^2 /
    ((a + 1) (a + 2)) + ...), and its slope in y is d(y) a / y (Abramowitz and Stegun 1964, 6.5.29).
    """
    a = degrees / 2
    y, step = a - 1, math.inf
    while abs(step) > 1e-9 * y:  # steps square their error: the last leaves none
        term = total = 1.0
        place = a
        while term > 1e-17 * total:
            place += 1
            term *= y / place
            total += term
        density = math.exp(a * math.log(y) - y - math.lgamma(a + 1))
        step = (density * total - p) / (density * a / y)
        y -= step
    return 2 * y


def f_sf(x: Any, upper: Any, lower: Any) -> Any:
    """P(F > x) for Fisher's F with `upper` and `lower` degrees of freedom."""
    from scipy.special import fdtrc

    return fdtrc(upper, lower, x)


def beta_sf(x: Any, a: Any, b: Any) -> Any:
    """P(B > x) for a beta distribution with parameters a and b."""
    from scipy.special import betaincc

    return betaincc(a, b, x)


def range_sf(q: float, k: int) -> float:
    """P(the range of k standard normals > q): 1 - k int phi(z) (Phi(z) - Phi(z - q))^(k - 1) dz, z the largest.

    This is the studentised range with infinite degrees of freedom (Hartley 1942, *Biometrika* 32, 334-348).
    """
    nodes, weights = _quadrature()
    z = nodes * _FARTHEST
    below = normal_cdf(z)
    less = normal_pdf(z) * (below ** (k - 1) - (below - normal_cdf(z - q)) ** (k - 1))
    return float(k * _FARTHEST * (weights * less).sum())


def range_quantile(p: float, k: int) -> float:
    """The q with P(the range of k standard normals <= q) = p, by halving."""
    low, high = 0.0, 4 * _FARTHEST
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if range_sf(middle, k) > 1 - p else (low, middle)
    return (low + high) / 2


@cache
def _quadrature() -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of Gauss and Legendre on (-1, 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    return nodes, weights
