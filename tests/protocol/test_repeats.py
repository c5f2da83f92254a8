"""Events that repeat a user and item: split first, made one inside each part, and never across the boundary."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recassay.core.interactions import RepeatRule, RuleName
from recassay.core.repeated import merged, reaches
from recassay.core.specs.specs import ProtocolSpec
from recassay.core.types import Interactions, Split
from recassay.protocol.apply import apply_protocol
from recassay.protocol.audit import FINDINGS
from recassay.protocol.ordering import canonical
from recassay.protocol.repeats import users_of_one_time
from recassay.protocol.splits import SPLITS, TEST, TRAIN, VALID, split_labels
from support.protocol import Row, drawn_interactions, few, interactions, pairs_of, rows_of

LOOSE = ProtocolSpec(filter="none", ratios=(0.6, 0.2, 0.2), allow_leakage=FINDINGS)
RULES = [name for name in SPLITS if name != "given"]
MERGES: list[RuleName] = ["last", "first", "sum", "max"]

# a buys x in training and again in the test period; b buys y in training and again while validating
LOG = interactions(
    [
        ("a", "x", 1, 1), ("a", "y", 2, 2), ("b", "x", 3, 3), ("b", "y", 4, 4), ("a", "y", 5, 5), ("b", "z", 1, 6),
        ("b", "y", 2, 7), ("a", "z", 3, 8),
        ("a", "x", 4, 9), ("b", "x", 5, 10),
    ]
)  # fmt: skip


def parts_of(split: Split) -> tuple[Interactions, ...]:
    return split.train, split.valid, split.test


def test_a_later_event_takes_no_event_out_of_training() -> None:
    split = apply_protocol(LOG, LOOSE.model_copy(update={"ratios": (0.6, 0.2, 0.2)}))
    assert pairs_of(split.train) == {("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"), ("b", "z")}
    assert pairs_of(split.valid) == {("a", "z")}
    assert pairs_of(split.test) == set()
    assert (split.counts["test_seen"], split.counts["valid_seen"], split.counts["train_merged"]) == (2, 1, 1)
    assert split.unjudged_valid is not None
    assert pairs_of(split.unjudged_valid) == {("b", "y")}
    repeats = split.audit["repeats"]
    assert (repeats["train_events"], repeats["train_repeats"]) == (8, 2)
    assert (repeats["test_events"], repeats["test_repeats"], repeats["share_of_test"]) == (2, 2, 1.0)
    found = {finding["name"]: finding for finding in split.audit["findings"]}
    assert "left the test, since the task is to recommend new items" in found["repeated_events"]["sentence"]
    assert found["repeated_events"]["refuses"] is False
    assert not {"test_pair_in_train", "valid_pair_in_train"} & set(found)


def test_repeat_consumption_is_named_and_keeps_every_pair() -> None:
    split = apply_protocol(LOG, LOOSE.model_copy(update={"task": "repeat"}))
    assert pairs_of(split.test) == {("a", "x"), ("b", "x")}
    assert pairs_of(split.valid) == {("b", "y"), ("a", "z")}
    assert split.task == "repeat"
    assert split.barred(split.train.csr()) is None
    assert not {f["name"] for f in split.audit["findings"] if f["refuses"]}
    assert "and are judged" in next(f["sentence"] for f in split.audit["findings"] if f["name"] == "repeated_events")
    assert split.fingerprint != apply_protocol(LOG, LOOSE).fingerprint


@pytest.mark.parametrize("split", ["random", "random_per_user", "kfold"])
def test_a_random_split_has_no_repeats_to_predict(split: str) -> None:
    with pytest.raises(ValueError, match="keeps all events of a user and item in one part"):
        ProtocolSpec(split=split, task="repeat")


@pytest.mark.parametrize(
    ("rule", "kept"),
    [("last", (5, 5)), ("first", (2, 2)), ("sum", (7, 5)), ("max", (5, 5))],
)
def test_each_rule_merges_inside_training_alone(rule: RuleName, kept: tuple[int, int]) -> None:
    split = apply_protocol(replace(LOG, repeated=RepeatRule(rule)), LOOSE)
    assert ("a", "y", *map(float, kept)) in rows_of(split.train)
    assert ("a", "x", 1.0, 1) in rows_of(split.train)
    assert max(row[3] for row in rows_of(split.train)) < min(row[3] for row in rows_of(split.valid))
    whole = {row[:2]: row[2:] for row in rows_of(split.refit())}
    assert whole["b", "y"] == {"last": (2, 7), "first": (4, 4), "sum": (6, 7), "max": (4, 7)}[rule]


@pytest.mark.parametrize("kind", ["global_time", "user_time", "leave_last_out"])
@pytest.mark.parametrize("rule", MERGES)
@few
@given(data=drawn_interactions(repeats=True, least=6))
def test_what_comes_after_the_boundary_changes_nothing_before_it(kind: str, rule: RuleName, data: Interactions) -> None:
    """The weights of later events, and which item they name, have no say in what is trained on."""
    data = replace(canonical(data), repeated=RepeatRule(rule))
    spec = LOOSE.model_copy(update={"split": kind})
    labels = split_labels(data, spec)
    later = labels == TEST
    assert data.weight is not None
    other = replace(data, weight=np.where(later, data.weight + 7, data.weight).astype(np.float32))
    other = replace(other, item=np.where(later, data.item[0], data.item).astype(np.int32))
    one, two = apply_protocol(data, spec), apply_protocol(other, spec)
    assert rows_of(one.train) == rows_of(two.train)
    assert rows_of(one.refit()) == rows_of(two.refit())


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("final_fit", ["train+valid", "train"])
@few
@given(data=drawn_interactions(repeats=True, least=4))
def test_parts_against_events_counted_one_by_one(rule: str, final_fit: str, data: Interactions) -> None:
    spec = LOOSE.model_copy(update={"split": rule, "final_fit": final_fit})
    split = apply_protocol(data, spec)
    events = canonical(data)
    labels = split_labels(events, spec)
    by_label: dict[int, list[tuple[str, str]]] = defaultdict(list)
    users, items = events.users.cast(str).to_list(), events.items.cast(str).to_list()
    for user, item, label in zip(events.user, events.item, labels, strict=True):
        by_label[int(label)].append((users[user], items[item]))
    train, valid, test = (by_label[label] for label in (TRAIN, VALID, TEST))
    fit = train + valid if final_fit == "train+valid" else train
    assert pairs_of(split.train) == set(train)
    assert pairs_of(split.refit()) == set(fit)
    assert len(split.refit()) == len(set(fit))
    known = {side: {pair[side] for pair in fit} for side in (0, 1)}
    warm = [pair for pair in test if pair[0] in known[0] and pair[1] in known[1]]
    assert pairs_of(split.test) == set(warm) - set(fit)
    assert split.counts["test_seen"] == sum(pair in set(fit) for pair in warm)
    repeats = split.audit["repeats"]
    assert repeats["train_repeats"] == len(fit) - len(set(fit))
    assert repeats["test_events"] == len(warm)
    for part in parts_of(split):
        assert len(part) == len(pairs_of(part))


def test_data_without_repeats_is_split_as_ever_and_joined_without_a_copy_of_its_order() -> None:
    data = LOG.take(np.array([0, 1, 2, 3, 5, 7]))
    split = apply_protocol(data, LOOSE)
    assert split.overlapping is False
    assert split.audit["repeats"]["train_repeats"] == 0
    assert "repeated_events" not in {f["name"] for f in split.audit["findings"]}


def test_a_given_split_drops_what_training_has_and_says_so() -> None:
    train = interactions([("a", "x", 1, 1), ("a", "y", 1, 2), ("b", "x", 1, 3), ("b", "z", 1, 4)])
    test = interactions([("a", "x", 1, 5), ("a", "z", 1, 6), ("b", "y", 1, 6)])
    nothing = test.take(np.array([], dtype=np.int64))
    spec = ProtocolSpec(split="given", filter="none")
    split = apply_protocol(None, spec, given=(train, nothing, test))
    assert pairs_of(split.test) == {("a", "z"), ("b", "y")}
    assert split.audit["repeats"]["test_repeats"] == 1
    kept = apply_protocol(None, spec.model_copy(update={"task": "repeat"}), given=(train, nothing, test))
    assert pairs_of(kept.test) == pairs_of(test)


@pytest.mark.parametrize(
    ("rule", "threshold", "expected"),
    [
        ("last", 3, [False, True, False, True]),
        ("first", 3, [False, False, False, False]),
        ("max", 3, [False, True, True, True]),
        ("sum", 3, [False, True, True, True]),
        ("sum", 7, [False, False, False, True]),
        ("bounded", 4, [False, False, False, True]),
        ("bounded", 2, [False, True, True, True]),
    ],
)
def test_a_threshold_looks_at_the_pair_up_to_each_event(rule: RuleName, threshold: float, expected: list[bool]) -> None:
    weights = [1, 1, 1, 4] if rule == "bounded" else [1, 3, 1, 4]
    events = interactions([("a", "x", weight, time) for time, weight in enumerate(weights)])
    levels = (1.0, 4.0) if rule == "bounded" else ()
    events = replace(events, repeated=RepeatRule(rule, levels))
    assert reaches(events, threshold).tolist() == expected
    backwards = events.take(np.arange(4)[::-1])
    assert reaches(backwards, threshold).tolist() == expected[::-1]


def test_counts_of_plays_become_weights_part_by_part() -> None:
    plays = interactions([("a", "x", 1, t) for t in range(4)] + [("b", "y", 1, 1), ("b", "x", 1, 2)], weight=False)
    split = apply_protocol(
        replace(plays, repeated=RepeatRule("sum")),
        LOOSE.model_copy(update={"split": "user_time", "ratios": (0.5, 0.25, 0.25), "task": "repeat"}),
    )
    assert ("a", "x", 2.0, 1) in rows_of(split.train)
    assert ("a", "x", 1.0, 3) in rows_of(split.test)
    assert ("a", "x", 3.0, 2) in rows_of(split.refit())


@few
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.sampled_from([1.5, 4.0, 12.0])), min_size=2),
    st.integers(1, 30),
)
def test_bounded_weights_do_not_depend_on_where_events_were_parted(rows: list[Row], cut: int) -> None:
    """Merged in two parts and then together, or at once: the same."""
    rule = RepeatRule("bounded", (1.5, 4.0, 12.0))
    events = replace(interactions([(*row, time) for time, row in enumerate(rows)]), repeated=rule)
    early = np.arange(len(events)) < cut
    parts = [merged(events.take(early)), merged(events.take(~early))]
    joined = [row for part in parts for row in rows_of(part)]
    whole = merged(events)
    if joined:
        again = merged(replace(interactions(joined), repeated=rule))
        assert rows_of(again) == rows_of(whole)


def test_ties_are_reported_where_a_given_split_has_them_and_one_time_users_where_we_split() -> None:
    train = interactions([("a", "x", 1, 1), ("a", "y", 1, 5), ("b", "x", 1, 3), ("b", "z", 1, 4)])
    test = interactions([("a", "z", 1, 5), ("b", "y", 1, 6)])
    spec = ProtocolSpec(split="given", filter="none", allow_leakage=("train_after_test",))
    audit = apply_protocol(None, spec, given=(train, test.take(np.array([], dtype=np.int64)), test)).audit
    assert audit["share_of_test_tied"] == 0.5
    assert next(f for f in audit["findings"] if f["name"] == "tied_with_train")["count"] == 1
    rows = [("a", item, 1, 7) for item in "xyz"] + [("b", item, 1, time) for time, item in enumerate("xyz")]
    audit = apply_protocol(interactions(rows), LOOSE.model_copy(update={"split": "leave_last_out"})).audit
    assert audit["share_of_test_tied"] == 0.0
    told = next(f for f in audit["findings"] if f["name"] == "users_of_one_time")
    assert (told["count"], told["refuses"]) == (1, False)
    assert "all events of 1 users (50.0 %) have one time" in told["sentence"]
    for split in ("global_time", "random_per_user"):  # one clock for all, and no clock
        other = apply_protocol(interactions(rows), LOOSE.model_copy(update={"split": split})).audit
        assert "users_of_one_time" not in {finding["name"] for finding in other["findings"]}


@pytest.mark.parametrize("rule", ["user_time", "leave_last_out"])
@few
@given(data=drawn_interactions(repeats=True, least=4))
def test_no_test_event_shares_its_time_with_training_of_its_user(rule: str, data: Interactions) -> None:
    audit = apply_protocol(data, LOOSE.model_copy(update={"split": rule, "task": "repeat"})).audit
    assert audit["share_of_test_tied"] == 0.0


@pytest.mark.parametrize(("rule", "time"), [("first", 2), ("last", 5), ("sum", 5), ("max", 5)])
def test_above_a_threshold_ratings_go_and_the_event_that_counts_stays(rule: RuleName, time: int) -> None:
    """Both events of a and y reach 2: of the pair stays the first where the first counts, else the last."""
    split = apply_protocol(replace(LOG, repeated=RepeatRule(rule)), LOOSE.model_copy(update={"positive_threshold": 2}))
    assert split.train.weight is None
    assert ("a", "y", None, time) in rows_of(split.train)
    assert split.train.repeated.name == ("first" if rule == "first" else "last")


@pytest.mark.parametrize("rule", ["first", "max", "sum", "bounded"])
def test_a_single_event_of_a_pair_reaches_what_it_is_worth(rule: RuleName) -> None:
    events = interactions([("b", "x", 3, 1), ("a", "y", 2, 2), ("a", "x", 4, 3)])
    events = replace(events, repeated=RepeatRule(rule, (1.0, 4.0) if rule == "bounded" else ()))
    assert reaches(events, 3).tolist() == [True, False, True]


def test_users_whose_several_events_have_one_time_are_counted() -> None:
    times = {"a": [1, 2], "b": [7, 7], "c": [3, 3, 3], "d": [4], "e": [5, 5, 6], "f": [7, 7]}
    rows = [(user, f"i{n}", 1, time) for user, own in times.items() for n, time in enumerate(own)]
    assert users_of_one_time(interactions(rows)) == 3
    assert users_of_one_time(interactions(rows[2:4])) == 1
    assert users_of_one_time(interactions([])) == 0
    assert users_of_one_time(interactions(rows, time=False)) == 0
