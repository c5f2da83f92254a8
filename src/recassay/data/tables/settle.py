"""What a table leaves open: algorithms under no header, a metric in the caption; and why a table cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError, listing
from recassay.core.names import canonical
from recassay.core.registry import algorithms
from recassay.data.reading.roles import USUAL_NAMES
from recassay.data.tables.grid import Table, plain_name
from recassay.data.tables.labels import Spelled, metrics_in, spelled
from recassay.data.tables.roles import Layout, first_names, split_compound


def settled(table: Table, layout: Layout) -> Layout:
    """The layout with the algorithms found where no header says them, and compound headers taken apart."""
    roles, values, notes = dict(layout.roles), layout.values, []
    if not any(one.metric and one.metric.known for one in values) and c.METRIC not in roles and c.VALUE not in roles:
        parted = [(one, split_compound(table.names()[one.place])) for one in values]
        if len(parted) > 1 and all(found for _, found in parted):
            values = [replace(one, other=found[0], metric=found[1]) for one, found in parted if found]
    if values and not any(one.metric for one in values) and not {c.METRIC, c.VALUE} & roles.keys():
        metric, said_in = _said_metric(table, roles)
        if metric is not None:
            values = [replace(one, metric=metric) for one in values]
            notes.append(f"no column names the metric: {metric.label} was taken from the {said_in}")
    measured = any(one.metric for one in values) or c.METRIC in roles
    names_across = c.METRIC in roles and c.DATASET in roles
    if c.ALGORITHM not in roles and measured and not names_across and c.VALUE not in roles:
        place = first_names(table, replace(layout, values=values))
        across = [one.other for one in values if one.other]
        if place is not None and (c.DATASET not in roles or not across):
            below = table.columns[place].cast(pl.String).drop_nulls().unique().to_list()
            turned = c.DATASET not in roles and _known_algorithms(across) > _known_algorithms(below)
            roles[c.DATASET if turned else c.ALGORITHM] = place
    used = {table.names()[j] for j in roles.values()}
    left_out = [name for name in layout.left_out if name not in used]
    return replace(layout, roles=roles, values=values, left_out=left_out, notes=tuple(notes))


def _said_metric(table: Table, roles: Mapping[str, int]) -> tuple[Spelled | None, str]:
    """The one metric of a table whose headers name none, from its corner or its caption, and which of them."""
    corner = spelled(table.names()[0]) if 0 not in roles.values() and not table.columns[0].dtype.is_numeric() else None
    if corner is not None and corner.known:
        return corner, "corner of the table"
    captioned = metrics_in(table.title)
    return (spelled(captioned[0]), "caption") if len(captioned) == 1 else (None, "")


def _known_algorithms(names: Iterable[str]) -> int:
    return sum(plain_name(name) in algorithms for name in set(names))


def is_readable(layout: Layout) -> bool:
    """Whether rows and headers together name algorithm and metric of every number, and no header is left over."""
    if c.METRIC in layout.roles:
        return bool(layout.values) and not {c.ALGORITHM, c.DATASET} <= layout.roles.keys()
    measured = [one for one in layout.values if one.metric is not None]
    return bool(measured) and (c.ALGORITHM in layout.roles or all(one.other for one in layout.values))


def refusal(table: Table, layout: Layout, where: str) -> InputError:
    """Why a table cannot be read, with the advice that fits it."""
    names = table.names()
    numbered = [one for one in layout.values if one.metric is None]
    absent = [name for name in (c.ALGORITHM, c.DATASET, c.METRIC, c.VALUE) if name not in layout.roles]
    plain = {canonical(name.partition(":")[0]) for name in names}
    if all(plain & set(map(canonical, USUAL_NAMES[role])) for role in (c.USER, c.ITEM)):
        return InputError(
            "holds users and items, not results", where=where,
            fix="recassay data import takes interactions, recassay evaluate judges recommendation lists",
        )  # fmt: skip
    if len(numbered) > 1 and not {c.VALUE, c.METRIC, c.DATASET} & layout.roles.keys():
        return InputError(
            f"the columns {listing(repr(names[one.place]) for one in numbered)} name no metric", where=where,
            fix="where each is a dataset say --wide --metric ndcg@10 (or the metric it is); where each is an algorithm "
            "--transpose --metric",
        )  # fmt: skip
    return InputError(
        f"no column {listing(map(repr, absent))} among {listing(map(repr, names), most=8)}", where=where,
        fix="name it with --column (for example --column value=score), or use --wide for a wide table",
    )  # fmt: skip
