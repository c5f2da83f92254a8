"""Readers of headers: which columns hold numbers, of which metric, and what else a header names."""

from __future__ import annotations

import re
from dataclasses import replace

from recassay.core import columns as c
from recassay.core.metric_facts import named_facts
from recassay.core.names import canonical
from recassay.core.tables.labels import is_cost, normal_label
from recassay.core.words import count_of, listing
from recassay.data.tables.cells import holds_numbers
from recassay.data.tables.form import Reading, Table, ValueColumn
from recassay.data.tables.labels import Spelled, known_metric, metric_of_file, metrics_in, own_name, spelled
from recassay.data.tables.words import AVERAGE, DEVIATIONS, ERRORS, GAIN, IGNORED, STATISTICS

OF_FILE = "name of the file"
_AT = re.compile(r"^(?P<name>.*[A-Za-z].*?)\s*@\s*(?P<k>\d+)$")
_CUTOFF = re.compile(r"^(?:top|k|@|n|cut-?off|list length)?\s*[-=@:]?\s*(\d+)$", re.IGNORECASE)


def number_columns(reading: Reading) -> Reading:
    """The columns of numbers with what their headers name; settings, averages and gains are left out."""
    table = reading.table
    values: list[ValueColumn] = []
    left_out: list[str] = []
    for j, name in enumerate(table.names()):
        if j in reading.roles.values() or j == reading.error:
            continue
        statistic, whole = reading.stated.get(j, ("", name))
        column = _numbers_at(table, j, values[-1] if values else None, statistic)
        if column is not None:
            values.append(column)
        elif name:
            left_out.append(whole)
    why = f"{count_of(len(values), 'column')} of numbers, {len(left_out)} left out"
    return replace(reading, values=tuple(values), left_out=tuple(left_out), reasons=reading.because(why))


def cutoffs_of_names(reading: Reading) -> Reading:
    """`ML-1M@10` is a dataset and a cut-off where the user says the metric, or another level of the header does."""
    asked = known_metric(reading.asked.metric or "")
    odd = [column for column in reading.values if column.metric and not column.metric.known]
    parts = {column.place: _AT.match(reading.table.headers[column.place][-1].strip()) for column in odd}
    if not odd or len(odd) < len(reading.values) or not all(parts.values()) or reading.asked.rows is not None:
        return reading.passed("no header is a name and a cut-off alone")
    values: list[ValueColumn] = []
    for column in odd:
        part = parts[column.place]
        metric = known_metric(column.other) or (None if column.other else asked)
        if part is None or metric is None:
            return reading.passed("nothing says the metric of headers that are names and cut-offs")
        label = metric.label if "@" in metric.label else f"{metric.label}@{part['k']}"
        values.append(replace(column, metric=spelled(label) or metric, other=part["name"]))
    why = "headers are names and the cut-off of the metric"
    return replace(reading, values=tuple(values), reasons=reading.because(why))


def costs_beside(reading: Reading) -> Reading:
    """Leave out times and sizes beside columns that name no metric, in a table of another metric."""
    costs = [column for column in reading.values if column.metric and is_cost(column.metric.label) and not column.other]
    others = [column for column in reading.values if column not in costs]
    named = any(column.metric for column in others) or {c.METRIC, c.VALUE} & reading.roles.keys()
    metric = stated_by(reading)[0]
    if not costs or len(others) < 2 or named or metric is None or is_cost(metric.label):
        return reading.passed("no costs beside columns of a metric that is said")
    whole = reading.table.names()
    left = (*reading.left_out, *(whole[column.place] for column in costs))
    why = f"{count_of(len(costs), 'column')} of costs"
    return replace(reading, values=tuple(others), left_out=left, reasons=reading.because(why))


def whole_headers(reading: Reading) -> Reading:
    """Headers are names as a whole where the user says shape and metric, and they name no metric with a cut-off.

    `ml@10` alone, of which nobody knows a metric, is the name of a dataset (or an algorithm).
    """
    asked, values, names = reading.asked, reading.values, reading.table.names()
    if asked.rows is None or asked.metric is None:
        return reading.passed("the user did not say both the shape and the metric")
    named = [column for column in values if column.metric and (column.metric.known or column.other)]
    if len(named) == len(values) or any("@" in names[column.place] for column in named):
        labels = {column.metric.label for column in named if column.metric}
        if normal_label(asked.metric) in labels or c.METRIC in reading.roles:
            return reading.passed("headers name metrics themselves")
        why = f"headers name metrics ({listing(sorted(labels))}), so `metric` was not used"
        return replace(reading, reasons=reading.because(why, "note"))
    whole = {column.cell: names[column.place] for column in values if column.statistic == "value"}
    bare = tuple(  # a deviation stays with its values
        replace(column, metric=None, other=names[column.place] if column.statistic == "value"
                else whole.get(column.cell, names[column.place]))
        for column in values
    )  # fmt: skip
    return replace(reading, values=bare, reasons=reading.because("the user said the metric of all columns"))


def compound_headers(reading: Reading) -> Reading:
    """Headers such as `ml-1m_ndcg@10`, where every column of numbers has one and none is a metric as a whole."""
    names = reading.table.names()
    if {c.METRIC, c.VALUE} & reading.roles.keys() or any(column.metric and column.metric.known
                                                         for column in reading.values):  # fmt: skip
        return reading.passed("metrics are named without other names")
    parts = [split_compound(names[column.place]) for column in reading.values]
    parted = [replace(column, other=part[0], metric=part[1])
              for column, part in zip(reading.values, parts, strict=True) if part is not None]  # fmt: skip
    if len(parts) < 2 or len(parted) < len(parts):
        return reading.passed("not every header joins a name and a metric")
    return replace(reading, values=tuple(parted), reasons=reading.because("every header joins a name and a metric"))


def stated_metric(reading: Reading) -> Reading:
    """The one metric of a table whose headers name none."""
    if {c.METRIC, c.VALUE} & reading.roles.keys() or not reading.values or reading.has_metrics:
        return reading.passed("rows or headers name metrics")
    metric, place = stated_by(reading)
    if metric is None:
        return reading.passed("neither the user, the corner, the caption nor the name of the file says a metric")
    values = tuple(replace(column, metric=metric) for column in reading.values)
    if not place:
        return replace(reading, values=values, reasons=reading.because("the user said the metric"))
    why = f"{metric.label} was taken as the metric, by the {place}"
    return replace(reading, values=values, reasons=reading.because(why, "guess"))


def stated_by(reading: Reading) -> tuple[Spelled | None, str]:
    """A metric and where it stands: with the user (""), in the corner, in the caption or in the file's name."""
    table, asked = reading.table, reading.asked
    if asked.metric is not None:
        return known_metric(asked.metric) or (unknown(asked.metric) if asked.rows is not None else None), ""
    cornered = 0 not in reading.roles.values() and not table.columns[0].dtype.is_numeric()
    corner = known_metric(table.name(0)) if cornered else None
    if corner is not None:
        return corner, "corner of the table"
    named = metrics_in(table.title)
    if len(named) == 1:
        return spelled(named[0]), "caption"
    metric = metric_of_file(reading.stem)[0]
    return metric, OF_FILE if metric else ""


def _numbers_at(table: Table, place: int, before: ValueColumn | None, statistic: str = "") -> ValueColumn | None:
    """What a column of numbers holds, `before` being the last one to its left; None where it is left out.

    `statistic` is what its header said beside its name.
    """
    levels, name = table.headers[place], table.name(place)
    averages = len(levels) == 1 and AVERAGE.match(levels[0])
    if averages or any(map(GAIN.match, levels)) or not holds_numbers(table.columns[place]):
        return None
    spread = spread_named(name)
    if spread and before is not None and not statistic:  # `std` belongs to what stands before it
        if before.statistic == "value":
            return replace(before, place=place, statistic=spread)
        if before.statistic != spread:  # `std`, and `stderr` after it
            return None
    column = value_column(place, levels)
    column = replace(column, statistic=statistic) if statistic else column
    setting = column.metric is None and canonical(name) in IGNORED
    return None if setting or column.statistic == "skip" else column


def value_column(place: int, levels: tuple[str, ...]) -> ValueColumn:
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


def spread_named(name: str) -> str:
    """`deviation` or `error` where a column is called so and no more, as `std`, `std.1` and `±` are."""
    bare = canonical(re.sub(r"\.\d+$", "", name.strip()))
    if bare in ERRORS:
        return "error"
    return "deviation" if bare in DEVIATIONS else ""


def split_compound(header: str) -> tuple[str, Spelled] | None:
    """`ml-1m_ndcg@10`, `NDCG@10 (ML-1M)` or `ml-1m / hr@10` as the other name and the metric."""
    text = header.strip()
    for parted in re.finditer(r"[ _/:|.\-]+", text):
        first, last = text[: parted.start()], text[parted.end() :]
        for other, label in ((first, last), (last, first)):
            metric = known_metric(label.strip("() "))
            if other and metric is not None and ("@" in label or _beside(metric.label)):
                return other.strip("() "), metric
    return None


def _beside(label: str) -> bool:
    """Whether a header may name the metric without a cut-off, beside a dataset."""
    known = named_facts(label)
    return known is not None and known.beside


def unknown(name: str) -> Spelled:
    """A column of numbers that nobody knows, as a metric under its own name."""
    return Spelled(own_name(name), False)
