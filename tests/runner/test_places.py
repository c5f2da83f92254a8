"""What a cluster is sent, and when: a few jobs a worker, largest first, where there is a GPU or the memory."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from recassay.core.errors import InputError, MissingExtraError, RecAssayError
from recassay.runner import cluster_worker
from recassay.runner.cluster import DaskExecutor
from recassay.runner.jobs import Job, JobQueue, Outcome
from recassay.runner.places import AHEAD, Places


class Watch:
    def __init__(self, queue=None):
        self.ended, self.notes, self.waits, self.queue = [], [], [], queue
        self.told, self.outcomes = [], []

    def started(self, job: Job) -> None:
        self.told.append((job.id, "started"))

    def event(self, job: Job, event: Any) -> None:
        self.told.append((job.id, event))

    def finished(self, job, outcome):
        self.ended.append(job.id)
        self.outcomes.append(outcome)
        if self.queue is not None and job.id == "first":
            self.queue.add(Job("later", "m:f", dict))

    def waiting(self, reason: str) -> None:
        self.waits.append(reason)

    def note(self, said: str) -> None:
        self.notes.append(said)


class Client:
    """Answers the oldest job whenever another is submitted beyond the window, and the rest when none comes."""

    status = "running"
    dashboard_link = "http://10.0.0.1:8787/status"

    def __init__(self, workers, answer=None):
        self.workers = workers
        self.answer = answer or {"outcome": {"status": "done", "record": {}}, "events": []}
        self.asked, self.open, self.most = [], [], 0

    def submit(self, function, request, *, key, pure, resources, priority):
        self.asked.append((request["job"], resources, priority))
        future = SimpleNamespace(key=key, status="finished", result=lambda: self.answer)
        future.add_done_callback = lambda call: self.open.append(lambda: call(future))
        return future

    def scheduler_info(self, **_):
        self.most = max(self.most, len(self.open))
        while self.open:
            self.open.pop(0)()
        return {"workers": self.workers}

    def subscribe_topic(self, *_):
        pass

    unsubscribe_topic = cancel = subscribe_topic


def worker(**resources):
    return {"nthreads": 1, "resources": resources}


def run(monkeypatch, folder, client, jobs, watch):
    monkeypatch.setattr("recassay.runner.cluster.LOOK_SECONDS", 0.0)
    monkeypatch.setattr("recassay.runner.cluster.POLL_SECONDS", 0.001)
    executor = DaskExecutor("tcp://none", folder)
    executor._client = client
    executor.run(jobs, watch)


def jobs(n, **more):
    return [Job(f"j{i}", "m:f", dict, **more) for i in range(n)]


def test_a_few_jobs_a_worker_are_submitted_and_later_ones_come_in(monkeypatch, tmp_path):
    client = Client({"a": worker(), "b": worker()})
    queue = JobQueue([Job("first", "m:f", dict, priority=9.0), *jobs(20)])
    watch = Watch(queue)
    run(monkeypatch, tmp_path, client, queue, watch)
    assert client.most == 2 * AHEAD
    assert watch.ended[0] == "first"
    assert watch.ended[-1] == "later"
    assert len(watch.ended) == 22
    assert watch.notes == ["Dask's dashboard: http://10.0.0.1:8787/status"]


def test_memory_is_asked_for_where_workers_declare_it(monkeypatch, tmp_path):
    small = Job("small", "m:f", dict, need=lambda: 3_000_000_000)
    huge = Job("huge", "m:f", dict, need=lambda: 99_000_000_000)
    unknown = Job("unknown", "m:f", dict)
    on_gpu = Job("on_gpu", "m:f", dict, gpu=True, need=lambda: 1)
    declared = Client({"a": worker(MEMORY=8e9), "b": worker(MEMORY=64e9, GPU=1)})
    run(monkeypatch, tmp_path, declared, [small, huge, unknown, on_gpu], Watch())
    asked = {name: resources for name, resources, _ in declared.asked}
    assert asked == {
        "small": {"MEMORY": 3_000_000_000},
        "huge": {"MEMORY": 64_000_000_000},
        "unknown": None,
        "on_gpu": {"GPU": 1, "MEMORY": 1},
    }
    silent = Client({"a": worker()})
    run(monkeypatch, tmp_path, silent, [small, on_gpu], Watch())
    assert [resources for _, resources, _ in silent.asked] == [None, None]


def test_what_a_worker_is_told_of_a_job(monkeypatch, tmp_path):
    requests = []

    class Listening(Client):
        def submit(self, function, request, *, key, pure, **more):
            requests.append((request, key, pure, more))
            return super().submit(function, request, key=key, pure=pure, **more)

    job = Job("j0", "m:f", lambda: {"x": 1}, 9.0, 500, priority=4.0)
    monkeypatch.setattr("recassay.runner.cluster.LOOK_SECONDS", 0.0)
    monkeypatch.setattr("recassay.runner.cluster.POLL_SECONDS", 0.001)
    executor = DaskExecutor("tcp://none", tmp_path, threads=3, preload=["p"])
    executor._client = Listening({"a": worker()})
    executor.run([job], Watch())
    executor.run([job], Watch())
    ((request, key, pure, more), (again, *_)) = requests
    assert key == request["key"] != again["key"]
    assert (pure, more) == (False, {"resources": None, "priority": 4.0})
    topic = request["topic"]
    assert topic != again["topic"]
    assert request == {
        "key": key, "job": "j0", "function": "m:f", "payload": {"x": 1}, "seconds": 9.0, "memory": 500,
        "mark": str(tmp_path / "manifest.json"), "logs": str(tmp_path / "logs"), "threads": 3, "preload": ("p",),
        "topic": topic, "run": again["run"],
    }  # fmt: skip
    executor.run([], Watch())
    assert len(requests) == 2


def test_a_job_whose_only_worker_left_goes_to_another_one(monkeypatch, tmp_path):
    class Leaving(Client):
        cancelled = 0

        def submit(self, function, request, **more):
            if self.asked:
                return super().submit(function, request, **more)
            self.asked.append((request["job"], more["resources"], 0.0))
            self.workers = {"b": worker(MEMORY=1e9)}  # the worker with the GPU goes, and the job never ends
            return SimpleNamespace(key=more["key"], add_done_callback=lambda call: None)

        def cancel(self, futures):
            self.cancelled += len(futures)

    monkeypatch.setattr("recassay.runner.cluster.NO_WORKER_SECONDS", 0.01)
    client, watch = Leaving({"a": worker(GPU=1), "b": worker(MEMORY=1e9)}), Watch()
    run(monkeypatch, tmp_path, client, [Job("on_gpu", "m:f", dict, gpu=True)], watch)
    assert watch.ended == ["on_gpu"]
    assert [asked for _, asked, _ in client.asked] == [{"GPU": 1}, None]
    assert client.cancelled == 1
    assert len(watch.waits) == 1
    assert "no worker has what on_gpu asks for (GPU)" in watch.waits[0]


def test_jobs_for_few_workers_leave_room_for_the_others():
    places = Places({"a": worker(MEMORY=8e9), "b": worker(MEMORY=8e9), "c": worker(MEMORY=64e9, GPU=1)})
    large = [Job(f"large{i}", "m:f", dict, need=lambda: 50_000_000_000, priority=9.0) for i in range(9)]
    on_gpu = [Job(f"gpu{i}", "m:f", dict, gpu=True, priority=5.0) for i in range(9)]
    queue, sent = JobQueue([*large, *on_gpu, *jobs(9)]), []
    while (job := places.take(queue, sent)) is not None:
        sent.append(job)
    assert [job.id for job in sent] == ["large0", "large1", "gpu0", "gpu1", "j0", "j1"]


def test_room_for_jobs_grows_with_the_workers_that_can_run_them():
    places = Places({"a": worker(MEMORY=64e9), "b": worker(MEMORY=32e9), "c": worker(MEMORY=64e9)})
    queue = JobQueue([Job(f"j{i}", "m:f", dict, need=lambda: 40_000_000_000) for i in range(9)])
    sent: list[Job] = []
    while (job := places.take(queue, sent)) is not None:
        sent.append(job)
    assert len(sent) == 2 * AHEAD
    assert (places.threads, places.gpus, places.memories) == (3, 0, [64_000_000_000, 64_000_000_000, 32_000_000_000])
    asked = [None, {}, {"MEMORY": 64_000_000_000}, {"MEMORY": 64_000_000_001}, {"GPU": 1}, {"GPU": 1, "MEMORY": 1}]
    assert [places.offered(one) for one in asked] == [True, True, True, False, False, False]
    assert places.take(JobQueue(jobs(1)), jobs(6)) is None
    assert places.take(JobQueue(jobs(1)), jobs(5)).id == "j0"


def test_priorities_and_reordering():
    queue = JobQueue([Job("a", "m:f", dict, priority=1.0), Job("b", "m:f", dict, priority=2.0), Job("c", "m:f", dict)])
    queue.reorder(lambda job: {"a": 0.0, "b": 0.0, "c": 7.0}[job.id])
    assert [queue.take().id for _ in range(3)] == ["c", "b", "a"]
    assert queue.take() is None


def test_a_worker_without_the_folder_ends_the_run_in_one_line(monkeypatch, tmp_path):
    monkeypatch.setattr(cluster_worker, "LOOK_SECONDS", 0.0)
    answer = cluster_worker.run_job({"mark": str(tmp_path / "films" / "manifest.json")})
    assert set(answer) == {"blind"}
    assert not (tmp_path / "films").exists()
    with pytest.raises(InputError, match=f"folder of the study is not there on the worker {answer['blind']}") as raised:
        run(monkeypatch, tmp_path, Client({"a": worker()}, answer), jobs(3), Watch())
    assert "\n" not in str(raised.value)


def test_what_a_job_tells_reaches_the_watcher_once_it_ran_on_a_cluster(monkeypatch, tmp_path):
    class Telling(Client):
        def subscribe_topic(self, topic, handler):
            self.tell = handler

        def scheduler_info(self, **_):
            if self.asked and not self.most:
                for said in ({"job": "j0"}, {"job": "j0", "event": {"trial": 1}}, {"job": "unknown"}):
                    self.tell((0, said))
            return super().scheduler_info()

    answer = {"outcome": {"status": "done", "record": {"x": 1}}, "events": [{"trial": 1}, {"trial": 2}]}
    client, watch = Telling({"a": worker()}, answer), Watch()
    monkeypatch.setattr(client, "unsubscribe_topic", lambda topic: None)
    run(monkeypatch, tmp_path, client, jobs(1), watch)
    assert watch.told == [("j0", "started"), ("j0", {"trial": 1}), ("j0", {"trial": 1}), ("j0", {"trial": 2})]
    assert watch.outcomes == [Outcome("done", record={"x": 1})]


def test_a_job_that_the_cluster_gives_up_is_a_crashed_cell(monkeypatch, tmp_path):
    class GivingUp(Client):
        def submit(self, function, request, **more):
            future = super().submit(function, request, **more)
            future.status, future.exception = "error", lambda: ValueError("killed \n 3 workers")
            return future

    watch = Watch()
    run(monkeypatch, tmp_path, GivingUp({"a": worker()}), jobs(1), watch)
    assert watch.outcomes == [Outcome("crashed", reason="the cluster gave it up: ValueError: killed 3 workers")]


@pytest.mark.parametrize("how", ["closed", "silent", "lost", "cancelled"])
def test_a_scheduler_that_is_gone_ends_the_run_and_no_cell(monkeypatch, tmp_path, how):
    class Gone(Client):
        def scheduler_info(self, **_):
            if how == "silent":
                raise OSError
            return super().scheduler_info()

        def submit(self, function, request, **more):
            future = super().submit(function, request, **more)
            future.status = how if how in ("lost", "cancelled") else "finished"
            return future

    client, watch = Gone({"a": worker()}), Watch()
    if how == "closed":
        client.status = "closed"
    with pytest.raises(RecAssayError, match="tcp://none: the scheduler is gone, with 5 jobs not done; what is done is"):
        run(monkeypatch, tmp_path, client, jobs(5), watch)
    assert watch.ended == []


def test_a_cluster_without_workers_is_told_once_and_then_given_up(monkeypatch, tmp_path):
    monkeypatch.setattr("recassay.runner.cluster.NO_WORKER_SECONDS", 0.02)
    watch = Watch()
    with pytest.raises(
        RecAssayError, match=r"the scheduler has had no worker for 0.02 seconds; .*dask worker tcp://none"
    ):
        run(monkeypatch, tmp_path, Client({}), jobs(1), watch)
    assert watch.waits == ["the scheduler at tcp://none has no workers; waiting up to 0.02 s for one"]


class Changing(Client):
    """Each look at the cluster finds the next of these sets of workers; the job is done at the last look."""

    def __init__(self, *seen):
        super().__init__({})
        self.seen, self.looks, self.cancelled, self.topics = list(seen), [], [], []

    def submit(self, function, request, **more):
        future = super().submit(function, request, **more)
        future.add_done_callback = lambda call: self.ends(future, lambda: call(future))
        return future

    def ends(self, future, end):
        future.end = end
        self.open.append(end)

    def scheduler_info(self, **how):
        self.looks.append(how)
        self.workers = self.seen.pop(0) if len(self.seen) > 1 else self.seen[0]
        return super().scheduler_info() if len(self.seen) == 1 else {"workers": self.workers}

    def cancel(self, futures):
        for future in futures:
            self.cancelled.append(future)
            future.status = "cancelled"
            future.end()

    def subscribe_topic(self, topic, handler):
        self.topics.append(topic)

    def unsubscribe_topic(self, topic):
        self.topics.append(f"no more {topic}")


ON_GPU = Job("on_gpu", "m:f", dict, gpu=True)
BOTH, PLAIN = {"a": worker(GPU=1), "b": worker()}, {"b": worker()}


def test_what_is_missing_again_is_told_again(monkeypatch, tmp_path):
    """All workers leave, come back and leave; then the one with the GPU does."""
    watch, client = Watch(), Changing({}, BOTH, {}, {}, BOTH, {}, BOTH)
    run(monkeypatch, tmp_path, client, [ON_GPU], watch)
    assert watch.waits == ["the scheduler at tcp://none has no workers; waiting up to 60 s for one"] * 3
    assert watch.ended == ["on_gpu"]
    assert all(how == {"n_workers": -1} for how in client.looks), "all workers, not the first few"
    watch, client = Watch(), Changing(BOTH, PLAIN, PLAIN, BOTH, PLAIN, BOTH)
    run(monkeypatch, tmp_path, client, [ON_GPU], watch)
    told = "no worker has what on_gpu asks for (GPU); waiting up to 60 s for one, then any worker may run it"
    assert watch.waits == [told, told]
    assert (watch.ended, client.cancelled) == (["on_gpu"], [])


def test_what_a_job_says_that_was_moved_does_not_count(monkeypatch, tmp_path):
    """The first submission ends as cancelled when the job is submitted again, and the run goes on."""
    monkeypatch.setattr("recassay.runner.cluster.NO_WORKER_SECONDS", -1.0)
    watch, client = Watch(), Changing(BOTH, PLAIN, PLAIN, PLAIN)
    run(monkeypatch, tmp_path, client, [ON_GPU], watch)
    assert [asked for _, asked, _ in client.asked] == [{"GPU": 1}, None]
    assert len(client.cancelled) == 1
    assert watch.outcomes == [Outcome("done", record={})]


def test_a_run_that_ends_early_takes_its_jobs_back(monkeypatch, tmp_path):
    client = Changing(BOTH)
    client.answer = {"blind": "here"}
    with pytest.raises(InputError, match="is not there on the worker here"):
        run(monkeypatch, tmp_path, client, jobs(3), Watch())
    assert len(client.cancelled) == 2
    topic, left = client.topics
    assert left == f"no more {topic}"


def test_the_dashboard_is_told_once_where_there_is_one(monkeypatch, tmp_path):
    monkeypatch.setattr("recassay.runner.cluster.LOOK_SECONDS", 0.0)
    monkeypatch.setattr("recassay.runner.cluster.POLL_SECONDS", 0.001)
    executor, watch = DaskExecutor("tcp://none", tmp_path), Watch()
    executor._client = Client({"a": worker()})
    executor._client.dashboard_link = None
    executor.run(jobs(1), watch)
    assert watch.notes == []
    executor._client.dashboard_link = "http://there"
    executor.run(jobs(1), watch)
    executor.run(jobs(1), watch)
    assert watch.notes == ["Dask's dashboard: http://there"]


def test_a_long_story_of_a_cluster_is_cut(monkeypatch, tmp_path):
    watch, executor = Watch(), DaskExecutor("tcp://none", tmp_path)
    future = SimpleNamespace(status="error", exception=lambda: ValueError("x\n" * 900))
    executor._conclude(SimpleNamespace(job=jobs(1)[0], future=future), watch)
    (outcome,) = watch.outcomes
    assert (outcome.status, len(outcome.reason), "\n" in outcome.reason) == ("crashed", 500, False)


@pytest.mark.parametrize("error", [OSError("refused"), ValueError("no address")])
def test_a_scheduler_that_does_not_answer_is_one_line(monkeypatch, tmp_path, error):
    asked = []

    def connect(address, **how):
        asked.append((address, how))
        if len(asked) == 1:
            raise error
        return SimpleNamespace(close=lambda: asked.append("closed"))

    monkeypatch.setattr("logging.Logger.setLevel", lambda *_: None)
    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(Client=connect))
    with (
        pytest.raises(InputError, match="tcp://there: no Dask scheduler answers; start one, or correct `cluster`"),
        DaskExecutor("tcp://there", tmp_path),
    ):
        pass
    with DaskExecutor("tcp://there", tmp_path):
        pass
    how = {"timeout": 10.0, "set_as_default": False}
    assert asked == [("tcp://there", how), ("tcp://there", how), "closed"]
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match="a cluster needs distributed"), DaskExecutor("tcp://there", tmp_path):
        pass


def test_processes_of_a_worker_wait_a_while_and_those_of_other_runs_end(monkeypatch):
    timers = []

    class Timer:
        daemon = False

        def __init__(self, seconds, call):
            timers.append((seconds, call, self))

        def start(self):
            assert self.daemon, "a worker that ends does not wait for it"

    monkeypatch.setattr(cluster_worker.threading, "Timer", Timer)
    monkeypatch.setattr(cluster_worker.time, "monotonic", lambda: 100.0)
    one, two, three = (Process(1, "logs", threads=1, preload=()) for _ in range(3))
    waiting = cluster_worker._Processes()
    for owner, process in (("run", one), ("other", two), ("run", three)):
        waiting.put(owner, process)
    assert [seconds for seconds, *_ in timers] == [10.0] * 3
    assert waiting.take("run") is three
    assert (one.ended, two.ended) == (0, 1)
    assert waiting.take("new") is None
    assert (one.ended, waiting._idle) == (1, [])
    waiting._idle = [("run", one, 91.0), ("run", two, 91.1)]
    timers[0][1]()
    assert (one.ended, two.ended, [entry[1] for entry in waiting._idle]) == (2, 1, [two])


def test_a_folder_that_a_network_disk_shows_late_is_waited_for(monkeypatch, tmp_path):
    mark, slept = tmp_path / "manifest.json", []
    monkeypatch.setattr(cluster_worker.time, "sleep", lambda seconds: slept.append(seconds) or mark.touch())
    with pytest.raises(KeyError, match="job"):
        cluster_worker.run_job({"mark": str(mark)})
    assert slept == [0.1]


class Process:
    """Stands for the executor of a worker: it runs a job at once, or fails, or is left without an outcome."""

    def __init__(self, workers, logs, *, threads, preload):
        self.made, self.ended, self.mood = (workers, str(logs), threads, preload), 0, "well"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ended += 1

    def run(self, jobs, reporter, *, unwanted):
        (job,) = jobs
        reporter.started(job)
        reporter.event(job, {"trial": job.payload()["n"]})
        assert not unwanted()
        if self.mood == "badly":
            raise OSError("broken")
        if self.mood == "well":
            reporter.finished(job, Outcome("done", record={"limits": [job.seconds, job.memory]}))


def test_a_worker_keeps_its_process_for_the_next_job_of_the_run(monkeypatch, tmp_path):
    sent, tasks = [], {"key": SimpleNamespace(state="executing")}
    here = SimpleNamespace(state=SimpleNamespace(tasks=tasks), log_event=lambda topic, said: sent.append((topic, said)))
    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(get_worker=lambda: here))
    monkeypatch.setattr(cluster_worker, "LocalExecutor", Process)
    waiting = cluster_worker._Processes()
    monkeypatch.setattr(cluster_worker, "_processes", waiting)
    (tmp_path / "manifest.json").touch()
    request = {
        "key": "key", "job": "j1", "function": "m:f", "payload": {"n": 7}, "seconds": 5.0, "memory": 10, "topic": "t",
        "mark": str(tmp_path / "manifest.json"), "logs": "logs", "threads": 2, "preload": ("p",), "run": "one",
    }  # fmt: skip
    answer = cluster_worker.run_job(request)
    assert answer["events"] == [{"trial": 7}]
    assert Outcome(**answer["outcome"]) == Outcome("done", record={"limits": [5.0, 10]})
    assert sent == [("t", {"job": "j1"}), ("t", {"job": "j1", "event": {"trial": 7}})]
    ((owner, first, _),) = waiting._idle
    assert (owner, first.made) == ("one", (1, "logs", 2, ("p",)))
    cluster_worker.run_job(request)
    assert [entry[1] for entry in waiting._idle] == [first]
    cluster_worker.run_job({**request, "run": "two"})
    assert first.ended == 1
    ((owner, second, _),) = waiting._idle
    assert owner == "two"
    waiting._end_idle()
    assert waiting._idle[0][1] is second
    second.mood = "silent"
    with pytest.raises(RuntimeError, match="the driver is gone"):
        cluster_worker.run_job({**request, "run": "two"})
    assert (second.ended, waiting._idle) == (1, [])
    third = Process(1, "logs", threads=1, preload=())
    third.mood = "badly"
    waiting._idle = [("two", third, 0.0)]
    with pytest.raises(OSError, match="broken"):
        cluster_worker.run_job({**request, "run": "two"})
    assert (third.ended, waiting._idle) == (1, [])
    fourth = Process(1, "logs", threads=1, preload=())
    waiting._idle = [("two", fourth, -1e9)]
    waiting._end_idle()
    assert (fourth.ended, waiting._idle) == (1, [])
    reporter = cluster_worker._Reporter("j1", "t", "key")
    for task, unwanted in (("executing", False), ("cancelled", True)):
        tasks["key"].state = task
        assert reporter.unwanted() is unwanted
    del tasks["key"]
    assert reporter.unwanted()
