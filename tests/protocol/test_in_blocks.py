"""A split is the same however few rows are handled at a time, and whether or not its events may be used up."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from recassay.core import blocks
from recassay.core.interactions import RepeatRule
from recassay.core.specs.specs import ProtocolSpec
from recassay.core.types import Interactions, Split, joined
from recassay.data.characteristics import describe
from recassay.protocol.apply import apply_protocol

ALLOWED = ["empty_train", "empty_test", "train_after_test", "train_after_valid"]


def events(rule: RepeatRule, *, weights: bool, times: bool, seed: int = 0) -> Interactions:
    """Repeated pairs, ties in time, a user with a third of all rows, ids that are used by nobody."""
    rng = np.random.default_rng(seed)
    rows = 900
    user = np.where(rng.random(rows) < 0.3, 4, rng.integers(0, 40, rows)).astype(np.int32)
    return Interactions(
        user=user,
        item=(rng.random(rows) ** 2 * 30).astype(np.int32),
        users=pl.Series([f"member {n * 37 % 41}" for n in range(41)]),
        items=pl.Series(range(5, 40)),
        weight=(rng.choice([1.0, 2.5, 7.0], rows)).astype(np.float32) if weights else None,
        time=rng.integers(0, 100, rows) if times else None,
        repeated=rule,
    )


def said(split: Split) -> list[Any]:
    found: list[Any] = [split.fingerprint, split.counts, split.audit]
    for part in (split.train, split.valid, split.test, split.unjudged_valid, split.refit()):
        for name in ("user", "item", "weight", "time"):
            column = None if part is None else getattr(part, name)
            found.append(None if column is None else (column.dtype, column.tobytes()))
    return [*found, split.train.users.to_list(), split.train.items.to_list()]


BOUNDED = RepeatRule("bounded", (1.0, 2.5, 7.0))
RULES = [RepeatRule("last"), RepeatRule("first"), RepeatRule("sum"), RepeatRule("max"), BOUNDED]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@pytest.mark.parametrize("name", ["global_time", "user_time", "leave_last_out", "random", "random_per_user", "kfold"])
def test_the_split_does_not_depend_on_the_blocks(name: str, rule: RepeatRule, monkeypatch: pytest.MonkeyPatch) -> None:
    whole_rows = blocks.ROWS
    temporal = name in ("global_time", "user_time", "leave_last_out")
    for weights, threshold, chosen in ((True, 2.5, "core"), (rule == BOUNDED, None, "once")):
        spec = ProtocolSpec.checked(
            split=name,
            positive_threshold=threshold,
            filter=chosen,
            min_item_interactions=4,
            min_user_interactions=5,
            task="repeat" if temporal and chosen == "once" else "new",
            allow_leakage=ALLOWED,
        )
        monkeypatch.setattr(blocks, "ROWS", whole_rows)
        whole = apply_protocol(events(rule, weights=weights, times=temporal), spec)
        expected, shape = said(whole), describe(joined([*whole.refit_parts(), whole.test]))
        monkeypatch.setattr(blocks, "ROWS", 100)
        data = events(rule, weights=weights, times=temporal)
        assert said(apply_protocol(data, spec)) == expected
        before = events(rule, weights=weights, times=temporal)
        assert np.array_equal(data.user, before.user)
        assert np.array_equal(data.item, before.item)
        used_up = apply_protocol(data, spec, overwrite=True)
        assert said(used_up) == expected
        assert repr(describe(*used_up.refit_parts(), used_up.test)) == repr(shape)


def test_used_up_events_need_no_second_copy() -> None:
    data = events(RepeatRule(), weights=True, times=True)
    split = apply_protocol(data, ProtocolSpec.checked(filter="none", allow_leakage=ALLOWED), overwrite=True)
    assert np.shares_memory(split.train.user, data.user)
    assert np.shares_memory(split.train.time, data.time)
    kept = events(RepeatRule(), weights=True, times=True)
    split = apply_protocol(kept, ProtocolSpec.checked(filter="none", allow_leakage=ALLOWED))
    assert not np.shares_memory(split.train.user, kept.user)


def test_read_only_events_are_copied_where_they_may_be_used_up() -> None:
    data = events(RepeatRule(), weights=True, times=True)
    split = apply_protocol(data.read_only(), ProtocolSpec.checked(filter="none", allow_leakage=ALLOWED), overwrite=True)
    assert not np.shares_memory(split.train.user, data.user)
