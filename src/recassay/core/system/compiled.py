"""Functions in machine code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

REORDERED_SUMS = {"reassoc", "contract", "nsz", "arcp"}
"""What the compiler may change about arithmetic, to use vector instructions; NaN and infinity keep their meaning."""


def compiled(function: Function) -> Function:
    """`function` in machine code, without Python's lock, kept on disk for the next process where a folder allows it.

    Give a kernel arrays of one set of types only: processes that store two variants at once may mix them up. Where
    neither the package's folder nor the user's cache can be written, every process compiles for itself.
    """
    return _machine_code(function, fastmath=REORDERED_SUMS)


def compiled_exactly(function: Function) -> Function:
    """As `compiled`, with every sum in the order in which it is written."""
    return _machine_code(function)


def _machine_code(function: Function, **options: Any) -> Function:
    try:
        fast: Function = numba.njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:
        fast = numba.njit(nogil=True, **options)(function)
    return fast


def warm_up() -> None:
    """Let numba load what it loads at the first call of any kernel (0.3 seconds), so that forked processes have it.

    No thread is started: none of ours are, and numba starts its own for `parallel=True` alone, which nothing here uses.
    """
    _nothing(0)


@compiled_exactly
def _nothing(number: int) -> int:
    return number
