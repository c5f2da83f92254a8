"""The verb `serve`: how a study stands, live in a browser on this machine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from recassay.analysis.plan.fit import look_at
from recassay.api.arguments import checked
from recassay.api.report import report_page
from recassay.api.tables import default_metric
from recassay.core import ties
from recassay.core.errors import InputError, RecAssayError, UsageError
from recassay.core.tables.labels import find_label
from recassay.evidence.pace import seconds_left
from recassay.reporting.live import LiveServer
from recassay.reporting.telling import failure
from recassay.runner.running import running_cells
from recassay.store.adaptive import read_adaptive
from recassay.store.store import COST_METRICS, Store

REPORT_SECONDS = 20.0
"""How long after a report the next one may be made, while cells keep finishing."""

REPLICATES = 1_000
"""Bootstrap replicates of a report that is soon replaced."""


class LiveStudy:
    """What the page shows of a study folder: its status at any moment, and the report of the cells done so far.

    `make_report` turns the folder into a page; it runs in a thread of its own when more cells are done than the last
    report knew.
    """

    def __init__(self, folder: Path, metric: str | None, make_report: Callable[[], bytes]) -> None:
        self.folder, self.metric, self.make_report = folder, metric, make_report
        self._page: bytes | None = None
        self._cells = 0
        self._refused: str | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep_reporting, daemon=True)

    def __enter__(self) -> LiveStudy:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()

    def status(self) -> dict[str, Any]:
        """Cells by dataset and algorithm, those at work and when the study will end, failures, and the order so far."""
        with Store.open(self.folder) as store:
            found, plan = store.status(), store.plan()
            cells, manifest = store.cells(), store.manifest()
            states: dict[tuple[str, str], str] = {(c.dataset, c.algorithm): c.status for c in reversed(cells)}
            running = running_cells(self.folder)
            states |= {(one.dataset, one.algorithm): "running" for one in running}
            workers = int(manifest.get("machine", {}).get("workers") or 1)
            done = [cell for cell in cells if cell.status == "done"]
            left = seconds_left(done, found.to_go, running, workers) if running else None
            algorithms = list(dict.fromkeys(row.algorithm for row in plan))
            datasets = list(dict.fromkeys(row.dataset for row in plan))
            return {
                **found.to_dict(),
                "running": [
                    {"algorithm": one.algorithm, "dataset": one.dataset, "seed": one.seed, "seconds": one.seconds}
                    for one in running
                ],
                "seconds_left": left,
                "name": str(manifest.get("study", {}).get("name", self.folder.name)),
                "algorithms": algorithms,
                "datasets": datasets,
                "grid": [[states.get((dataset, name), "to go") for name in algorithms] for dataset in datasets],
                "leaderboard": self._leaderboard(store),
                "report": None if self._page is None else {"cells": self._cells},
                "no_report": self._refused,
                "adaptive": None if (journal := read_adaptive(self.folder)) is None else str(journal["said"]),
            }

    def report(self) -> bytes | None:
        """The last report, as HTML."""
        return self._page

    def _leaderboard(self, store: Store) -> Mapping[str, Any] | None:
        """Mean ranks and means over the datasets that every algorithm has finished; None while there are too few."""
        try:
            results = store.results()
            metric = self.metric or default_metric(results)
            matrix = results.matrix(metric, missing="drop-datasets")
        except RecAssayError:
            return None
        ranks = ties.ranks(matrix.values, higher_is_better=matrix.higher_is_better, axis=0).mean(axis=1)
        means = matrix.values.mean(axis=1)
        rows = [
            {"algorithm": matrix.algorithms[i], "mean_rank": float(ranks[i]), "mean": float(means[i])}
            for i in ranks.argsort(kind="stable")
        ]
        return {
            "said": f"{matrix.metric} over the {len(matrix.datasets)} datasets that all have finished. "
            + (look_at(matrix).sentence() if len(matrix.algorithms) > 1 else ""),
            "rows": rows,
        }

    def _keep_reporting(self) -> None:
        tried = 0
        while not self._stop.is_set():
            try:
                with Store.open(self.folder) as store:
                    done = store.status().done
            except (RecAssayError, OSError):  # the folder is being moved, or written anew
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


@checked
def serve(
    folder: str | Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    metric: str | None = None,
    ready: Callable[[LiveServer], None] | None = None,
) -> None:
    """Serve the live page of the study in `folder` until interrupted.

    It listens on this machine alone unless `host` says otherwise, only reads, and shows nothing but the study.

    Args:
        folder: the folder of a study.
        host: address to listen on; by default this machine alone.
        port: port to listen on.
        metric: metric of the report; by default as for `report`.
        ready: told when it listens.
    """
    folder = Path(folder)
    with Store.open(folder) as store:
        labels = dict.fromkeys(label for row in store.plan() for label in row.metrics)
        if metric is not None and labels:
            find_label(metric, [*labels, *COST_METRICS])

    def page() -> bytes:
        return report_page(folder, metric, missing="drop-datasets", replicates=REPLICATES)[1].encode()

    with LiveStudy(folder, metric, page) as study:
        try:
            server = LiveServer((host, port), study.status, study.report)
        except OverflowError:
            raise UsageError(f"there is no port {port}", fix="choose one from 0 to 65535") from None
        except OSError as error:
            raise InputError(
                f"cannot listen there: {error.strerror}", where=f"{host}:{port}", fix="choose another --port or --host"
            ) from None
        with server:
            if ready is not None:
                ready(server)
            server.serve_forever()
