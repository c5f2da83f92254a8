"""A study that is killed again and again ends with the numbers of one that was left in peace."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recassay.recommenders.study import run_study
from recassay.store import Store
from support.run import announce_metrics, children_of, numbers, tiny_data, tiny_study, write_plugin

KILLS = 20
ALGORITHMS = ("Pop", "Slow", "SlowStaged")
TRIALS = 24
DRIVER = """
import sys
from pathlib import Path
from test_chaos import study
from recassay.recommenders.study import run_study
folder = Path(sys.argv[1])
run_study(study(folder), folder / "killed", workers=2, progress=lambda event: print(event.kind, flush=True))
"""


def study(folder):
    return tiny_study(folder, ALGORITHMS, datasets=("tiny", "other"), trials=TRIALS)


@pytest.mark.skipif(sys.platform != "linux", reason="finds the workers through /proc")
def test_killed_and_resumed_it_ends_with_the_same_table(tmp_path, monkeypatch):
    announce_metrics(tmp_path, monkeypatch)
    write_plugin(tmp_path)
    tiny_data(tmp_path)
    tiny_data(tmp_path, "other", seed=9)
    run_study(study(tmp_path), tmp_path / "peaceful", workers=2)

    chance = random.Random(20)
    path = os.pathsep.join([os.environ.get("PYTHONPATH", ""), *sys.path, str(Path(__file__).parent)])
    environment = os.environ | {"PYTHONPATH": path}
    killed = {"driver": 0, "worker": 0}
    acknowledged: set[tuple[str, int]] = set()
    while sum(killed.values()) < KILLS:
        driver = subprocess.Popen(
            [sys.executable, "-c", DRIVER, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=environment
        )
        assert driver.stdout is not None
        alive = True
        while alive and sum(killed.values()) < KILLS:
            for _ in range(chance.randint(1, 5)):
                alive = alive and driver.stdout.readline() not in ("", "end\n")
            time.sleep(chance.random() * 0.04)
            if not alive:
                break
            victim = "driver" if chance.random() < 0.45 else "worker"
            processes = [driver.pid] if victim == "driver" else children_of(driver.pid)
            if processes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(chance.choice(processes), signal.SIGKILL)
                    killed[victim] += 1
            alive = victim == "worker"
        driver.kill()
        driver.wait()
        driver.stdout.close()
        _nobody_is_left(driver.pid)
        with Store.open(tmp_path / "killed") as store:
            kept = set(store.trials().select("cell", "number").iter_rows())
        assert acknowledged <= kept
        acknowledged = kept
        assert len(acknowledged) < 2 * 2 * TRIALS, f"the study ended after {killed}, before its time"
    assert killed["driver"] >= 4
    assert killed["worker"] >= 4

    record = run_study(study(tmp_path), tmp_path / "killed", workers=2)
    assert (record.done, record.failed) == (6, ())
    assert numbers(tmp_path / "killed") == numbers(tmp_path / "peaceful")
    left = [path for path in (tmp_path / "killed").glob("*/*") if path.name.startswith(".")]
    assert left == []


def _nobody_is_left(driver):
    for _ in range(100):
        if not children_of(driver):
            return
        time.sleep(0.05)
    pytest.fail(f"processes {children_of(driver)} outlive their driver")
