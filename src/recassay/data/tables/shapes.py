"""A results table of any usual shape as the long one: algorithm, dataset, metric, value.

Rows and headers each name some of the three; what both leave open comes from the user or from the file's name. Read
without a flag are long tables, a column for each metric (with or without a column of datasets), two levels of headers
(dataset over metric, or metric over dataset), metric names in a column with datasets or algorithms across, and headers
such as `ml-1m_ndcg@10`. A cut-off may be a column of its own, and a row may be of one user. A table of algorithms by
datasets names no metric: its caption, its corner or the user must say it.
"""

from __future__ import annotations

import logging
from dataclasses import replace

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import UsageError
from recassay.core.words import count_of, listing
from recassay.data.tables import frames, headers, orientation, roles, statistics, tidy
from recassay.data.tables.form import Asked, Reader, Reading, Table
from recassay.data.tables.grid import plain_name, refuse_wide
from recassay.data.tables.join import Imported
from recassay.data.tables.words import GAIN

_log = logging.getLogger(__name__)


def long_form(table: Table, asked: Asked, where: str, dataset: str, stem: str = "", folder: str = "") -> Imported:
    """The long frame of a table and what to tell; `dataset` is what it is on where nothing else says so.

    `stem` is the name of its file, which may say the metric, and `folder` that of its folder.
    """
    refuse_wide(len(table.columns), where)
    asked = replace(asked, wide=False, transpose=False) if table.oriented else asked
    reading = read_through(Reading(table, asked, where, dataset, stem, folder))
    guesses = [table.guess] if table.guess else []
    guesses += [reason.text for reason in reading.reasons if reason.kind == "guess"]
    notes = [reason.text for reason in reading.reasons if reason.kind == "note"]
    return Imported(frames.made(reading), (*_of_cells(reading), *notes), tuple(guesses))


def read_through(reading: Reading) -> Reading:
    """The reading after every reader, in order. The log at the level DEBUG has each reader's reason."""
    for reader in READERS:
        before, reading = len(reading.reasons), reader(reading)
        for reason in reading.reasons[before:]:
            _log.debug("%s: %s %s: %s", reading.where, reader.__name__, reason.kind, reason.text)
    return reading


def options_in_vain(reading: Reading) -> Reading:
    """Refuse the options for wide tables where rows name algorithms and datasets, or no metric is said."""
    asked = reading.asked
    if asked.rows is None:
        return reading.passed("the user did not say the shape")
    named = {c.ALGORITHM, c.DATASET} & reading.roles.keys()
    if len(named) == 2 or (reading.is_long and (named or c.METRIC not in reading.roles)):
        option = "`wide`" if asked.wide else "`transpose`"
        what = f"names algorithms and datasets in columns, so {option} has no effect"
        raise UsageError(what, where=reading.where, fix=f"leave out {option}")
    if c.METRIC not in reading.roles and reading.values and not reading.has_metrics:
        raise UsageError(
            "a wide table does not say which metric it holds", fix="name it, for example `metric='ndcg@10'`"
        )
    return reading.passed("the shape that the user said fits")


def rows_of_gains(reading: Reading) -> Reading:
    """Leave out rows that compare the others (improvement, p-value) and are not algorithms."""
    if reading.is_long or c.ALGORITHM not in reading.roles:  # a long table holds no such rows
        return reading.passed("no column of algorithms beside columns of numbers")
    table = reading.table
    names = table.columns[reading.roles[c.ALGORITHM]].cast(pl.String).fill_null("")
    odd = [name for name in names.unique(maintain_order=True).to_list() if GAIN.match(plain_name(name))]
    kept = ~names.is_in(odd)
    if not odd or not kept.any():
        return reading.passed("no row compares the others")
    why = f"rows of {listing(map(repr, odd))} were left out: no algorithm"
    columns = tuple(column.filter(kept) for column in table.columns)
    return replace(reading, table=replace(table, columns=columns), reasons=reading.because(why, "note"))


READERS: tuple[Reader, ...] = (
    # The table itself
    tidy.tuples_in_rows, tidy.remarks_below, statistics.statistics_in_rows, statistics.seeds_across,
    statistics.statistics_in_headers,
    # What columns are, by words and contents
    roles.asked_columns, roles.named_columns, roles.backbone_column, roles.phase_column, roles.split_as_fold,
    roles.average_as_values, roles.cutoff_column, roles.metrics_in_rows, roles.error_column,
    # What the headers of numbers name
    headers.number_columns, headers.cutoffs_of_names, headers.costs_beside, headers.whole_headers,
    headers.compound_headers, headers.stated_metric, options_in_vain,
    # Which names are algorithms and which are datasets
    orientation.rows_without_names, orientation.names_of_a_long_table, orientation.rows_beside_headers,
    orientation.rows_alone, orientation.names_of_the_path,
    # The long frame
    rows_of_gains, frames.long_table, frames.gaps_below_names, frames.columns_of_one_thing,
    frames.tested_columns, frames.table_of_columns, frames.refuse_unread, frames.rows_not_tested,
    frames.columns_left_out, frames.metrics_of_own_names,
    frames.algorithm_of_the_file, frames.dataset_of_the_file, frames.rows_of_epochs, frames.rows_of_users,
    frames.averages_over_datasets,
    frames.averages_over_algorithms,
)  # fmt: skip
"""Each takes what it knows from the table, or passes; the next one sees what it took."""


def _of_cells(reading: Reading) -> list[str]:
    """One sentence on what was taken off cells and what stands for no value in them."""
    cells = [f"{kind} in {count_of(count, 'cell')}" for kind, count in reading.taken.most_common()]
    if reading.absent:
        shown = ", ".join(f"{text} {count}" for text, count in reading.absent.most_common(6))
        cells.append(f"{count_of(reading.absent.total(), 'cell')} without a value ({shown})")
    return [f"read with {'; '.join(cells)}"] if cells else []
