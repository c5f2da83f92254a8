"""PLSA and the aspect model: what EM promises, planted classes, tempering and smoothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from recassay.algorithms.latent_class import PLSA, AspectModel, _shares, counts_of, expected_masses
from recassay.core.errors import InputError
from recassay.core.seeds import derived_rng
from recassay.core.types import Interactions
from recassay.testing.examples import example_interactions
from support.made import random_events


def planted(n_groups: int = 3, users: int = 20, items: int = 12) -> Interactions:
    """Users of a group have half of their group's items and nothing else."""
    shape = (n_groups * users, n_groups * items)
    same = np.arange(shape[0])[:, None] // users == np.arange(shape[1])[None, :] // items
    user, item = np.nonzero(same & (derived_rng(1, "planted").random(shape) < 0.5))
    return example_interactions(user, item, n_users=shape[0], n_items=shape[1])


def log_likelihood(counts: csr_array, users: np.ndarray, items: np.ndarray) -> float:
    """sum_ui n(u, i) ln sum_z users[u, z] items[i, z], over the pairs that occur."""
    user, item = counts.nonzero()
    probability = (users.astype(np.float64) @ items.astype(np.float64).T)[user, item]
    return float(counts.toarray()[user, item] @ np.log(probability))


@settings(max_examples=25)
@given(
    n_users=st.integers(1, 15),
    n_items=st.integers(1, 12),
    classes=st.integers(1, 6),
    seed=st.integers(0, 1000),
    joint=st.booleans(),
    use_ratings=st.booleans(),
)
def test_without_tempering_the_likelihood_never_falls(
    n_users: int, n_items: int, classes: int, seed: int, joint: bool, use_ratings: bool
) -> None:
    train = random_events(n_users, n_items, 0.5, seed)
    common: dict[str, Any] = {"classes": classes, "iterations": 8, "beta": 1.0, "use_ratings": use_ratings}
    algorithm = AspectModel(smoothing=0.0, **common) if joint else PLSA(**common)
    counts = counts_of(train, use_ratings=use_ratings)
    likelihood = [
        log_likelihood(counts, model.user_factors, model.item_factors)
        for model in algorithm.fit_steps(train, rng=derived_rng(seed))
    ]
    assert len(likelihood) == 8
    assert (np.diff(likelihood) >= -1e-5 * (1 + abs(likelihood[0]))).all()


def test_the_expected_masses_are_the_posteriors_by_definition() -> None:
    rng = derived_rng(2, "posteriors")
    users, items = (rng.random((rows, 3)).astype(np.float32) for rows in (5, 4))
    dense = rng.integers(0, 3, (5, 4)).astype(np.float32)
    user_mass, item_mass = expected_masses(csr_array(dense), users, items)
    joint = users[:, None, :].astype(np.float64) * items[None, :, :]
    weighted = dense[:, :, None] * joint / joint.sum(axis=2, keepdims=True)
    np.testing.assert_allclose(user_mass, weighted.sum(axis=1), rtol=1e-5)
    np.testing.assert_allclose(item_mass, weighted.sum(axis=0), rtol=1e-5)


@pytest.mark.parametrize("algorithm", [PLSA(classes=3, beta=1.0), AspectModel(classes=3, beta=1.0)])
def test_planted_classes_are_found(algorithm: PLSA | AspectModel) -> None:
    train = planted()
    model = algorithm.fit(train, rng=derived_rng(1))
    for factors, size in ((model.user_factors, 20), (model.item_factors, 12)):
        groups = factors.argmax(axis=1).reshape(3, size)
        assert (groups == groups[:, :1]).all()
        assert len(set(groups[:, 0])) == 3


def test_plsa_gives_probabilities() -> None:
    train = random_events(30, 20, 0.3, 1)
    model = PLSA(classes=5).fit(train, rng=derived_rng(1))
    np.testing.assert_allclose(model.user_factors.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(model.item_factors.sum(axis=0), 1, rtol=1e-5)
    np.testing.assert_allclose((model.user_factors @ model.item_factors.T).sum(axis=1), 1, rtol=1e-5)


def test_the_aspect_model_gives_a_joint_probability() -> None:
    train = random_events(30, 20, 0.3, 1)
    model = AspectModel(classes=5).fit(train, rng=derived_rng(1))
    assert (model.user_factors @ model.item_factors.T).sum() == pytest.approx(1, rel=1e-4)


@pytest.mark.parametrize("algorithm", [PLSA(classes=4), AspectModel(classes=4, smoothing=0.0)])
def test_a_user_without_events_gets_a_list_by_popularity(algorithm: PLSA | AspectModel) -> None:
    known = random_events(40, 10, 0.4, 1)
    known = known.take(known.user > 0)
    model = algorithm.fit(known, rng=derived_rng(1))
    score = model.user_factors[0] @ model.item_factors.T
    count = np.bincount(known.item, minlength=10)
    np.testing.assert_allclose(score / score.sum(), count / count.sum(), rtol=0.02)


def test_tempering_damps_the_classes() -> None:
    train = planted()
    sharpness = []
    for beta in (1.0, 0.6, 0.1):
        users = PLSA(classes=3, beta=beta).fit(train, rng=derived_rng(1)).user_factors
        sharpness.append(float(users.max(axis=1).mean()))
    assert sharpness[0] >= sharpness[1] > sharpness[2]
    assert sharpness[2] == pytest.approx(1 / 3, abs=0.02)


def test_smoothing_gives_an_unseen_item_a_chance() -> None:
    known = random_events(30, 10, 0.4, 1)
    known = known.take(known.item > 0)
    bare, smooth = (
        AspectModel(classes=3, smoothing=amount).fit(known, rng=derived_rng(1)).item_factors[0] for amount in (0.0, 0.5)
    )
    assert bare.max() == 0
    assert smooth.min() > 0


def test_a_pair_that_no_class_explains_is_left_out() -> None:
    users, items = (np.array(rows, dtype=np.float32) for rows in ([[0, 1], [2, 2]], [[1, 0], [0.5, 1.5]]))
    user_mass, item_mass = expected_masses(csr_array(np.array([[3, 5], [0, 2]], dtype=np.float32)), users, items)
    assert user_mass.tolist() == [[0, 5], [0.5, 1.5]]
    assert item_mass.tolist() == [[0, 0], [0.5, 6.5]]


def test_shares_are_equal_where_there_is_no_mass() -> None:
    masses = np.array([[0, 2, 1], [0, 6, 1]], dtype=np.float32)
    assert _shares(masses, axis=0).tolist() == [[0.5, 0.25, 0.5], [0.5, 0.75, 0.5]]
    by_row = _shares(np.array([[0, 0, 0], [1, 2, 1]], dtype=np.float32), axis=1)
    np.testing.assert_allclose(by_row, [[1 / 3] * 3, [0.25, 0.5, 0.25]], rtol=1e-6)
    assert _shares(np.empty((0, 3), dtype=np.float32), axis=0).shape == (0, 3)


def test_a_rating_of_zero_is_a_count() -> None:
    train = random_events(5, 4, 0.5, 1)
    rated = replace(train, weight=np.where(np.arange(len(train)) == 0, 0, 2).astype(np.float32))
    assert sorted(set(counts_of(rated, use_ratings=True).data.tolist()) | {0}) == [0, 2]
    assert set(counts_of(rated, use_ratings=False).data.tolist()) == {1}


def test_ratings_count_where_they_are_asked_for() -> None:
    train = random_events(30, 20, 0.3, 1)
    plain, weighted = (
        PLSA(classes=4, use_ratings=wanted).fit(train, rng=derived_rng(1)).item_factors for wanted in (False, True)
    )
    assert not np.allclose(plain, weighted)
    negative = replace(train, weight=-np.ones(len(train), dtype=np.float32))
    with pytest.raises(InputError, match="below zero"):
        PLSA(use_ratings=True).fit(negative, rng=derived_rng(1))


def test_an_iteration_of_the_aspect_model_by_hand() -> None:
    train = random_events(6, 5, 0.5, 2)
    training = AspectModel(classes=2, beta=0.7, smoothing=0.3).training(train, derived_rng(1))
    training.classes = np.array([0.9, 0.1], dtype=np.float32)
    users, items, held = training.users.astype(float), training.items.astype(float), train.csr().toarray()
    joint = training.classes * (users[:, None] * items[None]) ** 0.7
    masses = held[:, :, None] * joint / joint.sum(axis=2, keepdims=True)
    training.advance(1)
    np.testing.assert_allclose(training.classes, masses.sum(axis=(0, 1)) / held.sum(), rtol=1e-4)
    for found, axis in ((training.users, 1), (training.items, 0)):
        mass = masses.sum(axis=axis) + 0.3
        np.testing.assert_allclose(found, mass / mass.sum(axis=0), rtol=1e-4)
