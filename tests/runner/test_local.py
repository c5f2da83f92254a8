"""The local executor, without processes: what it hears, when it ends a job, and what it makes of an end."""

from __future__ import annotations

import io
import json
import math
import os
import signal
import sys
from types import SimpleNamespace

import pytest

from recassay.core.errors import RecAssayError
from recassay.runner import local
from recassay.runner.gpus import GpuPlaces
from recassay.runner.jobs import Job, JobQueue, Outcome, Watcher
from recassay.runner.local import LocalExecutor, _Running, _Slot

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

NOW = 100.0


class Watch(Watcher):
    def __init__(self):
        self.starts, self.events, self.ends = [], [], []

    def started(self, job):
        self.starts.append(job.id)

    def event(self, job, event):
        self.events.append((job.id, event))

    def finished(self, job, outcome):
        self.ends.append((job.id, outcome))


class Process:
    """Stands for a worker process."""

    def __init__(self, code=None):
        self.code, self.returncode, self.killed, self.stdin, self.stdout = code, 7, 0, io.BytesIO(), None

    def poll(self):
        return self.code

    def wait(self, timeout=None):
        return self.returncode

    def kill(self):
        self.killed += 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


@pytest.fixture
def killed(monkeypatch):
    """The groups of processes that were killed; the time stands still."""
    groups = []
    monkeypatch.setattr(local.os, "killpg", lambda group, how: groups.append((group, how)))
    monkeypatch.setattr(local.time, "monotonic", lambda: NOW)
    return groups


@pytest.fixture
def executor(tmp_path, killed):
    made = LocalExecutor(2, tmp_path / "logs", gpus=GpuPlaces(["0", "1"]))
    made.fork = True
    with made:
        yield made
        made._slots.clear()


def job(name="j", **more):
    return Job(name, "m:f", lambda: {"x": 1}, **more)


def slot_of(one, *, attempts=1, fruitless=0, process=None, **more):
    running = _Running(one, attempts, fruitless, began=90.0, token="T:", pid=55)
    for name, value in more.items():
        setattr(running, name, value)
    return _Slot(process or Process(), ready=True, running=running)


ANSWER, VERDICT = Outcome("done", record={"y": 2}), Outcome("timeout", reason="late")
OUTSIDE = "its process was killed from outside 3 times in a row (the system may be out of memory)"


@pytest.mark.parametrize(
    ("code", "more", "status", "reason"),
    [
        (0, {"answer": ANSWER}, "done", None),
        (1, {"answer": ANSWER}, "crashed", "its process ended with exit code 1 without an answer"),
        (-signal.SIGSEGV, {}, "crashed", "its process ended by SIGSEGV without an answer"),
        (0, {"answer": ANSWER, "verdict": VERDICT}, "timeout", "late"),
        (-signal.SIGKILL, {"verdict": VERDICT}, "timeout", "late"),
        (-signal.SIGKILL, {"fruitless": 2}, "crashed", OUTSIDE),
        (0, {}, "crashed", "its process ended with exit code 0 without an answer"),
    ],
)
def test_how_a_job_ended(executor, code, more, status, reason):
    slot, watch, queue = slot_of(job(), attempts=4, peak=9, **more), Watch(), JobQueue()
    executor._conclude(slot, code, queue, watch)
    ((name, outcome),) = watch.ends
    assert (name, outcome.status, outcome.seconds, outcome.attempts, outcome.peak_memory) == ("j", status, 10.0, 4, 9)
    assert (outcome.reason or "").startswith(reason or "")
    assert outcome.record == ({"y": 2} if status == "done" else None)
    assert slot.running is None
    assert not queue


def test_a_job_that_is_killed_from_outside_goes_before_all_that_wait(executor):
    queue, watch = JobQueue([job("other", priority=50.0)]), Watch()
    executor._conclude(slot_of(job(), attempts=5, fruitless=1, answer=ANSWER), -signal.SIGKILL, queue, watch)
    assert watch.ends == []
    again = queue.take()
    assert (again.id, again.priority) == ("j", math.inf)
    slot = _Slot(Process(), ready=True)
    executor._start(slot, again, watch)
    assert (slot.running.attempts, slot.running.fruitless) == (6, 2)
    other = _Slot(Process(), ready=True)
    executor._start(other, again, watch)
    assert (other.running.attempts, other.running.fruitless) == (1, 0), "what was lost counts once"


def test_a_log_in_which_nothing_stands_is_removed(executor, tmp_path):
    for name, text in (("quiet", ""), ("loud", "x")):
        (tmp_path / "logs" / f"{name}.log").write_text(text)
        executor._conclude(slot_of(job(name), answer=ANSWER), 0, JobQueue(), Watch())
    assert [file.name for file in (tmp_path / "logs").glob("*.log")] == ["loud.log"]


def test_jobs_that_want_a_gpu_hold_one_until_they_end(executor, tmp_path):
    watch, slots = Watch(), [_Slot(Process(), ready=True) for _ in range(3)]
    on_gpu, plain = job("g", gpu=True), job("p", memory=3)
    for slot, one in zip(slots, (on_gpu, plain, on_gpu), strict=True):
        assert executor._can_start(one)
        executor._start(slot, one, watch)
    requests = [json.loads(slot.process.stdin.getvalue()) for slot in slots]
    assert [request.get("environment") for request in requests] == [
        {"CUDA_VISIBLE_DEVICES": "0"}, None, {"CUDA_VISIBLE_DEVICES": "1"},
    ]  # fmt: skip
    token = requests[1].pop("token")
    assert requests[1] == {"function": "m:f", "payload": {"x": 1}, "log": str(tmp_path / "logs" / "p.log")}
    assert token == slots[1].running.token
    assert len({request.get("token", token) for request in requests}) == 3
    assert watch.starts == ["g", "p", "g"]
    assert (executor._can_start(on_gpu), executor._can_start(plain)) == (False, True)
    executor._conclude(slots[0], 3, JobQueue(), watch)
    assert executor._can_start(on_gpu)
    assert slots[0].gpu is None
    executor._conclude(slots[1], 3, JobQueue(), watch)
    assert executor.gpus.find(None) == "0"
    assert LocalExecutor(1, tmp_path)._can_start(on_gpu), "without any, all jobs are alike"


def test_what_a_job_says_is_an_event_its_answer_or_its_end(executor, killed):
    slot, watch = slot_of(job(), fruitless=1), Watch()
    running = slot.running
    for said in ({"event": {"half": 1}}, {"event": "no mapping"}, {"pid": 99}, {"status": "done", "record": {}}):
        executor._hear(slot, running, f"T:{json.dumps(said)}", watch)
    assert watch.events == [("j", {"half": 1})]
    assert (running.fruitless, running.pid, running.answer) == (1, 55, Outcome("done", record={}))
    executor._hear(slot, running, 'T:{"event": {"trial": 3}}', watch)
    assert running.fruitless == -1, "it got on: its next starts count from the first"
    assert killed == []
    executor._hear(slot, running, '{"event": {"half": 2}}', watch)
    assert running.verdict == Outcome(
        "crashed", reason="""it wrote into the channel of its process: '{"event": {"half": 2}}'"""
    )
    assert killed == [(55, signal.SIGKILL)]
    executor._hear(slot, running, 'T:{"event": {"half": 3}}', watch)
    assert len(watch.events) == 2, "nothing that it says afterwards counts"
    executor.fork = False
    fresh = slot_of(job(), began=1.0)
    executor._hear(fresh, fresh.running, 'T:{"pid": 99}', watch)
    assert (fresh.running.pid, fresh.running.began) == (99, NOW)


@pytest.mark.parametrize(
    ("limits", "held", "verdict"),
    [
        ({"seconds": 10.0, "memory": 5}, 5, None),
        ({"seconds": 9.5, "memory": 5}, 9, ("timeout", "ran longer than the 9.5 seconds of budget.seconds_per_cell")),
        ({"seconds": 0.0}, 9, ("timeout", "ran longer than the 0 seconds of budget.seconds_per_cell")),
        ({"memory": 2_000_000_000}, 2_500_000_000,
         ("memory", "held 2.5 GB, more than the 2 GB of budget.memory_gb")),
        ({}, 9_000_000_000, None),
    ],
)  # fmt: skip
def test_a_job_is_ended_beyond_its_limits_and_not_at_them(executor, monkeypatch, killed, limits, held, verdict):
    monkeypatch.setattr(local, "tree_bytes", lambda pid: {55: held}[pid])
    slot = slot_of(job(**limits))
    executor._slots = [_Slot(Process()), slot]
    executor._enforce()
    found = slot.running.verdict
    assert (found and (found.status, found.reason)) == verdict
    assert killed == ([] if verdict is None else [(55, signal.SIGKILL)])
    assert slot.running.peak == held
    monkeypatch.setattr(local, "tree_bytes", lambda pid: 1)
    executor._enforce()
    assert slot.running.peak == held
    assert len(killed) == (verdict is not None)


def test_limits_begin_with_the_process_of_the_job(executor, monkeypatch, killed):
    monkeypatch.setattr(local, "tree_bytes", lambda pid: 9)
    early = slot_of(job(seconds=1.0), pid=None)
    orphaned = slot_of(job(seconds=1.0), process=Process(code=1))
    executor._slots = [early, orphaned]
    executor._enforce()
    assert (early.running.verdict, orphaned.running.verdict) == (None, None)
    assert killed == [(55, signal.SIGKILL)], "what a job left behind that lost its worker"


@pytest.fixture
def reads(executor):
    """`reads(slot, bytes)`: what the executor makes of what a worker wrote; None in place of bytes: its end."""
    mouths = {}

    def read(slot, said, watch):
        if slot.process.stdout is None:
            ear, mouth = os.pipe()
            mouths[ear] = mouth
            slot.process.stdout = SimpleNamespace(fileno=lambda: ear)
            executor._slots.append(slot)
            executor._selector.register(ear, local.selectors.EVENT_READ, slot)
        if said is None:
            os.close(mouths[slot.output])
            mouths[slot.output] = None
        else:
            os.write(mouths[slot.output], said)
        return executor._read(slot, watch)

    yield read
    for end in filter(None, (*mouths, *mouths.values())):
        os.close(end)


def test_what_a_worker_says_of_itself_and_of_its_job(executor, reads):
    watch, slot = Watch(), slot_of(job(), pid=None, began=1.0)
    slot.ready, executor._failed_starts = False, 2
    assert reads(slot, b'{"ready": true}\n{"pid": 4', watch) is None
    assert (slot.ready, executor._failed_starts, slot.running.pid) == (True, 0, None)
    assert reads(slot, b'2}\nno JSON\n{"said": "T:{\\"event\\": {\\"a\\": 1}}"}\n', watch) is None
    assert (slot.running.pid, slot.running.began, watch.events) == (42, NOW, [("j", {"a": 1})])
    assert reads(slot, b'{"exit": -11}\n', watch) == -11
    idle = _Slot(Process(), ready=True)
    assert reads(idle, b'{"pid": 3}\n{"said": "late"}\n{"exit": 0}\n', watch) == 0
    assert executor._slots == [slot, idle]


def test_a_worker_that_is_gone_is_forgotten_and_its_job_was_killed_from_outside(executor, reads):
    watch, slot = Watch(), slot_of(job())
    assert reads(slot, None, watch) == -signal.SIGKILL
    assert executor._slots == []
    assert slot.process.killed == 1
    assert executor._failed_starts == 0
    executor.fork = False
    alone = slot_of(job())
    assert reads(alone, None, watch) == 7, "the exit code of the process that was the job"


def test_workers_that_end_before_they_are_ready_are_given_up_at_the_third(executor, reads, tmp_path):
    for _ in range(2):
        reads(_Slot(Process()), None, Watch())
    with pytest.raises(RecAssayError, match=r"worker\.log: worker processes end before they are ready \(exit code 7\)"):
        reads(_Slot(Process()), None, Watch())


@pytest.mark.parametrize("fork", [True, False])
def test_how_a_worker_process_is_started(executor, monkeypatch, tmp_path, fork):
    started = []

    def popen(command, **more):
        started.append((command, more))
        process = Process()
        process.stdout = SimpleNamespace(fileno=lambda: ear)
        return process

    ear, mouth = os.pipe()
    monkeypatch.setattr(local.subprocess, "Popen", popen)
    monkeypatch.setenv("PYTHONPATH", "/mine")
    executor.fork, executor.threads, executor.preload = fork, 3, ("a", "b")
    executor._hire()
    ((command, more),) = started
    ending = ["--preload", "a,b"] if fork else ["--once"]
    assert command == [sys.executable, "-P", "-m", "recassay.runner.worker", "--driver", str(os.getpid()), *ending]
    assert more["start_new_session"] is True
    assert more["stderr"].name == str(tmp_path / "logs" / "worker.log")
    environment = more["env"]
    assert {environment[name] for name in local.THREAD_VARIABLES} == {"3"}
    assert environment["PYTHONHASHSEED"] == "0"
    home = str(local.Path(local.__file__).resolve().parents[2])
    assert environment["PYTHONPATH"] == f"/mine{os.pathsep}{home}"
    assert [slot.ready for slot in executor._slots] == [not fork]
    for place in ("site-packages", "dist-packages"):  # what is installed is found there, and need not be named
        executor._selector.unregister(ear)
        monkeypatch.setattr(local, "__file__", f"/usr/lib/{place}/recassay/runner/local.py")
        executor._hire()
        assert started[-1][1]["env"]["PYTHONPATH"] == "/mine"
    executor._selector.unregister(ear)
    os.close(ear)
    os.close(mouth)


def test_a_job_without_a_process_of_its_own_ends_with_its_worker(executor, killed, monkeypatch):
    early = slot_of(job(), pid=None)
    local._kill(early)
    assert (early.process.killed, killed) == (1, [])
    idle = _Slot(Process(), ready=True)
    local._kill(idle)
    assert idle.process.killed == 1

    def gone(group, how):
        raise ProcessLookupError

    monkeypatch.setattr(local.os, "killpg", gone)
    late = slot_of(job())
    local._kill(late)
    assert late.process.killed == 0, "it ended by itself"


@pytest.mark.parametrize("fork", [True, False])
def test_a_worker_is_given_time_to_end_what_its_job_started_and_then_killed(executor, killed, monkeypatch, fork):
    waited = []

    def wait(timeout=None):
        waited.append(timeout)
        raise local.subprocess.TimeoutExpired("worker", timeout)

    executor.fork = fork
    slot, idle = slot_of(job()), _Slot(Process(), ready=True)
    for one in (slot, idle):
        monkeypatch.setattr(one.process, "wait", wait)
        executor._end(one)
        assert one.process.stdin.closed
        assert one.process.killed == 1
    assert waited == ([local.END_SECONDS] * 2 if fork else [])
    assert killed == [(55, signal.SIGKILL)], "the job of the one that was at work"


def test_as_many_workers_are_started_as_were_asked_for(executor, monkeypatch, tmp_path):
    monkeypatch.setattr(executor, "_hire", lambda: executor._slots.append(_Slot(Process())))
    watch = Watch()
    executor.run([job()], watch, unwanted=lambda: True)
    assert len(executor._slots) == 2
    assert (watch.starts, watch.ends) == ([], []), "none is ready, and nobody wants the run any more"
    executor.run([], watch)
    with LocalExecutor(1, tmp_path / "logs") as again:  # a folder that is there already
        assert again.logs.is_dir()


def test_a_process_has_one_thread_unless_the_driver_gives_it_more(tmp_path):
    assert LocalExecutor(2, tmp_path / "logs").threads == 1
