"""Lists to be used: an algorithm fitted on all events of a log, with the parameters that a study found."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from recassay.core import columns as c
from recassay.core.errors import InputError, RecAssayError, UsageError
from recassay.core.names import did_you_mean
from recassay.core.seeds import derived_rng
from recassay.core.specs.search import defaults
from recassay.core.specs.specs import ProtocolSpec
from recassay.core.specs.study import AlgorithmSpec, Budget, DatasetSpec, StudySpec
from recassay.core.system.plain import plain
from recassay.core.types import IdArray, Interactions, Recommender
from recassay.core.words import listing
from recassay.data.sources import OpenedDataset, is_path, open_dataset, path_of
from recassay.metrics.make import make_metric
from recassay.metrics.recommend import recommend_all
from recassay.protocol.apply import apply_protocol
from recassay.recommenders.list_rows import list_rows
from recassay.recommenders.plan import dataset_protocol
from recassay.recommenders.references import ListedAlgorithm, load_algorithm
from recassay.recommenders.space import settle
from recassay.recommenders.splits import refuse_too_many_events
from recassay.recommenders.work import refuse_over_budget
from recassay.runner.jobs import Emit, JobFailure
from recassay.runner.memory import children_peak_bytes, peak_bytes
from recassay.store.records import CellRecord
from recassay.store.sealed import manifest_study
from recassay.store.store import Store

STAGE, REFUSED = "stage", "refused"
"""Keys of events: what is being done; and an error as its parts, so that it is raised as it was."""

ROWS_AT_ONCE = 2_000_000
"""Rows of lists that are made and written together: what is held does not grow with the number of users."""

MADE_ELSEWHERE = "lists that were made elsewhere cannot be fitted"


@dataclass(frozen=True, slots=True)
class Settled:
    """What a study says of one of its datasets: the algorithm, its parameters, and how the data are read."""

    algorithm: AlgorithmSpec
    parameters: dict[str, Any]
    dataset: DatasetSpec
    protocol: ProtocolSpec
    budget: Budget
    notes: tuple[str, ...] = field(default=())


def settled_by_study(folder: Path, source: str, algorithm: str | None) -> Settled:
    """The parameters that the study in `folder` found for an algorithm on a dataset, by default for its best one there.

    Best is the highest mean over seeds and folds of the metric that tuning looked at, on the test part. Of several
    seeds, the parameters are those with the best value on the validation part.
    """
    with Store.open(folder) as store:
        manifest = store.manifest()
        cells = [cell for cell in store.cells() if cell.status == "done"]
    if "algorithms" not in manifest.get("study", {}):
        raise UsageError("is a study of classifiers", where=str(folder), fix="name a study of recommenders")
    study = manifest_study(manifest, folder)
    dataset, notes = _dataset_of(study, source, folder)
    made = [cell for cell in cells if cell.dataset == dataset.name]
    specs = {spec.name: spec for spec in study.algorithms}
    if algorithm is not None and algorithm not in specs:
        fix = did_you_mean(algorithm, specs)
        raise UsageError(f"the study has no algorithm {algorithm!r}", where=str(folder), fix=fix)
    wanted = [cell for cell in made if algorithm in (None, cell.algorithm)]
    if not wanted:
        whose = "no algorithm" if algorithm is None else algorithm
        raise InputError(f"{whose} is done on {dataset.name}", where=str(folder), fix="run the study to its end")
    chosen = algorithm or _best(wanted, study.tuning.metric)
    sign = 1 if make_metric(study.tuning.metric).higher_is_better else -1
    of_algorithm = [cell for cell in wanted if cell.algorithm == chosen]
    found = max(of_algorithm, key=lambda cell: -np.inf if cell.validation is None else sign * cell.validation)
    return Settled(
        specs[chosen],
        dict(found.parameters or {}),
        dataset,
        dataset_protocol(study, dataset),
        study.budget,
        notes,
    )


def _dataset_of(study: StudySpec, source: str, folder: Path) -> tuple[DatasetSpec, tuple[str, ...]]:
    """The dataset of the study that `source` is: the same name or file, else the only one there is."""
    for dataset in study.datasets:
        if source in (dataset.reference, dataset.name):
            return dataset, ()
    if is_path(source):
        path = path_of(source)
        for dataset in study.datasets:
            if is_path(dataset.reference) and Path(dataset.reference).name == path.name:
                return dataset, ()
    if len(study.datasets) == 1:
        only = study.datasets[0]
        return only, (f"The parameters are those for {only.name}, the only dataset of {folder}.",)
    names = listing((dataset.name for dataset in study.datasets), most=8)
    raise UsageError(f"the study has no dataset {source!r}", where=str(folder), fix=f"it has {names}")


def _best(cells: Sequence[CellRecord], metric: str) -> str:
    """The algorithm with the best mean of a metric; of those that have most cells, so that none is judged on less."""
    wanted = make_metric(metric)
    label = wanted.label if wanted.label in cells[0].metrics else next(iter(cells[0].metrics))
    sign = 1 if make_metric(label).higher_is_better else -1
    values: dict[str, list[float]] = {}
    for cell in cells:
        value = cell.metrics.get(label)
        values.setdefault(cell.algorithm, []).append(-np.inf if value is None else sign * value)
    most = max(map(len, values.values()))
    return max((name for name in values if len(values[name]) == most), key=lambda name: float(np.mean(values[name])))


def make_lists(payload: Mapping[str, Any], emit: Emit) -> Mapping[str, Any]:
    """The job: read all events, fit, and write the lists of the users into the file `target`.

    Payload: `dataset` (a `DatasetSpec`), `protocol`, `algorithm` (an `AlgorithmSpec`), `parameters` that are settled,
    `base`, `k`, `users` (ids as text, None: all), `columns` (what users and items are called, None: as in the log),
    `seed`, `target`, and `memory` with `memory_in_words`. What a user got wrong is emitted as it is raised.
    """
    try:
        return _make_lists(payload, emit)
    except JobFailure:
        raise
    except RecAssayError as error:
        emit({REFUSED: {"what": error.what, "where": error.where, "fix": error.fix, "code": error.exit_code}})
        raise


def _make_lists(payload: Mapping[str, Any], emit: Emit) -> Mapping[str, Any]:
    dataset = DatasetSpec.model_validate(payload["dataset"])
    spec = AlgorithmSpec.model_validate(payload["algorithm"])
    protocol = ProtocolSpec.model_validate(payload["protocol"])
    limit = payload["memory"], payload["memory_in_words"]
    kind = load_algorithm(spec.reference, payload["base"])
    if issubclass(kind, ListedAlgorithm):
        raise UsageError(MADE_ELSEWHERE, where=spec.reference, fix="name an algorithm")
    fixed, space = settle(kind, spec.settings | payload["parameters"], spec.name)
    parameters = defaults(space) | fixed

    emit({STAGE: "read"})
    refuse_too_many_events(dataset, payload["base"], *limit)
    opened = open_dataset(dataset.reference, dataset.read, base=payload["base"])
    train, barred = _training(opened, protocol)
    names = payload["columns"] or _column_names(opened.reading)
    users, unknown, uncounted = _wanted(payload["users"], train, opened.interactions, header=names[0])

    emit({STAGE: "fit", "users": train.n_users, "items": train.n_items, "events": len(train)})
    algorithm = kind(**parameters)
    predicted = refuse_over_budget(algorithm, (train.n_users, train.n_items, len(train)), *limit)
    begin = time.perf_counter()
    rng = derived_rng(payload["seed"], "fit", dataset.name, spec.name, "final")
    recommender = algorithm.fit(train.read_only(), rng=rng)
    seconds_fit = time.perf_counter() - begin

    begin = time.perf_counter()
    counts = {"lists": 0, "rows": 0, "short": 0}
    blocks = _blocks(recommender, users, payload["k"], train, barred, counts, emit)
    target = Path(payload["target"])
    _write_blocks((block.rename({c.USER: names[0], c.ITEM: names[1]}) for block in blocks), target)
    return plain(
        {
            **counts,
            "parameters": parameters,
            "columns": [names[0], c.RANK, names[1], c.SCORE],
            "users": train.n_users,
            "items": train.n_items,
            "events": len(train),
            "unknown": unknown,
            "uncounted": uncounted,
            "told": list(opened.notes()),
            "seconds_fit": seconds_fit,
            "seconds_lists": time.perf_counter() - begin,
            "memory": max(filter(None, (peak_bytes(), children_peak_bytes())), default=None),
            "predicted_memory": predicted,
        }
    )


def _training(opened: OpenedDataset, protocol: ProtocolSpec) -> tuple[Interactions, csr_array | None]:
    """All events that count as the training part of a split that holds nothing back; and what lists may not name.

    An event below the threshold does not count, but its item is known to the user, and is left out of the list too.
    """
    events = opened.interactions
    if not len(events):
        raise InputError("there are no events", where=opened.name, fix="give a log with at least one row")
    nothing = events.take(slice(0, 0))
    train = apply_protocol(None, protocol, given=(events, nothing, nothing)).train
    if protocol.task == "repeat":
        return train, None
    if protocol.positive_threshold is None:
        return train, train.csr()
    user, item = (
        _positions(theirs, ours)[column]
        for theirs, ours, column in (
            (events.users, train.users, events.user),
            (events.items, train.items, events.item),
        )
    )
    known = (user >= 0) & (item >= 0)
    ones = np.ones(int(known.sum()), dtype=np.float32)
    seen = csr_array((ones, (user[known], item[known])), shape=(train.n_users, train.n_items))
    seen.sum_duplicates()
    seen.data[:] = 1.0
    return train, seen


def _positions(ids: pl.Series, table: pl.Series) -> IdArray:
    """For each of `ids`, its position in the `table`; -1 where it is not there."""
    places = pl.DataFrame({"id": table.cast(pl.String), "place": np.arange(table.len(), dtype=np.int32)})
    wanted = pl.DataFrame({"id": ids.cast(pl.String)})
    return wanted.join(places, on="id", how="left", maintain_order="left")["place"].fill_null(-1).to_numpy()


def _wanted(
    names: Sequence[str] | None, train: Interactions, events: Interactions, *, header: str
) -> tuple[IdArray, list[str], int]:
    """The users to make lists for, those among the names that the log lacks, and how many have no event that counts.

    The first name may be the `header` of the column that they come from.
    """
    if names is None:
        return np.arange(train.n_users, dtype=np.int32), [], events.n_users - train.n_users
    asked = pl.Series(list(dict.fromkeys(names)), dtype=pl.String)
    places, logged = _positions(asked, train.users), _positions(asked, events.users)
    unknown = asked.filter(logged < 0).to_list()
    if not (logged >= 0).any():
        raise UsageError(
            f"none of the {asked.len():,} users is in the log (the first: {asked[0]!r})"
            if asked.len() > 1
            else f"the user {asked[0]!r} is not in the log",
            fix=f"name users as the log does, such as {train.users[0]!r}",
        )
    unknown = unknown[1:] if unknown and unknown[0] == asked[0] == header else unknown
    return places[places >= 0], unknown, int(((places < 0) & (logged >= 0)).sum())


def _column_names(reading: Mapping[str, Any]) -> tuple[str, str]:
    """What the log calls users and items; plain names where it has no header, or where they would be mistaken."""
    columns = reading.get("columns") or (reading.get("record") or {}).get("columns") or {}
    names = [str(columns.get(role, role)) for role in (c.USER, c.ITEM)]
    mistaken = {c.RANK, c.SCORE, ""} & set(names) or any(name.isdecimal() for name in names) or names[0] == names[1]
    return (c.USER, c.ITEM) if mistaken else (names[0], names[1])


def _blocks(
    recommender: Recommender,
    users: IdArray,
    k: int,
    train: Interactions,
    barred: csr_array | None,
    counts: dict[str, int],
    emit: Emit,
) -> Iterator[pl.DataFrame]:
    """The lists of some users at a time; `counts` has the lists, their rows, and those that are shorter than k."""
    size = max(ROWS_AT_ONCE // k, 1)
    for start in range(0, len(users), size):
        emit({STAGE: "lists", "done": start, "total": len(users)})
        some = users[start : start + size]
        top = recommend_all(recommender, some, k, exclude=barred, n_items=train.n_items)
        lengths = (top.items >= 0).sum(axis=1)
        counts["lists"] += int((lengths > 0).sum())
        counts["rows"] += int(lengths.sum())
        counts["short"] += int(((lengths > 0) & (lengths < k)).sum())
        yield list_rows(top, train)
    if not counts["rows"]:
        what = f"nothing is left to recommend to the {len(users):,} users: they have had every item"
        raise InputError(what, fix="use `task='repeat'` where items may be had again, or a log of more items")


def _write_blocks(blocks: Iterator[pl.DataFrame], target: Path) -> None:
    """Write tables one below the other; of Parquet each into a file of its own first, which are then made one."""
    if target.suffix == ".csv":
        with target.open("wb") as file:
            for number, block in enumerate(blocks):
                block.write_csv(file, include_header=not number)
        return
    parts: list[Path] = []
    for number, block in enumerate(blocks):
        parts.append(target.with_name(f"{number}.parquet"))
        block.write_parquet(parts[-1], compression="zstd")
    if len(parts) == 1:
        parts[0].replace(target)
    else:
        pl.scan_parquet(parts, glob=False).sink_parquet(target, compression="zstd")
