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

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError, UsageError, count_of, listing
from recassay.core.names import canonical
from recassay.core.tables.labels import split_label
from recassay.data.tables.cells import FROM_INTERVAL, Numbers, numbers
from recassay.data.tables.comparability import BOUNDED
from recassay.data.tables.grid import Table, plain_name, refuse_wide
from recassay.data.tables.join import Imported
from recassay.data.tables.orientation import orient
from recassay.data.tables.roles import Asked, Layout, ValueColumn, free_names, layout_of, unknown
from recassay.data.tables.settle import is_readable, refusal, settle
from recassay.data.tables.tidy import filled_down, labelled, split_tuples, with_cutoffs, without_notes
from recassay.data.tables.words import AVERAGE, GAIN, INTERVAL, OTHER_PHASES, PHASE

_NAMES = (c.ALGORITHM, c.DATASET, c.METRIC)
_KEPT = (c.SEED, c.FOLD, c.RUNS, c.USER)
_ONE_RUN = pl.lit(1, dtype=pl.Int64).alias(c.RUNS)
"""Beside a standard error, which is the deviation of one run."""


@dataclass(slots=True)
class Remarks:
    """What a reader is told of a table: what was taken off its cells, what was left out, and how it was read."""

    taken: Counter[str] = field(default_factory=Counter)
    absent: Counter[str] = field(default_factory=Counter)
    sentences: list[str] = field(default_factory=list)
    guesses: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """One sentence on what was taken off cells and what stands for no value in them, then the others."""
        cells = [f"{kind} in {count_of(count, 'cell')}" for kind, count in self.taken.most_common()]
        if self.absent:
            shown = ", ".join(f"{text} {count}" for text, count in self.absent.most_common(6))
            cells.append(f"{count_of(self.absent.total(), 'cell')} without a value ({shown})")
        return [*([f"read with {'; '.join(cells)}"] if cells else []), *self.sentences]


def long_form(table: Table, asked: Asked, where: str, dataset: str, stem: str = "") -> Imported:
    """The long frame of a table and what to tell; `dataset` is what it is on where nothing else says so.

    `stem` is the name of its file, which may say the metric.
    """
    refuse_wide(len(table.columns), where)
    remarks = Remarks(guesses=[table.guess] if table.guess else [])
    asked = replace(asked, wide=False, transpose=False) if table.oriented else asked
    table, below = without_notes(split_tuples(table))
    if below:
        remarks.sentences.append(below)
    layout = layout_of(table, asked, where)
    settle(table, layout, asked, stem)
    if asked.rows is not None and (c.VALUE in layout.roles or {c.ALGORITHM, c.DATASET} <= layout.roles.keys()):
        option = "`wide`" if asked.wide else "`transpose`"
        what = f"names algorithms and datasets in columns, so {option} has no effect"
        raise UsageError(what, where=where, fix=f"leave out {option}")
    if not {c.VALUE, c.METRIC} & layout.roles.keys():
        if asked.rows is not None and layout.values and not any(column.metric for column in layout.values):
            raise UsageError(
                "a wide table does not say which metric it holds", fix="name it, for example `metric='ndcg@10'`"
            )
        if any(column.other for column in layout.values if column.metric):
            table = _with_row_names(table, layout)
    orient(table, layout, asked, where)
    remarks.guesses += layout.guesses
    used = {table.names()[j] for j in layout.roles.values()}
    layout.left_out = [name for name in layout.left_out if name not in used]
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
    elif asked.dataset is not None and frame.get_column(c.DATASET).null_count():
        remarks.sentences.append(f"rows that name no dataset were taken as on {asked.dataset!r}, as `dataset` says")
    if c.USER in frame.columns:
        count = frame.get_column(c.USER).drop_nulls().n_unique()
        remarks.sentences.append(
            f"its rows are of {count_of(count, 'user')}: means over users were taken, with their deviations"
        )
    return Imported(_without_averages(frame, remarks), tuple(remarks.lines()), tuple(remarks.guesses))


def _with_row_names(table: Table, layout: Layout) -> Table:
    """A table whose rows have no names (each column is an algorithm or a dataset), with their numbers as names."""
    if {c.ALGORITHM, c.DATASET} & layout.roles.keys() or free_names(table, layout):
        return table
    names = pl.Series("rows", [f"row {i + 1}" for i in range(table.height)])
    layout.values = [replace(column, place=column.place + 1) for column in layout.values]
    layout.roles = {role: place + 1 for role, place in layout.roles.items()}
    return replace(table, columns=(names, *table.columns), headers=(("",), *table.headers))


def _long(table: Table, layout: Layout, asked: Asked, where: str, remarks: Remarks) -> pl.DataFrame:
    roles, names = layout.roles, table.names()
    read = _numbers(table.columns[roles[c.VALUE]], where, remarks)
    index = [table.columns[roles[name]].alias(name) for name in (*_NAMES, *_KEPT) if name in roles]
    frame = pl.DataFrame([*index, read.values.alias(c.VALUE)])
    stated, ends = read.deviations, _interval_columns(table)
    if c.DEVIATION in roles:
        stated = numbers(table.columns[roles[c.DEVIATION]], where).values
    elif layout.error is not None:
        stated = numbers(table.columns[layout.error], where).values
        frame = frame.with_columns(_ONE_RUN)
    elif stated is None and ends is not None:
        low, high = (numbers(column, where).values for column in ends)
        stated = (high - low) / FROM_INTERVAL
        frame = frame.with_columns(_ONE_RUN)
        remarks.sentences.append("the two ends beside the values were read as 95 % intervals")
    if stated is not None:
        frame = frame.with_columns(stated.alias(c.DEVIATION))
    if c.METRIC not in frame.columns:
        frame = frame.with_columns(pl.lit(asked.metric).alias(c.METRIC))
    details = [j for j, name in enumerate(names) if name in c.RESULT_DETAILS and name not in frame.columns]
    frame = frame.with_columns(table.columns[j].alias(names[j]) for j in details)
    frame = labelled(with_cutoffs(frame, table, layout), marks=not table.verbatim)
    return _tested(frame, table, layout, remarks)


def _interval_columns(table: Table) -> tuple[pl.Series, pl.Series] | None:
    """The columns of the lower and the upper end of an interval, where the table has both."""
    plain = [canonical(name) for name in table.names()]
    lows, highs = ([j for j, name in enumerate(plain) if name in names] for names in INTERVAL)
    return (table.columns[lows[0]], table.columns[highs[0]]) if len(lows) == len(highs) == 1 else None


def _columns(table: Table, layout: Layout, where: str, remarks: Remarks) -> pl.DataFrame:
    """Numbers under headers: one part for each column of values, put below each other."""
    roles, across = layout.roles, layout.across
    named, filled = filled_down({name: table.columns[j] for name, j in roles.items() if name in _NAMES})
    if filled:
        remarks.sentences.append(f"gaps in the column of {listing(filled)} were filled with the name above them")
    index = [column.alias(name) for name, column in named.items()]
    index += [table.columns[j].alias(name) for name, j in roles.items() if name in _KEPT]
    chosen = _chosen(layout, remarks)
    spreads = {column.cell: column for column in chosen if column.statistic in ("deviation", "error")}
    columns = [column for column in chosen if column.statistic == "value"]
    if not columns:
        raise InputError("holds deviations and no values", where=where, fix="give the values that they belong to")
    parts: list[pl.DataFrame] = []
    for column in columns:
        metric = column.metric or (None if c.METRIC in roles else unknown(column.other))
        label, percent, unit = (metric.label, metric.percent, metric.unit) if metric else ("", False, 1.0)
        read = _numbers(table.columns[column.place], where, remarks, percent=percent)
        if percent:
            remarks.taken["percent in the header (divided by 100)"] += table.height
        part = pl.DataFrame([*index, (read.values * unit).alias(c.VALUE)])
        if metric is not None:
            part = part.with_columns(pl.lit(label).alias(c.METRIC))
        if column.other and across and (column.metric or c.METRIC in roles):
            part = part.with_columns(pl.lit(column.other).alias(across))
        stated, beside = read.deviations, spreads.get((label, column.other))
        if beside is not None:
            stated = numbers(table.columns[beside.place], where, percent=percent).values
        if stated is not None:
            part = part.with_columns((stated * unit).alias(c.DEVIATION))
        if beside is not None and beside.statistic == "error":
            part = part.with_columns(_ONE_RUN)
        part = with_cutoffs(part, table, layout)
        parts.append(_tested(part, table, layout, remarks if not parts else Remarks()))
    if layout.left_out:
        remarks.sentences.append(f"columns left out: {listing(map(repr, layout.left_out), most=8)}")
    _refuse_other_scales(columns, parts, where)
    odd = [column.other for column in chosen if column.metric is None and c.METRIC not in roles]
    if odd:
        remarks.sentences.append(f"kept as metrics under their own names: {listing(map(repr, odd), most=8)}")
    return labelled(pl.concat(parts, how="diagonal_relaxed"), marks=not table.verbatim)


def _refuse_other_scales(columns: list[ValueColumn], parts: list[pl.DataFrame], where: str) -> None:
    """A column of a wide table that reaches above 1 beside others that do not is no share: a setting, or percent."""
    labels = {column.metric.label if column.metric else "" for column in columns}
    label = labels.pop()
    if labels or split_label(label)[0] not in BOUNDED:
        return
    largest = zip((column.other for column in columns), (part.get_column(c.VALUE).max() for part in parts), strict=True)
    above = [(name, value) for name, value in largest if isinstance(value, float) and value > 1]
    if above and len(above) < len(columns):
        name, value = above[0]
        what = f"the column {name!r} reaches {value:g}, which {label} cannot beside the others"
        raise InputError(what, where=where, fix="leave the column out of the table, or give all values in one scale")


def _chosen(layout: Layout, remarks: Remarks) -> list[ValueColumn]:
    """The columns of test data; where a metric has none, those of validation data, and else those of training data."""
    tested = {column.cell for column in layout.values if column.metric and not column.phase}
    validated = {column.cell for column in layout.values if column.phase == "valid"}
    better = {"": set(), "valid": tested, "train": tested | validated}
    chosen = [column for column in layout.values if column.cell not in better[column.phase]]
    words = {"valid": "validation", "train": "training"}
    phases = sorted({words[column.phase] for column in chosen if column.phase})
    if phases:
        remarks.sentences.append(f"some metrics have no test results, and were read from {' and '.join(phases)} data")
    return chosen


def _numbers(column: pl.Series, where: str, remarks: Remarks, *, percent: bool = False) -> Numbers:
    read = numbers(column, where, percent=percent)
    remarks.taken.update(read.taken)
    remarks.absent.update(read.absent)
    return read


def _tested(frame: pl.DataFrame, table: Table, layout: Layout, remarks: Remarks) -> pl.DataFrame:
    if PHASE not in layout.roles:
        return frame
    text = table.columns[layout.roles[PHASE]].cast(pl.String).str.strip_chars().str.to_lowercase()
    others = text.is_in(sorted(OTHER_PHASES)).fill_null(False)
    if others.any():
        left = int(others.sum())
        verb = "was" if left == 1 else "were"
        remarks.sentences.append(f"{count_of(left, 'row')} that {verb} not measured on test data {verb} left out")
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
        names = frame.get_column(kind).cast(pl.String).drop_nulls().unique(maintain_order=True).to_list()
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
