"""From a raw table to interactions: judge the values, drop or refuse bad rows, encode ids, count repeated pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recassay.core.columns import EVENT, ITEM, RATING, TIMESTAMP, USER
from recassay.core.errors import InputError, listing
from recassay.core.pairs import repeated_rows
from recassay.core.repeated import RepeatRule, merged
from recassay.core.specs.specs import ReadSpec
from recassay.core.types import BoolArray, Float32Array, Interactions
from recassay.data.reading.encode import drop_unused, encode_ids
from recassay.data.reading.events import EventTypes, bounded_rule, given_weights, inverse_frequency
from recassay.data.reading.records import SHOWN_BAD_ROWS, BadRow, RawTable, ReadRecord, ReadResult, brief
from recassay.data.reading.times import JudgedTimes, judge_times
from recassay.data.reading.values import typed_columns

_LARGEST_WEIGHT = float(np.finfo(np.float32).max)
_EMPTY = "is empty"
Number = TypeVar("Number", np.int32, np.int64, np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class _Fault:
    role: str
    reason: str
    rows: BoolArray


def assemble(raw: RawTable, spec: ReadSpec) -> ReadResult:
    """Interactions out of a raw table, as `spec` asks; see `read_interactions`."""
    if spec.event_weights is not None and EVENT not in raw.columns:
        raise InputError(
            "event weights are asked for and no event column is found",
            where=raw.source,
            fix="say columns={'event': ...} or leave event_weights out",
        )
    try:
        typed = typed_columns(raw, spec)
        frame = raw.frame.select(e.alias(role) for role, e in typed.expressions.items()).collect(engine="streaming")
    except pl.exceptions.PolarsError as error:
        reason = str(error).strip().split("\n")[0][:160]
        raise InputError(
            f"the {raw.format} data cannot be read ({reason})", where=raw.source, fix="check the file"
        ) from None
    rows = frame.height + raw.lost
    if rows == 0:
        raise InputError("there are columns and no row", where=raw.source, fix="give a source with interactions")

    warnings = [*raw.warnings, *typed.warnings]
    user, users = encode_ids(frame.get_column(USER))
    item, items = encode_ids(frame.get_column(ITEM))
    frame = frame.drop(USER, ITEM)
    faults = [_Fault(role, _EMPTY, codes < 0) for role, codes in ((USER, user), (ITEM, item))]
    faults += _missing(frame, typed.faults)
    weight = _weights(frame, faults)
    clock = _clock(frame, spec, raw, faults)
    if clock is not None:
        warnings.extend(clock.warnings)
    if isinstance(spec.event_weights, dict):
        unknown = ~frame.get_column(EVENT).is_in(list(spec.event_weights)).fill_null(True).to_numpy()
        faults.append(_Fault(EVENT, "has no weight", unknown))

    events = frame.get_column(EVENT) if EVENT in frame.columns else None
    del frame
    bad = np.logical_or.reduce([fault.rows for fault in faults])
    n_bad = int(bad.sum()) + raw.lost
    shown: tuple[BadRow, ...] = ()
    if n_bad:
        shown = _shown(raw, faults, bad)
        _refuse(raw, spec, shown, n_bad, rows)
        events = None if events is None else events.filter(~bad)
        weight = None if weight is None else weight[~bad]
        user, users = drop_unused(user[~bad], users)
        item, items = drop_unused(item[~bad], items)
    warnings.extend(_blank_edges(USER, users))
    warnings.extend(_blank_edges(ITEM, items))
    time = None if clock is None else (clock.values[~bad] if n_bad else clock.values)
    types: EventTypes | None = None
    rule = RepeatRule(spec.repeated)
    if events is not None and weight is not None:
        warnings.append("the event weights took the place of the ratings")
    if events is not None and isinstance(spec.event_weights, dict):
        weight = given_weights(events, spec.event_weights)
    elif events is not None and spec.event_weights == "inverse_frequency":
        types = inverse_frequency(events)
        weight, rule = types.of_rows(), bounded_rule(types.by_name())
    interactions = Interactions(
        user=_owned(user),
        item=_owned(item),
        users=users,
        items=items,
        weight=None if weight is None else _owned(weight),
        time=None if time is None else _owned(time),
        repeated=rule,
    )
    repeated = repeated_rows(interactions)
    if interactions.time is None:
        interactions = merged(interactions)

    record = ReadRecord(
        source=raw.source,
        sha256=raw.sha256,
        format=raw.format,
        columns=dict(raw.columns),
        rows=rows,
        kept=len(interactions),
        users=users.len(),
        items=items.len(),
        bad=n_bad,
        bad_rows=shown,
        repeated=repeated,
        repeated_rule=rule.name,
        source_time=None if clock is None else clock.source,
        time_unit=None if clock is None else clock.unit,
        event_weights=_told_weights(spec, types),
        event_counts=None if types is None else dict(zip(types.names, types.counts, strict=True)),
        warnings=tuple(warnings),
    )
    return ReadResult(interactions, record)


def _owned(column: NDArray[Number]) -> NDArray[Number]:
    """The array itself, or a copy where it is a read-only view of a frame."""
    return column if column.flags.writeable else column.copy()


def _missing(frame: pl.DataFrame, reasons: dict[str, str]) -> list[_Fault]:
    """A fault for each column with nulls: cells that are empty, or not of the column's type."""
    return [
        _Fault(column.name, reasons.get(column.name, _EMPTY), column.is_null().to_numpy())
        for column in frame
        if column.null_count()
    ]


def _weights(frame: pl.DataFrame, faults: list[_Fault]) -> Float32Array | None:
    if RATING not in frame.columns:
        return None
    rating = frame.get_column(RATING)
    finite = rating.is_finite().fill_null(True).to_numpy()
    huge = (rating.abs() > _LARGEST_WEIGHT).fill_null(False).to_numpy() & finite
    for reason, rows in (("is not finite", ~finite), ("is beyond the range of float32", huge)):
        if rows.any():
            faults.append(_Fault(RATING, reason, rows))
    if huge.any():
        rating = rating.clip(-_LARGEST_WEIGHT, _LARGEST_WEIGHT)
    return rating.cast(pl.Float32).fill_null(0.0).to_numpy()


def _clock(frame: pl.DataFrame, spec: ReadSpec, raw: RawTable, faults: list[_Fault]) -> JudgedTimes | None:
    if TIMESTAMP not in frame.columns:
        return None
    clock = judge_times(frame.get_column(TIMESTAMP), spec.time, raw.source)
    faults.extend(_Fault(TIMESTAMP, reason, rows) for reason, rows in clock.faults if rows.any())
    return clock


def _shown(raw: RawTable, faults: list[_Fault], bad: BoolArray) -> tuple[BadRow, ...]:
    """The first bad rows in the words of the source: line, value, reason."""
    first = np.flatnonzero(bad)[:SHOWN_BAD_ROWS].tolist()
    told: list[BadRow] = []
    if first:
        numbered = raw.frame.with_row_index("number").filter(pl.col("number").is_in(first)).collect()
        for line, row in zip(raw.lines_of(first), numbered.iter_rows(named=True), strict=True):
            fault = next(fault for fault in faults if fault.rows[row["number"]])
            value = row[fault.role]
            blank = value is None or (isinstance(value, str) and not value.strip())
            what = _EMPTY if blank else f"{brief(value)} {fault.reason}"
            name = f"{fault.role} id" if fault.role in (USER, ITEM) else fault.role
            told.append(BadRow(line, f"{name} {what}"))
    return tuple(sorted([*raw.lost_rows, *told], key=lambda row: row.line)[:SHOWN_BAD_ROWS])


def _refuse(raw: RawTable, spec: ReadSpec, shown: tuple[BadRow, ...], bad: int, rows: int) -> None:
    told = "; ".join(f"{raw.place} {row.line}: {row.reason}" for row in shown)
    more = f"; and {bad - len(shown):,} more" if bad > len(shown) else ""
    if bad == rows:
        raise InputError(
            f"none of the {rows:,} rows can be used ({told}{more})",
            where=raw.source,
            fix="check the format, the header, the columns and the unit of time",
        )
    if not spec.skip_bad_rows:
        raise InputError(
            f"{bad:,} of {rows:,} rows are bad ({told}{more})",
            where=raw.source,
            fix="mend them, or leave them out with skip_bad_rows (--skip-bad-rows)",
        )


def _blank_edges(role: str, table: pl.Series) -> list[str]:
    if table.dtype != pl.String:
        return []
    edged = table.filter(table != table.str.strip_chars())
    if edged.is_empty():
        return []
    return [f"{edged.len()} {role} ids begin or end with blanks, which stay: {listing(map(brief, edged), most=3)}"]


def _told_weights(spec: ReadSpec, types: EventTypes | None) -> dict[str, float] | None:
    if types is not None:
        return types.by_name()
    return dict(spec.event_weights) if isinstance(spec.event_weights, dict) else None
