"""What a table leaves open: compound headers, a metric in the caption; and why a table cannot be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from recassay.core import columns as c
from recassay.core.errors import InputError, listing
from recassay.core.names import canonical
from recassay.data.reading.roles import USUAL_NAMES
from recassay.data.tables.grid import Table
from recassay.data.tables.labels import Spelled, known_metric, metrics_in, spelled
from recassay.data.tables.roles import Asked, Layout, split_compound, unknown


def settle(table: Table, layout: Layout, asked: Asked, stem: str) -> None:
    """Take compound headers apart, and find the one metric of a table whose headers name none."""
    names, values = table.names(), layout.values
    if asked.rows is not None and asked.metric is not None:
        # `ml@10` alone, of which nobody knows a metric, is the name of a dataset (or an algorithm).
        named = [column for column in values if column.metric and (column.metric.known or column.other)]
        if len(named) < len(values) and not any("@" in names[column.place] for column in named):
            whole = {column.cell: names[column.place] for column in values if column.statistic == "value"}
            bare = [(column, replace(column, metric=None, other=names[column.place])) for column in values]
            values = [  # a deviation stays with its values
                new if old.statistic == "value" else replace(new, other=whole.get(old.cell, new.other))
                for old, new in bare
            ]
    if not {c.METRIC, c.VALUE} & layout.roles.keys():
        if not any(column.metric and column.metric.known for column in values):
            parted = [(column, split_compound(names[column.place])) for column in values]
            if len(parted) > 1 and all(parts for _, parts in parted):
                values = [replace(column, other=parts[0], metric=parts[1]) for column, parts in parted if parts]
        if values and not any(column.metric for column in values):
            metric, place = _stated_metric(table, layout.roles, asked, stem)
            values = [replace(column, metric=metric) for column in values]
            if metric is not None and place:
                layout.guesses.append(f"{metric.label} was taken as the metric, by the {place}")
    layout.values = values


def _stated_metric(table: Table, roles: Mapping[str, int], asked: Asked, stem: str) -> tuple[Spelled | None, str]:
    """The one metric of a table whose headers name none: of the user, its corner, its caption or the file's name."""
    if asked.metric is not None:
        return known_metric(asked.metric) or (unknown(asked.metric) if asked.rows is not None else None), ""
    cornered = 0 not in roles.values() and not table.columns[0].dtype.is_numeric()
    corner = known_metric(table.names()[0]) if cornered else None
    if corner is not None:
        return corner, "corner of the table"
    for text, place in ((table.title, "caption"), (stem, "name of the file")):
        named = metrics_in(text)
        if len(named) == 1:
            return spelled(named[0]), place
    return None, ""


def is_readable(layout: Layout) -> bool:
    """Whether rows and headers together name algorithm and metric of every number, and no header is left over."""
    if c.METRIC in layout.roles:
        return bool(layout.values) and not {c.ALGORITHM, c.DATASET} <= layout.roles.keys()
    measured = [column for column in layout.values if column.metric is not None]
    return bool(measured) and (c.ALGORITHM in layout.roles or all(column.other for column in layout.values))


def refusal(table: Table, layout: Layout, where: str) -> InputError:
    """Why a table cannot be read, with the advice that fits it."""
    names = table.names()
    unmeasured = [column for column in layout.values if column.metric is None]
    absent = [name for name in (c.ALGORITHM, c.DATASET, c.METRIC, c.VALUE) if name not in layout.roles]
    plain = {canonical(name.partition(":")[0]) for name in names}
    if all(plain & set(map(canonical, USUAL_NAMES[role])) for role in (c.USER, c.ITEM)):
        fix = "recassay data import takes interactions, recassay evaluate judges recommendation lists"
        return InputError("holds users and items, not results", where=where, fix=fix)
    if len(unmeasured) > 1 and not {c.VALUE, c.METRIC, c.DATASET} & layout.roles.keys():
        return InputError(
            f"the columns {listing(repr(names[column.place]) for column in unmeasured)} name no metric", where=where,
            fix="where each is a dataset say `wide=True` and `metric='ndcg@10'` (or the metric it is); where each is "
            "an algorithm `transpose=True` and `metric`",
        )  # fmt: skip
    return InputError(
        f"no column {listing(map(repr, absent))} among {listing(map(repr, names), most=8)}", where=where,
        fix="name it with `columns` (for example `columns={'value': 'score'}`), or use `wide=True` for a wide table",
    )  # fmt: skip
