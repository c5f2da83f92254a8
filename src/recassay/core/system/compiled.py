"""Functions in machine code."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])

REORDERED_SUMS = {"reassoc", "contract", "nsz", "arcp"}
"""What the compiler may change about arithmetic, to use vector instructions; NaN and infinity keep their meaning."""

_LOADING = threading.RLock()


class _AtFirstCall:
    """A function that is in machine code from its first call on: a process that calls none does not load numba, which
    takes half a second and 70 MB."""

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self._options = function, options
        self._fast: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        return (self._fast or self.machine_code())(*arguments)

    def machine_code(self) -> Callable[..., Any]:
        """What numba makes of it; other such functions that it calls are replaced by theirs, as the compiler asks."""
        with _LOADING:
            if self._fast is None:
                import numba

                try:
                    fast = numba.njit(cache=True, nogil=True, **self._options)(self.py_func)
                except RuntimeError:
                    fast = numba.njit(nogil=True, **self._options)(self.py_func)
                known = self.py_func.__globals__
                for name in self.py_func.__code__.co_names:
                    if isinstance(called := known.get(name), _AtFirstCall):
                        known[name] = fast if called is self else called.machine_code()
                # Other threads call what stands here without the lock: by then the compiler must know every name.
                self._fast = fast
            return self._fast


def compiled(function: Function) -> Function:
    """`function` in machine code, without Python's lock, kept on disk for the next process where a folder allows it.

    Give a kernel arrays of one set of types only: processes that store two variants at once may mix them up. Where
    neither the package's folder nor the user's cache can be written, every process compiles for itself.
    """
    return cast(Function, _AtFirstCall(function, fastmath=REORDERED_SUMS))


def compiled_exactly(function: Function) -> Function:
    """As `compiled`, with every sum in the order in which it is written."""
    return cast(Function, _AtFirstCall(function))


def uncompiled(function: Function) -> Function:
    """What a compiled function was made of: for small work that does not need the compiler."""
    return cast(Function, getattr(function, "py_func"))  # noqa: B009  (numba's name; such a function is typed as itself)


def warm_up() -> None:
    """Let numba load what it loads at the first call of any kernel (0.3 seconds), so that forked processes have it.

    No thread is started: none of ours are, and numba starts its own for `parallel=True` alone, which nothing here uses.
    """
    _nothing(0)


@compiled_exactly
def _nothing(number: int) -> int:
    return number
