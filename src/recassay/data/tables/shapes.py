"""A results table of any usual shape as the long one: algorithm, dataset, metric, value.

Rows and headers each name some of the three; what both leave open comes from the user or from the file's name. Read
without a flag are long tables, a column for each metric (with or without a column of datasets), two levels of headers
(dataset over metric, or metric over dataset), metric names in a column with datasets or algorithms across, and headers
such as `ml-1m_ndcg@10`. A cut-off may be a column of its own, and a row may be of one user. A table of algorithms by
datasets names no metric: its caption, its corner or the user must say it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError, listing
from recassay.core.names import canonical
from recassay.data.tables.cells import FROM_INTERVAL, Numbers, numbers, told
from recassay.data.tables.grid import Table, plain_name
from recassay.data.tables.labels import spelled
from recassay.data.tables.roles import (
    GAIN,
    INTERVAL,
    PHASE,
    Asked,
    Layout,
    ValueColumn,
    layout_of,
    not_test,
    unknown,
)
from recassay.data.tables.settle import is_readable, refusal, settled
from recassay.data.tables.tidy import filled_down, labelled, with_cutoffs, without_notes

_AVERAGE = re.compile(r"^\W*(avg|average|mean|overall|macro avg|avg\W*rank|average rank)\W*$", re.IGNORECASE)
_NAMES = (c.ALGORITHM, c.DATASET, c.METRIC)
_KEPT = (c.SEED, c.FOLD, c.RUNS, c.USER)


@dataclass(slots=True)
class Remarks:
    """What a reader is told of a table: what was taken off its cells, what was left out, and how it was read."""

    taken: Counter[str] = field(default_factory=Counter)
    absent: Counter[str] = field(default_factory=Counter)
    sentences: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """One sentence for all cells, then the others."""
        cells = told(self.taken, self.absent)
        return [*([f"read with {cells}"] if cells else []), *self.sentences]


def long_form(table: Table, asked: Asked, where: str, dataset: str) -> tuple[pl.DataFrame, list[str]]:
    """The long frame of a table and what to tell; `dataset` is what it is on where nothing else says so."""
    remarks = Remarks()
    table, below = without_notes(table)
    if below:
        remarks.sentences.append(below)
    if asked.wide or asked.transpose:
        frame = _wide(table, asked, where, remarks)
    else:
        layout = layout_of(table, asked, where)
        layout = settled(table, layout)
        remarks.sentences += layout.notes
        if c.VALUE not in layout.roles:  # a long table holds no rows that compare the others
            table = _without_gains(table, layout, remarks)
        if c.VALUE in layout.roles and c.ALGORITHM in layout.roles and (c.METRIC in layout.roles or asked.metric):
            frame = _long(table, layout, asked, where, remarks)
        elif is_readable(layout):
            frame = _columns(table, layout, where, remarks)
        else:
            raise refusal(table, layout, where)
    if c.DATASET not in frame.columns:
        frame = frame.with_columns(pl.lit(asked.dataset or dataset).alias(c.DATASET))
        if asked.dataset is None:
            remarks.sentences.append(f"no column names the dataset: {dataset!r} was taken (--dataset names another)")
    elif asked.dataset is not None:
        frame = frame.with_columns(pl.col(c.DATASET).fill_null(asked.dataset))
    if c.USER in frame.columns:
        count = frame.get_column(c.USER).n_unique()
        remarks.sentences.append(f"its rows are of {count} users: means over users were taken, with their deviations")
    return _without_averages(frame, remarks), remarks.lines()


def _across(layout: Layout) -> str:
    """What the part of the headers that is no metric names: datasets, or algorithms where the rows name none."""
    return c.DATASET if c.ALGORITHM in layout.roles else c.ALGORITHM


def _long(table: Table, layout: Layout, asked: Asked, where: str, remarks: Remarks) -> pl.DataFrame:
    columns = {name: table.columns[layout.roles[name]].alias(name) for name in _NAMES if name in layout.roles}
    columns |= {name: table.columns[layout.roles[name]].alias(name) for name in _KEPT if name in layout.roles}
    read = _numbers(table.columns[layout.roles[c.VALUE]], where, remarks)
    stated = read.deviations
    if c.DEVIATION in layout.roles:
        stated = _numbers(table.columns[layout.roles[c.DEVIATION]], where, Remarks()).values
    elif layout.error is not None:
        stated = _numbers(table.columns[layout.error], where, Remarks()).values
        columns[c.RUNS] = pl.Series(c.RUNS, [1] * len(stated))
    elif stated is None and (ends := _interval_columns(table)) is not None:
        low, high = (_numbers(column, where, Remarks()).values for column in ends)
        stated = (high - low) / FROM_INTERVAL
        columns[c.RUNS] = pl.Series(c.RUNS, [1] * len(stated))
        remarks.sentences.append("the two ends beside the values were read as 95 % intervals")
    frame = pl.DataFrame([*columns.values(), read.values.alias(c.VALUE)])
    if stated is not None:
        frame = frame.with_columns(stated.alias(c.DEVIATION))
    if c.METRIC not in frame.columns:
        frame = frame.with_columns(pl.lit(asked.metric).alias(c.METRIC))
    details = {
        name: j for j, name in enumerate(table.names()) if name in c.RESULT_DETAILS and name not in frame.columns
    }
    frame = frame.with_columns(table.columns[j].alias(name) for name, j in details.items())
    frame = labelled(with_cutoffs(frame, table, layout))
    return _tested(frame, table, layout, remarks)


def _interval_columns(table: Table) -> tuple[pl.Series, pl.Series] | None:
    """The columns of the lower and the upper end of an interval, where the table has both."""
    plain = [canonical(name) for name in table.names()]
    found = [[j for j, name in enumerate(plain) if name in map(canonical, names)] for names in INTERVAL]
    return (table.columns[found[0][0]], table.columns[found[1][0]]) if all(len(one) == 1 for one in found) else None


def _columns(table: Table, layout: Layout, where: str, remarks: Remarks) -> pl.DataFrame:
    """Numbers under headers: one part for each column of values, put below each other."""
    across = _across(layout)
    named, filled = filled_down({name: table.columns[j] for name, j in layout.roles.items() if name in _NAMES})
    if filled:
        remarks.sentences.append(f"gaps in the column of {listing(filled)} were filled with the name above them")
    index = [column.alias(name) for name, column in named.items()]
    index += [table.columns[j].alias(name) for name, j in layout.roles.items() if name in _KEPT]
    values = _chosen(layout, remarks)
    parts: list[pl.DataFrame] = []
    waiting = {}
    for one in values:
        if one.statistic in ("deviation", "error"):
            waiting[one.metric.label if one.metric else "", one.other] = one
    for one in values:
        if one.statistic != "value":
            continue
        column = table.columns[one.place]
        metric = one.metric or (None if c.METRIC in layout.roles else unknown(one.other))
        other = one.other if one.metric or c.METRIC in layout.roles else ""
        read = _numbers(column, where, remarks, percent=metric is not None and metric.percent)
        scale = metric.unit if metric else 1.0
        if metric and metric.percent:
            remarks.taken["percent in the header (divided by 100)"] += len(column)
        made = [*index, (read.values * scale).alias(c.VALUE)]
        if metric is not None:
            made.append(pl.Series(c.METRIC, [metric.label] * len(column), dtype=pl.String))
        if other and across not in layout.roles:
            made.append(pl.Series(across, [other] * len(column), dtype=pl.String))
        stated = waiting.get((metric.label if metric else "", one.other))
        if stated is not None:
            spread = _numbers(
                table.columns[stated.place], where, Remarks(), percent=metric is not None and metric.percent
            ).values
            made.append((spread * scale).alias(c.DEVIATION))
            if stated.statistic == "error":
                made.append(pl.Series(c.RUNS, [1] * len(column)))
        elif read.deviations is not None:
            made.append((read.deviations * scale).alias(c.DEVIATION))
        part = with_cutoffs(pl.DataFrame(made), table, layout)
        parts.append(_tested(part, table, layout, remarks if not parts else Remarks()))
    if layout.left_out:
        remarks.sentences.append(f"columns left out: {listing(map(repr, layout.left_out), most=8)}")
    odd = [one.other for one in values if one.metric is None and c.METRIC not in layout.roles]
    if odd:
        remarks.sentences.append(f"kept as metrics under their own names: {listing(map(repr, odd), most=8)}")
    return labelled(pl.concat(parts, how="diagonal_relaxed"))


def _chosen(layout: Layout, remarks: Remarks) -> list[ValueColumn]:
    """The columns that were measured on test data; others only where a metric has no such column."""
    tested = {(one.metric.label, one.other) for one in layout.values if one.metric and not one.metric.phase}
    kept = [
        one for one in layout.values
        if not (one.metric and one.metric.phase and (one.metric.label, one.other) in tested)
    ]  # fmt: skip
    phases = sorted({one.metric.phase for one in kept if one.metric and one.metric.phase})
    if phases:
        remarks.sentences.append(f"some metrics are there on {' and '.join(phases)} data alone, and were read from it")
    return kept


def _wide(table: Table, asked: Asked, where: str, remarks: Remarks) -> pl.DataFrame:
    if len(table.columns) < 2:
        raise InputError("a wide table needs a column of names and one or more of values", where=where,
                         fix="check the delimiter, or leave out --wide")  # fmt: skip
    headers = table.names()[1:]
    metrics = [name for name in headers if (found := spelled(name)) is not None and found.known]
    if metrics and (len(metrics) == len(headers) or any("@" in name for name in metrics)):
        raise InputError(
            f"the columns {listing(metrics)} are metrics, and --wide takes each column for a dataset", where=where,
            fix="leave out --wide: a table with one column for each metric is read as it is (--dataset names its "
            "dataset where no column does)",
        )  # fmt: skip
    across, down = (c.ALGORITHM, c.DATASET) if asked.transpose else (c.DATASET, c.ALGORITHM)
    parts = []
    for name, column in zip(headers, table.columns[1:], strict=True):
        if across == c.DATASET and _AVERAGE.match(name):
            remarks.sentences.append(f"the column {name!r} was left out: it is no dataset")
            continue
        read = _numbers(column, where, remarks)
        part = [table.columns[0].alias(down), pl.Series(across, [name] * len(column), dtype=pl.String), read.values]
        parts.append(pl.DataFrame([*part[:2], read.values.alias(c.VALUE)]))
        if read.deviations is not None:
            parts[-1] = parts[-1].with_columns(read.deviations.alias(c.DEVIATION))
    frame = pl.concat(parts, how="diagonal_relaxed")
    return labelled(frame.with_columns(pl.lit(asked.metric).alias(c.METRIC)))


def _numbers(column: pl.Series, where: str, remarks: Remarks, *, percent: bool = False) -> Numbers:
    read = numbers(column, where, percent=percent)
    remarks.taken.update(read.taken)
    remarks.absent.update(read.absent)
    return read


def _tested(frame: pl.DataFrame, table: Table, layout: Layout, remarks: Remarks) -> pl.DataFrame:
    if PHASE not in layout.roles:
        return frame
    others = not_test(table, layout.roles[PHASE])
    if others.any():
        remarks.sentences.append(f"{int(others.sum())} rows that were not measured on test data were left out")
    return frame.filter(~others)


def _without_gains(table: Table, layout: Layout, remarks: Remarks) -> Table:
    """The table without rows that compare the others (improvement, p-value) and are no algorithms."""
    if c.ALGORITHM not in layout.roles:
        return table
    names = table.columns[layout.roles[c.ALGORITHM]].cast(pl.String).fill_null("")
    odd = [name for name in names.unique(maintain_order=True).to_list() if GAIN.match(plain_name(name))]
    kept = ~names.is_in(odd)
    if not odd or not kept.any():
        return table
    remarks.sentences.append(f"rows of {listing(map(repr, odd))} were left out: no algorithm")
    return replace(table, columns=tuple(column.filter(kept) for column in table.columns))


def _without_averages(frame: pl.DataFrame, remarks: Remarks) -> pl.DataFrame:
    """The rows of single datasets, without those of an average over them."""
    said = frame.get_column(c.DATASET).cast(pl.String).drop_nulls().unique().to_list()
    odd = [one for one in said if _AVERAGE.match(one)]
    if not odd or len(odd) == len(said):
        return frame
    remarks.sentences.append(f"rows of {listing(map(repr, odd))} were left out: no dataset")
    return frame.filter(~pl.col(c.DATASET).cast(pl.String).is_in(odd).fill_null(False))
