"""Readers that say by words and contents what a column is: a name, a repeat, a phase, a cut-off, metrics."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError, UsageError
from recassay.core.names import canonical
from recassay.core.words import listing
from recassay.data.tables.cells import holds_numbers
from recassay.data.tables.form import Reading, Table
from recassay.data.tables.headers import spread_named
from recassay.data.tables.labels import known_metric
from recassay.data.tables.statistics import statistic_alone
from recassay.data.tables.words import (
    AVERAGE,
    BACKBONES,
    CUTOFF,
    CUTOFFS,
    IGNORED,
    INTERVAL,
    PHASE,
    PHASES,
    SYNONYMS,
    TEST,
)


def asked_columns(reading: Reading) -> Reading:
    """The columns that the user named."""
    names, roles = reading.table.names(), {}
    for ours, theirs in reading.asked.columns.items():
        if ours not in SYNONYMS:
            raise UsageError(f"there is no column role {ours!r}", fix=f"use one of {', '.join(SYNONYMS)}")
        if theirs not in names:
            what = f"no column {theirs!r} among {listing(map(repr, names), most=8)}"
            raise InputError(what, where=reading.where, fix="correct `columns`")
        roles[ours] = names.index(theirs)
    if not roles:
        return reading.passed("the user named no column")
    return replace(reading, roles=roles, reasons=reading.because(f"the user named {listing(roles)}"))


def named_columns(reading: Reading) -> Reading:
    """The columns with our names, or with a usual other name that one column alone has."""
    table, roles = reading.table, dict(reading.roles)
    names = table.names()
    for ours, others in SYNONYMS.items():
        # Deviations and runs beside no column of values are metrics of their own.
        if ours in roles or (ours in (c.DEVIATION, c.RUNS) and c.VALUE not in roles):
            continue
        fitting = [j for j, name in enumerate(names) if name == ours and j not in roles.values()]
        fitting = fitting or [j for j in _called(table, roles, others) if len(table.headers[j]) == 1]
        if len(fitting) == 1:
            roles[ours] = fitting[0]
    if len(roles) == len(reading.roles):
        return reading.passed("no header is the usual word for a role")
    return replace(reading, roles=roles, reasons=reading.because(f"headers are usual words for {listing(roles)}"))


def backbone_column(reading: Reading) -> Reading:
    """A column of backbones beside methods: both names together are one algorithm, where methods repeat."""
    table, roles = reading.table, reading.roles
    found = [j for j in _called(table, roles, BACKBONES) if not holds_numbers(table.columns[j])]
    if len(found) != 1 or c.ALGORITHM not in roles:
        return reading.passed("no column of backbones beside one of methods")
    method, backbone = (table.columns[j].cast(pl.String) for j in (roles[c.ALGORITHM], found[0]))
    pairs = pl.DataFrame([backbone.alias("first"), method.alias("last")])
    if pairs.unique().height == method.n_unique():
        return reading.passed("each method has one backbone")
    joined = pairs.select(pl.concat_str("first", pl.lit(" + "), "last")).to_series()
    columns = tuple(joined if j == roles[c.ALGORITHM] else column for j, column in enumerate(table.columns))
    names = listing(reading.names_at((found[0], roles[c.ALGORITHM])), last="and")
    why = f"the columns {names} together name the algorithms"
    return replace(reading, table=replace(table, columns=columns), reasons=reading.because(why, "note"))


def phase_column(reading: Reading) -> Reading:
    """The column that tells test data from other data."""
    phase = _called(reading.table, reading.roles, PHASES)
    if len(phase) != 1 or not TEST & set(texts(reading.table.columns[phase[0]])):
        return reading.passed("no column tells test data from other data")
    return _with_role(reading, PHASE, phase[0], "its cells name test data")


def split_as_fold(reading: Reading) -> Reading:
    """A column `split` of numbers, which are folds."""
    split = _called(reading.table, reading.roles, {"split"})
    if len(split) != 1 or not holds_numbers(reading.table.columns[split[0]]) or c.FOLD in reading.roles:
        return reading.passed("no column 'split' holds numbers of folds")
    return _with_role(reading, c.FOLD, split[0], "its cells are numbers")


def average_as_values(reading: Reading) -> Reading:
    """An average beside the numbers that it averages is not the column of values."""
    roles = reading.roles
    if c.VALUE not in roles or c.METRIC in roles or not _averages_others(reading.table, roles):
        return reading.passed("no column of values averages other columns")
    kept = {role: place for role, place in roles.items() if role != c.VALUE}
    why = f"column {reading.table.name(roles[c.VALUE])!r} averages the columns beside it"
    return replace(reading, roles=kept, reasons=reading.because(why))


def cutoff_column(reading: Reading) -> Reading:
    """The column of cut-offs beside metrics that name none."""
    cutoff = _called(reading.table, reading.roles, CUTOFFS)
    if len(cutoff) != 1 or not holds_cutoffs(reading.table.columns[cutoff[0]]):
        return reading.passed("no column holds cut-offs")
    return _with_role(reading, CUTOFF, cutoff[0], "its cells are whole numbers above 0")


def metrics_in_rows(reading: Reading) -> Reading:
    """The column whose cells are metrics, where no header says so."""
    table, roles = reading.table, dict(reading.roles)
    if {c.METRIC, c.VALUE} & roles.keys():
        return reading.passed("a header names the column of metrics or of values")
    named = roles.get(c.ALGORITHM)
    if named is not None and names_metrics(table.columns[named]):  # what stands across, written over the index
        del roles[c.ALGORITHM]
    free = (j for j in range(len(table.columns)) if j not in roles.values())
    place = next((j for j in free if names_metrics(table.columns[j])), None)
    if place is None:
        return reading.passed("no column holds names of metrics alone")
    return _with_role(replace(reading, roles=roles), c.METRIC, place, "its cells are known metrics")


def error_column(reading: Reading) -> Reading:
    """The column of standard errors in a long table."""
    errors = [j for j, name in enumerate(reading.table.names()) if spread_named(name) == "error"]
    if not reading.is_long or not errors:
        return reading.passed("no column of standard errors beside one of values")
    why = f"column {reading.table.name(errors[0])!r} has the name of standard errors"
    return replace(reading, error=errors[0], reasons=reading.because(why))


def _with_role(reading: Reading, role: str, place: int, why: str) -> Reading:
    name = reading.table.name(place)
    return replace(
        reading, roles={**reading.roles, role: place}, reasons=reading.because(f"column {name!r} is the {role}: {why}")
    )


def _called(table: Table, roles: Mapping[str, int], words: Collection[str]) -> list[int]:
    """The columns without a role whose name is one of the words."""
    return [j for j, name in enumerate(table.names()) if j not in roles.values() and canonical(name) in words]


def _averages_others(table: Table, roles: Mapping[str, int]) -> bool:
    """Whether the column of values is an average beside the numbers that it averages, and so not the values."""
    if not AVERAGE.match(table.name(roles[c.VALUE])):
        return False
    no_metrics = IGNORED.union(*INTERVAL)
    return any(
        j not in roles.values() and canonical(name) not in no_metrics and not spread_named(name)
        and not statistic_alone(name) and holds_numbers(table.columns[j])
        for j, name in enumerate(table.names())
    )  # fmt: skip


def free_names(reading: Reading) -> list[int]:
    """The columns of text that have no role yet."""
    used = {*reading.roles.values(), *(value.place for value in reading.values)}
    return [j for j, column in enumerate(reading.table.columns) if j not in used and not holds_numbers(column)]


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
