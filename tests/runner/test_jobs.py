"""Jobs: how they wait, and what is said of one that ends badly."""

from __future__ import annotations

import errno
import json
import signal
from functools import partial

import pytest

from recassay.core.errors import InputError, RecAssayError
from recassay.runner.jobs import (
    NOT_WRITTEN,
    Collected,
    Job,
    JobFailure,
    JobQueue,
    Outcome,
    as_queue,
    reason_of,
    status_of,
)
from recassay.runner.local import _crash, _message


def raised(call):
    try:
        call()
    except BaseException as error:
        return error
    return None


def own():
    raise ValueError("a \n  bad   value")


def caused():
    try:
        raise OSError(errno.ENOSPC, "No space left on device")
    except OSError as error:
        raise ValueError("cannot write") from error


def met_while_cleaning_up():
    try:
        raise OSError(errno.ENOSPC, "No space left on device")
    except OSError:
        raise ValueError("the file is not whole")  # noqa: B904


FULL = OSError(errno.ENOSPC, "No space left on device", "/x/scores.parquet")


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (JobFailure("over_budget", "too much"), "over_budget"),
        (FULL, NOT_WRITTEN),
        (raised(caused), NOT_WRITTEN),
        (raised(met_while_cleaning_up), NOT_WRITTEN),
        (RuntimeError("IoError: No space left on device (os error 28)"), NOT_WRITTEN),
        (OSError(errno.EACCES, "Permission denied"), "failed"),
        (MemoryError(), "memory"),
        (ValueError("x"), "failed"),
    ],
)
def test_the_status_of_a_job_that_raised(error, status):
    assert status_of(error) == status


def test_the_reason_is_one_line_that_names_the_users_own_code():
    assert reason_of(InputError("is empty", where="a.csv", fix="fill it")) == "a.csv: is empty; fill it"
    assert reason_of(FULL).startswith("/x/scores.parquet: the disk is full")
    line = own.__code__.co_firstlineno + 1
    assert reason_of(raised(own)) == f"ValueError: a bad value (test_jobs.py, line {line}, in own)"
    in_library = raised(partial(json.loads, "{"))
    assert reason_of(in_library).startswith("JSONDecodeError: Expecting property name")
    assert reason_of(KeyError()) == "KeyError"
    assert len(reason_of(ValueError("x" * 9_000))) < 600


def test_a_reason_in_an_installed_library_names_the_line_that_called_it():
    import numpy as np

    def calls():
        np.linalg.inv(np.zeros((2, 2)))

    reason = reason_of(raised(calls))
    assert reason == f"LinAlgError: Singular matrix (test_jobs.py, line {calls.__code__.co_firstlineno + 1}, in calls)"


def test_jobs_wait_in_their_order_and_can_be_dropped():
    first, second, third = (
        Job(name, "m:f", dict, priority=priority) for name, priority in (("a", 0), ("b", 5), ("c", 0))
    )
    queue = as_queue([first, second, third])
    assert as_queue(queue) is queue
    assert queue.take(lambda job: job.id != "b") is first
    assert queue.drop(lambda job: job.id == "c") == [third]
    assert len(queue) == 1
    queue.add(first)
    assert [queue.take().id, queue.take().id, queue.take()] == ["b", "a", None]
    assert not JobQueue()


def test_what_only_ends_are_remembered_of():
    watcher = Collected()
    job = Job("a", "m:f", dict)
    watcher.started(job)
    watcher.finished(job, Outcome("done"))
    assert watcher.outcomes == {"a": Outcome("done")}
    assert (job.need(), job.gpu, job.seconds, job.memory) == (None, False, None, None)


@pytest.mark.parametrize(
    ("code", "how"), [(3, "with exit code 3"), (-signal.SIGSEGV, "by SIGSEGV"), (-99, "by signal 99")]
)
def test_how_a_process_ended_without_an_answer(code, how):
    assert _crash(code, "j1") == f"its process ended {how} without an answer (its output is in logs/j1.log)"


def test_lines_that_are_not_ours_say_nothing():
    assert _message(b'{"pid": 3}') == {"pid": 3}
    assert [_message(line) for line in (b"garbage", b"[1]", b"3", b"\xff")] == [{}] * 4


def test_a_failure_of_ones_own_is_an_error_of_ours():
    assert isinstance(JobFailure("timeout", "late"), RecAssayError)
    assert str(JobFailure("timeout", "late")) == "late"


def test_a_full_disk_is_known_behind_the_error_that_it_led_to():
    def while_writing():
        try:
            raise FULL
        except OSError:
            raise ValueError("cannot write")  # noqa: B904

    assert status_of(raised(while_writing)) == NOT_WRITTEN
    assert status_of(OSError("no number")) == "failed"


def test_lines_of_code_without_a_file_are_not_named():
    def made():
        exec(compile("raise ValueError('x')", "<made>", "exec"), {})  # noqa: S102

    line = made.__code__.co_firstlineno + 1
    assert reason_of(raised(made)) == f"ValueError: x (test_jobs.py, line {line}, in made)"
    assert reason_of(OSError(errno.EACCES, "Permission denied", "a.csv")).startswith("PermissionError: ")
