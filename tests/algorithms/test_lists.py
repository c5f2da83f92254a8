"""Lists that are made without scoring the catalogue equal those of `select_top` on all scores, ties included."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from recassay.algorithms.baselines import OneOrder
from recassay.algorithms.kernels.products import SparseRows
from recassay.algorithms.kernels.sparse_neighbours import largest_products
from recassay.algorithms.kernels.sparse_scoring import SparseRecommender
from recassay.core.errors import InputError, UsageError
from recassay.core.ranking import select_top, tie_order


def few_values(draws: np.random.Generator, shape: tuple[int, int], share: float, *, negative: bool) -> csr_array:
    """A sparse matrix of few different values, so that many sums are equal; some stored values are 0."""
    values = draws.choice([0.0, 1.0, 1.0, 2.0, -1.0 if negative else 0.5], shape) * (draws.random(shape) < share)
    matrix = csr_array(values.astype(np.float32))
    stored = csr_array(draws.random(shape) < share / 2).tocoo()
    return csr_array(matrix + csr_array((np.zeros(stored.nnz, np.float32), stored.coords), shape=shape))


sizes = st.integers(1, 40)


@pytest.mark.slow
@given(sizes, sizes, st.integers(1, 50), st.sampled_from([0.02, 0.1, 0.6]), st.booleans(), st.integers(0, 999))
@settings(max_examples=120, deadline=None)
def test_sparse_lists_are_those_of_all_scores(
    n_users: int, n_items: int, k: int, share: float, leave_out: bool, seed: int
) -> None:
    draws = np.random.default_rng(seed)
    left = few_values(draws, (n_users, n_items), share, negative=False)
    right = few_values(draws, (n_items, n_items), share, negative=True)
    users = draws.permutation(n_users)[: max(1, n_users // 2)].astype(np.int32)
    exclude = few_values(draws, (n_users, n_items), 0.3, negative=False) if leave_out else None
    top = SparseRecommender(left, right, rng=np.random.default_rng(seed)).recommend(users, k, exclude=exclude)
    scores = (left.toarray() @ right.toarray())[users]
    struck = None if exclude is None else exclude[users]
    items, values = select_top(scores, k, exclude=struck, rng=np.random.default_rng(seed))
    np.testing.assert_array_equal(top.items, items)
    np.testing.assert_array_equal(top.scores, values)


@pytest.mark.slow
@given(sizes, sizes, st.integers(1, 50), st.sampled_from([0.02, 0.1, 0.6]), st.integers(0, 999))
@settings(max_examples=120, deadline=None)
def test_the_largest_products_are_those_of_the_whole_product(
    rows: int, middle: int, width: int, share: float, seed: int
) -> None:
    draws = np.random.default_rng(seed)
    left = few_values(draws, (rows, middle), share, negative=False)
    right = few_values(draws, (middle, rows), share, negative=False)
    place = tie_order(rows, np.random.default_rng(seed))
    found = largest_products(SparseRows.of(left), SparseRows.of(right), width, place)
    whole = left.toarray() @ right.toarray()
    np.fill_diagonal(whole, -np.inf)
    whole[whole <= 0] = -np.inf
    items, values = select_top(whole, width, rng=np.random.default_rng(seed))
    np.testing.assert_array_equal(found[0], items)
    np.testing.assert_array_equal(found[1], values)


@pytest.mark.parametrize("k", [2, 60])
@pytest.mark.parametrize("share", [0.02, 0.5])
def test_the_best_of_more_candidates_than_there_is_room_for(k: int, share: float) -> None:
    draws = np.random.default_rng(k)
    left = few_values(draws, (5, 400), share, negative=False)
    right = few_values(draws, (400, 400), 2 * share, negative=True)
    top = SparseRecommender(left, right, rng=np.random.default_rng(1)).recommend(
        np.arange(5, dtype=np.int32), k, exclude=None
    )
    items, values = select_top(left.toarray() @ right.toarray(), k, rng=np.random.default_rng(1))
    np.testing.assert_array_equal(top.items, items)
    np.testing.assert_array_equal(top.scores, values)
    wide, back = few_values(draws, (400, 20), share, negative=False), few_values(draws, (20, 400), 0.5, negative=False)
    place = tie_order(400, np.random.default_rng(2))
    found = largest_products(SparseRows.of(wide), SparseRows.of(back), k, place)
    whole = wide.toarray() @ back.toarray()
    np.fill_diagonal(whole, -np.inf)
    whole[whole <= 0] = -np.inf
    items, values = select_top(whole, k, rng=np.random.default_rng(2))
    np.testing.assert_array_equal(found[0], items)
    np.testing.assert_array_equal(found[1], values)


@given(sizes, sizes, st.integers(1, 50), st.sampled_from([0.0, 0.1, 0.9, 1.0]), st.integers(0, 999))
@settings(max_examples=120, deadline=None)
def test_one_order_for_all_is_that_of_equal_rows(n_users: int, n_items: int, k: int, share: float, seed: int) -> None:
    draws = np.random.default_rng(seed)
    scores = draws.integers(0, 4, n_items).astype(np.float32)
    users = draws.permutation(n_users)[: max(1, n_users // 2)].astype(np.int32)
    exclude = csr_array((draws.random((n_users, n_items)) < share).astype(np.float32))
    model = OneOrder(scores, rng=np.random.default_rng(seed))
    for left_out in (exclude, None):
        top = model.recommend(users, k, exclude=left_out)
        items, values = select_top(
            np.tile(scores, (len(users), 1)),
            k,
            exclude=None if left_out is None else left_out[users],
            rng=np.random.default_rng(seed),
        )
        np.testing.assert_array_equal(top.items, items)
        np.testing.assert_array_equal(top.scores, values)


def test_a_user_who_has_nearly_all_of_what_is_popular() -> None:
    """The list is looked for beyond the first 8 k places, as far as what is left out reaches."""
    model = OneOrder(-np.arange(40, dtype=np.float32), rng=np.random.default_rng(1))
    held = np.zeros((2, 40), dtype=np.float32)
    held[0, [*range(18), 19, 21]] = 1
    held[1, [*range(37), 38]] = 1
    top = model.recommend(np.array([0, 1], dtype=np.int32), 3, exclude=csr_array(held))
    assert top.items.tolist() == [[18, 20, 22], [37, 39, -1]]


def test_what_cannot_be_listed() -> None:
    weights = csr_array(np.array([[0.0, np.nan], [1.0, 0.0]], dtype=np.float32))
    with pytest.raises(InputError, match="weight of the model is not a number"):
        SparseRecommender(csr_array((3, 2)), weights, rng=np.random.default_rng(0))
    users = np.zeros(1, dtype=np.int32)
    for model in (
        SparseRecommender(csr_array((3, 2)), csr_array((2, 2)), rng=np.random.default_rng(0)),
        OneOrder(np.zeros(2, np.float32), rng=np.random.default_rng(0)),
    ):
        with pytest.raises(UsageError, match="lists of 0 items"):
            model.recommend(users, 0, exclude=None)


def test_an_empty_catalogue_gives_empty_lists() -> None:
    users = np.zeros(2, dtype=np.int32)
    top = SparseRecommender(csr_array((3, 0)), csr_array((0, 0)), rng=np.random.default_rng(0)).recommend(
        users, 3, exclude=None
    )
    assert (top.items == -1).all()
