"""Neighbours and linear models against slow, plain implementations."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_matrix, csr_array
from sklearn.linear_model import ElasticNet

from recassay.algorithms.graph_filters import GFCF, TurboCF
from recassay.algorithms.kernels import counts as counts_module
from recassay.algorithms.kernels import products
from recassay.algorithms.kernels.counts import Counts, PairCounts, cooccurring_pairs
from recassay.algorithms.kernels.elastic_net import choose, regress_items
from recassay.algorithms.kernels.products import gram
from recassay.algorithms.kernels.similarity import NeighbourLists, nearest, weigh
from recassay.algorithms.kernels.small_systems import solve_definite
from recassay.algorithms.linear import EASE, ease_weights
from recassay.algorithms.neighbours import ItemKNN, UserKNN
from recassay.algorithms.slim import SLIM
from recassay.algorithms.sparse_linear import COSINE, LocalCounts, LocalEASE, local_weights
from recassay.core.errors import UsageError
from recassay.core.registry import algorithms
from recassay.core.types import Interactions
from recassay.testing import example_interactions, learnable_tastes


def history(n_users: int = 60, n_items: int = 25, density: float = 0.2, seed: int = 0) -> csr_array:
    draws = np.random.default_rng(seed)
    popularity = draws.random(n_items) * 2 * density
    return csr_array((draws.random((n_users, n_items)) < popularity).astype(np.float32))


def events(matrix: csr_array) -> Interactions:
    user, item = matrix.nonzero()
    return example_interactions(user, item, n_users=matrix.shape[0], n_items=matrix.shape[1])


def full_scores(algorithm: object, train: Interactions) -> np.ndarray:
    """Users x items, from the lists of the whole catalogue."""
    users = np.arange(train.n_users, dtype=np.int32)
    top = algorithm.fit(train, rng=np.random.default_rng(0)).recommend(users, train.n_items, exclude=None)  # type: ignore[attr-defined]
    scores = np.empty(top.items.shape)
    np.put_along_axis(scores, top.items, top.scores, axis=1)
    return scores


@pytest.mark.slow
@given(st.integers(1, 20), st.integers(1, 20), st.integers(0, 99))
@settings(max_examples=25)
def test_the_square_of_a_matrix(height: int, width: int, seed: int) -> None:
    draws = np.random.default_rng(seed)
    matrix = (draws.random((height, width)) * (draws.random((height, width)) < 0.4)).astype(np.float32)
    np.testing.assert_allclose(gram(csr_array(matrix)), matrix.T @ matrix, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("reg", [1.0, 30.0, 500.0])
def test_ease_is_its_closed_form(reg: float) -> None:
    matrix = history()
    dense = matrix.toarray().astype(np.float64)
    inverse = np.linalg.inv(dense.T @ dense + reg * np.eye(dense.shape[1]))
    expected = -inverse / np.diag(inverse)
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(ease_weights(lambda: gram(matrix), reg), expected, atol=2e-5)
    np.testing.assert_allclose(full_scores(EASE(reg=reg), events(matrix)), dense @ expected, atol=2e-4)


def test_ease_mirrors_across_blocks_and_keeps_the_shared_matrix() -> None:
    matrix = history(n_users=300, n_items=1100, density=0.02)
    counts = EASE.shared(events(matrix))
    before = counts.copy()
    EASE().fit(events(matrix), rng=np.random.default_rng(0), shared=counts)
    assert np.array_equal(counts, before)
    dense = matrix.toarray().astype(np.float64)
    inverse = np.linalg.inv(dense.T @ dense + 50.0 * np.eye(1100))
    expected = -inverse / np.diag(inverse)
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(ease_weights(counts.copy, 50.0), expected, atol=2e-5)


def test_ease_refuses_what_cannot_be_inverted() -> None:
    with pytest.raises(UsageError, match=r"X'X \+ 2.0 I cannot be inverted; use a larger reg"):
        ease_weights(lambda: np.diag([1.0, -5.0]).astype(np.float32), 2.0)


def test_ease_goes_on_in_double_precision_where_single_fails() -> None:
    matrix = csr_array(np.repeat(history(n_users=400, n_items=6, density=0.5).toarray(), 3, axis=1))
    reg = 1e-5
    dense = matrix.toarray().astype(np.float64)
    inverse = np.linalg.inv(dense.T @ dense + reg * np.eye(18))
    expected = -inverse / np.diag(inverse)
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(ease_weights(lambda: gram(matrix), reg), expected, atol=5e-3)


def _dense_similarity(profiles: np.ndarray, similarity: str, shrink: float) -> np.ndarray:
    product = profiles @ profiles.T
    square = (profiles**2).sum(axis=1)
    if similarity == "dot":
        return product
    if similarity == "cosine":
        below = np.sqrt(np.outer(square, square)) + shrink
    else:
        below = square[:, None] + square[None, :] - product + shrink
    return np.divide(product, below, out=np.zeros_like(product), where=below > 0)


@pytest.mark.parametrize("similarity", ["cosine", "jaccard", "dot"])
@pytest.mark.parametrize("weighting", ["none", "tfidf", "bm25", "length"])
@pytest.mark.parametrize("shrink", [0.0, 10.0])
def test_neighbours_are_those_of_a_dense_matrix(similarity: str, weighting: str, shrink: float) -> None:
    profiles = history(n_users=40, n_items=30)
    found = nearest(profiles, 7, (similarity, weighting, shrink))
    weighted = weigh(profiles, weighting)
    shrink *= float((weighted.data.astype(np.float64) ** 2).mean())
    expected = _dense_similarity(weighted.toarray().astype(np.float64), similarity, shrink)
    np.fill_diagonal(expected, 0.0)
    best = -np.sort(-expected, axis=1)[:, :7]
    np.testing.assert_allclose(np.where(found.profile >= 0, found.similarity, 0.0), best, rtol=1e-4, atol=1e-6)
    listed = np.take_along_axis(expected, np.maximum(found.profile, 0), axis=1)
    np.testing.assert_allclose(np.where(found.profile >= 0, listed, 0.0), best, rtol=1e-4, atol=1e-6)
    assert not (found.profile == np.arange(40)[:, None]).any()


def test_rows_of_users_have_one_length_and_shrinking_counts_common_users() -> None:
    profiles = history(n_users=40, n_items=30)
    weighted = weigh(profiles, "length")
    np.testing.assert_allclose(
        weighted.multiply(weighted).sum(axis=0)[np.diff(profiles.tocsc().indptr) > 0], 1, rtol=1e-5
    )
    # Twice the weights everywhere are the same data: shrinking must not see a difference.
    doubled = csr_array((2 * weighted.data, weighted.indices, weighted.indptr), shape=weighted.shape)
    ours, theirs = (nearest(matrix, 5, ("cosine", "none", 10.0)) for matrix in (weighted, doubled))
    np.testing.assert_allclose(ours.similarity, theirs.similarity, rtol=1e-5)


def test_the_strength_of_slim_is_alpha_times_users() -> None:
    train = events(history(n_users=50, n_items=20))
    scores = full_scores(SLIM(strength=5.0), train)
    np.testing.assert_allclose(scores, full_scores(SLIM(alpha=0.1), train), atol=1e-6)


def test_weights_by_hand() -> None:
    profiles = csr_array(np.array([[1, 1, 0], [1, 0, 0], [1, 0, 1]], dtype=np.float32))
    idf = np.log(4 / np.array([4, 2, 2]))
    np.testing.assert_allclose(weigh(profiles, "tfidf").toarray(), profiles.toarray() * idf, rtol=1e-6)
    length = np.array([2, 1, 2]) / (5 / 3)
    factor = 2.2 / (1 + 1.2 * (0.25 + 0.75 * length))
    np.testing.assert_allclose(weigh(profiles, "bm25").toarray(), profiles.toarray() * idf * factor[:, None], rtol=1e-6)


@pytest.mark.parametrize("keep", ["target", "history"])
def test_item_neighbours_score_as_a_dense_model(keep: str) -> None:
    matrix = history(n_users=30, n_items=20)
    dense = matrix.toarray().astype(np.float64)
    found = nearest(matrix.T.tocsr(), 4, ("cosine", "none", 0.0)).matrix().toarray()
    assert (found > 0).sum(axis=1).max() == 4
    weights = found.T if keep == "target" else found
    np.testing.assert_allclose(
        full_scores(ItemKNN(k=4, shrink=0.0, weighting="none", keep=keep), events(matrix)), dense @ weights, atol=1e-5
    )


def test_user_neighbours_score_as_a_dense_model() -> None:
    matrix = history(n_users=30, n_items=20)
    found = nearest(matrix, 5, ("jaccard", "none", 0.0)).matrix().toarray()
    expected = found @ matrix.toarray()
    np.testing.assert_allclose(full_scores(UserKNN(k=5, similarity="jaccard"), events(matrix)), expected, atol=1e-5)


def test_a_smaller_k_is_a_cut_of_a_larger_one_and_a_larger_one_is_computed() -> None:
    profiles = history(n_users=50, n_items=30)
    lists = NeighbourLists(profiles)
    setting = ("cosine", "none", 0.0)
    for k in (20, 5, 40, 49, 500):
        shared, alone = lists.nearest(k, setting), nearest(profiles, k, setting)
        assert np.array_equal(shared.profile[:, :50], alone.profile[:, :50])
    for shrink in range(6):
        lists.nearest(3, ("cosine", "none", float(shrink)))
    assert np.array_equal(lists.nearest(3, setting).profile, nearest(profiles, 3, setting).profile)


def _elastic_net(matrix: csr_array, alpha: float, l1_ratio: float) -> np.ndarray:
    n_items = matrix.shape[1]
    weights = np.zeros((n_items, n_items))
    for item in range(n_items):
        others = matrix.toarray().astype(np.float64)
        target = others[:, item].copy()
        others[:, item] = 0.0
        model = ElasticNet(
            alpha=alpha, l1_ratio=l1_ratio, positive=True, fit_intercept=False, tol=1e-10, max_iter=20_000
        )
        weights[:, item] = model.fit(csc_matrix(others), target).coef_
    return weights


@pytest.mark.filterwarnings("ignore:Objective did not converge")  # of scikit-learn 1.5, with a gap of 0
@pytest.mark.parametrize("large", [False, True], ids=["dense counts", "sparse counts"])
@pytest.mark.parametrize(("alpha", "l1_ratio"), [(0.001, 0.1), (0.02, 0.5), (0.5, 0.01), (0.01, 0.0), (0.01, 1.0)])
def test_slim_is_the_elastic_net(alpha: float, l1_ratio: float, large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if large:
        monkeypatch.setattr(counts_module, "SMALL_CATALOGUE", 0)
        monkeypatch.setattr(counts_module, "LARGE_CATALOGUE", 0)
    matrix = history(n_users=80, n_items=30)
    strength = alpha * 80
    found = regress_items(
        Counts.of(matrix), strength * l1_ratio, strength * (1 - l1_ratio), tolerance=1e-9, max_sweeps=20_000
    )
    if l1_ratio == 0.0:
        # scikit-learn warns that it cannot judge convergence without an l1 part: the optimality condition instead.
        dense, weights = matrix.toarray().astype(np.float64), found.toarray().astype(np.float64)
        gradient = dense.T @ (dense @ weights - dense) + strength * weights
        np.fill_diagonal(gradient, 0.0)
        assert gradient.min() > -1e-3
        assert np.abs(gradient * weights).max() < 1e-4
        return
    np.testing.assert_allclose(found.toarray(), _elastic_net(matrix, alpha, l1_ratio), atol=2e-5)


def test_slim_grows_its_working_sets_to_the_same_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = history(n_users=400, n_items=300, density=0.1, seed=3)
    l1, l2 = 0.02, 0.4
    answers = []
    for limit in (4096, 0):
        monkeypatch.setattr(counts_module, "SMALL_CATALOGUE", limit)
        monkeypatch.setattr(counts_module, "LARGE_CATALOGUE", limit)
        answers.append(regress_items(Counts.of(matrix), l1, l2, tolerance=1e-7, max_sweeps=10_000).toarray())
    np.testing.assert_allclose(answers[0], answers[1], atol=1e-5)
    dense, weights = matrix.toarray().astype(np.float64), answers[0].astype(np.float64)
    assert np.count_nonzero(weights, axis=0).max() > 64
    gradient = dense.T @ (dense @ weights - dense) + l1 + l2 * weights
    np.fill_diagonal(gradient, 0.0)
    assert gradient.min() > -1e-3
    assert np.abs(gradient * weights).max() < 1e-4


def test_items_join_a_working_set_where_they_violate_optimality_beyond_the_tolerance() -> None:
    """A hundred times the largest weight lets none join: each target has weights of its first 64 items alone."""
    counts = Counts.of(history(n_users=400, n_items=300, density=0.1, seed=3))
    loose, exact = (regress_items(counts, 0.02, 0.4, tolerance=t, max_sweeps=10_000) for t in (100.0, 1e-7))
    assert loose.nnz < 0.75 * exact.nnz


@given(st.lists(st.integers(0, 6), min_size=1, max_size=60), st.integers(1, 30))
@settings(deadline=None)
def test_the_largest_keys_are_chosen(keys: list[int], wanted: int) -> None:
    key, chosen = np.array(keys, dtype=np.float64), np.empty(len(keys), dtype=np.int32)
    total = choose(key, len(keys), wanted, chosen)
    picked = set(chosen[:total].tolist())
    assert len(picked) == total <= max(wanted, 0)
    assert 2 * total >= min(wanted, len(keys))
    rest = [value for position, value in enumerate(keys) if position not in picked]
    assert not rest or min(keys[position] for position in picked) >= max(rest)


@pytest.mark.parametrize("large", [False, True], ids=["dense counts", "sparse counts"])
def test_local_ease_with_all_neighbours_is_ease(large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if large:
        monkeypatch.setattr(counts_module, "SMALL_CATALOGUE", 0)
        monkeypatch.setattr(counts_module, "LARGE_CATALOGUE", 0)
    matrix = csr_array((np.random.default_rng(1).random((200, 30)) < 0.4).astype(np.float32))
    assert (matrix.T @ matrix).nnz == 900
    train = events(matrix)
    np.testing.assert_allclose(
        full_scores(LocalEASE(neighbours=30, reg=20.0), train), full_scores(EASE(reg=20.0), train), atol=2e-4
    )


def test_local_ease_is_least_squares_on_the_neighbours() -> None:
    matrix = history(n_users=100, n_items=40)
    dense = matrix.toarray().astype(np.float64)
    near = nearest(matrix.T.tocsr(), 6, COSINE)
    found = local_weights(LocalCounts.of(matrix), near, 5.0)
    for item in range(40):
        chosen = near.profile[item][near.profile[item] >= 0]
        part = dense[:, chosen]
        expected = np.linalg.solve(part.T @ part + 5.0 * np.eye(len(chosen)), part.T @ dense[:, item])
        np.testing.assert_allclose(found.similarity[item][: len(chosen)], expected, atol=1e-5)


def test_counts_are_dense_or_sparse_and_the_same() -> None:
    crowded, sparse = history(density=0.3), csr_array((2, 5000), dtype=np.float32)
    assert Counts.of(crowded).table.shape == (25, 25)
    assert Counts.of(sparse).table.shape == (0, 0)
    assert np.array_equal(Counts.of(crowded).table, (crowded.T @ crowded).toarray())


@given(st.integers(1, 50), st.integers(1, 50), st.integers(0, 400))
def test_pairs_never_exceed_the_square(n_users: int, n_items: int, n_interactions: int) -> None:
    assert 0 < cooccurring_pairs(n_users, n_items, n_interactions) <= n_items**2


THREADED = """
import hashlib, numpy as np
from recassay.algorithms.neighbours import ItemKNN, UserKNN
from recassay.algorithms.slim import SLIM
from recassay.algorithms.sparse_linear import LocalEASE
from recassay.testing import learnable_tastes
train, _ = learnable_tastes()
for algorithm in (ItemKNN(), UserKNN(), SLIM(), LocalEASE(neighbours=20)):
    top = algorithm.fit(train, rng=np.random.default_rng(0)).recommend(
        np.arange(train.n_users, dtype=np.int32), 20, exclude=train.csr())
    print(hashlib.sha256(top.items.tobytes() + top.scores.tobytes()).hexdigest())
"""


@pytest.mark.slow
def test_threads_do_not_change_a_bit() -> None:
    answers = {
        subprocess.run(
            [sys.executable, "-c", THREADED],
            env={**os.environ, "NUMBA_NUM_THREADS": threads, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "5")
    }
    assert len(answers) == 1
    assert len(set(answers.pop().split())) == 4


def test_the_better_default_of_item_neighbours_is_no_worse() -> None:
    train, test = learnable_tastes()
    truth = test.csr().toarray() > 0
    users = np.arange(train.n_users, dtype=np.int32)

    def recall(algorithm: object) -> float:
        top = algorithm.fit(train, rng=np.random.default_rng(0)).recommend(users, 10, exclude=train.csr())  # type: ignore[attr-defined]
        return float(np.take_along_axis(truth, top.items, axis=1).sum() / truth.sum())

    assert recall(ItemKNN(k=20)) > 0.4
    assert recall(SLIM()) > 0.4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EASE(reg=0.0), "EASE cannot work with reg = 0.0"),
        (lambda: SLIM(alpha=0.0), "SLIM cannot work with alpha = 0.0; give a number that is above 0"),
        (
            lambda: SLIM(l1_ratio=1.5),
            "SLIM cannot work with l1_ratio = 1.5; give a number that is at least 0 and at most 1",
        ),
        (lambda: SLIM(tolerance=0.0), "SLIM cannot work with tolerance = 0.0"),
        (lambda: ItemKNN(k=0), "ItemKNN cannot work with k = 0; give a number that is at least 1"),
        (lambda: ItemKNN(shrink=-1.0), "ItemKNN cannot work with shrink = -1"),
        (lambda: UserKNN(similarity="cosin"), "UserKNN has no similarity 'cosin'.*cosine"),
        (lambda: ItemKNN(weighting="tf-idf2"), "has no weighting"),
        (lambda: ItemKNN(keep="both"), "has no keep 'both'"),
        (lambda: LocalEASE(neighbours=0), "LocalEASE cannot work with neighbours = 0"),
        (lambda: LocalEASE(reg=-1.0), "LocalEASE cannot work with reg"),
        (
            lambda: algorithms.get("ALS")(factors=0),
            "ALS cannot work with factors = 0; give a number that is at least 1",
        ),
        (lambda: algorithms.get("PLSA")(classes=-5), "PLSA cannot work with classes = -5"),
        (lambda: algorithms.get("MultiVAE")(latent=0), "MultiVAE cannot work with latent = 0"),
        (
            lambda: algorithms.get("MultiVAE")(dropout=1.0),
            "MultiVAE cannot work with dropout = 1.0; give a number that is at least 0 and at most 0.99",
        ),
        (lambda: algorithms.get("ALS")(reg=-1.0), "ALS cannot work with reg = -1.0; give a number that is at least 0"),
        (lambda: algorithms.get("ALS")(iterations=0), "ALS cannot work with iterations = 0"),
        (lambda: algorithms.get("LightGCN")(layers=-1), "LightGCN cannot work with layers = -1"),
    ],
)
def test_impossible_parameters_are_refused(make: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()  # type: ignore[operator]


@given(st.integers(1, 30), st.integers(1, 30), st.sampled_from([0.0, 0.1, 0.6]), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_pairs_are_those_of_the_gram_matrix_each_once(n_users: int, n_items: int, density: float, seed: int) -> None:
    matrix = history(n_users, n_items, density, seed)
    pairs = PairCounts.of(matrix)
    found = csr_array((pairs.users, pairs.other, pairs.start), shape=(n_items, n_items)).toarray()
    assert not np.tril(found).any()
    by_item = (found + found.T + np.diag(pairs.degree))[np.ix_(pairs.number, pairs.number)]
    np.testing.assert_array_equal(by_item, (matrix.T @ matrix).toarray())


@pytest.mark.parametrize("size", [1, 2, 3, 6, 7, 8, 9, 31])
def test_small_systems_are_solved(size: int) -> None:
    draws = np.random.default_rng(size)
    factor = draws.normal(size=(size, size + 2))
    definite = (factor @ factor.T + np.eye(size)).astype(np.float32)
    wanted = draws.normal(size=size)
    values = np.append(definite @ wanted, [7.0]).astype(np.float32)
    room = np.full((size + 1, size + 1), np.nan, dtype=np.float32)
    room[:size, :size] = np.tril(definite) + np.triu(np.full((size, size), np.nan, np.float32), 1)
    solve_definite(room, size, np.float32(0.5), values)
    np.testing.assert_allclose(values[:size], wanted, rtol=2e-3, atol=2e-3)
    assert values[size] == 7.0


@pytest.mark.parametrize(
    ("matrix", "right_side", "solved"),
    [
        ([[0.1]], [3.0], [6.0]),
        # The second pivot would be 1 - 1 = 0, and is 0.5: 0.5 x_1 = 3 - 2.
        ([[1, 0], [1, 1]], [2.0, 3.0], [0.0, 2.0]),
        # So would the third one.
        ([[1, 0, 0], [0, 1, 0], [1, 0, 1]], [2.0, 7.0, 3.0], [0.0, 7.0, 2.0]),
    ],
)
def test_a_pivot_that_is_rounding_is_the_least_eigenvalue(matrix: list, right_side: list, solved: list) -> None:
    values = np.array(right_side, dtype=np.float32)
    solve_definite(np.array(matrix, dtype=np.float32), len(values), np.float32(0.5), values)
    np.testing.assert_allclose(values, solved, atol=1e-5)


@pytest.mark.parametrize("algorithm", [EASE(device="cpu"), GFCF(device="cpu"), TurboCF(device="cpu")])
def test_a_dense_matrix_beyond_the_machine_is_refused_before_it_is_made(
    algorithm: EASE | GFCF | TurboCF, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(products, "machine_bytes", lambda: 16 << 30)
    few = np.zeros(3, dtype=np.int32)
    train = example_interactions(few, few, n_users=1, n_items=3)
    large = replace(train, items=pl.Series("item", np.arange(1_000_000)))
    with pytest.raises(UsageError, match=r"1,000,000 x 1,000,000 items, about [48].*GB.*LocalEASE or ItemKNN"):
        algorithm.fit(large, rng=np.random.default_rng(0))
    assert "LocalEASE" in algorithm.instead
