"""What every aggregation must satisfy on any table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from recassay.analysis.aggregation.contest import Contest
from recassay.analysis.aggregation.rules import RULES, DolanMore
from recassay.analysis.rank.fit import rank_algorithms
from recassay.core import ties

BY_ORDER = ("mean_rank", "copeland", "minimax", "borda", "plurality", "dowdall")

# A few distinct values, zeros and ties among them, of a size that float sums keep apart.
cells = st.sampled_from([0.0, 0.05, 0.1, 0.125, 0.3, 0.5, 0.75, 1.0, 2.5])
tables = hnp.array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=6).flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=cells)
)


def scores(name: str, values: np.ndarray, *, up: bool = True, step: float | None = None) -> np.ndarray:
    contest = Contest(values[None], higher_is_better=up)
    return RULES[name].score(contest, np.ones((1, values.shape[1])), DolanMore(step=step))[0]


def ranks(name: str, values: np.ndarray, *, up: bool = True) -> np.ndarray:
    upward = RULES[name].higher_is_better(up)
    return ties.ranks(scores(name, values, up=up), higher_is_better=upward)


@pytest.mark.slow
@pytest.mark.parametrize("up", [True, False])
@pytest.mark.parametrize("name", RULES)
@settings(max_examples=60)
@given(table=tables)
def test_pareto(name, up, table):
    """Nobody who is at least as good everywhere ranks behind."""
    r = ranks(name, table, up=up)
    mine, theirs = table[:, None, :], table[None, :, :]
    dominates = (mine >= theirs).all(axis=2) if up else (mine <= theirs).all(axis=2)
    a, b = np.nonzero(dominates)
    assert (r[a] <= r[b]).all()


@pytest.mark.slow
@pytest.mark.parametrize("up", [True, False])
@pytest.mark.parametrize("name", RULES)
@settings(max_examples=40)
@given(table=tables, data=st.data())
def test_order_of_rows_and_columns_does_not_matter(name, up, table, data):
    rows = np.array(data.draw(st.permutations(range(table.shape[0]))))
    columns = np.array(data.draw(st.permutations(range(table.shape[1]))))
    moved = table[rows][:, columns]
    np.testing.assert_allclose(scores(name, moved, up=up), scores(name, table, up=up)[rows], atol=1e-9)
    np.testing.assert_array_equal(ranks(name, moved, up=up), ranks(name, table, up=up)[rows])


@pytest.mark.parametrize("name", BY_ORDER)
@settings(max_examples=40)
@given(table=tables)
def test_increasing_transforms_change_nothing(name, table):
    """The rank and vote based read only the order within each dataset."""
    bent = table.copy()
    bent[:, 0] = np.exp(5 * bent[:, 0])
    bent[:, 1:] = bent[:, 1:] ** 3 - 7
    np.testing.assert_allclose(scores(name, bent), scores(name, table), atol=1e-12)


@pytest.mark.parametrize("name", BY_ORDER)
@settings(max_examples=40)
@given(table=tables)
def test_lower_is_better_flips_the_order(name, table):
    np.testing.assert_allclose(scores(name, -table, up=False), scores(name, table, up=True), atol=1e-12)


@pytest.mark.parametrize("name", ["dm_auc", "dm_lbo", "geometric_mean"])
@settings(max_examples=40)
@given(table=tables)
def test_ratios_invert(name, table):
    """Where ratios count, a metric and its inverse (lower is better) rank alike."""
    table = table + 0.01
    np.testing.assert_array_equal(ranks(name, 1 / table, up=False), ranks(name, table, up=True))


@pytest.mark.parametrize("name", RULES)
def test_zeros_are_legal(name):
    values = np.array([[0.0, 0.0, 0.2], [0.1, 0.0, 0.0], [0.0, 0.0, 0.0]])
    for up in (True, False):
        assert np.isfinite(scores(name, values, up=up)).all()


@pytest.mark.parametrize("name", ["mean_rank", "dm_auc", "dm_lbo", "copeland", "minimax", "borda"])
@settings(max_examples=40)
@given(table=tables)
def test_equal_rows_share(name, table):
    doubled = np.vstack([table, table[:1]])
    r = ranks(name, doubled)
    assert r[0] == r[-1]


@settings(max_examples=60)
@given(table=tables, beta_max=st.sampled_from([1.5, 3.0, 8.0]))
def test_exact_area_is_the_integral_of_the_profile(table, beta_max):
    """Against a Riemann sum of the definition p(beta) = share of datasets with beta * value >= best."""
    beta = np.linspace(1, beta_max, 20_001)
    middle = (beta[1:] + beta[:-1]) / 2
    within = (middle * table[:, :, None] >= table.max(axis=0)[None, :, None]).mean(axis=1)
    area = within.mean(axis=1)
    contest = Contest(table[None], higher_is_better=True)
    ours = RULES["dm_auc"].score(contest, np.ones((1, table.shape[1])), DolanMore(beta_max))[0]
    np.testing.assert_allclose(ours, area / area.sum(), atol=2e-3)


@settings(max_examples=40)
@given(table=tables, data=st.data())
def test_leave_best_out_by_hand(table, data):
    """The batched removal equals the plain loop of the definition, for bootstrap weights too."""
    draws = st.lists(st.integers(0, table.shape[1] - 1), min_size=table.shape[1], max_size=table.shape[1])
    columns = data.draw(draws)
    weights = np.bincount(columns, minlength=table.shape[1]).astype(float)
    left, expected, place = list(range(table.shape[0])), np.zeros(table.shape[0]), 0
    while left:
        area = scores("dm_auc", table[np.ix_(left, columns)])
        gone = [a for a, value in zip(left, area, strict=True) if value >= area.max() - 1e-9]
        expected[gone] = place + (len(gone) + 1) / 2
        place += len(gone)
        left = [a for a in left if a not in gone]
    ours = RULES["dm_lbo"].score(Contest(table[None], higher_is_better=True), weights[None], DolanMore())[0]
    np.testing.assert_allclose(ours, expected)


@settings(max_examples=30)
@given(table=tables)
def test_weights_are_repeated_datasets(table):
    """A dataset of weight 2 counts as two columns, under every rule."""
    weights = np.ones((1, table.shape[1]))
    weights[0, 0] = 2.0
    twice = np.hstack([table, table[:, :1]])
    contest = Contest(table[None], higher_is_better=True)
    for name, rule in RULES.items():
        np.testing.assert_allclose(rule.score(contest, weights, DolanMore())[0], scores(name, twice), atol=1e-9)


def test_every_rule_is_in_the_property_tests_and_documented():
    assert set(BY_ORDER) <= set(RULES)
    assert all(rule.definition for rule in RULES.values())


def test_small_table_by_hand():
    values = np.array([[3.0, 3.0, 1.0], [2.0, 1.0, 2.0], [1.0, 2.0, 2.0]])
    hand = {
        "mean_rank": [(1 + 1 + 3) / 3, (2 + 3 + 1.5) / 3, (3 + 2 + 1.5) / 3],
        "copeland": [2, -1, -1],
        "minimax": [0, -2, -2],
        "borda": [4, 2.5, 2.5],
        "plurality": [2, 0.5, 0.5],
        "dowdall": [1 + 1 + 1 / 3, 1 / 2 + 1 / 3 + 0.75, 1 / 3 + 1 / 2 + 0.75],
        "harmonic_mean": [3 / (1 / 3 + 1 / 3 + 1), 3 / (1 / 2 + 1 + 1 / 2), 3 / (1 + 1 / 2 + 1 / 2)],
        "geometric_mean": [9 ** (1 / 3), 4 ** (1 / 3), 4 ** (1 / 3)],
    }
    for name, expected in hand.items():
        np.testing.assert_allclose(scores(name, values), expected, err_msg=name)
    ratio_room = np.array([[2, 2, 1], [1.5, 0, 2], [0, 1.5, 2]]).sum(axis=1)
    np.testing.assert_allclose(scores("dm_auc", values), ratio_room / ratio_room.sum())


def test_negative_values_leave_out_what_needs_ratios():
    from support.tables import matrix

    result = rank_algorithms(matrix([[-1.0, 2.0], [0.5, 1.0]]), replicates=100)
    assert set(result.skipped) == {"dm_auc", "dm_lbo", "geometric_mean", "harmonic_mean"}
    assert set(result.rankings) == set(RULES) - set(result.skipped)
