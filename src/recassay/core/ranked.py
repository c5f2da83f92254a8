"""The rule of `ties` for kernels in machine code."""

from __future__ import annotations

from recassay.core.system.compiled import compiled

KEPT = 1 - 1e-9
"""1 - `ties.RELATIVE_TIE`: compiled code takes it as a constant."""


@compiled
def wins(left: float, right: float) -> bool:
    """Whether `left` is larger than `right` and does not tie with it: `ties.beats` of two numbers."""
    low = left * KEPT if left > 0 else left
    high = right * KEPT if right < 0 else right
    return low > high
