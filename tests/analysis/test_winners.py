"""The set of possible winners: by hand, its size under the null, and that it shrinks when one is better."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata

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
