"""What the charts of sections draw of results made by hand: which column decides what, and the rows behind it.

`tests/frozen/charts.json` records what else a reader sees of each: titles, sizes, looks, axes, legends and tips.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace as Made

import numpy as np
import polars as pl
import pytest

from recassay.analysis.strata.result import Crossing
from recassay.analysis.users.result import DatasetUsers, UserPair, UsersResult
from recassay.core.vocabulary import USUAL
from recassay.plots import decodirt as decodirt_plots
from recassay.plots import strata as strata_plots
from recassay.plots.forms import label_rows
from recassay.plots.shown import Shown
from recassay.reporting.sections import (
    adaptive,
    advise,
    associations,
    bench,
    beta_irt,
    clusters,
    comper,
    cost,
    logistic_irt,
    multiverse,
    per_dataset,
    ratings,
    select,
    user_irt,
    users,
)
from support.charts import rows_of, says, shows
from support.frozen import changed
from support.made import framed


def test_differences_over_users():
    pairs = tuple(
        UserPair(left, right, difference, difference - 0.01, difference + 0.02, None, 0.1, 0.01, p, p < 0.05, 3, 2, 1)
        for left, right, difference, p in (("a", "b", 0.1, 0.02), ("a", "c", 0.2, 0.3), ("b", "c", 0.1, 0.9))
    )
    dataset = DatasetUsers("films", 50, 0, ("a", "b", "c"), (0.3, 0.2, 0.1), (0.2,) * 3, (0.4,) * 3, pairs)
    chart = users.plot_user_differences(UsersResult("ndcg@10", True, ("a", "b", "c"), (dataset,), (), 0.05, 0.9, 9, {}))
    spec = chart.to_dict()
    assert says(spec) == [
        "rule x=zero",
        "rule color=algorithm x=low x2=high y=algorithm",
        "point color=algorithm fill=algorithm(if datum.worse == 'shown to be worse': 'white') x=behind y=algorithm",
    ]
    assert changed("charts", "user_differences", shows(spec)) == []
    assert rows_of(spec)[1] == [
        {"algorithm": "b", "behind": -0.1, "low": pytest.approx(-0.12), "high": pytest.approx(-0.09),
         "worse": "shown to be worse", "p_holm": 0.02},
        {"algorithm": "c", "behind": -0.2, "low": pytest.approx(-0.22), "high": pytest.approx(-0.19),
         "worse": "not shown", "p_holm": 0.3},
    ]  # fmt: skip
    assert spec["concat"][0]["title"]["text"] == "films: behind a"
    assert spec["title"]["subtitle"].startswith("90 % intervals; filled: could be best, hollow: shown to be worse")
    many = UsersResult("ndcg@10", True, ("a", "b", "c"), (dataset,) * 30, (), 0.05, 0.9, 9, {})
    assert len(users.plot_user_differences(many).to_dict()["concat"]) == 24


def test_open_ends_of_ratings_run_to_the_edge():
    rows = [{"algorithm": "a", "rating": 1600.0, "low": 1500.0, "high": np.inf, "win_rate": 1.0},
            {"algorithm": "b", "rating": 1400.0, "low": -np.inf, "high": 1450.0, "win_rate": 0.0}]  # fmt: skip
    chart = ratings.plot_ratings(Made(to_frame=lambda: framed(*rows), metric="m", confidence=0.9, battles=None,
                                      datasets=("x",) * 5))  # fmt: skip
    drawn = rows_of(chart.to_dict())[0]
    assert changed("charts", "ratings", shows(chart.to_dict())) == []
    assert [(row["low"], row["high"]) for row in drawn] == [(1500.0, 1700.0), (1300.0, 1450.0)]


def test_costs_below_a_tenth_of_a_millisecond_are_drawn_at_it():
    row = {"measure": "seconds_fit", "algorithm": "a", "least": 1e-6, "lower_quartile": 1e-5, "median": 0.5,
           "upper_quartile": 1.0, "most": 2.0, "sum": 4.0, "cells": 5}  # fmt: skip
    spec = cost.plot_cost(Made(spread=lambda key: framed(row), measures=["seconds_fit"]), key="algorithm").to_dict()
    assert changed("charts", "cost", shows(spec)) == []
    (drawn,) = rows_of(spec)[0]
    assert (drawn["least"], drawn["lower_quartile"], drawn["median"], drawn["most"]) == (1e-4, 1e-4, 0.5, 2.0)
    assert spec["title"]["subtitle"].startswith("Over datasets: from the least to the most")


def universes(**given):
    claims = [
        Made(statement="a is best", rival=None, algorithm="a"),
        Made(statement="a beats b", rival="b", algorithm="a"),
    ]
    share = Made(name="split", axes=(0,), share=0.4, interval=None)
    usual = {
        "claims": claims,
        "leaky": np.array([False, False, False, True]),
        "algorithms": ("a", "b"),
        "lead_of": lambda claim: np.array([0.5, -0.25, 1e-12, 9.0]),
        "axes": {"split": ("time", "random"), "k": ("5", "10")},
        "choices": np.array([[0, 0], [1, 0], [0, 1], [1, 1]]),
        "places": np.array([[0.0, 1.0], [0.0, 1.0], [2.0, 3.0], [0.0, 1.0]]),
        "firsts": lambda: np.array([[True, False], [True, False], [True, True], [True, False]]),
        "explained": (0.6, 0.3),
        "choice_names": lambda u: {"split": f"of {u}"},
        "settings": Made(alpha=0.1),
        "shares": [
            share,
            Made(name="k", axes=(1,), share=0.001, interval=(0.0, 0.02)),
            Made(name="split x k", axes=(0, 1), share=0.0099, interval=None),
            Made(name="datasets", axes=(), share=0.5, interval=None),
        ],
    }
    return Made(**{**usual, **given})


def test_the_specification_curve():
    spec = multiverse.plot_curve(universes()).to_dict()
    assert changed("charts", "multiverse_curve", shows(spec)) == []
    assert says(spec) == [
        "rule y=lead",
        "point color=side x=place(0..4) y=lead",
        "tick color=side x=place(0..4) y=choice",
    ]
    _, curve, split, k = rows_of(spec)
    assert [(row["place"], row["lead"], row["side"]) for row in curve] == [
        (1, -0.25, "behind"), (2, 1e-12, "tied"), (3, 0.5, "ahead")
    ]  # fmt: skip
    assert [(row["choice"], row["side"]) for row in split] == [
        ("random", "behind"),
        ("time", "tied"),
        ("time", "ahead"),
    ]
    assert [row["choice"] for row in k] == ["5", "10", "5"]
    assert spec["title"]["text"] == "Specification curve: a against b"
    long = universes(axes={"split": ("time", "random"), "k": tuple(map(str, range(39)))})
    assert len(multiverse.plot_curve(long).to_dict()["vconcat"]) == 2, "the longer axis is left out"
    caption = multiverse.plot_curve.caption(universes(), USUAL)
    assert caption.startswith("a beats b: the lead in mean rank of every universe")
    full = universes(axes={"split": ("time", "random"), "k": tuple(map(str, range(38)))})
    assert len(multiverse.plot_curve(full).to_dict()["vconcat"]) == 3, "forty rows of choices fit"
    alone = multiverse.plot_curve(universes(claims=universes().claims[:1])).to_dict()
    assert alone["title"]["text"] == "Specification curve: a against the best other"


def test_the_map_of_universes():
    spec = multiverse.plot_map(universes()).to_dict()
    assert changed("charts", "multiverse_map", shows(spec)) == []
    assert says(spec) == ["point color=first shape=leaky size=universes(1..2) x=x y=y"]
    (rows,) = rows_of(spec)
    assert [(row["x"], row["y"], row["first"], row["leaky"], row["universes"], row["choices"]) for row in rows] == [
        (0.0, 1.0, "a", "clean", 2, "split: of 0"), (2.0, 3.0, "several", "clean", 1, "split: of 2"),
        (0.0, 1.0, "a", "leaky", 1, "split: of 3"),
    ]  # fmt: skip
    assert spec["encoding"]["color"]["scale"]["domain"] == ["a", "several"]
    assert spec["encoding"]["x"]["title"] == "first direction (60 %)"
    assert spec["encoding"]["y"]["title"] == "second direction (30 %)"
    apart = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 3.0], [3.0, 1.0]])
    clean = universes(leaky=np.zeros(4, bool), places=apart, firsts=lambda: np.array([[True, False]] * 4))
    drawn = multiverse.plot_map(clean).to_dict()["encoding"]
    assert drawn["color"]["scale"]["domain"] == ["a"]
    assert (drawn["size"]["legend"], drawn["shape"]["legend"]) == (None, None), "every point is one clean universe"
    assert spec["encoding"]["size"]["legend"] == {"tickCount": 3}
    assert spec["encoding"]["shape"]["legend"] == {"title": None}


def test_the_shares_of_choices():
    spec = multiverse.plot_axes(universes()).to_dict()
    assert changed("charts", "multiverse_axes", shows(spec)) == []
    assert says(spec) == ["bar color=kind x=share y=axis", "rule x=low x2=high y=axis"]
    assert rows_of(spec)[0] == [
        {"axis": "split", "share": 0.4, "kind": "one choice", "low": 0.4, "high": 0.4},
        {"axis": "k", "share": 0.001, "kind": "one choice", "low": 0.0, "high": 0.02},
    ]
    assert spec["title"]["subtitle"].endswith("; lines: 90 % intervals")
    exact = multiverse.plot_axes(universes(shares=universes().shares[:1])).to_dict()
    assert says(exact) == ["bar color=kind x=share y=axis"]
    assert exact["title"]["subtitle"] == "Share of the variance between the rankings of universes"
    together = [Made(name=f"pair {i}", axes=(0, 1), share=0.01 * i, interval=None) for i in range(20)]
    many = multiverse.plot_axes(universes(shares=together)).to_dict()
    assert [(row["axis"], row["kind"]) for row in rows_of(many)[0]] == [
        (f"pair {i}", "two together") for i in range(1, 17)
    ]  # fmt: skip
    assert many["encoding"]["y"]["sort"] == [f"pair {i}" for i in range(16, 0, -1)], "the largest first"


def chosen(**given):
    usual = {"rho": 0.9, "datasets": ("x", "y"), "held_out_algorithms": Made(mean=0.7, low=-0.2, high=0.95)}
    return Made(**{**usual, **given})


def selection(**given):
    curve = [{"method": method, "k": k, "held_out": held, "mean": 0.8, "low": 0.3, "high": 0.9}
             for method in ("random", "preserving") for k in (2, 4) for held in (False, True)]  # fmt: skip
    usual = {"choices": {"random": chosen(rho=0.5), "preserving": chosen(held_out_algorithms=None)}, "k": 2,
             "datasets": ("x",) * 8, "metric": "ndcg@10", "rule": "mean rank",
             "frames": lambda: {"selection_curve": framed(*curve)}}  # fmt: skip
    return Made(**{**usual, **given})


def test_the_choice_of_datasets():
    spec = select.plot_selection(selection()).to_dict()
    assert changed("charts", "dataset_selection", shows(spec)) == []
    assert says(spec) == [
        "rule color=method x=low x2=high y=method [datum.held]",
        "point color=method x=rho y=method [!datum.held]",
        "circle color=method x=rho y=method [datum.held]",
    ]
    assert [
        (row["method"], row["kind"], row["rho"], row["low"], row["high"], row["held"]) for row in rows_of(spec)[0]
    ] == [
        ("random", "algorithms the choice did not see", 0.7, -0.2, 0.95, True),
        ("random", "all algorithms", 0.5, None, None, False),
        ("preserving", "the numbers it was chosen on", 0.9, None, None, False),
    ]
    assert spec["layer"][0]["encoding"]["x"]["scale"]["domain"] == [-0.2, 1]
    good = select.plot_selection(selection(choices={"preserving": chosen(held_out_algorithms=None)})).to_dict()
    assert good["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0, 1], "no axis begins above 0"
    curve = select.plot_selection_curve(selection()).to_dict()
    assert changed("charts", "dataset_selection_curve", shows(curve)) == []
    assert says(curve) == [
        "area x=k(2..4) y=low y2=high [datum.method == one]",
        "line color=method strokeDash=[1, 0](if datum.method == 'preserving' && !datum.held_out: [5, 3]) x=k(2..4) "
        "y=mean",
    ]
    left, right = curve["hconcat"]
    assert [{row["held_out"] for row in rows_of(panel)[0]} for panel in (left, right)] == [{False}, {True}]
    assert left["layer"][0]["encoding"]["y"]["scale"]["domain"] == [pytest.approx(0.28), 1.0]
    rows = [{"method": method, "k": k, "held_out": False, "mean": 0.6, "low": low, "high": 0.9}
            for method, low in (("random", 0.4), ("preserving", 0.1)) for k in (2, 4, 9)]  # fmt: skip
    told = select.plot_selection_curve(selection(frames=lambda: {"selection_curve": framed(*rows)})).to_dict()
    (only,) = told["hconcat"]
    assert only["layer"][0]["encoding"]["x"]["scale"]["domain"] == [2, 9]
    low = select.plot_selection_curve(
        selection(frames=lambda: {"selection_curve": framed(*({**row, "low": -1.0} for row in rows))})
    ).to_dict()
    assert low["hconcat"][0]["layer"][0]["encoding"]["y"]["scale"]["domain"][0] == -1, "no correlation is below it"
    assert only["layer"][0]["encoding"]["y"]["scale"]["domain"][0] == pytest.approx(0.38), "below the band of random"
    best = selection(choices={"preserving": chosen()}, frames=lambda: {"selection_curve": framed(*rows[3:])})
    (alone,) = select.plot_selection_curve(best).to_dict()["hconcat"]
    assert alone["layer"][0]["encoding"]["y"]["scale"]["domain"][0] == pytest.approx(-0.02), "from 0 without random"


def test_certainty_against_cost_and_the_grid():
    done = {"share": 0.0, "done": 3, "first": 0.9, "top3": 0.8, "ordered": 0.7, "agreement": 0.6}
    cells = [
        {"algorithm": "a", "dataset": "x", "state": "measured", "rank": 1.5, "value": 0.2, "seconds": 3.0},
        {"algorithm": "a", "dataset": "y", "state": "predicted", "rank": 1.526, "value": None, "seconds": 9.0},
    ]
    result = Made(
        curve=lambda: framed({**done, "done": 0}, done),
        confidence=0.9,
        metric="m",
        datasets=("y", "x"),
        cells=lambda: framed(*cells),
        seconds=np.array([[9.0, 3.0]]),
        order=("a",),
        algorithms=("a",),
    )
    spec = adaptive.plot_curve(result).to_dict()
    assert changed("charts", "adaptive_curve", shows(spec)) == []
    assert says(spec) == ["line color=claim x=share(log) y=probability(0..1)", "rule y=probability"]
    assert [(row["share"], row["claim"], row["probability"]) for row in rows_of(spec)[0]] == [
        (1e-6, "first place", 0.9), (1e-6, "first three", 0.8), (1e-6, "order", 0.7), (1e-6, "agreement", 0.6)
    ]  # fmt: skip
    assert rows_of(spec)[1] == [{"probability": 0.9}]
    grid = adaptive.plot_grid(result).to_dict()
    assert changed("charts", "adaptive_grid", shows(grid)) == []
    assert [(row["shown"], row["rank"]) for row in rows_of(grid)[0]] == [("1.5", 1.5), ("(2)", 1.53)]
    assert grid["layer"][0]["encoding"]["x"]["sort"] == ["x", "y"], "the cheapest dataset first"
    faint = "opacity=1.0(if datum.state == 'predicted': 0.55)"
    assert any(faint in line for line in says(grid))


def test_advice():
    row = {
        "algorithm": "a",
        **{
            f"{kind}_{end}": place + add
            for place, kind in enumerate(("overall", "predicted", "nearest"), 1)
            for end, add in (("rank", 0.0), ("low", -0.5), ("high", 0.5))
        },
    }
    result = Made(nearest=("x", "y"), to_frame=lambda: framed(row), algorithms=("a",), order=lambda: [0], title="films",
                  metric="m", confidence=0.9, trusts_model=True)  # fmt: skip
    spec = advise.plot_advice(result).to_dict()
    assert changed("charts", "advice", shows(spec)) == []
    assert says(spec) == [
        "rule color=by x=low(1..2) x2=high y=algorithm yOffset=by",
        "circle color=by x=rank(1..2) y=algorithm yOffset=by",
    ]
    assert [(row["by"], row["rank"], row["low"], row["high"]) for row in rows_of(spec)[0]] == [
        ("overall", 1.0, 0.5, 1.5), ("model", 2.0, 1.5, 2.5), ("on the 2 nearest", 3.0, 2.5, 3.5)
    ]  # fmt: skip
    assert spec["title"]["subtitle"].endswith("order by the model")
    result.trusts_model = False
    assert (
        advise.plot_advice(result)
        .to_dict()["title"]["subtitle"]
        .endswith("order by the overall mean rank, which the model does not beat")
    )


def test_the_best_baseline_and_one_algorithm():
    rows = [Made(dataset="x", value=0.3, best_value=0.2, place=1, best="b"),
            Made(dataset="y", value=0.3, best_value=0.0, place=1, best="b")]  # fmt: skip
    spec = bench.plot_bench(Made(rows=rows, algorithm="own")).to_dict()
    assert changed("charts", "bench", shows(spec)) == []
    assert says(spec) == ["rule x=one", "circle x=share y=dataset"]
    assert rows_of(spec) == [
        [{"one": 1.0}], [{"dataset": "x", "share": pytest.approx(1.5), "place": 1, "best": "b"}]
    ]  # fmt: skip


def test_characteristics_and_performance():
    def row(algorithm, measure, value, p):
        return {"algorithm": algorithm, "characteristic": "users", "measure": measure, "value": value, "p_adjusted": p,
                "chance": 0.1}  # fmt: skip

    mean = associations.AVERAGE
    rows = [row(mean, "spearman", 0.4, 0.2), row("a", "spearman", 0.7, 0.049), row("b", "spearman", -0.3, 0.05),
            row(mean, "pearson", 0.5, 0.01), row("a", "pearson", 0.6, 0.01), row(mean, "mutual_information", 0.3, 0.01),
            row("a", "mutual_information", 0.4, 0.01)]  # fmt: skip
    result = Made(to_frame=lambda: framed(*rows), alpha=0.05, rows=("a", "b", mean), characteristics=("users",),
                  metric="m", n_datasets=12)  # fmt: skip
    spec = associations.plot_associations(result).to_dict()
    assert changed("charts", "characteristics_and_performance", shows(spec)) == []
    assert [(cell["row"], cell["shown"], cell["sure"]) for cell in rows_of(spec)[0]] == [
        ("mean, Spearman", "0.40", False), ("a", "0.70", True), ("b", "", False), ("mean, Pearson", "0.50", True)
    ]  # fmt: skip
    assert says(spec)[0] == "rect color=value(reverse, -1..1) x=characteristic y=row"
    information = associations.plot_mutual_information(result).to_dict()
    assert changed("charts", "mutual_information", shows(information)) == []
    assert says(information) == [
        "bar x=chance y=characteristic",
        "circle color='#687079'(if datum.p_adjusted < 0.05: '#0072b2') x=value y=characteristic",
    ]
    assert [row["value"] for row in rows_of(information)[0]] == [0.3]
    rows.append({**row(mean, "mutual_information", 0.9, 0.01), "characteristic": "items"})
    more = associations.plot_mutual_information(result).to_dict()
    assert more["layer"][0]["encoding"]["y"]["sort"] == ["items", "users"], "the most telling first"
    assert more["height"] == 34
    result.characteristics = ("users", "items")
    wide = associations.plot_associations(result).to_dict()
    assert (wide["width"], wide["height"]) == (76, 84), "two mean rows, and two algorithms"


def test_clusters_of_datasets():
    space = Made(points=np.array([[0.0, 1.0], [2.0, 3.0]]), datasets=("x", "y"), outlier=np.array([False, True]),
                 explained=(0.61, 0.2))  # fmt: skip
    ranks = [{"algorithm": "a", "cluster": 1, "datasets": 1, "mean_rank": 1.25, "geometric_mean": None},
             {"algorithm": "b", "cluster": 2, "datasets": 2, "mean_rank": 1.75, "geometric_mean": 0.1234}]  # fmt: skip
    result = Made(
        space=space,
        labels=(1, 2),
        sizes=(1, 1),
        central=("y",),
        overall_rank=np.array([2.0, 1.0]),
        algorithms=("a", "b"),
        frames=lambda: {"cluster_ranks": framed(*ranks)},
        metric="m",
        p_differ=0.04,
    )
    spec = clusters.plot_clusters(result).to_dict()
    assert changed("charts", "dataset_clusters", shows(spec)) == []
    assert says(spec)[0] == "rule x=x x2=edge y=y y2=row"
    assert says(spec)[1].startswith(
        "point color=cluster fill=cluster shape='circle'(if datum.outlier: 'diamond') size=55(if datum.central: 150)"
    )
    first, second = rows_of(spec)[0]
    assert (first["x"], first["y"], first["cluster"], first["outlier"], first["central"]) == (
        0.0,
        1.0,
        "1",
        False,
        False,
    )
    assert (second["x"], second["y"], second["cluster"], second["outlier"], second["central"]) == (
        2.0,
        3.0,
        "2",
        True,
        True,
    )
    assert spec["layer"][0]["encoding"]["x"]["title"] == "component 1 (61 % of the variance)"
    assert spec["layer"][0]["encoding"]["y"]["title"] == "component 2 (20 %)"
    cells = clusters.plot_cluster_ranks(result).to_dict()
    assert changed("charts", "cluster_ranks", shows(cells)) == []
    assert [(cell["column"], cell["shown"]) for cell in rows_of(cells)[0]] == [
        ("cluster 1 (1 dataset)", "1.25"), ("cluster 2 (2 datasets)", "1.75 (0.123)")
    ]  # fmt: skip
    assert cells["layer"][0]["encoding"]["y"]["sort"] == ["b", "a"]
    space.points, space.explained = np.array([[2.0], [2.0]]), (1.0,)
    flat = clusters.plot_clusters(result).to_dict()["layer"][0]["encoding"]
    assert flat["y"]["title"] == "component 2 (0 %)", "there is one component"
    assert flat["x"]["scale"]["domain"] == pytest.approx([1.7, 2.05]), "a unit wide where all are alike"
    assert flat["y"]["scale"]["domain"][1] == pytest.approx(0.04)


def scored(settings=2):
    algorithms, datasets = ("a", "b"), tuple(f"s{i}" for i in range(settings))
    rows = [{"dataset": d, "algorithm": a, "score": 0.1 * i + 0.2 * j, "rank": 1} for i, a in enumerate(algorithms)
            for j, d in enumerate(datasets)]  # fmt: skip
    whole = np.linspace(0.1, 0.9, 2 * settings * 2).reshape(2, settings, 2)
    sensitivity = pl.DataFrame(
        {
            "setting": [comper.MEAN, comper.MEAN, "s0"],
            "scheme": ["any"] * 3,
            "order_changed": [0.25, 0.25, 0.9],
            "algorithm": ["a", "b", "a"],
            "probability_first": [0.4, 0.6, 1.0],
        }
    )
    return Made(
        table=Made(algorithms=algorithms, datasets=datasets, values=whole * 2), order=lambda: [1, 0], normalised=whole,
        to_frame=lambda: pl.DataFrame(rows), dimensions=("correctness", "coverage"), matrix=Made(weights=(0.7, 0.3)),
        schemes=("any",), sensitivity_frame=lambda: sensitivity, sensitivities=[Made(draws=1000)],
    )  # fmt: skip


def test_comper_in_pictures():
    few = comper.plot_scores(scored()).to_dict()
    assert changed("charts", "comper_scores", shows(few)) == []
    assert says(few) == [
        "bar color=algorithm x=dataset xOffset=algorithm y=score",
        "text text=score x=dataset xOffset=algorithm y=score",
    ]
    many = comper.plot_scores(scored(25)).to_dict()
    assert changed("charts", "comper_scores of many", shows(many)) == []
    assert says(many) == ["bar color=algorithm x=score y=algorithm", "tick x=score y=algorithm"]
    bars, ticks = rows_of(many)
    assert {row["algorithm"]: round(row["score"], 6) for row in bars} == {"a": 2.4, "b": 2.5}
    assert len(ticks) == 50
    panels = comper.plot_dimensions(scored()).to_dict()["hconcat"]
    assert changed("charts", "comper_dimensions", shows(comper.plot_dimensions(scored()).to_dict())) == []
    assert panels[1]["title"] == {**panels[1]["title"], "text": "coverage", "subtitle": "weight 0.300"}
    whole = scored().normalised[0, :, 1]
    assert rows_of(panels[1])[0][0] == {
        "algorithm": "a", "mean": whole.mean(), "low": whole.min(), "high": whole.max(), "measured": 2 * whole.mean()
    }  # fmt: skip
    assert says(panels[1]) == ["bar color=algorithm x=mean(0..1) y=algorithm", "rule x=low(0..1) x2=high y=algorithm"]
    assert len(says(comper.plot_dimensions(scored(1)).to_dict())) == 1
    sensitivity = comper.plot_sensitivity(scored()).to_dict()
    assert changed("charts", "comper_sensitivity", shows(sensitivity)) == []
    assert sensitivity["hconcat"][0]["title"]["subtitle"] == "order changes in 25%"
    (rows,) = rows_of(sensitivity)
    assert [(row["algorithm"], row["probability_first"]) for row in rows] == [("a", 0.4), ("b", 0.6)]


def answered(items=3, respondents=3):
    slope = np.ones(items)
    slope[0] = -1.0
    rows = [{"respondent": f"r{i}", "ability": -float(i), "ability_low": -i - 0.5, "ability_high": -i + 0.5,
             "true_score": 0.5, "accuracy": 0.5} for i in range(respondents)]  # fmt: skip
    return Made(
        constant=np.array([False] * (items - 1) + [True]),
        model="2pl",
        confidence=0.9,
        items=Made(difficulty=np.arange(items)[::-1] / 10, slope=slope, names=tuple(f"i{k}" for k in range(items))),
        curves=lambda theta, drawn: np.tile(drawn / 100, (len(theta), 1)),
        respondents=tuple(f"r{i}" for i in range(respondents)),
        abilities=Made(estimate=np.array([-9.0, 2.0])),
        to_frame=lambda: framed(*rows),
    )


def test_item_curves_and_abilities():
    spec = logistic_irt.plot_item_curves(answered()).to_dict()
    assert changed("charts", "item_curves", shows(spec)) == []
    assert says(spec) == ["rect x=low x2=high", "line color=kind detail=item x=ability(-4..4) y=probability(0..1)"]
    band, lines = rows_of(spec)
    assert band == [{"low": -4.0, "high": 2.0}]
    assert {(row["item"], row["kind"], row["probability"]) for row in lines} == {
        ("i0", "negative discrimination", 0.0), ("i1", "positive discrimination", 0.01)
    }  # fmt: skip
    assert spec["title"]["subtitle"].startswith("2 of 3 items; shaded")
    assert logistic_irt.plot_item_curves(answered(200)).to_dict()["title"]["subtitle"].startswith("60 of 200 items;")
    abilities = logistic_irt.plot_abilities(answered()).to_dict()
    assert changed("charts", "abilities", shows(abilities)) == []
    assert says(abilities) == ["rule x=ability_low x2=ability_high y=respondent", "circle x=ability y=respondent"]
    assert abilities["title"]["subtitle"] == "3 of 3 respondents; 90 % intervals"
    many = logistic_irt.plot_abilities(answered(respondents=200)).to_dict()
    names = [row["respondent"] for row in rows_of(many)[0]]
    assert (len(names), names[0], names[-1]) == (60, "r0", "r199")
    every = answered()
    every.constant = np.zeros(3, bool)
    assert logistic_irt.plot_item_curves(every).to_dict()["title"]["subtitle"].startswith("3 items; shaded")


def test_abilities_on_users():
    rows = [{"dataset": d, "algorithm": a, "ability": v, "low": v - 1, "high": v + 1, "hit_rate": 0.5}
            for d in ("all users", "x") for a, v in (("b", 1.0), ("a", 0.0))]  # fmt: skip
    result = Made(to_frame=lambda: framed(*rows), fits={"all users": 1, "x": 2}, metric="hit@10", confidence=0.9,
                  main=Made(telling_users=3, users=5))  # fmt: skip
    spec = user_irt.plot_user_abilities(result).to_dict()
    assert changed("charts", "user_abilities", shows(spec)) == []
    assert says(spec) == [
        "rule x=ability", "tick x=ability y=algorithm", "rule color=algorithm x=low x2=high y=algorithm",
        "circle color=algorithm x=ability y=algorithm",
    ]  # fmt: skip
    zero, ticks, main, _ = rows_of(spec)
    assert zero == [{"ability": 0}]
    assert ([row["dataset"] for row in ticks], [row["dataset"] for row in main]) == (["x"] * 2, ["all users"] * 2)
    assert spec["title"]["subtitle"] == (
        "all users: 3 of 5 users tell algorithms apart; 90 % intervals; ticks: on each of 1 datasets alone"
    )
    result.to_frame = lambda: framed(*rows[:2])
    alone = user_irt.plot_user_abilities(result).to_dict()
    assert alone["title"]["subtitle"] == "all users: 3 of 5 users tell algorithms apart; 90 % intervals"
    assert not any(line.startswith("tick") for line in says(alone))


CROSSING = Crossing(first="b", second="a", below=10, above=40, threshold=20.0, p_below=0.01, p_above=0.01,
                    significant_below=True, significant_above=True)  # fmt: skip


def strata_of(crossings, thresholds=(10, 40), values=((0.01, 0.04), (0.09, 0.04))):
    return Made(crossings=crossings, algorithms=("a", "b"), thresholds=thresholds, value=np.array(values))


def test_crossings_stand_where_the_drawn_lines_meet():
    """Heights are drawn by square root: from 0.1 to 0.3 and from 0.2 to 0.2 the lines meet half-way, at 0.2."""
    (mark,) = strata_plots._marked_crossings(strata_of([CROSSING]), ["a", "b"])
    assert (mark["x"], mark["value"]) == (pytest.approx(25.0), pytest.approx(0.04))
    wide = replace(CROSSING, below=1, above=100)
    (mark,) = strata_plots._marked_crossings(strata_of([wide], (1, 100)), ["a", "b"])
    assert mark["x"] == pytest.approx(10.0), "by logarithm where the thresholds span more than a factor of ten"
    steep = strata_of([wide], (1, 100), values=((0.01, 0.36), (0.04, 0.01)))
    (mark,) = strata_plots._marked_crossings(steep, ["a", "b"])
    assert mark["x"] == pytest.approx(100 ** (5 / 6)), "from 0.6 to 0.1 and from 0.1 to 0.2: five sixths of the way"
    apart = replace(CROSSING, below=4, above=100)
    (mark,) = strata_plots._marked_crossings(
        strata_of([apart], (4, 100), values=((0.01, 0.36), (0.04, 0.01))), ["a", "b"]
    )
    assert mark["x"] == pytest.approx(4 ** (1 / 6) * 100 ** (5 / 6))
    late = strata_of([CROSSING], values=((0.0, 0.04), (0.09, 0.01)))
    (mark,) = strata_plots._marked_crossings(late, ["a", "b"])
    share = 0.2 / (0.2 + 0.2)
    assert mark["x"] == pytest.approx((1 - share) * 10 + share * 40)
    assert mark["value"] == pytest.approx(((1 - share) * 0.2 + share * 0.1) ** 2)
    for alone in (["a"], ["b"]):
        assert strata_plots._marked_crossings(strata_of([CROSSING]), alone) == []
    unproven = replace(CROSSING, significant_below=False)
    assert strata_plots._marked_crossings(strata_of([unproven]), ["a", "b"]) == []
    assert [strata_plots._by_logarithm(strata_of([], ends)) for ends in ((1, 10), (1, 11))] == [False, True]


def test_the_datasets_whose_order_changes_most_have_panels():
    datasets = [Made(dataset=f"d{i}") for i in range(11)]
    rows = [
        {
            "dataset": f"d{i}",
            "scope": "dataset",
            "proven": 1 if i == 1 else None,
            "distance": 0.05 * i if i else float("nan"),
        }
        for i in range(11)
    ] + [{"dataset": "all", "scope": "study", "proven": 9, "distance": 1.0}]
    result = Made(datasets=datasets, sensitivity_frame=lambda: framed(*rows))
    shown = [dataset.dataset for dataset in strata_plots.shown_datasets(result)]
    assert shown == ["d1", *(f"d{i}" for i in range(3, 11))], "a proven flip counts more than any distance"
    turned = [{**row, "distance": 0.6 - 0.05 * i, "proven": 3 if i == 0 else None} for i, row in enumerate(rows[:11])]
    result.sensitivity_frame = lambda: framed(*turned)
    assert [dataset.dataset for dataset in strata_plots.shown_datasets(result)] == [f"d{i}" for i in range(9)]
    result.datasets = datasets[:9]
    assert strata_plots.shown_datasets(result) == datasets[:9]


def test_the_sensitivity_of_the_order():
    rows = [{"dataset": "x", "scope": "dataset", "distance": 0.4, "chance": 0.1, "chance_low": 0.05, "chance_high": 0.2,
             "pairs": 3, "observed": 3, "flipped": 2, "proven": 1},
            {"dataset": "y", "scope": "dataset", "distance": float("nan")},
            {"dataset": "all", "scope": "study", "distance": 0.3, "proven": None}]  # fmt: skip
    spec = strata_plots.plot_sensitivity(
        Made(sensitivity_frame=lambda: framed(*rows), metric="m", confidence=0.9)
    ).to_dict()
    assert changed("charts", "popularity_sensitivity", shows(spec)) == []
    assert says(spec) == [
        "rule x=chance_low(0..1) x2=chance_high y=label", "circle color=kind x=distance(0..1) y=label",
        "text text=note x=1.0 y=label",
    ]  # fmt: skip
    assert [(row["label"], row["note"], row["kind"]) for row in rows_of(spec)[0]] == [
        ("x", "1 of 2 flips proven", "dataset"), ("all", "", "all")
    ]  # fmt: skip
    assert spec["title"]["subtitle"].startswith("grey: the middle 90 % of the distances between random halves")
    assert spec["layer"][0]["encoding"]["x"]["title"].startswith("Kendall distance between the orders (0: the same")


def classified(**given):
    row = {"dataset": "x", "mean_difficulty": 0.5, "difficulty_deviation": 0.2, "mean_discrimination": 1.0,
           "discrimination_deviation": 0.4, "mean_guessing": 0.1, "negative_share": 0.0, "instances": 9}  # fmt: skip
    scores = [{"respondent": name, "dataset": "x", "probability": 0.8, "probability_without_negative": without}
              for name, without in (("a", 0.9), ("b", None), ("hidden", 0.1))]  # fmt: skip
    bins = [Made(number=1, datasets=("x", "y"), parameters={"difficulty": 0.6, "discrimination": -0.2}),
            Made(number=2, datasets=("z",), parameters={"difficulty": 0.1, "discrimination": 0.3})]  # fmt: skip
    usual = {
        "to_frame": lambda: framed(row, {**row, "dataset": "flat", "mean_difficulty": None}),
        "bins": bins,
        "mean_scores_frame": lambda: framed(*scores),
        "scores_frame": lambda: framed(*scores, {**scores[0], "dataset": "y"}),
        "players": ("a", "b"),
        "traits": (1, 2),
        "most_negative": lambda: Made(dataset="x", statistics=lambda: {"negative_share": 0.256}),
    }
    return Made(**{**usual, **given})


def test_hard_datasets_and_their_items():
    spec = decodirt_plots.plot_datasets(classified()).to_dict()
    assert changed("charts", "decodirt_datasets", shows(spec)) == []
    assert says(spec) == [
        "bar x=dataset y=mean_difficulty", "rule x=dataset y=difficulty_low y2=difficulty_high",
        "rule x=dataset y=discrimination_low y2=discrimination_high", "line x=dataset y=mean_discrimination",
    ]  # fmt: skip
    (row,) = rows_of(spec)[0]
    assert (row["difficulty_low"], row["difficulty_high"]) == (pytest.approx(0.3), pytest.approx(0.7))
    assert (row["discrimination_low"], row["discrimination_high"]) == (pytest.approx(0.6), pytest.approx(1.4))
    hard, telling = decodirt_plots.plot_bins(classified()).to_dict()["hconcat"]
    assert changed("charts", "decodirt_bins", shows(decodirt_plots.plot_bins(classified()).to_dict())) == []
    assert [(row["bin"], row["size"], row["value"]) for row in rows_of(hard)[0]] == [
        ("bin 1", 2, 0.6),
        ("bin 2", 1, 0.1),
    ]
    assert [row["value"] for row in rows_of(telling)[0]] == [-0.2, 0.3]
    assert says(decodirt_plots.plot_deviation(classified()).to_dict()) == ["bar x=dataset y=difficulty_deviation"]
    assert changed("charts", "decodirt_deviation", shows(decodirt_plots.plot_deviation(classified()).to_dict())) == []


def test_charts_of_many_datasets_and_classifiers_are_larger():
    row = classified().to_frame().to_dicts()[0]
    many = classified(to_frame=lambda: framed(*({**row, "dataset": f"d{i}"} for i in range(20))))
    assert [view["width"] for view in decodirt_plots.plot_datasets(many).to_dict()["vconcat"]] == [340, 340]
    assert decodirt_plots.plot_deviation(many).to_dict()["width"] == 340
    names = [f"c{i:02d}" for i in range(19)]
    bins = [Made(number=n, low=n, high=n, probability=dict.fromkeys(reversed(names), 0.5), parameters={"guessing": 0.1})
            for n in range(4)]  # fmt: skip
    answered_right = classified(metadata_bins={"PercentageOfInstancesWithMissingValues": bins})
    spec = decodirt_plots.plot_probability(answered_right, name="PercentageOfInstancesWithMissingValues").to_dict()
    assert [(view["width"], view["height"]) for view in spec["vconcat"]] == [(336, 266), (336, 90)]
    assert spec["vconcat"][0]["encoding"]["color"]["scale"]["domain"] == names
    assert spec["vconcat"][0]["encoding"]["color"]["legend"]["columns"] == 2
    assert spec["vconcat"][1]["encoding"]["y"]["title"] == "mean guessing"


def test_true_scores_with_and_without_negative_items():
    worst, mean = decodirt_plots.plot_true_scores(classified()).to_dict()["hconcat"]
    assert (
        changed("charts", "decodirt_true_scores", shows(decodirt_plots.plot_true_scores(classified()).to_dict())) == []
    )
    assert (worst["title"]["text"], mean["title"]["text"]) == ("x: 26 % negative", "mean over 2 datasets")
    assert [(row["respondent"], row["instances"], row["probability"]) for row in rows_of(worst)[0]] == [
        ("a", "all instances", 0.8), ("a", "without negative ones", 0.9), ("b", "all instances", 0.8)
    ]  # fmt: skip
    assert says(worst)[0] == "line detail=respondent x=probability(0..1) y=respondent"
    (only,) = decodirt_plots.plot_true_scores(classified(most_negative=lambda: None)).to_dict()["hconcat"]
    assert only["title"]["text"] == "mean over 2 datasets"


def test_right_answers_by_a_property():
    bins = [Made(number=1, low=2.0, high=2.0, probability={"a": 0.7}, parameters={"difficulty": 0.5}),
            Made(number=2, low=3.0, high=12345.0, probability={"a": 0.6}, parameters={"difficulty": 0.1})]  # fmt: skip
    result = classified(metadata_bins={"NumberOfInstances": bins})
    spec = decodirt_plots.plot_probability(result, name="NumberOfInstances").to_dict()
    assert changed("charts", "decodirt_by_NumberOfInstances", shows(spec)) == []
    lines, bars = rows_of(spec)
    assert lines == [{"label": "bin 1: 2", "classifier": "a", "probability": 0.7},
                     {"label": "bin 2: 3 to 1.234e+04", "classifier": "a", "probability": 0.6}]  # fmt: skip
    assert [row["value"] for row in bars] == [0.5, 0.1]
    late = [*bins, Made(number=3, low=4.0, high=5.0, probability={"0": 0.2}, parameters={"discrimination": 0.75})]
    for one in bins:
        one.parameters = {"discrimination": 0.25}
    other = classified(metadata_bins={"MinorityClassPercentage": late})
    drawn = decodirt_plots.plot_probability(other, name="MinorityClassPercentage").to_dict()["vconcat"]
    assert drawn[0]["encoding"]["color"]["scale"]["domain"] == ["0", "a"], "whoever answers in a bin"
    assert drawn[1]["encoding"]["y"]["title"] == "mean discrimination"
    assert [row["value"] for row in rows_of(drawn[1])[0]] == [0.25, 0.25, 0.75]


def test_labels_stand_apart_and_below_the_top():
    assert label_rows([0.1, 0.5, 0.9], 0.2) == pytest.approx([0.1, 0.5, 0.9])
    assert label_rows([0.5, 0.5, 0.9], 0.2) == pytest.approx([0.4, 0.6, 0.9])
    assert label_rows([0.5, 0.45, 0.55], 0.2) == pytest.approx([0.5, 0.3, 0.7])
    assert label_rows([0.9, 1.0], 0.2, top=1.0) == pytest.approx([0.8, 1.0])
    assert label_rows([0.0, 1.0, 1.4], 1.0) == pytest.approx([-0.2, 0.8, 1.8]), "a block that grows pushes the next"
    assert label_rows([0.0, 0.05, 0.3], 0.2) == pytest.approx([-0.0833333, 0.1166667, 0.3166667])


def test_the_map_of_values_is_written_up_to_sixteen_datasets():
    def drawn(count):
        rows = [{"algorithm": "a", "dataset": f"d{i}", "value": 0.5, "low": 0.4, "high": 0.6, "share_of_best": 1.0}
                for i in range(count)]  # fmt: skip
        datasets = tuple(row["dataset"] for row in rows)
        return per_dataset.plot_values(Made(to_frame=lambda: framed(*rows), algorithms=("a",), order=lambda: [0],
                                            datasets=datasets, metric="m")).to_dict()  # fmt: skip

    assert [len(says(drawn(count))) for count in (16, 17)] == [2, 1]
    assert changed("charts", "per_dataset", shows(drawn(16))) == []
    assert (drawn(16)["width"], drawn(17)["width"]) == (46 * 16, 24 * 17)


def test_difficulty_against_discrimination():
    def trait(*values):
        ends = np.array(values)
        return Made(names=("x", "y"), estimate=ends, low=ends - 0.1, high=ends + 0.2, order=lambda: [0, 1])

    traits = {"ability": trait(0.5, 0.6), "difficulty": trait(0.3, 0.7), "discrimination": trait(1.0, -2.0)}
    curves = [{"direction": direction, "item": "x", "trait": 0.5, "expected": 0.4} for direction in (1, 2)]
    ranges = [{"direction": direction, "low": 0.1, "high": 0.9, "trait": "ability"} for direction in (2, 1)]
    result = Made(directions=[Made(traits=traits)], trait=traits.__getitem__, metric="m",
                  frames=lambda: {"irt_curves": framed(*curves), "irt_ranges": framed(*ranges)})  # fmt: skip
    spec = beta_irt.plot_direction(result, number=1).to_dict()
    assert changed("charts", "irt_datasets", shows(spec)) == []
    rows = rows_of(spec)
    first, second = rows[0]
    found = [first[key] for key in ("x", "x_low", "x_high", "y", "y_low", "y_high")]
    assert found == pytest.approx([1.0, 0.9, 1.2, 0.3, 0.2, 0.5])
    assert (second["x"], second["y"]) == (-2.0, 0.7)
    assert [row["direction"] for row in (*rows[5], *rows[6])] == [1, 1]
    left, right = spec["hconcat"]
    domain = left["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert domain == pytest.approx([-2.1, 1.2 + 0.04 * 3.3])
    assert left["layer"][0]["encoding"]["x"]["title"] == "dataset discrimination"
    assert left["layer"][0]["encoding"]["y"]["title"] == "dataset difficulty"
    assert right["layer"][1]["encoding"]["x"]["title"] == "algorithm ability"
    assert spec["title"]["text"] == "What the datasets ask, m"
    for names in (traits["difficulty"], traits["discrimination"]):
        many = np.linspace(0.1, 0.9, 40)
        names.names, names.estimate, names.low, names.high = tuple(f"d{i}" for i in range(40)), many, many, many
    tall = beta_irt.plot_direction(result, number=1).to_dict()["hconcat"]
    assert [panel["height"] for panel in tall] == [42 * 13, 42 * 13], "a row for each label"
    result.trait = {**traits, "difficulty": trait(0.3, 0.7), "discrimination": trait(1.0, -2.0)}.__getitem__
    other = {"challenge": trait(0.5, 0.6), "difficulty_limit": trait(0.3, 0.7), "consistency": trait(1.0, 2.0)}
    result.directions.append(Made(traits=other))
    result.trait = {**traits, **other}.__getitem__
    reverse = beta_irt.plot_direction(result, number=2).to_dict()
    assert changed("charts", "irt_algorithms", shows(reverse)) == []
    assert reverse["title"]["text"] == "What the algorithms bear, m"
    axes = reverse["hconcat"][0]["layer"][0]["encoding"]
    assert [axes[side]["scale"]["domain"][0] for side in "xy"] == [0, 0], "no axis begins above 0"
    assert reverse["title"]["subtitle"].startswith("Beta-IRT, direction 2: left, difficulty limit and consistency")
    assert [row["direction"] for row in rows_of(reverse)[6]] == [2]
    result.to_frame = lambda: framed(*({"trait": name, "name": "x", "estimate": 0.5, "low": 0.4, "high": 0.6}
                                       for name in ("ability", "challenge", "difficulty")))  # fmt: skip
    result.estimator, result.confidence = "beta", 0.9
    drawn = beta_irt.plot_traits(result).to_dict()
    assert changed("charts", "irt_traits", shows(drawn)) == []
    assert [[row["trait"] for row in rows_of(panel)[0]] for panel in drawn["hconcat"]] == [["ability"], ["challenge"]]


def panels_of(names=("a", "b"), thresholds=(10, 40), dataset="films", **given):
    rows = [{"algorithm": name, "threshold": t, "value": 0.1, "low": 0.05, "high": 0.2, "rank": 1, "users": 9,
             "told_from_best": True} for name in names for t in thresholds]  # fmt: skip
    shares = pl.DataFrame({"threshold": [10, 40], "items": [1, 2], "share_of_items": [0.5, 1.0],
                           "share_of_train": [0.1, 1.0], "share_of_test": [0.2, 1.0]})  # fmt: skip
    dataset = Made(
        dataset=dataset, algorithms=names, thresholds=thresholds, value=np.full((len(thresholds), len(names)), 0.1),
        crossings=[CROSSING], curves_frame=lambda alpha: framed(*rows), whole=np.linspace(0.3, 0.2, len(names)),
        shares=shares, curve=framed({"rank": 1, "popularity": 50}),
    )  # fmt: skip
    dataset.value[:2, 1] = (0.09, 0.04)
    vars(dataset).update(given)
    return Made(datasets=(dataset,), algorithms=names, metric="ndcg@10", confidence=0.9, alpha=0.05,
                standing_out=lambda most: names[:most])  # fmt: skip


def test_performance_by_popularity():
    spec = strata_plots.plot_strata(panels_of()).to_dict()
    assert changed("charts", "popularity_strata", shows(spec)) == []
    assert says(spec) == [
        "area color=algorithm x=threshold(10..40) y=low(sqrt) y2=high",
        "line color=algorithm strokeDash=algorithm x=threshold(10..40) y=value(sqrt)",
        "point color=algorithm fill=algorithm(if datum.told_from_best: 'white') x=threshold(10..40) y=value(sqrt)",
        "point color=algorithm x=339 y=value(sqrt)",
        "point x=x(10..40) y=value(sqrt)",
    ]
    panel = spec["concat"][0]
    assert panel["layer"][1]["encoding"]["y"]["title"] == "ndcg@10 on T_P"
    assert panel["layer"][1]["encoding"]["x"]["scale"]["type"] == "linear"
    assert rows_of(spec)[3] == [{"algorithm": "a", "value": 0.3}, {"algorithm": "b", "value": 0.2}]
    assert "90 % bands over users" in spec["title"]["subtitle"]
    assert "grey" not in spec["title"]["subtitle"]
    many = strata_plots.plot_strata(panels_of(tuple("abcdefgh"))).to_dict()
    assert changed("charts", "popularity_strata of many", shows(many)) == []
    assert "grey: 3 more algorithms, which lead at neither end" in many["title"]["subtitle"]
    assert {row["algorithm"] for row in rows_of(many)[0]} == {"f", "g", "h"}
    few = strata_plots.plot_strata(panels_of(tuple("abcdefgh")), USUAL, Shown(frozenset("ag"), 8)).to_dict()
    assert {row["algorithm"] for row in rows_of(few)[0]} == {"f", "h"}, "those that stand out are always shown"
    assert {row["algorithm"] for row in rows_of(few)[1]} == set("abcde")
    assert says(many)[0] == "line detail=algorithm x=threshold(10..40) y=value(sqrt)"
    assert {row["algorithm"] for row in rows_of(many)[1]} == set("abcde")
    assert "grey" not in strata_plots.plot_strata(panels_of(tuple("abcdef"))).to_dict()["title"]["subtitle"]
    assert panel["layer"][1]["encoding"]["x"]["title"] == "popularity threshold P"
    assert panel["layer"][1]["encoding"]["x"]["axis"]["values"] == [10, 40]
    assert spec["resolve"] == {"scale": {"y": "independent", "x": "independent"}}
    assert (spec["columns"], panel["title"]["text"]) == (3, "films")


def test_what_a_panel_of_popularity_leaves_out():
    def scale(spec):
        return spec["concat"][0]["layer"][1]["encoding"]["x"]["scale"]

    bare = strata_plots.plot_strata(panels_of(whole=None, crossings=[])).to_dict()
    assert says(bare) == says(strata_plots.plot_strata(panels_of()).to_dict())[:3], "no triangles and no diamonds"
    many = strata_plots.plot_strata(panels_of(tuple("abcdefgh"))).to_dict()
    assert [row["algorithm"] for row in rows_of(many)[4]] == list("abcde"), "triangles of those in colour alone"
    wide = strata_plots.plot_strata(panels_of(thresholds=(10, 40, 101), dataset="x" * 50)).to_dict()
    assert (scale(wide)["type"], scale(wide)["domain"]) == ("log", [10, 101])
    near = scale(strata_plots.plot_strata(panels_of(thresholds=(10, 40, 100))).to_dict())
    assert (near["type"], near["domain"]) == ("linear", [10, 100])
    assert wide["concat"][0]["title"]["text"] == "x" * 39 + "…"


def test_the_popularity_of_items_and_the_shares_below_each_threshold():
    curve = strata_plots.plot_popularity_curve(panels_of()).to_dict()
    assert changed("charts", "popularity_curve", shows(curve)) == []
    assert says(curve) == ["rule y=threshold", "line x=rank(log) y=popularity(log)"]
    shares = strata_plots.plot_shares(panels_of()).to_dict()
    assert changed("charts", "popularity_shares", shows(shares)) == []
    (rows,) = rows_of(shares)
    assert [(row["threshold"], row["what"], row["share"]) for row in rows] == [
        (10, "items", 0.5), (10, "training interactions", 0.1), (10, "test interactions", 0.2), (40, "items", 1.0),
        (40, "training interactions", 1.0), (40, "test interactions", 1.0),
    ]  # fmt: skip


def test_properties_and_items_in_a_map():
    pairs = [
        {"left": "NumberOfClasses", "right": "mean_difficulty", "pearson": 0.5, "low": 0.1, "high": 0.8, "datasets": 9}
    ]
    pairs += [
        {**pairs[0], "left": "ClassEntropy", "pearson": -0.001, "low": -0.3, "high": 0.3},
        {**pairs[0], "left": "Gone", "pearson": None},
        {**pairs[0], "left": "Below", "pearson": -0.5, "low": -0.8, "high": -0.1},
        {**pairs[0], "left": "Zero", "low": 0.0},
        {**pairs[0], "left": "Ends", "low": -0.5, "high": 0.0},
    ]
    table = Made(properties=6, variables=(*(pair["left"] for pair in pairs), "mean_difficulty"),
                 statistics=("mean_difficulty",), pairs=framed(*pairs))  # fmt: skip
    spec = decodirt_plots.plot_metadata(Made(correlations=table, traits=(1, 2), how=Made(confidence=0.9))).to_dict()
    assert changed("charts", "decodirt_correlations", shows(spec)) == []
    assert [(row["row"], row["column"], row["shown"], row["sure"]) for row in rows_of(spec)[0]] == [
        ("NumberOfClasses", "mean difficulty", "0.50", True), ("ClassEntropy", "mean difficulty", "0.00", False),
        ("Below", "mean difficulty", "-0.50", True), ("Zero", "mean difficulty", "0.50", False),
        ("Ends", "mean difficulty", "0.50", False),
    ]  # fmt: skip
    assert spec["title"]["subtitle"].endswith("over 2 datasets; pale: the 90 % interval holds 0")
    assert "opacity=1.0(if !datum.sure: 0.4)" in says(spec)[1]


def test_ratings_with_and_without_negative_instances():
    rows = [{"classifier": name, "set": "hard_deviation", "instances": kind, "rating": 1500.4, "rank": 1}
            for kind in ("all_instances", "without_negative") for name in ("a", "b")]  # fmt: skip
    first = Made(algorithms=("a", "b"), order=lambda: [1, 0])
    result = Made(ratings=[Made(set=Made(name="hard_deviation"), all=first)], ratings_frame=lambda: framed(*rows))
    spec = decodirt_plots.plot_ratings(result).to_dict()
    assert changed("charts", "decodirt_ratings", shows(spec)) == []
    left, right = spec["hconcat"]
    assert (left["title"]["text"], right["title"]["text"]) == ("all instances", "without negative instances")
    assert [{row["instances"] for row in rows_of(panel)[0]} for panel in (left, right)] == [
        {"all_instances"}, {"without_negative"}
    ]  # fmt: skip
    assert (rows_of(left)[0][0]["set"], rows_of(left)[0][0]["shown"]) == ("hard dev.", "1500")
    assert left["layer"][0]["encoding"]["y"]["sort"] == ["b", "a"]
    assert says(left)[0] == "rect color=rank(reverse, 1..2) x=set y=classifier"
