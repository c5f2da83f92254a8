"""The classifier benchmark: known truth, the six sets, negative instances, metadata, odd input, and how it is told."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from recassay.analysis.decodirt import fit as decodirt_fit
from recassay.analysis.decodirt import traits as decodirt_traits
from recassay.analysis.decodirt.bins import dataset_table, equal_bins, make_bins
from recassay.analysis.decodirt.fit import ANALYSIS, analyze_instances
from recassay.analysis.decodirt.metadata import METADATA, _pearson, correlate_metadata, properties
from recassay.analysis.decodirt.ratings import (
    PAPER_PLAYERS,
    Baselines,
    baselines,
    benchmark_sets,
    choose_players,
    rate_set,
)
from recassay.analysis.decodirt.subset import recommend
from recassay.analysis.decodirt.traits import ItemCalibration, all_traits, dataset_traits, standardised
from recassay.analysis.glicko.system import round_robin, tournament
from recassay.analysis.logistic_irt.ability import estimate_abilities
from recassay.analysis.logistic_irt.fit import fit_logistic
from recassay.analysis.logistic_irt.model import true_score
from recassay.analysis.logistic_irt.priors import ItemPriors
from recassay.core.analysis import AnalysisSpec
from recassay.core.errors import InputError, NotApplicableError, UsageError
from recassay.core.seeds import derived_rng
from recassay.core.tables.responses import InstanceResponses, LogisticItems, Responses
from recassay.reporting.words.decodirt import notes
from support.decodirt import REAL, benchmark, simulated


@pytest.fixture(scope="module")
def answers():
    return benchmark(7, items=40, networks=20)


@pytest.fixture(scope="module")
def result(answers):
    return analyze_instances(answers, orders=20)


def with_codes(one, codes, *, dataset="flat"):
    return InstanceResponses(
        dataset, Responses(codes, one.responses.respondents, one.responses.items), one.roles, None, {}
    )  # fmt: skip


def test_the_table_of_datasets_is_recovered():
    rows = []
    for difficulty, discrimination, negative in [(-1.2, 1.2, 0), (-0.4, 2.5, 0.1), (0.3, 1.6, 0.2), (0.9, 2.0, 0.1)]:
        one, truth = simulated(
            f"d{difficulty}", difficulty=difficulty, discrimination=discrimination, negative=negative, items=80,
            networks=100, deviation=0.6,
        )  # fmt: skip
        traits = dataset_traits(one, ItemCalibration())
        assert traits.fit.converged
        found = traits.statistics()
        rows.append((truth.difficulty.mean(), found["mean_difficulty"], truth.slope.mean(),
                     found["mean_discrimination"], traits, truth))  # fmt: skip
    assert np.corrcoef([r[0] for r in rows], [r[1] for r in rows])[0, 1] > 0.97
    assert max(abs(r[0] - r[1]) for r in rows) < 0.35
    assert stats.spearmanr([r[2] for r in rows], [r[3] for r in rows]).statistic == pytest.approx(1)
    for *_, traits, truth in rows:
        flagged, wrong = ~traits.kept, truth.slope < 0
        assert (flagged == wrong).mean() > 0.93
        assert traits.statistics()["negative_share"] == pytest.approx(wrong.mean(), abs=0.07)
        assert traits.negative == [n for n, f in zip(truth.names, flagged, strict=True) if f]


def test_a_standardised_fit_says_the_same(answers):
    fit = fit_logistic(answers[0].responses, "3pl", priors=ItemPriors(unit_deviation=0.1))
    scaled = standardised(fit)
    theta, error = scaled.abilities.estimate, scaled.abilities.standard_error
    assert theta.mean() == pytest.approx(0, abs=1e-9)
    assert theta.var() + (error**2).mean() == pytest.approx(1)
    assert true_score(theta, scaled.items) == pytest.approx(fit.true_scores)
    middle = scaled.item_intervals[:, 1].mean(axis=1)
    assert middle == pytest.approx(scaled.items.difficulty)
    assert scaled.item_intervals[:, 0].mean(axis=1) == pytest.approx(scaled.items.slope)
    unit, origin = scaled.items.slope[0] / fit.items.slope[0], fit.abilities.estimate.mean()
    assert scaled.ability_intervals == pytest.approx((fit.ability_intervals - origin) / unit)
    assert scaled.item_errors == pytest.approx(fit.item_errors * [unit, 1 / unit, 1])
    assert scaled.item_intervals[:, 2] == pytest.approx(fit.item_intervals[:, 2])
    endless = np.where(np.arange(len(error)) == 0, np.inf, fit.abilities.standard_error)
    partly = standardised(replace(fit, abilities=replace(fit.abilities, standard_error=endless))).abilities
    assert partly.estimate.var() + (partly.standard_error[1:] ** 2).mean() == pytest.approx(1), "what has no error"


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from(["eap", "ml"]))
def test_without_negative_items_all_right_is_first_and_all_wrong_last(seed, method):
    rng = np.random.default_rng(seed)
    n, m = 12, 30
    items = LogisticItems.from_difficulty(
        [f"r{i}" for i in range(m)], rng.lognormal(0, 0.8, m), rng.normal(0, 1.5, m), rng.uniform(0, 0.4, m)
    )
    codes = rng.integers(0, 2, (n, m)).astype(np.uint8)
    codes[0], codes[1] = 1, 0
    responses = Responses(codes, tuple(f"c{i}" for i in range(n)), items.names)
    scores = true_score(estimate_abilities(responses, items, method).estimate, items)
    assert scores[0] >= scores.max() - 1e-9
    assert scores[1] <= scores.min() + 1e-9


def leaning_dataset():
    """Three quarters of the instances are of the majority class, and classifiers differ in how much they lean to it.

    The more a classifier leans, the more it has right, except on the minority: the optimal one breaks the pattern.
    """
    rng = np.random.default_rng(5)
    majority = np.arange(60) < 45
    lean = np.linspace(-2, 3, 24)[:, None] + rng.normal(0, 1.2, (24, 60))
    codes = np.concatenate(
        [np.where(majority, lean > 0, lean < 0), np.ones((1, 60)), np.zeros((1, 60)), majority[None]]
    )
    names = (*(f"real{i:02d}" for i in range(24)), "optimal", "pessimal", "majority")
    responses = Responses(codes.astype(np.uint8), names, tuple(f"r{i}" for i in range(60)))
    return InstanceResponses("leaning", responses, ("real",) * 24 + ("artificial",) * 3, None, {})


def test_negative_instances_turn_the_bounds_and_leaving_them_out_mends_it():
    """The finding of Figure 9: with negative items the optimal classifier may score below others."""
    rated = analyze_instances([leaning_dataset()], rated="all", orders=5)
    traits = rated.traits[0]
    assert traits.fit.converged
    assert traits.fit.gradient < 0.1
    negative = np.array([int(name[1:]) >= 45 for name in traits.fit.items.names])
    assert (~traits.kept == negative).mean() > 0.9
    optimal, pessimal = (traits.respondents.index(name) for name in ("optimal", "pessimal"))
    assert (traits.true_scores(negative=True) > traits.true_scores(negative=True)[optimal] + 1e-6).any()
    kept = traits.true_scores(negative=False)
    assert kept[optimal] == pytest.approx(kept.max(), abs=1e-6)
    assert kept[pessimal] == pytest.approx(kept.min(), abs=1e-6)
    checks = rated.checks()["difficulty"]
    assert not checks["all_instances"].sound
    assert checks["without_negative"].sound
    assert rated.most_negative().dataset == "leaning"


@pytest.mark.slow
def test_every_set_ends_with_the_bounds_in_place_without_negative_instances(result):
    assert len(result.ratings) == 6
    for one in result.checks().values():
        assert one["without_negative"].sound
    for one in result.ratings:
        order = [one.kept.algorithms[a] for a in one.kept.order()]
        assert (order[0], order[-1]) == ("optimal", "pessimal")


@pytest.mark.slow
def test_the_six_sets(result):
    rows = {row["dataset"]: row for row in result.to_frame().to_dicts()}
    sets = {one.name: one for one in benchmark_sets(result.traits)}
    assert list(sets) == [
        "difficulty", "discrimination", "least_difficulty_deviation", "most_difficulty_deviation",
        "least_discrimination_deviation", "most_discrimination_deviation",
    ]  # fmt: skip
    for one in sets.values():
        values = [rows[name][one.by] for name in one.datasets]
        assert values == sorted(values)
    assert len(sets["difficulty"].datasets) == len(sets["discrimination"].datasets) == 7
    for name in ("difficulty", "discrimination"):
        least, most = (sets[f"{which}_{name}_deviation"].datasets for which in ("least", "most"))
        assert (len(least), len(most)) == (4, 3)
        assert not set(least) & set(most)
        by = f"{name}_deviation"
        assert max(rows[d][by] for d in least) <= min(rows[d][by] for d in most)


def test_bins_are_equal_and_the_hardest_come_first(result):
    values = np.random.default_rng(0).normal(size=60)
    bins = equal_bins(values, descending=True)
    assert [len(b) for b in bins] == [10] * 6
    assert all(values[a].min() >= values[b].max() for a, b in pairwise(bins))
    assert [len(b) for b in equal_bins(values[:7])] == [3, 2, 2]
    assert equal_bins(np.array([np.nan, 1.0]))[0].tolist() == [1]
    assert equal_bins(np.array([np.nan])) == []
    assert [b.tolist() for b in equal_bins(np.array([0, 0, 0, 0, 0, 0, 0, 3, 0, 5.0]))] == [
        [0, 1, 2, 3, 4, 5, 6, 8],
        [7, 9],
    ]
    assert [b.tolist() for b in equal_bins(np.zeros(9))] == [list(range(9))]
    table = result.to_frame()
    assert table.get_column("mean_difficulty").is_sorted(descending=True)
    for one in result.bins:
        inside = table.filter(pl.col("bin") == one.number)
        assert set(inside.get_column("dataset")) == set(one.datasets)
        assert inside.get_column("mean_discrimination").mean() == pytest.approx(one.parameters["discrimination"])


def test_probabilities_of_bins_are_means_of_true_score_shares(result):
    scores = result.scores_frame()
    one = result.metadata_bins["NumberOfClasses"][0]
    assert one.datasets == ("dataset-00", "dataset-01", "dataset-02")
    own = scores.filter(pl.col("dataset").is_in(list(one.datasets)), pl.col("respondent") == "SVM")
    assert one.probability["SVM"] == pytest.approx((own.get_column("true_score") / 40).mean())
    assert set(one.probability) == set(result.players)


def test_games_are_decided_by_true_scores(result):
    one = result.set_ratings("difficulty")
    first = one.set.datasets[0]
    traits = next(t for t in result.traits if t.dataset == first)
    own = dict(zip(traits.respondents, traits.scored.true_scores, strict=True))
    after = dict(zip(one.all.algorithms, one.all.history[1, 0], strict=True))
    assert sorted(after, key=after.get) == sorted(after, key=lambda name: own[name])


def test_who_is_rated(answers):
    traits = all_traits(answers[:1], ItemCalibration(max_cycles=2))
    players = choose_players(traits)
    assert len(players) == 12
    assert [p.split("-")[0] for p in players] == list(PAPER_PLAYERS)
    assert "MLP-3" not in choose_players(traits, "all")
    assert len(choose_players(traits, "everybody")) == len(traits[0].respondents)
    assert choose_players(traits, ["SVM", "optimal", "SVM"]) == ("SVM", "optimal")
    with pytest.raises(UsageError, match="SVM"):
        choose_players(traits, ["SVMM", "optimal"])
    with pytest.raises(UsageError, match="everybody"):
        choose_players(traits, "most")
    for lone in (["SVM"], ["SVM", "SVM"]):
        with pytest.raises(UsageError, match="two"):
            choose_players(traits, lone)


def answering(names, roles, dataset="d"):
    responses = Responses.from_array(np.random.default_rng(1).integers(0, 2, (len(names), 8)), list(names))
    return InstanceResponses(dataset, responses, tuple(roles), None, {})


def test_two_real_ones_of_the_papers_twelve_are_enough_for_its_tables():
    def players(names, roles):
        return choose_players(all_traits([answering(names, roles)], ItemCalibration(max_cycles=1)))

    names = ("XGB", "SVM", "MLP", "optimal")
    assert players(names, ("real", "real", "real", "artificial")) == ("SVM", "MLP", "optimal")
    assert players(("XGB", "SVM", "rand1", "optimal"), ("real", "real", "artificial", "artificial")) == (
        "XGB", "SVM", "rand1", "optimal")  # fmt: skip
    assert players(("net1", "net2", "net3"), ("mlp",) * 3) == ("net1", "net2", "net3"), "nobody else answered"


def test_unusual_names_fall_back_to_everybody_but_the_networks():
    responses = Responses.from_array(np.random.default_rng(1).integers(0, 2, (5, 20)), list("abcde"))
    one = InstanceResponses("mine", responses, ("real",) * 4 + ("mlp",), None, {})
    found = analyze_instances([one], orders=3)
    assert found.players == ("a", "b", "c", "d")
    assert found.recommendation is None
    assert baselines(found.ratings[0].all).above_optimal is None


def test_correlations_are_pearsons_with_fishers_interval(result):
    found = result.correlations
    pair = found.pairs.row(
        by_predicate=(pl.col("left") == "NumberOfClasses") & (pl.col("right") == "mean_difficulty"), named=True
    )
    x = [one.metadata["NumberOfClasses"] for one in result.traits]
    y = [one.statistics()["mean_difficulty"] for one in result.traits]
    expected = stats.pearsonr(x, y)
    low, high = expected.confidence_interval(0.95)
    assert pair["pearson"] == pytest.approx(expected.statistic)
    assert (pair["low"], pair["high"]) == (pytest.approx(low), pytest.approx(high))
    assert pair["p"] == pytest.approx(expected.pvalue)
    assert pair["spearman"] == pytest.approx(stats.spearmanr(x, y).statistic)
    assert pair["datasets"] == 7
    assert pair["p_holm"] >= pair["p"]
    frame = found.to_frame()
    assert frame.filter(pl.col("kind") == "items").get_column("p_holm").is_null().all()
    assert frame.height == 17 * 16 // 2
    assert frame.filter(pl.col("kind") == "property and items").height == 72


def test_few_datasets_and_unknown_metadata_are_not_correlated(answers):
    found = analyze_instances(answers[:3], orders=3, how=ItemCalibration(max_cycles=20))
    assert found.correlations.properties == 0
    assert found.correlations.pairs.get_column("pearson").is_null().all()
    assert any("few" in note for note in found.notes)
    bare = [InstanceResponses(o.dataset, o.responses, o.roles, None, {}) for o in answers[:2]]
    unknown = analyze_instances(bare, orders=3, how=ItemCalibration(max_cycles=5))
    assert any("metadata" in note for note in unknown.notes)
    assert unknown.metadata_bins == {}
    part = replace(bare[1], metadata={"ClassEntropy": 0.5})
    some = analyze_instances([bare[0], part], orders=3, how=ItemCalibration(max_cycles=5)).metadata_bins
    assert [bins.datasets for bins in some["ClassEntropy"]] == [(part.dataset,)], "those that know it are binned"
    assert list(some) == ["ClassEntropy"]


def test_a_fit_that_did_not_converge_is_said_and_stays(answers):
    found = analyze_instances(answers[:4], orders=3, how=ItemCalibration(max_cycles=2))
    assert found.to_frame().get_column("converged").to_list() == [False] * 4
    assert any("did not converge on 4 of 4" in note and "dataset-00" in note for note in found.notes)
    assert len(found.ratings[0].set.datasets) == 4


def test_a_dataset_that_everybody_answers_alike(answers):
    flat = with_codes(answers[0], np.ones_like(answers[0].responses.codes))
    found = analyze_instances([*answers[:2], flat], orders=3, how=ItemCalibration(max_cycles=30))
    row = found.to_frame().to_dicts()[-1]
    assert (row["dataset"], row["bin"], row["mean_difficulty"], row["negative_share"]) == ("flat", None, None, None)
    assert row["constant_instances"] == row["instances"] == 40
    assert "flat" not in found.ratings[0].set.datasets
    assert any("flat" in note for note in found.notes)
    alone = analyze_instances([flat], orders=3)
    assert alone.ratings == ()
    assert alone.bins == ()
    assert not {"decodirt_ratings", "decodirt_history", "decodirt_probabilities"} & set(alone.frames())
    assert alone.to_dict()["recommended"] is None


def test_a_classifier_without_answers_plays_no_game_there(answers):
    kept = [i for i, name in enumerate(answers[0].responses.respondents) if name != "SVM"]
    old = answers[0].responses
    part = Responses(old.codes[kept], tuple(old.respondents[i] for i in kept), old.items)
    lacking = InstanceResponses(
        answers[0].dataset, part, tuple(answers[0].roles[i] for i in kept), None, answers[0].metadata
    )
    found = analyze_instances([lacking, *answers[1:3]], orders=3, how=ItemCalibration(max_cycles=30))
    assert any("SVM on dataset-00" in note for note in found.notes)
    one = found.set_ratings("difficulty")
    period = one.set.datasets.index("dataset-00")
    svm = one.all.algorithms.index("SVM")
    assert one.all.history[period + 1, 0, svm] == one.all.history[period, 0, svm]
    assert one.all.history[period + 1, 1, svm] > one.all.history[period, 1, svm]
    assert np.isfinite(one.all.history).all()
    (whole,) = found.bins
    answered = [traits for traits in found.traits if "SVM" in traits.respondents]
    own = [traits.probabilities(negative=True)[traits.respondents.index("SVM")] for traits in answered]
    assert len(own) == 2
    assert whole.probability["SVM"] == pytest.approx(np.mean(own))


def test_items_may_come_from_some_roles_alone(answers):
    traits = dataset_traits(answers[0], ItemCalibration(roles=("mlp",)))
    assert len(traits.fit.respondents) == 20
    assert traits.respondents == answers[0].responses.respondents
    optimal = traits.respondents.index("optimal")
    assert traits.kept_true_score[optimal] == pytest.approx(traits.kept_true_score.max())
    for roles in (("teacher",), ()):
        with pytest.raises(UsageError, match="roles"):
            ItemCalibration(roles=roles)
    with pytest.raises(InputError, match="d: 1 respondent with the roles mlp"):
        dataset_traits(answering("abc", ("mlp", "real", "real")), ItemCalibration(roles=("mlp",)))
    with pytest.raises(InputError, match="dataset-00: 0 respondents"):
        dataset_traits(
            InstanceResponses("dataset-00", answers[0].responses, ("real",) * 32, None, {}),
            ItemCalibration(roles=("mlp",)),
        )


def test_bad_input(answers):
    with pytest.raises(InputError, match="no responses"):
        analyze_instances([])
    with pytest.raises(InputError, match="dataset-00 appears twice"):
        analyze_instances([answers[0], answers[0]])
    with pytest.raises(UsageError, match="bins"):
        analyze_instances(answers, bins=0)


@pytest.mark.slow
def test_the_recommended_half_follows_its_rule(result):
    one = result.recommendation
    assert [c.set.name for c in one.candidates] == [r.set.name for r in result.ratings[2:]]
    chosen = next(c for c in one.candidates if c.set == one.set)
    assert chosen.baselines.faults == min(c.baselines.faults for c in one.candidates)
    means = {t.dataset: t.statistics()["mean_discrimination"] for t in result.traits}
    assert set(one.datasets) | set(one.left_out) == set(chosen.set.datasets)
    assert all(means[name] < 0 for name in one.left_out)
    assert -1 <= one.random_tau[0] <= one.random_tau[1] <= one.random_tau[2] <= 1
    assert 0 <= one.beaten <= 1
    again = analyze_instances(benchmark(7, items=40, networks=20), orders=20)
    assert again.to_dict() == result.to_dict()


def test_real_classifiers_come_out_by_ability(result):
    one = result.set_ratings("difficulty").all
    order = [one.algorithms[a] for a in one.order() if one.algorithms[a] in REAL]
    truth = sorted(REAL, key=REAL.get, reverse=True)
    assert stats.kendalltau([order.index(n) for n in truth], range(6)).statistic > 0.7


def test_analyze_runs_it_where_answers_are_known(answers):
    with pytest.raises(NotApplicableError, match="a study of classifiers keeps"):
        ANALYSIS.run(None, AnalysisSpec("accuracy"))
    found = ANALYSIS.run(None, AnalysisSpec("accuracy", evidence={"instances": lambda: answers[:2]}))
    assert [one.dataset for one in found.traits] == ["dataset-00", "dataset-01"]
    assert found.how.confidence == 0.95
    level = AnalysisSpec("accuracy", alpha=0.1, evidence={"instances": lambda: answers[:2]})
    assert ANALYSIS.run(None, level).how.confidence == 0.9


def test_an_analysis_passes_its_seed_on(monkeypatch):
    asked = []
    monkeypatch.setattr(decodirt_fit, "analyze_instances", lambda instances, **options: asked.append(options))
    ANALYSIS.run(None, AnalysisSpec("accuracy", seed=5, evidence={"instances": lambda: []}))
    assert asked == [{"how": ItemCalibration(confidence=0.95), "seed": 5}]


def test_bins_tau_and_seed_reach_every_set():
    answers = benchmark(4, items=8, networks=2)
    found = analyze_instances(answers, bins=1, tau=0.7, orders=2, seed=5, how=ItemCalibration(max_cycles=2))
    assert [len(bins) for bins in (found.bins, *found.metadata_bins.values())] == [1] * 9
    for rated in found.ratings:
        again = rate_set(found.traits, rated.set, found.players, tau=0.7, orders=2, seed=5)
        for one, other in ((rated.all, again.all), (rated.kept, again.kept)):
            assert (one.tau, one.n_orders, one.order_name) == (0.7, 2, rated.set.title)
            assert one.spread.tolist() == other.spread.tolist()
    assert [rated.all.metric for rated in found.ratings[:1]] == ["true score"]
    assert found.ratings[0].kept.metric == "true score without negative instances"
    unknown = [replace(one, metadata={"NumberOfClasses": 2.0}) for one in answers[:2]]
    few = analyze_instances(unknown, orders=2, how=ItemCalibration(max_cycles=1))
    assert set(few.metadata_bins) == {"NumberOfClasses"}, "a property that nobody knows has no bins"


def test_a_dataset_is_fitted_and_scored_as_asked(monkeypatch):
    """The unit of slopes counts as two respondents for each; items that say nothing are kept."""
    one, _ = simulated("half", discrimination=2.0, negative=0.5, items=14, networks=20)
    codes = one.responses.codes.copy()
    codes[:, 3] = 1
    one = replace(one, responses=Responses(codes, one.responses.respondents, one.responses.items))
    asked, whole = [], decodirt_traits.fit_logistic

    def fitted(table, model, **options):
        asked.append((model, len(table.respondents), options))
        return whole(table, model, **options)

    monkeypatch.setattr(decodirt_traits, "fit_logistic", fitted)
    how = ItemCalibration(roles=("real", "mlp"), ability="ml", confidence=0.8, max_cycles=4)
    traits = dataset_traits(one, how)
    ((model, respondents, options),) = asked
    assert (model, respondents) == ("3pl", 26)
    assert options == {"estimator": "mml", "priors": ItemPriors(unit_deviation=float(1 / np.sqrt(52))), "ability": "ml",
                       "confidence": 0.8, "max_cycles": 4}  # fmt: skip
    assert (traits.scored.abilities.method, traits.scored.confidence) == ("ml", 0.8)
    assert traits.fit.items.slope[3] == 0
    assert traits.kept.tolist() == (traits.fit.items.slope >= 0).tolist()
    assert 0 < (~traits.kept).sum() < 14
    at = np.flatnonzero(traits.kept)
    expected = estimate_abilities(one.responses.on_items(at), traits.fit.items.take(at), "ml").estimate
    assert traits.kept_ability.tolist() == expected.tolist()
    flat = replace(traits.fit.abilities, estimate=np.zeros(26), standard_error=np.full(26, np.inf))
    same = replace(traits.fit, abilities=flat)
    assert standardised(same) is same, "abilities that do not differ have no scale"
    half = replace(flat, estimate=np.arange(26.0), standard_error=np.r_[np.inf, np.full(25, 0.5)])
    assert standardised(replace(same, abilities=half)).abilities.estimate.std() == pytest.approx(
        np.arange(26).std() / np.sqrt(np.arange(26).var() + 0.25)
    )


@pytest.fixture(scope="module")
def small():
    """Five small datasets; `dataset-02` has no metadata but two properties."""
    answers = benchmark(5, items=14, networks=3)
    known = {"NumberOfClasses": 3.0, "ClassEntropy": float("nan")}
    answers[2] = replace(answers[2], metadata=known)
    return analyze_instances(answers, orders=4, seed=6, how=ItemCalibration(max_cycles=6, confidence=0.8))


def test_statistics_of_a_dataset_by_hand(small):
    traits = small.traits[0]
    slope = np.array([2.0, -1.0, 0.5, 1.0, 3.0])
    items = LogisticItems.from_difficulty(list("abcde"), slope, [0.0, 1.0, 20.0, 2.0, 5.0], [0.1, 0.2, 0.3, 0.2, 0.9])
    ends = np.full((5, 3, 2), np.nan)
    ends[:4, 0, 1] = [3.0, -0.1, 0.9, 1.5]
    fit = replace(traits.fit, items=items, item_intervals=ends, constant=np.array([False] * 4 + [True]))
    found = replace(traits, fit=fit, kept=slope >= 0)
    assert found.negative == ["b"]
    assert found.statistics() == pytest.approx({
        "mean_discrimination": 0.625, "median_discrimination": 0.75,
        "discrimination_deviation": np.std([2, -1, 0.5, 1]),
        "mean_difficulty": 9 / 4, "difficulty_deviation": np.std([0, 1, 6, 2]), "median_difficulty": 1.5,
        "mean_guessing": 0.2, "guessing_deviation": np.std([0.1, 0.2, 0.3, 0.2]), "median_guessing": 0.2,
        "negative_share": 0.25, "clearly_negative_share": 0.25,
    })  # fmt: skip
    bare = replace(found, fit=replace(fit, item_intervals=np.full((5, 3, 2), np.nan)))
    assert np.isnan(bare.statistics()["clearly_negative_share"])
    assert found.probabilities(negative=True) == pytest.approx(traits.scored.true_scores / 5)
    assert found.probabilities(negative=False) == pytest.approx(traits.kept_true_score / 4)
    assert np.isnan(replace(found, kept=np.zeros(5, dtype=bool)).probabilities(negative=False)).all()


def test_bins_and_tables_say_what_the_datasets_say(small):
    statistics = {traits.dataset: traits.statistics() for traits in small.traits}
    hardest = sorted(statistics, key=lambda name: -statistics[name]["mean_difficulty"])
    assert [one.datasets for one in small.bins] == [tuple(hardest[:3]), tuple(hardest[3:])]
    assert [one.number for one in small.bins] == [1, 2]
    for one in small.bins:
        own = [statistics[name] for name in one.datasets]
        assert (one.low, one.high) == (
            min(s["mean_difficulty"] for s in own), max(s["mean_difficulty"] for s in own)
        )  # fmt: skip
        assert one.parameters == pytest.approx(
            {name: np.mean([s[f"mean_{name}"] for s in own]) for name in ("difficulty", "discrimination", "guessing")}
            | {"negative_share": np.mean([s["negative_share"] for s in own])}
        )
    flat = replace(small.traits[1], fit=replace(small.traits[1].fit, constant=np.ones(14, dtype=bool)))
    (both,) = make_bins([small.traits[0], flat], np.array([3.0, 5.0]), small.players)
    own = small.traits[0].statistics()
    assert (both.low, both.high, both.parameters["difficulty"]) == (3.0, 5.0, own["mean_difficulty"])
    others = replace(small.traits[0].scored, respondents=tuple(f"x{name}" for name in small.traits[0].respondents))
    absent = replace(small.traits[0], scored=others)
    (later,) = make_bins([absent, small.traits[1]], np.array([1.0, 2.0]), small.players)
    assert list(later.probability) == list(small.players), "those that answered on any of its datasets"
    frame = small.to_frame()
    assert frame.get_column("dataset").to_list() == hardest
    assert frame.get_column("bin").to_list() == [1, 1, 1, 2, 2]
    assert frame.get_column("instances").to_list() == [14] * 5
    assert frame.get_column("median_guessing").to_list() == [statistics[name]["median_guessing"] for name in hardest]
    assert set(small.metadata_bins) == set(METADATA)
    assert sum(len(one.datasets) for one in small.metadata_bins["ClassEntropy"]) == 4
    mean = small.mean_scores_frame().row(by_predicate=pl.col("respondent") == "SVM", named=True)
    at = [traits.respondents.index("SVM") for traits in small.traits]
    pairs = list(zip(small.traits, at, strict=True))
    assert mean["probability"] == pytest.approx(np.mean([t.scored.true_scores[i] / 14 for t, i in pairs]))
    assert mean["accuracy"] == pytest.approx(np.mean([t.scored.accuracies[i] for t, i in pairs]))
    assert mean["datasets"] == 5
    assert small.mean_scores_frame().get_column("probability").is_sorted(descending=True)
    scores = small.scores_frame()
    assert (scores["ability_low"] < scores["ability_high"]).all()
    told = small.to_dict()["true_score"][small.traits[0].dataset]["SVM"]
    assert told == {"ability": small.traits[0].scored.abilities.estimate[at[0]],
                    "all_instances": small.traits[0].scored.true_scores[at[0]],
                    "without_negative": small.traits[0].kept_true_score[at[0]]}  # fmt: skip
    sound = [replace(traits, kept=np.ones(14, dtype=bool)) for traits in small.traits]
    assert replace(small, traits=tuple(sound)).most_negative() is None
    faults = [
        (Baselines(*counts).sound, Baselines(*counts).faults) for counts in ((0, 0), (1, 0), (0, 2), (None, None))
    ]
    assert faults == [(True, 0), (False, 1), (False, 2), (True, 0)]
    frames = small.frames()
    assert frames["decodirt_items"].height == 70
    assert frames["decodirt_items"].get_column("negative").sum() == sum(len(t.negative) for t in small.traits)
    assert frames["decodirt_ratings"].height == 6 * 2 * len(small.players)
    first = frames["decodirt_ratings"].row(0, named=True)
    best = small.ratings[0].all
    assert (first["set"], first["instances"], first["rank"]) == ("difficulty", "all_instances", 1)
    assert first["classifier"] == best.algorithms[best.order()[0]]
    assert first["rating"] == best.ratings[0].max()
    bins = frames["decodirt_bins"].row(0, named=True)
    assert (bins["property"], bins["bin"], bins["size"]) == ("difficulty", 1, 3)
    assert bins["datasets"] == ", ".join(hardest[:3])


def test_tables_have_a_row_per_bin_period_instance_and_respondent(small):
    frames, first = small.frames(), small.traits[0]
    assert list(frames) == [f"decodirt_{name}" for name in (
        "datasets", "bins", "scores", "mean_scores", "items", "correlations", "probabilities", "ratings", "history"
    )]  # fmt: skip
    chances = frames["decodirt_probabilities"]
    assert chances.columns == ["property", "bin", "size", "classifier", "probability"]
    assert set(chances["property"]) == {"difficulty", *METADATA}
    hardest = chances.filter(property="difficulty", bin=1)
    assert dict(zip(hardest["classifier"], hardest["probability"], strict=True)) == small.bins[0].probability
    assert set(hardest["size"]) == {3}
    history = frames["decodirt_history"]
    assert history.height == 2 * (5 + 5 + 3 + 2 + 3 + 2) * len(small.players)
    last = history.filter(set="discrimination", instances="without_negative", period=5, classifier="SVM")
    rated = small.set_ratings("discrimination")
    assert last["dataset"].to_list() == [rated.set.datasets[-1]]
    assert last["rating"].to_list() == [rated.kept.ratings[0, rated.kept.algorithms.index("SVM")]]
    scores = frames["decodirt_scores"].filter(dataset=first.dataset)
    assert scores["respondent"].to_list() == list(first.respondents)
    assert scores["role"].to_list() == list(first.roles)
    for column, expected in (
        ("accuracy", first.scored.accuracies), ("ability", first.scored.abilities.estimate),
        ("ability_low", first.scored.ability_intervals[:, 0]), ("true_score", first.scored.true_scores),
        ("probability", first.scored.true_scores / 14), ("ability_without_negative", first.kept_ability),
        ("true_score_without_negative", first.kept_true_score),
        ("probability_without_negative", first.kept_true_score / first.kept.sum()),
    ):  # fmt: skip
        assert scores[column].to_list() == pytest.approx(expected.tolist()), column
    items = frames["decodirt_items"].filter(dataset=first.dataset)
    assert items["item"].to_list() == list(first.fit.items.names)
    assert items.filter(pl.col("negative"))["item"].to_list() == first.negative
    bins = frames["decodirt_bins"].filter(property="NumberOfClasses")
    assert (bins["low"][0], bins["high"][0]) == (2.0, 3.0), "three of the first bin's datasets have 2 or 3 classes"
    data = small.to_dict()
    assert data["datasets"][first.dataset]["metadata"] == first.metadata
    assert data["datasets"][first.dataset]["negative_items"] == first.negative
    assert data["datasets"][first.dataset]["difficulty"] == {
        "mean": first.statistics()["mean_difficulty"], "median": first.statistics()["median_difficulty"],
        "deviation": first.statistics()["difficulty_deviation"],
    }  # fmt: skip
    assert data["settings"] == {"model": "3pl", "estimator": "mml", "ability": "eap",
                                "items_from": ["real", "artificial", "mlp"]}  # fmt: skip
    told = data["ratings"]["most_difficulty_deviation"]
    assert (told["order"], told["title"]) == ("difficulty_deviation", "the half whose difficulty varies most")
    whole = small.set_ratings("most_difficulty_deviation")
    assert told["without_negative"]["ratings"] == whole.kept.to_dict()["ratings"]
    assert told["all_instances"]["above_optimal"] == baselines(whole.all).above_optimal
    assert told["all_instances"]["below_pessimal"] == baselines(whole.all).below_pessimal
    assert told["all_instances"]["random_orders"] == whole.all.to_dict()["random_orders"]
    assert (told["all_instances"]["tau"], told["all_instances"]["notes"]) == (whole.all.tau, whole.all.notes)
    assert (data["rated"], data["notes"]) == (list(small.players), list(small.notes))
    pair, row = data["correlations"][0], small.correlations.to_frame().row(0, named=True)
    assert pair == {name: row[name] for name in pair if name != "interval"} | {"interval": [row["low"], row["high"]]}
    assert set(pair) == {"kind", "left", "right", "pearson", "interval", "p", "p_holm", "spearman", "datasets"}
    assert data["bins"][0] == {
        "bin": 1, "low": small.bins[0].low, "high": small.bins[0].high, "datasets": list(small.bins[0].datasets),
        **small.bins[0].parameters, "probability": small.bins[0].probability,
    }  # fmt: skip


def test_datasets_that_are_alike_are_listed_and_played_by_name(small):
    alike = [replace(small.traits[0], dataset=name) for name in "cabd"]
    assert dataset_table(alike, ())["dataset"].to_list() == list("abcd")
    played = ["".join(chosen.datasets) for chosen in benchmark_sets(alike)]
    assert played == ["abcd", "abcd", "ab", "cd", "ab", "cd"]


def test_correlations_are_corrected_over_pairs_of_a_property_and_a_statistic(small):
    found = small.correlations
    assert (found.properties, len(found.variables), found.statistics[0]) == (8, 17, "mean_difficulty")
    crossed = found.pairs.filter(pl.col("kind") == "property and items").sort("p")
    p = crossed.get_column("p").to_numpy()
    holm = np.minimum(np.maximum.accumulate(p * np.arange(len(p), 0, -1)), 1)
    assert crossed.get_column("p_holm").to_numpy() == pytest.approx(holm)
    entropy = crossed.filter(pl.col("left") == "ClassEntropy")
    assert entropy.get_column("datasets").to_list() == [4] * 9
    row = entropy.filter(pl.col("right") == "mean_guessing").row(0, named=True)
    known = [traits for traits in small.traits if traits.dataset != "dataset-02"]
    x, y = (
        [t.metadata["ClassEntropy"] for t in known],
        [t.statistics()["mean_guessing"] for t in known],
    )  # fmt: skip
    low, high = stats.pearsonr(x, y).confidence_interval(0.8)
    assert (row["low"], row["high"]) == (pytest.approx(low), pytest.approx(high))
    kinds = found.to_frame().get_column("kind").to_list()
    assert kinds == ["property and items"] * 72 + ["items"] * 36 + ["properties"] * 28
    sizes = found.to_frame().get_column("pearson")[:72].abs().drop_nulls().to_list()
    assert sizes == sorted(sizes, reverse=True)
    level = float(np.median(holm))
    assert found.telling(level).height == (holm < level).sum()
    assert found.telling(float(holm[0])).height == 0, "below the level, not at it"
    assert found.telling(2.0).get_column("p_holm").is_sorted()


def test_what_does_not_vary_is_not_correlated(small):
    one = small.traits[0]
    alike = [replace(one, metadata={"NumberOfClasses": 2.0, "ClassEntropy": float(i)}) for i in range(4)]
    mixed = [replace(other, metadata=same.metadata) for other, same in zip(small.traits, alike, strict=False)]
    for traits, known in ((alike, 0), (mixed, 9)):
        found = correlate_metadata(traits).pairs.filter(pl.col("kind") == "property and items")
        counts = found.group_by("left").agg(pl.col("pearson").count())
        assert dict(counts.iter_rows()) == {"NumberOfClasses": 0, "ClassEntropy": known}
        assert found.get_column("p_holm").count() == known
    assert correlate_metadata(mixed).to_frame().get_column("pearson").null_count() > 0
    crossed = correlate_metadata(mixed).to_frame().filter(pl.col("kind") == "property and items")
    assert crossed.get_column("pearson").is_null().to_list() == [False] * 9 + [True] * 9


def test_the_recommendation_by_plain_computation(small):
    """Faults, then a half that varies least, then pairs of real classifiers that are apart; Kendall's tau by scipy."""
    found, whole = small.recommendation, small.ratings[0].all
    real = [name for name in small.players if small.roles[name] == "real"]
    halves = small.ratings[2:]
    for candidate, half in zip(found.candidates, halves, strict=True):
        check = baselines(half.all)
        rating = dict(zip(half.all.algorithms, half.all.ratings[0], strict=True))
        assert check.above_optimal == sum(value > rating["optimal"] for value in rating.values())
        assert check.below_pessimal == sum(value < rating["pessimal"] for value in rating.values())
        assert candidate.baselines == check
        assert check.faults == check.above_optimal + check.below_pessimal
        assert check.sound == (check.faults == 0)
        assert candidate.separated is None  # fewer than five datasets have no intervals
    order = [
        (c.baselines.faults, c.set.name.startswith("most"), -(c.separated or 0.0), at)
        for at, c in enumerate(found.candidates)
    ]
    assert found.set == found.candidates[min(order)[-1]].set
    scores = round_robin(
        np.array(
            [[t.scored.true_scores[t.respondents.index(p)] for t in by_name(small, whole)] for p in whole.algorithms]
        ),
        higher_is_better=True,
    )
    at = [whole.algorithms.index(name) for name in real]

    def kendall(orders):
        final = tournament(scores, orders, tau=whole.tau)[:, -1, 0][:, at]
        return np.array([stats.kendalltau(one, whole.spread[1, at], variant="b").statistic for one in final])

    chosen = np.array([whole.datasets.index(name) for name in found.datasets])
    rng = derived_rng(6, "orders of a subset", *found.datasets)
    taus = kendall(chosen[np.argsort(rng.random((500, len(chosen))), axis=1)])
    assert found.tau == pytest.approx(np.median(taus))
    drawn = np.argsort(derived_rng(6, "random subsets").random((500, 5)), axis=1)[:, : len(chosen)]
    random = kendall(drawn)
    assert found.random_tau == pytest.approx(tuple(np.quantile(random, [0.025, 0.5, 0.975])))
    assert found.beaten == pytest.approx((random <= found.tau + 1e-9).mean())
    least = [set(half.set.datasets) for half in halves if half.set.name.startswith("least")]
    assert found.overlap == len(least[0] & least[1]) / 3
    apart = [replace(half, all=replace(half.all, bounds=staircase(half.all.algorithms, real))) for half in halves]
    again = recommend(small.traits, [*small.ratings[:2], *apart], real, seed=6)
    assert [candidate.separated for candidate in again.candidates] == pytest.approx([10 / 15] * 4)
    two = recommend(small.traits, [*small.ratings[:2], *apart], real[:2], seed=6)
    assert (two.tau, two.random_tau, two.beaten, two.candidates[0].separated) == (None, None, None, None)
    assert recommend(small.traits, [*small.ratings[:2], *apart], real[:3], seed=6).tau is not None
    # Of two halves that vary least and have equal faults, the one that tells more classifiers apart is taken.
    least_halves = [half for half in halves if half.set.name.startswith("least")]
    alike = replace(least_halves[0].all, bounds=None)
    for wide in (0, 1):
        bounds = [None, staircase(alike.algorithms, real)]
        told = [replace(half, all=replace(alike, bounds=bounds[at == wide])) for at, half in enumerate(least_halves)]
        assert recommend(small.traits, [*small.ratings[:2], *told], real, seed=6).set == told[wide].set
    turned = {name: turned_items(traits) for name, traits in zip(whole.datasets, by_name(small, whole), strict=True)}
    first = found.set.datasets[0]
    traits = [turned[one.dataset] if one.dataset == first else one for one in small.traits]
    some = recommend(traits, small.ratings, real, seed=6)
    assert some.left_out == (*(name for name in (first, *found.left_out) if name in found.set.datasets),)
    assert some.datasets == tuple(name for name in some.set.datasets if name not in some.left_out)
    none = recommend([turned[one.dataset] for one in small.traits], small.ratings, real, seed=6)
    assert (none.datasets, none.left_out) == (none.set.datasets, ()), "where all are negative the half stays whole"
    flat = [with_slopes(one, 0.0) if one.dataset == first else one for one in small.traits]
    assert first in recommend(flat, small.ratings, real, seed=6).datasets, "a mean of 0 is not negative"
    data = small.to_dict()["recommended"]
    assert (data["set"], data["kendall_tau"], data["overlap_of_least"]) == (found.set.name, found.tau, found.overlap)
    assert (data["beaten_random_subsets"], data["random_kendall_tau"]) == (found.beaten, list(found.random_tau))
    assert (data["datasets"], data["left_out"]) == (list(found.datasets), list(found.left_out))
    assert data["rule"].startswith("Of the four halves by the deviation of difficulty or discrimination:")
    told = data["candidates"]["most_difficulty_deviation"]
    candidate = found.candidates[1]
    assert (told["kendall_tau"], told["separated"], told["datasets"]) == (
        candidate.tau, None, list(candidate.set.datasets)
    )  # fmt: skip
    assert (told["above_optimal"], told["below_pessimal"]) == (
        candidate.baselines.above_optimal, candidate.baselines.below_pessimal
    )  # fmt: skip


def turned_items(traits):
    """The same dataset with every discrimination negative."""
    items = traits.fit.items
    negative = LogisticItems(items.names, -np.abs(items.slope) - 0.1, items.intercept, items.guessing)
    return replace(traits, fit=replace(traits.fit, items=negative))


def with_slopes(traits, slope):
    """The same dataset with one discrimination for all items."""
    items = traits.fit.items
    level = LogisticItems(items.names, np.full(len(items.names), slope), items.intercept, items.guessing)
    return replace(traits, fit=replace(traits.fit, items=level))


def staircase(names, real):
    """Intervals of the six real classifiers, each of which reaches into the next but not into the one after it."""
    place = {name: at for at, name in enumerate(real)}
    return np.array([(place.get(name, 0), place.get(name, 0) + 1.5) for name in names])


def by_name(result, rated):
    traits = {one.dataset: one for one in result.traits}
    return [traits[name] for name in rated.datasets]


def test_notes_are_whole_sentences(small):
    players = ("SVM", "optimal")
    flat = replace(small.traits[0], fit=replace(small.traits[0].fit, constant=np.ones(14, dtype=bool), converged=True))
    bare = replace(small.traits[1], kept=np.zeros(14, dtype=bool), metadata={}, fit=replace(small.traits[1].fit,
                   converged=False))  # fmt: skip
    alone = replace(bare.scored, respondents=tuple(f"x{name}" for name in bare.respondents))
    fine = replace(small.traits[2], fit=replace(small.traits[2].fit, converged=True))
    told = list(notes(SimpleNamespace(traits=[flat, replace(bare, scored=alone), fine], players=players)))
    assert told == [
        "The 3PL did not converge on 1 of 3 datasets (dataset-01): read their item parameters with care.",
        "On dataset-00 everybody answers alike: no items, and no part in the ratings.",
        "Every instance of dataset-01 discriminates negatively: without them nobody plays there.",
        "No answers of SVM on dataset-01, optimal on dataset-01: they play no game there.",
        "3 datasets are few: bins, correlations and subsets of them prove little.",
    ]
    many = [replace(fine, metadata={}) for _ in range(10)]
    assert list(notes(SimpleNamespace(traits=many, players=players))) == [
        "No metadata of the datasets is known: nothing is correlated with it."
    ]
    assert list(notes(SimpleNamespace(traits=[fine] * 10, players=players))) == []
    (few,) = notes(SimpleNamespace(traits=[fine] * 9, players=players))
    assert few == "9 datasets are few: bins, correlations and subsets of them prove little."


def test_other_spellings_of_the_papers_classifiers():
    names = ("SVC", "MLP", "RF", "KNN", "NB", "DT", "random1", "random2", "majority", "XGB")
    responses = Responses.from_array(np.random.default_rng(1).integers(0, 2, (10, 12)), list(names))
    roles = ("real",) * 6 + ("artificial",) * 3 + ("real",)
    traits = all_traits([InstanceResponses("d", responses, roles, None, {})], ItemCalibration(max_cycles=2))
    assert choose_players(traits) == ("SVC", "MLP", "RF", "KNN", "NB", "DT", "majority", "random1", "random2")
    assert choose_players(traits, "all") == names
    seen = []
    all_traits([InstanceResponses("d", responses, roles, None, {})], ItemCalibration(max_cycles=1),
               lambda *step: seen.append(step))  # fmt: skip
    assert seen == [(0, 1, "d"), (1, 1, "")]


def test_a_correlation_and_its_p_are_those_of_the_usual_test():
    x, y = np.array([1.0, 2.0, 4.0, 3.0, 7.0]), np.array([2.0, 1.0, 5.0, 3.0, 4.0])
    assert _pearson(x, y) == pytest.approx(tuple(stats.pearsonr(x, y)))
    assert _pearson(x, -y) == pytest.approx(tuple(stats.pearsonr(x, -y)))
    assert _pearson(x, 2 * x + 1) == (pytest.approx(1.0), pytest.approx(0.0, abs=1e-12))


@pytest.mark.parametrize(
    ("names", "rated"),
    [
        (("SVM", "KNN-5", "XGB"), ("SVM", "KNN-5")),
        (("MLP", "KNeighbors-5", "KNN-3"), ("MLP", "KNeighbors-5")),
        (("KNN", "svc", "KNeighbors", "SVM"), ("SVM", "KNeighbors")),
        (("KNN-5", "KNN", "DT", "decision-tree"), ("KNN", "decision-tree")),
        (("RF", "RandomForest", "NB", "GaussianNB"), ("RandomForest", "GaussianNB")),
    ],
)
def test_of_several_spellings_of_a_classifier_the_papers_own_is_rated(names, rated):
    assert choose_players([SimpleNamespace(respondents=names, roles=("real",) * len(names))]) == rated


@pytest.mark.parametrize(
    "name",
    [
        "NumberOfClasses", "NumberOfInstances", "NumberOfFeatures", "ClassEntropy", "Dimensionality",
        "PercentageOfInstancesWithMissingValues", "MajorityClassPercentage", "MinorityClassPercentage",
    ],
)  # fmt: skip
def test_every_property_of_the_paper_is_read_where_it_is_known(name):
    found = properties([SimpleNamespace(metadata={name: 0}), SimpleNamespace(metadata={"other": 1})])
    assert len(found) == 8
    assert found[name].tolist() == pytest.approx([0.0, np.nan], nan_ok=True)
