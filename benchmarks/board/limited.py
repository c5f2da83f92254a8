"""One cell of the grid under its limits of time: the search stops by the clock, and a cell without a value is refused.

A search tries the defaults first. No trial begins later than `SEARCH` seconds after the search began, and one that is
still running at twice that time on a processor is given up. A cell that has no value after `HARD` seconds is refused.
"""

from __future__ import annotations

import base64
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recassay.core import columns as c
from recassay.core.errors import NotApplicableError
from recassay.core.specs.study import DatasetSpec
from recassay.core.system.parquet import parquet_frame
from recassay.core.system.plain import plain
from recassay.data.characteristics import describe
from recassay.data.published.benchmark import USER_METRIC, packed, rounded, sampled_users
from recassay.recommenders.cell import run_cell, tuning_of
from recassay.recommenders.payload import CellJob
from recassay.recommenders.plan import SplitSpec
from recassay.recommenders.splits import load_split, prepare_split
from recassay.recommenders.work import Work
from recassay.runner.jobs import reason_of, status_of
from recassay.store.files import LISTS, SCORES, cell_file
from recassay.store.records import TrialRecord

SEARCH, HARD = 10.0, 120.0
TIMER = [signal.ITIMER_REAL, signal.SIGALRM]
"""What the limits are counted by, and the signal that it sends."""


class OutOfTime(BaseException):
    """The alarm has rung; no `except Exception` on the way may take it for a failure of the algorithm."""


def _ring(*_: object) -> None:
    raise OutOfTime


def count_processor_seconds() -> None:
    """Let limits and costs of this process be processor seconds: what a free core would take, on a machine that has
    other work. For one thread, without a GPU."""
    TIMER[:] = [signal.ITIMER_PROF, signal.SIGPROF]
    time.perf_counter = time.process_time


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    signal.signal(TIMER[1], _ring)
    signal.setitimer(TIMER[0], max(seconds, 0.01))
    try:
        yield
    finally:
        signal.setitimer(TIMER[0], 0)


def prepared(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Make a split and say what it is: fingerprint, sizes, and what the data are like."""
    spec = SplitSpec.model_validate(payload["split"])
    folder = Path(payload["folder"])
    record = prepare_split(folder, spec, DatasetSpec.model_validate(payload["dataset"]), payload["base"])
    split = load_split(folder, spec.id)
    known = describe(*split.refit_parts(), split.test)
    return {
        "split": spec.id,
        "protocol": spec.protocol.model_dump(mode="json"),
        "fingerprint": record.fingerprint,
        "sizes": list(record.sizes),
        "characteristics": {name: rounded(value) for name, value in known.items()},
    }


def run(
    payload: Mapping[str, Any],
    *,
    search: float = SEARCH,
    hard: float = HARD,
    gpu: bool = False,
    found: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What came of a cell: its values and costs, or the status `refused` or `failed` with a reason of one line.

    A trial on a GPU is not given up: what its process had recorded for the GPU would be left half done. With what a
    search has `found` there is no other.
    """
    begin = time.perf_counter()
    trials: list[TrialRecord] = []
    try:
        if found is None:
            with _alarm(hard):
                trials = _searched(payload, search, hard, given_up=not gpu)
        seconds_search = time.perf_counter() - begin
        spent_search = sum(trial.seconds for trial in trials)
        with _alarm(max(hard - seconds_search, hard / 2)):
            done = _judged(payload, trials if found is None else [_trial(**found)])
        done |= {"seconds_search": rounded(max(seconds_search, spent_search))}
    except OutOfTime:
        done = {"status": "refused", "reason": f"no value after {hard:g} s"}
    except Exception as error:
        refused = isinstance(error, NotApplicableError) or status_of(error) in ("over_budget", "memory")
        done = {"status": "refused" if refused else "failed", "reason": reason_of(error)[:400]}
    told = [[trial.state, rounded(trial.value), rounded(trial.seconds), _short(trial.parameters)] for trial in trials]
    return {**done, "seconds": rounded(time.perf_counter() - begin), "trials": told}


def _searched(payload: Mapping[str, Any], search: float, hard: float, *, given_up: bool) -> list[TrialRecord]:
    """The trials that there is time for, the defaults first."""
    begin = time.perf_counter()
    tuning = tuning_of(Work(CellJob.of(payload), _unheard))
    trials: list[TrialRecord] = []
    for number in range(tuning.rounds.trials):
        passed = time.perf_counter() - begin
        if trials and passed > search:
            break
        found = any(trial.state == "complete" for trial in trials)
        signal.setitimer(TIMER[0], 2 * search - passed if found and given_up else hard - passed)
        try:
            trials.append(tuning.one(number, trials))
        except OutOfTime:
            if not found:
                raise
            break
    return trials


def _trial(parameters: Mapping[str, Any], validation: float | None) -> TrialRecord:
    """The trial that a search chose, as its cell has it."""
    return TrialRecord(0, "complete", parameters, 0.0 if validation is None else validation)


def _judged(payload: Mapping[str, Any], trials: list[TrialRecord]) -> dict[str, Any]:
    """The package's own cell after these trials: its record in short."""
    tuning = {**payload["cell"]["tuning"], "trials": len(trials)}
    known = [plain(trial.to_dict()) for trial in trials]
    folder = Path(payload["folder"])
    record = run_cell({**payload, "cell": {**payload["cell"], "tuning": tuning}, "trials": known}, _unheard)
    scores = parquet_frame(cell_file(folder, SCORES, payload["id"]).read_bytes()).sort(c.USER)
    for kind in (SCORES, LISTS):
        cell_file(folder, kind, payload["id"]).unlink()
    values = scores.get_column(USER_METRIC).cast(pl.Float64).fill_null(np.nan).to_numpy()
    chosen = values[sampled_users(payload["cell"]["dataset"], len(values))]
    energy = record["energy"] or {}
    return {
        "status": "done",
        "parameters": _short(record["parameters"]),
        "validation": rounded(record["validation"]),
        **{name: rounded(record[name]) for name in ("seconds_fit", "seconds_predict", "memory")},
        **{name: rounded(energy.get(name)) for name in ("joules", "joules_fit")},
        "energy": energy.get("how"),
        "counts": record["counts"],
        "metrics": {label: rounded(value) for label, value in record["metrics"].items()},
        "judged": len(values),
        "users": base64.b64encode(packed(chosen)).decode(),
    }


def _short(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {key: rounded(value) if isinstance(value, float) else value for key, value in plain(parameters).items()}


def _unheard(_: Mapping[str, Any]) -> None:
    """Nobody listens to a cell's events."""
