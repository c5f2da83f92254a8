"""Per-user scores of a study, summed up by cell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError, NotApplicableError, UsageError
from recassay.core.metric_facts import all_facts
from recassay.core.tables.labels import facts_of, find_label
from recassay.core.tables.responses import Responses
from recassay.core.tables.results import Results
from recassay.core.tables.scores import UserScores
from recassay.core.words import listing
from recassay.recommenders.references import are_lists
from recassay.store.files import SCORES, cell_file
from recassay.store.records import CellRecord
from recassay.store.store import Store


def user_scores(folder: Path, metric: str) -> pl.DataFrame:
    """A metric's spread over users: algorithm, dataset, n and deviation of every finished cell.

    A metric that has no value of its own for each user (coverage, ...) gives an empty frame.
    """
    rows = []
    with Store.open(folder) as store:
        for cell in store.cells():
            if cell.status != "done" or not cell_file(folder, SCORES, cell.id).is_file():
                continue
            kept = store.per_user(cell.id)
            if metric in kept.columns:
                scores = kept.get_column(metric).drop_nulls()
                rows.append((cell.algorithm, cell.dataset, len(scores), scores.std()))
    schema = {c.ALGORITHM: pl.String, c.DATASET: pl.String, "n": pl.Int64, "deviation": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row").drop_nulls("deviation")


def paired_scores(folder: Path, metric: str) -> tuple[list[UserScores], dict[str, str]]:
    """The scores of every user of each dataset for all algorithms, and by dataset why it has none.

    Of several seeds or folds a user's score is the mean over those in which the user is judged; an algorithm counts
    where at least one of its cells is done. A metric of all lists together (coverage, ...) has no scores of users:
    `NotApplicableError`.
    """
    with Store.open(folder) as store:
        cells = store.cells()
        done = [cell for cell in cells if cell.status == "done" and cell_file(folder, SCORES, cell.id).is_file()]
        if done and all(metric not in store.per_user(cell.id).columns for cell in done):
            raise NotApplicableError(f"{metric} has no value of its own for each user", where=str(folder))
        scores, skipped = [], {}
        for dataset in dict.fromkeys(cell.dataset for cell in cells):
            frames = [
                user_rows(cell.algorithm, store.per_user(cell.id), metric) for cell in done if cell.dataset == dataset
            ]
            if frames:
                scores.append(user_matrix(dataset, pl.concat(frames)))
            else:
                reasons = {cell.reason for cell in cells if cell.dataset == dataset}
                skipped[dataset] = f"no cell is done ({listing(sorted(filter(None, reasons)), most=2)})"
    return scores, skipped


def own_lists(folder: Path) -> tuple[str, ...]:
    """The algorithms of a study that are lists made elsewhere, in the order of its file."""
    with Store.open(folder) as store:
        named = store.manifest().get("study", {}).get("algorithms", ())
    return tuple(str(part["name"]) for part in named if are_lists(str(part.get("reference", ""))))


def table_scores(results: Results, metric: str) -> tuple[list[UserScores], dict[str, str]]:
    """As `paired_scores`, of a table that has rows of single users; by dataset why it has none."""
    if results.users is None:
        raise NotApplicableError(
            "the table has no rows of single users", fix="give one with a column user, a study, or lists to evaluate"
        )
    rows = results.users.filter(pl.col(c.METRIC) == metric).drop_nulls(c.VALUE)
    scores = [
        user_matrix(str(name), part) for (name,), part in rows.group_by([c.DATASET], maintain_order=True) if part.height
    ]
    named = {dataset_scores.dataset for dataset_scores in scores}
    return scores, {name: "it has no rows of single users" for name in results.datasets if name not in named}


def user_rows(algorithm: str, scores: pl.DataFrame, metric: str) -> pl.DataFrame:
    """Rows of algorithm, user and value from the scores of one algorithm's users."""
    return scores.select(pl.lit(algorithm).alias(c.ALGORITHM), c.USER, pl.col(metric).cast(pl.Float64).alias(c.VALUE))


def user_matrix(dataset: str, rows: pl.DataFrame) -> UserScores:
    """Scores from rows of algorithm, user and value; several of one algorithm and user are averaged."""
    means = rows.group_by(c.ALGORITHM, c.USER).agg(pl.col(c.VALUE).mean())
    algorithms = sorted(means.get_column(c.ALGORITHM).unique())
    columns = [str(place) for place in range(len(algorithms))]  # an algorithm may be called `user`
    coded = means.with_columns(pl.col(c.ALGORITHM).replace_strict(algorithms, columns))
    wide = coded.pivot(on=c.ALGORITHM, index=c.USER, values=c.VALUE).sort(c.USER)
    whole = wide.drop_nulls(columns)
    values = whole.select(columns).to_numpy().T
    ids = whole.get_column(c.USER)
    return UserScores(dataset, tuple(algorithms), np.ascontiguousarray(values), wide.height - whole.height, ids)


def is_hit_metric(label: str) -> bool:
    """Whether the metric of a label is above 0 for a user exactly when the list holds one of their items."""
    known = facts_of(label)
    return known is not None and known.hit_like


def hit_metric(available: tuple[str, ...], asked: str | None = None) -> str:
    """The label that tells a hit: the one asked for, else the hit rate or the first that does, at 10 or any length."""
    names = sorted((facts.name for facts in all_facts() if facts.hit_like), key=lambda name: name != "hitrate")
    if asked is not None:
        label = find_label(asked, list(available))
        if not is_hit_metric(label):
            raise UsageError(f"{label} does not tell a hit from a miss", fix=f"use one of {listing(names, most=None)}")
        return label
    for name in names:
        fitting = [label for label in available if label.partition("@")[0] == name]
        if fitting:
            return next((label for label in fitting if label.endswith("@10")), fitting[0])
    raise NotApplicableError(
        "no metric of the study tells a hit from a miss", fix="add hitrate@10 to the metrics of the study"
    )


def user_responses(
    store: Store, metric: str | None = None, datasets: list[str] | None = None
) -> tuple[str, dict[str, Responses]]:
    """The metric, and for each dataset: respondents are algorithms, items are users, right is a value above 0.

    Of several seeds the first is taken; with folds a user is an item in each fold. An algorithm whose cell failed is
    missing from its dataset.
    """
    done = [cell for cell in store.cells() if cell.status == "done"]
    if not done:
        raise InputError("no cell of this study is done", where=str(store.folder), fix="run the study")
    datasets_done = sorted({cell.dataset for cell in done})
    strange = [name for name in datasets or [] if name not in datasets_done]
    if strange:
        raise InputError(
            f"the study has no dataset {listing(map(repr, strange))}", where=str(store.folder),
            fix=f"use one of {listing(datasets_done, most=8)}",
        )  # fmt: skip
    label = hit_metric(tuple(n for n in store.per_user(done[0].id).columns if n != c.USER), metric)
    tables = {}
    for name in datasets or datasets_done:
        frames = [_hits(store, cell, label) for cell in _first_seed([x for x in done if x.dataset == name])]
        tables[name] = Responses.from_rows(pl.concat(frames), c.ALGORITHM, c.USER, c.VALUE)
    return label, tables


def table_responses(
    results: Results, metric: str | None = None, datasets: list[str] | None = None
) -> tuple[str, dict[str, Responses]]:
    """As `user_responses`, of a table with rows of single users or instances; a metric of 0 and 1 tells a hit, too.

    Of several values of one algorithm and user the mean is above 0 where one is.
    """
    if results.users is None:
        raise NotApplicableError("the table has no rows of single users", fix="give one with a column user, or a study")
    rows = results.users.drop_nulls(c.VALUE)
    right = pl.col(c.VALUE).is_in([0.0, 1.0]).all()
    binary = rows.group_by(c.METRIC, maintain_order=True).agg(right).filter(c.VALUE).get_column(c.METRIC).to_list()
    named = None if metric is None else find_label(metric, results.metrics)
    if named is None and binary:
        named = str(binary[0])
    label = named if named in binary and named is not None else hit_metric(tuple(results.metrics), named)
    rows = rows.filter(pl.col(c.METRIC) == label)
    chosen = [find_label(name, results.datasets) for name in datasets or results.datasets]
    means = rows.group_by(c.DATASET, c.ALGORITHM, c.USER, maintain_order=True).agg(pl.col(c.VALUE).mean())
    parts = {name: means.filter(pl.col(c.DATASET) == name) for name in chosen}
    return label, {
        name: Responses.from_rows(part, c.ALGORITHM, c.USER, c.VALUE) for name, part in parts.items() if part.height
    }


def _first_seed(cells: list[CellRecord]) -> list[CellRecord]:
    first: dict[str, int] = {}
    for cell in cells:
        first.setdefault(cell.algorithm, cell.seed)
    return [cell for cell in cells if cell.seed == first[cell.algorithm]]


def _hits(store: Store, cell: CellRecord, label: str) -> pl.DataFrame:
    user = pl.col(c.USER).cast(pl.String) + ("" if cell.fold is None else f" (fold {cell.fold})")
    return user_rows(cell.algorithm, store.per_user(cell.id).with_columns(user), label)
