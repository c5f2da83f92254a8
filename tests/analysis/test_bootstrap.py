"""Intervals that cover, chances that add up, and numbers that do not depend on the order of the table."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from recassay.analysis.inference.bootstrap import expanded_tail, intervals, resampled_values
from recassay.analysis.rank.fit import rank_algorithms
from recassay.core.results import Results
from recassay.testing.results import synthetic_results
from support.tables import matrix


@pytest.mark.parametrize("n_datasets", [6, 12, 30])
def test_intervals_of_the_mean_cover(n_datasets):
    """95 % intervals of the mean cover the truth in 90 to 98 % of simulated benchmarks, few datasets included."""
    rng = np.random.default_rng(n_datasets)
    hits = []
    for trial in range(150):
        values = rng.normal([[0.5], [0.4]], 0.1, size=(2, n_datasets))
        result = rank_algorithms(matrix(values), methods=["mean"], replicates=1500, seed=trial)
        low, high = result.rankings["mean"].score_interval.T
        hits += list((low <= [0.5, 0.4]) & (high >= [0.5, 0.4]))
    assert 0.90 <= np.mean(hits) <= 0.985


def test_expanded_tail():
    """For many observations the plain 2.5 %; for few a smaller tail, as Student's t asks."""
    assert expanded_tail(0.95, 100_000) == pytest.approx(0.025, abs=1e-4)
    z = np.sqrt(5 / 4) * stats.t.ppf(0.975, 4)
    assert expanded_tail(0.95, 5) == pytest.approx(stats.norm.sf(z))


def test_probabilities_and_intervals():
    rng = np.random.default_rng(0)
    values = rng.random((5, 12)) + np.array([0.4, 0, 0, 0, 0])[:, None]
    result = rank_algorithms(matrix(values), replicates=500)
    for ranking in result.rankings.values():
        assert ranking.probability_best.sum() == pytest.approx(1)
        assert (ranking.rank_interval[:, 0] <= ranking.ranks).all()
        assert (ranking.rank_interval[:, 1] >= ranking.ranks).all()
        assert (ranking.score_interval[:, 0] <= ranking.score_interval[:, 1]).all()
    assert result.rankings["mean"].probability_best.argmax() == 0


def test_intervals_of_ranks_end_at_ranks_that_were_attained():
    """Between two attained ranks the interval is widened to the outer one: no algorithm was ever "rank 1.3"."""
    samples = np.array([[1, 1], [2, 1], [3, 1], [4, 2], [5, 2], [6, 4], [7, 4], [8, 4], [9, 4], [10, 4], [11, 7]])
    low, high = intervals(samples, 100_000, 0.9, discrete=True).T
    assert (low.tolist(), high.tolist()) == ([1, 1], [11, 7])
    low, high = intervals(samples, 100_000, 0.9).T
    np.testing.assert_allclose([low, high], [[1.5, 1], [10.5, 5.5]], atol=1e-3)
    result = rank_algorithms(matrix(np.random.default_rng(0).random((6, 7))), replicates=101)
    ends = np.stack([ranking.rank_interval for ranking in result.rankings.values()])
    np.testing.assert_array_equal(ends * 2, np.round(ends * 2))


def test_order_of_the_rows_does_not_matter_and_the_seed_does():
    frame = synthetic_results(10)
    straight = rank_algorithms(Results.from_frame(frame).matrix("ndcg@10"), replicates=300).to_dict()
    shuffled = Results.from_frame(frame.sample(fraction=1.0, shuffle=True, seed=3)).matrix("ndcg@10")
    assert rank_algorithms(shuffled, replicates=300).to_dict()["interval"] == straight["interval"]
    other = rank_algorithms(shuffled, replicates=300, seed=1).to_dict()
    assert other["interval"] != straight["interval"]
    assert other["methods"] == straight["methods"]


def test_known_best_is_found_and_twins_tie():
    result = rank_algorithms(Results.from_frame(synthetic_results()).matrix("ndcg@10"), replicates=500)
    for name, ranking in result.rankings.items():
        best = result.algorithms[int(ranking.ranks.argmin())]
        assert best == "Oracle", name
    ranking = result.rankings["mean_rank"]
    a, b = (result.algorithms.index(t) for t in ("Twin A", "Twin B"))
    (low_a, high_a), (low_b, high_b) = ranking.rank_interval[a], ranking.rank_interval[b]
    assert low_a <= high_b
    assert low_b <= high_a


@pytest.mark.parametrize("paired", [False, True])
def test_replicates_have_the_variance_of_a_mean(paired):
    """Resampled cell means spread as the standard error says: s / sqrt(n)."""
    rng = np.random.default_rng(5)
    measured = rng.normal(0.5, 0.05, size=(3, 4, 5))
    table = matrix(measured.mean(axis=2), replicates=measured, paired=paired)
    drawn = resampled_values(table, 20_000, np.random.default_rng(0))
    expected = measured.std(axis=2, ddof=1) / np.sqrt(5)
    np.testing.assert_allclose(drawn.std(axis=0), expected, rtol=0.05)
    np.testing.assert_allclose(drawn.mean(axis=0), table.values, atol=2e-3)


def test_folds_are_drawn_together():
    """With a fold effect common to all algorithms, paired resampling keeps their difference steady."""
    rng = np.random.default_rng(1)
    fold = rng.normal(0, 0.1, size=(1, 6, 5))
    measured = 0.5 + fold + rng.normal(0, 0.001, size=(2, 6, 5))
    joint = resampled_values(matrix(measured.mean(axis=2), replicates=measured, paired=True), 3000, rng)
    apart = resampled_values(matrix(measured.mean(axis=2), replicates=measured, paired=False), 3000, rng)
    assert (joint[:, 0] - joint[:, 1]).std() < 0.1 * (apart[:, 0] - apart[:, 1]).std()


def test_spread_of_seeds_widens_the_intervals():
    rng = np.random.default_rng(2)
    base = rng.random((4, 10, 1))
    noisy = np.clip(base + rng.normal(0, 0.3, size=(4, 10, 3)), 0, None)
    alone = rank_algorithms(matrix(noisy.mean(axis=2)), methods=["mean"], replicates=2000)
    with_seeds = rank_algorithms(matrix(noisy.mean(axis=2), replicates=noisy), methods=["mean"], replicates=2000)
    width = [np.diff(r.rankings["mean"].score_interval).mean() for r in (alone, with_seeds)]
    assert width[1] > 1.05 * width[0]
    assert with_seeds.resampled == "datasets and seeds"
