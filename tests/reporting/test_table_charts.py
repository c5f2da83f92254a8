"""What the charts of a bare table's analyses draw, of results made by hand: ranks, pairs, tournaments and costs.

`tests/frozen/charts.json` records what else a reader sees of each: titles, sizes, looks, axes, legends and tips.
"""

from __future__ import annotations

import json
import re
from types import SimpleNamespace as Made

import numpy as np
import polars as pl
import pytest

from recassay.analysis.stress.result import Change
from recassay.core.vocabulary import USUAL
from recassay.plots import compare as compare_plots
from recassay.plots.shown import Shown
from recassay.reporting.section import always, nobody
from recassay.reporting.sections import (
    adaptive,
    associations,
    beta_irt,
    compare,
    comper,
    correlations,
    cost,
    decodirt,
    glicko,
    model,
    multiverse,
    pareto,
    per_dataset,
    profiles,
    rank,
    ratings,
    select,
    strata,
    stress,
)
from recassay.reporting.telling import own_sections
from recassay.reporting.words import verdict as verdict_words
from support.charts import rows_of, says, shows
from support.frozen import changed
from support.made import framed


def tournament(**given):
    names, datasets = ("a", "b"), ("x", "y's", "z")
    rows = [{"algorithm": name, "rating": 1500.0, "deviation": 50.0, "volatility": 0.06, "low": 1400.0, "high": 1600.0,
             "order_low": 1450.0, "order_high": 1550.0} for name in names]  # fmt: skip
    history = [{"period": p, "dataset": d, "algorithm": name, "rank": 1 + (name == "a"), "rating": 1500.0 + p,
                "deviation": 50.0} for p, d in enumerate(datasets, 1) for name in names]  # fmt: skip
    usual = {"algorithms": names, "order": lambda: [1, 0], "datasets": datasets, "metric": "m", "order_name": "by size",
             "bounds": (1, 2), "n_orders": 50, "to_frame": lambda: framed(*rows),
             "history_frame": lambda: framed(*history)}  # fmt: skip
    return Made(**{**usual, **given})


def test_a_tournament_in_pictures():
    bump = glicko.plot_glicko_bump(tournament()).to_dict()
    assert changed("charts", "glicko_ranks", shows(bump)) == []
    lines, names = rows_of(bump)
    assert len(lines) == 6
    assert [(row["label"], row["period"], row["rating"]) for row in names] == [("a", 3, 1503.0), ("b", 3, 1503.0)]
    assert bump["layer"][0]["encoding"]["x"]["axis"]["labelExpr"] == r"['x', 'y\'s', 'z'][datum.value - 1]"
    ratings = glicko.plot_glicko_ratings(tournament()).to_dict()
    assert changed("charts", "glicko_ratings", shows(ratings)) == []
    spread = "grey: 95 % of 50 random orders of the 3 datasets"
    assert ratings["title"]["subtitle"] == f"95 % intervals over drawn datasets; {spread}"
    assert glicko.plot_glicko_ratings(tournament(bounds=None)).to_dict()["title"]["subtitle"] == spread
    long = tournament(algorithms=tuple(f"a{i}" for i in range(12)), order=lambda: list(range(12)),
                      datasets=tuple(f"d{i}" for i in range(30)))  # fmt: skip
    drawn = glicko.plot_glicko_bump(long).to_dict()
    assert (drawn["width"], drawn["height"]) == (17 * 30, 20 * 12)


def trade(other, *, up, names=("a", "b")):
    return Made(other=other, higher_is_better=up, algorithms=names, values=np.linspace(1.0, 2.0, len(names)),
                accuracy=np.linspace(0.5, 0.3, len(names)), front=[True] + [False] * (len(names) - 1))  # fmt: skip


def test_what_accuracy_costs_in_pictures():
    trades = [trade("seconds_fit", up=False), trade("coverage@10", up=True)]
    spec = pareto.plot_pareto(Made(metric="ndcg@10", higher_is_better=True, trades=trades)).to_dict()
    assert changed("charts", "pareto", shows(spec)) == []
    seconds, coverage = (panel["layer"][0]["encoding"] for panel in spec["concat"])
    assert (seconds["x"]["title"], coverage["x"]["title"]) == ("seconds_fit (log)", "coverage@10")
    assert (seconds["x"]["scale"]["type"], coverage["x"]["scale"]["type"]) == ("log", "linear")
    assert (seconds["x"]["scale"]["reverse"], coverage["x"]["scale"]["reverse"]) == (True, False)
    assert not coverage["y"]["scale"]["reverse"]
    assert [row["standing"] for row in rows_of(spec)[0]] == ["on the front", "beaten in both"]
    many = tuple(f"n{i:02d}" for i in range(19))
    errors = [trade("coverage@10", up=True, names=many[:size]) for size in (18, 19, 19)]
    spec = pareto.plot_pareto(Made(metric="rmse", higher_is_better=False, trades=errors)).to_dict()
    marks = spec["concat"][0]["layer"][1]["encoding"]
    assert (spec["columns"], marks["color"]["legend"]["columns"], marks["y"]["scale"]["reverse"]) == (3, 2, True)
    assert marks["shape"]["scale"] == {"domain": list(many), "range": ["circle"] * 12 + ["square"] * 7}
    few = pareto.plot_pareto(Made(metric="rmse", higher_is_better=False, trades=errors[:1])).to_dict()
    assert few["concat"][0]["layer"][1]["encoding"]["color"]["legend"]["columns"] == 1
    assert few["columns"] == 2


@pytest.mark.parametrize(
    ("source", "over"),
    [("users", "t intervals over users"), ("stated", "intervals from stated deviations"),
     ("repeats", "t intervals over repeated runs")],
)  # fmt: skip
def test_values_with_intervals_have_a_panel_per_dataset(source, over):
    datasets = ("one", "two", "three", "four", "x" * 30)
    rows = [{"algorithm": name, "dataset": d, "value": place, "low": 0.4, "high": 0.6}
            for place, d in enumerate(datasets) for name in ("a", "b")]  # fmt: skip
    result = Made(to_frame=lambda: framed(*rows), algorithms=("a", "b"), order=lambda: [1, 0], datasets=datasets,
                  metric="m", confidence=0.9, source=source)  # fmt: skip
    spec = per_dataset.plot_intervals(result).to_dict()
    assert spec["title"]["subtitle"] == f"90 % {over}; the scales differ between datasets"
    assert [{row["value"] for row in rows_of(panel)[0]} for panel in spec["concat"]] == [{0}, {1}, {2}, {3}, {4}]
    named = [panel["layer"][0]["encoding"]["y"]["axis"] is not None for panel in spec["concat"]]
    assert named == [True, False, False, False, True], "names stand at the left of each row of panels"
    assert (spec["columns"], spec["concat"][4]["title"]["text"]) == (4, "x" * 25 + "…")
    if source == "users":
        assert changed("charts", "per_dataset_intervals", shows(spec)) == []
    assert per_dataset.plot_intervals.when(result)
    assert not per_dataset.plot_intervals.when(Made(source="none"))


def ranked(**given):
    verdict = {"algorithms": ("b", "a"), "interval": np.zeros((2, 2)), "leads_again": np.array([0.7, 0.3]),
               "headline": "It is b.", "sentences": ("By a lead.", "Or not."), "alpha": 0.1,
               "grade": "clear_winner"}  # fmt: skip
    rows = [{"algorithm": name, "mean_rank": 1.26, "mean_rank_low": 1.0, "mean_rank_high": 1.5, "groups": "a",
             "leads_again": 0.7, "could_be_best": name == "b"} for name in ("b", "a")]  # fmt: skip
    judgement = Made(**{**verdict, **given}, to_frame=lambda: framed(*rows))
    rule = {"mean_rank": Made(title="Mean rank", short="rank"), "mean": Made(title="Mean", short="mean")}
    scores = {"mean_rank": np.array([1.25, 1.75]), "mean": np.array([200.0, 150.5])}
    table = [{"algorithm": name, "method": method, "score": scores[method][i], "rank": 2 - i, "rank_low": 1,
              "rank_high": 2, "resampling_share": 0.5} for method in rule for i, name in enumerate("ab")]  # fmt: skip
    return Made(judgement=judgement, algorithms=("a", "b"), order=lambda: [1, 0], datasets=("x",) * 6, metric="ndcg@10",
                rankings={name: Made(rule=rule[name], scores=scores[name]) for name in rule}, confidence=0.9,
                to_frame=lambda: framed(*table), probability_best=np.array([0.3, 0.7]))  # fmt: skip


def test_the_forest_of_mean_ranks(monkeypatch):
    for kind in ("headline", "sentences"):
        monkeypatch.setattr(verdict_words, kind, lambda verdict, words, kind=kind: getattr(verdict, kind))
    spec = rank.plot_forest(ranked()).to_dict()
    assert changed("charts", "forest", shows(spec)) == []
    assert [panel["title"]["text"] for panel in spec["hconcat"][1:]] == ["mean rank", "groups", "leads again"]
    assert (spec["title"]["text"], spec["title"]["subtitle"]) == (["It is b."], ["By a lead."])
    assert [(row["shown"], row["chance"]) for row in rows_of(spec)[0]] == [("1.3", "0.70")] * 2
    bare = rank.plot_forest(ranked(interval=None, leads_again=None, headline="word " * 30)).to_dict()
    assert [panel["title"]["text"] for panel in bare["hconcat"][1:]] == ["mean rank", "groups"]
    assert [view["mark"]["type"] for view in bare["hconcat"][0]["layer"]] == ["point"]
    assert [len(line.split()) for line in bare["title"]["text"]] == [16, 14]
    assert rank._lines("", 80) == []
    assert not rank.plot_forest.when(ranked(grade="not_comparable"))
    assert rank.plot_forest.when(ranked())
    assert "with 90 % intervals; blue" in rank.plot_forest.caption(ranked(), USUAL)


def test_ranks_under_every_aggregation():
    board = rank.plot_leaderboard(ranked()).to_dict()
    assert changed("charts", "leaderboard", shows(board)) == []
    assert [(row["aggregation"], row["shown"]) for row in rows_of(board)[0]] == [
        ("Mean rank", "1.250"), ("Mean rank", "1.750"), ("Mean", "200.0"), ("Mean", "150.5")
    ]  # fmt: skip
    assert [rank._digits(scores) for scores in ([1.0, 200.0], [99.9, 1.0], [-100.5, 1.0])] == [0, 3, 1]
    firm = rank.plot_rank_intervals(ranked()).to_dict()
    assert changed("charts", "rank_intervals", shows(firm)) == []
    assert [{row["method"] for row in rows_of(panel)[0]} for panel in firm["hconcat"]] == [{"mean_rank"}, {"mean"}]
    assert [panel["layer"][0]["encoding"]["y"]["axis"] is None for panel in firm["hconcat"]] == [False, True]
    assert rank.plot_rank_intervals.when(ranked())
    assert not rank.plot_rank_intervals.when(Made(probability_best=None))


def test_metrics_that_share_no_dataset_have_no_cell():
    rows = [{"metric": "a", "other": "b", "spearman": -0.001, "datasets": 3},
            {"metric": "a", "other": "c", "spearman": float("nan"), "datasets": 0}]  # fmt: skip
    spec = correlations.plot_correlations(Made(to_frame=lambda: framed(*rows), metrics=("a", "b", "c"))).to_dict()
    assert [(row["other"], row["shown"]) for row in rows_of(spec)[0]] == [("b", "0.00")]
    assert changed("charts", "metric_correlations", shows(spec)) == []


def test_profiles_carry_their_areas():
    rows = [{"algorithm": name, "beta": 1.0, "share": 0.5} for name in ("a", "b")]
    result = Made(algorithms=("a", "b"), order=lambda: [1, 0], auc=np.array([0.25, 0.87654]), metric="m", n_datasets=7,
                  to_frame=lambda: framed(*rows), beta_max=3.0)  # fmt: skip
    spec = profiles.plot_profiles(result).to_dict()
    assert [row["auc"] for row in rows_of(spec)[0]] == [0.25, 0.8765]
    assert spec["encoding"]["color"]["legend"]["labelExpr"].startswith("({'b': '0.877', 'a': '0.250'})[datum.label]")
    assert changed("charts", "performance_profiles", shows(spec)) == []
    tall = Made(**{**vars(result), "algorithms": tuple(f"n{i}" for i in range(40)), "order": lambda: list(range(40)),
                   "auc": np.zeros(40), "to_frame": lambda: framed()})  # fmt: skip
    assert profiles.plot_profiles(tall).to_dict()["height"] == 440


def test_what_the_model_says_in_pictures():
    frame = pl.DataFrame({"algorithm": ["b", "a"], "probability_best": [0.8, 0.2], "probability_first": [0.6, 0.4]})
    result = Made(to_frame=lambda: frame, metric="m", datasets=("x",) * 6, algorithms=("a", "b"), order=lambda: [1, 0],
                  beats=lambda: np.array([[0.5, 0.3], [0.7, 0.5]]))  # fmt: skip
    spec = model.plot_probabilities(result).to_dict()
    assert changed("charts", "model_probabilities", shows(spec)) == []
    assert [[row["probability"] for row in rows] for rows in rows_of(spec)] == [[0.8, 0.2], [0.6, 0.4]]
    beats = model.plot_beats(result).to_dict()
    assert changed("charts", "model_beats", shows(beats)) == []
    assert [(row["row"], row["column"], row["shown"]) for row in rows_of(beats)[0]] == [
        ("a", "b", "0.30"), ("b", "a", "0.70")
    ]  # fmt: skip
    for best, leads in (((0.2, 0.8), "b"), ((0.8, 0.2), "a"), ((0.5, 0.5), "b")):
        judged = Made(probability_best=lambda best=best: np.array(best), algorithms=("a", "b"), order=lambda: [1, 0])
        assert model.leader(judged) == leads, "of two that are equal the first in order"


def stressed(lowest=0.62):
    rules = ("mean", "copeland")
    rows = [{"aggregation": name, "x": x, "rho": rho, "low": rho, "high": rho, "error": 0.0, "tried": 9, "lowest": rho}
            for name in rules for x, rho in ((0, 1.0), (3, lowest))]  # fmt: skip
    curve = Made(rules=rules, x=np.array([0, 3]), to_frame=lambda: framed(*rows))
    signs = [Made(name="pareto", size=5, signs=("+", "NA"), numbers=(0.0, np.nan)),
             Made(name="similar", size=0, signs=("-", "+"), numbers=(0.5, 1.0))]  # fmt: skip
    long = "an algorithm with a long name"
    conclusions = [Made(statement=text, change=change, holds_under=held, verdict="survives")
                   for text, held in ((f"{long} is first", 2), ("b is before c", 1))
                   for change in (Change("datasets", 2, 9), Change("copies"))]  # fmt: skip
    return Made(
        curves={"drop_datasets": curve, "drop_algorithms": curve, "similar": curve, "beta": curve}, signs=signs,
        subsets=(Made(dominated=8, tried=9),), titles=["Mean", "Copeland"],
        rules=[Made(name=name, title=name.capitalize()) for name in rules], metric="m",
        dolan_more=Made(beta_max=3.0), conclusions=conclusions, algorithms=(long, "b", "c"),
    )  # fmt: skip


def test_what_survives_in_pictures():
    for test, words in (("drop_datasets", "datasets"), ("drop_algorithms", "algorithms")):
        spec = stress.plot_dropping(stressed(), test=test).to_dict()
        assert spec["title"]["text"] == f"Does the ranking survive fewer {words}? m"
    assert changed("charts", "stress_algorithms", shows(spec)) == []
    added = stress.plot_additions(stressed()).to_dict()
    assert changed("charts", "stress_additions", shows(added)) == []
    assert [panel["title"]["text"] for panel in added["hconcat"]] == [
        "A copy, slightly worse or better", "Another beta (usual: 3)"
    ]  # fmt: skip

    def bottom(lowest):
        return stress.plot_additions(stressed(lowest)).to_dict()["hconcat"][0]["encoding"]["y"]["scale"]["domain"][0]

    assert [bottom(low) for low in (0.62, 0.99, 0.0, -0.12)] == pytest.approx([0.6, 0.95, 0.0, -0.15])
    signs = stress.plot_signs(stressed()).to_dict()
    assert changed("charts", "stress_signs", shows(signs)) == []
    assert [(row["property"], row["aggregation"], row["shown"]) for row in rows_of(signs)[0]] == [
        ("Pareto efficiency", "Mean", "0.00 +"), ("Pareto efficiency", "Copeland", "NA"),
        ("Adding a similar one", "Mean", "0.50 −"), ("Adding a similar one", "Copeland", "1.00 +"),
    ]  # fmt: skip
    survive = stress.plot_conclusions(stressed()).to_dict()
    assert changed("charts", "stress_conclusions", shows(survive)) == []
    assert [(row["label"], row["shown"], row["share"]) for row in rows_of(survive)[0]] == [
        ("00", "2/2", 1.0), ("00", "2/2", 1.0), ("01", "1/2", 0.5), ("01", "1/2", 0.5)
    ]  # fmt: skip
    axis = survive["layer"][0]["encoding"]["y"]["axis"]["labelExpr"]
    assert axis == "['an algorithm with a l… is first', 'b is before c'][+datum.label]"


def test_costs_have_a_panel_per_measure():
    def row(measure, name, median):
        quantiles = dict.fromkeys(("least", "lower_quartile", "median", "upper_quartile", "most"), median)
        return {"measure": measure, "dataset": name, **quantiles, "sum": 1.0, "cells": 2}

    rows = [
        row("seconds_fit", "y", 1.0),
        row("memory", "x", 8.0),
        row("memory", "y", 9.0),
        row("seconds_fit", "x", 2.0),
    ]
    result = Made(spread=lambda key: framed(*rows), measures=["seconds_fit", "memory"])
    spec = cost.plot_cost(result, key="dataset").to_dict()
    assert changed("charts", "cost_by_dataset", shows(spec)) == []
    assert [[own["median"] for own in rows_of(panel)[0]] for panel in spec["hconcat"]] == [[1.0, 2.0], [8.0, 9.0]]
    left, right = (panel["layer"][0]["encoding"]["y"] for panel in spec["hconcat"])
    assert left["sort"] == ["y", "x"], "the order of the first measure"
    rows.append(row("memory", "late", 1.0))
    more = cost.plot_cost(result, key="dataset").to_dict()["hconcat"][0]["layer"][0]["encoding"]["y"]["sort"]
    assert more == ["y", "x", "late"], "and then those that it lacks"
    assert (left["axis"] is None, right["axis"] is None) == (False, True)
    assert spec["title"]["subtitle"].startswith("Over algorithms: from the least")


def test_scores_of_many_settings_are_means():
    def scored(algorithms, settings):
        names, datasets = tuple(f"a{i}" for i in range(algorithms)), tuple(f"s{i}" for i in range(settings))
        rows = [{"dataset": d, "algorithm": a, "score": 0.5, "rank": 1} for d in datasets for a in names]
        return Made(table=Made(algorithms=names, datasets=datasets), order=lambda: list(range(algorithms)),
                    to_frame=lambda: pl.DataFrame(rows))  # fmt: skip

    def drawn(algorithms, settings):
        return comper.plot_scores(scored(algorithms, settings)).to_dict()

    assert [says(drawn(*size))[0].split()[2] for size in ((8, 6), (8, 7), (9, 5), (2, 24), (2, 25))] == [
        "x=dataset", "x=score", "x=score", "x=dataset", "x=score"
    ]  # fmt: skip
    angles = [drawn(2, settings)["layer"][0]["encoding"]["x"]["axis"]["labelAngle"] for settings in (3, 4)]
    assert angles == [0, -30]
    assert [drawn(2, settings)["width"] for settings in (2, 4, 24)] == [260, 34 * 2 * 4 + 30 * 4, 1100]
    assert drawn(1, 2)["title"]["subtitle"] == "1 algorithm, 2 settings; higher is better"
    assert not comper.plot_sensitivity.when(scored(1, 2))
    assert comper.plot_sensitivity.when(scored(2, 2))


def test_captions_of_ranks_through_the_datasets_of_a_set():
    hard = Made(set=Made(name="difficulty", datasets=("x", "y"), title="the harder half"))
    result = Made(ratings=[Made(set=Made(name="other", datasets=("x", "y"), title="another half")), hard])
    plots = {plot.name: plot for plot in decodirt.FIGURES}
    caption = plots["decodirt_ranks_difficulty"].caption(result, USUAL)
    assert caption == "Rank by rating after each dataset: the harder half."
    assert not plots["decodirt_ratings"].when(Made(ratings=[]))
    assert "and guessing of the items" in plots["decodirt_by_PercentageOfInstancesWithMissingValues"].caption


def test_captions_say_which_datasets_have_panels():
    rows = [{"dataset": f"d{i}", "scope": "dataset", "proven": None, "distance": 0.1} for i in range(10)]
    result = Made(datasets=[Made(dataset=row["dataset"]) for row in rows], metric="m",
                  sensitivity_frame=lambda: framed(*rows))  # fmt: skip
    captions = [plot.caption(result, USUAL) for plot in strata.FIGURES if not isinstance(plot.caption, str)]
    assert len(captions) == 3
    assert all(caption.endswith(" Shown: the 9 of 10 datasets whose order changes most.") for caption in captions)
    result.datasets = result.datasets[:9]
    assert all(
        "Shown" not in plot.caption(result, USUAL) for plot in strata.FIGURES if not isinstance(plot.caption, str)
    )


def compared(count=4, **given):
    names = tuple(f"n{i:02d}" for i in range(count))
    usual = {"algorithms": names, "mean_ranks": tuple(1.5 + i * (count - 2) / max(count - 1, 1) for i in range(count)),
             "drawn": (names[:2],), "control": None, "bars": "sign-flips", "nemenyi_cd": 1.25, "metric": "m",
             "datasets": ("x",) * 6, "alpha": 0.1, "credibility": 0.9,
             "judgement": Made(test="sign-flips", grade="shared_lead")}  # fmt: skip
    return Made(**{**usual, **given})


def control(name, *statuses):
    return Made(name=name, pairs=[Made(other=other, status=status) for other, status in statuses])


def test_the_diagram_of_critical_differences():
    spec = compare_plots.plot_critical_difference(compared()).to_dict()
    assert changed("charts", "critical_difference", shows(spec)) == []
    layout = compare_plots.lay_out(compared())
    assert (layout.end, layout.height) == (4, 55 + 18 + 2 * 17), "labels of two rows below one row of bars"
    assert [(row["label"], row["side"], row["y"]) for row in layout.labels] == [
        ("n00  1.50", "left", 73), ("n01  2.17", "left", 90), ("2.83  n02", "right", 90), ("3.50  n03", "right", 73)
    ]  # fmt: skip
    assert {row["x"] for row in layout.labels} == {1 - 0.06 * 3, 4 + 0.06 * 3}
    assert layout.elbows[:2] == [
        {"x": 1.5, "x2": 1.5, "y": 46, "y2": 73}, {"x": 1.5, "x2": 1 - 0.06 * 3, "y": 73, "y2": 73}
    ]  # fmt: skip
    (bar,) = layout.bars
    assert (bar["x"], bar["x2"], bar["y"]) == (pytest.approx(1.464), pytest.approx(2.2026667), 55)
    ticks = [rows for rows in rows_of(spec) if "y2" in rows[0] and "label" in rows[0]]
    assert [(row["x"], row["y"], row["y2"], row["label"]) for row in ticks[0]] == [
        (1, 46, 40, "1"), (2, 46, 40, "2"), (3, 46, 40, "3"), (4, 46, 40, "4")
    ]  # fmt: skip
    assert {"x": 1, "x2": 4, "y": 46} in [rows[0] for rows in rows_of(spec)], "the line of ranks, from end to end"
    odd = compare_plots.lay_out(compared(5, drawn=()))
    assert [row["side"] for row in odd.labels] == ["left"] * 3 + ["right"] * 2, "the better half is the larger"
    assert (odd.bars, odd.height) == ([], 46 + 18 + 3 * 17)
    ruled = compare_plots.plot_critical_difference(compared(bars="nemenyi")).to_dict()
    sizes = {float(size) for size in re.findall(r'"fontSize": ([\d.]+)', json.dumps(ruled))}
    assert sizes == {10.5, 11.0, 12.0, 15.0}, "below the title (15) nothing is louder than the names (12)"
    rulers = [rows for rows in rows_of(ruled) if "critical difference 1.25" in str(rows)]
    assert rulers[0][0]["x2"] == 2.25
    wide = compare_plots.plot_critical_difference(compared(bars="nemenyi", nemenyi_cd=9.0)).to_dict()
    assert [rows[0]["x2"] for rows in rows_of(wide) if "critical difference" in str(rows)] == [4, 4], "cut at the end"


def test_a_control_stands_out_in_the_diagram():
    against = control("n01", ("n00", "worse"), ("n02", "undecided"), ("n03", "better"))
    result = compared(control=against, drawn=())
    labels = compare_plots.lay_out(result).labels
    assert [row["label"].replace("  ", " ") for row in labels] == ["n00* 1.50", "n01 2.17", "2.83 n02", "3.50 n03*"]
    assert [row["who"] for row in labels] == ["other", "control", "other", "other"]
    spec = compare_plots.plot_critical_difference(result).to_dict()
    assert spec["title"]["subtitle"] == "Mean rank over 6 datasets; *: shown to differ from n01, the control"
    plain = compare_plots.plot_critical_difference(compared()).to_dict()["title"]["subtitle"]
    assert plain == "Mean rank over 6 datasets; a bar: not separated by the test of all pairs (flipped signs)"
    caption = compare._diagram_caption(result, USUAL)
    assert caption == (
        "Mean ranks (further left is better). n01 is the control; a star: shown to differ from it (sign-flip test)."
    ), "no bars are drawn, and none are promised"
    assert compare._diagram_caption(compared(datasets=("x",) * 4), USUAL) == (
        "Mean ranks (further left is better) on 4 datasets, too few for a test."
    )
    columns = {"a": np.array(["n00"]), "b": np.array(["n02"])}
    judgement = Made(grade="shared_lead", test="sign-flips", better=np.array([True]), pairs=Made(columns=columns))
    assert "a star" not in compare._diagram_caption(compared(datasets=("x",) * 5, judgement=judgement), USUAL)


def test_the_diagram_of_many_shows_the_first_and_the_control():
    sixty = compare_plots.lay_out(compared(60))
    assert (len(sixty.labels), sixty.end) == (60, 60)
    more = compared(61, drawn=(("n00", "n40"), ("n31", "n32")))
    first = Shown(frozenset(more.algorithms[30:]), 61)
    layout = compare_plots.lay_out(more, first)
    assert [row["algorithm"] for row in layout.labels] == [f"n{i:02d}" for i in range(30)]
    assert layout.end == 32, "the rank after that of the last shown, which is 30.02"
    assert [bar["group"] for bar in layout.bars] == ["n00, n40"], "a bar belongs to its first algorithm"
    assert layout.bars[0]["x2"] == pytest.approx(32 + 0.012 * 31)
    against = compared(61, drawn=(), control=control("n59", ("n00", "worse")))
    named = compare_plots.lay_out(against, Shown(first.hidden - {"n59"}, 61))
    assert [row["algorithm"] for row in named.labels][-2:] == ["n29", "n59"]
    assert named.end == 61


def test_every_pair_in_a_map():
    names = ("a", "b", "c")
    pairs = [Made(a=a, b=b, status=status, p=p, wins=5, ties=1, losses=0)
             for a, b, status, p in (("a", "b", "better", 0.004), ("a", "c", "equivalent", 0.05),
                                     ("b", "c", "undecided", 1.0))]  # fmt: skip
    posterior = [Made(left="a", right="b", p_right=0.999), Made(left="a", right="c", p_right=0.25)]
    result = compared(3, algorithms=names, judgement=Made(pairs=pairs, test="sign-flips"), bayesian=posterior)
    spec = compare_plots.plot_pairwise(result).to_dict()
    assert changed("charts", "pairs", shows(spec)) == []
    assert [(row["row"], row["column"], row["standing"], row["shown"], row["won-tied-lost"])
            for row in rows_of(spec)[0]] == [
        ("a", "b", "row better", "<.01", "5-1-0"), ("a", "c", "equivalent", ".05", "5-1-0"),
        ("b", "c", "not decided", "1", "5-1-0"), ("b", "a", "posterior, not corrected", ">.99", ""),
        ("c", "a", "posterior, not corrected", ".25", ""),
    ]  # fmt: skip
    assert [compare_plots._short(p) for p in (0.0, 0.0049, 0.0051, 0.994, 0.996)] == [
        "<.01",
        "<.01",
        ".01",
        ".99",
        ">.99",
    ]
    sizes = []
    for count in (16, 17):
        many = compared(count, judgement=Made(pairs=pairs, test="sign-flips"), bayesian=())
        drawn = compare_plots.plot_pairwise(many).to_dict()
        sizes.append((drawn["width"], drawn["height"], drawn["layer"][1]["mark"]["fontSize"]))
    assert sizes == [(480, 480, 9.5), (374, 374, 7.5)]
    several = {plot.name: plot for plot in compare.FIGURES}["pairs"]
    assert [several.when(Made(datasets=("x",) * count)) for count in (4, 5)] == [False, True]


def test_what_every_section_states():
    """Where it stands, what it defines, and the name, table and caption of each of its figures."""

    def figure(plot):
        caption = USUAL.filled(plot.caption) if isinstance(plot.caption, str) else "by its result"
        return {"table": plot.table or plot.name, "caption": caption, "always": plot.when is always,
                "asked": str(getattr(plot.draw, "keywords", ""))}  # fmt: skip

    stated = {
        name: {
            "place": f"{section.part}, {section.order}: {USUAL.filled(section.title)} ({section.page}.md)",
            "names a leader": section.leader is not nobody,
            "has a brief": section.brief is not nobody,
            "figures": {plot.name: figure(plot) for plot in section.plots},
        }
        for name, section in own_sections().items()
    }
    assert changed("charts", "sections", stated) == []


def test_figures_are_left_out_where_there_is_nothing_to_draw():
    for plot, given in (
        (adaptive.plot_curve, "steps"), (multiverse.plot_curve, "claims"), (multiverse.plot_axes, "shares"),
        (select.plot_selection_curve, "curve"),
    ):  # fmt: skip
        assert [bool(plot.when(Made(**{given: value}))) for value in ((), (1,))] == [False, True]

    def tested(datasets, p):
        return Made(n_datasets=datasets, alpha=0.05, p_adjusted={"pearson": np.array([0.5]), "spearman": np.array([p])})

    for plot in (associations.plot_associations, associations.plot_mutual_information):
        few_or_many = [bool(plot.when(tested(*given))) for given in ((9, 0.05), (10, 0.05), (9, 0.049))]
        assert few_or_many == [False, True, True], "ten datasets, or an association beyond chance"


def test_who_leads_by_each_way_to_judge():
    ordered = Made(algorithms=("a", "b", "c"), order=lambda: [2, 0, 1])
    for section in (rank.SECTION, glicko.SECTION, ratings.SECTION):
        assert section.leader(ordered) == "c"
    able = Made(algorithms=("a", "b", "c"), trait={"ability": ordered}.__getitem__)
    assert beta_irt.SECTION.leader(able) == "c"
