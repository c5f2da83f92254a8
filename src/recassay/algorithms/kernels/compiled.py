"""Machine code for loops that BLAS cannot do: how the rows of compiled kernels share the processor."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache

import numba
import threadpoolctl

from recassay.core.system.compiled import compiled

__all__ = ["compiled", "one_blas_thread", "over_rows"]

ROWS_A_BLOCK = 256
"""Rows that a thread takes at once: enough to amortise a call, few enough to share the work evenly."""

WORTH_A_THREAD = 4_000_000
"""Multiplications below which handing out blocks costs more than it gains."""


def over_rows(kernel: Callable[[int, int], object], rows: int, *, work: int) -> None:
    """Call `kernel(start, stop)` for blocks that cover all `rows`, on as many threads as numba is allowed.

    The blocks are always the same, and the kernel must write to its own rows alone: the result then does not depend on
    the number of threads. NUMBA_NUM_THREADS bounds it; `work`, the multiplications to do, decides whether more than
    one is worth it. BLAS uses one thread inside.
    """
    threads = int(vars(numba.config)["NUMBA_NUM_THREADS"]) if work >= WORTH_A_THREAD else 1
    blocks = [(start, min(start + ROWS_A_BLOCK, rows)) for start in range(0, rows, ROWS_A_BLOCK)]
    with one_blas_thread():
        if threads == 1:
            for start, stop in blocks:
                kernel(start, stop)
            return
        with ThreadPoolExecutor(threads) as pool:
            for done in [pool.submit(kernel, start, stop) for start, stop in blocks]:
                done.result()


def one_blas_thread() -> AbstractContextManager[object]:
    """A context in which BLAS uses one thread, so that sums round alike on every machine setting."""
    limited: AbstractContextManager[object] = _libraries().limit(limits=1, user_api="blas")
    return limited


@cache
def _libraries() -> threadpoolctl.ThreadpoolController:
    """The loaded libraries with threads; looking for them takes longer than a small product."""
    import scipy.linalg  # noqa: F401  (SciPy brings a BLAS of its own, which must be loaded to be found)

    return threadpoolctl.ThreadpoolController()
