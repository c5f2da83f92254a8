"""Datasets of the classifier benchmark in pictures (Cardoso et al., Figures 7, 8, 10, 11 and 14 to 16)."""

from __future__ import annotations

from itertools import product
from typing import Any

from recassay.analysis.decodirt.result import DecodirtResult
from recassay.core import columns as c
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import listing
from recassay.plots.forms import (
    correlation_fill,
    heat_map,
    line_legend,
    line_looks,
    names_above,
    names_down,
    panel_title,
    rank_fill,
    short_labels,
)
from recassay.plots.grammar import Chart, Row, Spec, channel, hconcat, marks, tips, vconcat
from recassay.plots.shown import ALL, Shown
from recassay.plots.theme import COLOURS, FAINT, INK, shorten, themed

SHOWN = {
    "MinorityClassPercentage": "discrimination",
    "PercentageOfInstancesWithMissingValues": "guessing",
    "NumberOfInstances": "difficulty",
}
"""The properties of Figures 14 to 16, each with the item parameter that the paper reads beside it."""

BAR, LINE = COLOURS[0], COLOURS[1]
STEP = 17
"""Pixels a dataset."""


def _across(names: list[str], *, labels: bool) -> Spec:
    axis = {
        "labelAngle": -60,
        "labelExpr": short_labels(names),
        "labelOverlap": False,
        "ticks": False,
        "labels": labels,
    }
    return channel(f"{c.DATASET}:N", sort=names, title=None, axis=axis)


def varied(result: DecodirtResult) -> list[Row]:
    """The datasets whose items have parameters, hardest first."""
    return [row for row in result.to_frame().to_dicts() if row["mean_difficulty"] is not None]


def plot_datasets(result: DecodirtResult, words: Vocabulary = USUAL) -> Any:
    """Figure 7: mean difficulty (bars) and mean discrimination (line) of the datasets, hardest first."""
    rows = varied(result)
    for row in rows:
        for name in ("difficulty", "discrimination"):
            row[f"{name}_low"] = row[f"mean_{name}"] - row[f"{name}_deviation"]
            row[f"{name}_high"] = row[f"mean_{name}"] + row[f"{name}_deviation"]
    names = [row[c.DATASET] for row in rows]
    means = "mean_difficulty difficulty_deviation mean_discrimination discrimination_deviation mean_guessing"
    base = Chart(rows).encode(tooltip=tips(c.DATASET, f"{means} negative_share instances"))
    width = max(320, STEP * len(names))
    above, below = base.encode(x=_across(names, labels=False)), base.encode(x=_across(names, labels=True))
    bars = above.mark("bar", color=BAR).encode(y=channel("mean_difficulty:Q", title="difficulty"))
    line = below.mark("line", color=LINE, point={"color": LINE, "size": 28}).encode(
        y=channel("mean_discrimination:Q", title="discrimination")
    )
    hard = bars + above.mark("rule", color=INK, strokeWidth=0.8).encode(y="difficulty_low:Q", y2="difficulty_high:Q")
    steep = (
        below.mark("rule", color=FAINT, strokeWidth=0.8).encode(y="discrimination_low:Q", y2="discrimination_high:Q")
        + line
    )
    return themed(
        vconcat(hard.properties(width=width, height=170), steep.properties(width=width, height=150), spacing=10),
        f"Difficulty and discrimination of the {words.datasets}",
        f"Means over test instances, hardest {words.dataset} first; whiskers: one deviation over instances",
    )


def plot_bins(result: DecodirtResult, words: Vocabulary = USUAL) -> Any:
    """Figure 8: mean difficulty and discrimination by bins of difficulty."""
    panels = []
    for name, colour in (("difficulty", BAR), ("discrimination", LINE)):
        rows = [
            {"bin": f"bin {group.number}", "size": len(group.datasets), "parameter": name,
             "value": group.parameters[name]}
            for group in result.bins
        ]  # fmt: skip
        base = Chart(rows).encode(
            x=channel("bin:N", title=None, sort=None, axis={"labelAngle": 0, "ticks": False}),
            y=channel("value:Q", title=name, scale={"padding": 16}),
            tooltip=tips("bin", "size value"),
        )
        text = base.mark("text", dy={"expr": "datum.value < 0 ? 10 : -8"}, fontSize=10.5, color=INK).encode(
            text=channel("value:Q", format=".2f")
        )
        bars = base.mark("bar", color=colour, size=28)
        panels.append((bars + text).properties(width=56 * len(result.bins), height=180))
    sizes = sorted({len(group.datasets) for group in result.bins})
    return themed(
        hconcat(*panels, spacing=36),
        f"Bins of {words.datasets} by difficulty",
        f"{listing(sizes, last='or')} {words.datasets} a bin, the hardest in bin 1; means over the {words.datasets}",
    )


def plot_deviation(result: DecodirtResult, words: Vocabulary = USUAL) -> Any:
    """Figure 10: the standard deviation of difficulty over the instances of each dataset, hardest dataset first."""
    rows = varied(result)
    chart = marks(rows, "bar", color=COLOURS[2]).encode(
        x=_across([row[c.DATASET] for row in rows], labels=True),
        y=channel("difficulty_deviation:Q", title="deviation of difficulty"),
        tooltip=tips(c.DATASET, "difficulty_deviation mean_difficulty instances"),
    )
    return themed(
        chart.properties(width=max(320, STEP * len(rows)), height=170),
        f"How much difficulty varies within {words.a_dataset}",
        f"Standard deviation over test instances, hardest {words.dataset} first",
    )


def plot_metadata(result: DecodirtResult, words: Vocabulary = USUAL) -> Any:
    """Figure 11: correlations of properties and item statistics with item statistics."""
    table = result.correlations
    titles = {name: name.replace("_", " ") for name in table.variables}
    names, first = list(titles.values()), table.properties
    pairs = {frozenset((pair["left"], pair["right"])): pair for pair in table.pairs.to_dicts()}
    rows = []
    for row, column in product(table.variables, table.statistics):
        pair = pairs.get(frozenset((row, column)))
        if pair is not None and pair["pearson"] is not None:
            r, low, high = pair["pearson"], pair["low"], pair["high"]
            rows.append(
                {"row": titles[row], "column": titles[column], "r": r, "low": low, "high": high,
                 "datasets": pair["datasets"], "shown": f"{r:.2f}".replace("-0.00", "0.00"),
                 "sure": low > 0 or high < 0}
            )  # fmt: skip
    chart = heat_map(
        rows,
        {**names_above("column", names[first:]), "scale": {"domain": names[first:]}},
        {**names_down("row", names, labelLimit=280), "scale": {"domain": names}},
        correlation_fill("r", "Pearson's r"),
        tips("row column", "r low high datasets"),
        dark="abs(datum.r) > 0.6",
        faint=("!datum.sure", 0.4),
    ).properties(width=56 * len(table.statistics), height=24 * len(names))
    return themed(
        chart,
        f"Properties of {words.datasets} and their items",
        f"Pearson's correlation over {len(result.traits)} {words.datasets}; pale: the {100 * result.how.confidence:g} "
        "% interval holds 0",
    )


def plot_probability(result: DecodirtResult, words: Vocabulary = USUAL, shown: Shown = ALL, *, name: str) -> Any:
    """Figures 14 to 16: probability of a right answer by bins of a property, and the item parameter beside it."""
    bins = result.metadata_bins[name]
    labels = [
        f"bin {bin_.number}: {bin_.low:.4g}" + ("" if bin_.low == bin_.high else f" to {bin_.high:.4g}")
        for bin_ in bins
    ]
    rows = [
        {"label": label, "classifier": player, "probability": chance}
        for bin_, label in zip(bins, labels, strict=True)
        for player, chance in bin_.probability.items()
    ]
    players = shown.of(sorted({player for bin_ in bins for player in bin_.probability}))
    width = max(320, 84 * len(bins))
    axis = {"labelAngle": -25, "ticks": False}
    lines = marks(shown.rows(rows, "classifier"), "line", strokeWidth=2, point={"size": 24}).encode(
        x=channel("label:N", sort=labels, title=None, axis={"labels": False, "ticks": False}),
        y=channel("probability:Q", title="probability of a right answer", scale={"domain": [0, 1]}),
        **line_looks("classifier", players, line_legend(players)),
        tooltip=tips("classifier label", "probability"),
    )
    parameter = SHOWN[name]
    means = [{"label": label, "value": bin_.parameters[parameter]} for label, bin_ in zip(labels, bins, strict=True)]
    bars = marks(means, "bar", color=FAINT, size=26).encode(
        x=channel("label:N", sort=labels, title=f"{name}, {len(result.traits)} {words.datasets} in bins", axis=axis),
        y=channel("value:Q", title=f"mean {parameter}"),
        tooltip=tips("label", "value"),
    )
    above = lines.properties(width=width, height=max(240, 14 * len(players)))
    return themed(
        vconcat(above, bars.properties(width=width, height=90), spacing=8),
        f"Right answers by {name}",
        f"Mean over the {words.datasets} of a bin of true score / instances; equal values share a bin",
    )


def plot_true_scores(result: DecodirtResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """Figure 9: probability of a right answer with and without negative instances, on one dataset and on average."""
    kinds = {"probability": "all instances", "probability_without_negative": "without negative ones"}
    titles = list(kinds.values())
    players = set(shown.of(result.players))
    means = [row for row in result.mean_scores_frame().to_dicts() if row["respondent"] in players]
    order = [row["respondent"] for row in means]
    panels = {f"mean over {len(result.traits)} {words.datasets}": means}
    worst = result.most_negative()
    if worst is not None:
        scores = [row for row in result.scores_frame().to_dicts() if row["respondent"] in players]
        share = 100 * worst.statistics()["negative_share"]
        title = f"{shorten(worst.dataset)}: {share:.0f} % negative"
        panels = {title: [row for row in scores if row[c.DATASET] == worst.dataset], **panels}
    legend = {"title": None, "legend": {"orient": "bottom"}}
    charts: list[Chart] = []
    for title, rows in panels.items():
        points = [
            {"respondent": row["respondent"], "instances": words, "probability": row[key]}
            for row in rows
            for key, words in kinds.items()
            if row[key] is not None
        ]
        base = Chart(points).encode(
            y=names_down("respondent", order, labelExpr=short_labels(order), labels=not charts, grid=True),
            x=channel("probability:Q", title="probability of a right answer", scale={"domain": [0, 1]}),
        )
        joined = base.mark("line", color=FAINT, strokeWidth=1.5).encode(detail="respondent:N")
        dots = base.mark("point", filled=True, size=62, opacity=1).encode(
            color=channel("instances:N", scale={"domain": titles, "range": [LINE, BAR]}, **legend),
            shape=channel("instances:N", scale={"domain": titles, "range": ["circle", "diamond"]}, **legend),
            tooltip=tips("respondent instances", "probability"),
        )
        heading = panel_title(title, fontWeight="normal")
        charts.append((joined + dots).properties(width=300, height=20 * len(order), title=heading))
    return themed(
        hconcat(*charts, spacing=24),
        "True scores with and without negative discrimination",
        "True score over the number of instances; nobody should be above optimal or below pessimal",
    )


def set_titles(result: DecodirtResult) -> dict[str, str]:
    """By the name of each set of datasets, how the head of a column writes it."""
    names = [rating.set.name for rating in result.ratings]
    return {name: name.replace("_deviation", " dev.").replace("_", " ") for name in names}


def plot_ratings(result: DecodirtResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """Tables 5 to 9 as one picture: ratings on the six sets, with and without negative instances."""
    titles = set_titles(result)
    variants = {"all_instances": "all instances", "without_negative": "without negative instances"}
    rows = shown.rows(result.ratings_frame().to_dicts(), "classifier")
    for row in rows:
        row |= {"set": titles[row["set"]], "shown": f"{row['rating']:.0f}"}
    first = result.ratings[0].all
    order, count = shown.of(first.algorithms[a] for a in first.order()), len(first.algorithms)
    panels = []
    for place, (variant, title) in enumerate(variants.items()):
        chart = heat_map(
            [row for row in rows if row["instances"] == variant],
            names_above("set", list(titles.values())),
            names_down("classifier", order, labelExpr=short_labels(order), labels=place == 0),
            rank_fill(c.RANK, count, gradientLength=120, tickCount=min(count, 6)),
            tips("classifier set", f"rating deviation volatility {c.RANK}"),
            dark=f"datum.{c.RANK} <= {0.55 * count}",
        )
        heading = panel_title(title, fontWeight="normal")
        panels.append(chart.properties(width=50 * len(titles), height=22 * len(order), title=heading))
    return themed(
        hconcat(*panels, spacing=24),
        f"Glicko-2 ratings on six sets of {words.datasets}",
        "Games decided by true scores; colour is the rank within a set",
    )
