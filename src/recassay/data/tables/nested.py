"""Tables inside JSON and printed dictionaries: records, columns, and dictionaries of dictionaries down to numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from recassay.core import columns as c
from recassay.data.tables.form import Asked, Table, levels_in
from recassay.data.tables.labels import spelled
from recassay.data.tables.orientation import OPPOSITE, opinion, unclear
from recassay.data.tables.statistics import statistic_alone

WRAPPERS = ("results", "data", "records", "rows", "runs", "experiments", "metrics", "scores")
_STATISTICS = dict.fromkeys(("mean", "avg", "value"), c.VALUE) | dict.fromkeys(("std", "stdev", "sd"), c.DEVIATION)
_PHASES = {"test", "valid", "validation", "val", "train"}


def table_from_json(document: Any, stem: str, asked: Asked, where: str) -> Table | None:
    """The table that a document holds; None where it holds none."""
    records = _records(document)
    if records:
        names = list(dict.fromkeys(name for record in records for name in record))
        cells = {str(name): [_cell(record.get(name)) for record in records] for name in names}
        return Table.of(pl.DataFrame(cells, strict=False))
    return _nested(document, stem, asked, where) if isinstance(document, dict) else None


def _records(document: Any) -> list[dict[str, Any]] | None:
    """A list of flat dictionaries, in whichever of the usual ways it is written."""
    if isinstance(document, list) and document and all(isinstance(record, dict) for record in document):
        return [_flat(record) for record in document]
    if not isinstance(document, dict):
        return None
    if {"columns", "data"} <= document.keys() and isinstance(document["data"], list):
        names = [str(tuple(name)) if isinstance(name, list) else str(name) for name in document["columns"]]
        index = document.get("index") or range(len(document["data"]))
        rows = [row for row in document["data"] if isinstance(row, list)]
        return [{"": label, **dict(zip(names, row, strict=False))} for label, row in zip(index, rows, strict=False)]
    for name in WRAPPERS:
        if isinstance(document.get(name), list):
            inner = _records(document[name])
            if inner:
                shared = {key: value for key, value in document.items() if isinstance(value, (str, int, float))}
                return [{**shared, **record} for record in inner]
    columns = list(document.values())
    if not columns:
        return None
    if all(isinstance(column, list) for column in columns):
        same_length = len({len(column) for column in columns}) == 1
        return [dict(zip(document, row, strict=True)) for row in zip(*columns, strict=True)] if same_length else None
    if not all(isinstance(column, dict) for column in columns):
        return None
    if all(str(name).isdigit() for name in document):
        return [_flat(record) for record in columns]
    if all(column and all(str(key).isdigit() for key in column) for column in columns):
        places = list(dict.fromkeys(key for column in columns for key in column))
        return [{name: column.get(place) for name, column in document.items()} for place in places]
    return None


def _flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record with the dictionaries in it spread out: `{"model": x, "metrics": {"ndcg@10": y}}`."""
    flat: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, dict):
            stated = all(statistic_alone(str(key)) for key in value)
            phase = f"{name}_" if stated or str(name).lower() in _PHASES else ""
            flat.update({f"{phase}{key}": inner for key, inner in _flat(value).items()})
        elif not isinstance(value, list):
            flat[str(name)] = value
    return flat


def _cell(value: Any) -> str | None:
    return None if value is None else str(value)


def _nested(document: Mapping[str, Any], stem: str, asked: Asked, where: str) -> Table | None:
    """Numbers below one to three levels of names, one of which names metrics, or below two where the user names one."""
    leaves = list(_leaves(document, ()))
    if not leaves or len({len(path) for path, _ in leaves}) != 1:
        return None
    depth = len(leaves[0][0])
    statistic = [str(path[-1]).lower() for path, _ in leaves]
    spread = depth > 1 and set(statistic) <= set(_STATISTICS) | {"count", "min", "max", "median"}
    levels = depth - 1 if spread else depth
    keys = [list(dict.fromkeys(str(path[at]) for path, _ in leaves)) for at in range(levels)]
    named = [[spelled(name) is not None for name in names] for names in keys]
    inner_first = range(levels - 1, -1, -1)
    metrics = [at for share in (all, any) for at in inner_first if share(named[at])]
    if levels > 3 or not (metrics or (levels == 2 and asked.metric)):
        return None
    metric = metrics[0] if metrics else None
    others = [at for at in range(levels) if at != metric]
    roles, guess = _roles(keys, others, stem, asked, where)
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for (path, value), word in zip(leaves, statistic, strict=True):
        names = tuple(str(part) for part in path[:levels])
        label = asked.metric if metric is None else names[metric]
        row = rows.setdefault(names, {c.METRIC: label, **{role: names[at] for at, role in roles.items()}})
        row[_STATISTICS.get(word, "") if spread else c.VALUE] = _cell(value)
    cells = list(rows.values())
    present = {c.ALGORITHM, c.METRIC, c.VALUE, *roles.values(), *(name for row in cells for name in row)}
    kept = [name for name in (c.ALGORITHM, c.DATASET, c.METRIC, c.VALUE, c.DEVIATION) if name in present]
    columns = {name: [row.get(name, stem if name == c.ALGORITHM else None) for row in cells] for name in kept}
    table = Table.of(pl.DataFrame(columns, schema=dict.fromkeys(kept, pl.String)))
    return replace(table, oriented=True, guess=guess)


def _roles(
    keys: Sequence[Sequence[str]], others: Sequence[int], stem: str, asked: Asked, where: str
) -> tuple[dict[int, str], str]:
    """What the levels besides the metrics name; of two levels the outer one stands for the rows of a table."""
    if not others:
        return {}, f"no name of an algorithm in it: that of the file, {stem!r}, was taken"
    if len(others) == 1:
        return {others[0]: c.ALGORITHM}, ""
    outer, inner = others
    kind, why = opinion(keys[outer], keys[inner])
    if asked.rows is not None:
        kind, why = asked.rows, ""
    if kind is None:
        raise unclear(keys[outer], keys[inner], where)
    return {outer: kind, inner: OPPOSITE[kind]}, f"its outer names were taken as {kind}s, since {why}" if why else ""


def _leaves(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if len(path) > 5:
        return
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, (*path, *(levels_in(name) if isinstance(name, str) else (name,))))
    elif value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        yield path, value
