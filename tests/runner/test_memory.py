"""The memory of processes, as the system tells it."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from recassay.core.specs.study import Budget
from recassay.runner import memory
from recassay.runner.memory import job_limits, limit_in_words, memory_limit, resident_bytes, tree_bytes

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


def test_what_a_cell_may_hold(monkeypatch):
    stated, open_ = Budget(memory_gb=2.5, seconds_per_cell=60), Budget()
    monkeypatch.setattr(memory, "machine_bytes", lambda: 100)
    assert [memory_limit(stated), memory_limit(open_)] == [2_500_000_000, 90]
    assert job_limits(stated) == (60.0, 2_500_000_000)
    assert limit_in_words(stated) == "budget.memory_gb is"
    assert limit_in_words(open_) == "nine tenths of the machine's memory are"
    monkeypatch.setattr(memory, "machine_bytes", lambda: None)
    assert memory_limit(open_) is None


def test_the_peak_of_this_process_and_of_its_children():
    subprocess.run([sys.executable, "-c", 'x = bytearray(b"x") * 120_000_000'], check=True)
    assert memory.children_peak_bytes() > 120_000_000
    held = bytearray(b"x") * 60_000_000
    assert 4_000_000_000 > memory.peak_bytes() >= len(held)


def test_where_the_system_tells_nothing_the_peak_is_not_known(monkeypatch):
    import resource

    monkeypatch.setattr(resource, "getrusage", lambda who: SimpleNamespace(ru_maxrss=0))
    assert memory.children_peak_bytes() is None
    monkeypatch.setattr(resource, "getrusage", lambda who: SimpleNamespace(ru_maxrss=3))
    assert memory.children_peak_bytes() == 3 * 1024
    monkeypatch.setattr(memory.sys, "platform", "darwin")
    assert memory.children_peak_bytes() == 3
    monkeypatch.setattr(memory.sys, "platform", "win32")
    assert memory.children_peak_bytes() is None


@pytest.mark.parametrize(
    ("status", "peak"), [("VmPeak: 9 kB\nVmHWM:   7 kB\n", 7168), ("VmHWM: x\n", None), ("", None)]
)
def test_the_peak_is_read_in_kilobytes(tmp_path, monkeypatch, status, peak):
    (tmp_path / "status").write_text(status)
    monkeypatch.setattr(memory, "Path", lambda place: tmp_path / place.rpartition("/")[2])
    assert memory.peak_bytes() == peak
    memory.reset_peak()
    assert (tmp_path / "clear_refs").read_text() == "5"
