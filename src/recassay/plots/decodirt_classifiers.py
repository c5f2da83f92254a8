"""Classifiers of the benchmark in pictures: true scores and ratings (Cardoso et al., Figure 9 and Tables 5 to 9)."""

from __future__ import annotations

from typing import Any

from recassay.analysis.decodirt.result import DecodirtResult
from recassay.core import columns as c
from recassay.plots.decodirt import BAR, LINE
from recassay.plots.forms import heat_map, names_above, names_down, panel_title, rank_fill, short_labels
from recassay.plots.grammar import Chart, channel, hconcat
from recassay.plots.theme import FAINT, inline, shorten, themed


def plot_true_scores(result: DecodirtResult) -> Any:
    """Figure 9: probability of a right answer with and without negative instances, on one dataset and on average."""
    kinds = {"probability": "all instances", "probability_without_negative": "without negative ones"}
    panels = []
    means = [row for row in result.mean_scores_frame().to_dicts() if row["respondent"] in result.players]
    order = [row["respondent"] for row in means]
    worst = result.most_negative()
    if worst is not None:
        rows = [
            row
            for row in result.scores_frame().to_dicts()
            if row[c.DATASET] == worst.dataset and row["respondent"] in result.players
        ]
        share = 100 * worst.statistics()["negative_share"]
        panels.append((f"{shorten(worst.dataset)}: {share:.0f} % negative", rows))
    panels.append((f"mean over {len(result.traits)} datasets", means))
    charts = []
    for place, (title, rows) in enumerate(panels):
        points = [
            {"respondent": row["respondent"], "instances": words, "probability": row[key]}
            for row in rows
            for key, words in kinds.items()
            if row[key] is not None
        ]
        y = names_down("respondent", order, labelExpr=short_labels(order), labels=place == 0, grid=True)
        x = channel("probability:Q", title="probability of a right answer", scale={"domain": [0, 1]})
        base = Chart(inline(points)).encode(y=y)
        legend = {"title": None, "legend": {"orient": "bottom"}}
        joined = base.mark("line", color=FAINT, strokeWidth=1.5).encode(x=x, detail="respondent:N")
        dots = base.mark("point", filled=True, size=62, opacity=1).encode(
            x=x,
            color=channel("instances:N", scale={"domain": list(kinds.values()), "range": [LINE, BAR]}, **legend),
            shape=channel(
                "instances:N", scale={"domain": list(kinds.values()), "range": ["circle", "diamond"]}, **legend
            ),
            tooltip=["respondent:N", "instances:N", "probability:Q"],
        )
        heading = panel_title(title, fontWeight="normal")
        charts.append((joined + dots).properties(width=300, height=20 * len(order), title=heading))
    return themed(
        hconcat(*charts, spacing=24),
        "True scores with and without negative discrimination",
        "True score over the number of instances; nobody should be above optimal or below pessimal",
    )


def plot_ratings(result: DecodirtResult) -> Any:
    """Tables 5 to 9 as one picture: ratings on the six sets, with and without negative instances."""
    titles = {one.set.name: one.set.name.replace("_deviation", " dev.").replace("_", " ") for one in result.ratings}
    words = {"all_instances": "all instances", "without_negative": "without negative instances"}
    rows = [
        {**row, "set": titles[row["set"]], "shown": f"{row['rating']:.0f}"} for row in result.ratings_frame().to_dicts()
    ]
    first = result.ratings[0].all
    order = [first.algorithms[a] for a in first.order()]
    panels = []
    for place, (variant, title) in enumerate(words.items()):
        chart = heat_map(
            [row for row in rows if row["instances"] == variant],
            names_above("set", list(titles.values())),
            names_down("classifier", order, labelExpr=short_labels(order), labels=place == 0),
            rank_fill(c.RANK, len(order), gradientLength=120, tickCount=min(len(order), 6)),
            ["classifier:N", "set:N", "rating:Q", "deviation:Q", "volatility:Q", f"{c.RANK}:Q"],
            dark=f"datum.{c.RANK} <= {0.55 * len(order)}",
        )
        heading = panel_title(title, fontWeight="normal")
        panels.append(chart.properties(width=50 * len(titles), height=22 * len(order), title=heading))
    return themed(
        hconcat(*panels, spacing=24),
        "Glicko-2 ratings on six sets of datasets",
        "Games decided by true scores; colour is the rank within a set",
    )
