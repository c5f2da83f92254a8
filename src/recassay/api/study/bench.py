"""The verb `bench`: one's own algorithm among the tuned baselines of the open benchmark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl

from recassay.analysis.bench.fit import place_algorithm
from recassay.analysis.bench.result import NOT_ASKED, BenchResult
from recassay.api.arguments import checked
from recassay.api.data import fetch_data
from recassay.core import columns as c
from recassay.core.choices import BENCHMARK, Advanced, Range, Workers
from recassay.core.errors import InputError, UsageError
from recassay.core.system.files import refuse_no_file, write_whole
from recassay.core.tables.labels import find_label
from recassay.core.tables.results import Results
from recassay.core.tables.scores import UserScores
from recassay.core.tables.sources import Source
from recassay.data.published.benchmark import (
    RESULTS,
    TRIAL,
    USER_METRIC,
    Benchmark,
    open_benchmark,
    sampled_users,
)
from recassay.data.published.tables import PREFIX
from recassay.data.tables.read import read_table
from recassay.recommenders.bench import (
    chosen_datasets,
    locate,
    one_algorithm_study,
    seal_plan,
    value_of,
    windows_of,
    with_datasets,
)
from recassay.recommenders.bundle.make import make_bundle
from recassay.recommenders.study import Event, run_study
from recassay.reporting.words.bench import making, plan_lines
from recassay.store.records import CellRecord
from recassay.store.store import Store


@checked
def bench(
    algorithm: str,
    *,
    datasets: Sequence[str] | None = None,
    data: str | Path | None = None,
    benchmark: Annotated[str | Path, Advanced] = BENCHMARK,
    metric: str = USER_METRIC,
    seeds: Annotated[int, Range(1, 100), Advanced] = 1,
    folder: str | Path | None = None,
    fetch: bool = True,
    trial: bool = False,
    bundle: str | Path | None = None,
    workers: Workers | None = None,
    progress: Callable[[Event], None] | None = None,
    told: Callable[[str], None] | None = None,
    seed: Annotated[int, Advanced] = 0,
) -> BenchResult:
    """Where an algorithm stands among the tuned baselines of a shipped benchmark; only the algorithm is run.

    It is tuned and judged under the benchmark's rules: the same splits (each is verified by its hash), trials, seeds
    and metrics. A dataset that cannot be had, or whose split differs, is skipped by name. The plan is sealed before
    anything runs. The same call after an interruption goes on, and runs what failed again.

    Args:
        algorithm: a registered name, `my.py:MyAlgorithm`, or a TOML file that names one and its settings.
        datasets: some of the benchmark's datasets; by default all.
        data: folder with files named after the datasets; others are looked for among the stored ones, then downloaded.
        benchmark: `published:board`, `published:board-time`, `published:open`, or a folder with such a benchmark.
        metric: what is compared.
        seeds: how many of the benchmark's seeds to run; most baselines have one.
        folder: the folder of the study; by default `bench-` and the algorithm.
        fetch: download what is not there and has an address.
        trial: instead, three small embedded datasets: offline, within a minute, and without a place on a board.
        bundle: write all that a board needs to check and show the result into this zip file; it holds no data.
        workers: processes at a time; by default one per core.
        progress: called with every event of the run.
        told: called with lines that say where the datasets come from, before anything runs, and with each dataset's
            name before its split is made.
        seed: of the resampling in the verdict: the same seed gives the same numbers.
    """
    if trial and (bundle is not None or data is not None or benchmark != BENCHMARK):
        raise UsageError(
            "a trial has its own data and no place: `bundle`, `data` and `benchmark` have no effect",
            fix="leave them out",
        )
    if bundle is not None:
        refuse_no_file(Path(bundle))
    shipped = open_benchmark(TRIAL if trial else benchmark)
    label = find_label(metric, list(shipped.metrics))
    study = one_algorithm_study(shipped, algorithm, seeds)
    place = Path(folder) if folder is not None else Path(f"{study.name}-try" if trial else study.name)
    if data is not None and not Path(data).is_dir():
        raise UsageError("this folder does not exist", where=str(data), fix="name the folder of the datasets' files")
    tell = told or (lambda _: None)
    wanted = chosen_datasets(shipped, datasets)
    located, skipped = locate(wanted, None if data is None else Path(data), fetch=fetch)
    sources = [(one.dataset.name, one.kind) for one in located]
    for line in plan_lines(study.algorithms[0].name, shipped.name, sources, skipped, str(data or "")):
        tell(line)
    study, unlike = with_datasets(study, located, place.resolve(), fetch_data, lambda name: tell(making(name)))
    skipped |= unlike
    skipped |= {name: NOT_ASKED for name in shipped.datasets if name not in {dataset.name for dataset in wanted}}
    if not study.datasets:
        reasons = "; ".join(f"{name}: {why}" for name, why in list(skipped.items())[:3])
        raise InputError(
            f"none of the benchmark's datasets can be used ({reasons})", fix="name a folder that has them as `data`"
        )
    name = study.algorithms[0].name
    seal_plan(study, place.resolve(), label)
    run_study(study, place, workers=workers, progress=progress, retry_failed=True)
    if bundle is not None:
        write_whole(Path(bundle), make_bundle(place, shipped, name))
    placed = _placed(shipped, place, name, label, skipped, seed=seed)
    return replace(placed, trial=trial)


def _placed(
    shipped: Benchmark, place: Path, algorithm: str, metric: str, skipped: dict[str, str], seed: int
) -> BenchResult:
    """The finished cells of the algorithm among the shipped values."""
    with Store.open(place) as store:
        cells = store.cells()
        for cell in cells:
            if cell.status != "done":
                skipped[cell.dataset] = f"{algorithm} failed: {cell.reason}"
        done = [cell for cell in cells if cell.status == "done"]
        usable = {cell.dataset for cell in done} - set(skipped)
        if not usable:
            raise InputError(
                f"{algorithm} has no value on any dataset ({'; '.join(sorted(set(skipped.values())))[:300]})",
                where=str(place),
                fix="mend the algorithm, and run again with the same command",
            )
        scores = {dataset: _scores(store, done, dataset) for dataset in sorted(usable)}
    table, file = read_table(shipped.folder / RESULTS, empty_fix="export the benchmark again")
    source = Source(f"{PREFIX}{shipped.name}", file.sha256)
    baselines = table.with_columns(pl.col(c.VALUE).cast(pl.Float64)).filter(pl.col(c.DATASET).is_in(sorted(usable)))
    name = f"{algorithm} (yours)" if algorithm in set(baselines.get_column(c.ALGORITHM)) else algorithm
    rows = pl.DataFrame(
        [
            {c.ALGORITHM: name, c.DATASET: dataset, c.METRIC: metric, c.VALUE: value_of(windows, metric),
             c.SEED: str(n)}
            for (dataset, n), windows in windows_of(done).items()
            if dataset in usable
        ],
        schema_overrides={c.VALUE: pl.Float64},
    )  # fmt: skip
    values = baselines.filter(pl.col(c.METRIC) == metric).select(rows.columns)
    counts = values.group_by(c.ALGORITHM).agg(pl.col(c.DATASET).n_unique().alias("n"))
    lacking = counts.filter(pl.col("n") < len(usable))
    left_out = {
        str(other): f"{len(usable) - n} of {len(usable)} datasets were not run"
        for other, n in sorted(lacking.iter_rows())
    }
    kept = values.filter(~pl.col(c.ALGORITHM).is_in(list(left_out)))
    if not kept.height:
        raise InputError("no baseline has a value on all of these datasets", fix="choose fewer datasets")
    compared = replace(source, file=f"{name} among the baselines of {source.file}")
    results = Results.from_frame(pl.concat([kept, rows]), sources=(compared,))
    matrix = results.matrix(metric, least_datasets=1)
    users = {
        dataset: both for dataset in usable if (both := _paired(shipped, dataset, name, scores[dataset])) is not None
    }
    joules = [float(cell.energy["joules"]) for cell in done if cell.energy]
    standing = place_algorithm(
        matrix, name, users, user_metric=USER_METRIC, benchmark=shipped.name, of_datasets=len(shipped.datasets),
        seed=seed,
    )  # fmt: skip
    return replace(
        standing,
        skipped=skipped,
        left_out=left_out,
        seconds=sum(cell.seconds or 0.0 for cell in cells),
        joules=sum(joules) if joules else None,
        folder=str(place),
        sources=(source,),
        results=results,
        notes=tuple(_notes(shipped, done)),
    )  # fmt: skip


def _notes(shipped: Benchmark, done: Sequence[CellRecord]) -> Iterator[str]:
    run = sorted({cell.seed for cell in done})
    if len(run) < len(shipped.seeds):
        yield f"{len(run)} of the benchmark's {len(shipped.seeds)} seeds {'was' if len(run) == 1 else 'were'} run."
    if int(shipped.tuning.get("trials", 0)) and all(cell.validation is None for cell in done):
        yield "Nothing was tuned: the algorithm states no `space`, while the baselines were tuned."


def _scores(store: Store, done: Sequence[CellRecord], dataset: str) -> list[list[np.ndarray]]:
    """The values of users in their sorted order: per seed, one array per window."""
    seeds: list[list[np.ndarray]] = []
    for (name, _), windows in windows_of(done).items():
        frames = [store.per_user(cell.id).sort(c.USER) for cell in windows if name == dataset]
        columns = [frame.get_column(USER_METRIC) for frame in frames if USER_METRIC in frame.columns]
        seeds += [[column.cast(pl.Float64).fill_null(np.nan).to_numpy() for column in columns]] if columns else []
    return seeds


def _paired(shipped: Benchmark, dataset: str, name: str, scores: Sequence[Sequence[np.ndarray]]) -> UserScores | None:
    """The shipped users' values with those of the algorithm for the same users; None where they do not fit."""
    judged, known = shipped.datasets[dataset].judged, shipped.scores_of(dataset)
    if not known or not scores or any(sum(map(len, windows)) != judged for windows in scores):
        return None
    means = np.mean(
        [np.concatenate([one[sampled_users(dataset, len(one))] for one in windows]) for windows in scores], axis=0
    )
    values = np.stack([*known.values(), means])
    whole = np.isfinite(values).all(axis=0)
    return UserScores(dataset, (*known, name), values[:, whole], int((~whole).sum()))
