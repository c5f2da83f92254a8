from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

from recassay.core.errors import InputError, UsageError
from recassay.core.types import FloatArray, IdArray, Interactions
from recassay.protocol.attacks import AttackSpec, _distinct_items, _neighbours, _on_scale, attack, choose_targets
from support.made import rng
from support.protocol import interactions, synthetic

EXPLICIT = synthetic(200, 80, 6000)
IMPLICIT = replace(EXPLICIT, weight=None)
KINDS, FILLERS = ("nuke", "push"), ("random", "average", "bandwagon")
TARGETS = np.array([3, 17], dtype=np.int32)


def profiles(attacked: Interactions, train: Interactions) -> list[list[int]]:
    """The items of each fake user."""
    items, users = attacked.item[len(train) :], attacked.user[len(train) :]
    return [items[users == user].tolist() for user in np.unique(users)]


def cosine(data: Interactions, item: int) -> FloatArray:
    matrix = data.csr()
    together = (matrix.T @ matrix[:, [item]]).toarray().ravel().astype(np.float64)
    count = matrix.sum(axis=0)
    return together / np.sqrt(np.maximum(count, 1) * max(count[item], 1))


@pytest.mark.parametrize(
    "train", [EXPLICIT, IMPLICIT, replace(IMPLICIT, time=None)], ids=["rated", "implicit", "timeless"]
)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("filler", FILLERS)
def test_real_rows_stay_and_fake_users_are_appended(train: Interactions, kind: str, filler: str) -> None:
    spec = AttackSpec(kind=kind, filler=filler, size=0.1, profile_length=12)
    attacked = attack(train, spec, rng=rng(), targets=TARGETS)
    real = len(train)
    for name in ("user", "item", "weight", "time"):
        before, after = getattr(train, name), getattr(attacked, name)
        assert (before is None and after is None) or np.array_equal(after[:real], before)
    assert attacked.items is train.items
    assert attacked.users[: train.n_users].to_list() == [str(user) for user in train.users.to_list()]
    assert attacked.n_users == train.n_users + 20
    assert attacked.users[train.n_users :].to_list() == [f"fake-user-{number}" for number in range(1, 21)]
    assert attacked.user[real:].min() == train.n_users
    held = profiles(attacked, train)
    length = 12 if train.weight is None and kind == "nuke" else 14
    assert [len(one) for one in held] == [length] * 20
    assert all(len(set(one)) == len(one) for one in held)
    if train.time is not None and attacked.time is not None:
        assert attacked.time.max() == train.time.max()
    again = attack(train, spec, rng=rng(), targets=TARGETS)
    assert np.array_equal(again.item, attacked.item)
    assert not np.array_equal(attack(train, spec, rng=rng(1), targets=TARGETS).item, attacked.item)


@pytest.mark.parametrize("filler", FILLERS)
@pytest.mark.parametrize(("kind", "rating"), [("nuke", 1.0), ("push", 5.0)])
def test_every_fake_user_rates_the_targets_at_the_end_of_the_scale(kind: str, rating: float, filler: str) -> None:
    attacked = attack(EXPLICIT, AttackSpec(kind=kind, filler=filler), rng=rng(), targets=TARGETS)
    assert attacked.weight is not None
    fake = np.arange(len(attacked)) >= len(EXPLICIT)
    for target in TARGETS:
        ratings = attacked.weight[fake & (attacked.item == target)]
        assert ratings.tolist() == [rating] * 10
    assert set(attacked.weight[fake]) <= {1.0, 2.0, 3.0, 4.0, 5.0}


def rated_by_item() -> Interactions:
    """Forty users rate 20 items: even items 5, odd items 1 or 2."""
    rows = [(f"u{u}", i, 5 if i % 2 == 0 else 1 + u % 2, u) for u in range(40) for i in range(20)]
    return interactions(rows)


def test_average_filler_follows_each_items_ratings_and_random_filler_does_not() -> None:
    train = rated_by_item()
    means = {}
    for filler in ("average", "random"):
        spec = AttackSpec(kind="push", filler=filler, size=1.0, profile_length=15)
        attacked = attack(train, spec, rng=rng(), targets=np.array([0], dtype=np.int32))
        assert attacked.weight is not None
        item, weight = attacked.item[len(train) :], attacked.weight[len(train) :]
        means[filler] = weight[(item % 2 == 0) & (item != 0)].mean(), weight[item % 2 == 1].mean()
    assert means["average"][0] == 5.0
    assert means["average"][1] == pytest.approx(1.5, abs=0.2)
    assert means["random"][0] == pytest.approx(means["random"][1], abs=0.3)


def popular_and_disliked() -> Interactions:
    """Items 0 to 9 with falling counts; 2 is disliked, the rest liked."""
    rows = [(f"u{u}", i, 1 if i == 2 else 4, u) for i in range(10) for u in range(40 - 4 * i)]
    return interactions([*rows, ("u0", 99, 5, 1)])


def test_bandwagon_selects_popular_items_to_push_and_disliked_ones_to_nuke() -> None:
    train = popular_and_disliked()
    spec = {"filler": "bandwagon", "selected": 1, "profile_length": 3}
    target = np.array([1], dtype=np.int32)
    pushed = attack(train, AttackSpec(kind="push", **spec), rng=rng(), targets=target)
    assert all(0 in profile for profile in profiles(pushed, train))
    nuked = attack(train, AttackSpec(kind="nuke", **spec), rng=rng(), targets=target)
    assert all(2 in profile for profile in profiles(nuked, train))
    assert nuked.weight is not None
    assert set(nuked.weight[len(train) :][nuked.item[len(train) :] == 2]) == {1.0}


@pytest.mark.parametrize("filler", FILLERS)
def test_implicit_push_raises_the_targets_count_and_similarity(filler: str) -> None:
    attacked = attack(IMPLICIT, AttackSpec(kind="push", filler=filler, size=0.2), rng=rng(), targets=TARGETS)
    before, after = IMPLICIT.csr().sum(axis=0), attacked.csr().sum(axis=0)
    assert (after[TARGETS] == before[TARGETS] + 40).all()
    assert cosine(attacked, 3)[17] > cosine(IMPLICIT, 3)[17]


@pytest.mark.parametrize("filler", FILLERS)
def test_implicit_nuke_never_holds_a_target_and_parts_it_from_its_neighbours(filler: str) -> None:
    target = 3
    attacked = attack(IMPLICIT, AttackSpec(kind="nuke", filler=filler, size=0.3), rng=rng(), targets=TARGETS[:1])
    before, after = cosine(IMPLICIT, target), cosine(attacked, target)
    assert attacked.csr().sum(axis=0)[target] == IMPLICIT.csr().sum(axis=0)[target]
    assert not any(target in profile for profile in profiles(attacked, IMPLICIT))
    near = np.argsort(-before)[1:11]
    assert (after[near] < before[near]).all()


def test_implicit_average_filler_follows_popularity_and_random_filler_does_not() -> None:
    count = np.bincount(IMPLICIT.item, minlength=IMPLICIT.n_items)
    top = np.argsort(-count)[:16]
    share = {}
    for filler in ("average", "random"):
        spec = AttackSpec(kind="push", filler=filler, size=1.0, profile_length=8)
        attacked = attack(IMPLICIT, spec, rng=rng(), targets=np.array([79], dtype=np.int32))
        items = attacked.item[len(IMPLICIT) :]
        share[filler] = np.isin(items[items != 79], top).mean()
    assert share["random"] == pytest.approx(16 / 79, abs=0.03)
    assert share["average"] > share["random"] + 0.05


@pytest.mark.parametrize("kind", KINDS)
def test_targets_are_popular_to_nuke_and_unpopular_to_push(kind: str) -> None:
    count = np.bincount(EXPLICIT.item, minlength=EXPLICIT.n_items)
    targets: IdArray = choose_targets(EXPLICIT, kind, 8, rng=rng())  # type: ignore[arg-type]
    assert len(np.unique(targets)) == 8
    if kind == "nuke":
        assert count[targets].min() >= np.quantile(count, 0.75)
    else:
        assert count[targets].max() <= np.quantile(count, 0.55)


def test_profiles_longer_than_the_catalogue_hold_all_of_it_once() -> None:
    attacked = attack(EXPLICIT, AttackSpec(profile_length=1000), rng=rng(), targets=TARGETS)
    trained = len(np.unique(EXPLICIT.item))
    assert {len(set(profile)) for profile in profiles(attacked, EXPLICIT)} == {trained}


def test_an_attack_on_attacked_data_has_new_names() -> None:
    once = attack(EXPLICIT, AttackSpec(), rng=rng(), targets=TARGETS)
    twice = attack(once, AttackSpec(), rng=rng(), targets=TARGETS)
    thrice = attack(twice, AttackSpec(), rng=rng(), targets=TARGETS)
    assert thrice.users.n_unique() == thrice.n_users > twice.n_users
    assert twice.users.n_unique() == twice.n_users
    assert twice.users.dtype == pl.String


def test_wrong_attacks_are_refused() -> None:
    with pytest.raises(UsageError, match="targets must be positions of the 80 items"):
        attack(EXPLICIT, AttackSpec(), rng=rng(), targets=np.array([80], dtype=np.int32))
    with pytest.raises(UsageError, match="500 target items cannot be drawn"):
        attack(EXPLICIT, AttackSpec(targets=500), rng=rng())
    with pytest.raises(InputError, match="no training event"):
        attack(EXPLICIT.take(np.array([], dtype=np.int64)), AttackSpec(), rng=rng())
    with pytest.raises(ValidationError):
        AttackSpec(size=0)


def test_targets_are_drawn_from_the_group_that_the_kind_names() -> None:
    """Ten items with 1, 2, ... 10 events: to nuke the two most popular, to push the five least."""
    train = interactions([(f"u{u}", f"i{i}", 1, u) for i in range(10) for u in range(i + 1)])
    drawn = [choose_targets(train, "nuke", 1, rng=rng(seed))[0] for seed in range(60)]
    assert set(drawn) == {8, 9}
    assert {choose_targets(train, "push", 1, rng=rng(seed))[0] for seed in range(60)} == {0, 1, 2, 3, 4}
    assert choose_targets(train, "nuke", 3, rng=rng()).tolist() == [7, 8, 9], "a group grows to what is asked for"
    assert choose_targets(train, "push", 9, rng=rng()).tolist() == list(range(9))
    eight = train.take(train.item < 8)  # a fifth of eight is nearer to two than to one
    assert {choose_targets(eight, "nuke", 1, rng=rng(seed))[0] for seed in range(60)} == {6, 7}
    with pytest.raises(UsageError, match="10 target items cannot be drawn from 10 trained items"):
        choose_targets(train, "push", 10, rng=rng())


def test_how_many_fake_users_there_are_and_how_long_their_profiles() -> None:
    """Twelve of 15 users have events, 48 in all: profiles of four, and a quarter of twelve fakes."""
    train = interactions([(f"u{u}", f"i{i}", 1 + (u + i) % 5, u) for u in range(12) for i in range(u % 4, u % 4 + 4)])
    train = replace(train, users=pl.Series([*train.users.to_list(), "x", "y", "z"]))
    attacked = attack(train, AttackSpec(kind="push", size=0.25), rng=rng(), targets=TARGETS[:1])
    assert attacked.n_users == 15 + 3
    assert [len(profile) for profile in profiles(attacked, train)] == [5, 5, 5]
    fewer = train.take(slice(0, 46))  # 46 / 12 is nearer to four, and 0.3 * 12 to four as well
    attacked = attack(fewer, AttackSpec(kind="push", size=0.3), rng=rng(), targets=TARGETS[:1])
    assert [len(profile) for profile in profiles(attacked, fewer)] == [5, 5, 5, 5]
    tiny = attack(train, AttackSpec(kind="push", size=0.01, profile_length=2), rng=rng(), targets=TARGETS[:1])
    assert tiny.n_users == 16
    assert tiny.time is not None
    assert train.time is not None
    assert set(tiny.time[len(train) :]) <= set(train.time)
    twice = attack(train, AttackSpec(kind="push"), rng=rng(), targets=np.array([3, 3], dtype=np.int32))
    assert [profile.count(3) for profile in profiles(twice, train)] == [1]
    for wrong in ([], [-1, 2]):
        with pytest.raises(UsageError, match="targets must be positions"):
            attack(train, AttackSpec(), rng=rng(), targets=np.array(wrong, dtype=np.int32))


def test_ratings_of_random_filler_follow_all_ratings_and_stay_on_the_scale() -> None:
    """Ratings 1 and 5 in equal number: normal draws of mean 3 and deviation 2, to the nearer end."""
    train = interactions([(f"u{u}", f"i{i}", 1 if (u + i) % 2 else 5, u) for u in range(40) for i in range(20)])
    spec = AttackSpec(kind="nuke", filler="random", size=1.0, profile_length=15)
    attacked = attack(train, spec, rng=rng(), targets=np.array([0], dtype=np.int32))
    assert attacked.weight is not None
    fake = attacked.weight[len(train) :][attacked.item[len(train) :] != 0]
    assert set(fake) == {1.0, 5.0}
    assert fake.mean() == pytest.approx(3.0, abs=0.35)


def test_half_of_a_nuking_profile_are_the_nearest_items_and_the_rest_are_others() -> None:
    """Items 1 and 2 always stand with the target 0; 3 to 9 never do."""
    rows = [(f"u{u}", i, 1, u) for u in range(10) for i in (0, 1, 2)]
    rows += [(f"v{u}", i, 1, u) for u in range(10) for i in range(3, 10)]
    train = interactions(rows, weight=False)
    spec = AttackSpec(kind="nuke", size=0.5, profile_length=4)
    held = profiles(attack(train, spec, rng=rng(), targets=np.array([0], dtype=np.int32)), train)
    assert len(held) == 10
    for profile in held:
        assert len(profile) == 4
        assert sorted(profile)[:2] == [1, 2]
        assert set(profile[2:]) <= set(range(3, 10))
    wagon = AttackSpec(kind="nuke", filler="bandwagon", selected=1, size=0.5, profile_length=4)
    chosen = profiles(attack(train, wagon, rng=rng(), targets=np.array([0], dtype=np.int32)), train)
    assert all(profile[2] == 3 for profile in chosen), "the most popular that is not a neighbour"


def test_neighbours_of_a_target_are_at_most_half_of_the_others() -> None:
    """All items stand together: two of four are the nearest, and two rivals remain; nobody has met 5 to 9."""
    train = interactions([(f"u{u}", i, 1, u) for u in range(8) for i in range(5) if u or i < 3], weight=False)
    spec = AttackSpec(kind="nuke", size=0.5, profile_length=4)
    for data in (train, replace(train, items=pl.Series(range(10)))):
        held = profiles(attack(data, spec, rng=rng(), targets=np.array([0], dtype=np.int32)), data)
        assert all(sorted(profile[:2]) == [1, 2] and sorted(profile[2:]) == [3, 4] for profile in held)


def test_items_that_are_drawn_again_and_again_still_leave_room_for_rare_ones() -> None:
    """Of three items with weights 1000, 1 and 1, two are drawn: the heavy one is nearly always among them."""
    drawn = _distinct_items(np.array([0.0, 1000.0, 1.0, 1.0]), 2000, 2, rng())
    assert drawn.shape == (2000, 2)
    assert (drawn[:, 0] != drawn[:, 1]).all()
    assert set(drawn.ravel()) == {1, 2, 3}
    assert (drawn == 1).any(axis=1).mean() > 0.99
    assert (drawn == 2).any(axis=1).mean() == pytest.approx(0.5, abs=0.05)
    assert _distinct_items(np.array([0.0, 3.0]), 4, 9, rng()).tolist() == [[1]] * 4
    assert _distinct_items(np.zeros(3), 4, 2, rng()).shape == (4, 0)


def test_the_nearest_items_are_those_of_the_highest_cosine() -> None:
    """0 is the target; 1 meets it three times in 9, 2 twice in 2, 3 once in 1: by cosine 2, then 1 and 3."""
    rows = [(f"u{u}", i) for u, held in enumerate([(0, 1, 2), (0, 1, 2), (0, 1, 3)]) for i in held]
    rows += [(f"v{u}", 1) for u in range(6)] + [("w", 4), ("w", 5), ("w", 6), ("w", 7)]
    train = interactions(rows, weight=False, time=False)
    place = train.items.to_list().index
    count = np.bincount(train.item, minlength=train.n_items)
    near = _neighbours(train, count, np.array([place(0)], dtype=np.int32), most=2)
    assert np.flatnonzero(near).tolist() == sorted([place(2), place(1)])
    assert near[place(2)] == pytest.approx(2 / np.sqrt(2))
    assert near[place(1)] == pytest.approx(3 / np.sqrt(9))


def test_a_profile_of_one_item_is_the_target_or_nothing_is_left() -> None:
    train = interactions([(f"u{u}", i) for u in range(4) for i in range(2)], weight=False, time=False)
    both = np.array([0, 1], dtype=np.int32)
    pushed = attack(train, AttackSpec(kind="push"), rng=rng(), targets=both)
    assert all(sorted(profile) == [0, 1] for profile in profiles(pushed, train))
    with pytest.raises(InputError, match="no item is left for the fake profiles; use fewer targets or more items"):
        attack(train, AttackSpec(kind="nuke"), rng=rng(), targets=both)


def test_selected_items_are_as_many_as_were_asked_for_and_fit_into_the_profile() -> None:
    """Items 0 to 9 with falling counts, of which 1 is the target: the most popular ones are 0, 2, 3."""
    train = popular_and_disliked()
    target = np.array([1], dtype=np.int32)
    for data in (train, replace(train, weight=None)):
        spec = AttackSpec(kind="push", filler="bandwagon", selected=3, profile_length=5)
        for profile in profiles(attack(data, spec, rng=rng(), targets=target), data):
            assert profile[:4] == [1, 0, 2, 3]
            assert len(set(profile)) == 6
        short = AttackSpec(kind="push", filler="bandwagon", selected=9, profile_length=2)
        assert {tuple(p) for p in profiles(attack(data, short, rng=rng(), targets=target), data)} == {(1, 0, 2)}


def test_ratings_are_moved_to_the_nearest_one_in_use() -> None:
    scale = np.array([1.0, 2.0, 5.0], dtype=np.float32)
    drawn = np.array([-9.0, 1.4, 1.6, 3.4, 3.6, 99.0])
    assert _on_scale(drawn, scale).tolist() == [1.0, 1.0, 2.0, 2.0, 5.0, 5.0]


def test_a_rare_item_is_not_selected_to_nuke_however_bad_its_ratings() -> None:
    """Items 0 to 9 with falling counts are liked, 2 less so; 98 has the worst rating and a single event."""
    rows = [(f"u{u}", i, 2 if i == 2 else 4, u) for i in range(10) for u in range(40 - 4 * i)]
    train = interactions([*rows, ("u0", 98, 1, 1)])
    spec = AttackSpec(kind="nuke", filler="bandwagon", selected=1, profile_length=3)
    nuked = attack(train, spec, rng=rng(), targets=np.array([1], dtype=np.int32))
    assert all(profile[:2] == [1, 2] for profile in profiles(nuked, train))
    assert nuked.weight is not None
    assert set(nuked.weight[len(train) :][nuked.item[len(train) :] == 2]) == {1.0}


def test_a_single_other_item_is_selected_to_nuke() -> None:
    train = interactions([("u0", 0, 5, 1), ("u1", 0, 5, 2), ("u2", 1, 4, 3), ("u3", 1, 1, 4)])
    spec = AttackSpec(kind="nuke", filler="bandwagon", selected=1, profile_length=1, size=1.0)
    nuked = attack(train, spec, rng=rng(), targets=np.array([1], dtype=np.int32))
    assert nuked.weight is not None
    assert set(nuked.item[len(train) :]) == {0, 1}
    assert set(nuked.weight[len(train) :]) == {1.0}, "at the lowest rating, not at one drawn"


def test_ratings_of_filler_beside_selected_items_follow_all_ratings() -> None:
    train = rated_by_item()
    spec = AttackSpec(kind="push", filler="bandwagon", selected=1, size=1.0, profile_length=15)
    attacked = attack(train, spec, rng=rng(), targets=np.array([0], dtype=np.int32))
    assert attacked.weight is not None
    item, weight = attacked.item[len(train) :], attacked.weight[len(train) :]
    chosen = set(profiles(attacked, train)[0][:2])
    filler = ~np.isin(item, list(chosen))
    even, odd = (weight[filler & (item % 2 == rest)].mean() for rest in (0, 1))
    assert even == pytest.approx(odd, abs=0.3)


def test_half_of_a_nuking_profile_are_rivals_where_there_are_more_neighbours() -> None:
    """Items 1 to 4 stand with the target 0, 5 to 12 do not: two of each fill a profile of four."""
    rows = [(f"u{u}", i, 1, u) for u in range(10) for i in range(5)]
    rows += [(f"v{u}", i, 1, u) for u in range(10) for i in range(5, 13)]
    train = interactions(rows, weight=False)
    for length, near in ((4, 2), (5, 2)):
        spec = AttackSpec(kind="nuke", size=0.5, profile_length=length)
        for profile in profiles(attack(train, spec, rng=rng(), targets=np.array([0], dtype=np.int32)), train):
            assert [item < 5 for item in profile] == [True] * near + [False] * (length - near)
