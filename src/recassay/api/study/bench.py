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
from recassay.core.choices import Advanced, Range, Workers
from recassay.core.errors import InputError, UsageError
from recassay.core.tables.labels import find_label
from recassay.core.tables.results import Results
from recassay.core.tables.scores import UserScores
from recassay.core.tables.sources import Source
from recassay.data.published.benchmark import (
    OPEN,
    RESULTS,
    USER_METRIC,
    Benchmark,
    open_benchmark,
    rounded,
    sampled_users,
)
from recassay.data.published.tables import PREFIX
from recassay.data.tables.read import read_table
from recassay.recommenders.bench import chosen_datasets, one_algorithm_study, with_datasets
from recassay.recommenders.study import Event, run_study
from recassay.store.records import CellRecord
from recassay.store.store import Store


@checked
def bench(
    algorithm: str,
    *,
    datasets: Sequence[str] | None = None,
    data: str | Path | None = None,
    benchmark: Annotated[str | Path, Advanced] = OPEN,
    metric: str = USER_METRIC,
    seeds: Annotated[int, Range(1, 100), Advanced] = 1,
    folder: str | Path | None = None,
    fetch: bool = True,
    workers: Workers | None = None,
    progress: Callable[[Event], None] | None = None,
    told: Callable[[str], None] | None = None,
    seed: Annotated[int, Advanced] = 0,
) -> BenchResult:
    """Where an algorithm stands among the tuned baselines of a shipped benchmark; only the algorithm is run.

    It is tuned and judged under the benchmark's rules: the same splits (each is verified by its hash), trials, seeds
    and metrics. A dataset that cannot be had, or whose split differs, is skipped by name. The same call after an
    interruption goes on, and runs what failed again.

    Args:
        algorithm: a registered name, `my.py:MyAlgorithm`, or a TOML file that names one and its settings.
        datasets: some of the benchmark's datasets; by default all.
        data: folder with files named after the datasets; others are looked for among the stored ones, then downloaded.
        benchmark: `published:open`, or a folder that `benchmarks/open/export.py` wrote.
        metric: what is compared.
        seeds: how many of the benchmark's seeds to run; most baselines have one.
        folder: the folder of the study; by default `bench-` and the algorithm.
        fetch: download what is not there and has an address.
        workers: processes at a time; by default one per core.
        progress: called with every event of the run.
        told: called with the name of each dataset before its split is made.
        seed: of the resampling in the verdict: the same seed gives the same numbers.
    """
    shipped = open_benchmark(benchmark)
    label = find_label(metric, list(shipped.metrics))
    study = one_algorithm_study(shipped, algorithm, seeds)
    place = Path(folder) if folder is not None else Path(study.name)
    if data is not None and not Path(data).is_dir():
        raise UsageError("this folder does not exist", where=str(data), fix="name the folder of the datasets' files")
    wanted = chosen_datasets(shipped, datasets)
    study, skipped = with_datasets(
        study,
        wanted,
        place.resolve(),
        None if data is None else Path(data),
        fetch_data if fetch else None,
        told or (lambda _: None),
    )
    skipped |= {name: NOT_ASKED for name in shipped.datasets if name not in {dataset.name for dataset in wanted}}
    if not study.datasets:
        reasons = "; ".join(f"{name}: {why}" for name, why in list(skipped.items())[:3])
        raise InputError(
            f"none of the benchmark's datasets can be used ({reasons})", fix="name a folder that has them as `data`"
        )
    run_study(study, place, workers=workers, progress=progress, retry_failed=True)
    return _placed(shipped, place, study.algorithms[0].name, label, skipped, seed=seed)


def _placed(
    shipped: Benchmark, place: Path, algorithm: str, metric: str, skipped: dict[str, str], seed: int
) -> BenchResult:
    """The finished cells of the algorithm among the shipped values."""
    with Store.open(place) as store:
        cells = store.cells()
        done = [cell for cell in cells if cell.status == "done"]
        for cell in cells:
            if cell.status != "done":
                skipped[cell.dataset] = f"{algorithm} failed: {cell.reason}"
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
            {c.ALGORITHM: name, c.DATASET: cell.dataset, c.METRIC: metric, c.VALUE: rounded(cell.metrics.get(metric)),
             c.SEED: str(cell.seed)}
            for cell in done
            if cell.dataset in usable
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
    )


def _notes(shipped: Benchmark, done: Sequence[CellRecord]) -> Iterator[str]:
    run = sorted({cell.seed for cell in done})
    if len(run) < len(shipped.seeds):
        yield f"{len(run)} of the benchmark's {len(shipped.seeds)} seeds {'was' if len(run) == 1 else 'were'} run."
    if int(shipped.tuning.get("trials", 0)) and all(cell.validation is None for cell in done):
        yield "Nothing was tuned: the algorithm states no `space`, while the baselines were tuned."


def _scores(store: Store, done: Sequence[CellRecord], dataset: str) -> list[np.ndarray]:
    """The values of users in their sorted order, one array per seed."""
    frames = [store.per_user(cell.id).sort(c.USER) for cell in done if cell.dataset == dataset]
    columns = [frame.get_column(USER_METRIC) for frame in frames if USER_METRIC in frame.columns]
    return [column.cast(pl.Float64).fill_null(np.nan).to_numpy() for column in columns]


def _paired(shipped: Benchmark, dataset: str, name: str, scores: Sequence[np.ndarray]) -> UserScores | None:
    """The shipped users' values with those of the algorithm for the same users; None where they do not fit."""
    judged, known = shipped.datasets[dataset].judged, shipped.scores_of(dataset)
    if not known or not scores or any(len(values) != judged for values in scores):
        return None
    means = np.mean([values[sampled_users(dataset, judged)] for values in scores], axis=0)
    values = np.stack([*known.values(), means])
    whole = np.isfinite(values).all(axis=0)
    return UserScores(dataset, (*known, name), values[:, whole], int((~whole).sum()))
