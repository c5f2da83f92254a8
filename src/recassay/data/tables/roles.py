"""What each column of a results table is: a name, a repeat, or numbers of some metric on some dataset."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError, UsageError, listing
from recassay.core.names import canonical
from recassay.data.tables.cells import read_alone
from recassay.data.tables.grid import Table
from recassay.data.tables.labels import Spelled, known_metric, own_name, spelled
from recassay.data.tables.words import (
    AVERAGE,
    CUTOFF,
    CUTOFFS,
    DEVIATIONS,
    ERRORS,
    GAIN,
    IGNORED,
    INTERVAL,
    PHASE,
    PHASES,
    STATISTICS,
    SYNONYMS,
    TEST,
)

_ALONE = ("ndcg", "hitrate", "precision", "recall", "map", "mrr", "f1", "auc", "rmse", "mae", "logloss")
"""Metrics that a header names without a cut-off, beside a dataset."""
_CUTOFF = re.compile(r"^(?:top|k|@|n|cut-?off|list length)?\s*[-=@:]?\s*(\d+)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user said of a table: its one metric, its shape, which column is which, and its one dataset."""

    metric: str | None = None
    wide: bool = False
    transpose: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)
    dataset: str | None = None

    @property
    def rows(self) -> str | None:
        """What the rows name by the user's word: algorithms in a wide table, datasets in a transposed one."""
        return c.ALGORITHM if self.wide else c.DATASET if self.transpose else None


@dataclass(frozen=True, slots=True)
class ValueColumn:
    """A column of numbers: its metric where the header names one, and the other thing that the header names."""

    place: int
    metric: Spelled | None = None
    other: str = ""
    statistic: str = "value"

    @property
    def cell(self) -> tuple[str, str]:
        """What its numbers are of: the metric, and what else the header names."""
        return self.metric.label if self.metric else "", self.other

    @property
    def phase(self) -> str:
        """`valid` or `train` where it was not measured on test data."""
        return self.metric.phase if self.metric else ""


@dataclass(slots=True)
class Layout:
    """Where the names stand (role -> column), the columns of numbers, and the names of columns left out.

    `layout_of` begins it by words, `settle` and `orient` fill in what it leaves open.
    """

    roles: dict[str, int]
    values: list[ValueColumn]
    left_out: list[str]
    error: int | None = None
    """The column of standard errors in a long table."""
    guesses: list[str] = field(default_factory=list)
    across: str = ""
    """What the part of the headers that is no metric names: `algorithm` or `dataset`."""


def layout_of(table: Table, asked: Asked, where: str) -> Layout:
    """Which column is which, by the user's word, by usual names, and by what stands in them."""
    names = table.names()
    roles = _asked_roles(names, asked, where)

    def unassigned(words: Collection[str]) -> list[int]:
        return [j for j, name in enumerate(names) if j not in roles.values() and canonical(name) in words]

    for ours, others in SYNONYMS.items():
        if ours in roles:
            continue
        fitting = [j for j, name in enumerate(names) if j not in roles.values() and name == ours]
        fitting = fitting or [j for j in unassigned(others) if len(table.headers[j]) == 1]
        # Deviations and runs beside no column of values are metrics of their own.
        if len(fitting) == 1 and not (ours in (c.DEVIATION, c.RUNS) and c.VALUE not in roles):
            roles[ours] = fitting[0]
    phase = unassigned(PHASES)
    if len(phase) == 1 and TEST & set(texts(table.columns[phase[0]])):
        roles[PHASE] = phase[0]
    split = unassigned({"split"})
    if len(split) == 1 and holds_numbers(table.columns[split[0]]):
        roles.setdefault(c.FOLD, split[0])
    if c.VALUE in roles and c.METRIC not in roles and _averages_others(table, roles):
        del roles[c.VALUE]
    cutoff = unassigned(CUTOFFS)
    if len(cutoff) == 1 and holds_cutoffs(table.columns[cutoff[0]]):
        roles[CUTOFF] = cutoff[0]
    if not {c.METRIC, c.VALUE} & roles.keys():
        named = roles.get(c.ALGORITHM)
        if named is not None and names_metrics(table.columns[named]):  # what stands across, written over the index
            del roles[c.ALGORITHM]
        columns = enumerate(table.columns)
        metrics = [j for j, column in columns if j not in roles.values() and names_metrics(column)]
        roles |= {c.METRIC: metrics[0]} if metrics else {}
    error = next((j for j, name in enumerate(names) if _spread(name) == "error"), None) if c.VALUE in roles else None
    values: list[ValueColumn] = []
    left_out: list[str] = []
    for j, levels in enumerate(table.headers):
        if j in roles.values() or j == error:
            continue
        averages = len(levels) == 1 and AVERAGE.match(levels[0])
        if not holds_numbers(table.columns[j]) or averages or any(map(GAIN.match, levels)):
            left_out.append(names[j])
            continue
        column, spread = _value_column(j, levels), _spread(names[j])
        before = values[-1] if spread and values and values[-1].metric is not None else None
        if before is not None and before.statistic == "value":
            column = replace(before, place=j, statistic=spread)
        second = before is not None and before.statistic not in ("value", spread)  # `std`, and `stderr` after it
        if second or column.statistic == "skip" or (column.metric is None and canonical(names[j]) in IGNORED):
            left_out.append(names[j])
        else:
            values.append(column)
    return Layout(roles, values, [name for name in left_out if name], error)


def _averages_others(table: Table, roles: Mapping[str, int]) -> bool:
    """Whether the column of values is an average beside the numbers that it averages, and so not the values."""
    if not AVERAGE.match(table.names()[roles[c.VALUE]]):
        return False
    no_metrics = IGNORED.union(*INTERVAL)
    return any(
        j not in roles.values() and canonical(name) not in no_metrics and not _spread(name)
        and holds_numbers(table.columns[j])
        for j, name in enumerate(table.names())
    )  # fmt: skip


def free_names(table: Table, layout: Layout) -> list[int]:
    """The columns of text that have no role yet."""
    used = {*layout.roles.values(), *(value.place for value in layout.values)}
    return [j for j, column in enumerate(table.columns) if j not in used and not holds_numbers(column)]


def split_compound(header: str) -> tuple[str, Spelled] | None:
    """`ml-1m_ndcg@10`, `NDCG@10 (ML-1M)` or `ml-1m / hr@10` as the other name and the metric."""
    text = header.strip()
    for parted in re.finditer(r"[ _/:|.\-]+", text):
        first, last = text[: parted.start()], text[parted.end() :]
        for other, label in ((first, last), (last, first)):
            metric = known_metric(label.strip("() "))
            if other and metric is not None and ("@" in label or metric.label in _ALONE):
                return other.strip("() "), metric
    return None


def _asked_roles(names: Sequence[str], asked: Asked, where: str) -> dict[str, int]:
    roles = {}
    for ours, theirs in asked.columns.items():
        if ours not in SYNONYMS:
            raise UsageError(f"there is no column role {ours!r}", fix=f"use one of {', '.join(SYNONYMS)}")
        if theirs not in names:
            raise InputError(
                f"no column {theirs!r} among {listing(map(repr, names), most=8)}", where=where, fix="correct `columns`"
            )
        roles[ours] = names.index(theirs)
    return roles


def _value_column(place: int, levels: tuple[str, ...]) -> ValueColumn:
    """The metric among the levels of a header (or two neighbours of them), a statistic, and what is left."""
    rest = list(levels)
    statistic = "value"
    if len(rest) > 1 and rest[-1].strip().lower() in STATISTICS:
        statistic = STATISTICS[rest.pop().strip().lower()]
    metric = None
    for at in range(len(rest) - 1, -1, -1):
        metric = spelled(rest[at])
        if metric is not None:
            del rest[at]
            cutoffs = [match[1] for level in rest if (match := _CUTOFF.match(level))]
            if cutoffs:  # one that the metric has itself stays
                metric = spelled(f"{metric.label}@{cutoffs[0]}") or metric
            rest = [level for level in rest if not _CUTOFF.match(level)]
            break
    if metric is not None and metric.deviation:
        statistic = metric.deviation
    return ValueColumn(place, metric, " ".join(rest), statistic)


def _spread(name: str) -> str:
    """`deviation` or `error` where a column is called so and no more, as `std`, `std.1` and `±` are."""
    bare = canonical(re.sub(r"\.\d+$", "", name.strip()))
    if bare in ERRORS:
        return "error"
    return "deviation" if bare in DEVIATIONS else ""


def unknown(name: str) -> Spelled:
    """A column of numbers that nobody knows, as a metric under its own name."""
    return Spelled(own_name(name), False)


def holds_numbers(column: pl.Series) -> bool:
    """Whether most of what is filled in is a number or stands for a missing one, and at least one is a number."""
    if column.dtype.is_numeric():
        return True
    if column.dtype == pl.Null:
        return False
    text = column.cast(pl.String).str.strip_chars().drop_nulls()
    text = text.filter(text != "")
    if text.len() == 0:
        return False
    plain = text.cast(pl.Float64, strict=False)
    if plain.null_count() == 0:
        return True
    odd = [read_alone(cell) for cell in text.filter(plain.is_null()).head(200).to_list()]
    numbers = plain.len() - plain.null_count()
    held = numbers + sum(cell.value is not None for cell in odd)
    fine = numbers + sum(cell.value is not None or cell.missing for cell in odd)
    return held > 0 and 2 * fine > numbers + len(odd)


def holds_cutoffs(column: pl.Series) -> bool:
    """Whether every cell is a whole number above 0."""
    whole = column.cast(pl.String).str.strip_chars().cast(pl.Int64, strict=False)
    return whole.len() > 0 and whole.null_count() == 0 and bool((whole > 0).all())


def names_metrics(column: pl.Series) -> bool:
    """Whether every name in a column of text is a known metric: several of them, or one with a cut-off."""
    if holds_numbers(column):
        return False
    names = [text for text in texts(column) if text]
    return bool(names) and all(map(known_metric, names)) and (len(names) > 1 or "@" in names[0])


def texts(column: pl.Series) -> list[str]:
    """The distinct texts of a column, in lower case."""
    return column.cast(pl.String).str.strip_chars().str.to_lowercase().drop_nulls().unique().to_list()
