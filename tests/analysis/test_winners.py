"""The set of possible winners: by hand, its size under the null, and that it shrinks when one is better."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, rankdata, t

from recassay.analysis.inference.families import family_means
from recassay.analysis.inference.winners import mean_rank_intervals, probability_first


def ranks_of(values):
    return rankdata(-values, axis=0)


def test_identical_algorithms_lead_again_alike_and_one_that_is_never_better_last():
    values = np.tile(np.random.default_rng(1).random(15), (5, 1))
    values[2, 3] -= 0.3
    found = probability_first(ranks_of(values), np.random.default_rng(0))
    assert found.tolist() == pytest.approx([0.25, 0.25, 0.0, 0.25, 0.25])
    assert probability_first(np.full((4, 6), 2.5), np.random.default_rng(0)).tolist() == pytest.approx([0.25] * 4)


def plain_first_again(ranks, families, draws, rng):
    """The posterior of tau and of the size of V on a fine grid, and full matrices: no axes, no order of content.

    Datasets of a family deviate from the mean ranks together.
    """
    k, n, level = len(ranks), len(set(families)), np.eye(len(ranks)) - 1 / len(ranks)
    apart = ranks - ranks.mean(axis=1, keepdims=True)
    sums = [apart[:, families == f].sum(axis=1) * n / len(families) for f in set(families)]
    own = sum(np.outer(gap, gap) for gap in sums)
    covariance = (own + 0.5 * k * np.trace(own) / (n - 1) / (k - 1) * level + 0.5 * k * (k + 1) / 12 * level) / (
        n - 1 + 0.5 * k + 0.5
    )
    seen, by_lot = ranks.mean(axis=1) - (k + 1) / 2, np.sqrt((k * k - 1) / 12)
    # One coordinate less than algorithms: the ranks of a dataset have a constant sum.
    part = np.linalg.svd(level)[0][:, : k - 1]
    seen, covariance = part.T @ seen, part.T @ covariance @ part / n
    grid, fit = [], []
    for tau in by_lot * 1.2 * (np.arange(60) + 0.5) / 60:
        for size in (n - 0.5) / chi2.ppf((np.arange(20) + 0.5) / 20, n - 0.5):
            total = tau**2 * np.eye(k - 1) + size * covariance
            half_cauchy = 1 / (1 + (tau / (2.0 * by_lot)) ** 2)
            fit.append(half_cauchy * np.exp(-seen @ np.linalg.solve(total, seen) / 2) / np.sqrt(np.linalg.det(total)))
            grid.append((tau**2 * np.eye(k - 1), size * covariance, np.linalg.inv(total)))
    shares = np.zeros(k)
    for (prior, error, inverse), times in zip(grid, rng.multinomial(draws, np.array(fit) / sum(fit)), strict=True):
        middle, spread = prior @ inverse @ seen, prior - prior @ inverse @ prior + error
        again = rng.multivariate_normal(middle, spread, size=times) @ part.T
        shares += np.bincount(again.argmin(axis=1), minlength=k)
    return shares / draws


@pytest.mark.parametrize("families", [None, [0, 0, 1, 2, 3, 4, 4, 5]])
@pytest.mark.parametrize("levels", [[0.5, 0.2, 0.0], [0.0, 0.3, 0.3, 0.1, 1.0]])
def test_who_is_first_again_by_the_formulas(families, levels):
    noise = np.random.default_rng(6).normal(0, 0.4, (len(levels), 8))
    ranks = ranks_of(np.array(levels)[:, None] + noise)
    numbers = np.arange(8) if families is None else np.array(families)
    units = family_means(ranks, numbers, by_size=True)
    found = probability_first(units, np.random.default_rng(1), draws=100_000)
    expected = plain_first_again(ranks, numbers, 100_000, np.random.default_rng(2))
    assert found == pytest.approx(expected, abs=0.02), "its grid is coarser"
    assert found.argmax() == np.argmax(levels)
    assert found.sum() == pytest.approx(1)


def test_who_is_first_again_does_not_depend_on_where_rows_and_columns_stand():
    rng = np.random.default_rng(7)
    ranks = ranks_of(rng.random((5, 9)))
    found = probability_first(ranks, np.random.default_rng(0), draws=2000)
    for _ in range(5):
        rows, columns = rng.permutation(5), rng.permutation(9)
        moved = probability_first(ranks[rows][:, columns], np.random.default_rng(0), draws=2000)
        assert moved.tolist() == found[rows].tolist()


def test_intervals_of_mean_ranks_by_the_formula():
    """One dataset ranked by lot beside the mean, two beside the variance."""
    ranks = ranks_of(np.random.default_rng(8).random((4, 7)) + np.array([[0.6], [0.2], [0.0], [0.0]]))
    found = mean_rank_intervals(ranks, 0.9)
    for own, (low, high) in zip(ranks.tolist(), found.tolist(), strict=True):
        mean = sum(own) / 7
        centre = (sum(own) + 2.5) / 8
        variance = (sum((rank - mean) ** 2 for rank in own) + 2 * 15 / 12) / 8
        half = t.ppf(0.95, 8) * (variance / 8) ** 0.5
        assert (low, high) == pytest.approx((max(1, centre - half), min(4, centre + half)))
    first = np.tile(np.arange(1.0, 6.0)[:, None], (1, 6))  # everybody has one place everywhere
    ends = mean_rank_intervals(first, 0.95)
    half = t.ppf(0.975, 7) * np.sqrt(2 * 24 / 12) / 7
    assert ends[0].tolist() == pytest.approx([1.0, 9 / 7 + half]), "first everywhere, and yet not sure to stay so"
    assert ends[2].tolist() == pytest.approx([3 - half, 3 + half])
    assert ends[4].tolist() == pytest.approx([33 / 7 - half, 5.0])


def test_families_of_different_sizes_are_no_spread_of_ranks():
    """Four datasets of one family and four others: the sums of the deviations in a family, over 8 / 5 datasets each."""
    families = np.array([0, 0, 0, 0, 1, 2, 3, 4])
    ranks = ranks_of(np.random.default_rng(9).random((3, 8)) + np.array([[0.6], [0.2], [0.0]]))
    found = mean_rank_intervals(family_means(ranks, families, by_size=True), 0.95)
    for own, ends in zip(ranks, found, strict=True):
        apart = own - own.mean()
        squares = sum((apart[families == f].sum() * 5 / 8) ** 2 for f in range(5)) + 2 * 8 / 12
        centre, half = (5 * own.mean() + 2) / 6, t.ppf(0.975, 6) * np.sqrt(squares) / 6
        assert ends.tolist() == pytest.approx([max(1, centre - half), min(3, centre + half)])
    same = np.tile(np.arange(1.0, 4.0)[:, None], (1, 8))
    weighed = family_means(same, families, by_size=True)
    assert mean_rank_intervals(weighed, 0.95) == pytest.approx(mean_rank_intervals(same[:, :5], 0.95))


@pytest.mark.parametrize("n", [6, 8, 12, 20])
def test_mean_ranks_are_covered_of_a_dominant_algorithm_as_well(n):
    """It wins nine of ten datasets like these; where resampling sees it first everywhere, it promises 1.0 to 1.0."""
    levels, rng = np.array([2.85, 0.8, 0.3, -0.3, -0.8]), np.random.default_rng(n)

    def drawn(tables):
        return 1.0 + (-levels[:, None] - rng.normal(size=(tables, 5, n))).argsort(axis=1).argsort(axis=1)

    many = drawn(20_000)
    assert (many[:, 0] == 1).mean() == pytest.approx(0.9, abs=0.01)
    true = many.mean(axis=(0, 2))
    ends = np.stack([mean_rank_intervals(ranks, 0.95) for ranks in drawn(1500)])
    covered = ((ends[..., 0] <= true) & (true <= ends[..., 1])).mean(axis=0)
    assert covered[0] >= 0.98
    assert ((covered[1:] > 0.94) & (covered[1:] < 0.995)).all()
    width = (ends[:, 0, 1] - ends[:, 0, 0]).mean()
    assert width < 3 / np.sqrt(n), "of the 4 ranks that there are"
