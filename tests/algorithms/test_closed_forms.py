"""Random walks, graph filters and NCE-PLRec against their formulas on dense matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recassay.algorithms.graph_filters import GFCF, TurboCF
from recassay.algorithms.nce_plrec import NCEPLRec
from recassay.algorithms.random_walks import RP3beta
from recassay.core.errors import UsageError
from recassay.core.seeds import derived_rng
from recassay.core.types import Interactions
from recassay.testing.examples import example_interactions, learnable_tastes


@pytest.fixture(scope="module")
def train() -> Interactions:
    return learnable_tastes(n_groups=3, users_per_group=20, items_per_group=15)[0]


def scores_of(algorithm: Any, train: Interactions) -> np.ndarray:
    users = np.arange(train.n_users, dtype=np.int32)
    top = algorithm.fit(train, rng=derived_rng(1)).recommend(users, train.n_items, exclude=None)
    scores = np.zeros((train.n_users, train.n_items))
    row, place = np.nonzero(top.items >= 0)
    scores[row, top.items[row, place]] = top.scores[row, place]
    return scores


def degrees(dense: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.maximum(dense.sum(1), 1), np.maximum(dense.sum(0), 1)


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 0.0), (0.7, 0.6)])
def test_random_walks(train, alpha, beta):
    dense = train.csr().toarray().astype(float)
    users, items = degrees(dense)
    walk = (dense.T / items[:, None] ** alpha) @ (dense / users[:, None] ** alpha) / items**beta
    np.fill_diagonal(walk, 0)
    np.testing.assert_allclose(scores_of(RP3beta(k=1000, alpha=alpha, beta=beta), train), dense @ walk, rtol=1e-4)
    # Every user's total over all items is the same whichever of equal weights are kept.
    total = np.sort(walk, axis=1)[:, -7:].sum(axis=1)
    found = scores_of(RP3beta(k=7, alpha=alpha, beta=beta), train)
    np.testing.assert_allclose(found.sum(axis=1), dense @ total, rtol=1e-4)


@pytest.mark.parametrize("ideal", [0.0, 0.3])
def test_the_graph_filter_of_gfcf(train, ideal):
    dense = train.csr().toarray().astype(float)
    users, items = degrees(dense)
    smooth = dense / np.sqrt(users)[:, None] / np.sqrt(items)
    vectors = np.linalg.svd(smooth, full_matrices=False)[2][:5].T
    passed = (vectors / np.sqrt(items)[:, None]) @ (vectors * np.sqrt(items)[:, None]).T
    expected = dense @ (smooth.T @ smooth + ideal * passed)
    np.testing.assert_allclose(scores_of(GFCF(factors=5, ideal=ideal), train), expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_polynomial_filters(train, order):
    dense = train.csr().toarray().astype(float)
    users, items = degrees(dense)
    scaled = dense / users[:, None] ** 0.6 / items**0.4
    p = (scaled.T @ scaled) ** 0.8
    filters = {1: p, 2: 2 * p - p @ p, 3: p + 0.01 * (-p @ p @ p + 10 * p @ p - 29 * p)}
    found = scores_of(TurboCF(alpha=0.6, power=0.8, order=order), train)
    np.testing.assert_allclose(found, dense @ filters[order], rtol=1e-3, atol=1e-4)


def test_nce_plrec_is_a_ridge_regression_on_its_embedding(train):
    dense = train.csr().toarray().astype(float)
    dense[:, 3] = 1  # an item that everybody has is worth nothing, and not less
    train = example_interactions(*np.nonzero(dense), n_users=train.n_users, n_items=train.n_items)
    count = degrees(dense)[1]
    worth = dense * np.maximum(np.log(train.n_users / count**1.1), 0)
    _, strength, vectors = np.linalg.svd(worth, full_matrices=False)
    users = dense @ (vectors[:6].T * np.sqrt(strength[:6]))
    weights = np.linalg.solve(users.T @ users + 3 * np.eye(6), users.T @ dense)
    found = scores_of(NCEPLRec(factors=6, beta=1.1, reg=3.0), train)
    np.testing.assert_allclose(found, users @ weights, rtol=1e-3, atol=1e-4)


def test_what_cannot_be_is_refused():
    for make in (lambda: RP3beta(k=0), lambda: TurboCF(order=4), lambda: NCEPLRec(reg=0.0)):
        with pytest.raises(UsageError):
            make()
