"""Two algorithms of a study by user and by held-out event, with the activity of users and the popularity of items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from recassay.core import columns as c
from recassay.core.errors import NotApplicableError
from recassay.core.tables.labels import places_of
from recassay.core.tables.scores import GainScores
from recassay.core.types import FloatArray, IntArray, Split
from recassay.evidence.lists import JudgedLists
from recassay.evidence.users import user_matrix, user_rows
from recassay.protocol.strata import popularity
from recassay.recommenders.plan import CellSpec
from recassay.recommenders.splits import is_prepared, load_split
from recassay.store.files import LISTS, SCORES, cell_file
from recassay.store.records import CellRecord
from recassay.store.store import Store


def gain_scores(folder: Path, dataset: str, metric: str, algorithms: Sequence[str]) -> GainScores:
    """The scores of two algorithms on a dataset by user, and which held-out events their lists found.

    Cells of several seeds or folds are averaged user by user, and event by event within a split; events of several
    splits stand one after the other. Where targets are asked for one by one, after histories, a kept list is not the
    answer to every held-out event, and there are no events. Raises `NotApplicableError` where scores, lists or splits
    are not kept.
    """
    with Store.open(folder) as store:
        cells = [cell for cell in store.cells() if cell.status == "done" and cell.dataset == dataset]
        runs = _shared_runs([cell for cell in cells if cell.algorithm in algorithms], algorithms)
        kept = [cell for run in runs.values() for cell in run.values()]
        if not kept or any(not cell_file(folder, kind, cell.id).is_file() for cell in kept for kind in (SCORES, LISTS)):
            what = "the scores or lists of these algorithms are not kept"
            raise NotApplicableError(what, where=str(folder), fix="run the study again")
        missing = [split for split, _ in runs if not is_prepared(folder, split)]
        if missing:
            what = f"the split of {dataset} is not kept"
            raise NotApplicableError(what, where=str(folder), fix="run the study again")
        splits = {split: load_split(folder, split) for split, _ in runs}
        asked_alone = any(cell.spec["split"]["protocol"].get("target", "all") != "all" for cell in kept)
        k = None if asked_alone else _cutoff(metric, min(int(cell.spec["depth"]) for cell in kept))
        users, values = _matrix(((cell.algorithm, store.per_user(cell.id)) for cell in kept), metric, algorithms)
        activity = _activity(list(splits.values()), users)
        events = [
            _events(store, split, [run for (name, _), run in runs.items() if name == split_id], users, algorithms, k)
            for split_id, split in splits.items()
            if k is not None
        ]
    return _gathered(algorithms, values, activity, events, k)


def judged_gains(
    split: Split, judged: Sequence[JudgedLists], dataset: str, metric: str, algorithms: Sequence[str]
) -> GainScores:
    """The same of lists made elsewhere, by what they were judged on."""
    named = {lists.name: lists for lists in judged}
    users, values = _matrix(((name, named[name].result.per_user) for name in algorithms), metric, algorithms)
    k = _cutoff(metric, min(named[name].record.top.k for name in algorithms))
    events = []
    if k is not None:
        place, keys, popular = _held_out(split, users)
        found = np.zeros((len(algorithms), len(keys)))
        for row, name in enumerate(algorithms):
            top = named[name].record.top.cut(k)
            at, column = np.nonzero(top.items >= 0)
            found[row] = np.isin(keys, top.users[at].astype(np.int64) * split.train.n_items + top.items[at, column])
        events.append((place, popular, found))
    return _gathered(algorithms, values, _activity([split], users), events, k)


def _gathered(
    algorithms: Sequence[str],
    values: FloatArray,
    activity: IntArray,
    events: Sequence[tuple[IntArray, IntArray, FloatArray]],
    k: int | None,
) -> GainScores:
    none = np.empty(0, dtype=np.int64)
    who, popular, found = (np.concatenate(part, axis=-1) for part in zip(*events, strict=True)) if events else (
        none, none, np.empty((len(algorithms), 0))
    )  # fmt: skip
    return GainScores(tuple(algorithms), values, activity, who, popular, found, k)


def _shared_runs(
    cells: Sequence[CellRecord], algorithms: Sequence[str]
) -> dict[tuple[str, int], dict[str, CellRecord]]:
    """By split and seed, the cells of the algorithms, where all have one."""
    runs: dict[tuple[str, int], dict[str, CellRecord]] = {}
    for cell in cells:
        split = CellSpec.model_validate(cell.spec).split.id
        runs.setdefault((split, cell.seed), {})[cell.algorithm] = cell
    return {key: run for key, run in runs.items() if all(name in run for name in algorithms)}


def _cutoff(metric: str, depth: int) -> int | None:
    """How many places of a list the metric looks at; None where that is not known, or the lists are shorter."""
    places = places_of(metric)
    return places if places is not None and places <= depth else None


def _matrix(
    tables: Iterable[tuple[str, pl.DataFrame]], metric: str, algorithms: Sequence[str]
) -> tuple[pl.DataFrame, FloatArray]:
    """From the scores of users (columns user and metric) of each algorithm, the users with a score of every algorithm
    (columns place and user), and their mean scores.
    """
    named = pl.col(c.USER).cast(pl.String)
    scores = user_matrix("", pl.concat(user_rows(name, table.with_columns(named), metric) for name, table in tables))
    order = [scores.algorithms.index(name) for name in algorithms]
    users = pl.DataFrame({c.USER: scores.ids}).with_row_index("place")
    return users, np.ascontiguousarray(scores.values[order])


def _places(ids: pl.Series, users: pl.DataFrame) -> IntArray:
    """The place of each user of a split among those who are compared, -1 for others."""
    joined = pl.DataFrame({c.USER: ids.cast(pl.String)}).join(users, on=c.USER, how="left", maintain_order="left")
    return joined.get_column("place").cast(pl.Int64).fill_null(-1).to_numpy()


def _activity(splits: Sequence[Split], users: pl.DataFrame) -> IntArray:
    """The training events of each user, rounded means over the splits that have the user."""
    total, known = np.zeros(users.height), np.zeros(users.height)
    for split in splits:
        places = _places(split.train.users, users)
        counts = sum(np.bincount(part.user, minlength=len(places)) for part in split.refit_parts())
        listed = places >= 0
        total[places[listed]] += np.asarray(counts)[listed]
        known[places[listed]] += 1
    return np.rint(total / np.maximum(known, 1)).astype(np.int64)


def _events(
    store: Store,
    split: Split,
    runs: Sequence[dict[str, CellRecord]],
    users: pl.DataFrame,
    algorithms: Sequence[str],
    k: int,
) -> tuple[IntArray, IntArray, FloatArray]:
    """Of the held-out events of compared users: the user's place, the item's training users, and what was found."""
    train = split.train
    place, keys, popular = _held_out(split, users)
    found = np.zeros((len(algorithms), len(keys)))
    ids = [
        pl.DataFrame({name: table.cast(pl.String), position: np.arange(table.len(), dtype=np.int64)})
        for name, table, position in ((c.USER, train.users, "u"), (c.ITEM, train.items, "i"))
    ]
    for run in runs:
        for row, name in enumerate(algorithms):
            listed = store.top_lists(run[name].id).filter(pl.col(c.RANK) <= k)
            listed = listed.select(pl.col(c.USER, c.ITEM).cast(pl.String))
            listed = listed.join(ids[0], on=c.USER).join(ids[1], on=c.ITEM)
            pairs = listed.get_column("u").to_numpy() * train.n_items + listed.get_column("i").to_numpy()
            found[row] += np.isin(keys, pairs) / len(runs)
    return place, popular, found


def _held_out(split: Split, users: pl.DataFrame) -> tuple[IntArray, IntArray, IntArray]:
    """Of the held-out events of compared users: the user's place, a key of user and item, the item's training users."""
    train, test = split.refit(), split.test
    place = _places(train.users, users)[test.user]
    judged = np.flatnonzero(place >= 0)
    keys = test.user[judged].astype(np.int64) * train.n_items + test.item[judged]
    return place[judged], keys, popularity(train)[test.item[judged]]
