from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recassay.core.errors import InputError, UsageError
from recassay.core.specs.specs import ProtocolSpec
from recassay.core.types import Interactions, Split
from recassay.protocol.apply import apply_protocol
from recassay.protocol.audit import FINDINGS
from recassay.protocol.splits import SPLITS
from support.protocol import drawn_interactions, few, interactions, pairs_of, rows_of, shuffled, synthetic

RULES = [name for name in SPLITS if name != "given"]


def parts_of(split: Split) -> list[list[tuple[object, ...]]]:
    return [rows_of(part) for part in (split.train, split.valid, split.test)]


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("final_fit", ["train+valid", "train"])
@few
@given(data=drawn_interactions(repeats=True, least=4), seed=st.integers(0, 99))
def test_what_every_split_holds(rule: str, final_fit: str, data: Interactions, seed: int) -> None:
    last = {"folds": 2, "fold": 1} if rule == "rolling" else {}
    spec = ProtocolSpec(
        filter="none", split=rule, ratios=(0.6, 0.2, 0.2), final_fit=final_fit, allow_leakage=FINDINGS, **last
    )
    split = apply_protocol(data, spec)
    other = apply_protocol(shuffled(data, seed), spec)
    assert split.fingerprint == other.fingerprint
    assert parts_of(split) == parts_of(other)
    for part, twin in ((split.train, other.train), (split.valid, other.valid), (split.test, other.test)):
        assert np.array_equal(part.user, twin.user)
        assert np.array_equal(part.item, twin.item)
        assert part.users is split.train.users
    known = pairs_of(split.train)
    assert {user for user, _ in pairs_of(split.valid)} <= {user for user, _ in known}
    assert {item for _, item in pairs_of(split.valid)} <= {item for _, item in known}
    fit = split.refit()
    assert {user for user, _ in pairs_of(split.test)} <= {user for user, _ in pairs_of(fit)}
    assert {item for _, item in pairs_of(split.test)} <= {item for _, item in pairs_of(fit)}
    assert sorted(set(fit.user)) == list(range(fit.n_users))
    assert sorted(set(fit.item)) == list(range(fit.n_items))
    counts = split.counts
    ends = ("interactions", "merged", "seen", "cold_interactions")
    kinds = ["train_interactions", "train_merged", *(f"{part}_{end}" for part in ("valid", "test") for end in ends)]
    assert sum(counts[kind] for kind in kinds) == counts["filtered_interactions"] == len(data)
    assert not {f"cold_{side}_in_{part}" for side in ("user", "item") for part in ("test", "valid")} & {
        finding["name"] for finding in split.audit["findings"]
    }


COLD = interactions(
    [
        ("a", "x", 1, 1), ("a", "y", 1, 2), ("b", "x", 1, 3),
        ("b", "y", 1, 4), ("a", "z", 1, 5), ("b", "z", 1, 6),
        ("new", "x", 1, 7), ("a", "fresh", 1, 8),
        ("new", "y", 1, 9), ("b", "fresh", 1, 10), ("late", "x", 1, 11), ("a", "last", 1, 12),
    ]
)  # fmt: skip
PLAIN = ProtocolSpec(filter="none", ratios=(0.5, 1 / 6, 1 / 3))


def test_final_training_on_train_and_validation_by_hand() -> None:
    split = apply_protocol(COLD, PLAIN)
    assert len(split.valid) == 0
    assert split.unjudged_valid is not None
    assert pairs_of(split.unjudged_valid) == {("new", "x"), ("a", "fresh")}
    assert pairs_of(split.test) == {("new", "y"), ("b", "fresh")}
    assert pairs_of(split.refit()) == pairs_of(split.train) | {("new", "x"), ("a", "fresh")}
    assert split.train.users.to_list() == ["a", "b", "new"]
    assert split.train.items.to_list() == ["fresh", "x", "y", "z"]
    assert {name: count for name, count in split.counts.items() if "cold" in name} == {
        "valid_cold_interactions": 2,
        "valid_cold_users": 1,
        "valid_cold_items": 1,
        "test_cold_interactions": 2,
        "test_cold_users": 1,
        "test_cold_items": 1,
    }


def test_final_training_on_train_alone_by_hand() -> None:
    with pytest.raises(InputError, match="empty_test"):
        apply_protocol(COLD, PLAIN.model_copy(update={"final_fit": "train"}))
    spec = PLAIN.model_copy(update={"final_fit": "train", "allow_leakage": ("empty_test",)})
    split = apply_protocol(COLD, spec)
    assert split.refit() is split.train
    assert split.unjudged_valid is None
    assert split.train.users.to_list() == ["a", "b"]
    assert split.counts["test_cold_users"] == 2


def test_the_steps_are_counted() -> None:
    data = synthetic(60, 50, 1500)
    split = apply_protocol(data, ProtocolSpec(positive_threshold=3))
    assert data.weight is not None
    assert split.counts["input_interactions"] == len(data)
    assert split.counts["below_threshold"] == int((data.weight < 3).sum())
    assert split.train.weight is None
    assert apply_protocol(data, ProtocolSpec()).train.weight is not None


def test_a_share_of_the_users_is_drawn_whatever_the_order_of_the_rows() -> None:
    data = synthetic(400, 50, 8000)
    rule = {"split": "random", "filter": "none", "allow_leakage": FINDINGS}

    def users(share: float, given: Interactions = data, seed: int = 0) -> set[object]:
        split = apply_protocol(given, ProtocolSpec(user_share=share, seed=seed, **rule))
        return {user for user, *_ in rows_of(split.train)}

    half, fifth = users(0.5), users(0.2)
    assert 160 < len(half) < 240
    assert fifth < half
    assert users(0.5, shuffled(data, 3)) == half
    assert users(0.5, seed=1) != half
    assert ProtocolSpec(user_share=1.0).content_hash() == ProtocolSpec().content_hash()
    assert ProtocolSpec(user_share=0.5).content_hash() != ProtocolSpec().content_hash()


def test_only_positive_events_of_drawn_users_count_for_the_minimum() -> None:
    """x has three events, of which two are positive; y keeps its two."""
    rows = [("a", "x", 5, 1), ("b", "x", 5, 2), ("c", "x", 1, 3), ("a", "y", 5, 4), ("b", "y", 5, 5), ("c", "z", 1, 6)]
    spec = {"positive_threshold": 3, "min_user_interactions": 1, "split": "random", "allow_leakage": FINDINGS}
    kept = [
        apply_protocol(interactions(rows), ProtocolSpec(min_item_interactions=least, **spec)).counts for least in (1, 2)
    ]
    assert [(count["filtered_interactions"], count["filtered_items"]) for count in kept] == [(4, 2), (4, 2)]
    with pytest.raises(InputError, match="none of 6 interactions is left: 2 are below positive_threshold, 4 belong to"):
        apply_protocol(interactions(rows), ProtocolSpec(min_item_interactions=3, **spec))


def test_the_input_is_not_changed() -> None:
    data = synthetic(60, 50, 1500)
    before = [data.user.copy(), data.item.copy(), data.users.to_list()]
    apply_protocol(data, ProtocolSpec(positive_threshold=2, split="user_time"))
    assert np.array_equal(before[0], data.user)
    assert np.array_equal(before[1], data.item)
    assert data.users.to_list() == before[2]


def test_the_fingerprint_tells_data_and_protocols_apart() -> None:
    data = synthetic(60, 50, 1500)
    assert data.weight is not None
    assert data.time is not None
    spec = ProtocolSpec(positive_threshold=2)
    weight, time = data.weight.copy(), data.time.copy()
    weight[0] = 5 if weight[0] < 5 else 4
    time[0] += 1
    other_ids = replace(data, users=data.users + 1)
    prints = [
        apply_protocol(one, one_spec).fingerprint
        for one, one_spec in (
            (data, spec),
            (replace(data, weight=weight), spec),
            (replace(data, time=time), spec),
            (data.take(np.arange(len(data) - 1)), spec),
            (other_ids, spec),
            (data, ProtocolSpec(positive_threshold=2, seed=1)),
            (data, ProtocolSpec(positive_threshold=2, final_fit="train")),
            (data, ProtocolSpec(positive_threshold=2, filter="core")),
        )
    ]
    assert len(set(prints)) == len(prints)
    assert all(len(one) == 64 for one in prints)


def test_the_fingerprint_survives_other_file_formats(tmp_path: Path) -> None:
    data = synthetic(60, 50, 1500)
    frame = pl.DataFrame(
        {
            "user": data.users.gather(data.user),
            "item": data.items.gather(data.item),
            "rating": data.weight,
            "time": data.time,
        }
    )
    frame.write_parquet(tmp_path / "data.parquet")
    frame.reverse().cast({"user": pl.String}).write_csv(tmp_path / "data.csv")
    text = pl.read_csv(tmp_path / "data.csv", schema_overrides={"user": pl.String})
    prints = {
        apply_protocol(interactions(read.iter_rows()), ProtocolSpec()).fingerprint
        for read in (frame, pl.read_parquet(tmp_path / "data.parquet"), text)
    }
    assert len(prints) == 1
    assert prints == {apply_protocol(data, ProtocolSpec()).fingerprint}


def test_ids_cannot_run_together_in_the_fingerprint() -> None:
    one = interactions([("ab", "x", 1, 1), ("c", "x", 1, 2)])
    other = interactions([("a", "x", 1, 1), ("bc", "x", 1, 2)])
    spec = ProtocolSpec(filter="none", allow_leakage=("empty_test",))
    assert apply_protocol(one, spec).fingerprint != apply_protocol(other, spec).fingerprint


def test_a_given_split_is_taken_as_it_is_and_cold_ids_leave() -> None:
    train = interactions([("a", "x", 1, 1), ("b", "y", 1, 2), ("b", "x", 1, 2)])
    valid = interactions([("a", "y", 1, 3), ("a", "w", 1, 4)])
    test = interactions([("new", "x", 1, 5), ("b", "z", 1, 6), ("b", "w", 1, 6)])
    spec = ProtocolSpec(split="given", filter="none")
    split = apply_protocol(None, spec, given=(train, valid, test))
    assert rows_of(split.train) == rows_of(train)
    assert pairs_of(split.valid) == {("a", "y")}
    assert pairs_of(split.test) == {("b", "w")}
    assert split.counts["test_cold_users"] == split.counts["test_cold_items"] == 1
    again = apply_protocol(None, spec, given=(shuffled(train, 1), shuffled(valid, 2), shuffled(test, 3)))
    assert again.fingerprint == split.fingerprint
    moved = (interactions([*rows_of(train), ("a", "y", 1, 3)]), valid.take(np.array([1])), test)
    assert apply_protocol(None, spec, given=moved).fingerprint != split.fingerprint


def test_the_part_of_an_event_that_the_filter_takes_is_part_of_a_given_splits_identity() -> None:
    train = interactions([("a", "x", 1, 1), ("b", "x", 1, 1), ("a", "y", 1, 2), ("b", "y", 1, 2)])
    rare, nothing = interactions([("a", "rare", 1, 3)]), interactions([])
    test = [("c", "x", 1, 5), ("c", "y", 1, 6)]
    allowed = {"split": "given", "min_item_interactions": 2, "min_user_interactions": 2, "allow_leakage": FINDINGS}
    spec = ProtocolSpec(**allowed)
    whole, moved = interactions(test), interactions([*test, *rows_of(rare)])
    prints = [
        apply_protocol(None, spec, given=given).fingerprint
        for given in ((train, rare, whole), (train, nothing, moved), (train, rare, whole))
    ]
    assert prints[0] == prints[2] != prints[1]


def test_a_filter_counts_a_given_split_over_all_parts() -> None:
    train = interactions([("a", "x", 1, 1), ("b", "x", 1, 1), ("b", "y", 1, 2), ("c", "x", 1, 2)])
    valid = interactions([("a", "y", 1, 3)])
    test = interactions([("c", "y", 1, 4), ("a", "once", 1, 5)])
    spec = ProtocolSpec(split="given", min_item_interactions=2, min_user_interactions=2)
    split = apply_protocol(None, spec, given=(train, valid, test))
    assert split.counts["filtered_interactions"] == 6
    assert pairs_of(split.test) == {("c", "y")}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: apply_protocol(None, ProtocolSpec()), "divides interactions"),
        (lambda: apply_protocol(COLD, ProtocolSpec(split="given")), "made of three parts"),
        (
            lambda: apply_protocol(COLD, ProtocolSpec(split="given"), given=(COLD, COLD, COLD)),
            "made of three parts",
        ),
        (lambda: apply_protocol(COLD, ProtocolSpec(), given=(COLD, COLD, COLD)), "no given parts"),
    ],
)
def test_wrong_calls_say_what_to_pass(call: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call()  # type: ignore[operator]


def test_nothing_left_says_which_step_took_it() -> None:
    with pytest.raises(InputError, match="no interactions to split"):
        apply_protocol(interactions([]), ProtocolSpec())
    with pytest.raises(InputError, match=r"none of 12 interactions is left: 0 are below .* 12 belong to items"):
        apply_protocol(COLD, ProtocolSpec())
    with pytest.raises(InputError, match=r"none of 12 interactions is left: 12 are below"):
        apply_protocol(COLD, ProtocolSpec(positive_threshold=2))
    rated = interactions([("a", "x", 1, 1), ("a", "y", 5, 2), ("b", "x", 5, 3)])
    with pytest.raises(InputError) as refused:
        apply_protocol(rated, ProtocolSpec(positive_threshold=2, user_share=0.5))
    assert refused.value.what == (
        "none of 3 interactions is left: 1 are below positive_threshold, 2 belong to items or users with too few, or "
        "to users that were not drawn"
    )
    with pytest.raises(InputError, match="2 belong to items or users with too few; lower the threshold"):
        apply_protocol(rated, ProtocolSpec(positive_threshold=2))


def test_one_moment_for_all_events_is_refused_by_name() -> None:
    data = replace(COLD, time=np.full(len(COLD), 7, dtype=np.int64))
    with pytest.raises(InputError, match="empty_test"):
        apply_protocol(data, PLAIN)


def test_every_count_of_a_split_by_hand() -> None:
    """Ten events in time order, 6 train, 2 validate, 2 test; a sees x again in each part, new ids are cold."""
    rows = [("a", "x", 1, 1), ("a", "x", 1, 2), ("a", "y", 1, 3), ("b", "x", 1, 4), ("b", "z", 1, 5), ("c", "y", 1, 6),
            ("a", "x", 1, 7), ("b", "y", 1, 8), ("b", "y", 1, 9), ("a", "new", 1, 10)]  # fmt: skip
    split = apply_protocol(
        interactions(rows), ProtocolSpec(filter="none", ratios=(0.6, 0.2, 0.2), allow_leakage=FINDINGS)
    )
    assert split.counts == {
        "input_interactions": 10, "input_users": 3, "input_items": 4, "below_threshold": 0,
        "filtered_interactions": 10, "filtered_users": 3, "filtered_items": 4,
        "train_interactions": 5, "train_users": 3, "train_items": 3,
        "valid_cold_interactions": 0, "valid_cold_users": 0, "valid_cold_items": 0,
        "valid_interactions": 1, "valid_users": 1, "valid_items": 1,
        "test_cold_interactions": 1, "test_cold_users": 0, "test_cold_items": 1,
        "test_interactions": 0, "test_users": 0, "test_items": 0,
        "train_merged": 1, "valid_seen": 1, "valid_merged": 0, "test_seen": 1, "test_merged": 0,
    }  # fmt: skip
    assert split.audit["repeats"] == {
        "train_events": 8, "train_repeats": 2, "valid_events": 2, "valid_repeats": 1, "test_events": 1,
        "test_repeats": 1, "share_of_train": 0.25, "share_of_valid": 0.5, "share_of_test": 1.0,
    }  # fmt: skip
    again = apply_protocol(interactions(rows), ProtocolSpec(
        filter="none", ratios=(0.6, 0.2, 0.2), task="repeat", final_fit="train", allow_leakage=FINDINGS))  # fmt: skip
    told = {name: again.counts[name] for name in ("valid_interactions", "test_interactions", "valid_seen", "test_seen")}
    assert told == {"valid_interactions": 2, "test_interactions": 1, "valid_seen": 0, "test_seen": 0}
    assert again.audit["repeats"]["train_events"] == 6
    assert again.audit["repeats"]["test_repeats"] == 0
    window = apply_protocol(interactions(rows), ProtocolSpec(
        split="rolling", fold=0, folds=2, filter="none", ratios=(0.6, 0.2, 0.2), allow_leakage=FINDINGS))  # fmt: skip
    assert window.counts["outside_the_window"] == 2


@pytest.mark.parametrize("threshold", [None, 2.0])
def test_the_fingerprint_is_the_digest_of_events_protocol_and_parts(threshold: float | None) -> None:
    """Worked out again: the ids with their lengths, the columns in canonical order, which rows stay, and their part."""
    rows = [
        ("b", "y", 3, 4),
        ("a", "x", 1, 1),
        ("a", "y", 2, 2),
        ("b", "x", 4, 3),
        ("a", "zz", 5, 5),
        ("b", "zz", 5, 6),
    ]
    spec = ProtocolSpec(filter="none", ratios=(0.5, 0.0, 0.5), positive_threshold=threshold, allow_leakage=FINDINGS)
    split = apply_protocol(interactions(rows), spec)
    ordered = sorted(rows)
    digest = hashlib.sha256(f"recassay split 2\n{spec.content_hash()}\n{interactions(rows).repeated}\n".encode())
    for ids in (["a", "b"], ["x", "y", "zz"]):
        digest.update(f"{len(ids)}\n".encode())
        digest.update(np.array([len(name) for name in ids], dtype="<u4").tobytes())
        digest.update("".join(ids).encode())
    columns = ("user", "<i4", [{"a": 0, "b": 1}[row[0]] for row in ordered]), (
        "item", "<i4", [{"x": 0, "y": 1, "zz": 2}[row[1]] for row in ordered]), (
        "weight", "<f4", [row[2] for row in ordered]), ("time", "<i8", [row[3] for row in ordered])  # fmt: skip
    for name, dtype, values in columns:
        digest.update(f"{name} 6\n".encode())
        digest.update(np.array(values, dtype=dtype).tobytes())
    kept = np.array([threshold is None or row[2] >= threshold for row in ordered])
    times = sorted(row[3] for row, stays in zip(ordered, kept, strict=True) if stays)
    trained = times[: round(len(times) / 2)]
    digest.update(np.packbits(kept).tobytes())
    digest.update(np.array([0 if row[3] in trained else 2 for row, stays in zip(ordered, kept, strict=True) if stays],
                           dtype=np.int8).tobytes())  # fmt: skip
    assert split.fingerprint == digest.hexdigest()


@pytest.mark.parametrize("rule", ["leave_last_out", "user_time"])
def test_why_no_last_event_can_be_held_out(rule: str) -> None:
    spec = ProtocolSpec(filter="none", split=rule)
    single = interactions([("a", "x", 1, 1), ("b", "y", 1, 2), ("c", "x", 1, 3)])
    with pytest.raises(
        InputError, match=r"hold out \(\w+\): each of the 3 users has one event; name the column.*as user"
    ):
        apply_protocol(single, spec)
    tied = interactions([("a", "x", 1, 1), ("a", "y", 1, 1), ("b", "y", 1, 2)])
    with pytest.raises(InputError, match=r"one time \(1 of 2 users have several.*choose `split='global_time'`"):
        apply_protocol(tied, spec)
    cut = replace(single, time=single.time + 1_600_000_000)
    with pytest.raises(InputError, match="each of the 3 sessions of 30min has one event; choose a longer gap"):
        apply_protocol(cut, ProtocolSpec(filter="none", split=rule, sessions="30min"))
    accepted = apply_protocol(single, spec.model_copy(update={"allow_leakage": ("empty_test",)}))
    assert len(accepted.test) == 0
