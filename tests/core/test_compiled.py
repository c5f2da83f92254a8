"""Waking numba before a fork."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
