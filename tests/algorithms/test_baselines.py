from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recassay.algorithms.baselines import MostPop, Random, RecentPop
from recassay.algorithms.kernels.scoring import FactorRecommender, ScoreRecommender, block_rows
from recassay.core.errors import NotApplicableError, UsageError
from recassay.core.types import Interactions
from recassay.testing import example_interactions
from support.made import everyone, rng


def test_most_popular_counts_a_user_once() -> None:
    train = example_interactions(np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 0, 1, 2, 1]), n_users=4, n_items=4)
    top = MostPop().fit(train, rng=rng()).recommend(everyone(train), 3, exclude=train.csr())
    assert top.items[0, :2].tolist() == [1, 2]
    assert top.scores[0].tolist() == [2.0, 1.0, 0.0]
    assert top.items[3, 0] == 1
    assert top.scores[3].tolist() == [2.0, 1.0, 1.0]
    assert top.items[1].tolist() in ([0, 3, -1],)


def _timed(item: list[int], time: list[int]) -> Interactions:
    return Interactions(
        user=np.zeros(len(item), dtype=np.int32),
        item=np.array(item, dtype=np.int32),
        users=pl.Series(["a", "b"]),
        items=pl.Series(["x", "y", "z"]),
        time=np.array(time, dtype=np.int64),
    )


def test_recent_popularity_by_window_and_by_decay() -> None:
    train = _timed([0, 0, 0, 1, 1, 2], [0, 10, 20, 60, 95, 100])
    user = np.array([1], dtype=np.int32)
    window = RecentPop(window=0.1).fit(train, rng=rng()).recommend(user, 3, exclude=None)
    assert dict(zip(window.items[0].tolist(), window.scores[0].tolist(), strict=True)) == {1: 1.0, 2: 1.0, 0: 0.0}
    decay = RecentPop(window=0.2, kind="decay").fit(train, rng=rng()).recommend(user, 3, exclude=None)
    expected = {0: 2**-5 + 2**-4.5 + 2**-4, 1: 2**-2 + 2**-0.25, 2: 1.0}
    assert dict(zip(decay.items[0].tolist(), decay.scores[0].tolist(), strict=True)) == pytest.approx(expected)


def test_the_whole_window_is_popularity() -> None:
    train = _timed([0, 0, 0, 1, 1, 2], [5, 5, 5, 9, 9, 9])
    top = RecentPop(window=1.0).fit(train, rng=rng()).recommend(np.array([1], dtype=np.int32), 3, exclude=None)
    assert top.scores[0].tolist() == [3.0, 2.0, 1.0]
    at_once = _timed([0, 0, 0, 1, 1, 2], [7] * 6)
    for kind in ("window", "decay"):
        top = RecentPop(kind=kind).fit(at_once, rng=rng()).recommend(np.array([1], dtype=np.int32), 3, exclude=None)
        assert top.scores[0].tolist() == [3.0, 2.0, 1.0]


def test_recent_popularity_of_old_events_and_of_none() -> None:
    user = np.array([1], dtype=np.int32)
    before_1970 = _timed([0, 0, 1, 2], [-1000, -900, -110, -100])
    top = RecentPop(window=0.1).fit(before_1970, rng=rng()).recommend(user, 3, exclude=None)
    assert dict(zip(top.items[0].tolist(), top.scores[0].tolist(), strict=True)) == {1: 1.0, 2: 1.0, 0: 0.0}
    at_the_edge = _timed([0, 1, 2], [0, 90, 100])
    top = RecentPop(window=0.1).fit(at_the_edge, rng=rng()).recommend(user, 3, exclude=None)
    assert sorted(top.scores[0].tolist()) == [0.0, 1.0, 1.0]
    top = RecentPop().fit(_timed([], []), rng=rng()).recommend(user, 3, exclude=None)
    assert top.scores[0].tolist() == [0.0, 0.0, 0.0]


def test_recent_popularity_needs_times_and_a_sensible_window() -> None:
    train = example_interactions(np.array([0]), np.array([0]), n_users=1, n_items=1)
    timeless = Interactions(train.user, train.item, train.users, train.items)
    with pytest.raises(NotApplicableError, match="needs the time of every interaction"):
        RecentPop().fit(timeless, rng=rng())
    with pytest.raises(UsageError, match=r"window = 0\.0; give a number that is above 0 and at most 1"):
        RecentPop(window=0.0)
    with pytest.raises(UsageError, match=r"no kind 'windows'.*window"):
        RecentPop(kind="windows")


def test_random_lists_are_uniform_and_differ_by_history_and_seed() -> None:
    user, bit = np.nonzero(np.arange(1, 3001)[:, None] >> np.arange(12) & 1)  # no two users have the same items
    train = example_interactions(user, bit, n_users=3000, n_items=20)
    first, other = (Random().fit(train, rng=rng(seed)).recommend(everyone(train), 5, exclude=None) for seed in (1, 2))
    counts = np.bincount(first.items.ravel(), minlength=20)
    expected = 3000 * 5 / 20
    assert np.abs(counts - expected).max() < 5 * np.sqrt(expected)
    assert len(np.unique(first.items, axis=0)) > 2900
    assert (first.items != other.items).mean() > 0.8


@given(st.integers(1, 300), st.integers(1, 12))
def test_scored_lists_do_not_depend_on_how_users_are_asked_for(n_users: int, k: int) -> None:
    scores = np.random.default_rng(n_users).integers(0, 4, (300, 9)).astype(np.float32)
    model = ScoreRecommender(lambda users: scores[users], n_items=9, rng=rng())
    users = np.random.default_rng(k).permutation(300)[:n_users].astype(np.int32)
    whole = model.recommend(np.arange(300, dtype=np.int32), k, exclude=None)
    part = model.recommend(users, k, exclude=None)
    assert np.array_equal(part.items, whole.items[users])
    assert np.array_equal(part.scores, whole.scores[users])


def test_factors_multiply_to_the_bit_alike_in_any_batch() -> None:
    draws = np.random.default_rng(5)
    users, items = draws.normal(size=(500, 33)).astype(np.float32), draws.normal(size=(301, 33)).astype(np.float32)
    bias = draws.normal(size=301).astype(np.float32)
    model = FactorRecommender(users, items, bias, rng=rng())
    whole = model.recommend(np.arange(500, dtype=np.int32), 10, exclude=None)
    alone = model.recommend(np.array([317], dtype=np.int32), 10, exclude=None)
    assert np.array_equal(alone.items[0], whole.items[317])
    assert np.array_equal(alone.scores[0], whole.scores[317])
    exact = users[317].astype(np.float64) @ items.T.astype(np.float64) + bias
    assert alone.items[0].tolist() == np.argsort(-exact)[:10].tolist()
    assert alone.scores[0] == pytest.approx(np.sort(exact)[::-1][:10], rel=1e-5)


def test_blocks_shrink_with_the_catalogue_and_empty_lists_are_refused() -> None:
    assert block_rows(10) == 128
    assert block_rows(1 << 20) == 16
    assert block_rows(1 << 30) == 1
    model = ScoreRecommender(lambda users: np.zeros((len(users), 2), dtype=np.float32), n_items=2, rng=rng())
    with pytest.raises(UsageError, match="lists of 0 items"):
        model.recommend(np.array([0], dtype=np.int32), 0, exclude=None)
