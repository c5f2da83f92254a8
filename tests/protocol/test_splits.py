from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recassay.core.errors import InputError, UsageError
from recassay.core.interactions import RepeatRule
from recassay.core.specs.specs import ProtocolSpec
from recassay.core.types import Interactions
from recassay.protocol import splits
from recassay.protocol.apply import apply_protocol
from recassay.protocol.ordering import canonical
from recassay.protocol.splits import SPLITS, TEST, TRAIN, VALID, split_labels
from recassay.protocol.strata import popularity_strata
from support.protocol import drawn_interactions, few, interactions, pairs_of, rows_of, shuffled, synthetic

RULES = [name for name in SPLITS if name != "given"]
EIGHTY = (0.8, 0.1, 0.1)


def labels_by_row(data: Interactions, spec: ProtocolSpec) -> Counter[tuple[object, ...]]:
    data = canonical(data)  # as the protocol hands it over: repeats of a pair beside each other
    labels = split_labels(data, spec)
    return Counter((*row, label) for label in (TRAIN, VALID, TEST) for row in rows_of(data.take(labels == label)))


@pytest.mark.parametrize("rule", RULES)
@few
@given(data=drawn_interactions(repeats=True), seed=st.integers(0, 99))
def test_no_split_depends_on_the_order_of_rows_or_ids(rule: str, data: Interactions, seed: int) -> None:
    spec = ProtocolSpec(split=rule, ratios=(0.5, 0.25, 0.25), folds=2 if rule == "rolling" else 3, seed=seed % 3)
    assert labels_by_row(data, spec) == labels_by_row(shuffled(data, seed), spec)


@pytest.mark.parametrize("rule", RULES)
@few
@given(data=drawn_interactions())
def test_no_pair_is_in_two_parts(rule: str, data: Interactions) -> None:
    labels = split_labels(data, ProtocolSpec(split=rule, ratios=(0.5, 0.25, 0.25), folds=2, fold=1))
    parts = [pairs_of(data.take(labels == label)) for label in (TRAIN, VALID, TEST)]
    assert sum(map(len, parts)) == len(pairs_of(data)) == len(set.union(*parts))


@pytest.mark.parametrize("rule", ["random", "random_per_user", "kfold"])
@few
@given(data=drawn_interactions(repeats=True))
def test_random_splits_keep_repeats_of_a_pair_together(rule: str, data: Interactions) -> None:
    labels = split_labels(data, ProtocolSpec(split=rule, ratios=(0.5, 0.25, 0.25)))
    parts = [pairs_of(data.take(labels == label)) for label in (TRAIN, VALID, TEST)]
    assert sum(map(len, parts)) == len(pairs_of(data))


@pytest.mark.parametrize("rule", ["random", "random_per_user"])
def test_the_sizes_of_random_parts_are_counted_in_pairs(rule: str) -> None:
    """Four pairs of one user, one of them ten times: two train and two test."""
    rows = [("u", "a", 1, time) for time in range(10)] + [("u", item, 1, 1) for item in "bcd"]
    data = canonical(interactions(rows))
    for seed in range(6):
        labels = split_labels(data, ProtocolSpec(split=rule, ratios=(0.5, 0.0, 0.5), seed=seed))
        assert [len(pairs_of(data.take(labels == label))) for label in (TRAIN, TEST)] == [2, 2]


def timed(times: list[int]) -> Interactions:
    return interactions([(f"u{row}", f"i{row}", 1, time) for row, time in enumerate(times)])


@pytest.mark.parametrize(
    ("times", "ratios", "sizes"),
    [
        (list(range(10)), EIGHTY, (8, 1, 1)),
        # the boundary after 8 lies in the block 7..9 (positions 7 to 9): 7 is nearer than 10
        ([0, 1, 2, 3, 4, 5, 6, 7, 7, 7], EIGHTY, (7, 0, 3)),
        # the boundary after 5 lies in a block over 4..5: both ends equally near, so the block trains
        ([0, 1, 2, 3, 4, 4, 6, 7, 8, 9], (0.5, 0.3, 0.2), (6, 2, 2)),
        # the test part keeps the last block although the nearer end would empty it
        ([0, 1, 1, 1, 1, 1, 1, 1, 1, 1], EIGHTY, (1, 0, 9)),
        # the training part keeps the first block although the nearer end would empty it
        ([0, 0, 0, 0, 0, 0, 0, 0, 0, 1], (0.2, 0.3, 0.5), (9, 0, 1)),
        ([5, 5, 5, 5], EIGHTY, (4, 0, 0)),
        ([3, 1], EIGHTY, (1, 0, 1)),
        (list(range(10)), (0.9, 0.1, 0.0), (9, 1, 0)),
        (list(range(10)), (0.9, 0.0, 0.1), (9, 0, 1)),
        (list(range(10)), (1.0, 0.0, 0.0), (10, 0, 0)),
        ([2**62, -(2**62), 0, 2**63 - 1, -(2**63)], (0.6, 0.2, 0.2), (3, 1, 1)),
    ],
)
def test_global_time_by_hand(times: list[int], ratios: tuple[float, float, float], sizes: tuple[int, int, int]) -> None:
    labels = splits.global_time(timed(times), ratios)
    assert tuple(np.bincount(labels, minlength=3)) == sizes
    ordered = labels[np.argsort(times, kind="stable")]
    assert (np.diff(ordered) >= 0).all()


@few
@given(drawn_interactions(), st.floats(0.1, 0.8))
def test_global_time_never_parts_ties_and_stays_as_near_as_they_allow(data: Interactions, share: float) -> None:
    assert data.time is not None
    labels = splits.global_time(data, (share, (1 - share) / 2, (1 - share) / 2))
    for label in (TRAIN, VALID):
        earlier, later = data.time[labels <= label], data.time[labels > label]
        assert not len(earlier) or not len(later) or earlier.max() < later.min()
    counts = np.cumsum(np.unique(data.time, return_counts=True)[1])
    inner = counts[:-1]
    wanted = min(max(round(len(data) * share), 1), len(data) - 1)
    if len(inner):
        achieved = np.count_nonzero(labels == TRAIN)
        assert abs(achieved - wanted) == np.abs(inner - wanted).min()


def test_random_has_the_asked_sizes_and_another_seed_gives_another_split() -> None:
    data = synthetic(50, 60, 1000)
    labels = splits.random(data, EIGHTY, seed=1)
    n = len(data)
    assert np.bincount(labels).tolist() == [
        round(0.8 * n),
        round(0.9 * n) - round(0.8 * n),
        n - round(0.9 * n),
    ]
    assert not np.array_equal(labels, splits.random(data, EIGHTY, seed=2))


def test_random_does_not_favour_low_ids() -> None:
    data = synthetic(100, 100, 20_000)
    tested = splits.random(data, (0.5, 0.0, 0.5), seed=0) == TEST
    low = data.user < 50
    assert abs(tested[low].mean() - tested[~low].mean()) < 0.05


def test_folds_are_disjoint_cover_everything_and_are_even() -> None:
    data = synthetic(30, 40, 500)
    folds = [splits.kfold(data, fold=fold, folds=4, seed=5) for fold in range(4)]
    tested = np.stack([labels == TEST for labels in folds])
    assert (tested.sum(axis=0) == 1).all()
    sizes = tested.sum(axis=1)
    assert sizes.max() - sizes.min() <= 1
    for fold in range(4):
        assert np.array_equal(folds[fold] == VALID, tested[(fold + 1) % 4])


def test_two_folds_have_no_validation_part_and_a_wrong_fold_is_refused() -> None:
    data = synthetic(30, 40, 500)
    assert set(splits.kfold(data, fold=1, folds=2, seed=0)) == {TRAIN, TEST}
    with pytest.raises(UsageError, match=r"fold 4 is not one of the 4 folds 0\.\.3"):
        ProtocolSpec.checked(split="kfold", fold=4, folds=4)


def test_user_time_by_hand() -> None:
    # u: ten events, the ninth validates and the tenth tests; v: four, floor(3.2 + .5) = 3 train, the fourth
    # passes floor(3.6 + .5) = 4 and validates; w: one event, which trains
    rows = (
        [("u", f"i{t}", 1, t) for t in range(10)] + [("v", f"i{t}", 1, t + 50) for t in range(4)] + [("w", "i0", 1, 3)]
    )
    data = interactions(rows)
    labels = splits.user_time(data, EIGHTY)
    assert labels.tolist() == [0] * 8 + [1, 2] + [0, 0, 0, 1] + [0]


@pytest.mark.parametrize("split", [splits.user_time, partial(splits.random_per_user, seed=0)])
def test_a_small_training_share_still_trains_on_one_event_of_everybody(split) -> None:
    # u: floor(0.3 + .5) = 0 of one event, v: floor(0.6 + .5) = 1 of two, w: floor(0.9 + .5) = 1 of three
    counts = {"u": 1, "v": 2, "w": 3}
    data = interactions([(user, f"i{t}", 1, t) for user, n in counts.items() for t in range(n)])
    labels = split(data, (0.3, 0.3, 0.4))
    assert {user: sorted(labels[data.user == place]) for place, user in enumerate(data.users)} == {
        "u": [TRAIN],
        "v": [TRAIN, TEST],
        "w": [TRAIN, VALID, TEST],
    }
    least = split(data, (0.1, 0.1, 0.8))
    assert [np.count_nonzero(least[data.user == place] == TRAIN) for place in range(3)] == [1, 1, 1]


@few
@given(drawn_interactions(repeats=True))
def test_user_time_keeps_each_users_order_and_trains_everybody(data: Interactions) -> None:
    assert data.time is not None
    labels = splits.user_time(data, (0.6, 0.2, 0.2))
    for user in np.unique(data.user):
        own, time = labels[data.user == user], data.time[data.user == user]
        assert (own == TRAIN).any()
        for label in (TRAIN, VALID):
            earlier, later = time[own <= label], time[own > label]
            assert not len(later) or earlier.max() < later.min()


@few
@given(drawn_interactions())
def test_random_per_user_has_each_users_sizes(data: Interactions) -> None:
    labels = splits.random_per_user(data, (0.5, 0.25, 0.25), seed=0)
    for user in np.unique(data.user):
        n = int((data.user == user).sum())
        train, upto_valid = max(int(n * 0.5 + 0.5), 1), max(int(n * 0.75 + 0.5), 1)
        sizes = np.bincount(labels[data.user == user], minlength=3).tolist()
        assert sizes == [train, upto_valid - train, n - upto_valid]


def test_leave_last_out_by_hand() -> None:
    rows = [
        ("u", "a", 1, 5),
        ("u", "b", 1, 9),
        ("u", "c", 1, 1),
        ("v", "a", 1, 2),
        ("v", "b", 1, 1),
        ("w", "a", 1, 7),
    ]
    labels = splits.leave_last_out(interactions(rows))
    assert labels.tolist() == [VALID, TEST, TRAIN, TEST, TRAIN, TRAIN]


def test_leave_last_out_does_not_part_events_of_one_time() -> None:
    times = {"three times": [1, 4, 4, 4, 9, 9], "two times": [3, 3, 5, 5], "one time": [7, 7, 7]}
    rows = [(user, f"i{place}", 1, time) for user, own in times.items() for place, time in enumerate(own)]
    labels = splits.leave_last_out(interactions(rows))
    assert labels.tolist() == [TRAIN, VALID, VALID, VALID, TEST, TEST, TRAIN, TRAIN, TEST, TEST, TRAIN, TRAIN, TRAIN]


@pytest.mark.parametrize(
    ("times", "labels"),
    [
        # wanted after 4 of 5, inside the block of three: its end is nearer, but would leave nothing to hold out
        ([1, 2, 3, 3, 3], [0, 0, 1, 1, 1]),
        # wanted after 8 and 9 of 10: the block over 7..8 ends at 9 and lies as near on both sides, so it trains
        ([1, 2, 3, 4, 5, 6, 7, 8, 8, 9], [0, 0, 0, 0, 0, 0, 0, 0, 0, 2]),
        # the block over 5..8 begins three before the boundary and ends one after it
        ([1, 2, 3, 4, 5, 6, 6, 6, 6, 9], [0, 0, 0, 0, 0, 0, 0, 0, 0, 2]),
        # the first block trains although the nearer end of the boundary would leave nothing
        ([1, 1, 1, 1, 1, 1, 1, 1, 1, 2], [0, 0, 0, 0, 0, 0, 0, 0, 0, 2]),
        ([4, 4, 4, 4], [0, 0, 0, 0]),
    ],
)
def test_user_time_moves_its_boundaries_to_the_ends_of_blocks(times: list[int], labels: list[int]) -> None:
    rows = [("u", f"i{place}", 1, time) for place, time in enumerate(times)]
    assert splits.user_time(interactions(rows), EIGHTY).tolist() == labels


@pytest.mark.parametrize("rule", [name for name, kind in SPLITS.items() if kind.temporal])
def test_temporal_splits_refuse_data_without_time_and_name_the_alternatives(rule: str) -> None:
    data = interactions([("u", "a", 1), ("v", "b", 1)], time=False)
    with pytest.raises(InputError, match=rf"'{rule}' follows time.*'random', 'random_per_user' or 'kfold'"):
        split_labels(data, ProtocolSpec(split=rule))


def test_given_joins_parts_over_their_ids() -> None:
    train = interactions([("b", 1, 1, 1), ("a", 2, 2, 2)])
    valid = interactions([])
    test = interactions([("a", "1", 3, 3), ("c", "9", 4, 4)])
    whole, labels = splits.given(train, valid, test)
    assert rows_of(whole.take(labels == TRAIN)) == rows_of(train)
    assert rows_of(whole.take(labels == TEST)) == rows_of(test)
    assert whole.users.to_list() == ["a", "b", "c"]
    assert whole.items.to_list() == ["1", "2", "9"]


def test_given_refuses_parts_of_which_only_some_have_time() -> None:
    timeless = interactions([("a", "x", 1)], time=False)
    with pytest.raises(InputError, match="have a time and some have none; give it for all or for none"):
        splits.given(interactions([("b", "x", 1, 1)]), timeless, timeless)
    unrated = interactions([("a", "x", 1, 1)], weight=False)
    with pytest.raises(InputError, match="have a weight and some have none"):
        splits.given(unrated, interactions([("b", "x", 1, 1)]), unrated)
    empty = interactions([], weight=False, time=False)
    whole, _ = splits.given(interactions([("b", "x", 4, 7)]), empty, empty)  # a part without rows has no say
    assert rows_of(whole) == [("b", "x", 4.0, 7)]


def test_given_keeps_what_repeats_mean_and_the_order_of_the_parts() -> None:
    train = replace(interactions([("b", "x", 1, 9), ("a", "y", 2, 2)]), repeated=RepeatRule("sum"))
    test = interactions([("b", "x", 3, 1), ("a", "x", 4, 4)])
    whole, labels = splits.given(train, interactions([]), test)
    assert whole.repeated == RepeatRule("sum")
    assert whole.weight is not None
    assert (whole.weight.tolist(), labels.tolist()) == ([4, 2, 1, 3], [TEST, TRAIN, TRAIN, TEST])


def test_windows_of_a_rolling_split_move_on_and_end_with_the_global_split() -> None:
    data = interactions([(f"u{i % 7}", f"i{i}", 1, i) for i in range(100)])
    spec = {"windows": 5, "sliding": False}
    made = [splits.rolling(data, EIGHTY, window=w, **spec) for w in range(5)]
    assert made[-1].tolist() == splits.global_time(data, EIGHTY).tolist()
    for w, labels in enumerate(made):
        assert [int((labels == part).sum()) for part in (TRAIN, VALID, TEST)] == [40 + 10 * w, 10, 10]
    tested = np.stack([labels == TEST for labels in made])
    assert tested.sum(axis=0).max() == 1
    sliding = [splits.rolling(data, EIGHTY, window=w, windows=5, sliding=True) for w in range(5)]
    assert {int((labels == TRAIN).sum()) for labels in sliding} == {40}
    asked = ProtocolSpec(split="rolling", ratios=EIGHTY, folds=5, fold=2, window="sliding")
    assert split_labels(data, asked).tolist() == sliding[2].tolist() != made[2].tolist()
    assert [labels[data.time == 95].tolist() for labels in sliding] == [[splits.OUTSIDE]] * 4 + [[TEST]]
    fewer = splits.rolling(data.take(slice(0, 97)), EIGHTY, window=0, windows=2, sliding=False)
    assert np.bincount(fewer).tolist() == [68, 10, 9, 10], "boundaries at 67.9, 77.6 and 87.3"


def test_a_rolling_split_is_audited_and_leaves_the_future_out() -> None:
    data = interactions([(f"u{i % 5}", f"i{i % 20}", 1, i) for i in range(200)])
    spec = ProtocolSpec(split="rolling", folds=3, fold=0, filter="none", task="repeat")
    made = apply_protocol(data, spec)
    assert made.counts["outside_the_window"] == 40
    assert made.audit["last_train_time"] < made.audit["first_test_time"]
    assert "window" in spec.model_dump()
    assert "window" not in ProtocolSpec().model_dump()  # other protocols keep their identity
    with pytest.raises(ValueError, match="leave nothing to train"):
        ProtocolSpec(split="rolling", folds=9)


@pytest.mark.parametrize(
    ("ratios", "counts"),
    [
        ((0.5, 0.5, 0.0), (5, 5, 0)),
        ((0.7, 0.0, 0.3), (7, 0, 3)),
        ((0.05, 0.05, 0.9), (1, 0, 9)),
        ((1.0, 0.0, 0.0), (10, 0, 0)),
    ],
)
def test_shares_of_nothing_and_of_little_by_hand(
    ratios: tuple[float, float, float], counts: tuple[int, int, int]
) -> None:
    """Ten events of one user: what nobody asked for is empty, and at least one event trains."""
    data = interactions([("u", f"i{n}", 1, n) for n in range(10)])
    made = (splits.user_time(data, ratios), splits.random_per_user(data, ratios, seed=0))
    for labels in made:
        assert tuple(np.bincount(labels, minlength=3)) == counts
    assert made[0].tolist() == sorted(made[0].tolist())
    whole = splits.global_time(data, ratios)
    assert whole.tolist() == sorted(whole.tolist())
    assert int((whole == TRAIN).sum()) == counts[0]
    assert int((whole == TEST).sum()) == (counts[2] if ratios[1] != 0.05 else 9)


def test_the_same_seed_gives_the_same_parts_as_ever() -> None:
    """Splits of studies that were run: another part for any of these pairs would be another experiment."""
    data = interactions([(f"u{n % 3}", f"i{n}", 1, n) for n in range(12)])
    ratios = (0.6, 0.2, 0.2)
    assert splits.random(data, ratios, seed=0).tolist() == [0, 1, 2, 2, 0, 0, 0, 0, 1, 1, 0, 0]
    assert splits.random(data, ratios, seed=1).tolist() == [0, 0, 1, 1, 0, 0, 0, 1, 2, 0, 2, 0]
    assert splits.random_per_user(data, ratios, seed=0).tolist() == [2, 0, 1, 0, 2, 0, 0, 0, 2, 1, 1, 0]
    assert splits.kfold(data, fold=1, folds=4, seed=0).tolist() == [0, 1, 0, 1, 1, 2, 2, 0, 0, 2, 0, 0]
    spec = ProtocolSpec(split="random", ratios=ratios, seed=1)
    assert splits.split_labels(data, spec).tolist() == splits.random(data, ratios, seed=1).tolist()
    spec = ProtocolSpec(split="kfold", fold=1, folds=4)
    assert splits.split_labels(data, spec).tolist() == splits.kfold(data, fold=1, folds=4, seed=0).tolist()
    for below, drawn in ((2, [6, 7, 8, 9, 11]), (3, [0, 1, 4, 7, 9])):
        (stratum,) = popularity_strata(data, data, thresholds=[below], size=5, seed=0).strata
        assert stratum.sample.item.tolist() == drawn
