"""How often one algorithm is above another over draws, for every pair, in machine code."""

from __future__ import annotations

import numpy as np

from recassay.core.system.compiled import compiled
from recassay.core.types import FloatArray


@compiled
def pair_shares(draws: FloatArray, width: float) -> tuple[FloatArray, FloatArray]:
    """From draws (algorithms x draws): `[a, b]`, the shares with a above b by more than `width`, and with both near."""
    k, count = draws.shape
    above, near = np.zeros((k, k)), np.ones((k, k))
    for a in range(k):
        for b in range(a):
            up = down = 0
            for s in range(count):
                gap = draws[a, s] - draws[b, s]
                up += gap > width
                down += gap < -width
            above[a, b], above[b, a] = up / count, down / count
            near[a, b] = near[b, a] = (count - up - down) / count
    return above, near
