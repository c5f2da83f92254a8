"""The set of possible winners: by hand, its size under the null, and that it shrinks when one is better."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import rankdata

from recassay.analysis.inference.families import family_means
from recassay.analysis.inference.winners import possible_winners, probability_first


def ranks_of(values):
    return rankdata(-values, axis=0)


def test_by_hand():
    ranks = np.array([[1.0, 1.0, 1.0, 1.0, 1.0], [2.0] * 5])  # one of 32 signs is as bad for the second
    found = possible_winners(ranks, np.random.default_rng(0))
    assert found.tolist() == pytest.approx([1.0, 1 / 32])


def test_identical_algorithms_lead_again_alike_and_one_that_is_never_better_last():
    values = np.tile(np.random.default_rng(1).random(15), (5, 1))
    values[2, 3] -= 0.3
    found = probability_first(ranks_of(values), np.random.default_rng(0))
    assert found.tolist() == pytest.approx([0.25, 0.25, 0.0, 0.25, 0.25])
    assert probability_first(np.full((4, 6), 2.5), np.random.default_rng(0)).tolist() == pytest.approx([0.25] * 4)


def test_ties_everywhere_leave_everybody():
    assert possible_winners(np.full((4, 6), 2.5), np.random.default_rng(0)).tolist() == [1.0] * 4


@pytest.mark.slow
@pytest.mark.parametrize(("n", "k"), [(5, 3), (10, 6), (20, 4)])
def test_the_best_is_in_the_set_as_often_as_said(n, k):
    rng = np.random.default_rng(n)
    lost = [possible_winners(ranks_of(rng.standard_normal((k, n))), rng)[0] <= 0.05 for _ in range(300)]
    assert 0.005 <= np.mean(lost) <= 0.075  # any of equals is a best one; discrete at five datasets
    level = np.zeros(k)
    level[0] = 0.3
    lost = [
        possible_winners(ranks_of(level[:, None] + rng.standard_normal((k, n))), rng)[0] <= 0.05 for _ in range(200)
    ]
    assert np.mean(lost) <= 0.05


def test_worse_ones_leave_the_set():
    rng = np.random.default_rng(3)
    values = rng.standard_normal((5, 30))
    values[0] += 2.0
    found = possible_winners(ranks_of(values), rng)
    assert found[0] > 0.5
    assert (found[1:] < 0.01).all()


def test_who_is_last_everywhere_is_out_whatever_the_others_do():
    """With five datasets one more pattern of signs would lift p above 0.05: not a close race at the end."""
    ranks = np.array([[1, 2, 1, 1, 1], [2, 1, 2, 2, 2], [3] * 5, [4, 5, 4, 5, 4], [5, 4, 5, 4, 5]], dtype=float)
    found = possible_winners(ranks, np.random.default_rng(0))
    assert (found[3:] <= 0.05).all()
    assert (found[:2] > 0.05).all()


def plain_possible_winners(ranks):
    """By loops over every pattern of signs."""
    k, n = ranks.shape
    p = []
    for i in range(k):
        others = [ranks[i] - ranks[other] for other in range(k) if other != i]

        def largest(signs, others=others):
            return max((signs * gap).sum() / np.sqrt((gap**2).sum() + n) for gap in others)

        flips = [largest(np.array(signs)) for signs in product((1.0, -1.0), repeat=n)]
        p.append(np.mean([flip >= flips[0] - 1e-9 for flip in flips]))
    return p


def test_possible_winners_by_loops():
    ranks = ranks_of(np.random.default_rng(4).random((4, 7)))
    assert possible_winners(ranks, np.random.default_rng(0)).tolist() == pytest.approx(plain_possible_winners(ranks))


@pytest.mark.parametrize("families", [None, [0, 0, 1, 2, 3, 4, 4, 5]])
def test_who_is_first_again_by_the_formulas(families):
    """Empirical Bayes written out in full matrices: normal means, and the same draws along the same axes."""
    ranks = ranks_of(np.array([0.5, 0.2, 0.0])[:, None] + np.random.default_rng(6).normal(0, 0.4, (3, 8)))
    numbers = None if families is None else np.array(families)
    found = probability_first(family_means(ranks, numbers, by_size=True), np.random.default_rng(1), draws=4000)
    units = ranks
    if families is not None:  # a family counts by its datasets
        units = np.stack([ranks[:, numbers == f].sum(axis=1) * 6 / 8 for f in range(6)], axis=1)
    (k, n), level = units.shape, np.eye(3) - 1 / 3
    own = np.cov(units) * (n - 1)
    covariance = (own + 0.5 * k * np.trace(own) / (n - 1) / (k - 1) * level + 0.5 * k * (k + 1) / 12 * level) / (
        n - 1 + 0.5 * k + 0.5
    )
    variance, axes = (part[..., 1:] for part in np.linalg.eigh(covariance / n))
    seen = axes.T @ (ranks.mean(axis=1) - 2)
    tau = max(0, (seen @ seen - 1.2 * variance.sum()) / (k - 1))
    rng = np.random.default_rng(1)
    kept = tau / (tau + variance)
    truth = rng.normal(size=(4000, 3)) @ axes * np.sqrt(kept * variance) + kept * seen
    again = rng.normal(size=(4000, 3)) @ axes * np.sqrt(variance) + truth
    expected = np.bincount((again @ axes.T).argmin(axis=1), minlength=3) / 4000
    assert found == pytest.approx(expected, abs=0.005)
    assert found.argmax() == 0
    assert probability_first(ranks, np.random.default_rng(1)).sum() == pytest.approx(1)
