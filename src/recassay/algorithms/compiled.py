"""Machine code for loops that BLAS cannot do: how kernels are compiled, and how their rows share the processor."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import numba
import numpy as np
import threadpoolctl

from recassay.core.types import IntArray

Function = TypeVar("Function", bound=Callable[..., Any])

REORDERED_SUMS = {"reassoc", "contract", "nsz", "arcp"}
"""What the compiler may change about arithmetic, to use vector instructions; NaN and infinity keep their meaning."""

WORTH_A_THREAD = 2_000_000
"""Multiplications below which handing out blocks costs more than it gains."""


def compiled(function: Function) -> Function:
    """`function` in machine code, without Python's lock, kept on disk for the next process where a folder allows it.

    Give a kernel arrays of one set of types only: processes that store two variants at once may mix them up. Where
    neither the package's folder nor the user's cache can be written, every process compiles for itself.
    """
    options: dict[str, Any] = {"nogil": True, "fastmath": REORDERED_SUMS}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:
        return numba.njit(**options)(function)


def over_rows(kernel: Callable[[int, int], object], indptr: IntArray, work_per_event: int) -> None:
    """Call `kernel(start, stop)` for blocks that cover all rows, on as many threads as numba is allowed.

    Blocks hold about equally many events. The kernel must write only to its own rows: the result then depends neither
    on the number of threads nor on the blocks. NUMBA_NUM_THREADS bounds the threads.
    """
    rows, events = len(indptr) - 1, int(indptr[-1])
    threads = int(numba.config.NUMBA_NUM_THREADS)
    if threads == 1 or events * work_per_event < WORTH_A_THREAD:
        kernel(0, rows)
        return
    cuts = np.searchsorted(indptr, np.linspace(0, events, 4 * threads + 1)[1:-1])
    bounds = [0, *(int(cut) for cut in cuts), rows]
    with ThreadPoolExecutor(threads) as pool:
        for done in [
            pool.submit(kernel, start, stop) for start, stop in zip(bounds, bounds[1:], strict=False) if start < stop
        ]:
            done.result()


def one_blas_thread() -> AbstractContextManager[object]:
    """A context in which BLAS uses one thread, so that sums round alike on every machine setting."""
    limits: AbstractContextManager[object] = threadpoolctl.threadpool_limits(limits=1, user_api="blas")
    return limits
