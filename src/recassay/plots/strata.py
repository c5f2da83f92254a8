"""Popularity strata in pictures: performance by threshold, the popularity of items, and the sensitivity of the order
(Jadidinejad et al. 2019, Figures 1 and 2).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from recassay.analysis.strata.result import DatasetStrata, StrataResult
from recassay.core import columns as c
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.plots.forms import line_legend, line_looks, names_down, panel_title, short_labels
from recassay.plots.grammar import Chart, Spec, channel, concat, condition, fixed, layer, marks, tips
from recassay.plots.shown import ALL, Shown
from recassay.plots.theme import COLOURS, FAINT, GRID, INK, colour_scale, shorten, themed

WIDTH, HEIGHT = 330, 230
COLUMNS = 3
SHARES = {"share_of_items": "items", "share_of_train": "training interactions", "share_of_test": "test interactions"}
SHARE_COLOURS = (INK, FAINT, "#c0392b")
MOST_LINES = 6
"""With more algorithms than this, those that matter are in colour, and the others grey and without bands."""

MOST_PANELS = 9
"""With more datasets than this, a panel each would be a wall; the rest is in the tables."""


def shown_datasets(result: StrataResult) -> list[DatasetStrata]:
    """The datasets that get a panel: all, or the `MOST_PANELS` whose order changes most, in their own order."""
    if len(result.datasets) <= MOST_PANELS:
        return list(result.datasets)
    change = {
        row[c.DATASET]: (row["proven"] or 0, row["distance"] if row["distance"] == row["distance"] else -1.0)
        for row in result.sensitivity_frame().to_dicts()
        if row["scope"] == "dataset"
    }
    names = sorted(change, key=lambda name: change[name], reverse=True)[:MOST_PANELS]
    return [dataset for dataset in result.datasets if dataset.dataset in names]


def plot_strata(result: StrataResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """Figure 2: each algorithm on T_P by the threshold P, with its band, one panel per dataset.

    A filled point is the best at its P or not significantly worse than it, a hollow one is significantly worse; a
    diamond marks a crossing that is significant on both sides. Each T_P is a sample, the last one too: the triangles at
    the right edge are the values on the whole test part, those of the study's table.
    """
    names = list(result.algorithms if len(result.algorithms) <= MOST_LINES else result.standing_out(MOST_LINES - 1))
    others = len(result.algorithms) - len(names)
    grey = f"grey: {others} more {words.algorithms}, which lead at neither end and move less; " if others else ""
    return themed(
        _panels(result, lambda dataset: _curves(result, dataset, names, shown)),
        f"Performance on the less popular items, {result.metric}",
        f"left: items that few have; right end: a sample of all items, triangles: the whole test part; "
        f"{100 * result.confidence:g} % bands over {words.users}; diamonds: crossings significant on both sides; {grey}"
        "filled: could be best there, hollow: significantly worse; heights by square root",
    )


def _curves(result: StrataResult, dataset: DatasetStrata, names: list[str], shown: Shown) -> Chart:
    """A panel: the algorithms of `names` in their colours, all others grey."""
    rows = dataset.curves_frame(result.alpha).to_dicts()
    x = _thresholds(dataset)
    looks = line_looks(c.ALGORITHM, names, line_legend(names, symbolOpacity=1, labelExpr=short_labels(names, 36)))
    colour = looks["color"]
    tip = tips(c.ALGORITHM, f"threshold {c.VALUE} low high {c.RANK} users")
    base = Chart([row for row in rows if row[c.ALGORITHM] in names]).encode(x=x, color=colour)
    root = {"type": "sqrt", "zero": True}
    y = channel(f"{c.VALUE}:Q", title=f"{result.metric} on T_P", scale=root)
    band = base.mark("area", opacity=0.16).encode(y=channel("low:Q", scale=root), y2="high:Q")
    lines = base.mark("line", strokeWidth=1.8).encode(y=y, **looks)
    points = base.mark("point", size=30, strokeWidth=1.4, opacity=1).encode(
        y=y,
        fill=condition(
            "datum.told_from_best",
            fixed("white"),
            channel(f"{c.ALGORITHM}:N", scale=colour_scale(names), sort=names, legend=None),
        ),
        tooltip=tip,
    )
    layers = [band, lines, points]
    grey = [row for row in shown.rows(rows) if row[c.ALGORITHM] not in names]
    if grey:
        behind = marks(grey, "line", strokeWidth=1, color=FAINT, opacity=0.45)
        layers.insert(0, behind.encode(x=x, y=y, detail=f"{c.ALGORITHM}:N", tooltip=tip))
    if dataset.whole is not None:
        whole = zip(dataset.algorithms, dataset.whole, strict=True)
        table = [{c.ALGORITHM: name, c.VALUE: float(value)} for name, value in whole if name in names]
        triangles = marks(table, "point", shape="triangle-left", size=45, filled=True, opacity=1)
        tip = tips(c.ALGORITHM, c.VALUE)
        layers.append(triangles.encode(x=fixed(WIDTH + 9), y=y, color=colour, tooltip=tip))
    marked = _marked_crossings(dataset, names)
    if marked:
        diamond = {"shape": "diamond", "size": 60, "color": INK, "fill": "white", "opacity": 1, "strokeWidth": 1.2}
        tip = tips("first second", "threshold p_below p_above")
        x = channel("x:Q", scale=_scale(dataset))
        layers.append(marks(marked, "point", **diamond).encode(x=x, y=y, tooltip=tip))
    return layer(*layers)


def _marked_crossings(dataset: DatasetStrata, names: list[str]) -> list[dict[str, Any]]:
    """The crossings of these algorithms that are significant on both sides, placed where the drawn lines meet."""
    rows = []
    for crossing in dataset.crossings:
        if not crossing.proven or crossing.first not in names or crossing.second not in names:
            continue
        first, second = (dataset.algorithms.index(name) for name in (crossing.first, crossing.second))
        below, above = dataset.thresholds.index(crossing.below), dataset.thresholds.index(crossing.above)
        ahead, behind = (
            [math.sqrt(max(float(dataset.value[row, a]), 0.0)) for row in (below, above)] for a in (first, second)
        )
        share = (ahead[0] - behind[0]) / (ahead[0] - behind[0] + behind[1] - ahead[1])
        if _by_logarithm(dataset):
            x = crossing.below ** (1 - share) * crossing.above**share
        else:
            x = (1 - share) * crossing.below + share * crossing.above
        rows.append({**asdict(crossing), "x": x, c.VALUE: ((1 - share) * ahead[0] + share * ahead[1]) ** 2})
    return rows


def plot_popularity_curve(result: StrataResult, words: Vocabulary = USUAL) -> Any:
    """Figure 1: the popularity Pop(i) of the items in descending order, both axes by logarithm; rules: thresholds."""
    style = {"scale": {"type": "log"}, "axis": {"format": "~s", "labelOverlap": True, "grid": False}}
    x = channel(f"{c.RANK}:Q", title="items, the most popular first", **style)
    y = channel("popularity:Q", title=f"Pop(i), {words.users} in training", **style)
    shares = ["threshold", "items", "share_of_items", "share_of_train"]

    def panel(dataset: DatasetStrata) -> Chart:
        curve = marks(dataset.curve.to_dicts(), "line", color=INK, strokeWidth=2)
        rows = dataset.shares.select(shares).to_dicts()
        rules = marks(rows, "rule", color=FAINT, strokeDash=[3, 3], strokeWidth=0.9)
        return rules.encode(y="threshold:Q", tooltip=tips("", " ".join(shares))) + curve.encode(
            x=x, y=y, tooltip=tips("", f"{c.RANK} popularity")
        )

    dashed = "dashed: the thresholds P; items below a rule are in its T_P"
    return themed(_panels(result, panel), "Popularity of the items", dashed)


def plot_shares(result: StrataResult, words: Vocabulary = USUAL) -> Any:
    """The shares of items and interactions below each threshold: how little of the catalogue carries the data."""
    titles = list(SHARES.values())
    scale = {"domain": titles, "range": list(SHARE_COLOURS)}

    def panel(dataset: DatasetStrata) -> Chart:
        rows = [
            {"threshold": row["threshold"], "what": title, "share": row[name]}
            for row in dataset.shares.to_dicts()
            for name, title in SHARES.items()
        ]
        return marks(rows, "line", strokeWidth=2, point={"size": 28}).encode(
            x=_thresholds(dataset),
            y=channel("share:Q", title="share below P", scale={"domain": [0, 1]}, axis={"format": "%"}),
            color=channel("what:N", sort=titles, scale=scale, legend={"title": None}),
            tooltip=["what:N", "threshold:Q", channel("share:Q", format=".2%")],
        )

    return themed(_panels(result, panel), "What lies below each threshold", "items, and the interactions with them")


def plot_sensitivity(result: StrataResult, words: Vocabulary = USUAL) -> Any:
    """Kendall distance between the orders at the lowest and the highest threshold, for each dataset and over all.

    A point right of its bar is a distance that chance alone seldom gives.
    """
    rows = [row for row in result.sensitivity_frame().to_dicts() if row["distance"] == row["distance"]]
    for row in rows:
        sure = "" if row["proven"] is None else f"{row['proven']} of {row['flipped']} flips proven"
        row.update(label=shorten(row[c.DATASET], 32), note=sure, kind="dataset" if row["scope"] == "dataset" else "all")
    order = [row["label"] for row in rows]
    scale = {"domain": [0, 1]}
    title = "Kendall distance between the orders (0: the same, 1: reversed)"
    colour = channel("kind:N", scale={"domain": ["dataset", "all"], "range": [COLOURS[0], INK]}, legend=None)
    base = Chart(rows).encode(y=names_down("label", order))
    tip = tips(c.DATASET, "distance chance chance_low chance_high pairs observed flipped proven")
    grid = {"gridColor": GRID, "values": [0, 0.2, 0.4, 0.6, 0.8, 1]}
    spans = base.mark("rule", strokeWidth=9, opacity=0.3, color=FAINT).encode(
        x=channel("chance_low:Q", scale=scale, title=title, axis=grid), x2="chance_high:Q"
    )
    dots = base.mark("circle", size=70, opacity=1).encode(
        x=channel("distance:Q", scale=scale), color=colour, tooltip=tip
    )
    notes = base.mark("text", align="left", dx=6, fontSize=10.5, color=FAINT).encode(x={"datum": 1.0}, text="note:N")
    return themed(
        layer(spans, dots, notes).properties(width=420, height=24 * len(rows)),
        f"Popularity sensitivity of the ranking, {result.metric}",
        f"grey: the middle {100 * result.confidence:g} % of the distances between random halves of the {words.users} "
        "at one P",
    )


def _panels(result: StrataResult, draw: Callable[[DatasetStrata], Chart]) -> Chart:
    """A panel for each dataset that is shown."""
    panels = []
    for dataset in shown_datasets(result):
        title = panel_title(shorten(dataset.dataset, 40), fontSize=12, offset=6)
        panels.append(draw(dataset).properties(width=WIDTH, height=HEIGHT, title=title))
    return concat(*panels, columns=COLUMNS, spacing=26).resolve(scale={"y": "independent", "x": "independent"})


def _scale(dataset: DatasetStrata) -> Spec:
    domain = [dataset.thresholds[0], dataset.thresholds[-1]]
    return {"type": "log" if _by_logarithm(dataset) else "linear", "domain": domain, "nice": False, "padding": 6}


def _by_logarithm(dataset: DatasetStrata) -> bool:
    """Whether the thresholds span more than a factor of ten."""
    return dataset.thresholds[-1] > 10 * dataset.thresholds[0]


def _thresholds(dataset: DatasetStrata) -> Spec:
    """The axis of thresholds, each with its number where there is room."""
    axis = {"format": ",d", "labelOverlap": "greedy", "labelSeparation": 5, "values": list(dataset.thresholds),
            "grid": False}  # fmt: skip
    return channel("threshold:Q", title="popularity threshold P", scale=_scale(dataset), axis=axis)
