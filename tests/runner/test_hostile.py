"""Plugins that misbehave: each becomes a row with its own message, and the others complete."""

from __future__ import annotations

import re
import sys
from dataclasses import replace

import pytest

from recassay.recommenders.study import run_study
from recassay.runner.jobs import Job
from recassay.runner.local import LocalExecutor
from recassay.store import Store
from support.run import tiny_folder, tiny_study

HOSTILE = {
    "Raises": ("failed", r"ValueError: the matrix is singular (fakes.py, line"),
    "Hangs": ("timeout", "ran longer than the 15 seconds of budget.seconds_per_cell"),
    "Eats": ("memory", "more than the 0.7 GB of budget.memory_gb"),
    "Huge": ("over_budget", "would need about 1e+06 GB, and budget.memory_gb is 0.7"),
    "Seen": ("failed", "names the excluded item"),
    "Shapes": ("failed", "recommend returned lists of shape"),
    "Nan": ("failed", "is NaN"),
    "Leaves": ("crashed", "ended with exit code 3 without an answer"),
    "Exits": ("failed", "the algorithm tried to end the process (SystemExit: good bye"),
    "Segfaults": ("crashed", "ended by SIGSEGV without an answer"),
    "Writes": ("failed", "read-only"),
    "Missing": ("failed", "Missing"),
    "Unsure": ("failed", "its memory_bytes returned nan, which is not a number of bytes"),
}
GOOD = ("Fake", "Pop", "Talks")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    tiny_folder(folder)
    names = ("Fake", *HOSTILE, "Pop", "Talks")
    spec = tiny_study(folder, names, trials=2, seconds_per_cell=15.0, memory_gb=0.7)
    record = run_study(spec, folder / "out", workers=2)
    return folder, spec, record


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are watched through /proc")
@pytest.mark.parametrize("name", HOSTILE)
def test_each_has_its_own_message(study, name):
    *_, record = study
    cell = next(cell for cell in record.failed if cell.algorithm == name)
    status, message = HOSTILE[name]
    assert message in cell.reason
    assert cell.status == status
    assert "\n" not in cell.reason


def test_the_others_complete(study):
    folder, _, record = study
    assert record.done == len(GOOD)
    assert record.planned == len(GOOD) + len(HOSTILE)
    with Store.open(folder / "out") as store:
        frame = store.results().frame.filter(metric="ndcg@10")
        assert frame.drop_nulls()["algorithm"].sort().to_list() == sorted(GOOD)
        assert frame.height == len(GOOD) + len(HOSTILE)
        talks = next(cell.id for cell in store.cells() if cell.algorithm == "Talks")
    assert "garbage" in (folder / "out" / "logs" / f"{talks}.log").read_text()


def test_failed_cells_are_run_again_only_when_asked(study):
    folder, spec, _ = study
    quick = spec.model_copy(update={"algorithms": tuple(a for a in spec.algorithms if a.name in ("Pop", "Raises"))})
    assert run_study(quick, folder / "out", workers=1).ran == 0
    again = run_study(quick, folder / "out", workers=1, retry_failed=True)
    assert (again.ran, again.done, len(again.failed)) == (1, 1, 1)


class Watch:
    def __init__(self):
        self.outcomes, self.events, self.starts = {}, [], []

    def started(self, job):
        self.starts.append(job.id)

    def event(self, job, event):
        self.events.append((job.id, event))

    def finished(self, job, outcome):
        self.outcomes[job.id] = outcome


JOBS = """
import os, signal
def square(spec, emit):
    emit({"half": spec["x"]})
    threads = {os.environ[name] for name in os.environ if name.endswith("_THREADS")}
    names = sorted(name for name in os.environ if name.endswith("_THREADS"))
    print("said", spec["x"])
    return {"square": spec["x"] ** 2, "threads": sorted(threads), "names": names, "pid": os.getpid(),
            "hashes": os.environ["PYTHONHASHSEED"]}
def suicide(spec, emit):
    os.kill(os.getpid(), signal.SIGKILL)
def worker_dies(spec, emit):
    os.kill(os.getppid(), signal.SIGKILL)
    signal.pause()
def intruder(spec, emit):
    for descriptor in range(3, 30):
        try:
            os.write(descriptor, b"garbage\\n[1]\\n{}\\n")
        except OSError:
            pass
    return {"fine": True}
def leaves_a_child(spec, emit):
    if os.fork() == 0:
        signal.pause()
    os.kill(os.getppid(), signal.SIGKILL)
    signal.pause()
def not_plain(spec, emit):
    return {"value": float("nan")}
def stubborn(spec, emit):
    with open(spec["file"], "a") as file:
        file.write("x")
    with open(spec["file"]) as file:
        starts = len(file.read())
    emit({"trial": {"number": starts}})
    if starts < 6:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"starts": starts}
def sleeper(spec, emit):
    signal.pause()
def hog(spec, emit):
    held = bytearray(b"x") * 300_000_000
    signal.pause()
def leaver(spec, emit):
    raise SystemExit(3)
def talkative(spec, emit):
    emit({"text": "x" * 300_000})
    return {}
"""


@pytest.fixture
def jobs(tmp_path, monkeypatch):
    (tmp_path / "some_jobs.py").write_text(JOBS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    return lambda id, name, **spec: Job(id, f"some_jobs:{name}", lambda: spec)


def test_any_function_from_spec_to_record_is_a_job(jobs, tmp_path):
    watch = Watch()
    with LocalExecutor(2, tmp_path / "logs", threads=3) as executor:
        executor.run([jobs(f"j{n}", "square", x=n) for n in range(5)], watch)
        executor.run([jobs("long", "talkative")], watch)
    records = [watch.outcomes[f"j{n}"].record for n in range(5)]
    assert [record["square"] for record in records] == [0, 1, 4, 9, 16]
    assert all(record["threads"] == ["3"] and record["hashes"] == "0" for record in records)
    assert {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS",
            "RAYON_NUM_THREADS"} <= set(records[0]["names"])  # fmt: skip
    assert (tmp_path / "logs" / "j3.log").read_text() == "said 3\n"
    assert len({record["pid"] for record in records}) == 5
    assert sorted(watch.events[:5], key=str) == [(f"j{n}", {"half": n}) for n in range(5)]
    assert len(watch.events[5][1]["text"]) == 300_000


@pytest.mark.skipif(sys.platform != "linux", reason="kills by signal")
@pytest.mark.parametrize("name", ["suicide", "worker_dies", "leaves_a_child"])
def test_a_job_that_is_killed_from_outside_is_tried_three_times(jobs, tmp_path, name):
    watch = Watch()
    with LocalExecutor(1, tmp_path / "logs") as executor:
        executor.run([jobs("bad", name), jobs("good", "square", x=3)], watch)
    assert watch.starts == ["bad", "bad", "bad", "good"]
    bad = watch.outcomes["bad"]
    assert (bad.status, bad.attempts) == ("crashed", 3)
    assert "killed from outside 3 times" in bad.reason
    assert watch.outcomes["good"].status == "done"


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are watched through /proc")
def test_limits_are_told_with_their_numbers(jobs, tmp_path):
    watch = Watch()
    wanted = [
        replace(jobs("slow", "sleeper"), seconds=0.3),
        replace(jobs("large", "hog"), memory=200_000_000, seconds=60.0),
        jobs("gone", "leaver"),
    ]
    with LocalExecutor(1, tmp_path / "logs") as executor:
        executor.run(wanted, watch)
    slow, large, gone = (watch.outcomes[name] for name in ("slow", "large", "gone"))
    assert (slow.status, slow.reason) == ("timeout", "ran longer than the 0.3 seconds of budget.seconds_per_cell")
    assert 0.3 < slow.seconds < 30
    assert large.status == "memory"
    assert re.fullmatch(r"held 0\.\d+ GB, more than the 0\.2 GB of budget\.memory_gb", large.reason)
    assert large.peak_memory > 200_000_000
    assert (gone.status, gone.attempts) == ("failed", 1)
    assert gone.reason.startswith("the algorithm tried to end the process (SystemExit: 3 (some_jobs.py, line ")
    assert "leaver" in gone.detail
    assert not (tmp_path / "logs" / "slow.log").exists()  # it said nothing


def test_a_run_that_nobody_wants_any_more_ends_without_a_report(jobs, tmp_path):
    watch = Watch()
    with LocalExecutor(1, tmp_path / "logs") as executor:
        executor.run([jobs("slow", "sleeper"), jobs("next", "square", x=1)], watch, unwanted=lambda: bool(watch.starts))
    assert watch.starts == ["slow"]
    assert watch.outcomes == {}


@pytest.mark.skipif(sys.platform != "linux", reason="kills by signal")
def test_a_job_that_gets_on_is_started_as_often_as_it_takes(jobs, tmp_path):
    watch = Watch()
    with LocalExecutor(1, tmp_path / "logs") as executor:
        executor.run([jobs("slow", "stubborn", file=str(tmp_path / "starts"))], watch)
    assert watch.outcomes["slow"].record == {"starts": 6}
    assert watch.outcomes["slow"].attempts == len(watch.starts) == 6


def test_what_a_job_writes_into_the_channel_ends_its_own_cell_and_a_record_must_be_plain(jobs, tmp_path):
    watch = Watch()
    with LocalExecutor(1, tmp_path / "logs") as executor:
        executor.run([jobs("nan", "not_plain"), jobs("bad", "intruder"), jobs("good", "square", x=3)], watch)
    assert watch.outcomes["nan"].status == "failed"
    assert "not JSON compliant" in watch.outcomes["nan"].reason
    assert watch.outcomes["bad"].status == "crashed"
    assert "wrote into the channel" in watch.outcomes["bad"].reason
    assert watch.outcomes["good"].record["square"] == 9


def test_workers_that_cannot_start_are_one_error(jobs, tmp_path, monkeypatch):
    monkeypatch.setattr("recassay.runner.local.FORKS", True)
    from recassay.core.errors import RecAssayError

    with (
        LocalExecutor(1, tmp_path / "logs", preload=["no_such_module"]) as executor,
        pytest.raises(RecAssayError, match=r"worker\.log: worker processes end before they are ready"),
    ):
        executor.run([jobs("j", "square", x=1)], Watch())
    assert "no_such_module" in (tmp_path / "logs" / "worker.log").read_text()
