"""Adaptive benchmarking: the ranking of a whole grid for a fraction of its cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from recassay.analysis.adaptive.belief import as_evidence
from recassay.analysis.adaptive.decide import CellGrid, Probes, Question, decide
from recassay.analysis.adaptive.prior import Prior, Table, prior_from
from recassay.analysis.adaptive.result import AdaptiveResult, Step
from recassay.core import columns as c
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.errors import InputError, UsageError
from recassay.core.predicted_seconds import predict_seconds
from recassay.core.tables.cells import table_of
from recassay.core.tables.characteristics import CharacteristicsTable
from recassay.core.tables.labels import find_label, split_label
from recassay.core.tables.results import Results
from recassay.core.types import BoolArray, FloatArray

__all__ = ["CellGrid", "Prior", "Probes", "Question", "Table", "as_evidence", "decide", "prior_from"]
"""What verbs see of the other modules of this analysis."""

Measured: TypeAlias = tuple[float | None, float]
"""What a cell gave and the seconds it took; None or NaN where it failed."""

Runner: TypeAlias = Callable[[Sequence[tuple[str, str]]], Mapping[tuple[str, str], Measured]]
"""Runs cells (algorithm, dataset)."""

PROBE_RATIO = 0.1
"""The share of a cell's seconds that a probe is expected to take."""

SIZES = ("Nr", "size", "interactions", "n")
"""Names of the characteristic that says how large a dataset is, the first that is there."""


@dataclass(frozen=True, slots=True, eq=False)
class Benchmark:
    """A table as an adaptive benchmark reads it: `values` with higher ones better, NaN where a cell was not run and
    -inf where it failed; `seconds` of those that were run, NaN where they are not known.
    """

    grid: CellGrid
    values: FloatArray
    seconds: FloatArray
    probes: Probes | None = None
    """What probes of the cells would give and take, for a replay."""


def read_benchmark(
    results: Results,
    metric: str,
    *,
    characteristics: CharacteristicsTable | None = None,
    classes: Mapping[str, str] | None = None,
    higher_is_better: bool | None = None,
    algorithms: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
) -> Benchmark:
    """One metric of a table and its times. A row without a value is a cell that failed; no row is one not run.

    `algorithms` and `datasets` name the whole grid where the table does not yet have all of it.
    """
    label = find_label(metric, results.metrics)
    upward = results.direction(label, higher_is_better)
    rows = tuple(algorithms or results.algorithms)
    columns = tuple(datasets or results.datasets)
    for what, names, known in (("algorithm", results.algorithms, rows), ("dataset", results.datasets, columns)):
        others = [name for name in names if name not in known]
        if others:
            raise InputError(
                f"the table has the {what} {others[0]!r}, which is not of the grid", fix="name it, or drop it"
            )
    failed = pl.col(c.VALUE).fill_null(-np.inf)
    values = table_of(results.cells(label).with_columns(failed), c.VALUE, rows, columns)
    values = np.where(np.isfinite(values) & (not upward), -values, values)
    timed = [name for name in results.metrics if split_label(name)[0] in ("seconds_fit", "seconds_predict")]
    timed = timed or [name for name in results.metrics if split_label(name)[0] == "seconds"]
    times = [table_of(results.cells(name), c.VALUE, rows, columns) for name in timed]
    seconds = np.sum(times, axis=0) if times else np.full(values.shape, np.nan)
    sizes = None if characteristics is None else log_sizes(characteristics.aligned(columns))
    kinds = None if classes is None else tuple(classes.get(name, "other") for name in rows)
    return Benchmark(CellGrid(label, rows, columns, sizes, kinds, upward), values, seconds)


def log_sizes(table: CharacteristicsTable) -> FloatArray:
    """The logarithm of the size of each dataset, which is all that a decision uses of its characteristics.

    Sizes that are not all above 0 are taken for logarithms.
    """
    name = next((name for name in SIZES if name in table.names), table.names[0])
    size = table.values[:, table.names.index(name)]
    if np.isnan(size).any():
        raise InputError("a characteristic is not known of every dataset", where=table.where, fix="fill or drop it")
    return np.log(size) if (size > 0).all() else size


def run_adaptive(
    runner: Runner,
    grid: CellGrid,
    question: Question,
    *,
    budget: float | None = None,
    workers: int = 1,
    allowed: BoolArray | None = None,
    probe: Runner | None = None,
    probe_ratio: float = PROBE_RATIO,
    prior: Prior | None = None,
    progress: Callable[[AdaptiveResult], None] | None = None,
    seed: int = 0,
) -> AdaptiveResult:
    """Run cells until the target is certified, `budget` seconds of cells are spent, or all were run.

    `progress` hears of every decision. Where there is one, `probe` runs cells in a cheaper way, which takes about
    `probe_ratio` of their seconds. `prior` is what published tables say about the algorithms.
    """
    values, seconds = grid.unknown(), grid.unknown()
    probes = None if probe is None else Probes(grid.unknown(), grid.unknown(), probe_ratio)
    steps: list[Step] = []
    while True:
        spent = np.nansum(seconds) + (0.0 if probes is None else np.nansum(probes.seconds))
        left = np.inf if budget is None else budget - float(spent)
        result = decide(
            grid, question, values, seconds, probes=probes, prior=prior,
            steps=steps, allowed=allowed, cells=workers, most_seconds=left, seed=seed,
        )  # fmt: skip
        if progress is not None:
            progress(result)
        if result.next is None:
            return result
        if probe is not None and probes is not None and result.next.probes:
            _measure(probe, grid, result.next.probes, probes.values, probes.seconds)
        if result.next.cells:
            _measure(runner, grid, result.next.cells, values, seconds)
        steps.append(result.next)


def _measure(
    runner: Runner, grid: CellGrid, cells: Sequence[tuple[str, str]], values: FloatArray, seconds: FloatArray
) -> None:
    """Run cells and put what they gave and took into the tables."""
    measured = runner(cells)
    for algorithm, dataset in cells:
        try:
            value, took = measured[algorithm, dataset]
        except (KeyError, TypeError, ValueError):
            raise UsageError(
                f"the function that runs cells gave no value and seconds for {algorithm} on {dataset}",
                fix="return a mapping of every (algorithm, dataset) to (value, seconds), with None for a failed cell",
            ) from None
        at = grid.place(algorithm, dataset)
        failed = value is None or np.isnan(value)
        values[at] = -np.inf if failed else (value if grid.higher_is_better else -value)  # type: ignore[operator]
        seconds[at] = took


def replay(
    benchmark: Benchmark,
    question: Question,
    *,
    budget: float | None = None,
    workers: int = 1,
    prior: Prior | None = None,
    progress: Callable[[AdaptiveResult], None] | None = None,
    seed: int = 0,
) -> AdaptiveResult:
    """The adaptive run that a table would have seen: a cell's value is revealed when its seconds are paid.

    Cells without a time cost what the model of costs makes of the others; a table without any time has cells of one
    second each.
    """
    grid, values, probes = benchmark.grid, benchmark.values, benchmark.probes
    return run_adaptive(
        _revealed(grid, values, replay_costs(benchmark)), grid, question, budget=budget, workers=workers,
        allowed=~np.isnan(values), probe=None if probes is None else _revealed(grid, probes.values, probes.seconds),
        probe_ratio=PROBE_RATIO if probes is None else probes.ratio, prior=prior, progress=progress, seed=seed,
    )  # fmt: skip


def _revealed(grid: CellGrid, values: FloatArray, costs: FloatArray) -> Runner:
    """A runner that looks up what cells gave and took."""
    reported = values if grid.higher_is_better else -values

    def reveal(cells: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Measured]:
        places = {cell: grid.place(*cell) for cell in cells}
        return {
            cell: (None if np.isneginf(values[at]) else float(reported[at]), float(costs[at]))
            for cell, at in places.items()
        }

    return reveal


def replay_costs(benchmark: Benchmark) -> FloatArray:
    """What each cell of a table cost."""
    if np.isnan(benchmark.seconds).all():
        return np.ones(benchmark.seconds.shape)
    return predict_seconds(benchmark.seconds, benchmark.grid.log_size, benchmark.grid.classes)


def fit_adaptive(
    results: Results, journal: Mapping[str, Any], *, metric: str | None = None, higher_is_better: bool | None = None
) -> AdaptiveResult:
    """How an adaptive study stands: its table, and its journal of decisions (`recassay run --adaptive` keeps it).

    Under another `metric` than the journal's, the same cells say what they say about that one.
    """
    features = journal.get("features")
    table = read_benchmark(
        results,
        metric or journal["metric"],
        higher_is_better=higher_is_better,
        algorithms=journal["algorithms"],
        datasets=journal["datasets"],
    )
    grid = replace(
        table.grid,
        log_size=None if features is None else np.array(features, dtype=np.float64)[:, 0],
        classes=None if journal.get("classes") is None else tuple(journal["classes"]),
    )
    question = Question(**journal["question"])
    seconds = table.seconds.copy()
    for algorithm, dataset, took in journal.get("seconds", ()):
        if algorithm in grid.algorithms and dataset in grid.datasets:
            seconds[grid.place(algorithm, dataset)] = took
    probes, prior = None, None
    if metric in (None, journal["metric"]):
        if journal.get("probes") is not None:
            # Those that the journal does not name were not run.
            probes = Probes(grid.unknown(), grid.unknown(), journal["probe_ratio"])
            for algorithm, dataset, value, took in journal["probes"]:
                at = grid.place(algorithm, dataset)
                probes.values[at], probes.seconds[at] = -np.inf if value is None else value, took
        prior = None if journal.get("prior") is None else Prior.from_dict(journal["prior"])
    result = decide(
        grid, question, table.values, seconds, probes=probes, prior=prior,
        steps=tuple(map(Step.from_dict, journal["steps"])), seed=int(journal["seed"]),
    )  # fmt: skip
    return replace(result, ended=result.ended or journal.get("ended"))


def _run(results: Results, spec: AnalysisSpec) -> AdaptiveResult:
    journal = spec.required("adaptive")
    return fit_adaptive(results, journal, metric=spec.metric, higher_is_better=spec.higher_is_better)


ANALYSIS = Analysis(
    name="adaptive",
    question="What do the cells that were run say about the ranking of the whole grid?",
    source="rank likelihood: Hoff 2007; matrix-normal Gaussian process over datasets",
    run=_run,
)
