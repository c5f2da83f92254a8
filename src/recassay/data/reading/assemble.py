"""From a raw table to interactions: judge the values, drop or refuse bad rows, encode ids, count repeated pairs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from recassay.core.blocks import kept_rows, looked_up
from recassay.core.columns import EVENT, ITEM, TIMESTAMP, USER
from recassay.core.interactions import RepeatRule
from recassay.core.pairs import repeated_rows
from recassay.core.repeated import merged
from recassay.core.specs.specs import ReadSpec
from recassay.core.system.parquet import panics_as_errors
from recassay.core.types import BoolArray, Interactions
from recassay.core.words import count_of, listing
from recassay.data.reading.encode import drop_unused
from recassay.data.reading.events import bounded_rule, inverse_frequency, weights_of_rows
from recassay.data.reading.gather import EMPTY, Columns, Faults, gather
from recassay.data.reading.records import SHOWN_BAD_ROWS, BadRow, RawTable, ReadRecord, ReadResult, brief
from recassay.data.reading.stream import stored_rows
from recassay.data.reading.times import judge_times, refuse_times
from recassay.data.reading.values import typed_columns


def assemble(raw: RawTable, spec: ReadSpec, *, sha256: str | None = None, quietly: bool = False) -> ReadResult:
    """Interactions out of a raw table, as `spec` asks; see `read_interactions` and `panics_as_errors`.

    `sha256` is that of its file, where it is one.
    """
    if spec.event_weights is not None and EVENT not in raw.columns:
        fix = "say columns={'event': ...} or leave event_weights out"
        raise raw.refused("event weights are asked for and no event column is found", fix=fix)
    columns, typed_rows, warnings = _gathered(raw, spec, quietly=quietly)
    rows = typed_rows + raw.lost

    # Which rows are bad is known when times and events are judged as well.
    clock = None if columns.times is None else judge_times(columns.times, spec.time, raw.source)
    if clock is not None:
        warnings.extend(clock.warnings)
        for reason, mask in clock.faults:
            columns.faults.add(TIMESTAMP, reason, mask)
    if isinstance(spec.event_weights, dict):
        known = np.append(columns.tables[EVENT].is_in(list(spec.event_weights)).to_numpy(), True)
        columns.faults.add(EVENT, "has no weight", ~looked_up(known, columns.codes[EVENT]))
    bad = columns.faults.mask(typed_rows)
    n_bad = raw.lost + (0 if bad is None else int(bad.sum()))
    shown: tuple[BadRow, ...] = ()
    if n_bad:
        shown = _shown(raw, columns.faults, bad)
        _refuse(raw, spec, shown, n_bad, rows)

    # The good rows, and the users and items that are left.
    codes, weight, time = columns.codes, columns.rating, None if clock is None else clock.values
    users, items = columns.tables[USER], columns.tables[ITEM]
    if bad is not None:
        good = ~bad
        codes = {role: kept_rows(column, good) for role, column in codes.items()}
        weight = None if weight is None else kept_rows(weight, good)
        time = None if time is None else time[good]
        codes[USER], users = drop_unused(codes[USER], users)
        codes[ITEM], items = drop_unused(codes[ITEM], items)
    warnings += [*_blank_edges(USER, users), *_blank_edges(ITEM, items)]

    # Events become weights, which say how repeated pairs count.
    rule = RepeatRule(spec.repeated)
    event_weights = dict(spec.event_weights) if isinstance(spec.event_weights, dict) else None
    event_counts = None
    if EVENT in codes:
        if weight is not None:
            warnings.append("the event weights took the place of the ratings")
        if event_weights is None:
            event_weights, event_counts = inverse_frequency(codes[EVENT], columns.tables[EVENT])
            rule = bounded_rule(event_weights)
        weight = weights_of_rows(codes[EVENT], columns.tables[EVENT], event_weights)
    interactions = Interactions(
        user=codes[USER], item=codes[ITEM], users=users, items=items, weight=weight, time=time, repeated=rule
    )
    del codes, columns, weight, time  # large, and no longer needed where pairs are counted
    repeated = repeated_rows(interactions)
    if interactions.time is None:
        interactions = merged(interactions)

    record = ReadRecord(
        source=raw.source,
        sha256=sha256,
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
        event_weights=event_weights,
        event_counts=event_counts,
        warnings=tuple(warnings),
    )
    return ReadResult(interactions, record)


def _gathered(raw: RawTable, spec: ReadSpec, *, quietly: bool) -> tuple[Columns, int, list[str]]:
    """The columns of a raw table as numbers and codes, how many rows they have, and what to warn of."""
    try:
        with panics_as_errors(quietly=quietly):
            expressions, meanings, warnings, typed_rows = typed_columns(raw, spec)
            if typed_rows + raw.lost == 0:
                raise raw.refused("there are columns and no row", fix="give a source with interactions")
            chosen = raw.frame.select(e.alias(role) for role, e in expressions.items())
            if TIMESTAMP in expressions:
                refuse_times(chosen.collect_schema()[TIMESTAMP], spec.time, raw.source)
            with stored_rows(chosen, typed_rows, seekable=raw.seekable) as stored:
                return gather(stored, typed_rows, meanings), typed_rows, [*raw.warnings, *warnings]
    except pl.exceptions.PolarsError as error:
        reason = str(error).strip().split("\n")[0][:160]
        raise raw.refused(f"the {raw.format} data cannot be read ({reason})", fix="check the file") from None


def _blank_edges(role: str, table: pl.Series) -> Iterator[str]:
    """A warning where ids begin or end with blanks."""
    if table.dtype == pl.String and len(edged := table.filter(table != table.str.strip_chars())):
        examples = listing(map(brief, edged), most=3)
        begin, end = ("begins", "ends") if len(edged) == 1 else ("begin", "end")
        yield f"{count_of(len(edged), f'{role} id')} {begin} or {end} with blanks, which stay: {examples}"


def _shown(raw: RawTable, faults: Faults, bad: BoolArray | None) -> tuple[BadRow, ...]:
    """The first bad rows in the words of the source: line, value, reason."""
    first = [] if bad is None else np.flatnonzero(bad)[:SHOWN_BAD_ROWS].tolist()
    bad_rows: list[BadRow] = []
    if first:
        wanted = raw.frame.with_row_index("number").filter(pl.col("number").is_in(first))
        numbered = wanted.collect(engine="streaming").sort("number")
        for line, row in zip(raw.lines_of(first), numbered.iter_rows(named=True), strict=True):
            role, reason = faults.of_row(row["number"])
            value = row[role]
            blank = value is None or (isinstance(value, str) and not value.strip())
            what = EMPTY if blank else f"{brief(value)} {reason}"
            name = f"{role} id" if role in (USER, ITEM) else role
            bad_rows.append(BadRow(line, f"{name} {what}"))
    return tuple(sorted([*raw.lost_rows, *bad_rows], key=lambda row: row.line)[:SHOWN_BAD_ROWS])


def _refuse(raw: RawTable, spec: ReadSpec, shown: tuple[BadRow, ...], bad: int, rows: int) -> None:
    examples = "; ".join(f"{raw.place} {row.line}: {row.reason}" for row in shown)
    more = f"; and {bad - len(shown):,} more" if bad > len(shown) else ""
    if bad == rows:
        none = "its only row cannot" if rows == 1 else f"none of the {rows:,} rows can"
        what = f"{none} be used ({examples}{more})"
        raise raw.refused(what, fix="check the format, the header, the columns and the unit of time")
    if not spec.skip_bad_rows:
        what = f"{bad:,} of {rows:,} rows are bad ({examples}{more})"
        raise raw.refused(what, fix="mend them, or leave them out with `skip_bad_rows=True`")
