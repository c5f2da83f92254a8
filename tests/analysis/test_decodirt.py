"""The classifier benchmark: known truth, the six sets, negative instances, metadata, odd input, and how it is told."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from recassay.analysis.decodirt.bins import equal_bins
from recassay.analysis.decodirt.fit import ANALYSIS, analyze_instances
from recassay.analysis.decodirt.ratings import PAPER_PLAYERS, baselines, benchmark_sets, choose_players
from recassay.analysis.decodirt.traits import ItemCalibration, all_traits, dataset_traits, standardised
from recassay.analysis.logistic_irt.ability import estimate_abilities
from recassay.analysis.logistic_irt.fit import fit_logistic
from recassay.analysis.logistic_irt.model import true_score
from recassay.analysis.logistic_irt.priors import ItemPriors
from recassay.core.analysis import AnalysisSpec
from recassay.core.errors import InputError, NotApplicableError, UsageError
from recassay.core.tables.responses import InstanceResponses, LogisticItems, Responses
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
    with pytest.raises(UsageError, match="two"):
        choose_players(traits, ["SVM"])


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
    assert any("metadata" in n for n in analyze_instances(bare, orders=3, how=ItemCalibration(max_cycles=5)).notes)


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


def test_items_may_come_from_some_roles_alone(answers):
    traits = dataset_traits(answers[0], ItemCalibration(roles=("mlp",)))
    assert len(traits.fit.respondents) == 20
    assert traits.respondents == answers[0].responses.respondents
    optimal = traits.respondents.index("optimal")
    assert traits.kept_true_score[optimal] == pytest.approx(traits.kept_true_score.max())
    with pytest.raises(UsageError, match="roles"):
        ItemCalibration(roles=("teacher",))
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
    with pytest.raises(NotApplicableError, match="recassay classify"):
        ANALYSIS.run(None, AnalysisSpec("accuracy"))
    found = ANALYSIS.run(None, AnalysisSpec("accuracy", evidence={"instances": lambda: answers[:2]}))
    assert [one.dataset for one in found.traits] == ["dataset-00", "dataset-01"]
    assert found.how.confidence == 0.95
    level = AnalysisSpec("accuracy", alpha=0.1, evidence={"instances": lambda: answers[:2]})
    assert ANALYSIS.run(None, level).how.confidence == 0.9
