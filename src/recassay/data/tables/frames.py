"""Readers that make the long frame: one of a table with a column of values, one of columns of numbers, and checks."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError
from recassay.core.names import canonical
from recassay.core.tables.labels import is_share
from recassay.core.words import count_of, listing
from recassay.data.reading.roles import USUAL_NAMES
from recassay.data.tables.cells import FROM_INTERVAL, Numbers, has_decimal_comma, numbers
from recassay.data.tables.form import Reading, Reason, ValueColumn
from recassay.data.tables.headers import OF_FILE, stated_by, unknown
from recassay.data.tables.labels import metric_of_file, own_name, spelled
from recassay.data.tables.roles import texts
from recassay.data.tables.tidy import filled_down, labelled, with_cutoffs
from recassay.data.tables.words import AVERAGE, EPOCHS, INTERVAL, OTHER_PHASES, PHASE

_NAMES = (c.ALGORITHM, c.DATASET, c.METRIC)
_KEPT = (c.SEED, c.FOLD, c.RUNS, c.USER)
_LOOKED_AT = 2_000
"""Cells of a column that say whether its commas are decimal."""
_ONE_RUN = pl.lit(1, dtype=pl.Int64).alias(c.RUNS)
"""Beside a standard error, which is the deviation of one run."""


def long_table(reading: Reading) -> Reading:
    """The frame of a table with a column of values."""
    roles, table = reading.roles, reading.table
    metric, reasons = _metric_of_values(reading)
    if not reading.is_long or c.ALGORITHM not in roles or (c.METRIC not in roles and not metric):
        return reading.passed("columns of algorithms, metrics and values are not all there")
    labels = texts(table.columns[roles[c.METRIC]]) if c.METRIC in roles else [metric]
    bounded = all(is_share(known.label) for text in labels if (known := spelled(text))) and any(map(spelled, labels))
    read = numbers(table.columns[roles[c.VALUE]], reading.where, decimal=bounded or _has_commas(reading))
    index = [table.columns[roles[name]].alias(name) for name in (*_NAMES, *_KEPT) if name in roles]
    spread, why = _spread_of_values(reading, read)
    frame = pl.DataFrame([*index, read.values.alias(c.VALUE)]).with_columns(*spread)
    if c.METRIC not in frame.columns:
        frame = frame.with_columns(pl.lit(metric).alias(c.METRIC))
    names = table.names()
    details = [j for j, name in enumerate(names) if name in c.RESULT_DETAILS and name not in frame.columns]
    frame = frame.with_columns(table.columns[j].alias(names[j]) for j in details)
    frame = labelled(with_cutoffs(frame, reading), marks=not table.verbatim)
    return replace(
        reading,
        frame=frame.filter(~_not_tested(reading)),
        taken=read.taken,
        absent=read.absent,
        reasons=(*reasons, *reading.because(why or "one column holds all values", "note" if why else "taken")),
    )


def _metric_of_values(reading: Reading) -> tuple[str, tuple[Reason, ...]]:
    """The metric of a long table that has no column of metrics, and where it was found; empty where nothing says it.

    Where nobody names it, one that rows of algorithms and datasets have is called as the column of values is.
    """
    if not reading.is_long or c.METRIC in reading.roles:
        return "", ()
    stated, place = stated_by(reading)
    if reading.asked.metric is not None:
        return reading.asked.metric, ()
    if stated is not None:
        return stated.label, (Reason(f"{stated.label} was taken as the metric, by the {place}", "guess"),)
    if not {c.ALGORITHM, c.DATASET} <= reading.roles.keys() or reading.has_metrics:
        return "", ()
    name = reading.table.name(reading.roles[c.VALUE])
    label = c.VALUE if AVERAGE.match(name) else own_name(name)
    return label, (Reason(f"no column names the metric: it is called {label!r} (`metric` names another)", "note"),)


def _spread_of_values(reading: Reading, read: Numbers) -> tuple[list[pl.Series | pl.Expr], str]:
    """The deviations of a long table, with the runs where they are standard errors, and what to say about it."""
    table, ends = reading.table, _interval_columns(reading)
    if c.DEVIATION in reading.roles:
        stated = numbers(table.columns[reading.roles[c.DEVIATION]], reading.where).values
        return [stated.alias(c.DEVIATION)], ""
    if reading.error is not None:
        return [_ONE_RUN, numbers(table.columns[reading.error], reading.where).values.alias(c.DEVIATION)], ""
    if read.deviations is not None:
        return [read.deviations.alias(c.DEVIATION)], ""
    if ends is None:
        return [], ""
    low, high = (numbers(column, reading.where).values for column in ends)
    why = "the two ends beside the values were read as 95 % intervals"
    return [_ONE_RUN, ((high - low) / FROM_INTERVAL).alias(c.DEVIATION)], why


def _interval_columns(reading: Reading) -> tuple[pl.Series, pl.Series] | None:
    """The columns of the lower and the upper end of an interval, where the table has both."""
    columns, plain = reading.table.columns, [canonical(name) for name in reading.table.names()]
    lows, highs = ([j for j, name in enumerate(plain) if name in names] for names in INTERVAL)
    return (columns[lows[0]], columns[highs[0]]) if len(lows) == len(highs) == 1 else None


def gaps_below_names(reading: Reading) -> Reading:
    """Names that are written once for several rows, in each of these."""
    if reading.frame is not None or not is_readable(reading):
        return reading.passed("no columns of numbers are read")
    table, places = reading.table, {name: j for name, j in reading.roles.items() if name in _NAMES}
    named, filled = filled_down({name: table.columns[j] for name, j in places.items()})
    if not filled:
        return reading.passed("every row has its names")
    columns = list(table.columns)
    for name in filled:
        columns[places[name]] = named[name]
    why = f"gaps in the column of {listing(filled)} were filled with the name above them"
    return replace(reading, table=replace(table, columns=tuple(columns)), reasons=reading.because(why, "note"))


def columns_of_one_thing(reading: Reading) -> Reading:
    """Of standard deviations and errors of one cell the first kind, and of columns of validation data the first one."""
    if reading.frame is not None or not is_readable(reading):
        return reading.passed("no columns of numbers are read")
    kept: list[ValueColumn] = []
    for column in reading.values:
        same = [each for each in reading.values if (each.cell, each.phase) == (column.cell, column.phase)]
        deviations = any(each.statistic == "deviation" for each in same)
        earlier = any((each.cell, each.phase, each.statistic) == (column.cell, column.phase, column.statistic)
                      for each in kept)  # fmt: skip
        if not (column.statistic == "error" and deviations) and not (column.phase == "valid" and earlier):
            kept.append(column)
    gone = [column.place for column in reading.values if column not in kept]
    if not gone:
        return reading.passed("no two columns hold one thing")
    left = (*reading.left_out, *(reading.table.name(place) for place in gone))
    return replace(reading, values=tuple(kept), left_out=left, reasons=reading.because("one column for each thing"))


def tested_columns(reading: Reading) -> Reading:
    """The columns of test data; where a metric has none, those of validation data, and else those of training data."""
    if reading.frame is not None or not is_readable(reading):
        return reading.passed("no columns of numbers are read")
    tested = {column.cell for column in reading.values if column.metric and not column.phase}
    validated = {column.cell for column in reading.values if column.phase == "valid"}
    better = {"": set(), "valid": tested, "train": tested | validated}
    chosen = tuple(column for column in reading.values if column.cell not in better[column.phase])
    words = {"valid": "validation", "train": "training"}
    phases = sorted({words[column.phase] for column in chosen if column.phase})
    if not phases:
        return replace(reading, values=chosen, reasons=reading.because("all columns are of test data"))
    why = f"some metrics have no test results, and were read from {' and '.join(phases)} data"
    return replace(reading, values=chosen, reasons=reading.because(why, "note"))


def table_of_columns(reading: Reading) -> Reading:
    """The frame of numbers under headers: one part for each column of values, put below each other."""
    if reading.frame is not None or not is_readable(reading):
        return reading.passed("no columns of numbers are read")
    columns = [column for column in reading.values if column.statistic == "value"]
    if not columns:
        fix = "give the values that they belong to"
        raise InputError("holds deviations and no values", where=reading.where, fix=fix)
    taken: Counter[str] = Counter()
    absent: Counter[str] = Counter()
    parts: list[pl.DataFrame] = []
    for column in columns:
        read, percent = _numbers_of(reading, column)
        taken.update(read.taken)
        absent.update(read.absent)
        if percent:
            taken["percent in the header (divided by 100)"] += reading.table.height
        parts.append(_part(reading, column, read))
    _refuse_other_scales(columns, parts, reading.where)
    frame = labelled(pl.concat(parts, how="diagonal_relaxed"), marks=not reading.table.verbatim)
    why = f"{count_of(len(parts), 'column')} of numbers"
    return replace(reading, frame=frame, taken=taken, absent=absent, reasons=reading.because(why))


def _numbers_of(reading: Reading, column: ValueColumn) -> tuple[Numbers, bool]:
    """The numbers of a column, and whether its header says that they are percent."""
    percent = bool(column.metric and column.metric.percent)
    decimal = bool(column.metric and is_share(column.metric.label)) or _has_commas(reading)
    return numbers(reading.table.columns[column.place], reading.where, percent=percent, decimal=decimal), percent


def _has_commas(reading: Reading) -> bool:
    """Whether the commas of a table are decimal: one of its columns of numbers says so, and none has points."""
    cells = (column.cast(pl.String).head(_LOOKED_AT).unique().to_list()
             for j, column in enumerate(reading.table.columns)
             if column.dtype == pl.String and j in {reading.roles.get(c.VALUE), *(v.place for v in reading.values)}
             and column.str.contains(",", literal=True).any())  # fmt: skip
    return has_decimal_comma(text for each in cells for text in each if text)


def _part(reading: Reading, column: ValueColumn, read: Numbers) -> pl.DataFrame:
    """The rows of one column of values, with its deviations where they are stated."""
    roles, table = reading.roles, reading.table
    metric = column.metric or (None if c.METRIC in roles else unknown(column.other))
    label, unit = (metric.label, metric.unit) if metric else ("", 1.0)
    index = [table.columns[j].alias(name) for name, j in roles.items() if name in _NAMES]
    index += [table.columns[j].alias(name) for name, j in roles.items() if name in _KEPT]
    part = pl.DataFrame([*index, (read.values * unit).alias(c.VALUE)])
    if metric is not None:
        part = part.with_columns(pl.lit(label).alias(c.METRIC))
    if column.other and reading.across and (column.metric or c.METRIC in roles):
        part = part.with_columns(pl.lit(column.other).alias(reading.across))
    beside = next((each for kind in ("deviation", "error") for each in reading.values
                   if each.statistic == kind and each.cell == column.cell), None)  # fmt: skip
    stated = read.deviations
    if beside is not None:
        stated = _numbers_of(reading, replace(beside, metric=metric))[0].values
    if stated is not None:
        part = part.with_columns((stated * unit).alias(c.DEVIATION))
    if beside is not None and beside.statistic == "error":
        part = part.with_columns(_ONE_RUN)
    return with_cutoffs(part, reading).filter(~_not_tested(reading))


def _refuse_other_scales(columns: list[ValueColumn], parts: list[pl.DataFrame], where: str) -> None:
    """A column of a wide table that reaches above 1 beside others that do not is not a share: a setting, or percent."""
    labels = {column.metric.label if column.metric else "" for column in columns}
    label = labels.pop()
    if labels or not is_share(label):
        return
    largest = zip((column.other for column in columns), (part.get_column(c.VALUE).max() for part in parts), strict=True)
    above = [(name, value) for name, value in largest if isinstance(value, float) and value > 1]
    if above and len(above) < len(columns):
        name, value = above[0]
        what = f"the column {name!r} reaches {value:g}, which {label} cannot beside the others"
        raise InputError(what, where=where, fix="leave the column out of the table, or give all values in one scale")


def is_readable(reading: Reading) -> bool:
    """Whether rows and headers together name algorithm and metric of every number, and no header is left over."""
    if c.METRIC in reading.roles:
        return bool(reading.values) and not {c.ALGORITHM, c.DATASET} <= reading.roles.keys()
    return reading.has_metrics and (c.ALGORITHM in reading.roles or all(column.other for column in reading.values))


def refuse_unread(reading: Reading) -> Reading:
    """Why a table cannot be read, with the advice that fits it."""
    if reading.frame is not None:
        return reading.passed("the table is read")
    names, where = reading.table.names(), reading.where
    unmeasured = [column.place for column in reading.values if column.metric is None]
    absent = [name for name in (*_NAMES, c.VALUE) if name not in reading.roles]
    plain = {canonical(name.partition(":")[0]) for name in names}
    if all(plain & set(map(canonical, USUAL_NAMES[role])) for role in (c.USER, c.ITEM)):
        fix = "recassay data import takes interactions, recassay evaluate judges recommendation lists"
        raise InputError("holds users and items, not results", where=where, fix=fix)
    if len(unmeasured) > 1 and not {c.VALUE, c.METRIC, c.DATASET} & reading.roles.keys():
        raise InputError(
            f"the columns {listing(reading.names_at(unmeasured))} name no metric", where=where,
            fix="where each is a dataset say `wide=True` and `metric='ndcg@10'` (or the metric it is); where each is "
            "an algorithm `transpose=True` and `metric`",
        )  # fmt: skip
    raise InputError(
        f"no column {listing(map(repr, absent))} among {listing(map(repr, names), most=8)}", where=where,
        fix="name it with `columns` (for example `columns={'value': 'score'}`), or use `wide=True` for a wide table",
    )  # fmt: skip


def _not_tested(reading: Reading) -> pl.Series:
    """Which rows were not measured on test data."""
    if PHASE not in reading.roles:
        return pl.repeat(False, reading.table.height, eager=True)
    text = reading.table.columns[reading.roles[PHASE]].cast(pl.String).str.strip_chars().str.to_lowercase()
    return text.is_in(sorted(OTHER_PHASES)).fill_null(False)


def rows_not_tested(reading: Reading) -> Reading:
    """Say how many rows were not measured on test data and were left out."""
    left = int(_not_tested(reading).sum())
    if not left:
        return reading.passed("no row is of other data than test data")
    verb = "was" if left == 1 else "were"
    why = f"{count_of(left, 'row')} that {verb} not measured on test data {verb} left out"
    return replace(reading, reasons=reading.because(why, "note"))


def columns_left_out(reading: Reading) -> Reading:
    """Say which columns were left out."""
    used = {reading.table.name(j) for j in reading.roles.values()}
    names = [name for name in reading.left_out if name not in used]
    if not names or reading.is_long:
        return reading.passed("no column was left out")
    why = f"columns left out: {listing(map(repr, names), most=8)}"
    return replace(reading, reasons=reading.because(why, "note"))


def metrics_of_own_names(reading: Reading) -> Reading:
    """Say which columns of numbers nobody knows."""
    odd = [column.other for column in reading.values if column.metric is None and c.METRIC not in reading.roles]
    if not odd or reading.is_long:
        return reading.passed("every column of numbers has a metric that is named")
    why = f"kept as metrics under their own names: {listing(map(repr, odd), most=8)}"
    return replace(reading, reasons=reading.because(why, "note"))


def algorithm_of_the_file(reading: Reading) -> Reading:
    """A table that names no algorithm is of the one that its file is named after."""
    frame = made(reading)
    if c.ALGORITHM in frame.columns:
        return reading.passed("the table names algorithms")
    frame = frame.with_columns(pl.lit(reading.stem or "algorithm").alias(c.ALGORITHM))
    return replace(reading, frame=frame, reasons=reading.because("the name of the file is the algorithm"))


def dataset_of_the_file(reading: Reading) -> Reading:
    """A table that names no dataset is on the one that the user or its place names."""
    frame, asked, place = made(reading), reading.asked.dataset, reading.dataset
    if any(reason.text.endswith(f"by the {OF_FILE}") for reason in reading.reasons):
        place = metric_of_file(place)[1] or place
    if c.DATASET not in frame.columns:
        frame = frame.with_columns(pl.lit(asked or place).alias(c.DATASET))
        if asked is not None:
            return replace(reading, frame=frame, reasons=reading.because("the user named the dataset"))
        why = f"no column names the dataset: {place!r} was taken (`dataset` names another)"
        return replace(reading, frame=frame, reasons=reading.because(why, "note"))
    if asked is None or not frame.get_column(c.DATASET).null_count():
        return reading.passed("the table names datasets")
    why = f"rows that name no dataset were taken as on {asked!r}, as `dataset` says"
    return replace(reading, reasons=reading.because(why, "note"))


def rows_of_users(reading: Reading) -> Reading:
    """Say that rows are of single users, whose means will be taken."""
    frame = made(reading)
    if c.USER not in frame.columns:
        return reading.passed("rows are not of single users")
    count = frame.get_column(c.USER).drop_nulls().n_unique()
    why = f"its rows are of {count_of(count, 'user')}: means over users were taken, with their deviations"
    return replace(reading, reasons=reading.because(why, "note"))


def rows_of_epochs(reading: Reading) -> Reading:
    """Refuse a table with a row for each epoch: the mean of them is nobody's result."""
    frame, names = made(reading), reading.table.names()
    epochs = [name for name in names if canonical(name) in EPOCHS]
    key = [name for name in (*c.RESULT_KEY, c.SEED, c.FOLD, c.USER) if name in frame.columns]
    if not epochs or not frame.select(pl.struct(key).is_duplicated().any()).item():
        return reading.passed("rows are not of single epochs")
    what = f"it has several rows per cell, one for each {epochs[0]!r}"
    fix = f"keep the rows of one {epochs[0]!r} each: the last, or the one that validation data chose"
    raise InputError(what, where=reading.where, fix=fix)


def averages_over_datasets(reading: Reading) -> Reading:
    """Leave out the rows of an average over datasets."""
    names = _distinct(made(reading), c.DATASET)
    return _without(reading, c.DATASET, [name for name in names if AVERAGE.match(name)])


def averages_over_algorithms(reading: Reading) -> Reading:
    """Leave out the rows of an average over algorithms.

    An algorithm may be called Mean: it is an average only where its values are the means (or it names ranks).
    """
    frame = made(reading)
    odd = [name for name in _distinct(frame, c.ALGORITHM) if AVERAGE.match(name)]
    odd = [name for name in odd if "rank" in name.lower() or _is_mean(frame, name, odd)]
    return _without(reading, c.ALGORITHM, odd)


def made(reading: Reading) -> pl.DataFrame:
    """The frame, which the readers of frames have made."""
    if reading.frame is None:
        raise AssertionError("no reader has made the frame")
    return reading.frame


def _distinct(frame: pl.DataFrame, kind: str) -> list[str]:
    return frame.get_column(kind).cast(pl.String).drop_nulls().unique(maintain_order=True).to_list()


def _without(reading: Reading, kind: str, odd: list[str]) -> Reading:
    frame = made(reading)
    if not odd or len(odd) == len(_distinct(frame, kind)):
        return reading.passed(f"no {kind} is an average of others")
    frame = frame.filter(~pl.col(kind).cast(pl.String).is_in(odd).fill_null(False))
    why = f"rows of {listing(map(repr, odd))} were left out: no {kind}"
    return replace(reading, frame=frame, reasons=reading.because(why, "note"))


def _is_mean(frame: pl.DataFrame, name: str, averages: list[str]) -> bool:
    """Whether the values under a name are the means of the others, but for rounding."""
    named = pl.col(c.ALGORITHM).cast(pl.String)
    others = (
        frame.filter(~named.is_in(averages)).group_by(c.DATASET, c.METRIC).agg(pl.col(c.VALUE).mean().alias("mean"))
    )
    both = frame.filter(named == name).join(others, on=[c.DATASET, c.METRIC]).drop_nulls([c.VALUE, "mean"])
    near = (pl.col(c.VALUE) - pl.col("mean")).abs() <= 0.01 * pl.col("mean").abs() + 1e-9
    return both.height > 0 and bool(both.select(near.all()).item())
