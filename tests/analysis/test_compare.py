"""The tests over datasets, against published numbers, scipy, hand work and simulation."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import recassay
from recassay.analysis.compare.bayesian import enough_draws, posterior_weights, signed_rank_rows
from recassay.analysis.compare.fit import ANALYSIS, compare_algorithms
from recassay.analysis.compare.result import PowerStatement
from recassay.analysis.inference.friedman import DRAWN, DRAWS, friedman, permutation_p
from recassay.analysis.inference.significance import dataset_ranks, holm, nemenyi_cd
from recassay.analysis.inference.wilcoxon import wilcoxon_rows
from recassay.analysis.verdict.fit import judge
from recassay.analysis.verdict.result import indistinguishable_runs
from recassay.core import ties
from recassay.core.analysis import AnalysisSpec
from recassay.core.errors import UsageError
from recassay.core.seeds import derived_rng
from recassay.core.tables.matrix import MissingCells
from recassay.reporting.words.compare import iman_davenport
from support.tables import DEMSAR_NAMES, demsar, matrix, opposed


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
    assert result.friedman.p == result.friedman.f_p_value_ties == 1.0
    assert {p.p_holm for p in result.pairs} == {1.0}
    assert all(b.p_rope == 1.0 for b in result.bayesian)
    assert result.groups["wilcoxon_holm"] == (("a00", "a01", "a02"),)


def test_perfect_order_is_all_evidence():
    result = compare_algorithms(matrix(np.arange(3.0)[:, None] + np.linspace(0, 0.5, 12)), draws=2000)
    assert result.friedman.f == np.inf
    assert np.isnan(result.friedman.f_p_value)  # F is infinite, and says nothing
    assert result.to_dict()["friedman"]["f_p_value"] is None
    assert result.friedman.p == pytest.approx(6.0**-11), "all agree: one order of six, twelve times"
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
        assert pair.p == pytest.approx(theirs.pvalue, rel=1e-12)
    p = sorted(pair.p for pair in pairs)
    by_hand = [min(1, 3 * p[0]), min(1, max(3 * p[0], 2 * p[1])), min(1, max(3 * p[0], 2 * p[1], p[2]))]
    assert sorted(pair.p_holm for pair in pairs) == pytest.approx(by_hand)
    assert all(pair.significant == (pair.p_holm < 0.05) for pair in pairs)


@pytest.mark.parametrize("zeros", ["wilcox", "pratt", "zsplit"])
def test_zero_differences(zeros):
    table = demsar()
    pairs = compare_algorithms(table, zeros=zeros, draws=1000).pairs
    pair = next(p for p in pairs if {p.left, p.right} == {"C4.5", "C4.5+m"})
    gap = table.values[1] - table.values[0]
    kept = np.round(gap[gap != 0] if zeros == "wilcox" else gap, 9)
    ranks = stats.rankdata(np.abs(kept)) * (kept != 0)
    sums = np.abs(np.array(list(product((1, -1), repeat=12))) @ ranks[kept != 0])
    assert pair.p == pytest.approx((sums >= abs((ranks * np.sign(kept)).sum()) - 1e-9).mean())
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
    left = [[b.p_left for b in found.bayesian] for found in (down, up)]
    assert left[0] == pytest.approx(left[1], abs=0.02), "chance is dealt out by the values, and these are others"


# baycomp 1.0.3, SignedRankTest(x, y, rope, prior=0.5, nsamples=1_000_000), numpy seed 1
BAYCOMP_X = [0.81, 0.62, 0.55, 0.74, 0.90, 0.33, 0.47, 0.68, 0.59, 0.71]
BAYCOMP_Y = [0.78, 0.65, 0.50, 0.70, 0.88, 0.35, 0.40, 0.69, 0.55, 0.66]
BAYCOMP = {0.0: (0.9912, 0.0, 0.0088), 0.0123: (0.9425, 0.0461, 0.0114), 0.0271: (0.4079, 0.5921, 0.0000)}


@pytest.mark.parametrize("rope", BAYCOMP)
def test_bayesian_agrees_with_baycomp(rope):
    weights = posterior_weights(10, 200_000, np.random.default_rng(0))
    gap = np.array(BAYCOMP_X) - np.array(BAYCOMP_Y)
    assert signed_rank_rows(gap[None], weights, rope)[0] == pytest.approx(BAYCOMP[rope], abs=0.006)


@pytest.mark.slow
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
    assert signed_rank_rows(np.array([gaps]), weights, rope)[0] == pytest.approx(tuple(wins / 300), abs=0.011)


def test_bayesian_is_seeded():
    table = matrix(np.random.default_rng(2).random((3, 10)))
    first, again, other = (compare_algorithms(table, draws=5000, seed=s).bayesian for s in (0, 0, 1))
    assert first == again
    assert first != other


def test_rank_biserial_by_hand():
    rows = np.array([[3.0, -1.0, 2.0, 0.0], [0.0] * 4])
    assert wilcoxon_rows(rows).biserial == pytest.approx([(3 - 1 + 2) / 6, 0.0])


def test_runs():
    apart = np.zeros((5, 5), dtype=bool)
    apart[[0, 0, 1], [2, 3, 3]] = True
    runs = indistinguishable_runs(("a", "b", "c", "d", "e"), apart)
    assert runs == (("a", "b"), ("b", "c"), ("c", "d", "e"))


def ahead(n: int, lead: float, rng: np.random.Generator):
    """Three algorithms, the first better than the second by `lead` standard deviations, the third far behind."""
    return matrix(rng.normal(size=(3, n)) + np.array([lead, 0.0, -3.0])[:, None])


def test_power_speaks_of_the_test_that_is_used():
    few = compare_algorithms(matrix(np.random.default_rng(0).random((8, 5))), draws=100).power
    assert not few.wilcoxon_can_decide
    assert few.sentence() == (
        "With 5 datasets and 8 algorithms, no difference can be significant: the smallest p is 0.062."
    )
    eight = compare_algorithms(matrix(np.random.default_rng(0).random((6, 8))), draws=100).power
    assert (eight.smallest_p, eight.wilcoxon_can_decide) == (2 / 2**8, False)
    assert eight.sentence() == "", "differences can be shown, though not by Wilcoxon-Holm"
    fewer = compare_algorithms(matrix(np.random.default_rng(0).random((3, 4))), draws=100).power
    assert fewer.sentence() == ""
    assert (few.alpha, few.pairs, fewer.pairs) == (0.05, 28, 3)
    families = {f"d{j:02d}": f"f{j % 5}" for j in range(12)}
    together = compare_algorithms(matrix(np.random.default_rng(0).random((3, 12))), families=families, draws=100).power
    assert (together.datasets, together.smallest_p) == (5, 2 / 2**5), "families count as one"


# Exact p-values: all agree, by hand (1 / k!^(N - 1)), and tables of the exact distribution (Siegel 1956, table N).
@pytest.mark.parametrize(
    ("k", "n", "p"), [(2, 2, 0.5), (2, 5, 0.0625), (3, 3, 1 / 36), (3, 4, 1 / 216), (4, 3, 1 / 576), (5, 2, 1 / 120)]
)
def test_friedman_when_all_agree(k, n, p):
    found = friedman(np.tile(np.arange(1.0, k + 1)[:, None], (1, n)))
    assert found.p == pytest.approx(p)
    assert found.way == "exact"
    assert np.isinf(found.f)


def test_friedman_is_exact_with_ties():
    """Against every permutation of every dataset, one after the other."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        ranks = stats.rankdata(rng.integers(0, 3, size=(3, 4)), axis=0)
        tables = product(*(list(permutations(column)) for column in ranks.T))
        sums = np.array([(np.array(table).sum(axis=0) ** 2).sum() for table in tables])
        expected = (sums >= (ranks.sum(axis=1) ** 2).sum() - 1e-9).mean()
        assert permutation_p(ranks)[0] == pytest.approx(expected)


def test_random_permutations_show_no_less_than_one_of_them():
    ranks = np.tile(np.arange(1.0, 9.0)[:, None], (1, 12))
    found = friedman(ranks, np.random.default_rng(0))
    assert (found.way, found.least_p) == ("permutations", 0.0001)
    assert iman_davenport(SimpleNamespace(friedman=found)) == "undefined (all datasets agree)"


def test_friedman_of_larger_tables():
    """Random permutations near the exact p where both can be had, and moments near random permutations beyond."""
    rng = np.random.default_rng(1)
    ranks = stats.rankdata(rng.random((5, 6)) + np.linspace(0, 0.3, 5)[:, None], axis=0)
    p, way = permutation_p(ranks)
    assert way == "permutations"
    assert permutation_p(ranks)[0] == p, "without a generator the same every time"
    perfect = np.tile(np.arange(1.0, 9)[:, None], (1, 8))
    assert permutation_p(perfect) == (1 / (1 + DRAWS), "permutations")
    large = stats.rankdata(rng.normal(size=(20, 110)) + np.linspace(0, 0.35, 20)[:, None], axis=0)
    assert large.size > DRAWN
    p, way = permutation_p(large)
    assert way == "moments"
    assert p == pytest.approx(friedman(large).f_p_value, rel=0.1)
    assert 0 < permutation_p(np.tile(np.arange(1.0, 21)[:, None], (1, 110)))[0] < 1e-200


@pytest.mark.parametrize(("k", "n"), [(3, 3), (3, 10), (4, 5)])
def test_friedman_holds_its_level(k, n):
    """At most 5 % of tables of equal algorithms are called different, and not far fewer where p can be so fine."""
    rng = np.random.default_rng(k * n)
    ranks = stats.rankdata(rng.random((200, k, n)), axis=1)
    level = np.mean([permutation_p(one)[0] < 0.05 for one in ranks])
    assert (0.005 if k * n < 10 else 0.02) <= level <= 0.08


@pytest.mark.parametrize("scale", [1, 100, 1e-3, 3.7])
def test_wilcoxon_does_not_depend_on_the_unit(scale):
    """Fractions and percent: differences that are equal in truth tie, whatever rounding makes of them."""
    left = np.array([0.62, 0.41, 0.73, 0.55, 0.48, 0.67, 0.59, 0.31]) * scale
    right = np.array([0.60, 0.43, 0.70, 0.50, 0.43, 0.65, 0.61, 0.28]) * scale
    whole = np.array([2, -2, 3, 5, 5, 2, -2, 3])
    assert wilcoxon_rows((left - right)[None]).p[0] == wilcoxon_rows(whole.astype(float)[None]).p[0]
    table = matrix(np.stack([left, right]))
    assert compare_algorithms(table, draws=100).pairs[0].p == wilcoxon_rows(whole.astype(float)[None]).p[0]


@pytest.mark.parametrize("zeros", ["wilcox", "pratt", "zsplit"])
def test_wilcoxon_is_exact_with_ties_and_zeros(zeros):
    rng = np.random.default_rng(4)
    for n in (1, 2, 5, 9):
        gap = rng.integers(-2, 4, n).astype(float)
        kept = gap[gap != 0] if zeros == "wilcox" else gap
        ranks = np.where(kept == 0, 0, stats.rankdata(np.abs(kept)) if len(kept) else kept)
        moving = ranks[ranks > 0]
        sums = [abs(np.dot(signs, moving)) for signs in product((1, -1), repeat=len(moving))]
        expected = np.mean(np.array(sums) >= abs((np.sign(kept) * ranks).sum()) - 1e-9) if len(moving) else 1.0
        assert wilcoxon_rows(gap[None], zeros).p[0] == pytest.approx(expected)


def test_one_tie_does_not_change_the_kind_of_p():
    """Fourteen wins in a row are 2 / 2^14, with a tie among the differences as without."""
    gap = np.arange(1.0, 15)
    gap[1] = gap[0]
    assert wilcoxon_rows(gap[None]).p[0] == pytest.approx(2.0**-13)
    many = np.random.default_rng(0).normal(0.1, 1, 190)
    assert wilcoxon_rows(many[None]).p[0] == pytest.approx(stats.wilcoxon(many, method="exact").pvalue, rel=1e-9)
    more = np.random.default_rng(0).normal(0.1, 1, 300)
    assert wilcoxon_rows(more[None]).p[0] == pytest.approx(stats.wilcoxon(more, method="asymptotic").pvalue, rel=1e-9)


def test_ranks_tie_pair_by_pair():
    """A millionth of a second and two are two numbers, even beside ten thousand seconds; rounding is none."""
    table = matrix(np.array([[1e-6, 0.3], [2e-6, 0.1 + 0.2], [1e4, 0.2]]), higher_is_better=False)
    assert dataset_ranks(table).T.tolist() == [[1, 2, 3], [2.5, 2.5, 1]]
    scores = ties.ranks(np.array([[1e-6, 2e-6, 1e4]]), higher_is_better=False)
    assert scores.tolist() == [[1, 2, 3]]


def test_the_direction_of_a_pair_is_that_of_the_test():
    """Wilcoxon weighs differences, the mean rank counts places: here they point to different algorithms."""
    table = matrix(opposed())
    pair = compare_algorithms(table, draws=100).pairs[0]
    assert (pair.left, pair.favours) == ("a00", "a01")
    assert pair.significant
    assert pair.rank_biserial < 0
    found = compare_algorithms(table, draws=2000)
    assert found.bayesian[0].p_right > found.credibility
    assert not any({"a00", "a01"} <= set(group) for group in found.groups["bayesian"]), "the second is better"
    named = compare_algorithms(table, control="a00", draws=100).control
    assert {each.other: each.favours for each in named.pairs}["a01"] == "a01"


def test_bars_are_those_of_the_rule_that_was_asked_for():
    table = matrix(np.random.default_rng(0).normal(size=(5, 12)) + np.linspace(0, 3, 5)[:, None])
    drawn = {bars: compare_algorithms(table, draws=500, bars=bars) for bars in ("wilcoxon-holm", "nemenyi", "bayesian")}
    for bars, result in drawn.items():
        assert result.drawn == result.groups[bars.replace("-", "_")]
        assert result.to_dict()["settings"]["bars"] == bars
    assert drawn["nemenyi"].drawn != drawn["bayesian"].drawn
    with pytest.raises(UsageError, match="one of 'sign-flips', 'wilcoxon-holm', 'nemenyi', 'bayesian'"):
        recassay.compare("results.csv", bars="dunn")


@pytest.mark.parametrize(
    ("option", "value"),
    [("alpha", 0.0), ("alpha", 1.0), ("alpha", 1.5), ("rope", -1.0), ("rope", np.inf), ("rope", np.nan),
     ("within", 0.0), ("within", 1.0)],
)  # fmt: skip
def test_bad_settings(option, value):
    with pytest.raises(UsageError, match=f"{option} is {value}; give a "):
        compare_algorithms(matrix(np.eye(3)), **{option: value})


@pytest.mark.parametrize(
    ("algorithms", "draws"),
    [(1, 50_000), (2, 50_000), (14, 50_000), (15, 47_619), (32, 10_080), (40, 10_000), (60, 10_000), (61, 10_000),
     (100, 4_000), (200, 1_000)],
)  # fmt: skip
def test_many_pairs_have_fewer_draws(algorithms, draws):
    assert enough_draws(algorithms) == draws


def test_what_so_many_datasets_can_show_in_words():
    shown = PowerStatement(12, 4, 0.05)
    assert shown.sentence() == ""
    assert (shown.pairs, shown.smallest_p, shown.smallest_p_holm) == (6, 2 / 2**12, 12 / 2**12)
    assert shown.wilcoxon_can_decide
    few = PowerStatement(5, 4, 0.05)
    assert (
        few.sentence() == "With 5 datasets and 4 algorithms, no difference can be significant: the smallest p is 0.062."
    )
    assert not few.wilcoxon_can_decide
    assert PowerStatement(5, 4, 0.07).sentence() == ""
    assert "no difference can be significant" in PowerStatement(5, 4, 2 / 2**5).sentence(), "p must be below alpha"
    assert PowerStatement(4, 4, 0.05).sentence() == ""


def test_the_table_of_pairs_joins_every_test():
    """Values of 0 have no ratio; the ratio is that of the typical dataset in the direction that more is better."""
    values = np.random.default_rng(6).random((4, 9)) + np.array([[0.6], [0.3], [0.2], [0.0]])
    values[3, 2] = 0.0
    result = compare_algorithms(matrix(values, higher_is_better=False), draws=2000, within=0.1, seed=1)
    frame = result.to_frame()
    assert frame.height == 6
    for row, pair, bayes in zip(frame.rows(named=True), result.pairs, result.bayesian, strict=True):
        assert (row["left"], row["right"], row["p_holm"]) == (pair.left, pair.right, pair.p_holm)
        assert (row["p_left"], row["p_rope"], row["p_right"]) == (bayes.p_left, bayes.p_rope, bayes.p_right)
        verdict = result.judgement.pair(pair.left, pair.right)
        assert (row["p_flips"], row["p_flips_adjusted"], row["status"]) == (verdict.p_single, verdict.p, verdict.status)
        left, right = (values[int(name[1:])] for name in (pair.left, pair.right))
        if "a03" in (pair.left, pair.right):
            assert row["ratio"] is row["p_equal_holm"] is None
        else:
            gap = np.log(right / left)
            first, second = np.triu_indices(9)
            assert row["ratio"] == pytest.approx(np.exp(np.median((gap[first] + gap[second]) / 2)))
    assert len(result.equivalence) == 3
    ranks = np.array(result.mean_ranks)
    close = np.abs(ranks[:, None] - ranks) <= result.nemenyi_cd
    assert result.groups["nemenyi"] == indistinguishable_runs(result.algorithms, ~close)
    better = np.array([max(b.p_left, b.p_right) > 0.95 for b in result.bayesian])
    apart = np.zeros((4, 4), dtype=bool)
    apart[np.triu_indices(4, 1)] = better
    assert result.groups["bayesian"] == indistinguishable_runs(result.algorithms, apart)
    groups = result.frames()["groups"]
    assert groups.filter(rule="nemenyi", group=1)["algorithm"].to_list() == list(result.groups["nemenyi"][0])
    assert result.drawn == result.groups["sign_flips"]
    assert compare_algorithms(matrix(values[:, :4]), draws=100).drawn == ()
    assert compare_algorithms(matrix(values), draws=100, control="a01").drawn == ()
    answer = result.to_dict()
    assert answer["settings"] == {"alpha": 0.05, "zeros": "wilcox", "rope": 0.0, "credibility": 0.95, "draws": 2000,
                                  "bars": "sign-flips"}  # fmt: skip
    assert (answer["equivalence"]["within"], answer["power"]["statement"]) == (0.1, result.power.sentence())
    assert (answer["skillings_mack"], answer["control"]) == (None, None)
    filled = replace(matrix(values), missing=MissingCells("worst", (("a00", "d01"),)))
    found = compare_algorithms(filled, draws=100, gaps_kept=np.where(np.eye(4, 9) > 0, np.nan, values))
    assert found.missing == filled.missing
    answer = found.to_dict()
    assert answer["missing"]["policy"] == "worst"
    assert answer["skillings_mack"]["statistic"] == found.skillings_mack.statistic
    assert answer["groups"]["nemenyi"] == [list(group) for group in found.groups["nemenyi"]]


@pytest.mark.parametrize("up", [True, False])
def test_a_control_against_each_other_by_plain_computation(up):
    values = np.random.default_rng(8).random((4, 10)) + np.array([[0.2], [0.0], [0.3], [0.1]])
    table = matrix(values, higher_is_better=up)
    result = compare_algorithms(table, control="a00", alpha=0.1, draws=100)
    ranks = stats.rankdata(-values if up else values, axis=0).mean(axis=1)
    error = np.sqrt(4 * 5 / (6 * 10))
    p = {}
    for pair in result.control.pairs:
        other = int(pair.other[1:])
        gap = (values[0] - values[other]) * (1 if up else -1)
        assert (pair.wins, pair.ties, pair.losses) == ((gap > 0).sum(), 0, (gap < 0).sum())
        assert pair.z == pytest.approx((ranks[other] - ranks[0]) / error)
        assert pair.p_dunn == pytest.approx(min(1.0, 3 * 2 * stats.norm.sf(abs(pair.z))))
        assert pair.p == pytest.approx(stats.wilcoxon(gap).pvalue)
        assert pair.median_difference == pytest.approx(np.median(gap))
        assert pair.status == result.judgement.status_of("a00", pair.other)
        assert pair.p_flips == result.judgement.pair("a00", pair.other).p
        p[pair.other] = pair.p
    adjusted = dict(zip(p, holm(np.array(list(p.values()))), strict=True))
    assert {pair.other: pair.p_holm for pair in result.control.pairs} == pytest.approx(adjusted)
    assert all(pair.significant == (pair.p_holm < 0.1) for pair in result.control.pairs)
    assert result.control.dunn_cd == pytest.approx(stats.norm.ppf(1 - 0.1 / 6) * error)
    assert [pair.other for pair in result.control.pairs] == [name for name in result.algorithms if name != "a00"]


def test_nemenyi_looks_at_the_units_whatever_the_order_of_the_datasets():
    """One family of thirty datasets and nine others: over datasets the first leads, over families the second."""
    values = np.repeat([[2.0, 1.0], [1.0, 2.0]], [30, 9], axis=0).T
    families = {f"d{d:02d}": "large" if d < 30 else f"f{d}" for d in range(39)}
    found = compare_algorithms(matrix(values), families=families, draws=100)
    assert (found.algorithms, found.power.datasets) == (("a00", "a01"), 10)
    assert found.nemenyi_cd < 0.8, "mean ranks of 1.9 and 1.1 over ten families"
    assert found.groups["nemenyi"] == ()
    assert found.mean_ranks == pytest.approx((48 / 39, 69 / 39)), "over datasets, as in every verdict"
    values[:, :3] = 1.0
    (pair,) = compare_algorithms(matrix(values), families=families, draws=100).pairs
    assert (pair.wins, pair.ties, pair.losses) == (27, 3, 9), "these count datasets as well"


def test_the_verdict_of_a_comparison_has_its_settings(monkeypatch):
    asked = {}
    table = matrix(np.random.default_rng(0).random((3, 6)))
    monkeypatch.setattr(
        "recassay.analysis.compare.fit.judge", lambda given, **options: asked.update(options) or judge(given, **options)
    )
    drawn = []
    for name in ("friedman", "skillings_mack"):
        monkeypatch.setattr(
            f"recassay.analysis.compare.fit.{name}",
            lambda *given, rng=None, **_: drawn.append((given[1] if rng is None else rng).random()),
        )
    gaps = np.where(np.eye(3, 6) > 0, np.nan, table.values)
    compare_algorithms(table, alpha=0.2, within=0.03, control="a02", seed=8, draws=100, gaps_kept=gaps)
    assert sorted(drawn) == sorted(derived_rng(8, name, table.metric).random() for name in ("friedman", "skillings"))
    assert asked == {"control": "a02", "within": 0.03, "alpha": 0.2, "families": None, "test": "sign-flips", "seed": 8}


def test_an_analysis_passes_on_what_was_asked(monkeypatch):
    """Of a table with a gap: the test of the table before anything was dropped has its algorithms."""
    asked = []
    monkeypatch.setattr(
        "recassay.analysis.compare.fit.compare_algorithms",
        lambda table, **options: asked.append((table, options)),
    )
    rows = [(a, d, "ndcg@10", 0.1 if (a, d) != ("B", "y") else None) for a in "ABC" for d in "xyz"]
    results = recassay.load_results(
        pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value"], orient="row")
    )
    ANALYSIS.run(results, AnalysisSpec("ndcg@10", missing="drop-algorithms", alpha=0.2, control="C", seed=9))
    ((table, options),) = asked
    assert table.algorithms == ("A", "C")
    assert (options["alpha"], options["control"], options["seed"]) == (0.2, "C", 9)
    assert options["names_kept"] == ["A", "B", "C"]
    assert np.isnan(options["gaps_kept"]).tolist() == [[False] * 3, [False, True, False], [False] * 3]
