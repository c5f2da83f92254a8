"""Functions in machine code: from several threads, and waking numba before a fork."""

from __future__ import annotations

import subprocess
import sys

import pytest

from recassay.core.system.compiled import compiled_exactly

FORK = """
import os
from recassay.core.system.compiled import warm_up
from recassay.algorithms.kernels.positives import holds
import numpy as np

before = len(os.listdir("/proc/self/task"))
warm_up()
assert len(os.listdir("/proc/self/task")) == before, "a thread was started"
child = os.fork()
if child == 0:
    os._exit(0 if holds(np.arange(4, dtype=np.int32), 2) else 1)
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc and forks")
def test_numba_is_woken_without_threads_and_works_after_a_fork() -> None:
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@compiled_exactly
def _inner(x: int) -> int:
    return x + 1


@compiled_exactly
def _outer(x: int) -> int:
    return _inner(x) * 2


@compiled_exactly
def _countdown(x: int) -> int:
    return 0 if x <= 0 else 1 + _countdown(x - 1)


def test_a_thread_that_comes_second_waits_until_the_compiler_knows_every_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, it compiled at once, and numba refused the name of the inner function, which was not replaced yet."""
    inner, outer = (globals()[name] for name in ("_inner", "_outer"))
    seen = []

    def compile_inner() -> object:
        seen.append(outer._fast)
        return type(inner).machine_code(inner)

    monkeypatch.setattr(inner, "machine_code", compile_inner)
    assert outer(3) == 8
    assert seen == [None], "what other threads call was there before its names were replaced"
    assert outer._fast is not None


def test_a_compiled_function_may_call_itself() -> None:
    assert _countdown(3) == 3
