"""The verb `serve`: how a study stands, live in a browser on this machine."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from recassay.analysis.plan.fit import look_at
from recassay.api.arguments import checked
from recassay.api.publish.report import report_page
from recassay.api.tables import default_metric
from recassay.core import columns as c
from recassay.core import ties
from recassay.core.analysis import AnalysisSpec
from recassay.core.choices import Advanced, Range
from recassay.core.errors import InputError, RecAssayError
from recassay.core.system.aside import environment
from recassay.core.tables.labels import find_label, known_direction
from recassay.core.tabular import stated
from recassay.evidence.pace import seconds_left
from recassay.reporting.live import LiveServer
from recassay.reporting.telling import failure
from recassay.runner.running import running_cells
from recassay.store.adaptive import read_adaptive
from recassay.store.records import CellRecord, PlannedRow
from recassay.store.store import COST_METRICS, INDEX_FILE, MANIFEST_FILE, Store

REPORT_SECONDS = 20.0
"""How long after a report the next one may be made, while cells keep finishing."""


class LiveStudy:
    """What the page shows of a study folder: its status at any moment, and the report of the cells done so far.

    `make_report` turns the folder into a page; it runs in a thread of its own when more cells are done than the last
    report knew. What `snapshot` gives is kept for a while, so that any number of readers costs what one does.
    """

    def __init__(self, folder: Path, metric: str | None, make_report: Callable[[], bytes]) -> None:
        self.folder, self.metric, self.make_report = folder, metric, make_report
        self._page: bytes | None = None
        self._cells = 0
        self._refused: str | None = None
        self._stop, self._reading = threading.Event(), threading.Lock()
        self._snapshot, self._stale = b"", 0.0
        self._known: tuple[Any, Callable[[], dict[str, Any]]] | None = None

    def __enter__(self) -> LiveStudy:
        threading.Thread(target=self._keep_reporting, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()

    def snapshot(self) -> bytes:
        """The status as JSON: about a second old, or as old as it takes to read the study."""
        with self._reading:
            if not (self.folder / INDEX_FILE).is_file():
                raise InputError("there is no study in this folder", where=str(self.folder))
            begin = time.monotonic()
            if begin >= self._stale:
                self._snapshot = json.dumps(self.status(), allow_nan=False).encode()
                now = time.monotonic()
                self._stale = now + 1.0 + 4 * (now - begin)  # at most a fifth of a processor
            return self._snapshot

    def status(self) -> dict[str, Any]:
        """Cells by dataset and algorithm, those at work and when the study will end, failures, and the order so far."""
        files = [self.folder / name for name in (INDEX_FILE, f"{INDEX_FILE}-wal", MANIFEST_FILE)]
        state = [(file.stat().st_mtime_ns, file.stat().st_size) for file in files if file.is_file()]
        if self._known is None or self._known[0] != state:
            self._known = None  # both would not fit into the memory that is promised
            with Store.open(self.folder) as store:
                self._known = state, self._read(store)
        return self._known[1]()

    def _read(self, store: Store) -> Callable[[], dict[str, Any]]:
        """What the store says, to be joined with what changes without it: the cells at work, and the report."""
        status, plan = store.status(), store.plan()
        cells, manifest = store.cells(), store.manifest()
        tuned_by = str(manifest.get("study", {}).get("tuning", {}).get("metric", ""))
        states: dict[tuple[str, str], str] = {(c.dataset, c.algorithm): c.status for c in reversed(cells)}
        workers = int(manifest.get("machine", {}).get("workers") or 1)
        done = [replace(cell, spec={}, counts=None, files=None, energy=None) for cell in cells if cell.status == "done"]
        algorithms = list(dict.fromkeys(row.algorithm for row in plan))
        datasets = list(dict.fromkeys(row.dataset for row in plan))
        board, metric, means = self._means(store)
        values = [[means.get((dataset, name)) for name in algorithms] for dataset in datasets]
        state = {**status.to_dict(), "leaderboard": board, "algorithms": algorithms, "metric": metric,
                "values": values, "best": [_best(row, metric) for row in values], "datasets": datasets,
                "tuning": _tuning(store, plan, cells, {cell.cell for cell in running_cells(self.folder)}),
                "tuned_by": tuned_by, "least_is_best": known_direction(tuned_by) is False,
                "name": str(manifest.get("study", {}).get("name", self.folder.name))}  # fmt: skip

        def joined() -> dict[str, Any]:
            running = running_cells(self.folder)
            now = states | {(cell.dataset, cell.algorithm): "running" for cell in running}
            return {
                **state,
                "running": [stated(cell, "algorithm", "dataset", "seed", "seconds") for cell in running],
                "seconds_left": seconds_left(done, status.to_go, running, workers) if running else None,
                "grid": [[now.get((dataset, name), "to go") for name in algorithms] for dataset in datasets],
                "report": None if self._page is None else {"cells": self._cells},
                "no_report": self._refused,
                "adaptive": None if (journal := read_adaptive(self.folder)) is None else str(journal["said"]),
            }

        return joined

    def report(self) -> bytes | None:
        """The last report, as HTML."""
        return self._page

    def _means(
        self, store: Store
    ) -> tuple[Mapping[str, Any] | None, str | None, Mapping[tuple[str, str], float | None]]:
        """The leaderboard over the datasets that every algorithm has finished (None while there are too few), the
        metric of the page, and its mean by dataset and algorithm.
        """
        try:
            results = store.results()
            metric = find_label(self.metric or default_metric(results), results.metrics)
        except RecAssayError:
            return None, None, {}
        cells = results.frame.filter(pl.col(c.METRIC) == metric).group_by(c.DATASET, c.ALGORITHM)
        rows = cells.agg(pl.col(c.VALUE).mean()).iter_rows()
        means = {(dataset, algorithm): value for dataset, algorithm, value in rows}
        try:
            matrix = results.matrix(metric, missing="drop-datasets")
        except RecAssayError:  # too few datasets that all have finished
            return None, metric, means
        ranks = ties.ranks(matrix.values, higher_is_better=matrix.higher_is_better, axis=0).mean(axis=1)
        look = look_at(matrix).sentence() if len(matrix.algorithms) > 1 else ""
        board = {
            "said": f"{matrix.metric} over the {len(matrix.datasets)} datasets that all have finished. {look}",
            "rows": [
                {
                    "algorithm": matrix.algorithms[i],
                    "mean_rank": float(ranks[i]),
                    "mean": float(matrix.values[i].mean()),
                }
                for i in ranks.argsort(kind="stable")
            ],
        }
        return board, metric, means

    def _keep_reporting(self) -> None:
        tried = 0
        while not self._stop.is_set():
            try:
                with Store.open(self.folder) as store:
                    done = sum(state == "done" for state in store.statuses().values())
            except (RecAssayError, OSError):  # the folder is being moved, or written again
                done = 0
            if done > tried:
                tried = done
                try:
                    self._page, self._cells, self._refused = self.make_report(), done, None
                except RecAssayError as reason:
                    self._refused = str(reason)
                except Exception as error:  # the next finished cell may cure it; the page goes on
                    self._refused = failure("the report", error)
                self._stop.wait(REPORT_SECONDS)
            else:
                self._stop.wait(2.0)


MOST_TUNED = 24
"""Cells whose trials the page draws: those at work, and those that finished last."""

MOST_TRIALS = 200
"""Trials of a cell that it draws, and of so many the last few with their training curves."""

MOST_CURVES = 8


def _tuning(
    store: Store, plan: Sequence[PlannedRow], cells: Sequence[CellRecord], running: Collection[str]
) -> list[dict[str, Any]]:
    """Of the cells at work and those that finished last: the value of each trial, of the last ones the values after
    each stage of training, and the parameters that are numbers."""
    finished = {cell.id: cell.finished for cell in cells}
    latest = sorted((row for row in plan if row.trials), key=lambda row: finished.get(row.cell, ""), reverse=True)
    rows = sorted(latest, key=lambda row: row.cell not in running)[:MOST_TUNED]
    found = []
    for row in rows:
        trials = list(store.kept_trials(row.tuning).values())[:MOST_TRIALS]
        if not trials:
            continue
        names = dict.fromkeys(name for trial in trials for name in trial.parameters)
        columns = {name: [_number(trial.parameters.get(name)) for trial in trials] for name in names}
        found.append(
            {
                **stated(row, "algorithm", "dataset", "seed", "fold"),
                "running": row.cell in running,
                "planned": row.trials,
                "values": [trial.value for trial in trials],
                "stages": [list(trial.stages) for trial in trials if len(trial.stages) > 1][-MOST_CURVES:],
                "parameters": {name: column for name, column in columns.items() if len({*column} - {None}) > 1},
            }
        )
    return found


def _number(value: Any) -> float | None:
    """A parameter as a number; None for text, and for yes or no."""
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _best(values: Sequence[float | None], metric: str | None) -> float | None:
    """The best value of a dataset, by the direction of the metric; None where there is none or it is not known."""
    known = [value for value in values if value is not None]
    higher = None if metric is None else known_direction(metric)
    return None if not known or higher is None else max(known) if higher else min(known)


@checked
def serve(
    folder: str | Path,
    *,
    host: Annotated[str, Advanced] = "127.0.0.1",
    port: Annotated[int, Range(0, 65_535)] = 8765,
    metric: str | None = None,
    allow_host: Annotated[Sequence[str], Advanced] = (),
    ready: Callable[[LiveServer], None] | None = None,
) -> None:
    """Serve the live page of the study in `folder` until interrupted.

    It listens on this machine alone unless `host` says otherwise, only reads, and shows nothing but the study.

    Args:
        folder: the folder of a study.
        host: address to listen on; by default this machine alone.
        port: port to listen on.
        metric: metric of the report; by default as for `report`.
        allow_host: names by which browsers may ask for the page, besides this machine's addresses: a page of another
            origin that points a name of its own at this machine is refused.
        ready: called when it listens.
    """
    folder = Path(folder)
    with Store.open(folder) as store:
        labels = dict.fromkeys(label for row in store.plan() for label in row.metrics)
        if metric is not None and labels:
            find_label(metric, [*labels, *COST_METRICS])

    with LiveStudy(folder, metric, partial(_page_aside, folder, metric)) as study:
        try:
            server = LiveServer((host, port), study.snapshot, study.report, names=allow_host)
        except OSError as error:
            raise InputError(
                f"cannot listen there: {error.strerror}", where=f"{host}:{port}", fix="choose another `port` or `host`"
            ) from None
        with server:
            if ready is not None:
                ready(server)
            server.serve_forever()


def _page_aside(folder: Path, metric: str | None) -> bytes:
    """The report of a study, made in a process of its own: this one stays small and answers meanwhile."""
    code = "import sys; from recassay.api.study.serve import print_page; print_page(*sys.argv[1:])"
    made = subprocess.run(
        [sys.executable, "-P", "-c", code, str(folder), metric or ""],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment(),
    )
    if made.returncode:
        lines = made.stderr.decode(errors="replace").strip().splitlines() or [f"exit code {made.returncode}"]
        raise RecAssayError(lines[-1])
    return made.stdout


def print_page(folder: str, metric: str) -> None:
    """Write the report of a study to the standard output; one line and exit code 1 where there is none."""
    try:
        # As many replicates as `analyze` has: an interval is the same in both.
        page = report_page(Path(folder), AnalysisSpec(metric, missing="drop-datasets"))[1]
    except RecAssayError as refusal:
        sys.exit(str(refusal))
    except Exception as error:  # the next finished cell may cure it; the page goes on
        sys.exit(failure("the report", error))
    sys.stdout.buffer.write(page.encode(errors="backslashreplace"))
