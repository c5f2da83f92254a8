"""A study that is killed again and again ends with the numbers of one that was left in peace."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
import time

import pytest

from recassay.recommenders.study import run_study
from recassay.store import Store
from support.drivers import drivers
from support.run import children_of, numbers, tiny_folder, tiny_study

KILLS = 12
ALGORITHMS = ("Pop", "Slow", "SlowStaged")
TRIALS = 24
DRIVE = """
from pathlib import Path
import recassay.recommenders.cell
from recassay.recommenders.study import run_study
from support.run import tiny_study

def drive(folder, algorithms, trials):
    folder = Path(folder)
    spec = tiny_study(folder, tuple(algorithms.split(",")), datasets=("tiny", "other"), trials=int(trials))
    run_study(spec, folder / "killed", workers=2, progress=lambda event: print(event.kind, flush=True))
"""


def study(folder):
    return tiny_study(folder, ALGORITHMS, datasets=("tiny", "other"), trials=TRIALS)


@pytest.mark.skipif(sys.platform != "linux", reason="finds the workers through /proc")
def test_killed_and_resumed_it_ends_with_the_same_table(tmp_path):
    tiny_folder(tmp_path, other=True)
    run_study(study(tmp_path), tmp_path / "peaceful", workers=2)

    chance = random.Random(20)
    killed = {"driver": 0, "worker": 0}
    acknowledged: set[tuple[str, int]] = set()
    with drivers(DRIVE, tmp_path, ",".join(ALGORITHMS), TRIALS) as start:
        while sum(killed.values()) < KILLS:
            _disturb(start.start(), chance, killed)
            with Store.open(tmp_path / "killed") as store:
                kept = set(store.trials().select("cell", "number").iter_rows())
            assert acknowledged <= kept
            acknowledged = kept
            assert len(acknowledged) < 2 * 2 * TRIALS, f"the study ended after {killed}, before its time"
    assert killed["driver"] >= 2
    assert killed["worker"] >= 2

    record = run_study(study(tmp_path), tmp_path / "killed", workers=2)
    assert (record.done, record.failed) == (6, ())
    assert numbers(tmp_path / "killed") == numbers(tmp_path / "peaceful")
    left = [path for path in (tmp_path / "killed").glob("*/*") if path.name.startswith(".")]
    assert left == []


def _disturb(driver, chance, killed):
    """Kill workers of a driver at random moments until its own turn comes, or enough were killed."""
    while sum(killed.values()) < KILLS:
        for _ in range(chance.randint(1, 5)):
            if driver.says() in ("", "end", "gone"):
                driver.kill()
                return
        time.sleep(chance.random() * 0.04)
        if chance.random() < 0.45:
            killed["driver"] += 1
            break
        workers = children_of(driver.pid)
        if workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(chance.choice(workers), signal.SIGKILL)
                killed["worker"] += 1
    driver.kill()
