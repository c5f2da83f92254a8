"""Dates written out: one ISO 8601 form a column, recognised from its first values."""

from __future__ import annotations

import re
from dataclasses import dataclass

import polars as pl

from recassay.core.errors import InputError
from recassay.data.reading.records import brief

_FORM = re.compile(
    r"\d{4}(?P<dash>[-/])\d{2}[-/]\d{2}"
    r"((?P<middle>[T ])\d{2}:\d{2}(?P<seconds>:\d{2}(?P<fraction>\.\d+)?)?"
    r"(?P<zone>Z| UTC|[+-]\d{2}:?\d{2})?)?"
)


@dataclass(frozen=True, slots=True)
class DateForm:
    """How the dates of a column are written: `pattern` for polars, `shape` for people."""

    pattern: str
    shape: str
    unit: str

    def parsed(self, text: pl.Expr) -> pl.Expr:
        """The dates as UTC; null where the text is not of this form. Without an offset, the clock is taken as
        UTC.
        """
        if "%H" not in self.pattern:
            return text.str.to_date(self.pattern, strict=False)
        moment = text.str.to_datetime(self.pattern, time_unit=self.unit, strict=False)  # type: ignore[arg-type]
        return moment.dt.replace_time_zone(None) if "%:z" not in self.pattern else moment.dt.convert_time_zone("UTC")


def recognise_dates(sample: pl.Series, where: str) -> DateForm:
    """The form that most of the `sample` values have; anything but a year-first date is refused with an
    example.
    """
    forms = [form for text in sample if (form := _form_of(text.strip())) is not None]
    if not forms:
        raise InputError(
            f"timestamps like {brief(sample[0])} are neither numbers nor ISO dates",
            where=where,
            fix="write them as 2024-01-31 or 2024-01-31T13:45:00Z, or say time='ignore'",
        )
    common = max(dict.fromkeys(forms), key=forms.count)
    unit = "ns" if any(form.unit == "ns" for form in forms) else "us"
    return DateForm(common.pattern, common.shape, unit)


def _form_of(text: str) -> DateForm | None:
    found = _FORM.fullmatch(text)
    if found is None:
        return None
    dash, middle, zone = found["dash"], found["middle"], found["zone"]
    pattern, shape, unit = f"%Y{dash}%m{dash}%d", f"2024{dash}01{dash}31", "us"
    if middle:
        pattern, shape = f"{pattern}{middle}%H:%M", f"{shape}{middle}13:45"
        if found["seconds"]:
            pattern, shape = f"{pattern}:%S%.f", f"{shape}:00"
            unit = "ns" if found["fraction"] and len(found["fraction"]) > 7 else "us"
        if zone:
            offset = zone[0] in "+-"
            pattern, shape = pattern + ("%:z" if offset else zone), shape + ("+01:00" if offset else zone)
    return DateForm(pattern, shape, unit)
