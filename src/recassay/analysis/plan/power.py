"""The chance that a benchmark of n datasets shows a difference that is not known exactly."""

from __future__ import annotations

import numpy as np

from recassay.analysis.inference.distributions import normal_cdf, normal_quantile, t_quantile
from recassay.analysis.plan.result import MOST
from recassay.core.types import FloatArray

EFFICIENCY = 3 / np.pi
"""Datasets that Student's test needs for one of the signed-rank test, where differences are normal."""


def fewest(level: float) -> int:
    """The datasets below which no p-value can be at most `level`: with all signs alike it is 2 / 2^n."""
    return max(2, int(np.ceil(1 - np.log2(level))))


def standardised(shifts: FloatArray, around: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Mean differences in deviations of a normal difference that the signed-rank test finds as easily.

    With D = shift + R, R the residuals `around` it, the test sees P(D + D' > 0); a normal difference with that chance
    has mean over deviation z / sqrt(2). So tails and failures count as much as the test lets them.
    """
    halves = np.sort((around + rng.permutation(around)) / 2)
    chance = 1 - (np.searchsorted(halves, -shifts) + 0.5) / (len(halves) + 1)
    found: FloatArray = normal_quantile(chance) / np.sqrt(2)
    return found


def power_of(standard: FloatArray, n: int, level: float) -> FloatArray:
    """The chance that n datasets show a difference with this mean over deviation, in its own direction.

    That of Student's test with the efficiency of the signed-rank test, by the normal approximation to the noncentral t.
    The fewest datasets that could show anything must all be won; fewer show nothing.
    """
    if n < fewest(level):
        return np.zeros_like(standard)
    effective, freedom = EFFICIENCY * n, n - 1
    critical = float(t_quantile(1 - level / 2, freedom))
    above = standard * np.sqrt(effective) * (1 - 1 / (4 * freedom)) - critical
    found: FloatArray = normal_cdf(above / np.sqrt(1 + critical**2 / (2 * freedom)))
    return np.minimum(found, normal_cdf(standard) ** n) if n == fewest(level) else found


def datasets_needed(standard: FloatArray, level: float, power: float) -> int | None:
    """The fewest datasets that show the difference with this probability, averaged over what it may be; None beyond
    `MOST`."""

    def enough(n: int) -> bool:
        return float(power_of(standard, n, level).mean()) >= power

    low, high = fewest(level) - 1, MOST
    if not enough(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
