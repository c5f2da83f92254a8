"""When two numbers are equal but for rounding: the one rule of ties."""

from __future__ import annotations

import numpy as np

from recassay.core.types import BoolArray, FloatArray

RELATIVE_TIE = 1e-9
"""Numbers nearer than this share of the larger of the two are equal: they differ by rounding, not by merit."""


def exceeds(one: FloatArray, other: FloatArray) -> BoolArray:
    """Whether `one` is greater than `other` by more than rounding, pair by pair (the two broadcast).

    Each pair is judged by its own size: what a third number is like has no part in it, and the unit neither.
    """
    beyond: BoolArray = one - other > RELATIVE_TIE * np.maximum(np.abs(one), np.abs(other))
    return beyond
