"""The one rule of ties, by its definition, and every analysis by that rule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from recassay.analysis.aggregation.contest import Contest
from recassay.analysis.aggregation.rules import RULES, DolanMore
from recassay.analysis.compare.fit import compare_algorithms
from recassay.analysis.glicko.fit import rate_algorithms
from recassay.analysis.inference.significance import advantages
from recassay.analysis.inference.wilcoxon import wilcoxon_rows
from recassay.analysis.pareto import pareto_front
from recassay.analysis.profiles import fit_profiles
from recassay.analysis.rank.fit import rank_algorithms
from recassay.analysis.strata.pairs import paired_tests
from recassay.core import ties
from recassay.core.ties import RELATIVE_TIE, beats, level, ranks, sign
from support.tables import matrix

# Values, and the same values a little or a hair's breadth beside them, of either sign and any size.
near = st.builds(
    lambda base, scale, nudge: base * scale * (1 + nudge),
    st.sampled_from([-3.0, -1.0, 0.0, 1.0, 1.5, 3.0]),
    st.sampled_from([1e-9, 1.0, 1e9]),
    st.sampled_from([0.0, 1e-15, -1e-12, 4e-10, 9e-10, 1.5e-9, -1e-8, 1e-3]),
)
rows = hnp.arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 7)), elements=near)

FIRST_TWO = np.array([0]), np.array([1])


def tied(a: float, b: float) -> bool:
    return abs(a - b) <= RELATIVE_TIE * max(abs(a), abs(b))


@given(a=near, b=near)
def test_the_rule_is_its_definition(a, b):
    if abs(abs(a - b) - RELATIVE_TIE * max(abs(a), abs(b))) <= 1e-15 * max(abs(a), abs(b)):
        return  # on the very edge the last bit decides
    assert beats(a, b) == (a > b and not tied(a, b))
    assert sign(a, b) == (0 if tied(a, b) else np.sign(a - b))
    assert sign(b, a) == -sign(a, b)


@given(values=rows, up=st.booleans())
def test_ranks_count_pairs(values, up):
    signed = values if up else -values
    for row, found in zip(signed, ranks(values, higher_is_better=up), strict=True):
        above = [sum(bool(beats(other, mine)) for other in row) for mine in row]
        below = [sum(bool(beats(mine, other)) for other in row) for mine in row]
        assert found.tolist() == [a + (len(row) - a - b + 1) / 2 for a, b in zip(above, below, strict=True)]
        assert found.sum() == len(row) * (len(row) + 1) / 2


@given(values=rows)
def test_narrow_and_wide_rows_are_ranked_alike(values):
    narrow = ranks(values, higher_is_better=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ties, "NARROW", 0)
        np.testing.assert_array_equal(ranks(values, higher_is_better=True), narrow)


def test_ranks_of_exact_values_are_the_usual_ones_along_any_axis():
    values = np.random.default_rng(1).integers(0, 5, (6, 4, 3)).astype(float)
    for axis in (0, 1, 2, -1):
        np.testing.assert_array_equal(
            ranks(values, higher_is_better=False, axis=axis), stats.rankdata(values, axis=axis)
        )
        np.testing.assert_array_equal(
            ranks(values, higher_is_better=True, axis=axis), stats.rankdata(-values, axis=axis)
        )
    assert ranks(np.array([np.inf, 1.0, np.inf]), higher_is_better=True).tolist() == [1.5, 3.0, 1.5]


def test_a_chain_of_ties_is_ranked_by_its_pairs():
    chain = np.array([[1.0, 1 + 0.8e-9, 1 + 1.6e-9], [3.0, 2.0, 1.0]])
    assert ranks(chain, higher_is_better=True).tolist() == [[2.5, 2.0, 1.5], [1.0, 2.0, 3.0]]


@pytest.mark.slow
@given(values=hnp.arrays(np.float64, st.integers(0, 12), elements=near))
def test_levelled_values_tie_exactly_and_keep_their_order(values):
    levelled = level(values)
    np.testing.assert_allclose(levelled, values, rtol=1.1e-8)
    for i, j in np.ndindex(len(values), len(values)):
        if not beats(values[i], values[j]) and not beats(values[j], values[i]):
            assert levelled[i] == levelled[j]
        if levelled[i] > levelled[j]:
            assert values[i] > values[j]


NOISY = np.array([[0.1 + 0.2, 0.7, 0.25], [0.3, 0.1 * 7, 0.75 / 3], [0.2, 0.6999, 0.2], [0.15 + 0.15, 0.5, 0.1]])
"""The first two are equal in truth on every dataset, and in no bit pattern on the first two."""


@pytest.mark.parametrize("scale", [1.0, 100.0, 1e-7, 1e6])
@pytest.mark.parametrize("up", [True, False])
def test_fractions_and_percentages_tie_alike_everywhere(up, scale):
    assert (NOISY[0] != NOISY[1]).sum() >= 2
    table = matrix(NOISY * scale, higher_is_better=up)
    plain = matrix(NOISY.round(6), higher_is_better=up)
    for rule in RULES.values():
        one, two = (rank_algorithms(each, methods=[rule.name], replicates=100) for each in (table, plain))
        assert one.rankings[rule.name].ranks.tolist() == two.rankings[rule.name].ranks.tolist(), rule.name
        assert one.rankings[rule.name].ranks[0] == one.rankings[rule.name].ranks[1], rule.name
    one, two = (compare_algorithms(each, draws=2000) for each in (table, plain))
    assert one.mean_ranks == two.mean_ranks
    assert [(p.wins, p.ties, p.losses, p.p, p.rank_biserial) for p in one.pairs] == [
        (p.wins, p.ties, p.losses, p.p, p.rank_biserial) for p in two.pairs
    ]
    assert [(b.p_left, b.p_rope, b.p_right) for b in one.bayesian] == [
        (b.p_left, b.p_rope, b.p_right) for b in two.bayesian
    ]
    assert one.friedman == two.friedman
    first, second = (fit_profiles(each) for each in (table, plain))
    np.testing.assert_allclose(first.ratios, second.ratios, rtol=1e-12)
    for left, right in zip(first.to_dict()["profiles"].values(), second.to_dict()["profiles"].values(), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-12)
    one, two = (rate_algorithms(each, orders=2) for each in (table, plain))
    np.testing.assert_allclose(one.ratings, two.ratings, rtol=1e-12)
    assert one.ratings[0, 0] == pytest.approx(one.ratings[0, 1], rel=1e-12)


def test_a_large_score_elsewhere_makes_no_tie():
    table = matrix([[1e-6, 1e-6], [2e-6, 2e-6], [1e4, 1e4]])
    for name in ("mean", "geometric_mean", "harmonic_mean", "mean_rank", "borda"):
        found = rank_algorithms(table, methods=[name], replicates=100).rankings[name]
        assert found.ranks.tolist() == [3.0, 2.0, 1.0], name
    scores = RULES["mean"].score(Contest(table.values[None], higher_is_better=True), np.ones((1, 2)), DolanMore())
    assert ranks(scores, higher_is_better=True).tolist() == [[3.0, 2.0, 1.0]]


def test_differences_of_equal_size_share_their_rank():
    """0.3 - 0.2, 0.2 - 0.1 and 1.1 - 1 are one tenth each, in three bit patterns."""
    left, right = np.array([0.3, 0.2, 1.1, 0.5]), np.array([0.2, 0.1, 1.0, 0.75])
    gaps = advantages(matrix([left, right]), *FIRST_TWO)[0]
    assert len(set(np.abs(gaps))) == 4
    by_hand = stats.wilcoxon(np.array([0.1, 0.1, 0.1, -0.25]))
    ours = wilcoxon_rows(gaps[None], "wilcox")
    assert (ours.statistic[0], ours.p[0]) == (by_hand.statistic, by_hand.pvalue)
    equal = advantages(matrix([[0.1 + 0.2, 0.5], [0.3, 0.25]]), *FIRST_TWO)[0]
    assert equal.tolist() == [0.0, 0.25]


def test_points_that_tie_do_not_dominate():
    assert pareto_front(np.array([0.1 + 0.2, 0.3]), np.array([0.5, 0.5])).tolist() == [True, True]
    assert pareto_front(np.array([0.3, 0.4]), np.array([0.5, 0.5])).tolist() == [False, True]


@pytest.mark.parametrize("scale", [1.0, 1e-5, 1e5])
def test_strata_tie_by_the_same_rule(scale):
    users = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.1, 0.2, 0.3000001]]) * scale
    users[1] = users[0][::-1] + 1e-17 * scale
    tests = paired_tests(users[None], higher_is_better=True)
    assert np.sign(tests.difference[0]).tolist() == [0, -1, -1]
    same = paired_tests(np.array([[[0.1, 0.2], [0.3, 0.4]]]) * scale, higher_is_better=True)
    assert same.p[0, 0] == 0.5  # two users: no p is below that of two coins


@pytest.mark.parametrize("narrow", [0, 4])
def test_places_in_a_chain_of_ties_whose_ends_do_not_tie(narrow, monkeypatch):
    """Neighbours tie, the ends do not: each value counts for itself those above it and those it ties with."""
    monkeypatch.setattr(ties, "NARROW", narrow)
    step = 0.7 * RELATIVE_TIE
    row = np.array([1.0, 0.5, 1.0 + step, 1.0 + 2 * step])
    better, tied = ties.places(np.stack([row, row[::-1], np.arange(4.0)]), higher_is_better=True)
    assert better.tolist() == [[1, 3, 0, 0], [0, 0, 3, 1], [3, 2, 1, 0]]
    assert tied.tolist() == [[2, 1, 3, 2], [2, 3, 1, 2], [1] * 4]
