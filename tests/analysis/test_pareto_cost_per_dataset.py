"""Pareto fronts, cost and values by dataset, on tables whose answers are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recassay.analysis.cost import measure_cost
from recassay.analysis.inference.bootstrap import dataset_weights
from recassay.analysis.pareto import pareto_front, trade_off
from recassay.analysis.per_dataset import per_dataset
from recassay.analysis.profiles import fit_profiles
from recassay.core.errors import NotApplicableError, UsageError
from recassay.core.seeds import derived_rng
from recassay.core.tables.results import Results
from recassay.reporting.sections import pareto as pareto_section
from recassay.reporting.sections import per_dataset as per_dataset_section
from support.tables import matrix


def results(values: dict[str, dict[str, list[float | None]]]) -> Results:
    """By metric and algorithm, values on datasets d0, d1, ..."""
    rows = [
        (algorithm, f"d{d}", metric, value)
        for metric, by_algorithm in values.items()
        for algorithm, own in by_algorithm.items()
        for d, value in enumerate(own)
    ]
    return Results.from_frame(pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value"], orient="row"))


def test_the_front_is_those_that_nobody_beats_in_both():
    front = pareto_front(np.array([3.0, 2.0, 1.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0, 2.0, 2.0]))
    assert front.tolist() == [True, True, True, False, True]


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=12))
def test_the_front_is_the_definition(points):
    first, second = (np.array(axis, dtype=float) for axis in zip(*points, strict=True))
    expected = [not any(x >= a and y >= b and (x > a or y > b) for x, y in points) for a, b in points]
    assert pareto_front(first, second).tolist() == expected
    assert any(expected)


def test_trades_average_over_shared_datasets_and_know_directions():
    table = results(
        {
            "ndcg@10": {"A": [0.4, 0.2], "B": [0.3, 0.1], "C": [0.1, 0.1]},
            "coverage@10": {"A": [0.1, 0.3], "B": [0.5, 0.5], "C": [0.4, 0.4]},
            "seconds_fit": {"A": [1.0, 100.0], "B": [1.0, 1.0], "C": [0.5, None]},
        }
    )
    found = trade_off(table, "ndcg@10")
    assert [trade.other for trade in found.trades] == ["coverage@10", "seconds_fit"]
    coverage, seconds = found.trades
    assert coverage.accuracy == pytest.approx([0.3, 0.2, 0.1])
    assert coverage.values == pytest.approx([0.2, 0.5, 0.4])
    assert coverage.front.tolist() == [True, True, False]
    assert seconds.n_datasets == 1
    assert seconds.values == pytest.approx([1.0, 1.0, 0.5])
    assert seconds.front.tolist() == [True, False, True]
    assert found.to_dict()["trades"]["coverage@10"]["front"] == ["A", "B"]
    assert "coverage@10: A, B" in pareto_section.sentences(found)[0]


def test_the_front_comes_with_the_share_of_replicates():
    """A dominates; B and C trade places by one dataset, and below five datasets nothing is said of others."""
    middle = np.array([[0.3] * 8, [0.4, 0.2, 0.4, 0.2, 0.4, 0.2, 0.4, 0.25]])
    table = results(
        {
            "ndcg@10": {"A": [0.9] * 8, "B": middle[0].tolist(), "C": middle[1].tolist()},
            "coverage@10": {"A": [0.2] * 8, "B": [0.5] * 8, "C": [0.5] * 8},
        }
    )
    (trade,) = trade_off(table, "ndcg@10").trades
    shares = trade.shares()
    assert shares["A"] == 1
    assert 1 <= shares["B"] + shares["C"] < 1.2, "draws in which they tie have both"
    assert 0.02 < shares["B"] < 0.98
    other = "B" if trade.front[1] else "C"
    said = pareto_section.sentences(trade_off(table, "ndcg@10"))[0]
    assert f"coverage@10: A (100 %), {other} ({100 * shares[other]:.0f} %). In brackets the share of bootstrap" in said
    assert trade_off(table, "ndcg@10").to_dict()["trades"]["coverage@10"]["front_share"] == shares
    fewer = trade_off(Results.from_frame(table.frame.filter(pl.col("dataset") < "d4")), "ndcg@10")
    assert fewer.trades[0].share is None
    assert "bootstrap" not in pareto_section.sentences(fewer)[0]


def test_the_most_accurate_comes_first_where_lower_is_better():
    table = results({"rmse": {"A": [0.9, 0.9], "B": [0.5, 0.5]}, "coverage@10": {"A": [0.9, 0.9], "B": [0.1, 0.1]}})
    (trade,) = trade_off(table, "rmse", higher_is_better=False).trades
    assert [trade.algorithms[i] for i in trade.order()] == ["B", "A"]
    own = {"loss of mine": {"A": [0.9, 0.9], "B": [0.5, 0.5]}, "coverage@10": {"A": [0.9, 0.9], "B": [0.9, 0.9]}}
    found = trade_off(results(own), "loss of mine", higher_is_better=False)
    assert not found.higher_is_better
    assert found.trades[0].front.tolist() == [False, True]


def test_an_algorithm_without_the_other_metric_is_left_out_and_times_average_by_logs():
    table = results(
        {
            "ndcg@10": {"A": [0.4, 0.2], "B": [0.3, 0.1], "C": [0.9, 0.9]},
            "memory": {"A": [1.0, 100.0], "B": [20.0, 20.0], "C": [None, None], "D": [5.0, 5.0]},
        }
    )
    (trade,) = trade_off(table, "ndcg@10").trades
    assert trade.left_out == ("C",), "D has no accuracy that could be left out"
    assert trade.values == pytest.approx([10.0, 20.0])
    assert trade.front.tolist() == [True, False]


def test_those_on_the_front_are_listed_before_the_others_each_from_the_most_accurate_on():
    accuracy, coverage = {"A": 0.9, "B": 0.5, "C": 0.3, "D": 0.6}, {"A": 0.2, "B": 0.1, "C": 0.5, "D": 0.15}
    table = {name: {a: [value, value] for a, value in own.items()}
             for name, own in (("ndcg@10", accuracy), ("coverage@10", coverage))}  # fmt: skip
    found = trade_off(results(table), "ndcg@10")
    assert found.to_frame()["algorithm"].to_list() == ["A", "C", "D", "B"]
    assert found.to_dict()["trades"]["coverage@10"]["front"] == ["A", "C"]


def test_accuracy_alone_has_no_price():
    with pytest.raises(NotApplicableError, match="no coverage"):
        trade_off(results({"ndcg@10": {"A": [0.1, 0.2], "B": [0.2, 0.3]}}), "ndcg@10")


@pytest.mark.parametrize(
    "coverage",
    [
        {"A": [0.1, 0.2, 0.3, 0.4]},
        {"A": [0.1, 0.2, None, None], "B": [None, None, 0.3, 0.4]},
        {"A": [None] * 4, "B": [None] * 4},
    ],
    ids=["one algorithm", "no dataset in common", "no value"],
)
def test_a_metric_that_no_two_algorithms_share_on_a_dataset_is_no_trade(coverage):
    accuracy = {"A": [0.1, 0.2, 0.3, 0.4], "B": [0.2, 0.3, 0.4, 0.5]}
    with pytest.raises(NotApplicableError, match="no coverage"):
        trade_off(results({"ndcg@10": accuracy, "coverage@10": coverage}), "ndcg@10")
    beside = {"ndcg@10": accuracy, "coverage@10": coverage, "seconds": {"A": [1.0] * 4, "B": [2.0] * 4}}
    assert [trade.other for trade in trade_off(results(beside), "ndcg@10").trades] == ["seconds"]


def test_cost_by_algorithm_and_dataset():
    found = measure_cost(
        results({"seconds_fit": {"A": [1, 2, 9], "B": [4, None, 6]}, "ndcg@10": {"A": [1, 1, 1], "B": [1, 1, 1]}})
    )
    assert found.measures == ["seconds_fit"]
    row = found.to_frame().row(by_predicate=pl.col("algorithm") == "A", named=True)
    assert (row["cells"], row["least"], row["median"], row["most"], row["sum"]) == (3, 1, 2, 9, 12)
    assert (row["lower_quartile"], row["upper_quartile"]) == (1.5, 5.5)
    by_dataset = found.frames()["cost_by_dataset"]
    assert dict(by_dataset.select("dataset", "cells").rows()) == {"d0": 2, "d1": 1, "d2": 2}
    with pytest.raises(NotApplicableError, match="no times"):
        measure_cost(results({"ndcg@10": {"A": [0.1, 0.2], "B": [0.2, 0.3]}}))


def test_intervals_over_repeats_are_scipys():
    rng = np.random.default_rng(0)
    repeats = rng.normal(0.5, 0.1, (2, 3, 5))
    found = per_dataset(matrix(repeats.mean(axis=2), replicates=repeats))
    assert found.source == "repeats"
    for a, d in np.ndindex(2, 3):
        own = repeats[a, d]
        low, high = stats.t.interval(0.95, 4, own.mean(), stats.sem(own))
        assert (found.low[a, d], found.high[a, d]) == pytest.approx((low, high))


def test_intervals_over_users():
    users = pl.DataFrame(
        {"algorithm": ["a00", "gone"], "dataset": ["d01", "d01"], "n": [100, 5], "deviation": [0.2, 9.0]}
    )
    found = per_dataset(matrix([[0.5, 0.5], [0.25, 0.1]]), users=users, confidence=0.9)
    assert found.source == "users"
    half = stats.t.ppf(0.95, 99) * 0.02
    assert (found.low[0, 1], found.high[0, 1]) == pytest.approx((0.5 - half, 0.5 + half))
    assert np.isnan(found.low[[0, 1, 1], [0, 0, 1]]).all()
    assert found.share.tolist() == [[1, 1], [0.5, 0.2]]
    assert found.to_frame().null_count()["low"][0] == 3


def test_single_values_have_no_interval_and_no_sentence():
    found = per_dataset(matrix([[1.0, 2.0], [2.0, 8.0]], higher_is_better=False))
    assert found.source == "none"
    assert found.share.tolist() == [[1, 1], [0.5, 0.25]]
    assert per_dataset_section.sentences(found) == []


@pytest.mark.parametrize("up", [True, False])
def test_the_best_is_ahead_in_every_repeat_or_it_is_not(up):
    best = np.array([[0.9, 0.8, 0.9], [0.5, 0.4, 0.6]]).T
    second = np.array([[0.3, 0.2, 0.1], [0.4, 0.45, 0.5]]).T
    repeats = np.stack([best, second]).transpose(0, 2, 1)
    repeats = repeats if up else -repeats
    found = per_dataset(matrix(repeats.mean(axis=2), replicates=repeats, paired=True, higher_is_better=up))
    assert [(one.dataset, one.first, one.second, one.repeats) for one in found.ahead] == [
        ("d00", "a00", "a01", 3),
        ("d01", "a00", "a01", 3),
    ]
    assert [one.share for one in found.ahead] == pytest.approx([1, 2 / 3])
    (said,) = per_dataset_section.sentences(found)
    assert "on 1 of 2 datasets the best algorithm is ahead of the second in every repeat" in said
    assert found.to_dict()["ahead"]["d01"]["share"] == pytest.approx(2 / 3)
    apart = per_dataset(matrix(repeats.mean(axis=2), replicates=repeats, higher_is_better=up))
    assert apart.ahead == ()
    assert per_dataset_section.sentences(apart) == []


def test_which_metrics_are_traded_and_at_which_cut_off():
    """One of each kind, at the cut-off of the accuracy metric where there is one, seven at most, in a fixed order."""
    one = {"A": [0.1, 0.2], "B": [0.2, 0.1]}
    labels = ["coverage@5", "coverage@10", "gini@20", "joules", "seconds", "memory", "novelty@10", "diversity@10",
              "popularity@10", "longtail@10", "entropy@10", "recall@10", "coverage@20"]  # fmt: skip
    found = trade_off(results({label: one for label in ("ndcg@10", *labels)}), "ndcg@10")
    assert [trade.other for trade in found.trades] == [
        "coverage@10", "diversity@10", "novelty@10", "popularity@10", "longtail@10", "gini@20", "entropy@10"
    ]  # fmt: skip
    directions = {trade.other: trade.higher_is_better for trade in found.trades}
    assert directions["coverage@10"]
    assert directions["novelty@10"]
    assert not directions["popularity@10"]
    assert not directions["gini@20"]
    costs = trade_off(results({label: one for label in ("coverage@10", "memory", "seconds_fit")}), "coverage@10")
    assert [(trade.other, trade.mean) for trade in costs.trades] == [
        ("seconds_fit", "geometric mean"), ("memory", "geometric mean")
    ]  # fmt: skip


def test_a_trade_by_plain_computation():
    """Costs are averaged by logs, and no cost is below a microsecond; who lacks more than half is left out."""
    accuracy = {"A": [0.1, 0.3, 0.2, 0.5, 0.4, 0.6], "B": [0.2, 0.2, 0.3, 0.4, 0.5, 0.5], "C": [0.9] * 6}
    seconds = {"A": [1, 2, 4, 8, 16, 0.0], "B": [3, 3, 3, 3, 3, None], "C": [1, 1, None, None, None, None]}
    found = trade_off(results({"ndcg@10": accuracy, "seconds_fit": seconds}), "ndcg@10", replicates=120, seed=9)
    (trade,) = found.trades
    assert (trade.algorithms, trade.left_out, trade.n_datasets) == (("A", "B"), ("C",), 5)
    a, b = np.array(accuracy["A"][:5]), np.array(accuracy["B"][:5])
    assert trade.accuracy == pytest.approx([a.mean(), b.mean()])
    assert trade.values == pytest.approx([4.0, 3.0])
    weights = dataset_weights(5, 120, derived_rng(9, "pareto", "seconds_fit")) / 5
    drawn, logs = weights @ np.array([a, b]).T, weights @ np.log([[1, 2, 4, 8, 16], [3] * 5]).T
    share = np.mean([pareto_front(row, -cost) for row, cost in zip(drawn, logs, strict=True)], axis=0)
    assert trade.share == pytest.approx(share)
    rows = found.to_frame()
    assert rows["algorithm"].to_list() == ["B", "A"]
    assert rows["front"].to_list() == [True, False]
    assert rows["datasets"].to_list() == [5, 5]
    told = found.to_dict()["trades"]["seconds_fit"]
    assert (told["front"], told["left_out"], told["higher_is_better"]) == (["B"], ["C"], False)
    assert (told["datasets"], told["mean"]) == (5, "geometric mean")
    assert told["values"] == pytest.approx({"A": 4.0, "B": 3.0})
    assert told["accuracy"] == pytest.approx({"A": 0.3, "B": 0.32})
    half = trade_off(
        results({"ndcg@10": accuracy, "seconds_fit": seconds | {"C": [1, 1, 1, None, None, None]}}), "ndcg@10"
    )
    assert half.trades[0].algorithms == ("A", "B", "C"), "half of the datasets is enough"
    assert half.trades[0].n_datasets == 3
    free = trade_off(results({"ndcg@10": {"A": [1, 1], "B": [2, 2]}, "seconds": {"A": [0, 0], "B": [1, 1]}}), "ndcg@10")
    assert free.trades[0].values == pytest.approx([1e-6, 1.0])


def test_stated_deviations_give_normal_intervals_and_an_order_by_share():
    errors = np.array([[0.1, 0.0], [0.2, np.nan]])
    found = per_dataset(matrix([[0.5, 0.2], [0.6, 0.4]], standard_errors=errors), confidence=0.9)
    assert found.source == "stated"
    half = stats.norm.ppf(0.95) * np.array([0.1, 0.2])
    assert found.low[:, 0] == pytest.approx([0.5 - half[0], 0.6 - half[1]])
    assert found.high[:, 0] == pytest.approx([0.5 + half[0], 0.6 + half[1]])
    assert np.isnan(found.low[:, 1]).all()
    assert found.order() == [1, 0]
    told = found.to_dict()
    assert told["values"]["d00"]["a01"] == {
        "estimate": 0.6, "interval": pytest.approx([0.6 - half[1], 0.6 + half[1]])
    }  # fmt: skip
    assert (told["source"], told["confidence"]) == ("stated", 0.9)
    frames = found.frames()
    assert frames["values"].rows() == [("a01", 0.6, 0.4), ("a00", 0.5, 0.2)]
    assert frames["per_dataset"].row(0)[:3] == ("d00", "a01", 0.6)


def test_repeats_that_are_missing_count_as_what_is_there():
    repeats = np.array([[[0.2, 0.4, np.nan]], [[0.1, np.nan, np.nan]]])
    values = np.array([[0.3], [0.1]])
    found = per_dataset(matrix(values, replicates=repeats, paired=True))
    low, high = stats.t.interval(0.95, 1, 0.3, stats.sem([0.2, 0.4]))
    assert (found.low[0, 0], found.high[0, 0]) == pytest.approx((low, high))
    assert np.isnan(found.low[1, 0])
    assert [(lead.first, lead.share, lead.repeats) for lead in found.ahead] == [("a00", 1.0, 1)]
    never = np.array([[[0.3, np.nan]], [[np.nan, 0.1]]])
    (lead,) = per_dataset(matrix(values, replicates=never, paired=True)).ahead
    assert (lead.first, lead.repeats) == ("a00", 0)
    assert np.isnan(lead.share), "no repeat has both"
    users = pl.DataFrame({"algorithm": ["a00"], "dataset": ["d00"], "n": [9], "deviation": [1.0]})
    assert per_dataset(matrix(values, replicates=repeats), users=users).source == "repeats"
    assert per_dataset(matrix(values), users=users[:0]).source == "none"
    stated = per_dataset(matrix(values, standard_errors=np.full((2, 1), 0.5)), users=users)
    assert stated.source == "users"
    assert stated.high[0, 0] - 0.3 == pytest.approx(stats.t.ppf(0.975, 8) / 3), "users before what the table states"
    odd = replace(matrix(values), datasets=("algorithm",))
    assert per_dataset(odd).frames()["values"].columns == ["algorithm"], "a dataset of that name has no column"


@pytest.mark.parametrize("up", [True, False])
def test_profiles_by_hand(up):
    """A is best twice and twice as bad once; B is 1.5 and 4 times as bad; C is never within 3."""
    values = np.array([[6.0, 6.0, 3.0], [4.0, 1.5, 6.0], [1.0, 1.0, 0.0]])
    with np.errstate(divide="ignore"):
        found = fit_profiles(matrix(values if up else 1 / np.maximum(values, 1e-9), higher_is_better=up), beta_max=3.0)
    corners = found.to_dict()["profiles"]
    third = 1 / 3
    assert corners["a00"] == [pytest.approx(corner) for corner in ([1.0, 2 * third], [2.0, 1.0], [3.0, 1.0])]
    assert corners["a01"] == [pytest.approx(corner) for corner in ([1.0, third], [1.5, 2 * third], [3.0, 2 * third])]
    assert corners["a02"] == [[1.0, 0.0], [3.0, 0.0]]
    areas = np.array([2 * 2 + 1, 2 + 1.5, 0.0])
    assert found.auc == pytest.approx(areas / areas.sum())
    assert list(found.to_dict()["auc"]) == ["a00", "a01", "a02"]
    assert found.to_frame()["beta"].to_list() == pytest.approx([1, 2, 3, 1, 1.5, 3, 1, 3])
    assert found.frames()["profile_areas"]["algorithm"].to_list() == ["a00", "a01", "a02"]
    late = fit_profiles(matrix([[6.0, 6.0], [4.0, 2.0]]), beta_max=3.0).to_dict()["profiles"]["a01"]
    assert late == [[1.0, 0.0], [1.5, 0.5], [3.0, 1.0], [3.0, 1.0]], (
        "never the best, and just within the largest factor"
    )
    near = fit_profiles(matrix([[6.0, 6.0], [4.0, 4.0 * (1 + 1e-13)]]), beta_max=3.0).to_dict()["profiles"]["a01"]
    assert [share for _, share in near] == [0.0, 1.0, 1.0], "ratios that differ by rounding are one step"
    with pytest.raises(UsageError, match="beta_max is 1"):
        fit_profiles(matrix(values), beta_max=1)
    with pytest.raises(NotApplicableError, match="ndcg@10 has negative values"):
        fit_profiles(matrix(-values))


def test_costs_are_listed_by_measure_and_from_the_cheapest_on():
    found = measure_cost(
        results({"joules": {"A": [50.0, 70.0]}, "seconds_predict": {"A": [3.0, None], "B": [2.0, 2.5]},
                 "seconds_fit@10": {"A": [8.0, 4.0], "B": [6.0, 6.0], "C": [1.0, 1.0]}, "ndcg@10": {"A": [1, 1]}})
    )  # fmt: skip
    assert found.measures == ["seconds_fit", "seconds_predict", "joules"]
    assert found.to_frame().select("algorithm", "measure", "cells", "sum").rows() == [
        ("C", "seconds_fit", 2, 2.0), ("A", "seconds_fit", 2, 12.0), ("B", "seconds_fit", 2, 12.0),
        ("B", "seconds_predict", 2, 4.5), ("A", "seconds_predict", 1, 3.0), ("A", "joules", 2, 120.0),
    ]  # fmt: skip
    assert found.to_dict()["by_dataset"][0]["dataset"] == "d1"
    level = measure_cost(results({"memory": {name: [2.0] * 9 for name in "hbkfcaejgdi"}}))
    assert "".join(level.to_frame()["algorithm"]) == "abcdefghijk", "of equal medians by name"
    assert level.frames()["cost_by_dataset"]["dataset"].to_list() == [f"d{d}" for d in range(9)]
    cells = found.frames()["cost_cells"]
    assert cells.height == 11
    assert cells["measure"].unique(maintain_order=True).to_list() == ["joules", "seconds_fit", "seconds_predict"]
    twice = measure_cost(results({"seconds_fit@5": {"A": [8.0]}, "seconds_fit@10": {"A": [6.0]}}))
    assert twice.to_frame()["sum"].to_list() == [8.0], "of two labels of a measure the first"
    with pytest.raises(NotApplicableError, match="no time and no memory was measured"):
        measure_cost(results({"memory": {"A": [None, None]}, "ndcg@10": {"A": [1, 1]}}))


@pytest.mark.parametrize(
    ("other", "mean"),
    [("coverage@10", "mean"), ("novelty@10", "mean"), ("popularity@10", "mean"), ("diversity@10", "mean"),
     ("longtail@10", "mean"), ("gini@10", "mean"), ("entropy@10", "mean"), ("serendipity@10", "mean"),
     ("calibration@10", "mean"), ("seconds_fit", "geometric mean"), ("seconds_predict", "geometric mean"),
     ("seconds", "geometric mean"), ("memory", "geometric mean"), ("joules", "geometric mean")],
)  # fmt: skip
def test_every_kind_of_other_metric_is_traded_and_averaged_in_its_way(other, mean):
    table = results({"ndcg@10": {"A": [0.1, 0.2], "B": [0.2, 0.1]}, other: {"A": [1.0, 4.0], "B": [2.0, 8.0]}})
    (trade,) = trade_off(table, "ndcg@10").trades
    assert (trade.other, trade.mean) == (other, mean)
    assert trade.values == pytest.approx([2.0, 4.0] if mean == "geometric mean" else [2.5, 5.0])


def test_costs_are_listed_by_measure_and_the_first_label_of_a_measure_counts():
    labels = ("joules", "memory", "seconds", "seconds_predict", "seconds_fit")
    found = measure_cost(results({label: {"A": [1.0], "B": [2.0]} for label in labels}))
    assert found.measures == ["seconds_fit", "seconds_predict", "seconds", "memory", "joules"]
    assert found.to_frame()["measure"].unique(maintain_order=True).to_list() == found.measures
    twice = measure_cost(results({"memory@10": {"A": [1.0], "B": [2.0]}, "memory@20": {"A": [3.0], "B": [4.0]}}))
    assert twice.to_frame()["sum"].to_list() == [1.0, 2.0]
