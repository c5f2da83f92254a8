"""What a worker process does, piece by piece: how it hears its job, answers for it, and ends what is left."""

from __future__ import annotations

import ctypes
import faulthandler
import io
import json
import os
import signal
import sys
import threading
from types import SimpleNamespace

import pytest

from recassay.runner import worker
from recassay.runner.jobs import JobFailure

fcntl = pytest.importorskip("fcntl")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes of Linux")


class Ended(BaseException):
    """In place of the end of this process."""


@pytest.fixture
def ends(monkeypatch):
    """The exit codes with which this process would have ended."""
    codes = []

    def end(code):
        codes.append(code)
        raise Ended

    monkeypatch.setattr(worker.os, "_exit", end)
    return codes


@pytest.fixture
def channel():
    """A pipe: where to write, and a function that gives the lines written so far."""
    ear, mouth = os.pipe()
    yield mouth, lambda: os.read(ear, 1 << 16).decode().splitlines()
    os.close(ear)
    os.close(mouth)


def doubled(spec, emit):
    emit({"half": spec["x"]})
    return {"double": 2 * spec["x"]}


def not_plain(spec, emit):
    return {"value": float("inf")}


def leaves(spec, emit):
    raise SystemExit(3)


def interrupted(spec, emit):
    raise KeyboardInterrupt


def gives_up(spec, emit):
    raise JobFailure("over_budget", "too much")


def eats(spec, emit):
    raise MemoryError("no room")


@pytest.mark.parametrize(
    ("function", "status", "reason"),
    [
        (not_plain, "failed", "ValueError: Out of range float values are not JSON compliant"),
        (leaves, "failed", "the algorithm tried to end the process (SystemExit: 3 (test_worker.py, line"),
        (interrupted, "failed", "KeyboardInterrupt (test_worker.py, line"),
        (gives_up, "over_budget", "too much"),
        (eats, "memory", "MemoryError: no room"),
    ],
)
def test_a_job_that_raises_is_answered_for_with_its_status(channel, function, status, reason):
    answer = worker._answer({"function": f"{__name__}:{function.__name__}", "payload": {}}, channel[0], "")
    assert set(answer) == {"status", "reason", "detail"}
    assert answer["status"] == status
    assert answer["reason"].startswith(reason)
    assert answer["detail"].startswith("Traceback (most recent call last):")


def test_a_job_has_its_log_its_environment_and_a_token_before_each_line(tmp_path, monkeypatch, channel, ends):
    moved = {}

    def move(source, target):
        behind = bool(fcntl.fcntl(source, fcntl.F_GETFL) & os.O_APPEND)
        moved[target] = os.readlink(f"/proc/self/fd/{source}"), behind

    monkeypatch.setattr(worker.os, "dup2", move)
    monkeypatch.setattr(faulthandler, "enable", lambda: moved.update(faults="told"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    log = tmp_path / "job.log"
    log.write_text("of the start before\n")
    request = {
        "function": f"{__name__}:doubled", "payload": {"x": 4}, "log": str(log), "token": "T1:",
        "environment": {"CUDA_VISIBLE_DEVICES": "5"},
    }  # fmt: skip
    with pytest.raises(Ended):
        worker._run_job(request, channel[0])
    assert moved == {0: (os.devnull, False), 1: (str(log), True), 2: (str(log), True), "faults": "told"}
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "5"
    lines = channel[1]()
    assert all(line.startswith("T1:") for line in lines)
    assert [json.loads(line.removeprefix("T1:")) for line in lines] == [
        {"pid": os.getpid()},
        {"event": {"half": 4}},
        {"status": "done", "record": {"double": 8}},
    ]
    assert log.read_text() == "of the start before\n", "a job that is started again writes behind"
    assert ends == [0]


def test_a_message_is_written_whole_and_is_plain(channel, monkeypatch):
    write = os.write
    monkeypatch.setattr(worker.os, "write", lambda descriptor, content: write(descriptor, bytes(content)[:3]))
    worker._send(channel[0], {"said": "a long line"}, "token")
    assert channel[1]() == ['token{"said": "a long line"}']
    with pytest.raises(ValueError, match="not JSON compliant"):
        worker._send(channel[0], {"value": float("nan")})


@pytest.fixture
def heard(channel, monkeypatch):
    """`heard([chunk, ...], driver)`: what is handed on of a job that writes so and then ends with status 256."""

    def listen(chunks, driver=b"x"):
        ear, mouth = os.pipe()
        waiting, read, watched = list(chunks), os.read, []

        def ready(descriptors, *_):
            watched.append(descriptors)
            if waiting and waiting[0]:
                os.write(mouth, waiting[0])
            elif waiting and waiting[0] is None:
                os.close(mouth)
            return [0] if driver is not None and len(watched) == 1 else [], [], []

        def ended(pid, how):
            assert (pid, how) == (77, os.WNOHANG)
            waiting[:1] = []
            return (0, 0) if waiting else (77, 256)

        monkeypatch.setattr(worker.select, "select", ready)
        monkeypatch.setattr(worker.os, "waitpid", ended)
        monkeypatch.setattr(worker.os, "read", lambda place, most: driver if place == 0 else read(place, most))
        try:
            assert worker._listen(77, ear, channel[0]) == 256
        finally:
            monkeypatch.undo()
            os.close(ear)
            if None not in chunks:
                os.close(mouth)
        assert all(0 in descriptors for descriptors in watched)
        return [json.loads(line)["said"] for line in channel[1]()]

    return listen


def test_what_a_job_says_is_handed_on_line_by_line(heard):
    assert heard([b"one\ntw", b"o\n", b"\xff last"]) == ["one", "two", "\ufffd last"]
    assert heard([b"one\n", None, b""], driver=None) == ["one"], "it may close its channel and go on"
    assert heard([b"one\nhalf", None, b""]) == ["one", "half"], "what it began to say before it closed its channel"
    with pytest.raises(BrokenPipeError):
        heard([b"one\n", b"two\n"], driver=b"")


def test_a_line_without_an_end_is_handed_on_in_pieces(heard, monkeypatch):
    monkeypatch.setattr(worker, "_LONGEST_LINE", 5)
    assert heard([b"12345", b"6", b"789"]) == ["123456", "789"]


def test_a_process_follows_its_parent(monkeypatch, ends):
    asked = []
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: SimpleNamespace(prctl=lambda *words: asked.append(words)))
    worker.adopt_orphans()
    worker.end_with_parent(os.getppid())
    assert asked == [(36, 1), (1, signal.SIGKILL)]
    assert ends == []
    with pytest.raises(Ended):
        worker.end_with_parent(os.getppid() + 1)
    assert ends == [1], "the parent was gone before"
    parents = iter([8, 8, 9])
    monkeypatch.setattr(worker.os, "getppid", lambda: next(parents))
    monkeypatch.setattr(worker.time, "sleep", asked.append)
    with pytest.raises(Ended):
        worker._watch(8)
    assert ends == [1, 1]
    assert next(parents, None) is None


def test_elsewhere_a_thread_watches_the_parent(monkeypatch):
    begun = []
    monkeypatch.setattr(worker.sys, "platform", "darwin")
    monkeypatch.setattr(
        threading, "Thread", lambda **how: begun.append(how) or SimpleNamespace(start=lambda: begun.append("started"))
    )
    worker.end_with_parent(os.getppid())
    worker.adopt_orphans()
    assert begun == [{"target": worker._watch, "args": (os.getppid(),), "daemon": True}, "started"]


def test_descendants_are_those_of_every_thread_and_of_every_child(tmp_path, monkeypatch):
    """1 has 2 and 3 from one thread and 4 from another; 3 has 5, which has 6; 4 is gone."""
    for place, children in {"1-1": "2 3 ", "1-9": "4", "2-2": "", "3-3": "5", "5-5": "6"}.items():
        (tmp_path / place).write_text(children)
    asked = {f"/proc/{n}/task/*/children": [str(file) for file in sorted(tmp_path.glob(f"{n}-*"))] for n in range(1, 7)}
    asked["/proc/4/task/*/children"] = [str(tmp_path / "gone")]
    monkeypatch.setattr(worker.glob, "glob", asked.__getitem__)
    assert sorted(worker.descendants(1)) == [2, 3, 4, 5, 6]
    assert worker.descendants(2) == []


def test_what_is_left_is_killed_until_nothing_is(monkeypatch):
    left, killed, waited = [[5, 6], [6, 7], []], [], [(5, 0), (0, 0)]

    def kill(process, how):
        killed.append((process, how))
        if process == 6:
            raise ProcessLookupError

    def wait(process, how):
        assert (process, how) == (-1, os.WNOHANG)
        if not waited:
            raise ChildProcessError
        return waited.pop(0)

    monkeypatch.setattr(worker, "descendants", lambda process: left.pop(0))
    monkeypatch.setattr(worker.os, "kill", kill)
    monkeypatch.setattr(worker.os, "waitpid", wait)
    worker.end_descendants(1)
    assert killed == [(process, signal.SIGKILL) for process in (5, 6, 6, 7)]
    assert left == []
    assert waited == []


@pytest.fixture
def serving(monkeypatch, ends):
    """`serving(input, *options)`: what `main` does with these lines, step by step."""

    def serve(lines, *options, parent=5):
        done = []
        monkeypatch.setattr(worker.sys, "argv", ["worker", "--driver", "5", *options])
        monkeypatch.setattr(worker.sys, "stdin", SimpleNamespace(buffer=io.BytesIO(lines)))
        monkeypatch.setattr(worker.os, "getppid", lambda: parent)
        monkeypatch.setattr(worker.os, "dup", lambda descriptor: 40 + descriptor)
        monkeypatch.setattr(worker.os, "dup2", lambda source, target: done.append(("output", source, target)))
        monkeypatch.setattr(worker.importlib, "import_module", lambda name: done.append(("import", name)))
        for name in ("adopt_orphans", "end_with_parent", "end_descendants", "_run_job", "_serve", "_send"):
            monkeypatch.setattr(worker, name, lambda *told, name=name: done.append((name, *told)))
        parts = SimpleNamespace(names=lambda: done.append(("names",)))
        registry = SimpleNamespace(algorithms=parts, metrics=parts, classifiers=parts)
        monkeypatch.setitem(sys.modules, "recassay.core.registry", registry)
        code = SimpleNamespace(warm_up=lambda: done.append(("warm",)))
        monkeypatch.setitem(sys.modules, "recassay.core.system.compiled", code)
        return done

    return serve


def test_a_worker_imports_once_and_serves_until_its_input_ends(serving, ends):
    done = serving(b'{"n": 1}\n{"n": 2}\n', "--preload", "a.b,,c")
    with pytest.raises(Ended):
        worker.main()
    assert done == [
        ("output", 2, 1), ("adopt_orphans",), ("import", "a.b"), ("import", "c"), *[("names",)] * 3, ("warm",),
        ("_send", 41, {"ready": True}), ("_serve", {"n": 1}, 41), ("_serve", {"n": 2}, 41),
        ("end_descendants", os.getpid()),
    ]  # fmt: skip
    assert ends == [0]


def test_a_worker_without_its_driver_ends(serving, ends, monkeypatch):
    serving(b"", parent=6)
    with pytest.raises(Ended):
        worker.main()
    assert ends[0] == 1
    done = serving(b'{"n": 1}\n{"n": 2}\n')

    def serve(request, channel):
        raise BrokenPipeError

    monkeypatch.setattr(worker, "_serve", serve)
    with pytest.raises(Ended):
        worker.main()
    assert done[-1] == ("end_descendants", os.getpid())
    assert ends[-1] == 0


def test_where_no_process_forks_a_worker_runs_a_single_job(serving, ends):
    done = serving(b'{"n": 1}\n{"n": 2}\n', "--once")
    worker.main()
    assert done == [("output", 2, 1), ("end_with_parent", 5), ("_run_job", {"n": 1}, 41)]
    assert ends == []
