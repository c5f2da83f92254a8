"""Tails and quantiles of the usual distributions.

They stand on `scipy.special`: `scipy.stats` says the same and takes longer to import than most analyses to run.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy.special import betaincc, chdtrc, fdtrc, gammaincinv, ndtr, ndtri, stdtr, stdtrit

from recassay.core.types import FloatArray

_FARTHEST = 9.0
"""Standard deviations beyond which the normal density adds nothing to an integral in double precision."""


def normal_cdf(x: Any) -> Any:
    """P(Z <= x) for Z standard normal."""
    return ndtr(x)


def normal_sf(x: Any) -> Any:
    """P(Z > x) for Z standard normal."""
    return ndtr(np.negative(x))


def normal_pdf(x: Any) -> Any:
    """The density of the standard normal distribution."""
    return np.exp(-np.square(x) / 2) / np.sqrt(2 * np.pi)


def normal_quantile(p: Any) -> Any:
    """The x with P(Z <= x) = p."""
    return ndtri(p)


def t_sf(x: Any, degrees: Any) -> Any:
    """P(T > x) for Student's t with these degrees of freedom."""
    return stdtr(degrees, np.negative(x))


def t_quantile(p: Any, degrees: Any) -> Any:
    """The x with P(T <= x) = p."""
    return stdtrit(degrees, p)


def chi_square_sf(x: Any, degrees: Any) -> Any:
    """P(X > x) for a chi-square of these degrees of freedom."""
    return chdtrc(degrees, x)


def chi_square_quantile(p: Any, degrees: Any) -> Any:
    """The x with P(X <= x) = p for a chi-square of these degrees of freedom."""
    return 2 * gammaincinv(degrees / 2, p)


def f_sf(x: Any, upper: Any, lower: Any) -> Any:
    """P(F > x) for Fisher's F with `upper` and `lower` degrees of freedom."""
    return fdtrc(upper, lower, x)


def beta_sf(x: Any, a: Any, b: Any) -> Any:
    """P(B > x) for a beta distribution with parameters a and b."""
    return betaincc(a, b, x)


def range_sf(q: float, k: int) -> float:
    """P(the range of k standard normals > q): 1 - k int phi(z) (Phi(z) - Phi(z - q))^(k - 1) dz, z the largest.

    This is the studentised range with infinite degrees of freedom (Hartley 1942, *Biometrika* 32, 334-348).
    """
    nodes, weights = _quadrature()
    z = nodes * _FARTHEST
    below = normal_pdf(z) * (ndtr(z) ** (k - 1) - (ndtr(z) - ndtr(z - q)) ** (k - 1))
    return float(k * _FARTHEST * (weights * below).sum())


def range_quantile(p: float, k: int) -> float:
    """The q with P(the range of k standard normals <= q) = p."""
    from scipy.optimize import brentq

    return float(brentq(lambda q: range_sf(q, k) - (1 - p), 0.0, 4 * _FARTHEST, xtol=1e-12))


@cache
def _quadrature() -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of Gauss and Legendre on (-1, 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    return nodes, weights
