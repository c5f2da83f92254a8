"""Selecting the top of scores: against a full sort, with ties, exclusions and every kind of short list."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from recassay.core import ranking
from recassay.core.errors import InputError, UsageError
from recassay.core.ranking import batches, select_top, tie_order


def by_full_sort(scores, k, exclude, rng):
    place = tie_order(scores.shape[1], rng)
    lists = []
    for row in range(len(scores)):
        allowed = [
            i
            for i in range(scores.shape[1])
            if scores[row, i] > -np.inf and not (exclude is not None and exclude[row, i])
        ]
        chosen = sorted(allowed, key=lambda i: (-scores[row, i], place[i]))[:k]
        lists.append(chosen + [-1] * (k - len(chosen)))
    return np.array(lists, dtype=np.int32).reshape(len(scores), k)


@settings(max_examples=80)
@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(0, 12),
    n_items=st.sampled_from([1, 2, 7, 40, 300, 700]),
    k=st.sampled_from([1, 2, 3, 10, 12, 100, 800]),
    levels=st.sampled_from([1, 2, 5, 50, 10**6]),
    holes=st.sampled_from([0.0, 0.3, 1.0]),
    excluded=st.sampled_from([None, 0.1, 0.95]),
)
def test_equals_a_full_sort(seed, rows, n_items, k, levels, holes, excluded):
    draw = np.random.default_rng(seed)
    scores = draw.integers(0, levels, (rows, n_items)).astype(np.float32) - levels // 2
    scores[draw.random(scores.shape) < holes] = -np.inf
    mask = None if excluded is None else draw.random(scores.shape) < excluded
    exclude = None if mask is None else csr_array(mask.astype(np.float32))
    before = scores.copy()
    items, values = select_top(scores, k, exclude=exclude, rng=np.random.default_rng(seed))
    np.testing.assert_array_equal(items, by_full_sort(scores, k, mask, np.random.default_rng(seed)))
    np.testing.assert_array_equal(scores, before)
    listed = items >= 0
    row = np.nonzero(listed)[0]
    np.testing.assert_array_equal(values[listed], scores[row, items[listed]])
    assert np.isneginf(values[~listed]).all()
    assert items.dtype == np.int32
    assert values.dtype == np.float32


def test_batches_and_their_order_change_nothing(monkeypatch):
    scores = np.random.default_rng(1).integers(0, 4, (50, 600)).astype(np.float32)
    rng = np.random.default_rng(9)
    whole, _ = select_top(scores, 10, rng=rng)
    again, _ = select_top(scores[::-1], 10, rng=rng)
    np.testing.assert_array_equal(again[::-1], whole)
    parts = [select_top(scores[i : i + 7], 10, rng=rng)[0] for i in range(0, 50, 7)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    monkeypatch.setattr(ranking, "ROWS_AT_ONCE", 3)
    np.testing.assert_array_equal(select_top(scores, 10, rng=rng)[0], whole)


@pytest.mark.parametrize(("n_items", "k"), [(600, 5), (30, 5)], ids=["candidates", "sorted rows"])
def test_what_is_excluded_is_so_in_every_block_of_rows(n_items, k):
    rows = 2 * ranking.ROWS_AT_ONCE + 9
    draw = np.random.default_rng(4)
    scores = draw.random((rows, n_items)).astype(np.float32)
    best = np.argsort(-scores, axis=1)[:, : k + 1]
    mask = np.zeros(scores.shape, dtype=bool)
    # Each row loses other ones of its own best: a row that is given those of another keeps a list it must not have.
    for row in range(rows):
        mask[row, best[row, draw.permutation(k + 1)[:2]]] = True
    items, _ = select_top(scores, k, exclude=csr_array(mask), rng=np.random.default_rng(0))
    np.testing.assert_array_equal(items, by_full_sort(scores, k, mask, np.random.default_rng(0)))


def test_a_shorter_list_begins_a_longer_one():
    scores = np.random.default_rng(2).integers(0, 3, (20, 500)).astype(np.float32)
    rng = np.random.default_rng(3)
    longer, _ = select_top(scores, 40, rng=rng)
    for k in (1, 5, 17):
        np.testing.assert_array_equal(select_top(scores, k, rng=rng)[0], longer[:, :k])


def test_ties_depend_on_the_seed_and_favour_no_ids():
    scores = np.zeros((1, 1000), dtype=np.float32)
    chosen = np.concatenate([select_top(scores, 10, rng=np.random.default_rng(s))[0][0] for s in range(300)])
    assert abs(chosen.mean() - 499.5) < 4 * 1000 / np.sqrt(12 * len(chosen))
    counts = np.histogram(chosen, bins=10, range=(0, 1000))[0]
    assert counts.min() > 220
    first, again = (select_top(scores, 10, rng=np.random.default_rng(4))[0] for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_float64_scores_and_infinite_ones_are_taken():
    items, _ = select_top(np.array([[0.5, np.inf, -1.0]]), 2, rng=np.random.default_rng(0))
    assert items.tolist() == [[1, 0]]
    for n_items in (3, 60):  # the lowest number is a score, and -inf is none
        scores = np.full((1, n_items), -np.inf, dtype=np.float32)
        scores[0, 1] = np.finfo(np.float32).min
        assert select_top(scores, 2, rng=np.random.default_rng(0))[0].tolist() == [[1, -1]]


def test_nan_is_refused_with_its_place():
    scores = np.zeros((300, 5), dtype=np.float32)
    scores[270, 3] = np.nan
    with pytest.raises(InputError, match="row 270 for item 3"):
        select_top(scores, 2, rng=np.random.default_rng(0))


def test_wrong_shapes_and_lengths_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(UsageError, match="dimensions"):
        select_top(np.zeros(4, dtype=np.float32), 1, rng=rng)
    with pytest.raises(UsageError, match="at least one"):
        select_top(np.zeros((1, 4), dtype=np.float32), 0, rng=rng)
    with pytest.raises(UsageError, match="rows of the scored users"):
        select_top(np.zeros((1, 4), dtype=np.float32), 1, exclude=csr_array((2, 4)), rng=rng)


def test_an_empty_catalogue_gives_empty_lists():
    items, _ = select_top(np.zeros((2, 0), dtype=np.float32), 3, rng=np.random.default_rng(0))
    assert (items == -1).all()


@given(n_users=st.integers(0, 500), n_items=st.integers(0, 100), budget=st.integers(0, 20_000))
def test_batches_cover_all_users_within_the_budget(n_users, n_items, budget):
    parts = list(batches(n_users, n_items, budget))
    covered = np.concatenate([np.arange(n_users)[part] for part in parts] or [np.arange(0)])
    np.testing.assert_array_equal(covered, np.arange(n_users))
    for part in parts:
        rows = part.stop - part.start
        assert rows == 1 or rows * n_items * 4 <= budget
    for part in parts[:-1]:  # and none is smaller than the budget allows
        assert (part.stop - part.start + 1) * max(n_items, 1) * 4 > budget
