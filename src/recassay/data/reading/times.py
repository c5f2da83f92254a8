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

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recassay.core.blocks import row_blocks
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


def day_of(time: int) -> date | None:
    """The day (UTC) of a stored time, whose unit its size tells; None for a position in a sequence."""
    for power in range(len(UNITS)):
        factor = _STEP**power
        if EARLIEST_CLOCK * factor <= time < LATEST_CLOCK * factor:
            return datetime.fromtimestamp(time / factor, UTC).date()
    return None


@dataclass(frozen=True, slots=True, eq=False)
class JudgedTimes:
    """Times in `unit`; `source` is what the column held; `faults` are reasons and the rows they apply to."""

    values: IntArray
    unit: TimeUnit
    source: str
    faults: tuple[tuple[str, BoolArray], ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class RawTimes:
    """A column of times as plain numbers (0 where `missing`), and the type it had in the source."""

    values: NDArray[Any]
    missing: BoolArray | None
    kind: pl.DataType


def plain_times(column: pl.Series) -> tuple[NDArray[Any], BoolArray]:
    """Seconds of dates, ticks of datetimes, numbers as they are; and which are null or beyond int64, which are 0."""
    if column.dtype == pl.Date:
        plain = column.to_physical().cast(pl.Int64) * 86_400
    elif isinstance(column.dtype, pl.Datetime):
        plain = column.to_physical()
    elif column.dtype.is_float():
        plain = column.cast(pl.Float64)
    else:
        plain = column.cast(pl.Int64, strict=False)
    return plain.fill_null(0).to_numpy(), plain.is_null().to_numpy()


def refuse_times(kind: pl.DataType, mode: str, where: str) -> None:
    """Raise for a column whose type cannot be read as times, or not in this `mode`."""
    if kind == pl.Date or isinstance(kind, pl.Datetime):
        return
    if mode == "iso":
        raise InputError("the timestamps are numbers, not dates", where=where, fix="say time='auto' or the unit")
    if not kind.is_integer() and not kind.is_float():
        what = f"the timestamps are of type {kind}"
        raise InputError(what, where=where, fix="use integers or dates, or say time='ignore'")


def judge_times(times: RawTimes, mode: str, where: str) -> JudgedTimes:
    """Recognise the unit of `times` (see above), or take it from `mode`, and find the values that cannot be.

    Nulls are the caller's to report; here they are neither good nor bad. `mode` "position" accepts any whole
    numbers. Whole numbers that can be written are judged where they lie.
    """
    values, bad, kind = times.values, times.missing, times.kind
    faults: list[tuple[str, BoolArray]] = []
    if kind == pl.Date:
        return _judged(values, bad, "seconds", "dates", faults, lenient=True)
    if isinstance(kind, pl.Datetime):
        return _judged(values, bad, _POLARS_UNITS[kind.time_unit], "dates", faults, lenient=True)
    if kind.is_float():
        infinite = ~np.isfinite(values)
        inexact = ~infinite & (np.abs(values) >= _EXACT_FLOAT)
        faults = [("is not finite", infinite), ("is a float beyond 2^53, which has lost digits", inexact)]
        bad = infinite | inexact if bad is None else infinite | inexact | bad
        values = np.where(bad, 0.0, values)
    good = values if bad is None else values[~bad]
    unit = "position" if mode == "position" else _unit_of(good, mode, where)
    if unit == "position" and kind.is_float():
        broken = values != np.floor(values)
        if mode == "position":
            faults.append(("is not a whole number", broken))
        elif broken.any():
            unit = "seconds"
    if unit == "position":
        whole = values.astype(np.int64, copy=False)
        if mode == "position":
            return JudgedTimes(whole, unit, unit, tuple(faults))
        warning = f"timestamps reach only {int(good.max())}: read as positions in a sequence, not as a common clock"
        return JudgedTimes(whole, unit, unit, tuple(faults), (warning,))
    judged = _judged(values, bad, unit, unit, faults, lenient=mode != "auto")
    if kind == pl.Float32 and values.size and values.max() >= 2.0**24:
        warning = "timestamps were stored as float32, which tells them apart only to a minute or worse"
        return replace(judged, warnings=(warning,))
    return judged


def _unit_of(values: IntArray | FloatArray, mode: str, where: str) -> TimeUnit:
    if mode in UNITS:
        return next(unit for unit in UNITS if unit == mode)
    if values.size == 0:
        return "seconds"
    smallest, largest = values.min(), values.max()
    if smallest >= 0 and largest < EARLIEST_CLOCK:
        return "position"
    if smallest >= EARLIEST_CLOCK and largest < LATEST_CLOCK:
        return "seconds"
    middle = float(np.median(values))
    for power, unit in enumerate(UNITS):
        factor = _STEP**power
        if middle < LATEST_CLOCK * factor and (power == 0 or middle >= EARLIEST_CLOCK * factor):
            return unit
    what = f"timestamps around {middle:.0f} are neither s, ms, us nor ns of a year from 1973 to 2199"
    raise InputError(
        what, where=where, fix="say the unit, or time='position' if they are not a clock, or time='ignore'"
    )


def _judged(
    values: NDArray[Any],
    bad: BoolArray | None,
    unit: TimeUnit,
    source: str,
    faults: list[tuple[str, BoolArray]],
    *,
    lenient: bool,
) -> JudgedTimes:
    """Times of a known unit; where it was recognised by its size (not `lenient`), smaller ones are of another."""
    factor = _STEP ** UNITS.index(unit)
    least, end = 0 if lenient or unit == "seconds" else EARLIEST_CLOCK * factor, LATEST_CLOCK * factor
    if bad is not None or not len(values) or values.min() < least or values.max() >= end:
        bad = np.zeros(len(values), dtype=np.bool_) if bad is None else bad.copy()
        for reason, rows in (
            ("lies before 1970", values < 0),
            ("lies after the year 2199", values >= end),
            (f"is not in {unit} like the rest", values < least),
        ):
            rows &= ~bad
            bad |= rows
            faults.append((reason, rows))
        values = np.where(bad, 0, values)
    if values.dtype.kind == "f":
        values, unit = _whole(values, unit)
    return JudgedTimes(*_coarsest(values, unit), source, tuple(faults))


def _coarsest(values: IntArray, unit: TimeUnit) -> tuple[IntArray, TimeUnit]:
    place = UNITS.index(unit)
    while place > 0 and not any((values[block] % _STEP).any() for block in row_blocks(len(values))):
        values = np.floor_divide(values, _STEP, out=values if values.flags.writeable else None)
        place -= 1
    return values, UNITS[place]


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
