"""Times as int64 in one unit: which unit a column is in, which of its values cannot be, and no digit lost.

Numbers are recognised by the size of their median m, counted from 1970-01-01 UTC:

| m | read as |
|---|---|
| the largest value is below 1e8 | positions in a sequence, with a warning (seconds before March 1973) |
| below 7 258 118 400 | seconds, to the end of 2199 |
| 1e11 to 7.26e12 | milliseconds |
| 1e14 to 7.26e15 | microseconds |
| 1e17 to 7.26e18 | nanoseconds |

A column has one unit. Values before 1970, after 2199, or of another unit's size than the rest, are bad. What
is stored is the coarsest of the four units in which every good value is whole: milliseconds that all end in
000 become seconds, seconds with a fraction become milliseconds or finer. So no two different times become one
(a float64 second has a step of 2.4e-7 s in our decades, and nanoseconds hold it), and a file of seconds keeps
its own numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from recassay.core.errors import InputError
from recassay.core.types import BoolArray, FloatArray, IntArray
from recassay.data.reading.records import TimeUnit

EARLIEST_CLOCK = 10**8
"""March 1973 in seconds: smaller numbers are taken for positions in a sequence, not for a clock."""
LATEST_CLOCK = 7_258_118_400
UNITS: tuple[TimeUnit, ...] = ("seconds", "milliseconds", "microseconds", "nanoseconds")
_STEP = 1000
_EXACT_FLOAT = 2.0**53
_POLARS_UNITS: dict[str, TimeUnit] = {"ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
_FAULT_LATE = "lies after the year 2199"
_FAULT_EARLY = "lies before 1970"


@dataclass(frozen=True, slots=True, eq=False)
class JudgedTimes:
    """Times in `unit`; `source` is what the column held; `faults` are reasons and the rows they apply to."""

    values: IntArray
    unit: TimeUnit
    source: str
    faults: tuple[tuple[str, BoolArray], ...]
    warnings: tuple[str, ...] = ()


def judge_times(column: pl.Series, mode: str, where: str) -> JudgedTimes:
    """Recognise the unit of `column` (see above), or take it from `mode`, and find the values that cannot be.

    Nulls are the caller's to report; here they are neither good nor bad. `mode` "position" accepts any whole
    numbers.
    """
    missing = column.is_null().to_numpy()
    if column.dtype == pl.Date:
        days = column.to_physical().cast(pl.Int64).fill_null(0).to_numpy()
        return _judge_integers(days * 86_400, missing, "seconds", "dates", lenient=True)
    if isinstance(column.dtype, pl.Datetime):
        ticks = column.to_physical().fill_null(0).to_numpy()
        return _judge_integers(ticks, missing, _POLARS_UNITS[column.dtype.time_unit], "dates", lenient=True)
    if mode == "iso":
        raise InputError("the timestamps are numbers, not dates", where=where, fix="say time='auto' or the unit")
    if column.dtype.is_integer():
        whole = column.cast(pl.Int64, strict=False)
        missing = whole.is_null().to_numpy()
        values = whole.fill_null(0).to_numpy()
        if mode == "position":
            return JudgedTimes(values, "position", "position", ())
        unit = _unit_of(values[~missing], mode, where)
        if unit == "position":
            return JudgedTimes(values, unit, unit, (), _position_warning(values[~missing]))
        return _judge_integers(values, missing, unit, unit, lenient=mode != "auto")
    if column.dtype.is_float():
        return _judge_floats(column, missing, mode, where)
    raise InputError(
        f"the timestamps are of type {column.dtype}",
        where=where,
        fix="use integers or dates, or say time='ignore'",
    )


def _unit_of(values: IntArray | FloatArray, mode: str, where: str) -> TimeUnit:
    if mode in UNITS:
        return next(unit for unit in UNITS if unit == mode)
    if values.size == 0:
        return "seconds"
    if values.min() >= 0 and values.max() < EARLIEST_CLOCK:
        return "position"
    middle = float(np.median(values))
    for power, unit in enumerate(UNITS):
        factor = _STEP**power
        if middle < LATEST_CLOCK * factor and (power == 0 or middle >= EARLIEST_CLOCK * factor):
            return unit
    raise InputError(
        f"timestamps around {middle:.0f} are neither s, ms, us nor ns of a year from 1973 to 2199",
        where=where,
        fix="say the unit, or time='position' if they are no clock, or time='ignore'",
    )


def _position_warning(values: IntArray | FloatArray) -> tuple[str, ...]:
    largest = int(values.max()) if values.size else 0
    return (f"timestamps reach only {largest}: read as positions in a sequence, not as a common clock",)


def _judge_integers(values: IntArray, missing: BoolArray, unit: TimeUnit, source: str, *, lenient: bool) -> JudgedTimes:
    factor = _STEP ** UNITS.index(unit)
    early, late = values < 0, values >= LATEST_CLOCK * factor
    faults = [(_FAULT_EARLY, early & ~missing), (_FAULT_LATE, late & ~missing)]
    bad = early | late | missing
    if not lenient and factor > 1:
        other = (values < EARLIEST_CLOCK * factor) & ~bad
        faults.append((f"is not in {unit} like the rest", other))
        bad |= other
    values, unit = _coarsest(np.where(bad, 0, values) if bad.any() else values, unit)
    return JudgedTimes(values, unit, source, tuple(faults))


def _coarsest(values: IntArray, unit: TimeUnit) -> tuple[IntArray, TimeUnit]:
    place = UNITS.index(unit)
    while place > 0 and not (values[:1000] % _STEP).any() and not (values % _STEP).any():
        values, place = values // _STEP, place - 1
    return values, UNITS[place]


def _judge_floats(column: pl.Series, missing: BoolArray, mode: str, where: str) -> JudgedTimes:
    narrow = column.dtype == pl.Float32
    raw = column.cast(pl.Float64).fill_null(0.0).to_numpy()
    infinite = ~np.isfinite(raw)
    inexact = ~infinite & (np.abs(raw) >= _EXACT_FLOAT)
    faults = [("is not finite", infinite), ("is a float beyond 2^53, which has lost digits", inexact)]
    bad = infinite | inexact | missing
    values = np.where(bad, 0.0, raw)
    if mode == "position" or _unit_of(values[~bad], mode, where) == "position":
        broken = values != np.floor(values)
        if mode == "auto" and not broken.any():
            return JudgedTimes(
                values.astype(np.int64),
                "position",
                "position",
                tuple(faults),
                _position_warning(values[~bad]),
            )
        if mode == "position":
            faults.append(("is no whole number", broken))
            return JudgedTimes(np.floor(values).astype(np.int64), "position", "position", tuple(faults))
        unit: TimeUnit = "seconds"
    else:
        unit = _unit_of(values[~bad], mode, where)
    factor = _STEP ** UNITS.index(unit)
    low = EARLIEST_CLOCK * factor if mode == "auto" and factor > 1 else 0
    early, late = (values < 0) & ~bad, (values >= LATEST_CLOCK * factor) & ~bad
    other = (values >= 0) & (values < low) & ~bad
    faults += [(_FAULT_EARLY, early), (_FAULT_LATE, late), (f"is not in {unit} like the rest", other)]
    whole, finer = _whole(np.where(bad | early | late | other, 0.0, values), unit)
    warnings: tuple[str, ...] = ()
    if narrow and values.size and values.max() >= 2.0**24:
        warnings = ("timestamps were stored as float32, which tells them apart only to a minute or worse",)
    return JudgedTimes(*_coarsest(whole, finer), unit, tuple(faults), warnings)


def _whole(values: FloatArray, unit: TimeUnit) -> tuple[IntArray, TimeUnit]:
    """The same times as whole numbers of the coarsest unit that gives each float back, else as nanoseconds.

    Nanoseconds are made from the whole and the fractional part apart: their product would exceed 2^53.
    """
    place = UNITS.index(unit)
    for power in range(len(UNITS) - place):
        scale = float(_STEP**power)
        scaled = np.round(values * scale)
        if scaled.size and scaled.max() >= _EXACT_FLOAT:
            break
        if np.array_equal(scaled / scale, values):
            return scaled.astype(np.int64), UNITS[place + power]
    factor = _STEP ** (len(UNITS) - 1 - place)
    floor = np.floor(values)
    return floor.astype(np.int64) * factor + np.round((values - floor) * factor).astype(np.int64), "nanoseconds"
