"""How many processors are ours."""

from __future__ import annotations

import os

import pytest

from recassay.core.system.machine import usable_cores


@pytest.mark.parametrize(("given", "expected"), [("1", 1), ("0", 1), ("", None), ("100000", None), ("many", None)])
def test_a_number_makes_them_fewer(monkeypatch, given, expected):
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    monkeypatch.setenv("RECASSAY_CORES", given)
    assert usable_cores() == (there if expected is None else expected)
