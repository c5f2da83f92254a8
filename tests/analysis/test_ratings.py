"""Bradley-Terry ratings: against a direct maximisation, whatever the order, intervals that cover, and odd tables."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.optimize import minimize

from recassay.analysis.ratings.fit import ELO, VIRTUAL_GAMES, rate_by_pairs, strengths
from recassay.core.errors import UsageError
from recassay.core.tables.matrix import Matrix
from recassay.reporting.sections.ratings import plot_ratings, sentences, tables


def matrix(values, *, higher=True, datasets=None):
    values = np.asarray(values, dtype=float)
    names = tuple(f"a{i}" for i in range(len(values)))
    return Matrix(values, names, datasets or tuple(f"d{j:02}" for j in range(values.shape[1])), "ndcg@10", higher)


def test_strengths_are_those_of_a_direct_maximisation():
    rng = np.random.default_rng(1)
    wins = rng.integers(0, 9, size=(4, 4)).astype(float) * (1 - np.eye(4))
    games = wins + wins.T
    virtual = VIRTUAL_GAMES / 3 * (1 - np.eye(4))

    def loss(s):
        margin = s[:, None] - s[None, :]
        return float(((wins + virtual / 2) * np.log1p(np.exp(-margin))).sum() + s.sum() ** 2)

    direct = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-10}).x
    np.testing.assert_allclose(strengths(wins.sum(axis=1)[None], games[None])[0], direct, atol=1e-5)


def test_two_algorithms_by_hand():
    values = np.array([[1.0] * 8 + [0.0] * 2, [0.0] * 8 + [1.0] * 2])
    result = rate_by_pairs(matrix(values), replicates=100)
    odds = (8 + 0.5) / (2 + 0.5)  # a virtual drawn game
    assert result.rating[0] - result.rating[1] == pytest.approx(ELO * np.log(odds))
    assert result.rating.mean() == pytest.approx(1500)
    assert result.win_rate[0, 1] == pytest.approx(0.8)


def test_the_order_of_datasets_and_the_scale_do_not_matter():
    rng = np.random.default_rng(2)
    values = rng.random((5, 12))
    first = rate_by_pairs(matrix(values), replicates=100)
    again = rate_by_pairs(matrix(values[:, ::-1]), replicates=100)
    np.testing.assert_allclose(first.rating, again.rating)
    np.testing.assert_allclose(first.rating, rate_by_pairs(matrix(np.exp(3 * values)), replicates=100).rating)
    np.testing.assert_allclose(first.rating, rate_by_pairs(matrix(-values, higher=False), replicates=100).rating)


def test_who_loses_everything_has_a_finite_rating_and_ties_are_half():
    values = np.vstack([np.zeros(6), np.ones((2, 6))])
    result = rate_by_pairs(matrix(values), replicates=200)
    assert np.isfinite(result.rating).all()
    assert result.interval[0, 0] == -np.inf  # nothing says how bad it is
    assert result.rating[1] == pytest.approx(result.rating[2])
    assert result.win_rate[1, 2] == pytest.approx(0.5)
    assert result.order()[-1] == 0


def test_intervals_cover_the_truth():
    rng = np.random.default_rng(3)
    truth = np.array([0.8, 0.0, -0.8])
    far = strengths(*_long_run(truth))[0] * ELO
    held = []
    for _ in range(60):
        values = truth[:, None] + rng.gumbel(size=(3, 25))
        found = rate_by_pairs(matrix(values), replicates=300, seed=1)
        held.append((found.interval[:, 0] <= 1500 + far) & (1500 + far <= found.interval[:, 1]))
    assert 0.88 <= np.mean(held) <= 0.99


def _long_run(truth):
    chance = 1 / (1 + np.exp(truth[None, :] - truth[:, None])) * (1 - np.eye(3))
    return 1e5 * chance.sum(axis=1)[None], 1e5 * (1 - np.eye(3))[None]


def test_a_baseline_anchors_the_scale_and_is_what_skill_means():
    values = np.array([[0.1, 0.2, 0.4], [0.11, 0.22, 0.44], [0.05, 0.1, 0.2]])
    result = rate_by_pairs(matrix(values), baseline="A0", replicates=100)
    assert result.rating[0] == pytest.approx(1000)
    assert result.interval[0].tolist() == pytest.approx([1000, 1000])
    np.testing.assert_allclose(result.skill, [0.0, 0.1, -0.5])
    np.testing.assert_allclose(result.improvability, [1 - 1 / 1.1, 0.0, 1 - 0.05 / 0.11])
    assert json.dumps(result.to_dict())
    with pytest.raises(UsageError, match="did you mean 'a1'"):
        rate_by_pairs(matrix(values), baseline="a11", replicates=100)


def test_families_are_drawn_whole():
    rng = np.random.default_rng(4)
    one = rng.random((3, 6))
    values = np.repeat(one, 5, axis=1)  # five copies of six datasets
    names = tuple(
        f"{family}-{i}" for family in ("amazon", "steam", "yelp", "movielens", "lastfm", "mind") for i in range(5)
    )
    copied = matrix(values, datasets=names)
    naive = rate_by_pairs(copied, replicates=400).interval
    honest = rate_by_pairs(copied, replicates=400, families="auto")
    assert honest.families == 6
    assert "over 6 families of datasets)" in sentences(honest)[0]
    assert (np.diff(honest.interval, axis=1) > np.diff(naive, axis=1)).all()
    by_hand = rate_by_pairs(copied, replicates=400, families={name: name.split("-")[0] for name in names})
    np.testing.assert_allclose(by_hand.rating, honest.rating)
    with pytest.raises(UsageError, match="no family is given"):
        rate_by_pairs(copied, families={"amazon-0": "x"}, replicates=100)
    with pytest.raises(UsageError, match="form 1 family"):
        rate_by_pairs(copied, families=dict.fromkeys(names, "one"), replicates=100)


def test_an_algorithm_that_won_everything_has_an_open_upper_end():
    rng = np.random.default_rng(5)
    values = rng.random((4, 15))
    values[2] += 2
    result = rate_by_pairs(matrix(values), replicates=200)
    low, high = result.interval[2]
    assert high == np.inf
    others = np.delete(result.rating, 2)
    assert (1 / (1 + 10 ** ((others - low) / 400))).mean() == pytest.approx(0.025 ** (1 / 15))
    assert "true share is at least 78 %" in sentences(result)[0]
    assert result.to_dict()["ratings"]["a2"]["interval"][1] is None
    assert np.isfinite(np.delete(result.interval, 2, axis=0)).all()
    turned = rate_by_pairs(matrix(-values), replicates=200)
    assert turned.interval[2, 0] == -np.inf
    assert "or less" in next(tables(turned)).rows[-1][2]
    assert "inf" not in json.dumps(plot_ratings(result).to_dict()).lower().replace("info", "")


def test_negative_values_have_no_improvability():
    result = rate_by_pairs(matrix([[-1.0, 2.0], [1.0, 3.0]]), replicates=100)
    assert np.isnan(result.improvability).all()
    assert result.to_frame().get_column("improvability").null_count() == 2
