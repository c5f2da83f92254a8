"""The memory of processes, as the system tells it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from recassay.runner.memory import resident_bytes, tree_bytes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc of Linux")


def test_a_tree_counts_what_its_processes_hold():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        assert tree_bytes(os.getpid()) > resident_bytes()
    finally:
        child.communicate(b"\n")


def test_a_process_that_ends_while_it_is_looked_at_counts_nothing(monkeypatch):
    """`/proc/PID/task` is there when it is listed, and gone when it is read."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert tree_bytes(gone.pid) == 0
    monkeypatch.setattr(os, "listdir", lambda _: ["1"])
    assert tree_bytes(gone.pid) == 0
