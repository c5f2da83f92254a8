"""Fold-in: which algorithms may be asked with a history, and that ALS solves for one exactly."""

from __future__ import annotations

import numpy as np
import pytest

from recassay.algorithms import (
    als,
    baselines,
    graph_filters,
    linear,
    neighbours,
    random_walks,
    rating_mf,
    slim,
    sparse_linear,
)
from recassay.algorithms.external.models import wrap
from recassay.core.histories import FoldsIn, Histories
from recassay.core.registry import algorithms
from recassay.core.seeds import derived_rng
from recassay.testing.answers import alike, everyone, fitted
from recassay.testing.checks import check_fold_in, check_histories
from recassay.testing.examples import learnable_tastes

FOLDING = [
    linear.EASE, graph_filters.GFCF, graph_filters.TurboCF, neighbours.ItemKNN, random_walks.RP3beta, slim.SLIM,
    sparse_linear.LocalEASE, baselines.Random, baselines.MostPop, baselines.RecentPop,
    lambda: als.ALS(factors=8, iterations=2),
]  # fmt: skip
SEQUENTIAL = ["SASRec", "eSASRec", "BERT4Rec", "GRU4Rec"]
NETWORKS = [*SEQUENTIAL, "ELSA", "MultiVAE", "MultiDAE", "RecVAE", "RaCT", "DiffRec"]


class Scores:
    """The least that an own class has."""

    def fit(self, train):
        self.n_items = train.n_items

    def score(self, users):
        return np.zeros((len(users), self.n_items))


class Asked(Scores):
    """One that can be asked with histories."""

    def score_after(self, histories):
        return np.zeros((len(histories), self.n_items))


@pytest.mark.parametrize("make", [*FOLDING, lambda: neighbours.ItemKNN(keep="history")])
def test_lists_after_a_history(make):
    train, _ = learnable_tastes(users_per_group=10, items_per_group=10)
    assert isinstance(fitted(make(), train), FoldsIn)


def test_chance_draws_by_what_is_in_a_history_whatever_its_order():
    train, _ = learnable_tastes(users_per_group=10, items_per_group=10)
    histories = [[3, 11, 20], [20, 3, 11, 3], [3, 11], []]
    starts = np.cumsum([0, *map(len, histories)])
    asked = Histories(np.concatenate(histories).astype(np.int32), starts)
    first, again, other = (
        baselines.Random().fit(train, rng=derived_rng(seed, "fit")).recommend_from(asked, train.n_items, exclude=None)
        for seed in (5, 5, 6)
    )
    np.testing.assert_array_equal(first.items, again.items)
    np.testing.assert_array_equal(first.items[0], first.items[1])
    assert len({tuple(row) for row in [*first.items[1:], *other.items[1:]]}) == 6
    np.testing.assert_array_equal(np.sort(first.items), np.tile(np.arange(train.n_items), (4, 1)))


def test_what_cannot_be_asked_says_so():
    train, _ = learnable_tastes(users_per_group=10, items_per_group=10)
    for kind in (algorithms.get(name) for name in algorithms.names()):
        if kind.__module__.startswith("recassay.") and ".neural." not in kind.__module__ and kind.name != "RatingMF":
            assert isinstance(fitted(kind(), train), FoldsIn) == getattr(kind, "folds_in", True), kind.name
    for kind in (rating_mf.RatingMF, wrap(Scores), wrap(Scores())):
        assert not kind.folds_in
    assert wrap(Asked).folds_in


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_networks_on_profiles_fold_in(name):
    pytest.importorskip("torch")
    from support.neural import tiny

    train, _ = learnable_tastes(users_per_group=10, items_per_group=10)
    assert isinstance(fitted(tiny(name)(), train), FoldsIn)
    assert getattr(tiny(name)(), "folds_in", True)
    check_fold_in(tiny(name))
    check_histories(tiny(name))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["CDAE", "DMF", "ENMF", "LINE", "LightGCL", "LightGCN", "NNCF", "SGL", "SimpleX", "UltraGCN", "XSimGCL"]
)
def test_a_network_with_weights_for_each_user_does_not(name):
    pytest.importorskip("torch")
    from support.neural import tiny

    train, _ = learnable_tastes(users_per_group=10, items_per_group=10)
    assert not isinstance(fitted(tiny(name)(), train), FoldsIn)
    assert not tiny(name)().folds_in


def test_als_solves_the_normal_equations_of_a_history():
    train, _ = learnable_tastes(users_per_group=10, items_per_group=10)
    algorithm = als.ALS(factors=8, alpha=7.0, reg=3.0, reg_power=0.5, dense_above=1.0, iterations=3)
    model = algorithm.fit(train, rng=derived_rng(5, "fit"))
    history = [3, 11, 3, 20]
    items = model.item_factors.astype(np.float64)
    own = items[[3, 11, 20]]
    weights = 6.0 * np.diff(train.csr().indptr) + train.n_items
    reg = 3.0 * np.sqrt((6.0 * 3 + train.n_items) / weights.mean())
    user = np.linalg.solve(items.T @ items + 6.0 * own.T @ own + reg * np.eye(8), 7.0 * own.sum(axis=0))
    asked = Histories(np.array(history, dtype=np.int32), np.array([0, 4]))
    top = model.recommend_from(asked, train.n_items, exclude=None)
    np.testing.assert_allclose(top.scores[0], (items @ user)[top.items[0]], rtol=1e-3, atol=1e-5)


def test_users_that_training_has_not_seen_get_the_lists_of_those_it_has():
    train, _ = learnable_tastes(users_per_group=10, items_per_group=10)
    model = fitted(linear.EASE(), train)
    known = model.recommend(everyone(train), 5, exclude=None)
    histories = Histories.of(train, np.repeat(everyone(train), 2))
    folded = model.recommend_from(histories, 5, exclude=None)  # twice as many rows as there are users
    np.testing.assert_array_equal(folded.items[::2], known.items)
    np.testing.assert_array_equal(folded.items[1::2], known.items)
    assert alike(known, type(known)(known.users, folded.items[::2], folded.scores[::2]))


def test_a_device_gives_histories_the_lists_of_its_users():
    torch = pytest.importorskip("torch")
    from recassay.algorithms.kernels.device_products import weights_recommender

    train, _ = learnable_tastes(users_per_group=10, items_per_group=10)
    weights = torch.rand(train.n_items, train.n_items, generator=torch.Generator().manual_seed(1))
    # A processor under the name of a device: the same code as on a GPU.
    model = weights_recommender(train.csr(), weights, rng=derived_rng(3, "ties"), device="cpu:0")
    assert isinstance(model, FoldsIn)
    known = model.recommend(everyone(train), 10, exclude=train.csr())
    folded = model.recommend_from(Histories.of(train, everyone(train)), 10, exclude=train.csr())
    np.testing.assert_array_equal(folded.items, known.items)
    np.testing.assert_array_equal(folded.scores, known.scores)
