"""The stress tests measure what they say: properties by theory, small tables by hand, planted truth, bad input."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

import recassay
from recassay.analysis.aggregation.contest import Contest, Extended
from recassay.analysis.aggregation.rules import RULES, DolanMore, distinct
from recassay.analysis.inference.agreement import spearman
from recassay.analysis.inference.bootstrap import dataset_weights, random_subsets, subset_weights
from recassay.analysis.stress.changes import (
    BEST_FACTORS,
    BETAS,
    COPY_FACTORS,
    Subset,
    add_best,
    add_copies,
    drop_algorithms,
    drop_datasets,
    few_datasets,
    improved,
    kept_sizes,
    several,
    small_sizes,
    vary_beta,
)
from recassay.analysis.stress.conclusions import (
    Change,
    Conclusion,
    Survival,
    conclude,
    deciding_datasets,
    leading_order,
    survival,
    tiers,
)
from recassay.analysis.stress.curve import Curve, measured
from recassay.analysis.stress.fit import stress_rankings
from recassay.analysis.stress.ranker import Ranker, fewer_points, spread, subsets
from recassay.analysis.stress.signs import sign_table
from recassay.core.analysis import AnalysisResult
from recassay.core.errors import NotApplicableError, UsageError
from recassay.core.seeds import derived_rng
from recassay.core.system.plain import plain
from recassay.core.tables.matrix import MissingCells
from recassay.reporting.words.stress import added, deciding, first_place, order, sign_rules, sign_titles
from recassay.reporting.words.stress import few_datasets as few_words
from recassay.testing.results import synthetic_results
from support.tables import by_content, dealt_by_content, demsar, matrix

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
    drawn, _ = subsets(np.arange(8), 5, 40, np.random.default_rng(0))
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
    values[:, slice(5) if up else slice(5, None)] += 1  # shares of a best need values of at least 0
    new = values.max(axis=0) + 1 if up else values.min(axis=0) - 1
    new[5:] = values[:, 5:].min(axis=0) - 1 if up else values[:, 5:].max(axis=0) + 1
    few = Contest(values[None], higher_is_better=up)
    added = Extended(few, new).outcomes(np.ones((1, 8)))
    assert (added.balance[0, -1], added.worst[0, -1]) == (9, 0), "it wins every duel, on five datasets of eight"
    assert (added.worst[0, :-1] >= 5).all()
    chosen, _ = subsets(np.arange(9), 5, 20, np.random.default_rng(2))
    parts = ranker.among(chosen)
    for t, those in enumerate(chosen):
        np.testing.assert_array_equal(parts[:, t], ranked(ALL, values[those], up))


def test_small_blocks_change_nothing(monkeypatch):
    values = random_table(5, 8)
    weights = subset_weights(subsets(np.arange(8), 4, 70, np.random.default_rng(0))[0], 8)
    chosen, _ = subsets(np.arange(5), 3, 4, np.random.default_rng(0))
    ranker = ranker_of(ALL, values)
    whole, parts = ranker(weights), ranker.among(chosen)
    monkeypatch.setattr("recassay.analysis.stress.ranker.NUMBERS_AT_ONCE", 60)
    monkeypatch.setattr("recassay.analysis.aggregation.duels.NUMBERS_AT_ONCE", 60)
    ranker = ranker_of(ALL, values)
    np.testing.assert_array_equal(ranker(weights), whole)
    np.testing.assert_array_equal(ranker.among(chosen), parts)


def test_subsets_are_all_or_drawn():
    five, thirty = np.array([3, 0, 4, 1, 2]), np.random.default_rng(1).permutation(30)
    few, exhaustive = subsets(five, 3, 100, np.random.default_rng(0))
    assert exhaustive
    assert few.tolist() == [list(trio) for trio in itertools.combinations(range(5), 3)], "in the order of the table"
    assert subsets(five, 3, 10, np.random.default_rng(0))[1], "as many as may be drawn"
    assert not subsets(five, 3, 9, np.random.default_rng(0))[1]
    many, exhaustive = subsets(thirty, 15, 50, np.random.default_rng(0))
    assert not exhaustive
    assert subset_weights(many, 30).sum(axis=1).tolist() == [15.0] * 50
    assert (subset_weights(many, 30) <= 1).all()
    drawn = random_subsets(30, 15, 50, np.random.default_rng(0))
    assert many.tolist() == [sorted(thirty[place] for place in places) for places in drawn], "places in the given order"


def test_names_and_orders_have_no_part_in_a_stress_test():
    """Subsets of datasets and algorithms are drawn, and dealt out by content."""
    values, rng = random_table(9, 14, seed=3), np.random.default_rng(4)
    rows, columns = rng.permutation(9), rng.permutation(14)
    here, there = (
        stress_rankings(matrix(given), methods=["mean", "copeland"], draws=100)
        for given in (values, values[np.ix_(rows, columns)])
    )
    for test, curve in here.curves.items():
        np.testing.assert_allclose(there.curves[test].numbers, curve.numbers, atol=1e-12)
    for one, other in zip(here.subsets, there.subsets, strict=True):
        assert other.numbers["full"] == pytest.approx(one.numbers["full"])
        assert (other.dominated, other.level) == (one.dominated, one.level)
    assert rows[there.order].tolist() == list(here.order)
    assert [[int(rows[a]) for a in tier] for tier in there.tiers] == here.tiers
    assert there.deciding.tolist() == here.deciding[:, columns].tolist()


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
    equal = ranker_of(ALL, values).contest.duels.dominated(np.array([[0.0, 1.0, 0.0]]), ranks[:, :1])
    assert equal[0] == 2, "2 dominates both on the second dataset, where the two are equal"
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
    found = survival(Change("copies"), ranks, exhaustive=True)
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
    """By order alone, a metric and its inverse in the other direction are stressed alike.

    All 252 choices of five datasets are tried; what is drawn besides is the interval of the two tests that add one.
    """
    values = random_table(5, 10)
    names = ["mean_rank", "copeland", "minimax", "borda", "plurality", "dowdall"]
    up = stress_rankings(matrix(values), methods=names, draws=252)
    down = stress_rankings(matrix(1 / values, higher_is_better=False), methods=names, draws=252)
    for test in ("drop_datasets", "drop_algorithms"):
        np.testing.assert_allclose(up.curves[test].numbers, down.curves[test].numbers, atol=1e-12)
    for test in ("similar", "new_best"):
        np.testing.assert_allclose(up.curves[test].rho, down.curves[test].rho, atol=1e-12)
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
    monkeypatch.setattr("recassay.reporting.figures.build_sections", lambda *_, **__: [])
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


def test_what_is_measured_of_many_rhos():
    judged, around = np.array([[0.2, 0.6, 1.0, 0.4], [1.0, 1.0, 1.0, 1.0]]), np.linspace(-1, 1, 202).reshape(2, 101)
    count, numbers = measured(judged, False, around)
    error = np.std([0.2, 0.6, 1.0, 0.4], ddof=1) / 2
    assert count == 4
    assert numbers[0] == pytest.approx([0.55, *np.percentile(around[0], [2.5, 97.5]), error, 0.2])
    assert numbers[1] == pytest.approx([1.0, *np.percentile(around[1], [2.5, 97.5]), 0.0, 1.0])
    whole = measured(judged, True)[1]
    assert whole[0] == pytest.approx([0.55, *np.percentile(judged[0], [2.5, 97.5]), 0.0, 0.2])
    assert measured(judged[:, :1], False)[1][0, 3] == 0.0
    curve = Curve.of("x", ("mean", "borda"), {2.0: (4, numbers), 1.0: (3, whole)})
    assert curve.to_dict()["mean"][1] == {
        "x": 2.0, "estimate": numbers[0, 0], "interval": numbers[0, 1:3].tolist(), "error": numbers[0, 3],
        "lowest": numbers[0, 4], "tried": 4,
    }  # fmt: skip
    assert curve.to_frame().row(0) == ("x", "mean", 1.0, *whole[0].tolist(), 3)


def test_when_datasets_or_algorithms_are_left_out_by_plain_computation():
    """Six datasets and four algorithms: every subset is tried, and what survives is counted in each."""
    values, rules = random_table(4, 6, seed=8), [RULES["mean_rank"], RULES["mean"]]
    ranker, reference = ranker_of(rules, values), ranked(rules, values)
    curve, survivals, without = drop_datasets(ranker, reference, 100, np.random.default_rng(0))
    assert curve.x.tolist() == [0, 1, 2, 3, 4]
    assert curve.tried.tolist() == [1, 6, 15, 20, 15]
    assert list(survivals) == [1, 2, 3]
    assert [survivals[n].change.when for n in (1, 2)] == [
        "1 of the 6 datasets is left out", "2 of the 6 datasets are left out"]  # fmt: skip
    kept = [[c for c in range(6) if c not in gone] for gone in itertools.combinations(range(6), 2)]
    again = np.array([ranked(rules, values[:, columns]) for columns in kept])
    rho = [[stats.spearmanr(row, reference[r])[0] for row in again[:, r]] for r in (0, 1)]
    assert curve.rho[:, 2] == pytest.approx(np.mean(rho, axis=1))
    assert curve.lowest[:, 2] == pytest.approx(np.min(rho, axis=1))
    assert curve.error[:, 2].tolist() == [0, 0]
    assert survivals[2].exhaustive
    assert survivals[2].ahead[1, 0, 2] == pytest.approx(np.mean([rank[1, 0] < rank[1, 2] for rank in again]))
    assert without[:, 4].tolist() == ranked(rules, np.delete(values, 4, axis=1)).tolist()
    fewer, third = drop_algorithms(ranker, reference, 100, np.random.default_rng(0))
    assert fewer.x.tolist() == [0, 1]
    assert third.change.when == "1 of the 4 algorithms is left out"
    assert (third.tried, third.exhaustive) == (4, True)
    trios = list(itertools.combinations(range(4), 3))
    orders = [ranked(rules, values[list(trio)]) for trio in trios]
    before = [stats.rankdata(reference[0, list(trio)]) for trio in trios]
    expected = [stats.spearmanr(own[0], all_)[0] for own, all_ in zip(orders, before, strict=True)]
    assert fewer.rho[0, 1] == pytest.approx(np.mean(expected))
    firsts = [own[0][trio.index(2)] == own[0].min() for own, trio in zip(orders, trios, strict=True) if 2 in trio]
    assert third.first[0, 2] == pytest.approx(np.mean(firsts))
    drawn = drop_datasets(ranker_of(rules, random_table(4, 12)), ranked(rules, random_table(4, 12)), 100,
                          np.random.default_rng(0))[1]  # fmt: skip
    assert (drawn[1].tried, drawn[1].exhaustive, drawn[6].tried, drawn[6].exhaustive) == (12, True, 100, False)
    values = random_table(5, 12)
    few = drop_datasets(ranker_of(rules, values), ranked(rules, values), 5, np.random.default_rng(0))
    assert (few[1][1].tried, few[1][2].tried, few[2].shape) == (12, 5, (2, 12, 5)), "each dataset is left out once"
    assert drop_algorithms(ranker_of(rules, values), ranked(rules, values), 5, np.random.default_rng(0))[
        1
    ].change.when == ("2 of the 5 algorithms are left out")


def test_a_ranking_from_few_datasets_by_plain_computation():
    values, rules = random_table(4, 8, seed=2), [RULES["mean"]]
    small = few_datasets(ranker_of(rules, values), ranked(rules, values), 3, 40, np.random.default_rng(6))
    order = np.array(by_content(values))[random_subsets(8, 8, 40, np.random.default_rng(6))]
    mean = np.array([values[:, chosen[:3]].mean(axis=1) for chosen in order])
    other = np.array([values[:, chosen[3:6]].mean(axis=1) for chosen in order])
    full = [stats.spearmanr(row, values.mean(axis=1))[0] for row in mean]
    pair = [stats.spearmanr(row, mean[i - 1])[0] for i, row in enumerate(mean)]
    apart = [stats.spearmanr(row, rest)[0] for row, rest in zip(mean, other, strict=True)]
    for what, rho in (("full", full), ("pair", pair), ("disjoint", apart)):
        assert small.numbers[what][0, 0] == pytest.approx(np.mean(rho)), what
        assert small.numbers[what][0, 3] == pytest.approx(np.std(rho, ddof=1) / np.sqrt(40)), what
    half = few_datasets(ranker_of(rules, values), ranked(rules, values), 4, 5, np.random.default_rng(6))
    assert "disjoint" in half.numbers, "half of the datasets leave as many"
    assert "disjoint" not in few_datasets(
        ranker_of(rules, values), ranked(rules, values), 5, 40, np.random.default_rng(6)).numbers  # fmt: skip
    assert (small.size, small.tried) == (3, 40)


@pytest.mark.parametrize("up", [True, False])
def test_when_an_algorithm_is_added_or_beta_changes_by_plain_computation(up):
    """Three algorithms, five datasets and two bootstrap draws: one table after the other."""
    values, rules = random_table(3, 5, seed=4), [RULES["mean_rank"], RULES["dm_auc"], RULES["dm_lbo"]]
    weights = np.array([[1.0] * 5, [2, 0, 1, 1, 1], [0, 3, 0, 1, 1]])
    ranker = ranker_of(rules, values, up)

    def drawn(table, row):
        return ranked(rules, np.repeat(table, row.astype(int), axis=1), up)

    before = [drawn(values, row) for row in weights]

    def rho(new):
        """Rules x draws: agreement of the order of the three before and after a row is added to their table."""
        after = [stats.rankdata(drawn(np.vstack([values, new]), row)[:, :3], axis=1) for row in weights]
        return np.array([[spearman(one[r], own[r]) for one, own in zip(after, before, strict=True)] for r in range(3)])

    similar, kept = add_copies(ranker, weights)
    best = add_best(ranker, weights)
    better = (lambda row, factor: row * factor) if up else (lambda row, factor: row / factor)
    firsts = [drawn(np.vstack([values, better(row, x)]), weights[0])[0, :3] for x in COPY_FACTORS for row in values]
    for place, factor in list(enumerate(COPY_FACTORS))[::3]:
        each = np.array([rho(better(row, factor)) for row in values])
        assert similar.rho[:, place] == pytest.approx(each[:, :, 0].mean(axis=0))
        assert similar.lowest[:, place] == pytest.approx(each[:, :, 0].min(axis=0))
        ends = np.percentile(each.transpose(1, 0, 2).reshape(3, -1), [2.5, 97.5], axis=1)
        assert similar.numbers[:, place, 1:3] == pytest.approx(ends.T)
    assert similar.x.tolist() == list(COPY_FACTORS)
    assert (similar.tried.tolist(), similar.error.tolist()) == ([3] * 7, np.zeros((3, 7)).tolist())
    assert (kept.tried, kept.exhaustive) == (21, True)
    assert kept.ahead[0, 0, 1] == pytest.approx(
        np.mean([(row[0] < row[1]) + 0.5 * (row[0] == row[1]) for row in firsts])
    )
    top = values.max(axis=0) if up else values.min(axis=0)
    for place, factor in list(enumerate(BEST_FACTORS))[::4]:
        each = rho(better(top, factor))
        assert best.rho[:, place] == pytest.approx(each[:, 0])
        assert best.numbers[:, place, 1:3] == pytest.approx(np.percentile(each, [2.5, 97.5], axis=1).T)
    beta = vary_beta(ranker, weights)
    assert (beta.rules, beta.x.tolist(), beta.tried.tolist()) == (("dm_auc", "dm_lbo"), list(BETAS), [1] * 11)
    for place, width in list(enumerate(BETAS))[::3]:
        other = replace(ranker, options=DolanMore(width))(weights)
        each = np.array([[spearman(other[r, w], before[w][r]) for w in range(3)] for r in (1, 2)])
        assert beta.rho[:, place] == pytest.approx(each[:, 0])
        assert beta.numbers[:, place, 1:3] == pytest.approx(np.percentile(each, [2.5, 97.5], axis=1).T)
    assert vary_beta(ranker_of([RULES["mean"]], values, up), weights) is None


def test_how_many_points_and_sizes():
    assert [several(n) for n in (5, 12, 15, 16, 30)] == [2, 2, 2, 3, 5]
    assert [small_sizes(n) for n in (5, 9, 10, 19, 20)] == [(2,), (4,), (5,), (5,), (5, 10)]
    assert [fewer_points(30, n) for n in (60, 61, 400, 401)] == [30, 10, 10, 5]
    assert fewer_points(3, 500) == 3
    assert spread(1, 10, 4) == [1, 4, 7, 10]


def test_a_conclusion_survives_depends_or_does_not():
    def verdict(*shares):
        return Conclusion("first", ("a",), Change("copies"), shares)

    assert verdict(0.95, 0.95, 0.95, 0.94).verdict == "survives"
    assert verdict(0.95, 0.95, 0.94, 0.94).verdict == "depends on the aggregation"
    assert verdict(0.95, 0.94, 0.94, 0.94).verdict == "does not survive"
    assert verdict(0.95, 1.0, 0.94, 0.5).holds_under == 2
    ahead = np.full((4, 3, 3), 0.5)
    ahead[:, 2, [0, 1]] = 0.96
    ahead[:3, 0, 1] = 0.95
    change = Survival(Change("copies"), 9, True, np.array([[0.1, 0.2, 0.7]] * 4), ahead)
    assert tiers([2, 0, 1], change) == [[2], [0], [1]]
    ahead[2, 0, 1] = 0.94
    assert tiers([2, 0, 1], change) == [[2], [0, 1]]
    far = np.full((4, 3, 3), 1.0)
    far[:, 0, 2] = 0.5
    spanned = Survival(Change("copies"), 9, True, np.ones((4, 3)), far)
    assert tiers([0, 1, 2], spanned) == [[0, 1, 2]], "the first is not surely before the last: no cut between them"
    said = conclude([2, 0, 1], ("a", "b", "c"), [change])
    assert [(each.statement, each.shares) for each in said] == [
        ("c is first", (0.7,) * 4), ("c is before a", (0.96,) * 4), ("a is before b", (0.95, 0.95, 0.94, 0.5))
    ]  # fmt: skip
    reference = np.array([[2.0, 1.0, 3.0], [2.0, 1.0, 3.0]])
    mean_ranks, names = np.array([1.0, 2.0, 2.0]), ("a", "c", "b")
    assert leading_order((RULES["mean"], RULES["mean_rank"]), reference, mean_ranks, names) == [0, 2, 1]
    assert leading_order((RULES["mean"],), reference, mean_ranks, names) == [1, 0, 2]
    shared, others = [1.5, 1.5, 3.0], [2.0, 1.0, 3.0]
    for best, lost in ((0, [False, True]), (1, [False, False]), (2, [False, False])):
        found = deciding_datasets(np.array([shared]), np.array([[shared, others]]), best)
        assert found.tolist() == [lost], "a shared first place is a first place"
    assert leading_order((RULES["mean"], RULES["borda"]), reference, mean_ranks, names) == [1, 0, 2], (
        "Borda alone is not the mean rank"
    )


def test_the_table_of_plus_and_minus_by_its_rules():
    """Each sign at its bound: 0.795 and 0.95 less two standard errors, 1 for the others, 0.95 for beta."""

    def curve(test, rules, rho, error=0.0, lowest=1.0, x=(0.0, 4.0)):
        numbers = np.ones((len(rules), len(x), 5))
        numbers[:, -1] = np.stack(np.broadcast_arrays(rho, 0, 1, error, lowest), axis=-1)
        return Curve(test, rules, np.array(x), np.array([1, 9]), numbers)

    names = ("mean", "dm_auc")
    full = np.array([[0.775, 0, 1, 0.01, 0], [0.774, 0, 1, 0.01, 0]])
    subset = Subset(5, 100, {"full": full}, 8, (0, 2), (0, 0))
    curves = {
        "drop_algorithms": curve("drop_algorithms", names, np.array([0.93, 0.92]), 0.01),
        "similar": curve("similar", names, 1.0, lowest=np.array([1.0 - 1e-13, 0.99])),
        "new_best": curve("new_best", names, 1.0, lowest=np.array([0.5, 1.0])),
        "beta": curve("beta", ("dm_auc",), np.array([0.95])),
    }
    rows = {row.name: row for row in sign_table(names, 7, (subset,), curves)}
    assert {name: row.signs for name, row in rows.items()} == {
        "pareto": ("+", "-"), "few_datasets": ("+", "-"), "few_algorithms": ("+", "-"), "similar": ("+", "-"),
        "new_best": ("-", "+"), "settings": ("NA", "+"),
    }  # fmt: skip
    assert rows["pareto"].numbers == (0.0, 0.25)
    shown = SimpleNamespace(signs=tuple(rows.values()), subsets=(subset,))
    titles, stated = (dict(zip(rows, made(shown), strict=True)) for made in (sign_titles, sign_rules))
    assert titles["few_algorithms"] == "Only 3 algorithms"
    numbers = curves["drop_algorithms"].numbers.copy()
    numbers[:, 0] = 0.1
    worse = {**curves, "drop_algorithms": replace(curves["drop_algorithms"], numbers=numbers)}
    (few,) = (row for row in sign_table(names, 7, (subset,), worse) if row.name == "few_algorithms")
    assert (few.size, few.numbers) == (3, (0.93, 0.92)), "the fewest count, not the worst"
    assert stated["few_datasets"].endswith("+ unless below 0.795 by more than 2 standard errors")
    assert "share of the 8 dominated pairs, over 100 draws of 5 datasets" in stated["pareto"]
    none = {row.name: row for row in sign_table(names, 7, (replace(subset, dominated=0),), {
        **{name: each for name, each in curves.items() if name != "beta"}})}  # fmt: skip
    assert none["pareto"].signs == none["settings"].signs == ("NA", "NA")
    below = {**curves, "beta": curve("beta", ("dm_auc",), np.array([0.949]))}
    assert {row.name: row for row in sign_table(names, 7, (subset,), below)}["settings"].signs == ("NA", "-")


def worded(**changes):
    """A result of which only what a sentence needs is there."""
    names = ("A", "B", "C")
    main = Survival(Change("datasets", 2, 12), 66, True, None, None)
    half = Survival(Change("datasets", 6, 12), 200, False, None, None)
    conclusions = (
        Conclusion("first", ("A",), main.change, (1.0, 0.96)),
        Conclusion("first", ("A",), half.change, (0.9, 0.5)),
        Conclusion("before", ("A", "B"), main.change, (0.1, 0.1)),
    )  # fmt: skip
    return SimpleNamespace(**{
        "algorithms": names, "datasets": tuple(f"d{i}" for i in range(12)), "titles": ["Mean", "Borda"],
        "main": main, "half": half, "conclusions": conclusions, "order": [0, 1, 2],
        "deciding": np.zeros((2, 12), dtype=bool), "tiers": [[0], [1, 2]],
    } | changes)  # fmt: skip


def test_the_sentences_of_the_stress_tests():
    assert first_place(worded()) == (
        "The first place of A survives when 2 of the 12 datasets are left out: it stays first in at least 95 % of all "
        "66 choices under all 2 aggregations (least under Borda, 96 %); when 6 of the 12 datasets are left out, under "
        "none of the 2 aggregations."
    )
    two, six = "2 of the 12 datasets are left out", "6 of the 12 datasets are left out"
    sure = Conclusion("first", ("A",), Change("datasets", 2, 12), (1.0, 1.0))
    same = worded(conclusions=(sure,), half=worded().main)
    assert first_place(same) == (
        f"The first place of A survives when {two}: it stays first in each of 66 choices under all 2 aggregations."
    )
    alike = Conclusion("first", ("A",), Change("datasets", 6, 12), (1.0, 1.0))
    assert first_place(worded(conclusions=(sure, alike))).endswith(f"; when {six}, under all 2 aggregations.")
    drawn = Conclusion("first", ("A",), Change("datasets", 6, 12), (0.95, 0.2))
    assert first_place(worded(conclusions=(drawn,), main=worded().half)) == (
        f"The first place of A depends on the aggregation when {six}: it stays first in at least 95 % of 200 random "
        "choices under 1 of the 2 aggregations (least under Borda, 20 %)."
    )
    assert deciding(worded()) == (
        "No single dataset decides it: without any one of them, A stays first wherever it was."
    )
    lost = np.zeros((2, 12), dtype=bool)
    lost[0, 3] = lost[:, 7] = True
    assert deciding(worded(deciding=lost)) == (
        "Single datasets decide it: A is no longer first without d7 (under Mean, Borda), d3 (under Mean)."
    )
    loose = "the order within places 2 to 3 (B, C) does not."
    assert order(worded()) == f"Of the order, the places of A (1) survive that; {loose}"
    assert order(worded(tiers=[[0, 1, 2]])) == (
        "No part of the order survives that: places 1 to 3 (A, B, C) have no stable order."
    )
    assert order(worded(tiers=[[0], [1], [2]])) == "The whole order survives that: A, B, C."
    assert order(worded(tiers=[[0, 1], [2, 3]], algorithms=("A", "B", "C", "D"))) == (
        "Of the order, the order within places 1 to 2 (A, B) and within places 3 to 4 (C, D) does not."
    )
    small = SimpleNamespace(size=5, numbers={"full": np.array([[0.7], [0.8]]), "disjoint": np.array([[0.5], [0.4]])})
    assert few_words(worded(subsets=(small,))) == (
        "Two rankings from 5 datasets each, none in common, agree to rho 0.50 at best (Mean) and 0.40 at worst "
        "(Borda); with the ranking from all 12, which contains them, 0.70 and 0.80."
    )
    del small.numbers["disjoint"]
    assert few_words(worded(subsets=(small,))) == (
        "A ranking from 5 of the 12 datasets agrees with that from all, which contains it, to rho 0.80 at best (Borda) "
        "and 0.70 at worst (Mean)."
    )


def test_long_lists_in_the_sentences_of_the_stress_tests_are_cut():
    names, titles = tuple("ABCDEFGHIJKLMN"), [f"R{i}" for i in range(5)]
    lost = np.zeros((5, 12), dtype=bool)
    lost[:, 6], lost[:3, [2, 4, 5, 8]], lost[:2, 3] = True, True, True
    assert deciding(worded(deciding=lost, titles=titles)) == (
        "Single datasets decide it: A is no longer first without d6 (under R0, R1, R2 and 2 more), d2 (under R0, R1, "
        "R2), d4 (under R0, R1, R2), d5 (under R0, R1, R2) and 2 more."
    )
    wide = {"algorithms": names, "order": list(range(14))}
    assert order(worded(**wide, tiers=[[a] for a in range(14)])) == (
        "The whole order survives that: A, B, C, D, E, F, G, H, I, J, K, L and 2 more."
    )
    assert order(worded(**wide, tiers=[*([a] for a in range(9)), [9, 10, 11, 12, 13]])) == (
        "Of the order, the places of A (1), B (2), C (3), D (4), E (5), F (6), G (7), H (8) and 1 more survive that; "
        "the order within places 10 to 14 (J, K, L, M, N) does not."
    )
    assert order(worded(**wide, tiers=[[0], list(range(1, 14))])) == (
        "Of the order, the places of A (1) survive that; the order within places 2 to 14 (B, C, D, E, F, G, H, I and "
        "5 more) does not."
    )
    row = SimpleNamespace(name="similar", numbers=[0.1 * i for i in range(7)] + [0.92 + 0.01 * i for i in range(7)],
                          signs=["-"] * 14)  # fmt: skip
    said = added(worded(signs=[row], titles=list(names)), "similar", "a near-copy")
    assert said.startswith("Under A (rho down to 0.00), B (rho down to 0.10), ")
    assert "F (rho down to 0.50) and 1 more a near-copy reshuffles the others; do not rank by them here. " in said
    assert said.endswith("L (0.96), M (0.97) and 1 more: it moves the others a little (lowest rho).")


def test_what_an_added_algorithm_does_in_words():
    def told(*pairs):
        row = SimpleNamespace(name="similar", numbers=[n for n, _ in pairs], signs=[s for _, s in pairs])
        return added(worded(signs=[row], titles=["Mean", "Borda", "DM"]), "similar", "a near-copy")

    assert told((1.0, "+"), (1.0, "+"), (1.0, "+")) == (
        "A near-copy leaves the order of the others as it is under every aggregation."
    )
    assert told((1.0, "+"), (0.9, "-"), (0.9996, "-")) == (
        "Under no aggregation does a near-copy reshuffle the others; under Borda (0.90), DM (0.9996): it moves the "
        "others a little (lowest rho)."
    )
    assert told((0.1, "-"), (0.95, "-"), (1.0, "+")) == (
        "Under Mean (rho down to 0.10) a near-copy reshuffles the others; do not rank by it here. Under Borda (0.95): "
        "it moves the others a little (lowest rho)."
    )
    assert told((0.3, "-"), (0.1, "-"), (1.0, "+")) == (
        "Under Borda (rho down to 0.10), Mean (rho down to 0.30) a near-copy reshuffles the others; do not rank by "
        "them here."
    )


@pytest.mark.parametrize(("algorithms", "replicates"), [(3, 200), (12, 166), (150, 20)])
def test_fewer_replicates_for_more_algorithms(monkeypatch, algorithms, replicates):
    """2,000 in all, at most 200 and at least 20; the first table is the one itself."""

    class Enough(Exception):
        pass

    def weights(values, *, replicates, rng):
        raise Enough((values.shape, replicates, rng.random()))

    monkeypatch.setattr("recassay.analysis.stress.fit.content_weights", weights)
    with pytest.raises(Enough) as asked:
        stress_rankings(matrix(random_table(algorithms, 6)), draws=100, seed=5)
    first = derived_rng(5, "stress", "ndcg@10", "bootstrap").random()
    assert asked.value.args[0] == ((algorithms, 6), replicates, first)


def test_what_is_left_out_of_a_stress_test_is_said():
    found = stress_rankings(matrix(random_table(3, 5)), methods=["borda", "mean_rank", "mean"], draws=100, beta_max=2.0)
    assert [rule.name for rule in found.rules] == ["mean_rank", "mean"]
    assert found.skipped == {"borda": "orders the algorithms as mean_rank does"}
    assert found.dolan_more.beta_max == 2.0
    assert found.to_dict()["settings"] == {"draws": 100, "seed": 0, "beta_max": 2.0}
    assert "beta" not in found.curves
    told = found.to_dict()
    subset = found.subsets[0]
    assert told["subsets"]["2"]["full"]["mean"]["interval"] == subset.numbers["full"][1, 1:3].tolist()
    assert told["pareto"]["2"]["mean"] == {
        "dominated": subset.dominated, "against": subset.against[1], "level": subset.level[1]}  # fmt: skip
    order = found.frames()["stress_order"]
    assert order["mean_rank_over_aggregations"].to_list() == pytest.approx(
        [found.reference.mean(axis=0)[a] for tier in found.tiers for a in tier]
    )


def test_every_part_of_a_stress_test_has_its_own_draws_and_the_beta_that_was_asked_for():
    gap = MissingCells("worst", (("a01", "d02"),))
    table = matrix(random_table(4, 10, seed=7), missing=gap)
    names = ["mean_rank", "plurality", "dm_auc"]
    found = stress_rankings(table, methods=names, draws=100, seed=3, beta_max=1.4)
    assert (found.to_dict()["settings"], found.missing) == ({"draws": 100, "seed": 3, "beta_max": 1.4}, gap)
    rules = found.rules
    ranker = Ranker(rules, Contest(table.values[None], higher_is_better=True), DolanMore(1.4))
    reference = ranker(np.ones((1, 10)))[:, 0]
    assert found.reference.tolist() == reference.tolist()
    plain = RULES["dm_auc"].score(ranker.contest, np.ones((1, 10)), DolanMore(1.4))[0]
    assert reference[[rule.name for rule in rules].index("dm_auc")].tolist() == stats.rankdata(-plain).tolist()

    def rng(test):
        return derived_rng(3, "stress", "ndcg@10", test)

    curve, survivals, _ = drop_datasets(ranker, reference, 100, rng("datasets"))
    assert found.curves["drop_datasets"].numbers.tolist() == curve.numbers.tolist()
    assert (found.main.change, found.half.change) == (survivals[2].change, survivals[5].change)
    fewer, _ = drop_algorithms(ranker, reference, 100, rng("algorithms"))
    assert found.curves["drop_algorithms"].numbers.tolist() == fewer.numbers.tolist()
    small = few_datasets(ranker, reference, 5, 100, rng("5 datasets"))
    (own,) = found.subsets
    assert (own.numbers["full"].tolist(), own.level) == (small.numbers["full"].tolist(), small.level)
    told = found.to_dict()["pareto"]["5"]["plurality"]
    at = [rule.name for rule in rules].index("plurality")
    assert (told["level"], told["against"]) == (small.level[at], 0)
    assert small.level[at] > 0
    drawn = dealt_by_content(table.values, dataset_weights(10, 200, rng("bootstrap")))
    weights = np.vstack([np.ones(10), drawn])
    similar, _ = add_copies(ranker, weights)
    assert found.curves["similar"].numbers.tolist() == similar.numbers.tolist()
    assert {each.change.name for each in found.conclusions} == {
        "datasets_1", "datasets_2", "datasets_5", "algorithms", "copies"
    }  # fmt: skip
    tiers_told = found.frames()["stress_order"]["tier"].to_list()
    assert tiers_told == [t for t, tier in enumerate(found.tiers, start=1) for _ in tier]
    many = add_copies(ranker_of([RULES["mean"]], random_table(14, 5)), np.ones((1, 5)))[0]
    assert many.tried.tolist() == [14] * 7, "every algorithm is copied"


def test_of_many_algorithms_fewer_are_copied_and_fewer_sizes_are_tried(monkeypatch):
    """Two of five, the first and the last: their mean has an error of chance."""
    monkeypatch.setattr("recassay.analysis.stress.ranker.MANY_ALGORITHMS", 4)
    monkeypatch.setattr("recassay.analysis.stress.ranker.POINTS_OF_MANY", 2)
    values, rules = np.random.default_rng(2).uniform(0.5, 1.0, (5, 6)), [RULES["mean_rank"]]
    similar, kept = add_copies(ranker_of(rules, values), np.ones((1, 6)))
    assert (similar.tried.tolist(), kept.tried, kept.exhaustive) == ([2] * 7, 14, False)
    for place, factor in enumerate(COPY_FACTORS):
        after = [ranked(rules, np.vstack([values, values[a] * factor]))[0, :5] for a in (0, 4)]
        rho = [stats.spearmanr(stats.rankdata(one), ranked(rules, values)[0])[0] for one in after]
        assert similar.rho[0, place] == pytest.approx(np.mean(rho))
        assert similar.error[0, place] == pytest.approx(np.std(rho, ddof=1) / np.sqrt(2))
    assert similar.error.any()
    wide = random_table(5, 12)
    curve = drop_datasets(ranker_of(rules, wide), ranked(rules, wide), 5, np.random.default_rng(0))[0]
    assert curve.x.tolist() == [0, 1, 2, 6, 10], "both ends, and what the verdict is about"
    assert kept_sizes(9) == [3, 8]


def test_the_settings_of_the_paper_and_how_many_points_a_curve_has():
    assert COPY_FACTORS == (0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15)
    assert tuple(1 + step / 4 for step in range(13)) == BEST_FACTORS
    assert BETAS == (1.25, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0, 10.0)
    assert [len(kept_sizes(n)) for n in (15, 60, 61)] == [12, 12, 10]
    values, rules = random_table(3, 50), [RULES["mean"]]
    curve, _, _ = drop_datasets(ranker_of(rules, values), ranked(rules, values), 100, np.random.default_rng(0))
    assert set(spread(1, 48, 30)) | {0, 1, 8, 25} == set(curve.x.astype(int))
    assert curve.tried.max() == 100


@pytest.mark.parametrize(
    ("k", "n", "draws", "message"),
    [(3, 5, 99, "99 draws are too few"), (3, 4, 100, "has 4 datasets"), (2, 5, 100, "has 2 algorithms")],
)
def test_the_least_that_a_stress_test_needs(k, n, draws, message):
    with pytest.raises((UsageError, NotApplicableError), match=message):
        stress_rankings(matrix(random_table(k, n)), draws=draws)
    assert stress_rankings(matrix(random_table(3, 5)), methods=["mean"], draws=100).draws == 100
