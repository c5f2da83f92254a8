"""Machine code for loops that BLAS cannot do: how the rows of compiled kernels share the processor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import TypeVar

from recassay.core.system import blas
from recassay.core.system.compiled import compiled

__all__ = ["compiled", "in_parallel", "in_rounds", "one_blas_thread", "over_rows"]

ROWS_A_BLOCK = 256
"""Rows that a thread takes at once: enough to amortise a call, few enough to share the work evenly."""

WORTH_A_THREAD = 4_000_000
"""Multiplications below which handing out blocks costs more than it gains."""

CHUNKS_PER_THREAD = 8
"""Rows differ in cost: several chunks for each thread even it out."""

Answer = TypeVar("Answer")


def in_parallel(
    work: Callable[[slice], Answer], n_rows: int, *, size: int | None = None, alone: bool = False
) -> list[Answer]:
    """`work` on slices that cover `range(n_rows)`, on as many threads as numba is allowed, or `alone` on this one.

    The answers come in the order of the slices, each of `size` rows; by default as few as keep all threads at work.
    """
    threads = 1 if alone else _threads()
    chunks = 1 if threads == 1 else threads * CHUNKS_PER_THREAD
    size = size or max(1, -(-n_rows // chunks))
    parts = [slice(start, min(start + size, n_rows)) for start in range(0, max(n_rows, 1), size)]
    if threads == 1:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, parts))


def over_rows(kernel: Callable[[int, int], object], rows: int, *, work: int) -> None:
    """Call `kernel(start, stop)` for blocks that cover all `rows`, on as many threads as numba is allowed.

    The blocks are always the same, and the kernel must write to its own rows alone: the result then does not depend on
    the number of threads. NUMBA_NUM_THREADS bounds it; `work`, the multiplications to do, decides whether more than
    one is worth it. BLAS uses one thread inside.
    """
    with one_blas_thread():
        in_parallel(lambda part: kernel(part.start, part.stop), rows, size=ROWS_A_BLOCK, alone=work < WORTH_A_THREAD)


def in_rounds(rounds: Iterable[Sequence[Callable[[], object]]], *, alone: bool) -> None:
    """Make all calls of a round, then those of the next, on as many threads as numba is allowed, or `alone` on one.

    The calls of one round must not touch what another of them writes: the result then does not depend on the number of
    threads. `rounds` moves on between them.
    """
    threads = 1 if alone else _threads()
    if threads == 1:
        for calls in rounds:
            for call in calls:
                call()
        return
    with ThreadPoolExecutor(threads) as pool:
        for calls in rounds:
            for done in [pool.submit(call) for call in calls]:
                done.result()


def _threads() -> int:
    import numba

    return int(vars(numba.config)["NUMBA_NUM_THREADS"])


def one_blas_thread() -> AbstractContextManager[object]:
    """As `core.system.blas.one_blas_thread`, for SciPy's own BLAS, too."""
    import scipy.linalg  # noqa: F401  (it must be loaded to be found)

    return blas.one_blas_thread()
