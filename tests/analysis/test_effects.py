"""Hodges and Lehmann's estimate: its interval is Wilcoxon's test turned round, and it covers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from recassay.analysis.inference.effects import above_zero, equivalence_p, hodges_lehmann, pair_gaps, rounding_unit
from recassay.analysis.inference.wilcoxon import wilcoxon_rows
from recassay.core.tables.matrix import Matrix


@pytest.mark.parametrize("n", [6, 7, 15, 30])
def test_the_interval_ends_where_wilcoxon_begins_to_reject(n):
    gap = np.random.default_rng(n).standard_normal(n)
    _, low, high = hodges_lehmann(gap)
    for end, outside in ((low, -1e-9), (high, 1e-9)):
        assert wilcoxon_rows((gap - end - outside)[None]).p[0] <= 0.05 < wilcoxon_rows((gap - end + outside)[None]).p[0]


def test_the_interval_covers_with_its_level_and_not_much_more():
    gaps = 0.3 + np.random.default_rng(1).standard_normal((20_000, 10))
    _, low, high = hodges_lehmann(gaps).T
    assert ((low < 0.3) & (high > 0.3)).mean() == pytest.approx(1 - 0.0488, abs=0.006)  # the exact level of 10 datasets


def test_beyond_the_exact_distribution_the_normal_one_takes_over_smoothly():
    gap = np.random.default_rng(2).standard_normal(201)
    near, beyond = hodges_lehmann(gap[:200]), hodges_lehmann(gap)
    assert np.abs(near - beyond).max() < 0.02


def test_a_pair_is_a_ratio_above_zero_and_a_difference_else():
    values = np.array([[0.2, 0.4, 0.1, 0.3, 0.5, 0.6, 0.7], [0.1, 0.2, 0.05, 0.15, 0.25, 0.3, 0.35]])
    names = ("a", "b"), tuple(f"d{j}" for j in range(7))
    pair = np.array([0]), np.array([1])
    gaps, ratio = pair_gaps(Matrix(values, *names, "ndcg", True), *pair)
    assert ratio.tolist() == [True]
    assert gaps == pytest.approx(np.log(values[:1] / values[1:]))
    assert pair_gaps(Matrix(-values, *names, "loss", False), *pair)[0] == pytest.approx(gaps), "the same, negated"
    gaps, ratio = pair_gaps(Matrix(values - 0.1, *names, "score", True), *pair)
    assert ratio.tolist() == [False]
    assert gaps == pytest.approx(values[:1] - values[1:])
    third = np.vstack([values, np.zeros(7)])
    three = Matrix(third, ("a", "b", "c"), names[1], "ndcg", True)
    assert pair_gaps(three, np.array([0, 0]), np.array([1, 2]))[1].tolist() == [True, False], "a zero is its own affair"
    ratio = np.exp(hodges_lehmann(np.log(values[0] / values[1])))
    assert ratio == pytest.approx([2.0, 2.0, 2.0])
    few = hodges_lehmann(np.log(values[0, :5] / values[1, :5]))
    assert np.isinf(few[1:]).all()  # five signs alike have p = 0.0625


def test_rounded_values_do_not_show_what_rounding_may_hide():
    rng = np.random.default_rng(3)
    base = rng.uniform(4, 8, 20)
    fine = np.stack([base, base * np.exp(0.001 * rng.standard_normal(20))])
    pair = np.array([0]), np.array([1])
    assert equivalence_p(fine, *pair, within=0.02)[0][0] < 0.001
    assert equivalence_p(fine.round(1), *pair, within=0.02)[0][0] > 0.05  # 0.1 of 6 is 1.7 %
    assert equivalence_p(fine.round(3), *pair, within=0.02)[0][0] < 0.001
    units = [rounding_unit(fine), rounding_unit(fine.round(1)), rounding_unit(fine.round(0))]
    assert units == pytest.approx([0.0, 0.1, 1.0])
    many = np.ones((1000, 600))
    many[7, 7] = 1.25
    assert rounding_unit(many) == pytest.approx(0.01), "one value with decimals is enough"


@pytest.mark.parametrize(("n", "confidence"), [(3, 0.95), (6, 0.95), (8, 0.9), (9, 0.99), (12, 0.95), (230, 0.95)])
def test_estimate_and_ends_are_means_of_pairs_counted_from_both_sides(n, confidence):
    """The cut is that of the signed ranks, counted out; beyond 200 differences that of the normal distribution."""
    gap = np.random.default_rng(n).standard_normal(n).round(3)
    means = np.sort([(gap[i] + gap[j]) / 2 for i in range(n) for j in range(i, n)])
    if n > 200:
        middle, spread = n * (n + 1) / 4, np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        outside = int(np.floor(middle + stats.norm.ppf((1 - confidence) / 2) * spread - 0.5))
    else:
        sums = np.array([0])
        for rank in range(1, n + 1):
            sums = np.concatenate([sums, sums + rank])
        outside = max((s for s in range(len(means)) if (sums <= s).mean() <= (1 - confidence) / 2), default=-1)
    ends = (means[outside], means[-1 - outside]) if outside >= 0 else (-np.inf, np.inf)
    assert hodges_lehmann(gap, confidence).tolist() == pytest.approx([np.median(means), *ends])
    assert above_zero(gap[None] - ends[0], confidence).tolist() == [outside >= 0]
    assert above_zero(gap[None] - ends[0] - 1e-9, confidence).tolist() == [False]


def test_equivalence_is_two_one_sided_tests_with_holms_correction():
    """Three algorithms, one of them with a value of 0, which has no ratio; twelve datasets, or six families."""
    rng = np.random.default_rng(8)
    base = rng.uniform(0.2, 0.6, 12)
    values = base * np.exp([[0.0], [0.004], [0.012]] + 0.008 * rng.standard_normal((3, 12)))
    values = np.vstack([values, base])
    values[3, 0] = 0.0
    first, second = np.array([0, 0, 1, 0]), np.array([1, 2, 2, 3])
    families = np.repeat(np.arange(6), 2)
    for numbers in (None, families):
        alone, together = equivalence_p(values, first, second, within=0.02, families=numbers)
        expected = []
        for a, b in ((0, 1), (0, 2), (1, 2)):
            ratio = np.log(values[a] / values[b])
            ratio = ratio if numbers is None else ratio.reshape(6, 2).mean(axis=1)
            tests = [stats.wilcoxon(np.log(1.02) + side * ratio, alternative="greater") for side in (1, -1)]
            expected.append(max(test.pvalue for test in tests))
        assert alone.tolist() == pytest.approx([*expected, 1.0])
        order = np.sort(expected)
        holm = dict(zip(order, np.minimum(np.maximum.accumulate(order * [3, 2, 1]), 1), strict=True))
        assert together.tolist() == pytest.approx([*(holm[p] for p in expected), 1.0])
