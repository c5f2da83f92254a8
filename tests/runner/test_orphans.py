"""Nothing that a job started outlives it, and no job speaks in the driver's voice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recassay.runner.jobs import Job
from recassay.runner.local import LocalExecutor

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sessions, /proc and signals of Linux")

JOBS = '''
import os, signal, subprocess, sys, threading, time

SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)"]

def _sleepers(spec):
    """One in the job's own session, one in a session of its own, one that is nobody's child, one from a thread."""
    found = [subprocess.Popen(SLEEPER).pid, subprocess.Popen(SLEEPER, start_new_session=True).pid]
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        os.write(write, str(subprocess.Popen(SLEEPER, start_new_session=True, env={}).pid).encode())
        os._exit(0)
    found.append(int(os.read(read, 20)))
    thread = threading.Thread(target=lambda: found.append(subprocess.Popen(SLEEPER, start_new_session=True).pid))
    thread.start()
    thread.join()
    with open(spec["pids"], "a") as file:
        file.write("".join(f"{pid}\\\\n" for pid in found))

def returns(spec, emit):
    _sleepers(spec)
    return {}

def raises(spec, emit):
    _sleepers(spec)
    raise ValueError("no luck")

def crashes(spec, emit):
    _sleepers(spec)
    os.abort()

def hangs(spec, emit):
    _sleepers(spec)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)

def eats(spec, emit):
    """The child of a thread holds the memory, not the job."""
    code = "import time; x = bytearray(300_000_000); time.sleep(600)"
    def start():
        subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
        time.sleep(600)
    threading.Thread(target=start, daemon=True).start()
    time.sleep(600)

def forges(spec, emit):
    for descriptor in range(3, 40):
        try:
            os.write(descriptor, spec["line"].encode() + b"\\\\n")
        except OSError:
            pass
    time.sleep(600)

def square(spec, emit):
    return {"square": spec["x"] ** 2}
'''.replace("\\\\n", "\\n")


class Watch:
    def __init__(self):
        self.outcomes, self.events = {}, []

    def started(self, job):
        pass

    def event(self, job, event):
        self.events.append(event)

    def finished(self, job, outcome):
        self.outcomes[job.id] = outcome


@pytest.fixture
def jobs(tmp_path, monkeypatch):
    (tmp_path / "orphan_jobs.py").write_text(JOBS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    return lambda id, name, seconds=None, memory=None, **spec: Job(
        id, f"orphan_jobs:{name}", lambda: spec, seconds, memory
    )


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _all_gone(file: Path, expected: int) -> bool:
    pids = [int(line) for line in file.read_text().split()]
    assert len(pids) == expected
    for _ in range(100):
        if not any(map(_alive, pids)):
            return True
        time.sleep(0.05)
    for pid in filter(_alive, pids):
        os.kill(pid, signal.SIGKILL)
    return False


@pytest.mark.parametrize(("name", "status"), [("returns", "done"), ("raises", "failed"), ("crashes", "crashed")])
def test_what_a_job_started_ends_with_it(jobs, tmp_path, name, status):
    watch = Watch()
    with LocalExecutor(1, tmp_path / "logs") as executor:
        executor.run([jobs("j", name, pids=str(tmp_path / "pids")), jobs("next", "square", x=3)], watch)
        assert _all_gone(tmp_path / "pids", 4)
    assert watch.outcomes["j"].status == status
    assert watch.outcomes["next"].record == {"square": 9}


def test_a_job_beyond_its_time_leaves_nothing(jobs, tmp_path):
    watch = Watch()
    with LocalExecutor(1, tmp_path / "logs") as executor:
        executor.run([jobs("j", "hangs", seconds=3.0, pids=str(tmp_path / "pids"))], watch)
    assert watch.outcomes["j"].status == "timeout"
    assert _all_gone(tmp_path / "pids", 4)


def test_the_memory_of_a_child_that_a_thread_started_counts(jobs, tmp_path):
    watch = Watch()
    with LocalExecutor(1, tmp_path / "logs") as executor:
        executor.run([jobs("j", "eats", seconds=60.0, memory=250_000_000)], watch)
    assert watch.outcomes["j"].status == "memory"


DRIVER = """
import sys
from pathlib import Path
from recassay.runner.jobs import Job
from recassay.runner.local import LocalExecutor

class Watch:
    started = event = finished = lambda self, *_: None

folder = Path(sys.argv[1])
with LocalExecutor(1, folder / "logs") as executor:
    executor.run([Job("j", "orphan_jobs:hangs", lambda: {"pids": str(folder / "pids")})], Watch())
"""


@pytest.mark.parametrize("signal_", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_after_the_driver_nothing_runs_on(jobs, tmp_path, signal_):
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, str(tmp_path)], stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            if (tmp_path / "pids").is_file() and (tmp_path / "pids").read_text().count("\n") == 4:
                break
            time.sleep(0.05)
        driver.send_signal(signal_)
        driver.wait(20)
    finally:
        driver.kill()
        driver.wait()
    assert _all_gone(tmp_path / "pids", 4)


@pytest.mark.parametrize(
    "line",
    [
        json.dumps({"record": {"metrics": {"ndcg@10": 1.0}}}),
        json.dumps({"exit": 0}),
        json.dumps({"ready": True}),
        json.dumps({"pid": 1}),
        json.dumps({"said": "{}"}),
        json.dumps({"event": {"trial": {}}}),
        "no JSON \x1b[31m",
        "",
    ],
)
def test_a_job_that_speaks_in_the_drivers_voice_ends_alone(jobs, tmp_path, line):
    watch = Watch()
    with LocalExecutor(1, tmp_path / "logs") as executor:
        executor.run([jobs("bad", "forges", line=line), jobs("good", "square", x=3)], watch)
    assert watch.outcomes["bad"].status == "crashed"
    assert "channel" in watch.outcomes["bad"].reason
    assert "\x1b" not in watch.outcomes["bad"].reason
    assert watch.outcomes["good"].record == {"square": 9}
    assert watch.events == []
