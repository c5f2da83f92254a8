"""Machine code for loops that BLAS cannot do: how the rows of compiled kernels share the processor."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache

import threadpoolctl

from recassay.algorithms.kernels.products import in_parallel
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
    with one_blas_thread():
        in_parallel(lambda part: kernel(part.start, part.stop), rows, size=ROWS_A_BLOCK, alone=work < WORTH_A_THREAD)


def one_blas_thread() -> AbstractContextManager[object]:
    """A context in which BLAS uses one thread, so that sums round alike on every machine setting."""
    limited: AbstractContextManager[object] = _libraries().limit(limits=1, user_api="blas")
    return limited


@cache
def _libraries() -> threadpoolctl.ThreadpoolController:
    """The loaded libraries with threads; looking for them takes longer than a small product."""
    import scipy.linalg  # noqa: F401  (SciPy brings a BLAS of its own, which must be loaded to be found)

    return threadpoolctl.ThreadpoolController()
