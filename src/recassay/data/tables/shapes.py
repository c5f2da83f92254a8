"""A results table of any usual shape as the long one: algorithm, dataset, metric, value.

Rows and headers each name some of the three; what both leave open comes from the user or from the file's name. Read
without a flag are long tables, a column for each metric (with or without a column of datasets), two levels of headers
(dataset over metric, or metric over dataset), metric names in a column with datasets or algorithms across, and headers
such as `ml-1m_ndcg@10`. A cut-off may be a column of its own, and a row may be of one user. A table of algorithms by
datasets names no metric: its caption, its corner or the user must say it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError, UsageError, listing
from recassay.core.names import canonical
from recassay.core.tables.labels import split_label
from recassay.data.tables.cells import FROM_INTERVAL, Numbers, numbers, told
from recassay.data.tables.comparability import BOUNDED
from recassay.data.tables.grid import Table, plain_name, refuse_wide
from recassay.data.tables.orientation import oriented
from recassay.data.tables.roles import Asked, Layout, ValueColumn, free_names, layout_of, not_test, unknown
from recassay.data.tables.settle import is_readable, refusal, settled
from recassay.data.tables.tidy import filled_down, labelled, split_tuples, with_cutoffs, without_notes
from recassay.data.tables.words import AVERAGE, GAIN, INTERVAL, PHASE

_NAMES = (c.ALGORITHM, c.DATASET, c.METRIC)
_KEPT = (c.SEED, c.FOLD, c.RUNS, c.USER)


@dataclass(slots=True)
class Remarks:
    """What a reader is told of a table: what was taken off its cells, what was left out, and how it was read."""

    taken: Counter[str] = field(default_factory=Counter)
    absent: Counter[str] = field(default_factory=Counter)
    sentences: list[str] = field(default_factory=list)
    guesses: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """One sentence for all cells, then the others."""
        cells = told(self.taken, self.absent)
        return [*([f"read with {cells}"] if cells else []), *self.sentences]


class LongForm(NamedTuple):
    """The long frame of a table, sentences about it, and where its reading is a guess."""

    frame: pl.DataFrame
    notes: list[str]
    guesses: list[str]


def long_form(table: Table, asked: Asked, where: str, dataset: str, stem: str = "") -> LongForm:
    """The long frame of a table and what to tell; `dataset` is what it is on where nothing else says so.

    `stem` is the name of its file, which may say the metric.
    """
    refuse_wide(len(table.columns), where)
    remarks = Remarks()
    asked = replace(asked, wide=False, transpose=False) if table.oriented else asked
    table, below = without_notes(split_tuples(table))
    if below:
        remarks.sentences.append(below)
    layout = settled(table, layout_of(table, asked, where), asked, stem)
    if (asked.wide or asked.transpose) and (c.VALUE in layout.roles or {c.ALGORITHM, c.DATASET} <= layout.roles.keys()):
        option = "`wide`" if asked.wide else "`transpose`"
        raise UsageError(
            f"names algorithms and datasets in columns, so {option} has no effect",
            where=where,
            fix=f"leave out {option}",
        )
    if not {c.VALUE, c.METRIC} & layout.roles.keys():
        if (asked.wide or asked.transpose) and layout.values and not any(one.metric for one in layout.values):
            raise UsageError(
                "a wide table does not say which metric it holds", fix="name it, for example `metric='ndcg@10'`"
            )
        if any(one.other for one in layout.values if one.metric):
            table, layout = _with_row_names(table, layout)
    remarks.guesses += layout.guesses
    layout = oriented(table, layout, asked, where)
    remarks.guesses += layout.guesses
    used = {table.names()[j] for j in layout.roles.values()}
    layout = replace(layout, left_out=[name for name in layout.left_out if name not in used])
    if c.VALUE not in layout.roles:  # a long table holds no rows that compare the others
        table = _without_gains(table, layout, remarks)
    if c.VALUE in layout.roles and c.ALGORITHM in layout.roles and (c.METRIC in layout.roles or asked.metric):
        frame = _long(table, layout, asked, where, remarks)
    elif is_readable(layout):
        frame = _columns(table, layout, where, remarks)
    else:
        raise refusal(table, layout, where)
    if c.ALGORITHM not in frame.columns:
        frame = frame.with_columns(pl.lit(stem or "algorithm").alias(c.ALGORITHM))
    if c.DATASET not in frame.columns:
        frame = frame.with_columns(pl.lit(asked.dataset or dataset).alias(c.DATASET))
        if asked.dataset is None:
            remarks.sentences.append(f"no column names the dataset: {dataset!r} was taken (`dataset` names another)")
    elif asked.dataset is not None:
        frame = frame.with_columns(pl.col(c.DATASET).fill_null(asked.dataset))
    if c.USER in frame.columns:
        count = frame.get_column(c.USER).n_unique()
        remarks.sentences.append(f"its rows are of {count} users: means over users were taken, with their deviations")
    return LongForm(_without_averages(frame, remarks), remarks.lines(), remarks.guesses)


def _with_row_names(table: Table, layout: Layout) -> tuple[Table, Layout]:
    """A table whose rows have no names (each column is an algorithm or a dataset), with their numbers as names."""
    if {c.ALGORITHM, c.DATASET} & layout.roles.keys() or free_names(table, layout):
        return table, layout
    names = pl.Series("rows", [f"row {i + 1}" for i in range(table.height)])
    values = [replace(one, place=one.place + 1) for one in layout.values]
    roles = {role: place + 1 for role, place in layout.roles.items()}
    wider = replace(table, columns=(names, *table.columns), headers=(("",), *table.headers))
    return wider, replace(layout, values=values, roles=roles)


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
    frame = labelled(with_cutoffs(frame, table, layout), marks=not table.verbatim)
    return _tested(frame, table, layout, remarks)


def _interval_columns(table: Table) -> tuple[pl.Series, pl.Series] | None:
    """The columns of the lower and the upper end of an interval, where the table has both."""
    plain = [canonical(name) for name in table.names()]
    found = [[j for j, name in enumerate(plain) if name in map(canonical, names)] for names in INTERVAL]
    return (table.columns[found[0][0]], table.columns[found[1][0]]) if all(len(one) == 1 for one in found) else None


def _columns(table: Table, layout: Layout, where: str, remarks: Remarks) -> pl.DataFrame:
    """Numbers under headers: one part for each column of values, put below each other."""
    across = layout.across
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
        if other and across and across not in layout.roles:
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
    _refuse_other_scales(values, parts, where)
    odd = [one.other for one in values if one.metric is None and c.METRIC not in layout.roles]
    if odd:
        remarks.sentences.append(f"kept as metrics under their own names: {listing(map(repr, odd), most=8)}")
    return labelled(pl.concat(parts, how="diagonal_relaxed"), marks=not table.verbatim)


def _refuse_other_scales(values: list[ValueColumn], parts: list[pl.DataFrame], where: str) -> None:
    """A column of a wide table that reaches above 1 beside others that do not is no share: a setting, or percent."""
    columns = [one for one in values if one.statistic == "value"]
    labels = {one.metric.label for one in columns if one.metric}
    if (
        len(labels) != 1
        or not all(one.other and one.metric for one in columns)
        or split_label(next(iter(labels)))[0] not in BOUNDED
    ):
        return
    most = [part.get_column(c.VALUE).max() for part in parts]
    above = [(one.other, top) for one, top in zip(columns, most, strict=True) if isinstance(top, float) and top > 1]
    if above and len(above) < len(columns):
        name, value = above[0]
        raise InputError(
            f"the column {name!r} reaches {value:g}, which {next(iter(labels))} cannot beside the others", where=where,
            fix="leave the column out of the table, or give all values in one scale",
        )  # fmt: skip


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
    """The rows of single datasets and algorithms, without those of an average over them.

    An algorithm may be called Mean: it is an average only where its values are the means (or it names ranks).
    """
    for kind in (c.DATASET, c.ALGORITHM):
        names = frame.get_column(kind).cast(pl.String).drop_nulls().unique().to_list()
        odd = [name for name in names if AVERAGE.match(name)]
        if kind == c.ALGORITHM:
            odd = [name for name in odd if "rank" in name.lower() or _is_mean(frame, name, odd)]
        if odd and len(odd) < len(names):
            remarks.sentences.append(f"rows of {listing(map(repr, odd))} were left out: no {kind}")
            frame = frame.filter(~pl.col(kind).cast(pl.String).is_in(odd).fill_null(False))
    return frame


def _is_mean(frame: pl.DataFrame, name: str, averages: list[str]) -> bool:
    """Whether the values under a name are the means of the others, but for rounding."""
    named = pl.col(c.ALGORITHM).cast(pl.String)
    others = (
        frame.filter(~named.is_in(averages)).group_by(c.DATASET, c.METRIC).agg(pl.col(c.VALUE).mean().alias("mean"))
    )
    both = frame.filter(named == name).join(others, on=[c.DATASET, c.METRIC]).drop_nulls([c.VALUE, "mean"])
    near = (pl.col(c.VALUE) - pl.col("mean")).abs() <= 0.01 * pl.col("mean").abs() + 1e-9
    return both.height > 0 and bool(both.select(near.all()).item())
