"""Sessions: where a log is cut, in every unit of time, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recassay.core.errors import InputError, UsageError
from recassay.core.specs.specs import ProtocolSpec
from recassay.protocol.apply import apply_protocol
from recassay.protocol.sessions import cut_sessions
from support.protocol import interactions, rows_of

START = 1_600_000_000
LOG = [
    ("u", "c", 1, START + 4000), ("u", "a", 1, START), ("v", "a", 1, START + 50), ("u", "b", 1, START + 1800),
    ("u", "d", 1, START + 5801), ("v", "b", 1, START + 9000),
]  # fmt: skip


@pytest.mark.parametrize("finer", [1, 1000, 1_000_000, 1_000_000_000])
def test_a_gap_that_is_longer_cuts(finer):
    data = interactions([(*row[:3], row[3] * finer) for row in LOG], weight=False)
    rows = [row[:2] for row in rows_of(cut_sessions(data, 1800))]
    assert rows == [("u/1", "a"), ("u/1", "b"), ("u/2", "c"), ("u/3", "d"), ("v/1", "a"), ("v/2", "b")]
    rows = [row[:2] for row in rows_of(cut_sessions(data, 7000))]
    assert {user for user, _ in rows} == {"u/1", "v/1", "v/2"}


def test_a_protocol_cuts_before_it_filters():
    spec = ProtocolSpec.checked(sessions="30min", min_user_interactions=2, min_item_interactions=1, target="each",
                                split="leave_last_out", allow_leakage=["empty_valid", "empty_test"])  # fmt: skip
    split = apply_protocol(interactions(LOG, weight=False), spec)
    assert split.counts["sessions"] == 5
    assert split.train.users.to_list() == ["u/1"]


def test_what_is_no_gap_or_no_clock_is_refused():
    seconds = {"90s": 90, "30min": 1800, "2h": 7200, "1d": 86_400, "30 min": 1800}
    assert {text: ProtocolSpec(sessions=text).session_seconds for text in seconds} == seconds
    for text in ("30", "0min", "min", "-5s", "1week"):
        with pytest.raises(UsageError, match=r"is not a gap of time: write '30min'"):
            ProtocolSpec.checked(sessions=text)
    with pytest.raises(UsageError, match="sessions are cut before a split is made"):
        ProtocolSpec.checked(sessions="1h", split="given")
    data = interactions(LOG, weight=False)
    for clockless in (replace(data, time=None), replace(data, time=data.time - START)):
        with pytest.raises(InputError, match="sessions need a clock"):
            cut_sessions(clockless, 60)
