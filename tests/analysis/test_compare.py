"""The tests over datasets, against published numbers, scipy, hand work and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from recassay.analysis.compare.bayesian import posterior_weights, signed_rank
from recassay.analysis.compare.fit import compare_algorithms, indistinguishable_runs
from recassay.analysis.compare.power import power_statement
from recassay.analysis.inference.significance import dataset_ranks, friedman, holm, nemenyi_cd, rank_biserial
from recassay.core.errors import UsageError
from support.tables import DEMSAR_NAMES, demsar, matrix


def test_demsar():
    """Demšar 2006, section 3.2.4: mean ranks, Friedman 9.28, F 3.69, CD 1.25 at 0.05 (q 2.569) and 1.12 at 0.10."""
    result = compare_algorithms(demsar())
    ranks = dict(zip(result.algorithms, result.mean_ranks, strict=True))
    assert [round(ranks[name], 3) for name in DEMSAR_NAMES] == [3.143, 2.000, 2.893, 1.964]
    assert result.friedman.chi_square == pytest.approx(9.279, abs=5e-4)
    assert result.friedman.f == pytest.approx(3.686, abs=1e-3)
    assert result.friedman.degrees == (3, 39)
    assert result.nemenyi_cd == pytest.approx(1.2536, abs=1e-4)
    assert nemenyi_cd(4, 14, 0.10) == pytest.approx(1.1181, abs=1e-4)


def test_friedman_with_ties_is_scipys():
    table = demsar()
    ours = friedman(dataset_ranks(table))
    theirs = stats.friedmanchisquare(*table.values)
    assert ours.chi_square_ties == pytest.approx(theirs.statistic)
    assert ours.p_value_ties == pytest.approx(theirs.pvalue)
    assert ours.f_p_value_ties < ours.p_value_ties


def test_all_equal_is_no_evidence():
    result = compare_algorithms(matrix(np.full((3, 8), 0.25)), draws=2000)
    assert result.friedman.f_p_value_ties == 1.0
    assert {p.p_holm for p in result.pairs} == {1.0}
    assert all(b.p_rope == 1.0 for b in result.bayesian)
    assert result.groups["wilcoxon_holm"] == (("a00", "a01", "a02"),)


def test_perfect_order_is_all_evidence():
    result = compare_algorithms(matrix(np.arange(3.0)[:, None] + np.linspace(0, 0.5, 12)), draws=2000)
    assert result.friedman.f == np.inf
    assert result.friedman.f_p_value == 0.0
    assert all(p.significant and p.rank_biserial == 1.0 for p in result.pairs)
    assert result.groups["wilcoxon_holm"] == result.groups["bayesian"] == ()


def test_wilcoxon_is_scipys_and_holm_is_by_hand():
    rng = np.random.default_rng(3)
    table = matrix(rng.random((3, 9)) + np.array([0.0, 0.3, 0.5])[:, None])
    pairs = compare_algorithms(table, draws=1000).pairs
    row = {name: table.values[i] for i, name in enumerate(table.algorithms)}
    for pair in pairs:
        theirs = stats.wilcoxon(row[pair.left], row[pair.right])
        assert pair.statistic == theirs.statistic
        assert pair.p == theirs.pvalue
    p = sorted(pair.p for pair in pairs)
    by_hand = [min(1, 3 * p[0]), min(1, max(3 * p[0], 2 * p[1])), min(1, max(3 * p[0], 2 * p[1], p[2]))]
    assert sorted(pair.p_holm for pair in pairs) == pytest.approx(by_hand)
    assert all(pair.significant == (pair.p_holm < 0.05) for pair in pairs)


@pytest.mark.parametrize("zeros", ["wilcox", "pratt", "zsplit"])
def test_zero_differences(zeros):
    table = demsar()
    pairs = compare_algorithms(table, zeros=zeros, draws=1000).pairs
    pair = next(p for p in pairs if {p.left, p.right} == {"C4.5", "C4.5+m"})
    theirs = stats.wilcoxon(table.values[1], table.values[0], zero_method=zeros)
    assert pair.p == theirs.pvalue
    assert (pair.wins, pair.ties, pair.losses) == (10, 2, 2)


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_properties(p_values):
    p = np.array(p_values)
    adjusted = holm(p)
    assert (adjusted >= p).all()
    assert (adjusted <= 1).all()
    assert adjusted[p.argmin()] == pytest.approx(min(1, len(p) * p.min()))
    assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()


def test_lower_is_better_turns_every_side():
    values = np.random.default_rng(0).random((3, 10)) + np.array([0.0, 0.2, 0.6])[:, None]
    up = compare_algorithms(matrix(values), draws=4000)
    down = compare_algorithms(matrix(-values, higher_is_better=False), draws=4000)
    assert down.algorithms == up.algorithms
    assert [p.p for p in down.pairs] == [p.p for p in up.pairs]
    assert [p.median_difference for p in down.pairs] == pytest.approx([p.median_difference for p in up.pairs])
    assert [b.p_left for b in down.bayesian] == [b.p_left for b in up.bayesian]


# baycomp 1.0.3, SignedRankTest(x, y, rope, prior=0.5, nsamples=1_000_000), numpy seed 1
BAYCOMP_X = [0.81, 0.62, 0.55, 0.74, 0.90, 0.33, 0.47, 0.68, 0.59, 0.71]
BAYCOMP_Y = [0.78, 0.65, 0.50, 0.70, 0.88, 0.35, 0.40, 0.69, 0.55, 0.66]
BAYCOMP = {0.0: (0.9912, 0.0, 0.0088), 0.0123: (0.9425, 0.0461, 0.0114), 0.0271: (0.4079, 0.5921, 0.0000)}


@pytest.mark.parametrize("rope", BAYCOMP)
def test_bayesian_agrees_with_baycomp(rope):
    weights = posterior_weights(10, 200_000, np.random.default_rng(0))
    gap = np.array(BAYCOMP_X) - np.array(BAYCOMP_Y)
    assert signed_rank(gap, weights, rope) == pytest.approx(BAYCOMP[rope], abs=0.006)


@settings(max_examples=30)
@given(
    st.lists(st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0]), min_size=2, max_size=7),
    st.sampled_from([0.0, 0.4]),
)
def test_bayesian_against_the_double_sum(gaps, rope):
    weights = posterior_weights(len(gaps), 300, np.random.default_rng(1))
    z = np.array([0.0, *gaps])
    wins = np.zeros(3)
    for w in weights.T.astype(np.float64):
        theta = np.zeros(3)
        for i, z_i in enumerate(z):
            for j, z_j in enumerate(z):
                side = 0 if z_i + z_j > 2 * rope else 2 if z_i + z_j < -2 * rope else 1
                theta[side] += w[i] * w[j]
        best = theta >= theta.max() - 1e-6
        wins += best / best.sum()
    assert signed_rank(np.array(gaps), weights, rope) == pytest.approx(tuple(wins / 300), abs=0.011)


def test_bayesian_is_seeded():
    table = matrix(np.random.default_rng(2).random((3, 10)))
    first, again, other = (compare_algorithms(table, draws=5000, seed=s).bayesian for s in (0, 0, 1))
    assert first == again
    assert first != other


def test_rank_biserial_by_hand():
    assert rank_biserial(np.array([3.0, -1.0, 2.0, 0.0])) == pytest.approx((3 - 1 + 2) / 6)
    assert rank_biserial(np.zeros(3)) == 0.0


def test_runs():
    apart = {("a", "c"), ("a", "d"), ("b", "d")}
    runs = indistinguishable_runs(("a", "b", "c", "d", "e"), lambda x, y: (x, y) in apart)
    assert runs == (("a", "b"), ("b", "c"), ("c", "d", "e"))


def test_power_against_simulation():
    """A difference said to be found four times in five is found about that often (Nemenyi, simulated ranks)."""
    k, n = 5, 20
    statement = power_statement(k, n, 0.05, 1.0)
    rng = np.random.default_rng(0)

    def mean_gap_and_power(shift: float) -> tuple[float, float]:
        values = rng.normal(size=(600, k, n))
        values[:, 0] += shift
        ranks = (values[:, None] > values[:, :, None]).sum(axis=2) + 1
        gap = ranks[:, 1].mean(axis=1) - ranks[:, 0].mean(axis=1)
        return float(gap.mean()), float((gap > statement.smallest_significant).mean())

    shifts = np.linspace(0.5, 3.0, 26)
    gaps, found = zip(*(mean_gap_and_power(s) for s in shifts), strict=True)
    at = np.interp(statement.smallest_detectable, gaps, found)
    assert 0.75 <= at <= 0.97


def test_power_says_when_nothing_can_be_seen():
    few = power_statement(6, 5, 0.05, 0.5)
    assert not few.wilcoxon_can_decide
    assert "no pair of 6 algorithms can differ significantly" in few.sentence()
    many = power_statement(6, 40, 0.05, 0.5)
    assert many.wilcoxon_can_decide
    assert many.datasets_needed == pytest.approx(40 * (many.smallest_detectable / 0.5) ** 2, abs=1)


@pytest.mark.parametrize("bad", [{"alpha": 0.0}, {"alpha": 1.5}, {"rope": -1.0}, {"credibility": 0.2}])
def test_bad_settings(bad):
    with pytest.raises(UsageError, match=next(iter(bad))):
        compare_algorithms(matrix(np.eye(3)), **bad)
