"""The chooser of an adaptive study: reads the store, decides, and keeps what was decided and why; and its prior."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from recassay.analysis.adaptive.fit import (
    CellGrid,
    Prior,
    Probes,
    Question,
    Table,
    as_evidence,
    decide,
    log_sizes,
    prior_from,
    read_benchmark,
)
from recassay.analysis.adaptive.result import AdaptiveResult, Step
from recassay.core.names import canonical
from recassay.core.seeds import derived_rng
from recassay.core.tables.labels import facts_of, known_direction
from recassay.core.tabular import stated
from recassay.core.types import FloatArray
from recassay.data.published.tables import PREFIX, published, published_characteristics, published_results
from recassay.metrics.make import make_metric
from recassay.recommenders.plan import Plan
from recassay.recommenders.price import cost_classes, planned_sizes
from recassay.recommenders.probes import PROBES, UNTUNED, Probing
from recassay.recommenders.study import Choice
from recassay.reporting.words.adaptive import standing
from recassay.store.adaptive import read_adaptive, write_adaptive
from recassay.store.store import Store

WORTH = 5.0
"""A batch takes at least so many times as long as the decision before it."""


@dataclass(slots=True)
class AdaptiveStudy:
    """Which cells of a study run next: a `StudyChooser`. `budget` is in seconds from the first decision on.

    An algorithm on a dataset is one cell of the grid, with all its seeds and folds; it is run whole, and counts as
    failed where any of them failed. Where there is one, `probe` runs cells in the cheaper way that `probing` says, in a
    study of its own inside the folder: a look that is weighed like any cell.
    """

    question: Question
    budget: float | None = None
    workers: int = 1
    began: float | None = None
    took: float = 0.0
    steps: tuple[Step, ...] = ()
    last: AdaptiveResult | None = field(default=None)
    probe: Callable[[Path, Sequence[tuple[str, str]]], None] | None = None
    probing: Probing = UNTUNED
    waiting: tuple[tuple[str, str], ...] = ()
    evidence: Callable[[CellGrid], Prior | None] | None = None
    """Where the prior comes from; without it the run starts from nothing. A run that was begun without a prior goes on
    without one."""

    def __call__(self, planned: Plan, store: Store) -> Choice:
        """Run the probes that were decided on, decide, and keep the decision."""
        if self.probe is not None and self.waiting:
            self.probe(store.folder, self.waiting)
        start = time.monotonic()
        if self.began is None:
            self.began = start
            journal = read_adaptive(store.folder)
            self.steps = () if journal is None else tuple(map(Step.from_dict, journal["steps"]))
            if journal is not None and not journal.get("with_prior", True):
                self.evidence = None
        left = np.inf if self.budget is None else self.budget - (start - self.began)
        grid = study_grid(planned, store.folder)
        values, seconds = stored_cells(grid, store)
        ratio = self.probing.ratio(planned.study.tuning.trials)
        probes = stored_probes(grid, store.folder, ratio, more=self.probe is not None)
        prior = None if self.evidence is None else self.evidence(grid)
        result = decide(
            grid,
            self.question,
            values,
            seconds,
            probes=probes,
            prior=prior,
            steps=self.steps,
            cells=self.workers,
            least_seconds=WORTH * self.took * self.workers,
            most_seconds=left,
        )
        summary = standing(result)
        if result.next is not None:
            self.steps = (*self.steps, result.next)
        self.last = replace(result, steps=self.steps)
        write_adaptive(store.folder, self._journal(grid, result, summary, probes, prior))
        self.took = time.monotonic() - start
        self.waiting = () if result.next is None else result.next.probes
        place = {} if result.next is None else {cell: n for n, cell in enumerate(result.next.cells)}
        chosen = [row for row in store.plan() if (row.algorithm, row.dataset) in place]
        rows = sorted(chosen, key=lambda row: place[row.algorithm, row.dataset])
        return Choice([row.cell for row in rows], summary, again=bool(self.waiting))

    def _journal(
        self, grid: CellGrid, result: AdaptiveResult, standing_line: str, probes: Probes | None, prior: Prior | None
    ) -> dict[str, Any]:
        return {
            **stated(grid, "metric", "algorithms", "datasets"),
            "features": None if grid.log_size is None else grid.log_size[:, None],
            "classes": grid.classes,
            "question": self.question,
            "budget": self.budget,
            "seed": 0,
            "steps": self.steps,
            "ended": result.ended,
            "said": standing_line,
            "with_prior": self.evidence is not None,
            "prior": prior,
            **({} if probes is None else {"probes": list(_ran(grid, probes)), "probe_ratio": probes.ratio}),
        }


def stored_probes(grid: CellGrid, folder: Path, ratio: float, *, more: bool) -> Probes | None:
    """What the probes of a study in `folder` gave and took (`ratio` is the share of a cell's seconds that is expected),
    and whether `more` may be run; None where there are none, and none may be.
    """
    if Store.begun(folder / PROBES):
        with Store.open(folder / PROBES) as store:
            return Probes(*stored_cells(grid, store), ratio, more)
    shape = (len(grid.algorithms), len(grid.datasets))
    return Probes(np.full(shape, np.nan), np.full(shape, np.nan), ratio) if more else None


def _ran(grid: CellGrid, probes: Probes) -> Iterator[tuple[str, str, float, float]]:
    """The probes that were run: algorithm, dataset, value (-inf: it failed; higher is better) and seconds."""
    for i, j in np.argwhere(~np.isnan(probes.values)):
        yield grid.algorithms[i], grid.datasets[j], probes.values[i, j], probes.seconds[i, j]


def study_grid(planned: Plan, folder: Path) -> CellGrid:
    """The grid of a plan: its algorithms, the datasets that could be prepared, and the metric that tuning maximises
    where the study reports it, else the first that it reports.
    """
    labels = planned.cells[0].spec.metrics
    tuned = make_metric(planned.study.tuning.metric).label
    sizes = planned_sizes(planned, folder)
    names = tuple(dict.fromkeys(cell.algorithm.name for cell in planned.cells))
    classes = cost_classes(planned.study)
    metric = tuned if tuned in labels else labels[0]
    return CellGrid(
        metric,
        names,
        sizes.datasets,
        log_sizes(sizes),
        tuple(classes[name] for name in names),
        known_direction(metric) is not False,
    )


def stored_cells(grid: CellGrid, store: Store) -> tuple[FloatArray, FloatArray]:
    """Values (higher is better; NaN: not run whole; -inf: failed, or not planned) and seconds of the grid's cells."""
    shape = (len(grid.algorithms), len(grid.datasets))
    planned = Counter((row.algorithm, row.dataset) for row in store.plan())
    measured: dict[tuple[str, str], list[tuple[float, float]]] = {}
    sign = -1.0 if known_direction(grid.metric) is False else 1.0
    for cell in store.cells():
        value = cell.metrics.get(grid.metric) if cell.status == "done" else None
        up = -np.inf if value is None or np.isnan(value) else sign * value
        measured.setdefault((cell.algorithm, cell.dataset), []).append((up, cell.seconds or 0.0))
    values, seconds = np.full(shape, np.nan), np.full(shape, np.nan)
    for i, algorithm in enumerate(grid.algorithms):
        for j, dataset in enumerate(grid.datasets):
            ran = measured.get((algorithm, dataset), [])
            if ran and len(ran) == planned[algorithm, dataset]:
                values[i, j] = np.mean([up for up, _ in ran])
                seconds[i, j] = sum(took for _, took in ran)
            elif not planned[algorithm, dataset]:
                values[i, j] = -np.inf
    return values, seconds


FALLBACK = "ndcg@10"
"""The metric that is taken where a table lacks a hit-like one: they order algorithms much alike."""

LEAST_DATASETS = 3

BETWEEN_BENCHMARKS = 0.25
"""The least variance of an algorithm's level between benchmarks; between the published tables it is 0.2 to 0.8."""


def published_prior(grid: CellGrid) -> Prior | None:
    """The prior from every published table that shares algorithms with the grid; None where none does.

    Datasets that the grid itself has are left out of the tables, so that no result is used twice.
    """
    names = frozenset(canonical(name) for name in grid.datasets)
    tables = [
        _evidence(name, grid.metric, names)
        for name, entry in published().items()
        if entry.results and not entry.replaced_by
    ]
    known = [table for table in tables if table is not None]
    return prior_from(known, grid.algorithms, grid.classes, between=BETWEEN_BENCHMARKS)


@cache
def _evidence(name: str, metric: str, ours: frozenset[str]) -> Table | None:
    results = published_results(PREFIX + name)
    label = metric if metric in results.metrics else FALLBACK
    known = facts_of(metric)
    alike = label == metric or (known is not None and known.hit_like)
    if label not in results.metrics or not alike:
        return None
    characteristics = published_characteristics(PREFIX + name) if published()[name].characteristics else None
    table = read_benchmark(results, label)
    others = [j for j, dataset in enumerate(table.grid.datasets) if canonical(dataset) not in ours]
    if len(others) < LEAST_DATASETS:
        return None
    size = None if characteristics is None else log_sizes(characteristics.aligned(table.grid.datasets))[others]
    rng = derived_rng(0, "published prior", name, label, str(len(others)))
    return as_evidence(
        PREFIX + name, table.grid.algorithms, np.ascontiguousarray(table.values[:, others]), table.seconds[:, others],
        size, rng,
    )  # fmt: skip
