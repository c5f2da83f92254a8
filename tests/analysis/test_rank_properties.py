"""What every aggregation must satisfy on any table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from recassay.analysis.aggregation.contest import Contest, ratio_to_best, share_of_best
from recassay.analysis.aggregation.duels import Duels
from recassay.analysis.aggregation.rules import RULES, DolanMore, choose_rules, contributions, distinct, first_shares
from recassay.analysis.per_dataset import per_dataset
from recassay.analysis.profiles import fit_profiles
from recassay.analysis.rank.fit import rank_algorithms
from recassay.analysis.ratings.fit import rate_by_pairs
from recassay.core import ties
from recassay.core.errors import UsageError
from recassay.core.tables.matrix import Matrix

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
    for tables in (table[None], np.stack([table, table])):  # one table; machine code where there are several
        contest = Contest(tables, higher_is_better=True)
        ours = RULES["dm_lbo"].score(contest, np.stack([weights] * len(tables)), DolanMore())
        np.testing.assert_allclose(ours, np.stack([expected] * len(tables)))


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


def test_equal_algorithms_are_listed_by_name_in_every_analysis():
    level = Matrix(np.full((3, 6), 0.5), ("c", "a", "b"), tuple("uvwxyz"), "ndcg@10", True)
    ranked = rank_algorithms(level, methods=["mean", "borda", "mean_rank"], replicates=100)
    assert ranked.order() == [1, 2, 0]
    assert ranked.frames()["leaderboard"]["algorithm"].to_list() == ["a", "b", "c"]
    assert ranked.firsts() == {name: ["Mean rank", "Mean"] for name in "cab"}, "Borda is the mean rank"
    assert rate_by_pairs(level, replicates=100).order() == [1, 2, 0]
    assert fit_profiles(level).order() == [1, 2, 0]
    assert per_dataset(level).order() == [1, 2, 0]


def test_a_value_of_0_counts_however_little_its_dataset_weighs():
    contest = Contest(np.array([[[0.0, 0.5], [0.2, 0.2]]]), higher_is_better=True)
    weights = np.array([[0.3, 1.7], [0.0, 2.0]])
    for name in ("geometric_mean", "harmonic_mean"):
        expected = np.array([[0.0, 0.2], [0.5, 0.2]])
        np.testing.assert_allclose(RULES[name].score(contest, weights, DolanMore()), expected)


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
    assert not np.signbit(scores("minimax", values)[0]), "0, not -0"
    ratio_room = np.array([[2, 2, 1], [1.5, 0, 2], [0, 1.5, 2]]).sum(axis=1)
    np.testing.assert_allclose(scores("dm_auc", values), ratio_room / ratio_room.sum())


def test_negative_values_leave_out_what_needs_ratios():
    from support.tables import matrix

    result = rank_algorithms(matrix([[-1.0, 2.0], [0.5, 1.0]]), replicates=100)
    assert set(result.skipped) == {"dm_auc", "dm_lbo", "geometric_mean", "harmonic_mean"}
    assert set(result.rankings) == set(RULES) - set(result.skipped)
    assert set(result.skipped.values()) == {"needs values of at least 0, and ndcg@10 has negative ones"}


@pytest.mark.parametrize("up", [True, False])
@pytest.mark.parametrize(("beta_max", "step"), [(3.0, 0.1), (2.0, 0.25), (3.0, None)])
def test_profiles_on_a_grid_and_leaving_by_them_with_zeros_and_ties(up, beta_max, step):
    """Ratios, profiles and rounds in plain loops; 0 is infinitely far from a positive best, and equals a best of 0."""
    values = np.array(
        [[0.6, 0.3, 0.0, 0.4, 0.2], [0.5, 0.3, 0.0, 0.2, 0.5], [0.0, 0.1, 0.2, 0.8, 0.1], [0.5, 0.2, 0.0, 0.2, 0.5]]
    )
    weights = np.array([[1.0, 1, 1, 1, 1], [2, 0, 1, 2, 0]])
    options = DolanMore(beta_max, step)

    def ratio(own: float, best: float) -> float:
        above, below = (best, own) if up else (own, best)
        return 1.0 if own == best else above / below if below else np.inf

    def area(a: int, left: list[int], weight: np.ndarray) -> float:
        total = 0.0
        for d in range(5):
            far = ratio(values[a, d], (max if up else min)(values[b, d] for b in left))
            if step is None:
                total += weight[d] * max(beta_max - far, 0.0)
            else:
                beta = np.linspace(1, beta_max, round((beta_max - 1) / step) + 1)
                total += weight[d] * np.trapezoid((beta >= far - 1e-12).astype(float), beta)
        return total

    contest = Contest(values[None], higher_is_better=up)
    areas, rounds = (RULES[name].score(contest, weights, options) for name in ("dm_auc", "dm_lbo"))
    for row, weight in enumerate(weights):
        whole = np.array([area(a, [0, 1, 2, 3], weight) for a in range(4)])
        np.testing.assert_allclose(areas[row], whole / whole.sum())
        left, expected, place = [0, 1, 2, 3], np.zeros(4), 0
        while left:
            own = {a: area(a, left, weight) for a in left}
            gone = [a for a in left if own[a] >= max(own.values()) - 1e-9]
            expected[gone] = place + (len(gone) + 1) / 2
            place += len(gone)
            left = [a for a in left if a not in gone]
        np.testing.assert_allclose(rounds[row], expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((1.0,), "beta_max is 1.0; give a ratio above 1 and up to 1,000,000"),
        ((1e6 + 1,), "beta_max is 1000001.0"),
        ((3.0, 2.1), "beta_step is 2.1; give a step that parts 1 to beta_max into 1 to 100,000 pieces"),
        ((3.0, 1.9e-5), "beta_step is 1.9e-05"),
        ((3.0, 0.0), "beta_step is 0.0"),
    ],
)
def test_profiles_that_cannot_be_drawn_are_refused(options, message):
    with pytest.raises(UsageError, match=message):
        DolanMore(*options)
    assert DolanMore(1e6, 10.0).step == 10.0
    assert DolanMore(3.0, 2.0).step == 2.0


def test_rules_are_chosen_by_name_and_those_that_say_the_same_count_once():
    assert [rule.name for rule in choose_rules(["borda", "mean"])] == ["mean", "borda"]
    assert len(choose_rules(None)) == len(RULES)
    with pytest.raises(UsageError, match=r"unknown aggregation 'medn'; did you mean 'mean'\?"):
        choose_rules(["medn"])
    with pytest.raises(UsageError, match="an aggregation is asked for twice"):
        choose_rules(["mean", "mean"])
    assert [RULES[name].short for name in ("geometric_mean", "harmonic_mean", "mean")] == [
        "Geom. mean", "Harm. mean", "Mean"
    ]  # fmt: skip
    assert "borda" not in {rule.name for rule in distinct(RULES.values())}
    assert [rule.name for rule in distinct([RULES["borda"]])] == ["borda"]
    directions = {name: (rule.higher_is_better(True), rule.higher_is_better(False)) for name, rule in RULES.items()}
    assert directions == {
        **dict.fromkeys(("dm_auc", "copeland", "minimax", "borda", "plurality", "dowdall"), (True, True)),
        **dict.fromkeys(("dm_lbo", "mean_rank"), (False, False)),
        **dict.fromkeys(("mean", "geometric_mean", "harmonic_mean"), (True, False)),
    }
    np.testing.assert_allclose(
        first_shares(np.array([[1.0, 2.0, 3.0], [1.5, 1.5, 3.0]])), [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]
    )


@pytest.mark.parametrize(("up", "expected"), [(True, [[0.5, 1, 1], [1, 0, 1]]), (False, [[1, 0, 1], [0.5, 1, 1]])])
def test_the_share_of_the_best(up, expected):
    values = np.array([[1.0, 3.0, 0.0], [2.0, 0.0, 0.0]])
    assert share_of_best(values, higher_is_better=up).tolist() == expected
    signed = np.array([[-1.0, 2.0], [-2.0, -4.0]])
    assert share_of_best(signed, higher_is_better=up).tolist() == ([[1, 1], [0, -2]] if up else [[0, -2], [1, 1]])
    assert ratio_to_best(np.array([0.0, 2.0, 4.0]), np.array(4.0), higher_is_better=True).tolist() == [np.inf, 2.0, 1.0]
    assert ratio_to_best(np.array([0.0, 2.0]), np.array(0.0), higher_is_better=False).tolist() == [1.0, np.inf]
    assert ratio_to_best(np.array([0.3, 0.1 + 0.2]), np.array(0.1 + 0.2), higher_is_better=True).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("weights", [(0.5, 0.50000001), (2.0**24, 2.0**24 + 1)])
def test_a_duel_is_won_by_the_weight_that_is_a_little_larger(weights):
    """Single precision would take these weights for equal."""
    duels = Duels(np.eye(2))
    ahead, level = np.array([weights]), np.array([weights[:1] * 2])
    assert duels.outcomes(ahead).balance.tolist() == [[-1, 1]]
    assert duels.outcomes(ahead).worst.tolist() == [[weights[1], 0]]
    assert duels.outcomes(level).balance.tolist() == [[0, 0]]
    several = np.array([[2.0**23, 2.0**23 + 1, 2.0**23, 2.0**23]])
    assert Duels(np.repeat(np.eye(2), 2, axis=1)).outcomes(several).balance.tolist() == [[1, -1]]
    assert duels.outcomes(ahead).balance.tolist() == [[-1, 1]]


def test_the_grid_of_a_profile_has_the_nearest_number_of_steps():
    """Three steps of 0.1 have the trapezoid's weights 0.05, 0.1, 0.1 and 0.05; (1.2 - 1) / 0.1 is a little below 2."""
    areas = contributions(np.array([1.0, 1.05, 1.25, 1.31]), 1.3, 0.1)
    assert areas == pytest.approx([0.3, 0.25, 0.05, 0.0])
    assert contributions(np.array([1.0, 1.05, 1.15]), 1.2, 0.1) == pytest.approx([0.2, 0.15, 0.05])
    for step in (0.3, 0.35):
        assert contributions(np.array([1.0, 1.3]), 2.0, step) == pytest.approx([1.0, 5 / 6]), "1, 4/3, 5/3 and 2"


@pytest.mark.parametrize("step", [None, 0.1])
def test_zeros_are_as_good_as_the_best_zero_that_left(step):
    """Lower is better. After the first leaves, the second is level with it on one dataset, the third best on two."""
    values = np.array([[0.0, 1.0, 1.0], [0.0, 100.0, 100.0], [1.0, 1.5, 1.5]])
    assert scores("dm_lbo", values, up=False, step=step).tolist() == [1, 3, 2]
