"""Threads of BLAS, the library that multiplies matrices."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import cache

import threadpoolctl


def one_blas_thread() -> AbstractContextManager[object]:
    """A context in which BLAS uses one thread: sums round alike on every machine setting, and no thread waits.

    The matrices of results tables are tiny; threads that wait for the next product take more time than the products.
    """
    limited: AbstractContextManager[object] = _libraries("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas")
    return limited


@cache
def _libraries(with_scipy: bool) -> threadpoolctl.ThreadpoolController:
    """The loaded libraries with threads, among them SciPy's own BLAS once it is loaded; looking for them takes longer
    than a small product."""
    return threadpoolctl.ThreadpoolController()
