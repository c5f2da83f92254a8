"""Step 5 of Glicko-2, in machine code: every player of every period has an equation of its own to solve."""

from __future__ import annotations

import numpy as np

from recassay.core.system.compiled import compiled_exactly
from recassay.core.types import FloatArray

_EXACT = 1e-9
_MOST_STEPS = 200


def new_volatility(
    deviation: FloatArray, volatility: FloatArray, gain: FloatArray, variance: FloatArray, tau: float
) -> FloatArray:
    """The root of f(x) = e^x (gain^2 - phi^2 - v - e^x) / 2 (phi^2 + v + e^x)^2 - (x - a) / tau^2, as sigma' = e^(x/2).

    a = ln sigma^2. `deviation`, `gain` and `variance` (phi, Delta, v) are on the internal scale.
    """
    spread, square, anchor = (
        np.ascontiguousarray(part, dtype=np.float64).ravel()
        for part in np.broadcast_arrays(deviation**2 + variance, gain**2, 2 * np.log(volatility))
    )
    roots = np.empty_like(anchor)
    _solve(spread, square, anchor, float(tau), roots)
    return np.exp(roots / 2).reshape(np.shape(deviation))


@compiled_exactly
def _f(x: float, spread: float, square: float, anchor: float, tau: float) -> float:
    e = np.exp(x)
    return e * (square - spread - e) / (2 * (spread + e) ** 2) - (x - anchor) / tau**2


@compiled_exactly
def _solve(spread: FloatArray, square: FloatArray, anchor: FloatArray, tau: float, roots: FloatArray) -> None:
    """Illinois algorithm: a false position that halves the stale end."""
    for i in range(len(roots)):
        s, g, a = spread[i], square[i], anchor[i]
        left = a
        if g > s:
            right = np.log(g - s)
        else:
            right = a - tau
            while _f(right, s, g, a, tau) < 0:
                right -= tau
        at_left, at_right = _f(left, s, g, a, tau), _f(right, s, g, a, tau)
        for _ in range(_MOST_STEPS):
            if abs(right - left) <= _EXACT:
                break
            slope = at_right - at_left if at_right != at_left else 1.0
            middle = left + (left - right) * at_left / slope
            at_middle = _f(middle, s, g, a, tau)
            if at_middle * at_right <= 0:
                left, at_left = right, at_right
            else:
                at_left /= 2
            right, at_right = middle, at_middle
        roots[i] = left
