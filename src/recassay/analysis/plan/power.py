"""How many datasets the signed-rank test needs to show a difference."""

from __future__ import annotations

import numpy as np

from recassay.analysis.inference.distributions import normal_quantile
from recassay.analysis.plan.result import MOST
from recassay.core.types import FloatArray


def fewest(level: float) -> int:
    """The datasets below which no p-value can be at most `level`: with all signs alike it is 2 / 2^n."""
    return max(2, int(np.ceil(1 - np.log2(level))))


def concordance(differences: FloatArray) -> float:
    """P(D + D' > 0) of two independent differences, ties counting half, over all pairs of these draws."""
    ordered = np.sort(differences)
    above = len(ordered) - np.searchsorted(ordered, -ordered, side="right")
    at_least = len(ordered) - np.searchsorted(ordered, -ordered, side="left")
    return float((above + at_least).mean() / (2 * len(ordered)))


def datasets_needed(chance: float, level: float, power: float) -> int | None:
    """The datasets at which a two-sided signed-rank test at `level` has this power; None beyond `MOST`.

    n = (z_{1 - level/2} + z_power)^2 / (3 (P(D + D' > 0) - 1/2)^2) (Noether 1987), and at least as many as can reach
    the level at all.
    """
    apart = abs(chance - 0.5)
    if apart < 1e-6:
        return None
    needed = float((normal_quantile(1 - level / 2) + normal_quantile(power)) ** 2 / (3 * apart**2))
    count = max(fewest(level), int(np.ceil(needed)))
    return count if count <= MOST else None
