"""From raw columns to typed ones: which type a column of text has, and a null where a value is not of it."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

import polars as pl

from recassay.core.columns import EVENT, ITEM, RATING, TIMESTAMP, USER
from recassay.core.specs.specs import ReadSpec
from recassay.data.reading.records import RawTable, brief

_SAMPLE = 1000
_FORM = re.compile(
    r"\d{4}(?P<dash>[-/])\d{2}[-/]\d{2}"
    r"((?P<middle>[T ])\d{2}:\d{2}(?P<seconds>:\d{2}(?P<fraction>\.\d+)?)?"
    r"(?P<zone>Z| UTC|[+-]\d{2}:?\d{2})?)?"
)


def typed_columns(raw: RawTable, spec: ReadSpec) -> tuple[dict[str, pl.Expr], dict[str, str], list[str], int]:
    """Decide each column's type from one pass over the source.

    Given are one expression per role, null where a value is bad; what a null means if the cell was not empty;
    warnings; and the number of rows.

    Ids in a text file become int64 if every one of them is an integer as it would be printed, and else stay
    text, all of them (`007`, `1.0` and `+1` are text). Ids of a typed source keep their type; floats that are
    whole become integers. A rating or time column without a single value counts as absent.
    """
    schema = raw.frame.collect_schema()
    counts = _survey(raw, schema)
    expressions: dict[str, pl.Expr] = {}
    faults: dict[str, str] = {}
    warnings: list[str] = []
    for role in schema.names():
        filled = counts.get(f"{role}.filled", 0)
        if role in (USER, ITEM):
            expressions[role] = _ids(role, schema[role], counts, raw, warnings)
        elif role == TIMESTAMP and spec.time == "ignore":
            continue
        elif filled == 0 and role in (RATING, TIMESTAMP):
            warnings.append(f"column {raw.columns[role]!r} is empty throughout: there are no {role}s")
        elif role == RATING:
            expressions[role] = _number(schema[role], raw)
            faults[role] = "is not a number"
        elif role == TIMESTAMP:
            expressions[role], faults[role] = _times(schema[role], counts, raw, spec)
        elif role == EVENT and spec.event_weights is not None:
            expressions[role] = _filled(pl.col(role).cast(pl.String))
        elif role == EVENT:
            warnings.append(f"column {raw.columns[role]!r} holds event types, not used without event_weights")
    return expressions, faults, warnings, counts["rows"]


def _survey(raw: RawTable, schema: pl.Schema) -> dict[str, int]:
    wanted = [pl.len().alias("rows")]
    for role, dtype in schema.items():
        column = pl.col(role)
        if role in (USER, ITEM) and dtype == pl.String:
            if raw.text:
                wanted.append(_nonempty(column).count().alias(f"{role}.filled"))
                wanted.append(_as_printed(column).sum().alias(f"{role}.integers"))
        elif dtype == pl.String:
            text = _filled(column)
            wanted.append(text.count().alias(f"{role}.filled"))
            if role == TIMESTAMP:
                number = text.str.strip_chars()
                wanted.append(number.cast(pl.Int64, strict=False).count().alias(f"{role}.integers"))
                wanted.append(number.cast(pl.Float64, strict=False).count().alias(f"{role}.numbers"))
        elif dtype.is_float():
            wanted.append(column.fill_nan(None).count().alias(f"{role}.filled"))
            if role in (USER, ITEM):
                whole = column.is_finite() & (column == column.floor()) & (column.abs() < 2.0**53)
                wanted.append(whole.sum().alias(f"{role}.integers"))
        elif role not in (USER, ITEM):
            wanted.append(column.count().alias(f"{role}.filled"))
    return raw.frame.select(wanted).collect(engine="streaming").row(0, named=True)


def _as_printed(column: pl.Expr) -> pl.Expr:
    """Whether a text is an int64 just as it would be printed: no plus sign, no leading zero, no -0."""
    text = column.str
    dressed = text.starts_with("+") | text.starts_with("-0") | (text.starts_with("0") & (text.len_bytes() > 1))
    return column.cast(pl.Int64, strict=False).is_not_null() & ~dressed


def _nonempty(column: pl.Expr) -> pl.Expr:
    return pl.when(column.str.len_bytes() > 0).then(column)


def _filled(column: pl.Expr) -> pl.Expr:
    """Null for a cell that is empty or blank; other text as it is."""
    return pl.when(column.str.strip_chars() != "").then(column)


def _ids(role: str, dtype: pl.DataType, counts: dict[str, int], raw: RawTable, warnings: list[str]) -> pl.Expr:
    column = pl.col(role)
    if dtype.is_integer():
        return column
    if dtype in (pl.String, pl.Categorical, pl.Enum, pl.Null):
        text = _nonempty(column.cast(pl.String))
        integers = raw.text and counts[f"{role}.integers"] == counts[f"{role}.filled"] > 0
        return text.cast(pl.Int64) if integers else text
    if dtype.is_float():
        if counts[f"{role}.integers"] < counts[f"{role}.filled"]:
            raise raw.refused(f"the {role} ids are fractional or huge floats", fix="store ids as integers or text")
        warnings.append(f"the {role} ids were floats and became integers")
        return column.fill_nan(None).cast(pl.Int64)
    raise raw.refused(f"the {role} ids are of type {dtype}", fix="store ids as integers or text")


def _number(dtype: pl.DataType, raw: RawTable) -> pl.Expr:
    column = pl.col(RATING)
    if dtype == pl.String:
        return column.str.strip_chars().cast(pl.Float64, strict=False)
    if dtype.is_numeric() or dtype == pl.Boolean:
        return column.cast(pl.Float64)
    raise raw.refused(f"the ratings are of type {dtype}", fix="store them as numbers")


def _times(dtype: pl.DataType, counts: dict[str, int], raw: RawTable, spec: ReadSpec) -> tuple[pl.Expr, str]:
    column = pl.col(TIMESTAMP)
    if dtype != pl.String:
        return column, "is not a time"
    text = column.str.strip_chars()
    filled, integers, numbers = (counts[f"{TIMESTAMP}.{what}"] for what in ("filled", "integers", "numbers"))
    if spec.time != "iso" and (2 * numbers >= filled or spec.time != "auto"):
        if integers == numbers:
            return text.cast(pl.Int64, strict=False), "is not a whole number"
        return text.cast(pl.Float64, strict=False), "is not a number"
    sample = raw.frame.select(_filled(column)).drop_nulls().head(_SAMPLE).collect().to_series()
    forms = [form for value in sample if (form := _form_of(value.strip())) is not None]
    if not forms:
        what = f"timestamps like {brief(sample[0])} are neither numbers nor ISO dates"
        raise raw.refused(what, fix="write them as 2024-01-31 or 2024-01-31T13:45:00Z, or say time='ignore'")
    pattern, shape, _ = max(dict.fromkeys(forms), key=forms.count)  # the form that most of them have
    precision: Literal["ns", "us"] = "ns" if any(form.precise for form in forms) else "us"
    return _dates(text, pattern, precision), f"is not a date written like {shape}"


def _dates(text: pl.Expr, pattern: str, precision: Literal["ns", "us"]) -> pl.Expr:
    """The dates as UTC; null where the text is not of this form. Without an offset, the clock is taken as UTC."""
    if "%H" not in pattern:
        return text.str.to_date(pattern, strict=False)
    moment = text.str.to_datetime(pattern, time_unit=precision, strict=False)
    return moment.dt.replace_time_zone(None) if "%:z" not in pattern else moment.dt.convert_time_zone("UTC")


class _DateForm(NamedTuple):
    """How a date is written: `pattern` for polars, `shape` for people; `precise` below a microsecond."""

    pattern: str
    shape: str
    precise: bool


def _form_of(text: str) -> _DateForm | None:
    """The form of a year-first date; None for anything else."""
    match = _FORM.fullmatch(text)
    if match is None:
        return None
    dash, middle, zone = match["dash"], match["middle"], match["zone"]
    pattern, shape = f"%Y{dash}%m{dash}%d", f"2024{dash}01{dash}31"
    if middle:
        pattern, shape = f"{pattern}{middle}%H:%M", f"{shape}{middle}13:45"
        if match["seconds"]:
            pattern, shape = f"{pattern}:%S%.f", f"{shape}:00"
        if zone:
            offset = zone[0] in "+-"
            pattern, shape = pattern + ("%:z" if offset else zone), shape + ("+01:00" if offset else zone)
    return _DateForm(pattern, shape, len(match["fraction"] or "") > 7)
