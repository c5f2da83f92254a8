"""The generator keeps its promises, and draws from the truth it reports."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy import stats

from recassay.core.errors import UsageError
from recassay.data.synthetic import draws as distinct_draws
from recassay.data.synthetic.draws import MixtureSampler, SeenPairs, draw_distinct
from recassay.data.synthetic.generate import SyntheticSpec, generate

SMALL = SyntheticSpec(n_users=200, n_items=150, n_interactions=4_000, n_factors=5)


def with_changes(**changes):
    return SyntheticSpec(**(SMALL.model_dump() | changes))


def columns_of(data):
    rows = data.interactions
    return [rows.user, rows.item, rows.time, np.zeros(0) if rows.weight is None else rows.weight]


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(columns_of(one), columns_of(other), strict=True))


@pytest.mark.slow
@given(
    share=st.floats(0, 1),
    breadth=st.floats(0.01, 10),
    exponent=st.floats(0, 3),
    drift=st.floats(0, 1),
    new_items=st.floats(0, 0.9),
    seed=st.integers(-9, 9),
)
@settings(deadline=None, max_examples=60)
def test_any_spec_gives_what_it_asks_for(share, breadth, exponent, drift, new_items, seed):
    spec = SyntheticSpec(
        n_users=30,
        n_items=300,
        n_interactions=500,
        n_factors=4,
        taste_strength=share,
        taste_breadth=breadth,
        popularity_exponent=exponent,
        activity_exponent=exponent,
        min_user_interactions=4,
        popularity_drift=drift,
        taste_drift=1 - drift,
        new_items=new_items,
        user_turnover=share,
        noise=1 - share,
        ratings=True,
        seed=seed,
    )
    data = generate(spec)
    rows, truth = data.interactions, data.truth
    assert len(rows) == spec.n_interactions
    assert len(np.unique(rows.user.astype(np.int64) * spec.n_items + rows.item)) == len(rows)
    activity = np.bincount(rows.user, minlength=spec.n_users)
    assert activity.min() >= spec.min_user_interactions
    assert activity.max() <= spec.most_per_user
    assert (np.diff(rows.time) >= 0).all()
    moment = (rows.time - spec.start_time) / (spec.days * 86_400)
    assert moment.min() >= 0
    assert moment.max() <= 1
    one_second = 1 / (spec.days * 86_400)
    assert (moment + one_second >= truth.birth[rows.item]).all()
    assert np.isin(rows.weight, [1, 2, 3, 4, 5]).all()


@pytest.mark.parametrize(
    "changes",
    [{}, {"ratings": True}, {"popularity_drift": 1.0, "new_items": 0.3}, {"n_interactions": 17_000}],
)
def test_the_seed_decides_everything(changes):
    spec = with_changes(**changes)
    assert same(generate(spec), generate(spec))
    assert not same(generate(spec), generate(with_changes(**changes, seed=1)))


def test_the_size_of_a_chunk_bounds_memory_and_keeps_the_promises(monkeypatch):
    monkeypatch.setattr("recassay.data.synthetic.generate._CHUNK_EVENTS", 300)
    rows = generate(with_changes(ratings=True)).interactions
    assert len(np.unique(rows.user.astype(np.int64) * SMALL.n_items + rows.item)) == SMALL.n_interactions
    assert np.isfinite(rows.weight).all()


def test_truth_is_a_distribution_over_the_items_born():
    spec = with_changes(new_items=0.5, popularity_drift=0.5, taste_drift=0.5)
    truth = generate(spec).truth
    users = np.arange(10, dtype=np.int32)
    for at in (0.0, 0.5, 1.0):
        block = truth.affinity(users, at=at)
        np.testing.assert_allclose(block.sum(axis=1), 1.0)
        assert ((block > 0) == (truth.birth <= at)).all()


def test_interactions_follow_the_truth():
    """With few draws from a large catalogue, collisions are rare and counts must fit sum_u n_u P(i | u)."""
    spec = SyntheticSpec(n_users=20_000, n_items=400, n_interactions=20_000, min_user_interactions=1, n_factors=4)
    data = generate(spec)
    users = np.arange(spec.n_users, dtype=np.int32)
    activity = np.bincount(data.interactions.user, minlength=spec.n_users)
    expected = activity @ data.truth.affinity(users)
    observed = np.bincount(data.interactions.item, minlength=spec.n_items)
    chi_square = ((observed - expected) ** 2 / expected).sum()
    assert abs(chi_square - (spec.n_items - 1)) < 5 * (2 * spec.n_items) ** 0.5
    own = np.take_along_axis(
        data.truth.affinity(data.interactions.user[:2_000]), data.interactions.item[:2_000, None], axis=1
    ).mean()
    foreign = np.take_along_axis(
        data.truth.affinity(data.interactions.user[:2_000]), data.interactions.item[2_000:4_000, None], axis=1
    ).mean()
    assert own > 1.5 * foreign


EVERYTHING = SyntheticSpec(
    n_users=12, n_items=40, n_interactions=150, n_factors=3, taste_strength=0.7, taste_breadth=0.8, item_breadth=0.4,
    popularity_exponent=1.1, activity_exponent=0.7, min_user_interactions=5, popularity_drift=0.6, taste_drift=0.9,
    new_items=0.3, user_turnover=0.5, noise=0.1, ratings=True, days=30, id_kind="string", seed=7,
)  # fmt: skip


def test_a_spec_gives_the_same_data_for_ever():
    """Studies on synthetic data are compared with those of earlier versions."""
    rows = generate(EVERYTHING).interactions
    assert rows.user[:8].tolist() == [4, 0, 9, 0, 0, 8, 8, 8]
    assert rows.item[:8].tolist() == [24, 4, 39, 13, 24, 12, 38, 24]
    assert (rows.time[:4] - EVERYTHING.start_time).tolist() == [43051, 108054, 127073, 140507]
    assert rows.weight[:12].tolist() == [5.0, 5.0, 4.0, 4.0, 4.0, 3.0, 5.0, 4.0, 2.0, 4.0, 5.0, 5.0]
    places = np.arange(1, 151)
    assert (int(rows.user @ places), int(rows.item @ places), int(rows.weight @ places)) == (64329, 232492, 41571)
    assert (rows.users[0], rows.items[39]) == ("u01", "i40")


@pytest.mark.parametrize("at", [0.0, 0.49, 1.0])
def test_the_truth_is_the_formula_of_the_model(at):
    truth, spec = generate(EVERYTHING).truth, EVERYTHING
    epoch = min(int(at * 20), 19)
    moved = ((epoch + 0.5) / 20) ** 2
    tastes = (1 - 0.9 * moved) * truth.tastes_start + 0.9 * moved * truth.tastes_end
    born = truth.birth <= epoch / 20
    popularity = ((1 - 0.6 * moved) * truth.popularity_start + 0.6 * moved * truth.popularity_end) * born
    popularity /= popularity.sum()
    of_taste = popularity[:, None] * truth.item_factors
    of_taste /= of_taste.sum(axis=0)
    by_hand = 0.9 * (0.7 * tastes @ of_taste.T + 0.3 * popularity) + 0.1 * born / born.sum()
    users = np.arange(spec.n_users, dtype=np.int32)
    np.testing.assert_allclose(truth.affinity(users, at=at), by_hand, rtol=1e-12)
    agreement = truth.tastes_start @ truth.item_factors.T
    biases = truth.user_bias[:, None] + truth.item_bias
    expected = 3.5 + biases + 0.8 * (agreement - agreement.mean()) / agreement.std()
    items = np.arange(spec.n_items, dtype=np.int32)
    np.testing.assert_allclose(truth.expected_rating(users[:, None], items[None]), expected, rtol=1e-9)
    liked = by_hand * stats.norm.sf(3.5, expected, 0.5)
    for threshold in (4, 3.5, 3.1):  # ratings are whole: the least that reaches each of these is 4
        np.testing.assert_allclose(truth.affinity(users, at=at, positive_threshold=threshold), liked, rtol=1e-6)


def test_ratings_follow_the_expected_rating():
    data = generate(with_changes(ratings=True, n_interactions=15_000))
    rows = data.interactions
    expected = data.truth.expected_rating(rows.user, rows.item)
    assert np.corrcoef(rows.weight, expected)[0, 1] > 0.8
    assert set(np.unique(rows.weight)) == {1.0, 2.0, 3.0, 4.0, 5.0}
    users = np.arange(5, dtype=np.int32)
    liked = data.truth.affinity(users, positive_threshold=4)
    assert (liked <= data.truth.affinity(users)).all()
    np.testing.assert_allclose(data.truth.affinity(users, positive_threshold=3.5), liked)


def test_parameters_do_what_their_names_say():
    flat, steep = (generate(with_changes(popularity_exponent=e)).interactions for e in (0.0, 1.5))
    assert np.bincount(steep.item).max() > 1.5 * np.bincount(flat.item).max()
    even, skewed = (generate(with_changes(activity_exponent=e)).interactions for e in (0.0, 1.5))
    assert np.bincount(skewed.user).max() > 1.5 * np.bincount(even.user).max()
    staying, leaving = (generate(with_changes(user_turnover=t)).interactions for t in (0.0, 1.0))

    def mean_stretch(rows):
        first = np.full(rows.n_users, np.iinfo(np.int64).max)
        last = np.zeros(rows.n_users, dtype=np.int64)
        np.minimum.at(first, rows.user, rows.time)
        np.maximum.at(last, rows.user, rows.time)
        return (last - first).mean()

    assert mean_stretch(staying) > 1.5 * mean_stretch(leaving)


def test_ids_are_the_files_own():
    assert generate(SMALL).interactions.items[:2].to_list() == [1, 2]
    strings = generate(with_changes(id_kind="string")).interactions
    assert strings.users[:2].to_list() == ["u001", "u002"]
    assert strings.items[-1] == "i150"
    assert strings.users.name == "user"
    ten = generate(with_changes(id_kind="string", n_users=10, n_items=100, n_interactions=80)).interactions
    assert (ten.users[0], ten.users[-1], ten.items[0], ten.items[-1]) == ("u01", "u10", "i001", "i100")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_interactions": 100}, "too few for 200 users"),
        ({"n_interactions": 200 * 91}, "too many for 200 users with at most 90"),
        ({"new_items": 0.9}, "too many"),
        ({"noise": 1.5}, "less than or equal to 1"),
        ({"popularity": 1.0}, "Extra inputs"),
    ],
)
def test_impossible_specs_are_refused(changes, message):
    with pytest.raises(ValidationError, match=message):
        with_changes(**changes)


def test_specs_at_their_limits():
    assert with_changes(n_interactions=200 * 8).n_interactions == 1_600
    assert with_changes(n_interactions=200 * 90).most_per_user == 90
    assert with_changes(n_items=151, n_interactions=4_000, new_items=0.1).most_per_user == int(0.6 * (151 - 15))
    tiny = SyntheticSpec(n_users=1, n_items=2, n_interactions=1, min_user_interactions=1, new_items=0.5)
    assert tiny.most_per_user == 1


@pytest.mark.parametrize("moving", [None, "popularity_drift", "taste_drift", "new_items"])
def test_the_truth_stands_still_unless_something_moves(moving):
    tiny = {"n_users": 5, "n_items": 40, "n_interactions": 50, "n_factors": 2}
    truth = generate(SyntheticSpec(**tiny, **({moving: 0.1} if moving else {}))).truth
    assert truth.n_epochs == (20 if moving else 1)
    assert (truth.tastes_start is not truth.tastes_end) == (moving == "taste_drift")
    assert (truth.popularity_start is not truth.popularity_end) == (moving == "popularity_drift")
    assert np.count_nonzero(truth.birth) == (4 if moving == "new_items" else 0)


@pytest.mark.parametrize("rounds", [0, 40])
def test_drawing_without_replacement_has_the_exact_inclusion_probability(monkeypatch, rounds):
    """P(item 3 among two draws) = .6 * .1/.4 + .3 * .1/.7 + .1, by redraws and by the Gumbel rule alike."""
    monkeypatch.setattr(distinct_draws, "_ROUNDS", rounds)
    n = 40_000
    sampler = MixtureSampler(np.ones((n, 1)), np.array([[0.6, 0.3, 0.1]]))
    users = np.repeat(np.arange(n, dtype=np.int32), 2)
    items = draw_distinct(users, sampler, SeenPairs(3), np.random.default_rng(0))
    assert (items[::2] != items[1::2]).all()
    exact = 0.6 * 0.1 / 0.4 + 0.3 * 0.1 / 0.7 + 0.1
    assert np.mean(items == 2) * 2 == pytest.approx(exact, abs=4 * (exact / n) ** 0.5)
    assert np.mean(items[::2] == 0) == pytest.approx(0.6, abs=0.015)


def test_a_user_can_take_the_whole_catalogue_but_no_more():
    sampler = MixtureSampler(np.full((2, 2), 0.5), np.array([[0.999, 1e-3, 0, 0], [1e-9, 0, 0.5, 0.5]]))
    seen = SeenPairs(4)
    users = np.repeat(np.arange(2, dtype=np.int32), 4)
    items = draw_distinct(users, sampler, seen, np.random.default_rng(0))
    assert sorted(items[:4]) == sorted(items[4:]) == [0, 1, 2, 3]
    assert seen.mask(np.array([1, 0], dtype=np.int32)).all()
    with pytest.raises(UsageError, match="more interactions than there are items"):
        draw_distinct(users[:1], sampler, seen, np.random.default_rng(0))


@pytest.mark.slow
@given(st.lists(st.sets(st.integers(0, 99), max_size=30), max_size=8))
@settings(deadline=None, max_examples=60)
def test_seen_pairs_is_a_set(batches):
    seen, expected = SeenPairs(10), set()
    for batch in batches:
        fresh = sorted(batch - expected)
        seen.add(np.array(fresh, dtype=np.int64))
        expected |= batch
    assert seen.contains(np.arange(100)).tolist() == [key in expected for key in range(100)]
    mask = seen.mask(np.arange(10, dtype=np.int32))
    assert set(np.flatnonzero(mask.ravel()).tolist()) == expected


class AlmostOne:
    def random(self, size):
        return np.full(size, np.nextafter(1.0, 0.0))


def test_a_draw_just_below_one_stays_in_its_row():
    n_users = 1 << 20
    sampler = MixtureSampler(np.full((n_users, 2), 0.5), np.array([[0.5, 0.5, 0.0], [0.3, 0.7, 0.0]]))
    users = np.array([0, 5, n_users - 2, n_users - 1], dtype=np.int32)
    assert sampler.draw(users, AlmostOne()).tolist() == [1, 1, 1, 1]
