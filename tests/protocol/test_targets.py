"""Targets after histories: which are asked for, what comes before them, and what the audit counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recassay.core.errors import InputError, UsageError
from recassay.core.judgements import Judgements
from recassay.core.specs.specs import ProtocolSpec
from recassay.protocol.apply import apply_protocol
from recassay.protocol.audit import audit_split
from recassay.protocol.targets import count_targets, judgements
from support.protocol import interactions, rows_of

# Users a and b are trained on; c comes after the cut alone, d has one event there. The cut is after time 5.
LOG = [
    ("a", "x", 1, 1), ("a", "y", 1, 2), ("b", "x", 1, 2), ("b", "z", 1, 3), ("a", "z", 1, 4), ("b", "y", 1, 5),
    ("a", "x", 1, 6), ("a", "w", 1, 7), ("c", "y", 1, 7), ("c", "z", 1, 8), ("c", "z", 1, 9), ("c", "x", 1, 9),
    ("b", "z", 1, 9), ("d", "x", 1, 9), ("b", "z", 1, 9), ("b", "v", 1, 4),
]  # fmt: skip
NO_FILTER = {"filter": "none", "allow_leakage": ("empty_valid",)}


def split_of(target, task="new", **more):
    spec = ProtocolSpec.checked(ratios=(7 / 16, 0, 9 / 16), target=target, task=task, **(NO_FILTER | more))
    return apply_protocol(interactions(LOG, weight=False), spec)


def told(split, asked: Judgements):
    """(user, history, target) of every judgement, by the ids of the log."""
    items, users = split.train.items.to_list(), split.train.users.to_list()
    histories = asked.histories(slice(0, len(asked)))
    parts = np.split(histories.items, histories.starts[1:-1]) if len(asked) else []
    return [
        (users[asked.users[row]], "".join(items[i] for i in history), items[target])
        for row, history, target in zip(asked.row, parts, asked.targets, strict=True)
    ]


def test_each_event_after_the_cut_is_asked_for_after_all_before_it():
    split = split_of("each", "repeat")
    asked = told(split, judgements(split, "each", "test"))
    assert asked[:1] == [("a", "xyz", "x")], "w is not in training"
    assert ("b", "xvzy"[:1] + "zvy", "z") in asked or ("b", "xzvy", "z") in asked
    of_c = [(history, target) for user, history, target in asked if user == "c"]
    # Of c, z and x share the time 9: an order drawn from the seed, the same in both judgements.
    assert of_c in ([("y", "z"), ("yz", "z"), ("yzz", "x")], [("y", "z"), ("yz", "x"), ("yzx", "z")])
    assert not [user for user, _, _ in asked if user == "d"], "nothing comes before the first event"


def test_an_item_of_the_history_is_no_target_where_new_items_are_to_be_recommended_but_stays_in_histories():
    split = split_of("each")
    asked = told(split, judgements(split, "each", "test"))
    assert [user for user, _, _ in asked] == ["c", "c"], "x of a, z of b, and the second z of c had been had"
    assert asked[0] == ("c", "y", "z")
    assert asked[1][1:] in (("yzz", "x"), ("yz", "x"))
    assert all(target not in history for _, history, target in asked)


@pytest.mark.parametrize(("target", "place"), [("next", 0), ("last", -1)])
def test_the_next_and_the_last_are_the_ends_of_each(target, place):
    for task in ("new", "repeat"):
        every = split_of("each", task)
        all_of = told(every, judgements(every, "each", "test"))
        split = split_of(target, task)
        asked = told(split, judgements(split, target, "test"))
        assert asked == [
            [one for one in all_of if one[0] == user][place] for user in dict.fromkeys(user for user, _, _ in all_of)
        ]


def test_the_rule_for_ties_follows_the_seed_and_not_the_order_of_rows():
    log = [("u", f"i{n}", 1, 1 if n < 8 else 2) for n in range(16)] + [("v", f"i{n}", 1, 0) for n in range(16)]

    def order(seed, rows):
        spec = ProtocolSpec.checked(split="leave_last_out", target="each", seed=seed, **NO_FILTER)
        split = apply_protocol(interactions(rows, weight=False), spec)
        return [target for _, _, target in told(split, judgements(split, "each", "test"))]

    assert order(1, log) == order(1, log[::-1])
    assert order(1, log) != order(2, log)
    assert order(1, log) != sorted(order(1, log))


def test_events_stay_events_and_users_that_training_lacks_stay_users():
    split = split_of("each", "repeat")
    assert [row[:2] for row in rows_of(split.test)].count(("b", "z")) == 2
    assert set(split.train.users) == {"a", "b", "c", "d"}
    assert not split.overlapping
    with_all = split_of("all", "repeat")
    assert set(with_all.train.users) == {"a", "b"}
    assert "targets" not in with_all.audit


def test_what_the_audit_says_of_targets():
    split = split_of("each")
    counts = count_targets(split)
    assert (counts.events, counts.in_history) == (6, 4), "x of a; z, z of b; z of c twice, once before the other"
    assert split.audit["targets"]["share_in_history"] == pytest.approx(4 / 6)
    assert counts.tied == 4, "z, z of b and z, x of c at the time 9"
    assert counts.last_again in (1, 2), "the second z of b, and that of c where it comes first"
    names = {finding["name"]: finding for finding in split.audit["findings"]}
    assert names["tied_targets"]["count"] == 4
    assert not names["tied_targets"]["refuses"]
    few = audit_split(split, "global_time", targets=replace(counts, events=81))
    assert "tied_targets" not in {finding.name for finding in few.findings}, "4 of 81 are below 5 %"
    assert counts.unseen_users == 2, "c and d"
    assert split.audit["share_of_users_evaluated"] == 1


def test_validation_events_are_history_of_the_test_with_and_without_refitting():
    log = [("u", item, 1, time) for time, item in enumerate("abcd")]
    log += [("v", item, 1, time) for time, item in enumerate("dcba")]
    for final_fit in ("train+valid", "train"):
        spec = ProtocolSpec.checked(split="leave_last_out", target="last", final_fit=final_fit, **NO_FILTER)
        split = apply_protocol(interactions(log, weight=False), spec)
        assert told(split, judgements(split, "last", "test")) == [("u", "abc", "d"), ("v", "dcb", "a")]
        assert told(split, judgements(split, "last", "valid")) == [("u", "ab", "c"), ("v", "dc", "b")]
        assert len(split.refit()) == (6 if final_fit == "train+valid" else 4)


def test_some_users_alone():
    split = split_of("each", "repeat")
    asked = judgements(split, "each", "test")
    user = split.train.users.to_list().index("c")
    some = asked.of_users(np.array([user], dtype=np.int32))
    assert told(split, some) == [one for one in told(split, asked) if one[0] == "c"]
    assert some.judged().tolist() == [user]


def test_what_keeps_no_order_is_refused():
    with pytest.raises(
        UsageError, match="target = 'next' asks what comes after a history, and split 'random' keeps no"
    ):
        ProtocolSpec.checked(split="random", target="next")
    spec = ProtocolSpec.checked(split="given", target="next", filter="none")
    parts = tuple(interactions(rows, weight=False, time=False) for rows in (LOG[:3], LOG[3:4], LOG[4:6]))
    with pytest.raises(InputError, match="have no timestamps; read the column of timestamps"):
        apply_protocol(None, spec, given=parts)


def test_a_protocol_of_all_is_known_by_the_other_fields_alone():
    assert ProtocolSpec().content_hash() == ProtocolSpec(target="all", sessions=None).content_hash()
    assert not {"target", "sessions"} & set(ProtocolSpec().model_dump())
    assert ProtocolSpec(target="next").model_dump()["target"] == "next"
