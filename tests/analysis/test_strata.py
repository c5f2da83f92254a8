"""The sweep over popularity strata on synthetic truth: tests, bands, crossings, sensitivity, sentences, pictures."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recassay.analysis.inference.bootstrap import intervals
from recassay.analysis.inference.significance import holm
from recassay.analysis.strata.fit import (
    ANALYSIS,
    GROUPS,
    HALVINGS,
    _sums,
    sweep_strata,
    user_halves,
    user_replicates,
)
from recassay.analysis.strata.pairs import PairTests, find_crossings, paired_tests
from recassay.analysis.strata.sensitivity import Chance, OrderSensitivity, StudySensitivity, order_distance, sensitivity
from recassay.core.analysis import AnalysisResult, AnalysisSpec
from recassay.core.errors import UsageError
from recassay.core.seeds import derived_rng
from recassay.core.system.plain import plain
from recassay.plots.strata import plot_strata
from recassay.reporting.drawing import render
from recassay.reporting.sections.strata import SECTION
from support.protocol import few
from support.strata import THRESHOLDS, evidence, of, scores
from support.vega import assert_valid

LEVEL = [[0.3, 0.5], [0.34, 0.47], [0.42, 0.4], [0.5, 0.3]]
"""The second algorithm is better on rare items, the first on all: they change places between 10 and 20."""


def test_distance_of_orders_by_hand():
    """Kendall's distance over the pairs that both orders tell apart: what ties has not turned."""
    order = np.array([4.0, 3.0, 2.0, 1.0])
    assert order_distance(order, order) == 0
    assert order_distance(order, -order) == 1
    assert order_distance(order, np.array([3.0, 4.0, 2.0, 1.0])) == pytest.approx(1 / 6)
    assert order_distance(order, np.array([3.0, 3.0, 1.0, 2.0])) == pytest.approx(1 / 5)
    assert order_distance(order, np.array([1.0, 0.0, 0.0, 0.0])) == 0
    assert np.isnan(order_distance(order, np.ones(4)))
    assert np.isnan(order_distance(np.ones(1), np.ones(1)))


@few
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=7))
def test_distance_of_orders_in_general(values):
    one, other, third = np.array(values, dtype=np.float64).T
    np.testing.assert_equal(order_distance(one, other), order_distance(other, one))
    assert np.nan_to_num(order_distance(one, one)) == 0
    assert 0 <= np.nan_to_num(order_distance(one, other)) <= 1
    np.testing.assert_allclose(order_distance(one, -third), 1 - order_distance(one, third))


def test_tests_are_the_paired_t_test_with_holm_at_each_threshold():
    made = scores(np.random.default_rng(1).random((3, 4)) / 10 + 0.3, users=60).scores
    tests = paired_tests(made, higher_is_better=True)
    for row, block in enumerate(made):
        values = block[:, np.isfinite(block[0])]
        expected = [stats.ttest_rel(values[a], values[b]) for a in range(4) for b in range(a + 1, 4)]
        np.testing.assert_allclose(tests.t[row], [one.statistic for one in expected])
        np.testing.assert_allclose(tests.p[row], [one.pvalue for one in expected])
        np.testing.assert_allclose(tests.p_holm[row], holm(np.array([one.pvalue for one in expected])))
    turned = paired_tests(made, higher_is_better=False)
    np.testing.assert_allclose(turned.difference, -tests.difference)


def test_no_spread_and_one_user():
    same = np.array([[[0.2, 0.4, 0.6], [0.2, 0.4, 0.6], [0.1, 0.3, 0.5]]])
    tests = paired_tests(same, higher_is_better=True)
    assert tests.p[0].tolist() == pytest.approx([1, 0.25, 0.25]), "three users are three coins"
    assert paired_tests(same[:, :, :1], higher_is_better=True).p[0].tolist() == [1, 1, 1]


@pytest.mark.parametrize("users", [300, 3 * GROUPS + 7])
def test_draws_spread_as_the_standard_error_says_and_are_paired(users):
    rng = np.random.default_rng(2)
    level = rng.random(users)
    made = np.stack([level, level + 0.01 + rng.normal(0, 0.01, users)])[None]
    draws = user_replicates(made, 2000, np.random.default_rng(0))
    np.testing.assert_allclose(draws.mean(axis=0), made.mean(axis=2), atol=0.005)
    np.testing.assert_allclose(draws.std(axis=0), made.std(axis=2) / np.sqrt(users), rtol=0.08)
    gap = (draws[:, 0, 1] - draws[:, 0, 0]).std()
    assert gap == pytest.approx(0.01 / np.sqrt(users), rel=0.1)


@pytest.mark.slow
def test_bands_cover_the_truth():
    hits = []
    for trial in range(120):
        made = scores([[0.3, 0.5], [0.5, 0.4]], users=50, seed=trial)
        found = sweep_strata(evidence(made), replicates=400, seed=trial).datasets[0]
        truth = np.array([[0.3, 0.5], [0.5, 0.4]])
        hits += list(((found.interval[..., 0] <= truth) & (truth <= found.interval[..., 1])).ravel())
    assert 0.92 <= np.mean(hits) <= 0.98


def test_an_algorithm_good_on_popular_items_alone_crosses():
    result = sweep_strata(evidence(scores(LEVEL)), replicates=500)
    found = result.datasets[0]
    (crossing,) = found.crossings
    assert (crossing.first, crossing.second) == ("a1", "a0")
    assert (crossing.below, crossing.above) == (10, 20)
    assert 10 < crossing.threshold < 20
    assert crossing.proven
    assert found.order(0) == ["a1", "a0"]
    assert found.order(3) == ["a0", "a1"]
    told = {"pairs": 1, "observed": 1, "flipped": 1, "proven": 1}
    chance = {"mean": 0, "interval": [0, 0]}
    assert found.sensitivity.to_dict() == {"estimate": 1, "chance": chance, "beyond_chance": True, **told}
    assert result.study.to_dict()["estimate"] == 1


def test_one_side_alone_is_not_proven():
    made = scores([[0.401, 0.4], [0.4, 0.401], [0.4, 0.5], [0.4, 0.6]], noise=0.2)
    found = sweep_strata(evidence(made), replicates=200).datasets[0]
    assert not any(crossing.proven for crossing in found.crossings)
    assert found.tests.p_holm[-1, 0] < 1e-6
    assert found.sensitivity.proven == 0


def test_the_search_for_a_threshold_is_paid_for():
    """Each side's p is the smallest of its run times the number of all thresholds, at most 1."""
    one = np.array([0])
    gap = np.array([[0.2], [0.1], [-0.1], [-0.2]])
    p = np.array([[0.02], [0.5], [0.001], [0.3]])
    tests = PairTests(left=one, right=one + 1, difference=gap, t=gap, p=p, p_holm=p)
    (crossing,) = find_crossings(tests, THRESHOLDS, ("a", "b"), 0.05)
    assert (crossing.p_below, crossing.p_above) == pytest.approx((0.08, 0.004))
    assert (crossing.significant_below, crossing.significant_above) == (False, True)
    assert not crossing.proven
    (weak,) = find_crossings(replace(tests, p_holm=np.full((4, 1), 0.4)), THRESHOLDS, ("a", "b"), 0.05)
    assert (weak.p_below, weak.p_above) == (1, 1)


@pytest.mark.slow
def test_equals_are_seldom_said_to_cross():
    """Under no difference at all, a sweep searched for a proven crossing finds one in less than 5 % of cases."""
    proven = [
        any(
            crossing.proven
            for crossing in find_crossings(
                paired_tests(scores(np.full((4, 3), 0.4), users=80, seed=seed).scores, higher_is_better=True),
                THRESHOLDS,
                ("a", "b", "c"),
                0.05,
            )
        )
        for seed in range(200)
    ]
    assert np.mean(proven) < 0.05


def test_twins_never_cross_and_ties_belong_to_no_side():
    base = scores(LEVEL).scores
    twins = np.concatenate([base, base[:, :1]], axis=1)
    found = sweep_strata(evidence(of(twins)), replicates=300).datasets[0]
    assert {(one.first, one.second) for one in found.crossings} == {("a1", "a0"), ("a1", "a2")}
    assert found.sensitivity.estimate == 1, "the twins have no order that could turn"
    assert (found.sensitivity.pairs, found.sensitivity.observed, found.sensitivity.flipped) == (3, 2, 2)
    flat = np.array([[0.1, 0.2], [0.2, 0.2], [0.3, 0.2]])[:, :, None] + np.linspace(0, 0.1, 30)
    tied = sweep_strata(evidence(of(flat)), replicates=100).datasets[0]
    assert [(one.below, one.above) for one in tied.crossings] == [(5, 20)]
    assert tied.rank[1].tolist() == [1.5, 1.5]


def test_datasets_do_not_disturb_each_other_and_the_seed_matters():
    films, books = scores(LEVEL), scores(LEVEL[::-1], seed=5, name="books")
    alone = sweep_strata(evidence(films), replicates=200)
    both = sweep_strata(evidence(books, films), replicates=200)
    np.testing.assert_array_equal(both.datasets[1].interval, alone.datasets[0].interval)
    other = sweep_strata(evidence(films), replicates=200, seed=1)
    assert (other.datasets[0].interval != alone.datasets[0].interval).any()
    assert both.study.estimate == 1
    assert np.isnan(both.study.by_mean_rank), "one order is the reverse of the other, so that mean ranks tie"


def test_study_takes_the_algorithms_that_every_dataset_has():
    three = np.concatenate([scores(LEVEL).scores, scores(LEVEL).scores[:, :1] / 2], axis=1)
    result = sweep_strata(evidence(scores(LEVEL, name="books"), of(three)), replicates=200)
    assert result.study.n_algorithms == 2
    assert result.study.by_mean_rank == 1
    assert result.algorithms == ("a0", "a1", "a2")


def test_tables_and_json():
    result = sweep_strata(evidence(scores(LEVEL), scores(LEVEL, name="books", seed=3)), replicates=200)
    frames = result.frames()
    assert isinstance(result, AnalysisResult)
    assert result.to_frame().equals(next(iter(frames.values())))
    assert frames["strata"].height == 2 * 4 * 2
    assert frames["strata_pairs"].height == 2 * 4
    assert frames["strata_sensitivity"]["scope"].to_list() == ["dataset", "dataset", "study", "mean ranks"]
    assert set(frames["strata_crossings"]["dataset"]) == {"films", "books"}
    answer = json.loads(json.dumps(plain(result.to_dict()), allow_nan=False))
    first = answer["datasets"]["films"]["strata"][0]
    assert first["threshold"] == 5
    assert first["order"] == ["a1", "a0"]
    low, high = first["values"]["a0"]["interval"]
    assert low < first["values"]["a0"]["estimate"] < high
    low, high = first["pairs"][0]["interval"]
    assert low < first["pairs"][0]["difference"] < high < 0
    assert answer["sensitivity"]["datasets"] == 2


def test_sentences_say_what_the_tests_support():
    said = list(SECTION.sentences(sweep_strata(evidence(scores(LEVEL)), replicates=200)))
    assert "a1 leads a0 below P = 1" in said[0]
    assert "On the dataset the order in ndcg@20 changes" in said[0]
    assert said[1] == "Without the popular items another algorithm is first: on films a1 in place of a0 (P = 5)."
    noise = sweep_strata(evidence(scores(np.full((4, 3), 0.4), users=40, seed=3)), replicates=200)
    (only,) = SECTION.sentences(noise)
    assert only.startswith("That two algorithms change places with the popularity of the held-out items is not shown")
    assert "no more than chance may give" in only
    assert "changes with" not in only


@pytest.mark.slow
def test_an_order_that_stays_is_seldom_said_to_turn_beyond_chance():
    """Six algorithms whose true order is the same at every threshold, with noise that turns many pairs."""
    means = np.tile(np.linspace(0.40, 0.43, 6), (3, 1))
    beyond, turned = [], []
    for seed in range(100):
        found = sweep_strata(evidence(scores(means, users=60, seed=seed)), replicates=100, seed=seed).datasets[0]
        beyond.append(found.sensitivity.beyond_chance)
        turned.append(found.sensitivity.estimate)
    assert np.mean(turned) > 0.2, "the noise does turn pairs"
    assert np.mean(beyond) <= 0.05


def test_nobody_hits_rare_items_and_that_is_no_distance():
    """Ties of zeros are not halves of a distance: what was not seen does not count."""
    zeros = np.zeros((3, 50))
    all_items = np.stack([np.full(50, level) for level in (0.5, 0.3, 0.1)]) + np.linspace(0, 0.01, 50)
    result = sweep_strata(evidence(of([zeros, all_items])), replicates=100)
    found = result.datasets[0].sensitivity
    assert np.isnan(found.estimate)
    assert (found.pairs, found.observed, found.flipped) == (3, 0, 0)
    assert "no two algorithms have an order" in next(SECTION.sentences(result))


def test_the_right_end_of_the_picture_shows_the_number_of_the_table():
    made = scores(LEVEL)
    whole = replace(made, whole=np.array([0.31, 0.52]))
    layers = plot_strata(sweep_strata(evidence(whole), replicates=100)).to_dict()["concat"][0]["layer"]
    (table,) = [layer for layer in layers if layer["mark"].get("shape") == "triangle-left"]
    assert {row["algorithm"]: row["value"] for row in table["data"]["values"]} == {"a0": 0.31, "a1": 0.52}
    said = list(SECTION.sentences(sweep_strata(evidence(whole), replicates=100)))
    assert not any("another algorithm is first" in sentence for sentence in said), "a1 is first in the table as well"


def test_the_picture_holds_the_numbers():
    result = sweep_strata(evidence(scores(LEVEL)), replicates=200)
    spec = plot_strata(result).to_dict()
    layers = spec["concat"][0]["layer"]
    rows = layers[0]["data"]["values"]
    found = result.datasets[0]
    assert {(row["threshold"], row["algorithm"]): row["value"] for row in rows} == {
        (p, a): found.value[i, j] for i, p in enumerate(found.thresholds) for j, a in enumerate(found.algorithms)
    }
    marks = layers[-1]["data"]["values"]
    assert [(row["first"], row["second"]) for row in marks] == [("a1", "a0")]
    assert marks[0]["below"] < marks[0]["x"] < marks[0]["above"]
    drawn = SECTION.figures(result)
    assert {figure.table for figure in drawn} <= set(result.frames())
    assert_valid(drawn)
    assert all(render(figure.drawn, "svg").startswith(b"<svg") for figure in drawn)


def test_bad_options():
    with pytest.raises(UsageError, match="use at least 100"):
        sweep_strata(evidence(scores(LEVEL)), replicates=10)
    with pytest.raises(UsageError, match=r"alpha is 1\.5"):
        sweep_strata(evidence(scores(LEVEL)), alpha=1.5)
    assert sweep_strata(evidence(scores(LEVEL, users=20)), confidence=0.5, replicates=100).confidence == 0.5


def test_with_many_datasets_those_whose_order_changes_most_are_drawn(monkeypatch):
    from recassay.plots import strata as popularity
    from recassay.reporting.sections.strata import FIGURES

    calm = [[0.5, 0.2]] * len(LEVEL)
    data = evidence(scores(calm, name="calm"), scores(LEVEL, name="wild"), scores(calm, name="still"))
    result = sweep_strata(data, replicates=200)
    monkeypatch.setattr(popularity, "MOST_PANELS", 1)
    assert [one.dataset for one in popularity.shown_datasets(result)] == ["wild"]
    assert "Shown: the 1 of 3 datasets" in FIGURES(result)[0].caption


@pytest.mark.parametrize("thresholds", [(5, 10, 20, 40), (5, 10, 20, 80)], ids=["even", "logarithmic"])
def test_a_diamond_stands_where_the_two_drawn_lines_meet(thresholds):
    result = sweep_strata(evidence(replace(scores(LEVEL, users=400), thresholds=thresholds)), replicates=100)
    layers = plot_strata(result).to_dict()["concat"][0]["layer"]
    (mark,) = layers[-1]["data"]["values"]
    place = {"log": np.log, "linear": float}[layers[-1]["encoding"]["x"]["scale"]["type"]]
    line = {(row["algorithm"], row["threshold"]): row["value"] for row in layers[1]["data"]["values"]}
    ends = [mark["below"], mark["above"]]
    for name in (mark["first"], mark["second"]):  # heights are drawn by square root
        heights = np.sqrt([line[name, end] for end in ends])
        assert np.sqrt(mark["value"]) == pytest.approx(np.interp(place(mark["x"]), [place(x) for x in ends], heights))


def test_of_many_algorithms_the_picture_colours_those_that_lead_or_move():
    means = np.tile(np.linspace(0.5, 0.3, 9), (4, 1))
    means[:, 8] = np.linspace(0.6, 0.1, 4)  # first below, last above
    result = sweep_strata(evidence(scores(means, users=400)), replicates=100)
    shown = result.standing_out(5)
    assert len(shown) == 5
    assert shown[0] == "a0"
    assert shown[-1] == "a8"
    layers = plot_strata(result).to_dict()["concat"][0]["layer"]
    grey, band = layers[0], layers[1]
    assert (grey["mark"]["type"], band["mark"]["type"]) == ("line", "area")
    assert {row["algorithm"] for row in band["data"]["values"]} == set(shown)
    assert {row["algorithm"] for row in grey["data"]["values"]} == set(result.algorithms) - set(shown)
    marked = {name for row in layers[-1]["data"]["values"] for name in (row["first"], row["second"])}
    assert marked <= set(shown)
    assert "a8" in marked


@pytest.mark.parametrize(("p", "proven"), [((0.01, 0.02), 1), ((0.01, 0.5), 0), ((0.5, 0.01), 0), ((0.05, 0.01), 0),
                                           ((0.01, 0.05), 0)])  # fmt: skip
def test_a_pair_that_turns_round_is_proven_by_both_ends(p, proven):
    one, gap, p_holm = np.array([0]), np.array([[0.2], [-0.2]]), np.array(p)[:, None]
    tests = PairTests(left=one, right=one + 1, difference=gap, t=gap, p=p_holm, p_holm=p_holm)
    means, halves = np.array([[0.4, 0.2], [0.2, 0.4]]), np.zeros((1, 2, 2, 2))
    found = sensitivity(means, halves, tests, alpha=0.05, confidence=0.95)
    assert (found.flipped, found.proven) == (1, proven)


def test_a_report_gives_the_bands_its_level(monkeypatch):
    made = evidence(scores(LEVEL))
    known = {"strata": lambda: lambda metric, seed: made}
    narrow, wide = (
        ANALYSIS.run(None, AnalysisSpec("ndcg@10", alpha=alpha, replicates=200, evidence=known))
        for alpha in (0.4, 0.05)
    )
    assert (narrow.confidence, wide.confidence) == (0.6, 0.95)
    spans = [np.diff(found.datasets[0].interval, axis=-1).mean() for found in (narrow, wide)]
    assert spans[0] < spans[1]
    asked = []
    monkeypatch.setattr("recassay.analysis.strata.fit.sweep_strata", lambda evidence, **options: asked.append(options))
    for replicates in (200, 10_000):
        ANALYSIS.run(None, AnalysisSpec("ndcg@10", alpha=0.1, replicates=replicates, seed=3, evidence=known))
    assert asked == [
        {"alpha": 0.1, "confidence": 0.9, "replicates": replicates, "seed": 3} for replicates in (200, 2000)
    ], "users are drawn at most 2,000 times"


@pytest.mark.parametrize("up", [True, False])
def test_every_number_of_a_sweep_by_plain_computation(up):
    means = [[0.30, 0.35, 0.20], [0.32, 0.33, 0.25], [0.5, 0.3, 0.31]]
    films, books = scores(means, users=40, name="films"), scores(means[::-1], users=30, seed=3, name="books")
    made = replace(evidence(films, books), higher_is_better=up)
    found = sweep_strata(made, alpha=0.2, confidence=0.9, replicates=150, seed=2)
    sign, distances, halved, proven = 1 if up else -1, [], [], 0
    for data, own in zip((films, books), found.datasets, strict=True):
        inside = np.isfinite(data.scores[:, 0])
        assert own.users.tolist() == inside.sum(axis=1).tolist()
        value = np.array(
            [[row[a][known].mean() for a in range(3)] for row, known in zip(data.scores, inside, strict=True)]
        )
        assert own.value == pytest.approx(value)
        assert own.rank.tolist() == [[1 + (sign * row > sign * x).sum() for x in row] for row in value]
        rng = derived_rng(2, "popularity strata", str(data.scores.shape[2]))
        draws = user_replicates(data.scores, 150, rng)
        halves = user_halves(data.scores[[0, -1]], HALVINGS, rng)
        pairs = [(0, 1), (0, 2), (1, 2)]
        for row, n in enumerate(own.users):
            assert own.interval[row] == pytest.approx(intervals(draws[:, row], n, 0.9))
            gaps = np.stack([sign * (draws[:, row, a] - draws[:, row, b]) for a, b in pairs], axis=1)
            assert own.difference_interval[row] == pytest.approx(intervals(gaps, n, 0.9))
        turned = [(sign * (value[0, a] - value[0, b])) * (sign * (value[-1, a] - value[-1, b])) < 0 for a, b in pairs]
        ends = (own.tests.p_holm[0] < 0.2) & (own.tests.p_holm[-1] < 0.2)
        apart = [np.mean([(h[0, e, a] - h[0, e, b]) * (h[1, e, a] - h[1, e, b]) < 0 for a, b in pairs])
                 for e in (0, 1) for h in halves]  # fmt: skip
        told = own.sensitivity
        assert told.estimate == pytest.approx(np.mean(turned))
        assert (told.pairs, told.observed, told.flipped) == (3, 3, sum(turned))
        assert told.proven == (np.array(turned) & ends).sum()
        assert told.chance.mean == pytest.approx(np.mean(apart))
        assert (told.chance.low, told.chance.high) == pytest.approx(tuple(np.quantile(apart, [0.05, 0.95])))
        distances.append(told.estimate)
        halved.append(apart)
        proven += told.proven
        best = own.rank.argmin(axis=1)
        for row, winner in enumerate(best):
            differs = {b if a == winner else a for place, (a, b) in enumerate(pairs)
                       if winner in (a, b) and own.tests.p_holm[row, place] < 0.2}  # fmt: skip
            assert set(np.flatnonzero(own.told_from_best(0.2)[row])) == differs
    study = found.study
    assert study.estimate == pytest.approx(np.mean(distances))
    assert study.chance == Chance.of(np.mean(halved, axis=0), 0.9)
    assert (study.n_datasets, study.n_algorithms, study.proven) == (2, 3, proven)
    mean_rank = [np.mean([own.rank[end] for own in found.datasets], axis=0) for end in (0, -1)]
    np.testing.assert_equal(study.by_mean_rank, float(order_distance(*mean_rank)))
    rows = found.frames()["strata_sensitivity"].rows(named=True)
    assert [row["distance"] for row in rows[:3]] == pytest.approx([*distances, study.estimate])
    assert (rows[2]["chance_low"], rows[2]["chance_high"]) == (study.chance.low, study.chance.high)
    assert rows[0]["proven"] == found.datasets[0].sensitivity.proven


def test_one_draw_of_users_serves_all_and_halves_share_nobody():
    values = np.random.default_rng(0).random((2, 2, 5))
    values[0, :, 3:] = np.nan
    drawn = user_replicates(values, 60, np.random.default_rng(1))
    counts = np.random.default_rng(1).multinomial(5, np.full(5, 0.2), size=60)
    kept = counts[counts[:, :3].sum(axis=1) > 0]
    expected = [(row[:3] @ values[0, a, :3]) / row[:3].sum() for row in kept for a in (0, 1)]
    assert drawn[:, 0].ravel() == pytest.approx(expected)
    assert drawn[:, 1] == pytest.approx(kept @ values[1].T / 5)
    values[0, :, 1:] = np.nan
    counts = np.random.default_rng(1).multinomial(5, np.full(5, 0.2), size=60)
    assert (counts[:, 0] == 0).any()
    seen = user_replicates(values, 60, np.random.default_rng(1))
    assert len(seen) == (counts[:, 0] > 0).sum(), "a draw without any user of a stratum is left out"
    assert seen[:, 0] == pytest.approx(np.tile(values[0, :, 0], (len(seen), 1)))
    halves = user_halves(values[1:], 20, np.random.default_rng(2))
    first = np.argsort(np.random.default_rng(2).random((20, 5)), axis=1) < 2
    assert halves[:, 0, 0] == pytest.approx(np.array([values[1][:, chosen].mean(axis=1) for chosen in first]))
    assert halves[:, 1, 0] == pytest.approx(np.array([values[1][:, ~chosen].mean(axis=1) for chosen in first]))


def test_a_crossing_by_hand():
    """Differences 0.3 at P = 10 and -0.1 at P = 40 meet zero three quarters of the way, over the logarithm of P."""
    gap = np.array([[-0.2], [0.3], [0.0], [-0.1]])
    one, p = np.array([0]), np.array([[0.001], [0.02], [1.0], [0.01]])
    tests = PairTests(left=one, right=one + 1, difference=gap, t=gap, p=p, p_holm=p)
    up, down = find_crossings(tests, THRESHOLDS, ("a", "b"), 0.05)
    assert (up.first, up.second, up.below, up.above) == ("b", "a", 5, 10)
    assert up.threshold == pytest.approx(5**0.6 * 10**0.4)
    assert (up.p_below, up.p_above, up.significant_below, up.significant_above) == (0.004, 0.08, True, False)
    assert (down.first, down.second, down.below, down.above) == ("a", "b", 10, 40)
    assert down.threshold == pytest.approx(10**0.25 * 40**0.75)
    assert (down.p_below, down.p_above, down.significant_below, down.significant_above) == (0.08, 0.04, False, True)
    assert not up.proven
    assert not down.proven
    at_level = replace(tests, p_holm=np.array([[0.001], [0.0125], [1.0], [0.0125]]))
    sides = [(each.p_below, each.p_above, each.significant_below, each.significant_above)
             for each in find_crossings(at_level, THRESHOLDS, "ab", 0.05)]  # fmt: skip
    assert sides == [(0.004, 0.05, True, False), (0.05, 0.05, False, False)]


@pytest.mark.parametrize(("users", "groups"), [(GROUPS, GROUPS), (GROUPS + 1, GROUPS), (3, 3)])
def test_more_users_than_groups_are_gathered_and_nobody_is_lost(users, groups):
    values = np.random.default_rng(0).random((1, 2, users))
    values[0, :, 0] = np.nan
    table = _sums(values, np.random.default_rng(1))
    assert table.shape == (3, groups)
    assert table.sum(axis=1) == pytest.approx([*values[0, :, 1:].sum(axis=1), users - 1])


def test_algorithms_that_not_every_dataset_has_count_on_their_own_alone():
    three, two = scores([[0.3, 0.5, 0.4], [0.5, 0.3, 0.4]]), scores([[0.5, 0.3], [0.5, 0.3]], name="books")
    two = replace(two, algorithms=("a2", "a1"))
    found = sweep_strata(evidence(three, two), replicates=100).study
    # a2 against a1: behind, then ahead on films; ahead at both ends on books. By mean rank they tie, then a2 leads.
    assert (found.n_datasets, found.n_algorithms) == (2, 2)
    assert np.isnan(found.by_mean_rank)
    assert found.estimate == pytest.approx(1 / 2), "all three pairs turn round on films, none on books"
    alone = sweep_strata(evidence(three, replace(two, algorithms=("b0", "b1"))), replicates=100).study
    assert alone.n_algorithms == 0
    assert np.isnan(alone.by_mean_rank)


@pytest.mark.parametrize(("alpha", "confidence"), [(0.0, 0.95), (1.0, 0.95), (0.05, 0.49), (0.05, 1.0)])
def test_levels_that_are_none(alpha, confidence):
    with pytest.raises(UsageError, match="give a level"):
        sweep_strata(evidence(scores(LEVEL)), alpha=alpha, confidence=confidence)


def test_who_is_first_on_the_whole_test_part():
    own = sweep_strata(evidence(scores(LEVEL)), replicates=100).datasets[0]
    assert own.first_on_all() == own.order(3)[0] == "a0"
    whole = replace(own, whole=np.array([0.2, 0.3]))
    assert whole.first_on_all() == "a1"
    assert replace(whole, higher_is_better=False).first_on_all() == "a0"


@pytest.mark.parametrize(
    ("estimate", "proven", "beyond"), [(0.51, 1, True), (0.5, 1, False), (0.51, 0, False), (0.2, 3, False)]
)
def test_an_order_turns_beyond_chance_above_its_upper_end_and_with_a_proven_pair(estimate, proven, beyond):
    chance = Chance(0.3, 0.1, 0.5)
    assert OrderSensitivity(estimate, chance, 6, 6, 3, proven).beyond_chance is beyond
    study = StudySensitivity(estimate, chance, 0.4, Chance(0.2, 0.0, 0.6), 3, 4, proven)
    assert study.beyond_chance is beyond
    assert study.to_dict() == {
        "estimate": estimate, "chance": {"mean": 0.3, "interval": [0.1, 0.5]}, "beyond_chance": beyond,
        "by_mean_rank": {"estimate": 0.4, "chance": {"mean": 0.2, "interval": [0.0, 0.6]}, "algorithms": 4},
        "datasets": 3, "proven": proven,
    }  # fmt: skip


def test_the_tables_of_a_sweep_hold_its_numbers():
    """Two algorithms at two thresholds, by name: values, bands, users, pairs and crossings of each dataset."""
    films, books = scores(LEVEL[::3], users=60), scores(LEVEL[::3], users=50, seed=3, name="books")
    result = sweep_strata(evidence(films, replace(books, whole=np.array([0.4, 0.3]), shortened=7)), replicates=100)
    frames, own = result.frames(), result.datasets[1]
    assert frames["strata"].filter(dataset="books").rows() == [
        ("books", p, name, own.value[i, a], *own.interval[i, a], own.rank[i, a], bool(own.told_from_best(0.05)[i, a]),
         int(own.users[i]))
        for i, p in enumerate((5, 10)) for a, name in enumerate(("a0", "a1"))
    ]  # fmt: skip
    tests = own.tests
    assert frames["strata_pairs"].filter(dataset="books").rows() == [
        ("books", p, "a0", "a1", tests.difference[i, 0], *own.difference_interval[i, 0], tests.t[i, 0], tests.p[i, 0],
         tests.p_holm[i, 0], bool(tests.p_holm[i, 0] < 0.05))
        for i, p in enumerate((5, 10))
    ]  # fmt: skip
    assert frames["strata_shares"].select("dataset", "threshold", "users").rows() == [
        (each.dataset, p, int(n)) for each in result.datasets for p, n in zip((5, 10), each.users, strict=True)
    ]
    (crossing,) = own.crossings
    assert frames["strata_crossings"].row(1, named=True) == {"dataset": "books", **asdict(crossing)}
    assert frames["popularity_curve"].rows() == [
        (name, rank, popularity) for name in ("films", "books") for rank, popularity in ((1, 90), (10, 12), (100, 1))
    ]
    told = result.to_dict()
    assert told["settings"] == {"others": result.others, "alpha": 0.05, "confidence": 0.95, "replicates": 100}
    second = told["datasets"]["books"]
    assert (second["shortened_lists"], second["whole_test_part"]) == (7, {"a0": 0.4, "a1": 0.3})
    assert second["crossings"] == [{**asdict(crossing), "proven": crossing.proven}]
    last = second["strata"][1]
    assert (last["users"], last["order"], last["threshold"]) == (int(own.users[1]), ["a0", "a1"], 10)
    assert last["values"]["a1"] == {"estimate": own.value[1, 1], "interval": own.interval[1, 1].tolist(), "rank": 2.0}
    assert last["pairs"] == [{
        "left": "a0", "right": "a1", "difference": tests.difference[1, 0],
        "interval": own.difference_interval[1, 0].tolist(), "p_holm": tests.p_holm[1, 0], "significant": True,
    }]  # fmt: skip
    assert told["datasets"]["films"]["whole_test_part"] is None
    level = replace(own, tests=replace(tests, p_holm=np.array([[0.05], [0.049]])))
    assert [row["pairs"][0]["significant"] for row in level.to_dict(0.05)["strata"]] == [False, True]
    assert level.pairs_frame(0.05)["significant"].to_list() == [False, True]
    assert level.told_from_best(0.05).tolist() == [[False, False], [False, True]]
    calm = sweep_strata(evidence(scores([[0.5, 0.1]] * 2, users=20)), replicates=100).frames()["strata_crossings"]
    assert (calm.height, calm.schema) == (0, frames["strata_crossings"].schema)
    part = replace(evidence(films), left_out=("books: it failed",), others="remove")
    less = sweep_strata(part, alpha=0.1, confidence=0.8, replicates=101).to_dict()
    assert less["left_out"] == ["books: it failed"]
    assert less["settings"] == {"others": "remove", "alpha": 0.1, "confidence": 0.8, "replicates": 101}


def test_who_stands_out_is_first_above_first_below_or_moved_most():
    """Places at the lowest and at the highest threshold: a 2 to 1, b 1 to 2, c 3 to 5, d 4 to 3, e 5 to 4."""
    ranks = np.array([[2.0, 1.0, 3.0, 4.0, 5.0], [9.0] * 5, [1.0, 2.0, 5.0, 3.0, 4.0]])
    made = sweep_strata(evidence(scores(np.tile(np.linspace(0.5, 0.1, 5), (3, 1)), users=30)), replicates=100)
    own = replace(made.datasets[0], rank=ranks, algorithms=tuple("abcde"))
    result = replace(made, datasets=(own,))
    assert [result.standing_out(most) for most in (1, 2, 3, 4, 9)] == [
        ("a",), ("a", "b"), ("a", "b", "c"), ("a", "b", "d", "c"), ("a", "b", "d", "e", "c")
    ]  # fmt: skip
    climbing = replace(own, rank=np.array([[1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 3.0, 4.0, 5.0, 2.0]]))
    assert replace(made, datasets=(climbing,)).standing_out(2) == ("a", "e"), "e moves most, upwards"
    other = replace(own, rank=ranks[:, [2, 0, 1]], algorithms=("b", "c", "z"))
    both = replace(made, datasets=(own, other))
    assert both.algorithms == ("a", "b", "c", "d", "e", "z")
    # By mean place: b is 2 and 3.5, c is 2.5 and 3, z is 1 and 2 on its one dataset.
    assert both.standing_out(2) == ("a", "z")
    assert both.standing_out(3) == ("a", "z", "b"), "b and c moved by 1.5 on average: the first by name"
    assert both.standing_out(4) == ("a", "z", "c", "b")
    turned = [
        replace(own, rank=np.array([below, above]))
        for below, above in (([1, 2, 3, 4, 5], [1, 2, 5, 3, 4]), ([1, 2, 5, 4, 3], [1, 2, 3, 4, 5]))
    ]
    assert replace(made, datasets=tuple(turned)).standing_out(2) == ("a", "c"), "c falls on one and climbs on the other"


def test_equal_ranks_are_listed_by_name_and_crossings_by_threshold_and_name():
    made = sweep_strata(evidence(scores([[0.5, 0.5, 0.1], [0.5, 0.5, 0.1]], users=20)), replicates=100).datasets[0]
    level = replace(made, rank=np.array([[2.5, 1.0, 2.5], [1.5, 3.0, 1.5]]))
    assert (level.order(0), level.order(1)) == (["a1", "a0", "a2"], ["a0", "a2", "a1"])
    assert level.first_on_all() == "a0"
    left, right = np.array([0, 0, 1]), np.array([1, 2, 2])
    gap, p = np.array([[-0.2, 0.1, 0.3], [0.2, -0.1, -0.1]]), np.full((2, 3), 0.5)
    found = find_crossings(PairTests(left, right, gap, gap, p, p), (10, 40), ("x", "y", "z"), 0.05)
    assert [(each.first, each.second, each.threshold) for each in found] == [
        ("x", "z", pytest.approx(20)), ("y", "x", pytest.approx(20)), ("y", "z", pytest.approx(10**0.25 * 40**0.75))
    ]  # fmt: skip


def test_coins_count_the_users_that_differ_and_means_that_tie_differ_by_nothing():
    """Of six users three differ, all alike: no p below 2 / 2^3. Means that differ by rounding tie."""
    one, other = np.array([0.5, 0.5, 0.5, 0.3, 0.3, 0.3]), np.array([0.6, 0.6, 0.6, 0.3, 0.3, 0.3])
    tests = paired_tests(np.array([[other, one]]), higher_is_better=True)
    assert stats.ttest_rel(other, one).pvalue < tests.p[0, 0] == 0.25
    equal_scores = np.array([[[0.1, 0.2, 0.3, 0.7], [0.1, 0.2, 0.3, 0.7]]])
    level = paired_tests(equal_scores * (1 + 1e-13 * np.array([[[1], [0]]])), higher_is_better=True)
    assert (level.difference[0, 0], level.t[0, 0], level.p[0, 0]) == (0.0, 0.0, 1.0)
    constant = np.array([[[0.3, 0.4, 0.6], [0.1, 0.2, 0.4]]])
    steady = paired_tests(constant, higher_is_better=False)
    assert (steady.difference[0, 0], steady.t[0, 0]) == (pytest.approx(-0.2), -np.inf)
    lone = paired_tests(constant[:, :, :1], higher_is_better=True)
    assert (lone.t[0, 0], lone.p[0, 0], lone.p_holm[0, 0]) == (0.0, 1.0, 1.0)
    assert paired_tests(constant[:, :1], higher_is_better=True).p_holm.shape == (1, 0)


def test_halvings_without_an_order_do_not_count():
    gone = np.nan
    assert Chance.of(np.array([0.0, gone, 0.5, 1.0]), 0.5) == Chance(0.5, 0.25, 0.75)
    assert np.isnan(Chance.of(np.array([gone]), 0.9).high)
    three = scores([[0.5, 0.3], [0.5, 0.3]])
    zeros = of(np.zeros((2, 2, 20)), name="books")
    found = sweep_strata(evidence(three, zeros), replicates=100).study
    assert (found.estimate, found.chance) == (0.0, Chance(0.0, 0.0, 0.0)), "books says nothing"
    assert found.n_datasets == 2, "it is one of the study's datasets all the same"


def test_replicates_that_are_drawn_in_blocks_are_the_same(monkeypatch):
    values = np.random.default_rng(0).random((2, 2, 9))
    whole = user_replicates(values, 60, np.random.default_rng(1))
    monkeypatch.setattr("recassay.analysis.strata.fit.ROWS_AT_ONCE", 25)
    assert user_replicates(values, 60, np.random.default_rng(1)).tolist() == whole.tolist()
