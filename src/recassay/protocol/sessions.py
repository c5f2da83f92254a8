"""Sessions: a log is cut where a user did nothing for a while, and each piece is a user of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from recassay.core.errors import InputError
from recassay.core.types import Interactions
from recassay.protocol.ordering import canonical

EARLIEST_CLOCK, LATEST_CLOCK = 100_000_000, 7_258_118_400
"""Seconds from March 1973 to the end of 2199: smaller times are positions, larger ones of a finer unit."""


def cut_sessions(data: Interactions, seconds: int) -> Interactions:
    """The same events with a user `u/1`, `u/2`, ... for each session of the user u, in canonical order.

    Two events of a user are in one session where no gap between them is longer than so many seconds.
    """
    if data.time is None or not len(data) or int(data.time.max()) < EARLIEST_CLOCK:
        raise InputError(
            "sessions need a clock, and these interactions have none", fix="leave `sessions` out, or read the times"
        )
    finer = 0
    while int(data.time.max()) >= LATEST_CLOCK * 1000**finer:
        finer += 1
    order = np.lexsort((data.time, data.user))
    user, time = data.user[order], data.time[order]
    changes = user[1:] != user[:-1]
    begins = np.append(True, changes | (np.diff(time) > seconds * 1000**finer))
    session = np.cumsum(begins) - 1
    first = np.flatnonzero(begins)
    number = np.arange(len(first)) - np.searchsorted(user[first], user[first]) + 1
    names = data.users.gather(user[first]).cast(pl.String) + "/" + pl.Series(number).cast(pl.String)
    sessions = np.empty(len(data), dtype=np.int32)
    sessions[order] = session
    return canonical(replace(data, user=sessions, users=names.alias(data.users.name)))
