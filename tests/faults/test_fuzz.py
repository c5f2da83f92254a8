"""Every door to files from outside against what chance makes of known files: an answer, or an error of one line.

`HYPOTHESIS_PROFILE=explore` looks further, and `RECASSAY_FUZZ=20000` sets how many examples each door meets;
`benchmarks/fuzz.py` does the same by the clock, and outlives what hangs or ends the process.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.doors import DOORS
from support.fuzzing import attempt, drawn

EXAMPLES = int(os.environ.get("RECASSAY_FUZZ", "25"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", DOORS)
def test_a_door_answers_or_says_one_line(name):
    door = DOORS[name]

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(chance=st.randoms(use_true_random=False))
    def check(chance):
        file, content = drawn(chance, door)
        with tempfile.TemporaryDirectory() as folder:
            attempt(door, Path(folder), file, content)

    check()
