"""The typed rows of a source as whole columns, filled piece by piece, with the rows that cannot be used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recassay.core.columns import EVENT, ITEM, RATING, TIMESTAMP, USER
from recassay.core.types import Float32Array, IdArray, IntArray
from recassay.data.reading.encode import HashCollision, IdEncoder
from recassay.data.reading.stream import distinct, pieces
from recassay.data.reading.times import RawTimes, plain_times

LARGEST_WEIGHT = float(np.finfo(np.float32).max)
EMPTY = "is empty"


@dataclass(slots=True)
class Faults:
    """Rows that cannot be used, by role and reason, in the order in which a row's reason is chosen."""

    rows: dict[tuple[str, str], list[IntArray]] = field(default_factory=dict)

    def add(self, role: str, reason: str, bad: NDArray[np.bool_], start: int = 0) -> None:
        """The rows of a mask that begins at row `start`."""
        places = np.flatnonzero(bad)
        self.rows.setdefault((role, reason), []).extend([places + start] if len(places) else [])

    def of_row(self, row: int) -> tuple[str, str]:
        """The role and reason of a bad row."""
        return next(why for why, groups in self.rows.items() if any((rows == row).any() for rows in groups))

    def mask(self, rows: int) -> NDArray[np.bool_] | None:
        """Whether each row is bad; None where none is."""
        return _mask([places for groups in self.rows.values() for places in groups], rows)


@dataclass(slots=True)
class Columns:
    """What the rows of a source hold: codes of ids and events with their tables, ratings, and times not yet judged."""

    codes: dict[str, IdArray]
    tables: dict[str, pl.Series]
    rating: Float32Array | None
    times: RawTimes | None
    faults: Faults


def gather(frame: pl.LazyFrame, rows: int, reasons: Mapping[str, str], seed: int = 0) -> Columns:
    """Fill the columns in two passes: which ids there are, and every row's place among them.

    `reasons` say what a null means in a column where the cell was not empty. Held are the columns themselves (4 bytes
    for an id, a rating or an event, 8 for a time), the tables of ids, and one block of rows as they are in the source.
    """
    try:
        return _gathered(frame, rows, reasons, seed=seed)
    except HashCollision:
        return gather(frame, rows, reasons, seed=seed + 1)


def _gathered(frame: pl.LazyFrame, rows: int, reasons: Mapping[str, str], seed: int) -> Columns:
    schema = frame.collect_schema()
    encoders = {
        role: IdEncoder(distinct(frame, role, rows, seed), rows, seed=seed)
        for role in (USER, ITEM, EVENT)
        if role in schema
    }
    codes: dict[str, IdArray] = {role: np.empty(rows, dtype=np.int32) for role in encoders}
    rating: Float32Array | None = np.empty(rows, dtype=np.float32) if RATING in schema else None
    times: NDArray[Any] | None = None
    missing = {role: (role, reasons.get(role, EMPTY)) for role in (USER, ITEM, *schema)}
    faults = Faults({why: [] for why in missing.values()})
    for block, piece in pieces(frame, rows):
        for role, encoder in encoders.items():
            codes[role][block] = encoder.codes(piece.get_column(role))
            faults.add(*missing[role], codes[role][block] < 0, block.start)
        if rating is not None:
            column = piece.get_column(RATING)
            faults.add(*missing[RATING], column.is_null().to_numpy(), block.start)
            rating[block] = _weights(column, faults, block.start)
        if TIMESTAMP in schema:
            values, absent = plain_times(piece.get_column(TIMESTAMP))
            times = np.empty(rows, dtype=values.dtype) if times is None else times
            times[block] = values
            faults.add(*missing[TIMESTAMP], absent, block.start)
    return Columns(
        codes=codes,
        tables={role: encoder.table for role, encoder in encoders.items()},
        rating=rating,
        times=None
        if times is None
        else RawTimes(times, _mask(faults.rows[missing[TIMESTAMP]], rows), schema[TIMESTAMP]),
        faults=faults,
    )


def _mask(groups: list[IntArray], rows: int) -> NDArray[np.bool_] | None:
    """Whether each row stands in one of the groups; None where there is none."""
    if not groups:
        return None
    mask = np.zeros(rows, dtype=np.bool_)
    for places in groups:
        mask[places] = True
    return mask


def _weights(rating: pl.Series, faults: Faults, start: int) -> Float32Array:
    finite = rating.is_finite().fill_null(True).to_numpy()
    huge = (rating.abs() > LARGEST_WEIGHT).fill_null(False).to_numpy() & finite
    faults.add(RATING, "is not finite", ~finite, start)
    faults.add(RATING, "is beyond the range of float32", huge, start)
    if huge.any():
        rating = rating.clip(-LARGEST_WEIGHT, LARGEST_WEIGHT)
    return rating.cast(pl.Float32).fill_null(0.0).to_numpy()
