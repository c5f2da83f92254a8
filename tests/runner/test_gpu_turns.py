"""Jobs that want a GPU share it by its memory or take turns on it, while the others fill the processes."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from recassay.core.specs.study import AlgorithmSpec
from recassay.recommenders.dispatch import wants_gpu
from recassay.runner.cluster import DaskExecutor
from recassay.runner.gpus import PROCESS_BYTES, GpuPlaces
from recassay.runner.jobs import Job, Outcome
from recassay.runner.local import LocalExecutor

JOBS = """
import os, time

def look(spec, emit):
    begin = time.monotonic()
    time.sleep(0.1)
    return {"gpu": os.environ.get("CUDA_VISIBLE_DEVICES"), "from": begin, "to": time.monotonic()}

def show(spec, emit):
    open(spec["mark"], "w").close()
    return look(spec, emit)

def meet(spec, emit):
    open(spec["own"], "w").close()
    while sum(name.endswith(".mark") for name in os.listdir(spec["folder"])) < 2:
        time.sleep(0.01)
    return look(spec, emit)

def wait(spec, emit):
    while not os.path.exists(spec["mark"]):
        time.sleep(0.01)
    return look(spec, emit)
"""


class Watch:
    def __init__(self) -> None:
        self.order: list[str] = []
        self.records: dict[str, Any] = {}

    def started(self, job: Job) -> None:
        self.order.append(job.id)

    def event(self, job: Job, event: Any) -> None:
        pass

    def finished(self, job: Job, outcome: Outcome) -> None:
        assert outcome.status == "done", outcome
        self.records[job.id] = outcome.record


@pytest.fixture
def jobs(tmp_path, monkeypatch):
    (tmp_path / "looking.py").write_text(JOBS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    on_gpu = [Job(f"gpu{n}", "looking:look", dict, gpu=True) for n in range(3)]
    return [*on_gpu, *(Job(f"cpu{n}", "looking:look", dict) for n in range(3))]


def overlaps(one: dict[str, float], other: dict[str, float]) -> bool:
    return one["from"] < other["to"] and other["from"] < one["to"]


def test_one_job_at_a_time_on_a_gpu_and_the_others_go_on(jobs, tmp_path):
    watch, mark = Watch(), {"mark": str(tmp_path / "mark")}
    # The first on the GPU ends when one without it has begun, however late the second process starts.
    jobs[0], jobs[3] = (
        replace(job, function=f"looking:{name}", payload=lambda: mark)
        for job, name in ((jobs[0], "wait"), (jobs[3], "show"))
    )
    with LocalExecutor(2, tmp_path / "logs", gpus=GpuPlaces(["5"])) as executor:
        executor.run(jobs, watch)
    found = [watch.records[f"gpu{n}"] for n in range(3)]
    assert {record["gpu"] for record in found} == {"5"}
    assert not any(overlaps(found[a], found[b]) for a, b in ((0, 1), (0, 2), (1, 2)))
    assert {watch.records[f"cpu{n}"]["gpu"] for n in range(3)} == {None}
    assert watch.order.index("cpu0") < watch.order.index("gpu2")


def test_jobs_whose_needs_fit_are_on_a_gpu_at_once(tmp_path, jobs):
    """Each of the two ends when the other has begun."""
    watch = Watch()
    marks = [{"own": str(tmp_path / f"{n}.mark"), "folder": str(tmp_path)} for n in range(2)]
    meeting = [
        replace(job, function="looking:meet", payload=lambda spec=spec: spec, gpu_need=lambda: 10)
        for job, spec in zip(jobs, marks, strict=False)
    ]
    with LocalExecutor(2, tmp_path / "logs", gpus=GpuPlaces(["5"], {"5": 3 * PROCESS_BYTES})) as executor:
        executor.run(meeting, watch)
    assert [record["gpu"] for record in watch.records.values()] == ["5", "5"]


@pytest.mark.slow
def test_several_places_and_none(jobs, tmp_path):
    watch = Watch()
    with LocalExecutor(3, tmp_path / "logs", gpus=GpuPlaces(["0", "1"])) as executor:
        executor.run(jobs, watch)
    assert {watch.records[f"gpu{n}"]["gpu"] for n in range(3)} == {"0", "1"}
    without = Watch()
    with LocalExecutor(2, tmp_path / "logs") as executor:
        executor.run(jobs, without)
    assert without.order == [job.id for job in jobs]
    assert {record["gpu"] for record in without.records.values()} == {None}


@pytest.mark.parametrize(("resources", "expected"), [({"GPU": 1.0}, {"GPU": 1}), ({}, None)])
def test_on_a_cluster_they_go_to_workers_that_have_one(jobs, tmp_path, resources, expected):
    asked: dict[str, Any] = {}

    class Client:
        status = "running"

        def submit(self, function, request, *, key, pure, resources, priority):
            asked[request["job"]] = resources
            answer = {"outcome": {"status": "done", "record": {}}, "events": []}
            future = SimpleNamespace(key=key, status="finished", result=lambda: answer)
            future.add_done_callback = lambda call: call(future)
            return future

        def scheduler_info(self, **_):
            return {"workers": {"a": {"resources": {}, "nthreads": 1}, "b": {"resources": resources, "nthreads": 1}}}

        def subscribe_topic(self, *_):
            pass

        unsubscribe_topic = cancel = subscribe_topic

    executor = DaskExecutor("tcp://none", tmp_path)
    executor._client = Client()
    executor.run(jobs, Watch())
    assert asked == {job.id: expected if job.gpu else None for job in jobs}


@pytest.mark.parametrize(
    ("reference", "settings", "expected"),
    [
        ("MultiVAE", {}, True),
        ("MultiVAE", {"device": "cpu"}, False),
        ("EASE", {}, True),
        ("EASE", {"device": "auto"}, True),
        ("EASE", {"device": "mps"}, False),
        ("MostPop", {}, False),
        ("./mine.py:Mine", {}, False),
        ("./mine.py:Mine", {"device": "cuda"}, True),
        ("./mine.py:Mine", {"device": "auto"}, True),
    ],
)
def test_what_wants_a_gpu(reference, settings, expected):
    assert wants_gpu(AlgorithmSpec(reference=reference, name="x", settings=settings)) is expected
