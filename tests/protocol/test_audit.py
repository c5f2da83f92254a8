from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from recassay.core import blocks
from recassay.core.errors import InputError, UsageError
from recassay.core.specs.specs import FinalFit, ProtocolSpec, SplitName
from recassay.core.types import Split
from recassay.protocol.apply import apply_protocol
from recassay.protocol.audit import FEW_USERS, FINDINGS, AuditRecord, audit_split, refuse_leakage
from recassay.protocol.repeats import RepeatCounts
from support.protocol import Row, interactions, synthetic

TRAIN = [("a", "x", 1, 1), ("a", "y", 1, 2), ("b", "x", 1, 3), ("b", "z", 1, 4)]
VALID = [("a", "z", 1, 5)]
TEST = [("b", "y", 1, 6)]


def split_of(train: list[Row], valid: list[Row], test: list[Row], final_fit: FinalFit = "train+valid") -> Split:
    """A split of these rows as they are: nothing is cleaned before the audit sees it."""
    whole = interactions([*train, *valid, *test])
    ends = np.cumsum([len(train), len(valid), len(test)])
    rows = np.split(np.arange(ends[-1]), ends[:-1])
    parts = [whole.take(each) for each in rows]
    return Split(*parts, fingerprint="", final_fit=final_fit)


def names(record: AuditRecord) -> list[str]:
    return [found.name for found in record.findings]


def test_a_clean_global_split_has_no_finding() -> None:
    record = audit_split(split_of(TRAIN, VALID, TEST), "global_time")
    assert names(record) == ["few_test_users"]
    assert record.refusals() == ()
    assert record.users_evaluated == 1
    assert record.share_of_users_evaluated == 0.5
    assert record.share_of_test_before_train == 0.0
    assert (record.last_train_time, record.first_test_time) == (5, 6)


PLANTED = [
    ("train_after_test", [*TRAIN, ("a", "w", 1, 9)], VALID, TEST),
    ("train_after_valid", [*TRAIN, ("b", "w", 1, 5)], [("a", "z", 1, 4)], TEST),
    ("test_pair_in_train", TRAIN, VALID, [*TEST, ("a", "x", 1, 7)]),
    ("test_pair_in_train", TRAIN, VALID, [("a", "z", 1, 7)]),
    ("valid_pair_in_train", TRAIN, [("b", "z", 1, 5)], TEST),
    ("cold_user_in_test", TRAIN, VALID, [*TEST, ("new", "x", 1, 8)]),
    ("cold_item_in_test", TRAIN, VALID, [*TEST, ("a", "new", 1, 8)]),
    ("cold_user_in_valid", TRAIN, [("new", "x", 1, 5)], TEST),
    ("cold_item_in_valid", TRAIN, [("a", "new", 1, 5)], TEST),
    ("empty_test", TRAIN, VALID, []),
]  # fmt: skip


@pytest.mark.parametrize(("finding", "train", "valid", "test"), PLANTED)
def test_planted_leaks_are_found_refused_and_allowed_by_name(
    finding: str, train: list[Row], valid: list[Row], test: list[Row]
) -> None:
    record = audit_split(split_of(train, valid, test), "global_time")
    assert finding in names(record)
    with pytest.raises(InputError, match=rf"global_time split is refused.*{finding}.*allow_leakage=\[.*'{finding}'"):
        refuse_leakage(record, ())
    refuse_leakage(record, names(record))


@pytest.mark.parametrize("kind", ["global_time", "rolling", "given"])
def test_training_events_after_the_held_out_ones_refuse_a_split_by_one_clock(kind: SplitName) -> None:
    record = audit_split(split_of([*TRAIN, ("a", "w", 1, 9)], VALID, TEST), kind)
    assert {finding.name for finding in record.refusals()} == {"train_after_test", "train_after_valid"}


def test_an_empty_training_part_is_refused_and_an_empty_validation_part_is_not() -> None:
    assert "empty_train" in {f.name for f in audit_split(split_of([], VALID, TEST), "random").refusals()}
    record = audit_split(split_of(TRAIN, [], TEST), "global_time")
    assert names(record) == ["empty_valid", "few_test_users"]
    refuse_leakage(record, ())


def test_pairs_and_cold_ids_are_judged_by_what_the_final_model_is_trained_on() -> None:
    train, valid = TRAIN, [("a", "v", 1, 5)]
    test = [("b", "v", 1, 6)]
    assert "cold_item_in_test" not in names(audit_split(split_of(train, valid, test), "global_time"))
    assert "cold_item_in_test" in names(audit_split(split_of(train, valid, test, "train"), "global_time"))
    repeated = [*test, ("a", "v", 1, 7)]
    assert "test_pair_in_train" in names(audit_split(split_of(train, valid, repeated), "global_time"))
    assert "test_pair_in_train" not in names(audit_split(split_of(train, valid, repeated, "train"), "global_time"))


@pytest.mark.parametrize("kind", ["global_time", "user_time"])
def test_a_training_event_at_the_time_of_the_first_test_event_is_not_later(kind: SplitName) -> None:
    train, valid, test = [*TRAIN, ("b", "w", 1, 6)], [("a", "z", 1, 6)], [("b", "y", 1, 6)]
    found = names(audit_split(split_of(train, valid, test), kind))
    assert not {"train_after_test", "train_after_valid", "user_train_after_test"} & set(found)
    assert "tied_with_train" in found
    assert ("tied_with_train" in names(audit_split(split_of(train, valid, test), "given"))) is True


@pytest.mark.parametrize(("users", "few"), [(FEW_USERS - 1, True), (FEW_USERS, False)])
def test_users_are_few_below_the_stated_number(users: int, few: bool) -> None:
    assert FEW_USERS == 30
    train = [(f"u{n}", "x", 1, 1) for n in range(users)] + [("u0", "y", 1, 2)]
    test = [(f"u{n}", "y", 1, 5) for n in range(1, users)] + [("u0", "z", 1, 5)]
    assert ("few_test_users" in names(audit_split(split_of(train, VALID, test), "global_time"))) is few


@pytest.mark.parametrize("kind", ["user_time", "leave_last_out", "random", "random_per_user", "kfold"])
def test_splits_that_admit_global_leakage_report_it_and_pass(kind: SplitName) -> None:
    data = synthetic(40, 30, 900)
    split = apply_protocol(data, ProtocolSpec(split=kind))
    found = {f["name"]: f for f in split.audit["findings"]}
    assert found["train_after_test"]["refuses"] is False
    assert found["train_after_test"]["count"] > 0
    assert split.audit["share_of_test_before_train"] > 0.5


def test_a_users_own_future_in_training_is_leakage_for_a_per_user_temporal_split() -> None:
    train = [*TRAIN, ("b", "w", 1, 9)]
    per_user = audit_split(split_of(train, VALID, TEST), "user_time")
    assert [f.name for f in per_user.refusals()] == ["user_train_after_test"]
    assert audit_split(split_of(train, VALID, TEST), "random").refusals() == ()


def test_a_given_split_is_held_to_global_time_unless_allowed_by_name() -> None:
    later = interactions([*TRAIN, ("a", "w", 1, 99)])
    parts = later, interactions(VALID), interactions(TEST)
    spec = ProtocolSpec(split="given", filter="none")
    with pytest.raises(InputError, match=r"train_after_test \(1 training events"):
        apply_protocol(None, spec, given=parts)
    allowed = spec.model_copy(update={"allow_leakage": ("train_after_test", "train_after_valid")})
    split = apply_protocol(None, allowed, given=parts)
    found = {f["name"] for f in split.audit["findings"]}
    assert found == {"train_after_test", "train_after_valid", "few_test_users"}


def test_data_without_time_is_audited_for_the_rest() -> None:
    data = replace(synthetic(80, 30, 1800), time=None)
    audit = apply_protocol(data, ProtocolSpec(split="random")).audit
    assert audit["findings"] == []
    assert audit["share_of_test_before_train"] is None
    assert audit["first_test_time"] is None


def test_few_judged_users_are_said_and_many_are_not() -> None:
    few = apply_protocol(synthetic(25, 30, 600), ProtocolSpec(split="random")).audit
    assert (
        few["findings"][-1]["sentence"]
        == f"only {few['users_evaluated']} users are judged: a mean over them says little"
    )
    many = apply_protocol(synthetic(80, 30, 1800), ProtocolSpec(split="random")).audit
    assert many["users_evaluated"] >= 30
    assert "few_test_users" not in {f["name"] for f in many["findings"]}


def test_an_unknown_name_in_allow_leakage_is_refused_with_a_hint() -> None:
    spec = ProtocolSpec(allow_leakage=("test_pairs_in_train",))
    with pytest.raises(UsageError, match=r"no finding 'test_pairs_in_train'.*did you mean 'test_pair_in_train'"):
        apply_protocol(interactions(TRAIN), spec)


def test_the_record_is_plain_data_and_its_names_are_the_documented_ones() -> None:
    record = audit_split(split_of([*TRAIN, ("a", "w", 1, 9)], VALID, TEST), "global_time")
    plain = json.loads(json.dumps(record.to_dict()))
    assert plain["split"] == "global_time"
    assert {found["name"] for found in plain["findings"]} <= set(FINDINGS)
    planted = {finding for finding, *_ in PLANTED} | {"user_train_after_test", "empty_train", "empty_valid"}
    told = {"few_test_users", "repeated_events", "tied_with_train", "users_of_one_time", "tied_targets"}
    assert planted | told == set(FINDINGS)


def findings(record: AuditRecord) -> dict[str, tuple[int, bool, str]]:
    return {found.name: (found.count, found.refuses, found.sentence) for found in record.findings}


def test_times_are_compared_however_the_clock_counts() -> None:
    """The last training event is at 0, one of the two test events before it."""
    train, test = [("a", "x", 1, -9), ("b", "y", 1, 0)], [("a", "y", 1, -5), ("b", "x", 1, 3)]
    record = audit_split(split_of(train, [], test), "random")
    assert (record.last_train_time, record.first_test_time, record.share_of_test_before_train) == (0, -5, 0.5)


def test_every_finding_has_its_number_its_sentence_and_refuses_where_it_must() -> None:
    """Two of the seven final training events are later than the first test event, one of them the user's own."""
    train = [*TRAIN, ("a", "w", 1, 7), ("b", "w", 1, 8)]
    valid = [("a", "z", 1, 5), ("b", "x", 1, 9), ("c", "x", 1, 9)]
    test = [("b", "y", 1, 6), ("b", "z", 1, 8), ("a", "v", 1, 4), ("d", "x", 1, 9)]
    record = audit_split(split_of(train, valid, test), "user_time")
    assert findings(record) == {
        "train_after_test": (5, False, "5 training events (55.6 %) are later than the first test event"),
        "train_after_valid": (2, False, "2 training events (33.3 %) are later than the first valid event"),
        "user_train_after_test": (
            4, True, "4 training events are later than the first test event of their own user"),
        "test_pair_in_train": (
            1, True, "1 of 4 test events repeat a pair of user and item that was trained on"),
        "valid_pair_in_train": (
            1, True, "1 of 3 valid events repeat a pair of user and item that was trained on"),
        "cold_user_in_test": (1, True, "1 users of the test part were never trained on"),
        "cold_item_in_test": (1, True, "1 items of the test part were never trained on"),
        "cold_user_in_valid": (1, True, "1 users of the valid part were never trained on"),
        "few_test_users": (3, False, "only 3 users are judged: a mean over them says little"),
        "tied_with_train": (1, False, "1 of 4 test events (25.0 %) have the time of a training event of the same "
                            "user: which came first is not known"),
    }  # fmt: skip
    assert (record.users_evaluated, record.share_of_users_evaluated) == (3, 1.0)
    assert (record.last_train_time, record.first_test_time) == (9, 4)
    assert record.share_of_test_before_train == 0.75
    assert (record.scope, record.share_of_test_tied) == ("per user", 0.25)
    alone = audit_split(split_of(train, valid, test, "train"), "global_time")
    told = findings(alone)
    assert told["train_after_test"] == (2, True, "2 training events (33.3 %) are later than the first test event")
    assert "user_train_after_test" not in told
    assert "cold_user_in_valid" in told
    assert alone.last_train_time == 8
    assert (alone.scope, alone.share_of_test_tied) == ("global", 0.25)
    assert audit_split(split_of(train, valid, test), "random").share_of_test_tied is None


def test_repeats_and_users_of_one_time_are_told_with_their_shares() -> None:
    split = split_of(TRAIN, VALID, TEST)
    counts = RepeatCounts(8, 2, 5, 1, 4, 3)
    record = audit_split(split, "global_time", repeats=counts, one_time=1)
    told = findings(record)
    assert told["repeated_events"] == (
        5, False, "2 training events (25.0 %) repeat an earlier one; 3 test events (75.0 %) repeat what their user had "
        "in training, and left the test, since the task is to recommend new items",
    )  # fmt: skip
    assert told["users_of_one_time"] == (
        1, False, "all events of 1 users (50.0 %) have one time: nothing tells their last from their first, so all of "
        "them train",
    )  # fmt: skip
    again = findings(audit_split(replace(split, task="repeat"), "global_time", repeats=counts))
    assert again["repeated_events"][2].endswith("in training, and are judged")
    assert "users_of_one_time" not in again
    quiet = findings(audit_split(split, "global_time", repeats=RepeatCounts(8, 2, 5, 0, 4, 0)))
    assert quiet["repeated_events"][2].endswith("0 test events (0.0 %) repeat what their user had in training")
    only = findings(audit_split(split, "global_time", repeats=RepeatCounts(8, 0, 5, 1, 4, 0)))
    assert only["repeated_events"][0] == 0
    assert "repeated_events" not in findings(audit_split(split, "global_time", repeats=RepeatCounts(8, 0, 5, 0, 4, 0)))
    shares = record.to_dict()["repeats"]
    assert (shares["share_of_train"], shares["share_of_valid"], shares["share_of_test"]) == (0.25, 0.2, 0.75)
    assert RepeatCounts().to_dict()["share_of_test"] == 0


def test_a_pair_to_be_predicted_again_is_no_leak_where_repeats_are_the_task() -> None:
    repeated = split_of(TRAIN, VALID, [*TEST, ("a", "x", 1, 7)])
    assert "test_pair_in_train" in names(audit_split(repeated, "global_time"))
    assert "test_pair_in_train" not in names(audit_split(replace(repeated, task="repeat"), "global_time"))


def test_a_refusal_names_all_that_is_not_allowed_and_how_to_allow_it() -> None:
    record = audit_split(split_of([*TRAIN, ("a", "w", 1, 9)], VALID, []), "global_time")
    with pytest.raises(InputError) as refused:
        refuse_leakage(record, ("train_after_valid",))
    assert refused.value.what == "the global_time split is refused: empty_test (there is no event to judge by)"
    assert refused.value.fix == (
        "mend the data or the protocol, or accept it by name with `allow_leakage=['empty_test']`"
    )


@pytest.mark.parametrize("rows", [blocks.ROWS, 3])
@pytest.mark.parametrize("ordered", [True, False])
def test_known_pairs_are_those_of_any_part_that_was_trained_on(
    rows: int, ordered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each pair of the part is looked up one by one; the first and the last pair of all are among them."""
    monkeypatch.setattr(blocks, "ROWS", rows)
    train = [("a", "x", 1, 1), ("a", "z", 1, 1), ("b", "y", 1, 1), ("c", "x", 1, 1), ("d", "z", 1, 1)]
    valid = [("a", "y", 1, 2), ("c", "z", 1, 2), ("d", "y", 1, 2)]
    test = [("a", "x", 1, 3), ("a", "y", 1, 3), ("b", "y", 1, 3), ("b", "z", 1, 3), ("c", "y", 1, 3), ("d", "y", 1, 3),
            ("d", "z", 1, 3)]  # fmt: skip
    if not ordered:
        train, valid, test = train[::-1], valid[::-1], test[::-1]
    first = [("a", "x", 1, 0), ("b", "y", 1, 0), ("c", "z", 1, 0), ("d", "z", 1, 0)]  # ids in the order of their text
    whole = interactions([*first, *train, *valid, *test])
    ends = np.cumsum([len(first), len(train), len(valid), len(test)])
    _, *parts = [whole.take(each) for each in np.split(np.arange(ends[-1]), ends[:-1])]
    split = Split(*parts, fingerprint="")
    told = findings(audit_split(split, "random"))
    assert told["test_pair_in_train"][0] == len({row[:2] for row in test} & {row[:2] for row in (*train, *valid)}) == 5
    assert "valid_pair_in_train" not in told
    alone = findings(audit_split(replace(split, final_fit="train"), "random"))
    assert alone["test_pair_in_train"][0] == 3
