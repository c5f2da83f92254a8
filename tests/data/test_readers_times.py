"""Times: the unit is recognised, the order of the source survives, and impossible values are found."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recassay.core.errors import InputError
from recassay.core.specs.specs import ReadSpec
from recassay.core.types import IntArray
from recassay.data.readers import ReadResult, read_interactions
from recassay.data.reading.times import LATEST_CLOCK, RawTimes, judge_times, plain_times


def read(times: pl.Series, **options: object) -> ReadResult:
    frame = pl.DataFrame({"user": range(times.len()), "item": range(times.len()), "timestamp": times})
    return read_interactions(frame, ReadSpec.model_validate(options))


def times_of(result: ReadResult) -> IntArray:
    assert result.interactions.time is not None
    return result.interactions.time


@pytest.mark.parametrize(
    ("factor", "unit"),
    [(1, "seconds"), (10**3, "milliseconds"), (10**6, "microseconds"), (10**9, "nanoseconds")],
)
def test_units_are_recognised_by_size(factor: int, unit: str) -> None:
    seconds = [881250949, 1500000000, 1700000001]
    whole = read(pl.Series([second * factor for second in seconds]))
    assert times_of(whole).tolist() == seconds
    assert (whole.record.source_time, whole.record.time_unit) == (unit, "seconds")
    finer = [second * factor + 1 for second in seconds]
    kept = read(pl.Series(finer))
    assert times_of(kept).tolist() == finer
    assert kept.record.time_unit == unit
    assert times_of(kept).dtype == np.int64


def test_small_numbers_are_positions_with_a_warning() -> None:
    result = read(pl.Series([0, 3, 77]))
    assert result.record.time_unit == "position"
    assert "77" in result.record.warnings[0]
    declared = read(pl.Series([-4, 10**17, 5]), time="position")
    assert times_of(declared).tolist() == [-4, 10**17, 5]
    assert declared.record.warnings == ()
    assert read(pl.Series([0, 3, 77]), time="seconds").record.time_unit == "seconds"
    assert read(pl.Series([0, 3, 77]), time="ignore").interactions.time is None


def test_seconds_of_the_first_years_stay_beside_later_ones() -> None:
    result = read(pl.Series([0, 5, 1500000000, 1600000000, 1700000001]))
    assert times_of(result).tolist() == [0, 5, 1500000000, 1600000000, 1700000001]
    assert (result.record.time_unit, result.record.bad) == ("seconds", 0)


def test_one_unit_a_column() -> None:
    with pytest.raises(InputError, match="row 2: timestamp 1500000000 is not in milliseconds like the rest"):
        read(pl.Series([1500000000123, 1500000000, 1500000001000]))
    with pytest.raises(InputError, match="row 2: timestamp 1500000000123 lies after the year 2199"):
        read(pl.Series([1500000000, 1500000000123, 1500000001]))


def test_dates_of_every_form() -> None:
    moment = datetime.datetime(2020, 1, 2, 10, 30)
    seconds = int(moment.replace(tzinfo=datetime.UTC).timestamp())
    for text in (
        "2020-01-02T10:30:00",
        "2020-01-02 10:30:00",
        "2020-01-02 10:30",
        "2020/01/02 10:30:00",
        "2020-01-02T10:30:00Z",
        "2020-01-02 10:30:00 UTC",
        "2020-01-02T12:30:00+02:00",
        "2020-01-02T10:30:00.000",
    ):
        assert times_of(read(pl.Series([text]))).tolist() == [seconds], text
    assert times_of(read(pl.Series([moment]))).tolist() == [seconds]
    assert times_of(read(pl.Series([moment.date()]))).tolist() == [seconds - 37800]
    assert times_of(read(pl.Series(["2020-01-02"]))).tolist() == [seconds - 37800]
    zoned = pl.Series([moment]).dt.replace_time_zone("Europe/Berlin")
    assert times_of(read(zoned)).tolist() == [seconds - 3600]
    fine = read(pl.Series(["2020-01-02T10:30:00.25", "2020-01-02T10:30:00"]))
    assert (times_of(fine).tolist(), fine.record.time_unit) == (
        [seconds * 1000 + 250, seconds * 1000],
        "milliseconds",
    )
    finest = read(pl.Series(["2020-01-02T10:30:00.123456789"]))
    assert (times_of(finest).tolist(), finest.record.time_unit) == (
        [seconds * 10**9 + 123456789],
        "nanoseconds",
    )


def test_dates_out_of_range_are_bad() -> None:
    with pytest.raises(InputError, match=r"row 2: timestamp '9999-01-01' lies after.*row 3: .* lies before 1970"):
        read(pl.Series(["2020-01-01", "9999-01-01", "1950-01-01"]))


def test_float32_times_are_told() -> None:
    result = read(pl.Series([1500000000.0, 1400000000.0], dtype=pl.Float32))
    assert "float32" in result.record.warnings[0]


def test_a_number_that_no_int64_holds_is_a_bad_time() -> None:
    times = pl.Series([1600000000, 2**63 + 5, None, 1600000001], dtype=pl.UInt64)
    with pytest.raises(
        InputError, match=r"2 of 4 rows .* 9223372036854775813 is not a time; row 3: timestamp is empty"
    ):
        read(times)
    assert times_of(read(times, skip_bad_rows=True)).tolist() == [1600000000, 1600000001]


def raw_times(values):
    column = pl.Series(values)
    return RawTimes(plain_times(column)[0], None, column.dtype)


@settings(max_examples=200)
@given(st.lists(st.floats(1e8, LATEST_CLOCK - 1.0), min_size=1, max_size=30))
def test_float_seconds_keep_their_order_and_their_ties(values: list[float]) -> None:
    judged = judge_times(raw_times(values), "auto", "here")
    assert not any(rows.any() for _, rows in judged.faults)
    assert np.array_equal(np.unique(values, return_inverse=True)[1], np.unique(judged.values, return_inverse=True)[1])
    factor = {"seconds": 1, "milliseconds": 10**3, "microseconds": 10**6, "nanoseconds": 10**9}[judged.unit]
    assert np.allclose(judged.values / factor, values, rtol=1e-15)


@settings(max_examples=100)
@given(st.lists(st.integers(10**8, LATEST_CLOCK - 1), min_size=1), st.sampled_from([0, 3, 6, 9]))
def test_whole_seconds_come_back_from_any_unit(values: list[int], digits: int) -> None:
    judged = judge_times(raw_times([value * 10**digits for value in values]), "auto", "here")
    assert judged.unit == "seconds"
    assert judged.values.tolist() == values


POSITIONS = "timestamps reach only {}: read as positions in a sequence, not as a common clock"
COARSE = "timestamps were stored as float32, which tells them apart only to a minute or worse"


@pytest.mark.parametrize(
    ("values", "mode", "source", "unit", "times", "warnings"),
    [
        ([0, 99_999_999], "auto", "position", "position", [0, 99_999_999], (POSITIONS.format(99_999_999),)),
        ([0, 99_999_999], "position", "position", "position", [0, 99_999_999], ()),
        ([10**8, 5], "auto", "seconds", "seconds", [10**8, 5], ()),
        ([5, 7], "seconds", "seconds", "seconds", [5, 7], ()),
        ([LATEST_CLOCK - 1], "auto", "seconds", "seconds", [LATEST_CLOCK - 1], ()),
        ([10**11], "auto", "milliseconds", "seconds", [10**8], ()),
        ([10**11 + 1], "auto", "milliseconds", "milliseconds", [10**11 + 1], ()),
        ([LATEST_CLOCK * 1000 - 1], "auto", "milliseconds", "milliseconds", [LATEST_CLOCK * 1000 - 1], ()),
        ([10**14 + 1000], "auto", "microseconds", "milliseconds", [10**11 + 1], ()),
        ([10**17 + 1], "auto", "nanoseconds", "nanoseconds", [10**17 + 1], ()),
        ([2000, 3000], "milliseconds", "milliseconds", "seconds", [2, 3], ()),
        ([1.6e9 + 0.5, 1.6e9], "auto", "seconds", "milliseconds", [1_600_000_000_500, 1_600_000_000_000], ()),
        ([1.5, 2.0], "auto", "seconds", "milliseconds", [1500, 2000], ()),
        ([1.0, 2.0], "auto", "position", "position", [1, 2], (POSITIONS.format(2),)),
        ([1.5e9 + 2.0**-21], "auto", "seconds", "nanoseconds", [1_500_000_000_000_000_477], ()),
        ([1.5e9 + 1e-6, 1.5e9], "auto", "seconds", "microseconds", [1_500_000_000_000_001, 1_500_000_000_000_000], ()),
        ([1.5e12 + 0.5], "auto", "milliseconds", "microseconds", [1_500_000_000_000_500], ()),
        ([1.5e12 + 2.0**-12], "auto", "milliseconds", "nanoseconds", [1_500_000_000_000_000_244], ()),
        ([1.5e15 + 0.25], "auto", "microseconds", "nanoseconds", [1_500_000_000_000_000_250], ()),
        ([2.0**53 - 1], "position", "position", "position", [2**53 - 1], ()),
        (pl.Series([1.6e9], dtype=pl.Float32), "auto", "seconds", "seconds", [1_600_000_000], (COARSE,)),
        (pl.Series([2.0**24], dtype=pl.Float32), "seconds", "seconds", "seconds", [2**24], (COARSE,)),
        (pl.Series([2.0**24 - 1], dtype=pl.Float32), "seconds", "seconds", "seconds", [2**24 - 1], ()),
        ([datetime.date(2020, 1, 2)], "auto", "dates", "seconds", [1_577_923_200], ()),
        ([datetime.datetime(2020, 1, 2, 0, 0, 0, 5)], "iso", "dates", "microseconds", [1577923200000005], ()),
    ],
)  # fmt: skip
def test_units_at_their_ends(values, mode, source, unit, times, warnings) -> None:
    result = read(pl.Series(values), time=mode)
    assert times_of(result).tolist() == times
    assert (result.record.source_time, result.record.time_unit, result.record.warnings) == (source, unit, warnings)


@pytest.mark.parametrize(
    ("values", "mode", "message"),
    [
        ([LATEST_CLOCK], "auto", "timestamps around 7258118400 are neither s, ms, us nor ns of a year from 1973 to"),
        ([10**11 - 1], "auto", "timestamps around 99999999999 are neither"),
        ([-5, 10, 20], "auto", "1 of 3 rows are bad (row 1: timestamp -5 lies before 1970)"),
        ([10**9, 10**9, -1], "auto", "1 of 3 rows are bad (row 3: timestamp -1 lies before 1970)"),
        ([10**9, 10**9, LATEST_CLOCK], "auto", "(row 3: timestamp 7258118400 lies after the year 2199)"),
        ([10**12, 10**12, 10**9], "auto", "(row 3: timestamp 1000000000 is not in milliseconds like the rest)"),
        ([5, LATEST_CLOCK * 1000], "milliseconds", "(row 2: timestamp 7258118400000 lies after the year 2199)"),
        ([1e9, 1e9, 2.0**53], "auto", "(row 3: timestamp 9007199254740992.0 is a float beyond 2^53, which has lost"),
        ([1.0, -(2.0**53)], "position", "(row 2: timestamp -9007199254740992.0 is a float beyond 2^53, which has lost"),
        ([1e9, 1e9, -1e300, float("nan")], "auto", "(row 3: timestamp -1e+300 is a float beyond 2^53, which has"),
        ([float("inf")] * 2, "auto", "none of the 2 rows can be used (row 1: timestamp inf is not finite; row 2"),
        ([1e9, 1e9, float("inf")], "auto", "(row 3: timestamp inf is not finite)"),
        ([1.5, 2.0, 3.0], "position", "(row 1: timestamp 1.5 is not a whole number)"),
    ],
)  # fmt: skip
def test_times_that_cannot_be(values, mode, message) -> None:
    with pytest.raises(InputError) as refused:
        read(pl.Series(values), time=mode)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("text", "unit", "time"),
    [
        ("2020-01-31", "seconds", 1_580_428_800),
        ("2020/01/31", "seconds", 1_580_428_800),
        ("2020-01-31 13:45", "seconds", 1_580_478_300),
        ("2020-01-31T13:45:10", "seconds", 1_580_478_310),
        ("2020-01-31T13:45:10Z", "seconds", 1_580_478_310),
        ("2020-01-31 13:45:10 UTC", "seconds", 1_580_478_310),
        ("2020-01-31T13:45:10+01:00", "seconds", 1_580_474_710),
        ("2020-01-31T13:45:10-0530", "seconds", 1_580_498_110),
        ("2020-01-31T13:45:10.25Z", "milliseconds", 1_580_478_310_250),
        ("2020-01-31T13:45:10.000001", "microseconds", 1_580_478_310_000_001),
        ("2020-01-31T13:45:10.0000001", "nanoseconds", 1_580_478_310_000_000_100),
        ("2020-01-31T13:45:10.000000001", "nanoseconds", 1_580_478_310_000_000_001),
    ],
)
def test_dates_as_they_are_written(text: str, unit: str, time: int) -> None:
    result = read(pl.Series([text, text]))
    assert (times_of(result).tolist(), result.record.time_unit) == ([time, time], unit)


def test_one_date_below_a_microsecond_keeps_the_digits_of_all() -> None:
    result = read(pl.Series(["2020-01-31T13:45:10.5", "2020-01-31T13:45:10.0000001", "2020-01-31T13:45:10"]))
    assert times_of(result).tolist() == [1_580_478_310_500_000_000, 1_580_478_310_000_000_100, 1_580_478_310 * 10**9]
    assert result.record.bad == 0
