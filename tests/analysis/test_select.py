"""The choice of datasets: agreement and designs by their definitions, honest held-out numbers, Table 4 of KDD'24."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scipy import stats

import recassay
from recassay.analysis.aggregation.rules import RULES
from recassay.analysis.dataset_space.space import place_datasets
from recassay.analysis.inference.bootstrap import dataset_weights, random_subsets, subset_weights
from recassay.analysis.rank.fit import rank_algorithms
from recassay.analysis.select import methods as search
from recassay.analysis.select.fit import ANALYSIS, other_metrics, select_datasets
from recassay.analysis.select.judging import Task, _above, draw_halves
from recassay.analysis.select.methods import SubsetAgreement, kmeans_choices, optimal_choices
from recassay.analysis.select.result import METHODS, Spread
from recassay.core.analysis import AnalysisSpec
from recassay.core.errors import InputError, NotApplicableError, UsageError
from recassay.core.seeds import derived_rng
from recassay.core.tables.characteristics import CharacteristicsTable
from recassay.core.tables.results import Results
from recassay.reporting.numbers import p_text
from recassay.reporting.sections import select as section
from support.benchmarks import benchmark, characteristics, fading, long_frame
from support.shared import only_analyses
from support.tables import in_content_order, printed_table

METRICS = ("ndcg@10", "hitrate@10", "coverage@10")


@pytest.mark.parametrize("up", [True, False])
@pytest.mark.parametrize("rule", list(RULES))
def test_agreement_is_spearmans_rho_of_the_two_rankings(rule, up):
    matrix = replace(benchmark(fading(6, 9, noise=1.5)), higher_is_better=up)
    agreement = SubsetAgreement(matrix.values, RULES[rule], higher_is_better=up)
    for subset in ([0, 3, 4], [1, 2, 5, 8]):
        part = replace(benchmark(matrix.values[:, subset]), higher_is_better=up)
        few, all_ = (
            rank_algorithms(m, methods=[rule], replicates=100).rankings[rule].ranks for m in (part, matrix)
        )  # fmt: skip
        mine = agreement.rho(subset_weights(np.array([subset]), 9))[0]
        assert mine == pytest.approx(stats.spearmanr(few, all_)[0] if np.ptp(few) else 0.0)
    assert agreement.rho(np.ones((1, 9)))[0] == pytest.approx(1.0)


@pytest.fixture(scope="module")
def chosen(kdd24):
    return recassay.select(kdd24, "ndcg@10", k=6, characteristics=kdd24, splits=6, curve=False)


@pytest.mark.slow
def test_table_4_of_the_paper(chosen):
    """Tolerances: three standard errors of both means over 500 simulations for random (their spread is 0.14, 0.13 and
    0.07); twice the spread over starts for the others, whose start the paper does not describe."""

    def simulated(method: str) -> list:
        choice = chosen.choices[method]
        return [choice.simulated, *(choice.simulated_by_metric[m] for m in METRICS[1:])]

    printed = {key: float(text) for key, text in printed_table("kdd24", "Table 4").items()}
    for mine, metric, spread in zip(simulated("random"), METRICS, (0.14, 0.13, 0.07), strict=True):
        assert mine.mean == pytest.approx(printed["random", metric], abs=3 * spread * np.sqrt(2 / 500))
    for method in ("kmeans", "d_optimal"):
        for mine, metric in zip(simulated(method), METRICS, strict=True):
            assert abs(mine.mean - printed[method, metric]) < (mine.high - mine.low) / 2
    random, kmeans = simulated("random"), simulated("kmeans")
    for ours, theirs, spread in zip(kmeans, random, (0.14, 0.13, 0.07), strict=True):
        assert ours.mean > theirs.mean - 3 * spread * np.sqrt(2 / 500)
    assert kmeans[1].mean > random[1].mean
    # The lead of k-means in nDCG is small beside what a choice of six may give either way.
    assert kmeans[0].mean - random[0].mean < 0.2 * (random[0].high - random[0].low)


@pytest.mark.slow
def test_choosing_for_the_ranking_beats_random_on_algorithms_and_metrics_it_did_not_see(chosen):
    random, best = chosen.choices["random"], chosen.choices["preserving"]
    assert best.rho > 0.95
    assert best.held_out_algorithms.mean < best.rho
    assert best.held_out_algorithms.mean > random.held_out_algorithms.mean + 0.04
    assert best.held_out_better_than_random > 0.55
    assert best.held_out_both.mean > random.held_out_both.mean
    assert set(best.by_metric) == set(chosen.held_out_metrics)
    assert "ndcg@10" not in chosen.held_out_metrics
    assert "seconds_fit" not in chosen.held_out_metrics
    said = section.sentences(chosen)
    apart, whole = random.left_out, random.simulated
    assert apart.mean < whole.mean, "the whole contains the part"
    assert f"rank in ndcg@10 as the other 24 do with a Spearman correlation of {apart.mean:.2f} on average" in said[0]
    assert chosen.to_dict()["choices"]["random"]["left_out_datasets"]["mean"] == apart.mean
    assert best.held_out_p > 0.05
    assert f"not better than random subsets ({p_text(best.held_out_p)})" in said[1]
    assert "chosen on one half of the algorithms and judged by the other on the datasets left out" in said[1]


def test_what_is_left_out_does_not_contain_the_choice():
    """On noise a subset agrees with the whole, of which it is a part, and with the rest not at all."""
    rho, apart = [], []
    for seed in range(20):
        noise = benchmark(np.random.default_rng(seed).random((8, 12)))
        found = select_datasets(noise, 6, methods=["random"], rule="mean_rank", splits=1, curve=False)
        random = found.choices["random"]
        rho.append(random.simulated.mean)
        apart.append(random.left_out.mean)
    assert np.mean(rho) > 0.5
    assert abs(np.mean(apart)) < 0.15


@pytest.mark.slow
def test_on_noise_the_choice_flatters_itself_and_the_held_out_number_does_not():
    """The held-out mean is unbiased over benchmarks of noise, and its p-value is not small more often than it may."""
    flattery, gain, p = [], [], []
    for seed in range(16):
        noise = benchmark(np.random.default_rng(seed).random((8, 12)))
        result = select_datasets(noise, 4, methods=["random", "preserving"], rule="mean_rank", splits=2, curve=False)
        random, best = result.choices["random"], result.choices["preserving"]
        flattery.append(best.rho - random.rho)
        gain.append(best.held_out_algorithms.mean - random.held_out_algorithms.mean)
        p.append(best.held_out_p)
    assert np.mean(flattery) > 0.25
    assert abs(np.mean(gain)) < 3 * np.std(gain) / np.sqrt(16)
    assert np.mean(np.array(p) < 0.1) < 0.1 + 3 * np.sqrt(0.09 / 16)


def test_a_choice_does_not_depend_on_the_algorithms_that_judge_it():
    values = fading(8, 12, noise=1.0)
    halves = draw_halves(8, 3, np.random.default_rng(0))
    assert len(halves) == 6
    for on, judges in halves:
        assert set(on) | set(judges) == set(range(8))
        assert not set(on) & set(judges)
    other = values.copy()
    other[halves[0][1]] = np.random.default_rng(9).random((4, 12))
    one, two = (
        Task(benchmark(v), RULES["mean_rank"], {}, None, 0)._unseen("preserving", 4, halves[:1], np.ones((1, 12)))[0]
        for v in (values, other)
    )
    assert one.tolist() == two.tolist()
    assert draw_halves(5, 3, np.random.default_rng(0)) == []


def test_the_search_reaches_what_trying_all_subsets_reaches(monkeypatch):
    agreement = SubsetAgreement(fading(7, 12, noise=1.2), RULES["geometric_mean"], higher_is_better=True)
    every = np.array(list(combinations(range(12), 4)))
    for seed in range(5):
        criterion = search.Criterion(agreement, np.random.default_rng(seed))
        best = criterion(subset_weights(every, 12)).max()
        tried = search.best_subset(criterion, 4, np.random.default_rng(seed))
        assert criterion(subset_weights(tried[None], 12))[0] == pytest.approx(best)
        monkeypatch.setattr(search, "_EXHAUSTIVE", 0)
        found = search.best_subset(criterion, 4, np.random.default_rng(seed))
        monkeypatch.undo()
        assert len(found) == 4
        assert criterion(subset_weights(found[None], 12))[0] > best - 0.01


def test_datasets_without_order_are_not_chosen():
    values = fading(8, 20, noise=0.1)
    values[:, 10:] = np.random.default_rng(2).random((8, 10))
    result = select_datasets(benchmark(values), 4, methods="preserving", curve=False, splits=1)
    assert sum(int(name[1:]) < 10 for name in result.choices["preserving"].datasets) >= 3


def test_designs_are_greedy_optima_of_their_criterion(monkeypatch):
    monkeypatch.setattr("recassay.analysis.dataset_space.space.OUTLIER_SHARE", 0)
    space = place_datasets(characteristics(10), rng=np.random.default_rng(0))
    for criterion in ("A", "D"):
        subsets, value = optimal_choices(space, 5, criterion, 40, np.random.default_rng(0))
        assert all(len(set(row)) == 5 for row in subsets.tolist())
        x = space.points[subsets[3]]
        information = x.T @ x + 1e-3 * np.eye(3)
        expected = np.linalg.slogdet(information)[1] if criterion == "D" else -np.trace(np.linalg.inv(information))
        assert value[3] == pytest.approx(expected)
        _, by_chance = optimal_choices(space, 2, criterion, 40, np.random.default_rng(0))
        assert value.max() > by_chance.max()
        random = space.points[random_subsets(10, 5, 300, np.random.default_rng(1))]
        products = random.transpose(0, 2, 1) @ random + 1e-3 * np.eye(3)
        reached = np.linalg.slogdet(products)[1] if criterion == "D" else -np.trace(
            np.linalg.inv(products), axis1=1, axis2=2)  # fmt: skip
        assert value.max() >= np.quantile(reached, 0.99)


def test_kmeans_takes_one_dataset_of_each_cluster():
    space = place_datasets(characteristics(14), rng=np.random.default_rng(0))
    subsets, value = kmeans_choices(space, 4, 30, np.random.default_rng(0))
    assert all(len(set(row)) == 4 for row in subsets.tolist())
    assert not space.outlier[subsets].any()
    assert len(value) == len(subsets)
    few, _ = kmeans_choices(space, 13, 30, np.random.default_rng(0))
    assert few.shape[1] == 13


def test_random_subsets_are_uniform():
    drawn = subset_weights(random_subsets(8, 3, 20_000, np.random.default_rng(0)), 8)
    assert drawn.sum(axis=1).tolist() == [3.0] * 20_000
    assert drawn.mean(axis=0) == pytest.approx([3 / 8] * 8, abs=0.015)


def test_the_same_seed_the_same_choices_and_every_method_in_the_curve():
    table, matrix = characteristics(12), benchmark(fading(6, 12))
    one, two = (
        select_datasets(matrix, 3, characteristics=table, splits=2, simulations=20, seed=4) for _ in range(2)
    )  # fmt: skip
    assert one.to_dict() == two.to_dict()
    assert list(one.choices) == list(METHODS)
    curve = one.frames()["selection_curve"]
    assert set(curve["method"]) == set(METHODS)
    assert curve["k"].unique().sort().to_list() == [3, 4, 6]
    assert set(one.by_rule["kmeans"]) == set(RULES)
    assert (curve["mean"] <= 1 + 1e-12).all()
    held_out = {point.method: point.spread for point in one.curve if point.held_out and point.k == 3}
    assert held_out["preserving"] == one.choices["preserving"].held_out_algorithms, "judged by the other half"


@pytest.mark.slow
def test_bad_requests_are_one_clear_line_each(cli, tmp_path):
    long_frame(benchmark(fading(6, 5))).write_csv(tmp_path / "few.csv")
    ran = cli("select", tmp_path / "few.csv", "-k", "6", "--json")
    assert (ran.code, ran.out) == (2, "")
    assert ran.complaints == ["recassay: there are 5 datasets, and 6 were to be chosen; choose k from 2 to 4"]
    for arguments, message in (
        (["-k", "1"], "1 of 5 datasets were asked for; choose k from 2 to 4"),
        (["-k", "3", "--method", "kmean"], "unknown way to choose datasets 'kmean'; did you mean 'kmeans'?"),
        (["-k", "3", "--method", "kmeans"], "kmeans cannot choose without the characteristics of the datasets"),
        (["-k", "3", "--aggregation", "meen"], "unknown aggregation 'meen'"),
        (["-k", "3", "--simulations", "2"], "2 simulations and 10 splits are too few"),
    ):
        ran = cli("select", tmp_path / "few.csv", *arguments)
        assert ran.code == 2
        assert len(ran.complaints) == 1
        assert message in ran.err
    with pytest.raises(UsageError, match="dm_auc needs values of at least 0"):
        select_datasets(benchmark(fading(6, 8) - 0.5), 3, rule="dm_auc")
    assert select_datasets(benchmark(fading(6, 8) - 0.5), 3, curve=False, splits=1).rule == "mean_rank"
    with pytest.raises(InputError, match="none of the 8 datasets"):
        select_datasets(benchmark(fading(6, 8)), 3, characteristics=CharacteristicsTable(
            np.zeros((1, 1)), ("other",), ("Nu",)))  # fmt: skip


@pytest.mark.slow
def test_the_command_without_and_with_characteristics(cli, tmp_path):
    other = benchmark(fading(7, 10, seed=3), metric="recall@10")
    long_frame(benchmark(fading(7, 10)), other).write_csv(tmp_path / "results.csv")
    characteristics(10).to_frame().write_csv(tmp_path / "c.csv")
    ran = cli("select", tmp_path / "results.csv", "-k", "3", "--simulations", "20", "--json")
    assert ran.code == 0
    answer = ran.json()
    assert set(answer["choices"]) == {"random", "preserving"}
    assert set(answer["skipped"]) == {"kmeans", "d_optimal", "a_optimal"}
    best = answer["choices"]["preserving"]
    assert len(best["datasets"]) == 3
    assert list(best["held_out"]["metrics"]) == ["recall@10"]
    assert best["simulated"] is None
    out = tmp_path / "out"
    ran = cli("select", tmp_path / "results.csv", "-k", "3", "--simulations", "20", "--characteristics",
              tmp_path / "c.csv", "--out", out, "--all")  # fmt: skip
    assert ran.code == 0
    assert "Against random subsets on other" in " ".join(ran.out.split())
    assert re.search(r"^kmeans +d\d\d, d\d\d, d\d\d$", ran.out, re.M)
    assert {"selection.csv", "selection_curve.csv", "selection_metrics.csv"} <= {
        p.name for p in (out / "tables").iterdir()
    }
    assert (out / "figures" / "dataset_selection_curve.pdf").read_bytes().startswith(b"%PDF")


def test_few_algorithms_hold_none_out_and_say_so():
    result = select_datasets(benchmark(fading(4, 9)), 3, curve=False)
    assert result.choices["preserving"].held_out_algorithms is None
    assert "which flatters it" in section.sentences(result)[1]
    assert result.to_frame()["held_out_algorithms"].null_count() == 2


@pytest.mark.slow
def test_analyze_runs_the_three_analyses_where_characteristics_are_given(tmp_path, monkeypatch):
    only_analyses(monkeypatch, "rank", "associations", "clusters", "select")
    results = Results.from_frame(long_frame(benchmark(fading(6, 10)), benchmark(fading(6, 10, seed=1), "recall@10")))
    bare = recassay.analyze(results, "ndcg@10", replicates=100)
    assert {"associations", "clusters"} <= set(bare.skipped)
    assert "give `characteristics`" in bare.skipped["associations"]
    assert set(bare.analyses["select"].choices) == {"random", "preserving"}
    path = tmp_path / "c.csv"
    characteristics(10).to_frame().write_csv(path)
    whole = recassay.analyze(results, "ndcg@10", replicates=100, characteristics=path)
    assert {"associations", "clusters", "select"} <= set(whole.analyses)
    assert set(whole.analyses["select"].choices) == set(METHODS)


def mean_ranks(values, chosen):
    """The mean ranks of algorithms on some datasets, the best the highest."""
    return -np.mean([stats.rankdata(-values[:, d]) for d in chosen], axis=0)


def test_every_number_of_a_choice_by_plain_computation():
    values, other = in_content_order(fading(6, 8, noise=1.2)), benchmark(fading(6, 8, noise=1.0, seed=5), "recall@10")
    found = select_datasets(benchmark(values), 3, others={"recall@10": other}, methods=["random", "preserving"],
                            rule="mean_rank", simulations=12, splits=2, curve=False, seed=3)  # fmt: skip

    def rho(table, chosen, against):
        one, two = mean_ranks(table, chosen), mean_ranks(table, against)
        return stats.spearmanr(one, two)[0] if np.ptp(one) and np.ptp(two) else 0.0

    everything = range(8)

    def rest(chosen):
        return [d for d in everything if d not in chosen]

    drawn = [sorted(row) for row in random_subsets(8, 3, 12, derived_rng(3, "selection", "random", "3"))]
    whole = [rho(values, row, everything) for row in drawn]
    random = found.choices["random"]
    assert random.datasets == ()
    assert random.rho == pytest.approx(np.mean(whole))
    assert random.simulated.mean == pytest.approx(np.mean(whole))
    assert (random.simulated.low, random.simulated.high) == pytest.approx(tuple(np.quantile(whole, [0.025, 0.975])))
    assert random.left_out.mean == pytest.approx(np.mean([rho(values, row, rest(row)) for row in drawn]))
    assert random.by_metric["recall@10"] == pytest.approx(
        np.mean([rho(other.values, row, everything) for row in drawn])
    )
    assert (random.better_than_random, random.held_out_p) == (0.5, None)
    halves = draw_halves(6, 2, derived_rng(3, "selection halves"))
    held = [rho(values[judges], row, rest(row)) for _, judges in halves for row in drawn]
    assert random.held_out_algorithms.mean == pytest.approx(np.mean(held))
    crossed = [rho(other.values[judges], row, rest(row)) for _, judges in halves for row in drawn]
    assert random.held_out_both.mean == pytest.approx(np.mean(crossed))
    best = found.choices["preserving"]
    chosen = [int(name[1:]) for name in best.datasets]
    own = rho(values, chosen, everything)
    assert best.rho == pytest.approx(own)
    assert best.simulated is None
    assert best.better_than_random == pytest.approx(
        np.mean([(own > w + 1e-9) + 0.5 * (abs(own - w) < 1e-9) for w in whole])
    )
    task = Task(benchmark(values), RULES["mean_rank"], {}, None, 3)
    unseen = [np.flatnonzero(w[0]) for w in task._unseen("preserving", 3, halves, np.ones((1, 8)))]
    reached = [rho(values[judges], row, rest(row)) for (_, judges), row in zip(halves, unseen, strict=True)]
    assert best.held_out_algorithms.mean == pytest.approx(np.mean(reached))
    shuffles = random_subsets(8, 8, 999, derived_rng(3, "selection shuffles"))
    moved = [np.isin(shuffles, row).astype(float) for row in unseen]
    by_luck = np.mean(
        [SubsetAgreement(values[judges], RULES["mean_rank"], higher_is_better=True).left_out(weights)
         for (_, judges), weights in zip(halves, moved, strict=True)], axis=0
    )  # fmt: skip
    assert best.held_out_p == pytest.approx((1 + (by_luck >= np.mean(reached) - 1e-9).sum()) / 1000)
    assert (found.halves, found.simulations, found.held_out_metrics) == (4, 12, ("recall@10",))
    assert found.by_rule["preserving"]["mean_rank"] == pytest.approx(own)
    assert found.by_rule["random"]["mean_rank"] == pytest.approx(np.mean(whole))
    row = found.to_frame().row(1, named=True)
    assert (row["held_out_low"], row["held_out_high"]) == (best.held_out_algorithms.low, best.held_out_algorithms.high)
    assert row["held_out_metrics"] == best.by_metric["recall@10"]


def test_a_choice_does_not_depend_on_where_algorithms_and_datasets_stand():
    values, other, table = fading(7, 10, noise=1.2), fading(7, 10, noise=1.0, seed=5), characteristics(10)
    rng = np.random.default_rng(2)
    rows, columns = rng.permutation(7), rng.permutation(10)
    names = tuple(f"d{d:02d}" for d in columns)
    moved = CharacteristicsTable(table.values[columns], names, table.names)

    def chosen(order, datasets, about):
        main, second = (replace(benchmark(given[order], metric), datasets=datasets)
                        for given, metric in ((values, "ndcg@10"), (other, "recall@10")))  # fmt: skip
        return select_datasets(main, 3, characteristics=about, others={"recall@10": second}, rule="mean_rank",
                               simulations=12, splits=2, seed=3).to_dict()  # fmt: skip

    here = chosen(np.ix_(range(7), range(10)), tuple(f"d{d:02d}" for d in range(10)), table)
    there = chosen(np.ix_(rows, columns), names, moved)
    assert set(here["choices"]) == set(METHODS)
    assert there["choices"] == here["choices"]
    assert there["curve"] == here["curve"]
    assert all(list(choice["datasets"]) == sorted(choice["datasets"]) for choice in here["choices"].values())


def test_a_share_above_counts_ties_by_half_and_a_spread_is_the_middle():
    assert _above(np.array([0.5]), np.array([0.1, 0.5, 0.9, 0.2])) == pytest.approx((2 + 0.5) / 4)
    assert _above(np.array([0.0, 1.0]), np.array([0.5, 0.5])) == pytest.approx(0.5)
    assert _above(np.array([0.5 + 1e-13, 0.5 - 1e-13]), np.array([0.5])) == 0.5, "what rounding parts is a tie"
    values = np.linspace(0, 1, 41) ** 2
    assert Spread.of(values) == Spread(values.mean(), *np.quantile(values, [0.025, 0.975]))
    assert Spread(0.5, 0.1, 0.9).to_dict() == {"mean": 0.5, "middle_95": [0.1, 0.9]}


def test_which_metrics_judge_and_what_is_too_little(monkeypatch):
    frame = long_frame(
        benchmark(fading(6, 8)), benchmark(fading(6, 8), "recall@10"), benchmark(fading(6, 8), "seconds")
    )
    gaps = frame.filter((pl.col("metric") != "recall@10") | (pl.col("dataset") != "d00"))
    results = Results.from_frame(gaps)
    others = other_metrics(results, results.matrix("ndcg@10"))
    assert {name: len(other.datasets) for name, other in others.items()} == {"recall@10": 7}
    found = select_datasets(benchmark(fading(6, 8)), 3, others=others, splits=1, simulations=10, curve=False)
    assert found.held_out_metrics == (), "it lacks a dataset"
    table = benchmark(in_content_order(fading(6, 8)))
    others = {
        "recall@10": benchmark(fading(6, 8), "recall@10"),
        "bias": benchmark(fading(6, 8) - 0.5, "bias"),
        "mrr": replace(table, algorithms=table.algorithms[::-1]),
        "auc": replace(table, datasets=("elsewhere", *table.datasets[1:])),
    }
    quick = {"methods": "random", "splits": 1, "simulations": 10, "curve": False}
    assert select_datasets(table, 3, others=others, **quick).held_out_metrics == ("recall@10",)
    signed = select_datasets(table, 3, others=others, rule="mean_rank", **quick)
    assert signed.held_out_metrics == ("recall@10", "bias"), "mean ranks allow negative values"
    errors = replace(benchmark(fading(6, 8, noise=1.0, seed=5), "rmse"), higher_is_better=False)
    down = select_datasets(table, 3, others={"rmse": errors}, rule="plurality", **quick).choices["random"]
    drawn = subset_weights(random_subsets(8, 3, 10, derived_rng(0, "selection", "random", "3")), 8)
    own = [SubsetAgreement(errors.values, RULES["plurality"], higher_is_better=up).rho(drawn) for up in (False, True)]
    assert down.by_metric["rmse"] == pytest.approx(own[0].mean()), "every metric has its own direction"
    assert own[0].mean() != pytest.approx(own[1].mean())
    for k, n in ((6, 5), (2, 6)):
        few = Results.from_frame(long_frame(benchmark(fading(k, n))))
        with pytest.raises(NotApplicableError, match=f"{n} datasets and {k} algorithms are too few"):
            ANALYSIS.run(few, AnalysisSpec("ndcg@10"))
    usual, many = Results.from_frame(long_frame(benchmark(fading(3, 6)))), fading(6, 14)
    found = ANALYSIS.run(usual, AnalysisSpec("ndcg@10", seed=4))
    assert (found.k, found.simulations, found.halves) == (3, 500, 0)
    assert found.to_dict() == select_datasets(benchmark(fading(3, 6)), 3, seed=4).to_dict()
    monkeypatch.setattr("recassay.analysis.select.fit.MANY_ALGORITHMS", 5)
    fewer = ANALYSIS.run(Results.from_frame(long_frame(benchmark(many))), AnalysisSpec("ndcg@10"))
    assert (fewer.k, fewer.simulations, fewer.halves) == (6, 100, 4)
    with pytest.raises(UsageError, match="10 simulations and 0 splits"):
        select_datasets(benchmark(fading(6, 8)), 3, simulations=10, splits=0)
    with pytest.raises(UsageError, match="9 simulations and 1 splits"):
        select_datasets(benchmark(fading(6, 8)), 3, simulations=9, splits=1)
    assert select_datasets(benchmark(fading(3, 3)), 2, splits=1, simulations=10, curve=False).k == 2
    for k in (1, 3):
        with pytest.raises(InputError, match="choose k from 2 to 2"):
            select_datasets(benchmark(fading(3, 3)), k)
    with pytest.raises(InputError, match="give more datasets"):
        select_datasets(benchmark(fading(3, 2)), 2)


@pytest.mark.parametrize(
    "cost", ["seconds", "seconds_fit", "seconds_predict", "memory", "joules", "energy", "emissions"]
)
def test_what_an_algorithm_costs_does_not_judge_a_choice(cost):
    tables = [benchmark(fading(3, 4), metric) for metric in ("ndcg@10", "recall@10", cost)]
    results = Results.from_frame(long_frame(*tables))
    assert list(other_metrics(results, results.matrix("ndcg@10"))) == ["recall@10"]


def test_runs_of_kmeans_that_lose_a_cluster_do_not_count(monkeypatch):
    """Four datasets on a line; the first run is lost, of the second the nearest to each centre are 1 and 2."""
    space = SimpleNamespace(points=np.array([[0.0], [1.0], [4.0], [6.0]]), outlier=np.zeros(4, dtype=bool))
    labels, centres = np.array([[[0, 0, 1, 1]] * 3]), np.array([[[[0.0], [6.0]], [[0.9], [4.5]], [[0.1], [5.5]]]])
    inertia = np.array([[np.inf, 2.0, 3.0]])
    monkeypatch.setattr(search, "kmeans_runs", lambda points, k, rng, starts: (labels, centres, inertia))
    subsets, value = kmeans_choices(space, 2, 3, np.random.default_rng(0))
    assert (subsets.tolist(), value.tolist()) == ([[1, 2], [0, 3]], [-2.0, -3.0])
    chosen = search.simulate("kmeans", space, 4, 2, 3, np.random.default_rng(0))
    assert chosen.tolist() == [[1, 2], [0, 3]], "the smallest inertia comes first"
    inertia[:] = np.inf
    subsets, value = kmeans_choices(space, 2, 3, np.random.default_rng(0))
    assert (subsets.shape, value.tolist()) == ((1, 2), [0.0])


def test_weightings_that_are_scored_in_blocks_have_the_same_ranks(monkeypatch):
    agreement = SubsetAgreement(fading(5, 7), RULES["mean"], higher_is_better=True)
    weights = subset_weights(random_subsets(7, 3, 11, np.random.default_rng(0)), 7)
    whole = agreement.directions(weights)
    monkeypatch.setattr(search, "_ROWS", 4)
    assert agreement.directions(weights).tolist() == whole.tolist()


@pytest.mark.parametrize(("k", "left"), [(2, 2), (3, 4)])
def test_outliers_are_set_aside_unless_too_few_are_left(monkeypatch, k, left):
    space = SimpleNamespace(points=np.array([[0.0], [9.0], [4.0], [6.0]]), outlier=np.array([True, True, False, False]))
    seen = []

    def runs(points, k, rng, starts):
        seen.append(points[0, :, 0].tolist())
        return np.zeros((1, starts, 4)), np.zeros((1, starts, k, 1)), np.full((1, starts), np.inf)

    monkeypatch.setattr(search, "kmeans_runs", runs)
    subsets, _ = kmeans_choices(space, k, 5, np.random.default_rng(0))
    assert seen == [[4.0, 6.0] if left == 2 else [0.0, 9.0, 4.0, 6.0]]
    assert subsets.shape == (1, k)
    assert left == 4 or subsets.tolist() == [[2, 3]]


def test_methods_are_taken_once_and_in_the_usual_order():
    assert search.choose_methods("all") == search.choose_methods(["random", "all"]) == tuple(METHODS)
    assert search.choose_methods(["preserving", "random", "random"]) == tuple(
        name for name in METHODS if name in ("random", "preserving")
    )
    with pytest.raises(UsageError, match="unknown way to choose datasets 'randm'; did you mean 'random'"):
        search.choose_methods(["preserving", "randm"])


def criterion_of(points, criterion):
    """The criterion of a design with these rows, by its definition."""
    information = points.T @ points + 1e-3 * np.eye(points.shape[1])
    return np.linalg.slogdet(information)[1] if criterion == "D" else -np.trace(np.linalg.inv(information))


@pytest.mark.parametrize(("method", "criterion"), [("d_optimal", "D"), ("a_optimal", "A")])
def test_a_design_adds_the_best_dataset_at_a_time_to_two_drawn_ones(method, criterion):
    points = np.random.default_rng(3).normal(size=(9, 3)) * [3.0, 1.0, 0.3]
    space = SimpleNamespace(points=points)
    subsets, value = optimal_choices(space, 5, criterion, 12, np.random.default_rng(4))
    for start, subset, reached in zip(random_subsets(9, 2, 12, np.random.default_rng(4)), subsets, value, strict=True):
        chosen = start.tolist()
        for _ in range(3):
            free = [d for d in range(9) if d not in chosen]
            chosen.append(max(free, key=lambda d: criterion_of(points[[*chosen, d]], criterion)))
        assert sorted(chosen) == subset.tolist()
        assert reached == pytest.approx(criterion_of(points[chosen], criterion))
    simulated = search.simulate(method, space, 9, 5, 12, np.random.default_rng(4))
    assert simulated.tolist() == subsets[np.argsort(-value, kind="stable")].tolist(), "the best start comes first"
    pairs, _ = optimal_choices(space, 2, criterion, 12, np.random.default_rng(4))
    assert pairs.tolist() == np.sort(random_subsets(9, 2, 12, np.random.default_rng(4)), axis=1).tolist()
    with pytest.raises(ValueError, match=f"{method} needs the datasets' characteristics"):
        search.simulate(method, None, 9, 5, 12, np.random.default_rng(4))


def test_the_criterion_is_the_expected_agreement_of_two_drawn_rankings():
    """Twelve weightings of the subset against 500 benchmarks drawn again, one by one."""
    values = fading(5, 7, noise=1.5)
    agreement = SubsetAgreement(values, RULES["mean_rank"], higher_is_better=True)
    criterion = search.Criterion(agreement, np.random.default_rng(6))
    rng = np.random.default_rng(6)
    drawn = dataset_weights(7, 500, rng)
    exponential = rng.exponential(size=(12, 7))
    ranks = np.array([stats.rankdata(-column) for column in values.T])

    def direction(weights):
        mean = stats.rankdata((weights @ ranks).round(9)) - 3
        return mean / np.linalg.norm(mean) if mean.any() else mean

    target = np.mean([direction(row) for row in drawn], axis=0)
    for subset in ([0, 2], [1, 2, 3, 6]):
        inside = np.isin(np.arange(7), subset).astype(float)
        expected = np.mean([direction(inside * row) @ target for row in exponential])
        assert criterion(inside[None])[0] == pytest.approx(expected)


def test_the_search_exchanges_one_dataset_at_a_time_until_nothing_improves(monkeypatch):
    """A criterion of two values per pair of datasets: greedy takes 0 first, which only an exchange undoes."""
    worth = {(0,): 3.0, (1,): 2.0, (2,): 1.0, (0, 1): 3.5, (0, 2): 3.2, (0, 3): 3.1, (1, 2): 4.0, (2, 3): 5.0}

    def of(rows):
        return np.array([worth.get(tuple(np.flatnonzero(row)), 0.0) for row in rows])

    four = SimpleNamespace(n_datasets=4)
    called = type("Made", (), {"agreement": four, "__call__": lambda self, rows: of(rows)})()
    assert np.flatnonzero(search._greedy(called, 2)).tolist() == [0, 1]
    swaps = search._swaps(np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0]]), 2)
    assert [[np.flatnonzero(row).tolist() for row in rows] for rows in swaps] == [
        [[1, 2], [1, 3], [0, 2], [0, 3]], [[0, 3], [2, 3], [0, 1], [1, 2]]
    ]  # fmt: skip
    assert search.best_subset(called, 2, np.random.default_rng(0)).tolist() == [2, 3]
    monkeypatch.setattr(search, "_EXHAUSTIVE", 5)
    for pool, swaps_made, expected in (([0, 1], 50, [2, 3]), ([0, 1], 1, [1, 2]), ([0, 3], 1, [2, 3])):
        monkeypatch.setattr(search, "random_subsets", lambda n, k, count, rng, pool=pool: np.array([pool] * count))
        monkeypatch.setattr(search, "_MOST_SWAPS", swaps_made)
        assert search.best_subset(called, 2, np.random.default_rng(0)).tolist() == expected


def test_the_points_of_the_curve_and_the_rules_of_random_by_plain_computation():
    values = in_content_order(fading(6, 9, noise=1.2))
    found = select_datasets(benchmark(values), 5, methods=["random", "preserving"], rule="mean_rank", simulations=130,
                            splits=5, seed=2)  # fmt: skip
    agreement = SubsetAgreement(values, RULES["mean_rank"], higher_is_better=True)
    assert [(point.k, point.method, point.held_out) for point in found.curve] == [
        (k, method, held) for k in (3, 4, 5) for method in ("random", "preserving") for held in (False, True)
    ]  # fmt: skip
    by_place = {(point.k, point.method, point.held_out): point.spread for point in found.curve}
    halves = draw_halves(6, 5, derived_rng(2, "selection halves"))[:8]
    for k in (3, 4, 5):
        drawn = subset_weights(random_subsets(9, k, 200, derived_rng(2, "selection", "random", str(k))), 9)
        assert by_place[k, "random", False] == Spread.of(agreement.rho(drawn))
        judges = [SubsetAgreement(values[rest], RULES["mean_rank"], higher_is_better=True) for _, rest in halves]
        held = np.concatenate([each.left_out(drawn) for each in judges])
        assert by_place[k, "random", True] == Spread.of(held), "eight halves, four splits"
    own = by_place[5, "preserving", False]
    assert own.mean == own.low == own.high == found.choices["preserving"].rho
    drawn = subset_weights(random_subsets(9, 5, 130, derived_rng(2, "selection", "random", "5")), 9)
    for rule in ("mean", "dowdall"):
        rho = SubsetAgreement(values, RULES[rule], higher_is_better=True).rho(drawn[:100])
        assert found.by_rule["random"][rule] == pytest.approx(rho.mean()), "the first 100 draws"
    told = found.to_dict()
    assert (told["aggregation"], told["k"], told["settings"]["halves"]) == ("mean_rank", 5, 10)
    first = found.curve[0]
    assert told["curve"][0] == {"method": "random", "k": 3, "held_out": False, **first.spread.to_dict()}
    assert found.frames()["selection_curve"].row(0) == ("random", 3, False, *_numbers(first.spread))


def _numbers(spread):
    return spread.mean, spread.low, spread.high


@pytest.mark.parametrize(("k", "n", "sizes"), [(2, 6, [2, 3]), (7, 9, [3, 4, 6, 7]), (4, 22, [3, 4, 6, 8, 10])])
def test_the_curve_goes_to_half_of_the_datasets_or_to_k(monkeypatch, k, n, sizes):
    asked = []
    monkeypatch.setattr(Task, "curve", lambda self, names, size, halves: asked.append(size) or [])
    select_datasets(benchmark(fading(3, n)), k, methods="random", rule="mean_rank", simulations=10, splits=1)
    assert asked == sizes


@pytest.mark.parametrize(("most", "simulations", "splits"), [(4, 500, 10), (3, 100, 2)])
def test_fewer_simulations_only_beyond_many_algorithms(monkeypatch, most, simulations, splits):
    asked = []
    monkeypatch.setattr("recassay.analysis.select.fit.select_datasets", lambda *args, **options: asked.append(options))
    monkeypatch.setattr("recassay.analysis.select.fit.MANY_ALGORITHMS", most)
    ANALYSIS.run(Results.from_frame(long_frame(benchmark(fading(4, 6)))), AnalysisSpec("ndcg@10", seed=3))
    assert [(each["simulations"], each["splits"], each["seed"]) for each in asked] == [(simulations, splits, 3)]


def test_the_tables_of_a_choice_with_and_without_what_was_held_out():
    other = benchmark(fading(6, 8, seed=5), "recall@10")
    found = select_datasets(benchmark(fading(6, 8)), 3, others={"recall@10": other}, methods=["random", "preserving"],
                            simulations=10, splits=1, curve=False)  # fmt: skip
    random, best = found.choices["random"], found.choices["preserving"]
    frames = found.frames()
    assert list(frames) == ["selection", "selection_metrics", "selection_aggregations"]
    assert frames["selection_metrics"].rows() == [
        ("random", "recall@10", random.by_metric["recall@10"], random.simulated_by_metric["recall@10"].mean),
        ("preserving", "recall@10", best.by_metric["recall@10"], None),
    ]
    rows = {row["method"]: row for row in frames["selection"].to_dicts()}
    assert rows["random"]["simulated_mean"] == random.simulated.mean
    assert (rows["random"]["datasets"], rows["random"]["held_out_p"]) == ("", None)
    assert rows["preserving"]["simulated_mean"] is None
    assert rows["preserving"]["datasets"] == ", ".join(best.datasets)
    assert rows["preserving"]["held_out_both"] == best.held_out_both.mean
    assert rows["preserving"]["left_out_datasets"] == best.left_out.mean
    held = best.to_dict()["held_out"]
    assert (held["p"], held["better_than_random"]) == (best.held_out_p, best.held_out_better_than_random)
    assert held["algorithms_and_metrics"] == best.held_out_both.to_dict()
    few = select_datasets(benchmark(fading(4, 8)), 3, methods="random", simulations=10, splits=1, curve=False)
    assert list(few.frames()) == ["selection", "selection_aggregations"]
    assert few.to_frame()["held_out_metrics"].to_list() == [None]
    assert {few.to_frame().schema[name] for name in few.to_frame().columns[2:]} == {pl.Float64}
    best = select_datasets(benchmark(fading(4, 8)), 3, others={"recall@10": benchmark(fading(4, 8), "recall@10")},
                           methods="preserving", simulations=10, splits=1, curve=False)  # fmt: skip
    assert best.frames()["selection_metrics"].schema["simulated_mean"] == pl.Float64


def test_the_numbers_of_a_method_with_several_starts_are_those_of_its_best_start():
    """k-means and designs: the rho of the first run, its spread over the runs, and the odds against random ones."""
    values, table = in_content_order(fading(6, 9, noise=1.2)), characteristics(9)
    found = select_datasets(benchmark(values), 3, characteristics=table, methods=["random", "kmeans", "d_optimal"],
                            rule="mean_rank", simulations=20, splits=2, curve=False, seed=4)  # fmt: skip
    space = place_datasets(table, rng=derived_rng(4, "outliers"))
    whole = SubsetAgreement(values, RULES["mean_rank"], higher_is_better=True)
    halves = [SubsetAgreement(values[judges], RULES["mean_rank"], higher_is_better=True)
              for _, judges in draw_halves(6, 2, derived_rng(4, "selection halves"))]  # fmt: skip

    def drawn(method):
        rng = derived_rng(4, "selection", method, "3")
        return subset_weights(search.simulate(method, space, 9, 3, 20, rng), 9)

    def odds(own, other):
        gaps = np.subtract.outer(own, other)
        return ((gaps > 1e-9) + 0.5 * (np.abs(gaps) <= 1e-9)).mean()

    random = drawn("random")
    for method in ("kmeans", "d_optimal"):
        choice, own = found.choices[method], drawn(method)
        rho = whole.rho(own)
        assert choice.datasets == tuple(f"d{d:02d}" for d in np.flatnonzero(own[0]))
        assert (choice.rho, choice.simulated) == (pytest.approx(rho[0]), Spread.of(rho))
        assert choice.better_than_random == pytest.approx(odds(rho[:1], whole.rho(random)))
        assert choice.left_out == Spread.of(whole.left_out(own))
        assert choice.held_out_algorithms == Spread.of(np.concatenate([each.left_out(own) for each in halves]))
        against = [odds(each.left_out(own), each.left_out(random)) for each in halves]
        assert choice.held_out_better_than_random == pytest.approx(np.mean(against))
        assert (choice.held_out_p, choice.held_out_both) == (None, None)
        for rule in ("mean", "copeland"):
            by_rule = SubsetAgreement(values, RULES[rule], higher_is_better=True)
            assert found.by_rule[method][rule] == pytest.approx(by_rule.rho(own[:1])[0])


@pytest.mark.parametrize("seed", range(3))
def test_datasets_lie_on_components_whose_largest_loading_is_positive(monkeypatch, seed):
    """Standardised characteristics times the loadings; the first sixth of the datasets are outliers."""
    monkeypatch.setattr("recassay.analysis.dataset_space.space.TREES", 20)
    table = characteristics(12, seed)
    space = place_datasets(table, rng=np.random.default_rng(0))
    standard = (table.values - table.values.mean(axis=0)) / table.values.std(axis=0)
    assert space.points == pytest.approx(standard @ space.loadings.T)
    assert (space.loadings[np.arange(3), np.abs(space.loadings).argmax(axis=1)] > 0).all()
    variance = np.linalg.svd(standard, compute_uv=False) ** 2
    assert space.explained == pytest.approx(variance[:3] / variance.sum())
    assert (space.outlier.sum(), space.characteristics, space.datasets) == (2, table.names, table.datasets)
    logged = place_datasets(table, log_skewed=True, rng=np.random.default_rng(0))
    skewed = stats.skew(table.values) > 1
    mixed = np.where(skewed, np.log(table.values), table.values)
    mixed = (mixed - mixed.mean(axis=0)) / mixed.std(axis=0)
    assert skewed.any()
    assert logged.points == pytest.approx(mixed @ logged.loadings.T)
    narrow = replace(table, values=table.values[:, :2], names=table.names[:2])
    assert place_datasets(narrow, rng=np.random.default_rng(0)).points.shape == (12, 2), "no more than characteristics"
