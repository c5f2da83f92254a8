"""The stress tests measure what they say: properties by theory, small tables by hand, planted truth, bad input."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

import recassay
from recassay.analysis.aggregation.contest import Contest, Extended
from recassay.analysis.aggregation.rules import RULES, distinct
from recassay.analysis.inference.agreement import spearman
from recassay.analysis.inference.bootstrap import subset_weights
from recassay.analysis.stress.changes import (
    add_best,
    add_copies,
    few_datasets,
    improved,
    kept_sizes,
    several,
    small_sizes,
)
from recassay.analysis.stress.conclusions import survival
from recassay.analysis.stress.fit import stress_rankings
from recassay.analysis.stress.ranker import Ranker, spread, subsets
from recassay.core.analysis import AnalysisResult
from recassay.core.errors import NotApplicableError, UsageError
from recassay.core.system.plain import plain
from recassay.testing.results import synthetic_results
from support.tables import demsar, matrix

MEANS = ("mean", "geometric_mean", "harmonic_mean")
ALL = tuple(RULES.values())

cells = st.sampled_from([0.0, 0.05, 0.1, 0.125, 0.3, 0.5, 0.75, 1.0, 2.5])
tables = st.tuples(st.integers(3, 6), st.integers(5, 8)).flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=cells)
)


def random_table(algorithms: int = 6, datasets: int = 12, *, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.exp(rng.normal(0, 0.5, (algorithms, datasets)) + np.linspace(1, 0, algorithms)[:, None])


def ranker_of(rules, values: np.ndarray, up: bool = True) -> Ranker:
    return Ranker(tuple(rules), Contest(values[None], higher_is_better=up))


def ranked(rules, values: np.ndarray, up: bool = True) -> np.ndarray:
    """The ranks of a whole table, rules x algorithms."""
    return ranker_of(rules, values, up)(np.ones((1, values.shape[1])))[:, 0]


@pytest.fixture(scope="module")
def result():
    return stress_rankings(matrix(random_table()), draws=150)


def test_spearman_is_scipys_and_level_rankings_are_settled():
    rng = np.random.default_rng(0)
    left = stats.rankdata(rng.integers(0, 5, (40, 7)), axis=1)
    right = stats.rankdata(rng.integers(0, 5, (40, 7)), axis=1)
    expected = [stats.spearmanr(a, b).statistic for a, b in zip(left, right, strict=True)]
    np.testing.assert_allclose(spearman(left, right), expected, atol=1e-12)
    level = np.full(7, 4.0)
    assert spearman(level, left[0]) == 0.0
    assert spearman(level, level) == 1.0


@pytest.mark.parametrize("up", [True, False])
def test_ranks_of_many_subsets_are_those_of_each(up):
    """Subsets by weights give what one table at a time gives."""
    values = random_table(5, 8)
    drawn, _ = subsets(8, 5, 40, np.random.default_rng(0))
    together = ranker_of(ALL, values, up)(subset_weights(drawn, 8))
    for at, chosen in enumerate(drawn):
        np.testing.assert_array_equal(together[:, at], ranked(ALL, values[:, chosen], up))


@pytest.mark.parametrize("up", [True, False])
def test_ranks_with_one_more_and_among_a_part_are_those_of_the_tables_themselves(up):
    values = random_table(9, 8).round(1)
    weights = np.random.default_rng(1).multinomial(8, [1 / 8] * 8, 6).astype(float)
    ranker = ranker_of(ALL, values, up)
    longer = np.vstack([values, values[4] * 1.1])
    after = ranker.of(Extended(ranker.contest, longer[-1]), weights)
    np.testing.assert_array_equal(after, ranker_of(ALL, longer, up)(weights))
    chosen, _ = subsets(9, 5, 20, np.random.default_rng(2))
    parts = ranker.among(chosen)
    for t, those in enumerate(chosen):
        np.testing.assert_array_equal(parts[:, t], ranked(ALL, values[those], up))


def test_small_blocks_change_nothing(monkeypatch):
    values = random_table(5, 8)
    weights = subset_weights(subsets(8, 4, 70, np.random.default_rng(0))[0], 8)
    chosen, _ = subsets(5, 3, 4, np.random.default_rng(0))
    ranker = ranker_of(ALL, values)
    whole, parts = ranker(weights), ranker.among(chosen)
    monkeypatch.setattr("recassay.analysis.stress.ranker.NUMBERS_AT_ONCE", 60)
    monkeypatch.setattr("recassay.analysis.aggregation.duels.NUMBERS_AT_ONCE", 60)
    ranker = ranker_of(ALL, values)
    np.testing.assert_array_equal(ranker(weights), whole)
    np.testing.assert_array_equal(ranker.among(chosen), parts)


def test_subsets_are_all_or_drawn():
    few, exhaustive = subsets(5, 3, 100, np.random.default_rng(0))
    assert exhaustive
    assert len({tuple(row) for row in few.tolist()}) == 10
    many, exhaustive = subsets(30, 15, 50, np.random.default_rng(0))
    assert not exhaustive
    assert subset_weights(many, 30).sum(axis=1).tolist() == [15.0] * 50
    assert (subset_weights(many, 30) <= 1).all()


def test_sizes_follow_the_table():
    assert small_sizes(30) == (5, 10)
    assert small_sizes(12) == (5,)
    assert small_sizes(6) == (3,)
    assert [several(n) for n in (5, 12, 30, 60)] == [2, 2, 5, 10]
    assert kept_sizes(3) == [2]
    assert kept_sizes(11) == list(range(3, 11))
    assert len(kept_sizes(200)) == 10
    assert spread(1, 98, 30)[0] == 1
    assert spread(1, 98, 30)[-1] == 98


@pytest.mark.slow
@settings(max_examples=40)
@given(table=tables, up=st.booleans())
def test_means_are_independent_of_irrelevant_alternatives(table, up):
    """The mean of an algorithm knows no other algorithm: rho is exactly 1 whatever is added."""
    n = table.shape[1]
    ranker = ranker_of([RULES[name] for name in MEANS], table, up)
    weights = np.vstack([np.ones(n), np.random.default_rng(0).multinomial(n, [1 / n] * n, 3)])
    similar, kept = add_copies(ranker, weights)
    best = add_best(ranker, weights)
    assert (similar.numbers[:, :, [0, 1, 2, 4]] == 1.0).all()
    assert (best.numbers[:, :, [0, 1, 2, 4]] == 1.0).all()
    assert np.isin(kept.ahead, [0.0, 0.5, 1.0]).all()


@pytest.mark.parametrize("name", ["mean_rank", "borda", "copeland", "dm_lbo"])
@settings(max_examples=25)
@given(table=tables)
def test_a_new_best_one_moves_no_ranks(name, table):
    """Who beats everybody everywhere shifts all ranks alike, wins all duels, and leaves first.

    At factor 1 it only ties with the best of each dataset, which is another matter for ranks.
    """
    curve = add_best(ranker_of([RULES[name]], table + 0.01), np.ones((2, table.shape[1])))
    assert (curve.rho[:, 1:] == 1.0).all()


def test_mean_rank_depends_on_irrelevant_alternatives():
    """A is before B by one place on two datasets, B before A on one; a copy of B widens the one gap for A."""
    values = np.array([[0.9, 0.9, 0.1], [0.8, 0.8, 0.9], [0.1, 0.1, 0.2], [0.2, 0.2, 0.3]])
    curve, _ = add_copies(ranker_of([RULES["mean_rank"], RULES["mean"]], values), np.ones((2, 3)))
    assert curve.lowest[0].min() < 1
    assert curve.lowest[1].min() == 1


def test_a_new_best_one_blinds_minimax_plurality_and_the_area():
    """Everyone loses every duel to it, nobody else is first, and from factor 3 on nobody is within reach."""
    names = ("minimax", "plurality", "dm_auc")
    curve = add_best(ranker_of([RULES[name] for name in names], random_table()), np.ones((2, 12)))
    by_rule = dict(zip(curve.rules, curve.rho, strict=True))
    assert all(by_rule[name][-1] == 0.0 for name in names)


@pytest.mark.parametrize("up", [True, False])
def test_improved_is_better_in_either_direction(up):
    values = np.array([-2.0, -0.1, 0.3, 5.0])
    gain = improved(values, 1.1, higher_is_better=up) - values
    assert ((gain > 0) == up).all()
    loss = improved(values, 0.9, higher_is_better=up) - values
    assert ((loss < 0) == up).all()


def test_pareto_holds_where_theory_says_so_and_dominance_is_counted_right():
    values = np.array([[0.9, 0.5, 0.2], [0.8, 0.5, 0.1], [0.1, 0.6, 0.3]])
    weights = np.array([[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
    ranks = np.array([[[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]], [[2.0, 1.0, 3.0], [2.0, 2.0, 2.0]]])
    up = ranker_of(ALL, values).contest.duels.dominated(weights, ranks)
    assert up[0] == 1 + 3  # 0 dominates 1; on the first dataset alone 0 dominates 1 and 2, and 1 dominates 2
    assert up[1].tolist() == [3, 1]
    assert up[2].tolist() == [0, 3]
    down = ranker_of(ALL, values, up=False).contest.duels.dominated(weights[:1], ranks[:, :1])
    assert (down[0], down[1].tolist()) == (1, [1, 0])
    table = random_table(8, 20)
    small = few_datasets(ranker_of(ALL, table), ranked(ALL, table), 5, 200, np.random.default_rng(0))
    assert small.dominated > 500
    assert small.against == (0,) * len(ALL)
    level = dict(zip(RULES, small.level, strict=True))
    assert level["plurality"] > 0
    assert all(level[name] == 0 for name in ("mean_rank", "mean", "geometric_mean", "borda", "dowdall"))


def test_survival_by_hand():
    nan = np.nan
    ranks = np.array([[[1.0, 2.0, 3.0], [1.5, 1.5, 3.0], [2.0, 1.0, nan], [nan, 1.0, 2.0]]])
    found = survival("x", "x", ranks, exhaustive=True)
    np.testing.assert_allclose(found.first[0], [(1 + 0.5 + 0) / 3, (0 + 0.5 + 1 + 1) / 4, 0])
    assert found.ahead[0, 0, 1] == pytest.approx((1 + 0.5 + 0) / 3)
    assert found.ahead[0, 1, 0] == pytest.approx(1 - (1 + 0.5 + 0) / 3)
    assert found.ahead[0, 0, 2] == 1
    assert found.ahead[0, 1, 2] == 1


def test_dropping_algorithms_keeps_the_means_and_reranks_the_rest(result):
    curve = result.curves["drop_algorithms"]
    for name in MEANS:
        assert (curve.rho[curve.rules.index(name)] == 1.0).all()


def test_every_curve_is_whole(result):
    assert set(result.curves) == {"drop_datasets", "drop_algorithms", "similar", "new_best", "beta"}
    for curve in result.curves.values():
        mean, low, high, error, lowest = np.moveaxis(curve.numbers, 2, 0)
        assert np.isfinite(curve.numbers).all()
        assert (lowest <= mean + 1e-12).all()
        assert (low <= high).all()
        assert (error >= 0).all()
    dropped = result.curves["drop_datasets"]
    assert dropped.rho[:, 0].tolist() == [1.0] * 10
    assert (dropped.rho[:, 1] > dropped.rho[:, -1]).all()
    usual = result.curves["beta"]
    assert usual.rho[:, usual.x.tolist().index(3.0)].tolist() == [1.0, 1.0]


def test_leaving_one_dataset_out_is_exact():
    values = random_table(5, 9, seed=3)
    found = stress_rankings(matrix(values), draws=100)
    best = found.order[0]
    for d in range(9):
        rest = ranked(distinct(ALL), np.delete(values, d, axis=1))
        lost = (found.reference[:, best] == found.reference.min(axis=1)) & (rest[:, best] != rest.min(axis=1))
        np.testing.assert_array_equal(found.deciding[:, d], lost)


def test_a_clear_order_survives_everything():
    ladder = np.linspace(0.2, 0.6, 12)
    clear = stress_rankings(matrix(np.stack([ladder + 0.3, ladder + 0.2, ladder + 0.1, ladder])), draws=100)
    assert clear.tiers[0] == [0]
    first, decided, order = clear.verdict()[:3]
    assert first.startswith(
        "The first place of a00 survives when 2 of the 12 datasets are left out: it stays first in "
    )
    assert "under all 10 aggregations" in first
    assert decided.startswith("No single dataset decides it")
    assert "a00" in order


def test_the_first_place_is_that_of_the_mean_rank():
    """Under most aggregations a01 is first; the verdict speaks of a00 all the same, as every other one does."""
    values = np.array([[0.31, 0.31, 0.31, 0.31, 0.31, 0.05], [0.30, 0.30, 0.30, 0.30, 0.30, 0.9], [0.1] * 6])
    found = stress_rankings(matrix(values), draws=100)
    assert [found.algorithms[a] for a in found.order] == ["a00", "a01", "a02"]
    assert found.verdict()[0].startswith("The first place of a00")


def test_what_to_rank_by_is_said_plainly():
    reshuffled, moved, nothing = (
        next(sentence for sentence in found.verdict() if "near-copy" in sentence)
        for found in (
            stress_rankings(matrix(random_table(6, 12, seed=1)), methods=["minimax", "plurality", "mean"], draws=100),
            stress_rankings(matrix(random_table(9, 30, seed=2)), methods=["mean_rank", "mean"], draws=100),
            stress_rankings(matrix(random_table(6, 12)), methods=["mean"], draws=100),
        )
    )
    assert "a near-copy of one algorithm reshuffles the others; do not rank by them here" in reshuffled
    assert "Minimax (rho down to" in reshuffled
    assert "do not rank by" not in moved
    assert nothing == "A near-copy of one algorithm leaves the order of the others as it is under every aggregation."


def test_a_winner_by_one_dataset_is_called_so():
    """a00 is first by mean on account of d00 alone; everywhere else a01 is a little better."""
    values = np.full((3, 10), 0.2) + np.array([0.0, 0.02, -0.1])[:, None]
    values[0, 0] = 5.0
    found = stress_rankings(matrix(values), methods=["mean"], draws=100)
    first, decided = found.verdict()[:2]
    assert first.startswith("The first place of a00 does not survive when 2 of the 10 datasets are left out")
    assert "under none of the 1 aggregations (least under Mean, 80 %)" in first
    assert decided == "Single datasets decide it: a00 is no longer first without d00 (under Mean)."


def test_a_fragile_first_place_falls_and_a_firm_last_place_stays():
    """Two equals and one that is far behind: the order of the two must not survive, the last place must."""
    rng = np.random.default_rng(5)
    values = np.vstack([0.5 + 0.05 * rng.normal(size=(2, 20)), 0.1 + 0.02 * rng.random((1, 20))])
    found = stress_rankings(matrix(values), draws=300)
    assert found.tiers[-1] == [2]
    assert len(found.tiers[0]) == 2
    assert "places 1 to 2" in found.verdict()[2]
    assert "does not survive" in found.verdict()[0] or "depends on the aggregation" in found.verdict()[0]


@pytest.mark.slow
def test_the_seed_decides_and_nothing_else():
    values = random_table(6, 20)
    one, same, other = (plain(stress_rankings(matrix(values), draws=100, seed=seed).to_dict()) for seed in (1, 1, 2))
    assert one == same
    assert one["curves"]["drop_datasets"] != other["curves"]["drop_datasets"]
    assert one["curves"]["drop_algorithms"]["mean"] == other["curves"]["drop_algorithms"]["mean"]


def test_the_table_is_not_touched():
    values = random_table(4, 6)
    before = values.copy()
    stress_rankings(matrix(values), draws=100)
    np.testing.assert_array_equal(values, before)


def test_lower_is_better_mirrors():
    """By order alone, a metric and its negative in the other direction are stressed alike."""
    values = random_table(5, 10)
    names = ["mean_rank", "copeland", "minimax", "borda", "plurality", "dowdall"]
    up = stress_rankings(matrix(values), methods=names, draws=100)
    down = stress_rankings(matrix(1 / values, higher_is_better=False), methods=names, draws=100)
    for test in ("drop_datasets", "drop_algorithms", "similar", "new_best"):
        np.testing.assert_allclose(up.curves[test].numbers, down.curves[test].numbers, atol=1e-12)
    assert up.tiers == down.tiers


def test_negative_values_leave_out_what_needs_ratios():
    found = stress_rankings(matrix(random_table() - 1.5), draws=100)
    assert set(found.skipped) == {"dm_auc", "dm_lbo", "geometric_mean", "harmonic_mean", "borda"}
    assert found.skipped["borda"] == "orders the algorithms as mean_rank does"
    assert "beta" not in found.curves
    assert {row.name: set(row.signs) for row in found.signs}["settings"] == {"NA"}


def test_the_smallest_table_and_zeros():
    found = stress_rankings(matrix(np.array([[0.0, 0, 1, 2, 3], [0, 1, 1, 0, 0], [1, 0, 0, 0, 0]])), draws=100)
    assert found.curves["drop_algorithms"].x.tolist() == [0, 1]
    assert found.subsets[0].size == 2
    assert np.isfinite(found.curves["drop_datasets"].numbers).all()
    assert len(found.verdict()) == 6


def test_demsars_table_runs_with_its_ties():
    found = stress_rankings(demsar(), draws=100)
    assert found.algorithms[found.order[0]] in {"C4.5+m", "C4.5+m+cf"}


@pytest.mark.parametrize(
    ("values", "options", "kind", "message"),
    [
        (random_table(4, 4), {}, NotApplicableError, "ndcg@10 has 4 datasets; stress tests need at least 5 datasets"),
        (random_table(2, 9), {}, NotApplicableError, "ndcg@10 has 2 algorithms; stress tests need at least 3"),
        (random_table(4, 6), {"draws": 10}, UsageError, "10 draws are too few for an interval; use at least 100"),
        (random_table(4, 6), {"methods": ["bordar"]}, UsageError, "did you mean 'borda'"),
        (random_table(4, 6), {"beta_max": 1.0}, UsageError, "give a ratio above 1"),
        (random_table(4, 6) - 5, {"methods": ["dm_auc"]}, NotApplicableError, "ask for an aggregation that allows"),
    ],
)
def test_bad_input_is_one_line(values, options, kind, message):
    with pytest.raises(kind, match=message.replace("(", r"\(")) as raised:
        stress_rankings(matrix(values), **options)
    assert "\n" not in str(raised.value)


def test_result_keeps_the_contract(result):
    assert isinstance(result, AnalysisResult)
    frames = result.frames()
    assert next(iter(frames)) == "stress_signs"
    assert frames["stress_signs"].height == 6 * 10
    assert frames["stress_order"].get_column("algorithm").to_list() == [result.algorithms[a] for a in result.order]
    assert frames["stress_conclusions"].height == 5 * len(result.algorithms)
    document = json.loads(json.dumps(plain(result.to_dict()), allow_nan=False))
    assert document["table"]["settings"]["numbers"]["mean"] is None
    point = document["curves"]["drop_datasets"]["copeland"][1]
    assert point["interval"][0] <= point["estimate"] <= point["interval"][1]
    assert document["subsets"]["5"]["full"]["mean"]["estimate"] > 0


@pytest.mark.slow
def test_from_python_and_the_command_line(cli, tmp_path, monkeypatch):
    monkeypatch.setattr("recassay.reporting.figures.build_sections", lambda results: [])
    path, out = tmp_path / "results.csv", tmp_path / "out"
    synthetic_results(8).write_csv(path)
    ran = cli("stress", path, "--metric", "ndcg@10", "--draws", 100, "--json", "--out", out)
    assert ran.code == 0
    answer = ran.json()
    assert answer["verdict"] == recassay.stress(path, "ndcg@10", draws=100).verdict()
    assert answer["tiers"][-1] == ["Random"]
    assert {p.name for p in (out / "tables").glob("*.csv")} == {
        f"stress_{name}.csv" for name in ("signs", "curves", "subsets", "conclusions", "order")
    }
    shown = cli("stress", path, "--draws", 100, "--methods", "mean,copeland", "--all").out
    assert "Copeland" in shown
    assert "What survives" in shown
    assert "Minimax" not in shown
    refused = cli("stress", path, "--draws", 5)
    lines = [line for line in refused.err.strip().splitlines() if not line.startswith("read: ")]
    assert (refused.code, len(lines)) == (2, 1)


@pytest.mark.slow
def test_analyze_says_why_it_was_not_done(tmp_path):
    path = tmp_path / "results.csv"
    synthetic_results(4).write_csv(path)
    report = recassay.analyze(path, "ndcg@10")
    assert report.skipped["stress"] == "ndcg@10 has 4 datasets; stress tests need at least 5 datasets"


@pytest.mark.slow
def test_the_missing_policy_is_kept_and_told(cli, tmp_path):
    import polars as pl

    path = tmp_path / "results.csv"
    table = synthetic_results(8, seeds=1)
    table.filter(~((pl.col("algorithm") == "Weak") & (pl.col("dataset") == "set-01"))).write_csv(path)
    assert "Weak on set-01" in cli("stress", path, "--metric", "ndcg@10").err
    answer = cli("stress", path, "--metric", "ndcg@10", "--missing", "drop-datasets", "--draws", 100, "--json").json()
    assert answer["missing"]["dropped"] == ["set-01"]
    assert len(answer["datasets"]) == 7
