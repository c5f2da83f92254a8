"""What people leave in their tables: blank lines, notes, names written once for several rows, spellings of metrics."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from recassay.core import columns as c
from recassay.core.tables.labels import facts_of
from recassay.core.words import listing
from recassay.data.tables.form import Reading, levels_in
from recassay.data.tables.grid import plain_names
from recassay.data.tables.labels import has_cutoff, sampling, spelled
from recassay.data.tables.words import CUTOFF

_NOTE = re.compile(r"^\W*(notes?|sources?|remarks?|legend|best|bold|significan\w*|all|values?|we|the)\b|^[*†‡§#]|^\^")
_MARKS = r"\\|\*\*|\$|</?(b|i|u|em|strong|sup|sub|br|span)\b"
"""What names in LaTeX, Markdown and HTML have around them."""
_WORDS = 4
"""A name of an algorithm has fewer words than this; a remark has as many or more."""


def tuples_in_rows(reading: Reading) -> Reading:
    """A first column of pandas' tuples (`('EASE', 'ml-1m')`) is one column for each part of them."""
    table = reading.table
    if not table.height or table.columns[0].dtype != pl.String or not str(table.columns[0][0] or "").startswith("("):
        return reading.passed("the first column holds no tuples")
    parts = [levels_in(str(text or "")) for text in table.columns[0]]
    if len(parts[0]) < 2 or any(len(part) != len(parts[0]) for part in parts):
        return reading.passed("the first column holds no tuples of one length")
    columns = [pl.Series(f"part {i}", values) for i, values in enumerate(zip(*parts, strict=True))]
    named = table.headers[0]  # a tuple of names stands over a column of tuples
    headers = [(name,) for name in named] if len(named) == len(columns) else [("",)] * len(columns)
    split = replace(table, columns=(*columns, *table.columns[1:]), headers=(*headers, *table.headers[1:]))
    return replace(reading, table=split, reasons=reading.because("the first column holds tuples of pandas"))


def remarks_below(reading: Reading) -> Reading:
    """Leave out blank rows, and remarks below the table."""
    table = reading.table
    blank = (_blank_to_null(column) if column.dtype == pl.String else column for column in table.columns)
    filled = [column.is_not_null().alias(f"{j}") for j, column in enumerate(blank)]
    count = pl.DataFrame(filled).sum_horizontal() if filled else pl.Series(dtype=pl.UInt32)
    kept = count > 0
    remarks: list[str] = []
    for row in reversed(kept.arg_true().to_list()) if (count < 2).any() else ():
        text = str(table.columns[0][row] or "").strip()
        if count[row] > 1 or len(table.columns) < 2 or not (_NOTE.match(text.lower()) or len(text.split()) >= _WORDS):
            break
        kept[row] = False
        remarks.append(text if len(text) <= 40 else f"{text[:37]}...")
    if kept.all() or not kept.any():
        return reading.passed("no row is blank, and no remark stands below")
    rows = replace(table, columns=tuple(column.filter(kept) for column in table.columns))
    if not remarks:
        return replace(reading, table=rows, reasons=reading.because("blank rows"))
    why = f"remarks below the table were left out: {listing(map(repr, reversed(remarks)))}"
    return replace(reading, table=rows, reasons=reading.because(why, "note"))


def filled_down(columns: Mapping[str, pl.Series]) -> tuple[dict[str, pl.Series], list[str]]:
    """Columns of names in which a name holds for the rows below that leave it out, and which these were.

    A gap is filled where another of the columns says something in its row, and something stands above it.
    """
    texts = {name: _blank_to_null(column) for name, column in columns.items() if not column.dtype.is_numeric()}
    gaps = {name: column.is_null() for name, column in texts.items()}
    made, filled = dict(columns), []
    for name, column in texts.items():
        others = [~gap for other, gap in gaps.items() if other != name]
        named = pl.DataFrame(others).select(pl.any_horizontal(pl.all())).to_series() if others else None
        if named is None or not gaps[name].any() or gaps[name][0] or not named.filter(gaps[name]).all():
            continue
        made[name] = column.forward_fill().alias(columns[name].name)
        filled.append(name)
    return made, filled


def _blank_to_null(column: pl.Series) -> pl.Series:
    text = column.cast(pl.String)
    return text.set(text.str.strip_chars() == "", None)


def labelled(frame: pl.DataFrame, *, marks: bool) -> pl.DataFrame:
    """Metric labels as we write them; names without marks of LaTeX and Markdown, where the source is a text.

    A protocol that samples (`100 negatives`, `uni100`) makes another metric: `ndcg@10[sampled 100]`.
    """
    metrics = frame.get_column(c.METRIC).cast(pl.String).drop_nulls().unique().to_list()
    known = {name: metric for name in metrics if (metric := spelled(name)) is not None}
    labels = {name: metric.label for name, metric in known.items() if not metric.deviation and not metric.phase}
    names = []
    for name in (c.ALGORITHM, c.DATASET) if marks else ():
        if name in frame.columns and frame.schema[name] == pl.String:
            distinct = frame.get_column(name).drop_nulls().unique()
            if distinct.str.contains(_MARKS).any():
                texts = distinct.to_list()
                names.append(pl.col(name).replace(dict(zip(texts, plain_names(texts), strict=True))))
    frame = frame.with_columns(pl.col(c.METRIC).cast(pl.String).replace(labels), *names)
    if frame.schema.get(c.PROTOCOL) == pl.String:
        ways = {way: f"[{word}]" for way in frame[c.PROTOCOL].drop_nulls().unique() if (word := sampling(way))}
        judged = [
            label
            for label in frame[c.METRIC].drop_nulls().unique()
            if "[" not in label and (facts := facts_of(label)) is not None and facts.kind == "accuracy"
        ]
        way = pl.when(pl.col(c.METRIC).is_in(judged)).then(pl.col(c.PROTOCOL).replace_strict(ways, default=""))
        frame = frame.with_columns(pl.concat_str(c.METRIC, way.fill_null("")))
    return frame


def with_cutoffs(frame: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """The frame with the cut-off of a column of its own in the labels of metrics that name none."""
    if CUTOFF not in reading.roles:
        return frame
    metrics = frame.get_column(c.METRIC).cast(pl.String).drop_nulls().unique().to_list()
    bare = [name for name in metrics if "@" not in name and (metric := spelled(name)) and has_cutoff(metric.label)]
    k = reading.table.columns[reading.roles[CUTOFF]].cast(pl.String).str.strip_chars().alias(CUTOFF)
    labels = frame.select(pl.col(c.METRIC).cast(pl.String)).with_columns(k)
    cut = pl.when(pl.col(c.METRIC).is_in(bare)).then(pl.concat_str(c.METRIC, pl.lit("@"), CUTOFF)).otherwise(c.METRIC)
    return frame.with_columns(labels.select(cut.alias(c.METRIC)).to_series())
