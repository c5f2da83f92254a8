"""The critical-difference diagram (Demšar 2006; KDD'24, Figure 4)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from recassay.analysis.compare.result import CompareResult
from recassay.core.choices import SHOWN_OF_MANY, BarsRule
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import count_of, listing
from recassay.plots.forms import heat_map, names_above, names_down
from recassay.plots.grammar import Chart, Row, channel, layer, marks, tips
from recassay.plots.shown import ALL, Shown
from recassay.plots.theme import COLOURS, FAINT, INK, shorten, themed

WIDTH = 560


TOP = 46
"""Pixels above the axis of ranks."""


ROW = 17
"""Pixels between two labels: more than the height of their letters, so that they never touch."""


BAR = 9
"""Pixels between two bars."""


TICK = 18
"""Pixels that the number of a rank needs; where there are fewer, some are left out."""


@dataclass(frozen=True, slots=True)
class DiagramLayout:
    """Where everything stands: x in ranks, y in pixels from the top."""

    height: int
    end: int
    """The rank at which the line ends: the number of algorithms, or that of the last one shown."""
    labels: list[Row]
    elbows: list[Row]
    bars: list[Row]


def lay_out(result: CompareResult, shown: Shown = ALL) -> DiagramLayout:
    """Each label on a row of its own, the better half on the left; bars in as few rows as they fit."""
    k = len(result.algorithms)
    rank = dict(zip(result.algorithms, result.mean_ranks, strict=True))
    shown_names = shown.of(rank)
    groups = tuple(group for group in result.drawn if group[0] in shown_names)
    end = k if len(shown_names) == k else min(k, math.ceil(max(rank[name] for name in shown_names)) + 1)
    bars = _bars(groups, rank, TOP + BAR, end)
    first = max((b["y"] for b in bars), default=TOP) + 2 * BAR
    left = (len(shown_names) + 1) // 2
    margin = 0.06 * (end - 1)
    different = {p.other for p in result.control.pairs if p.status in ("better", "worse")} if result.control else set()
    labels, elbows = [], []
    for i, name in enumerate(shown_names):
        mean, better = rank[name], i < left
        level = first + ROW * (i if better else len(shown_names) - 1 - i)
        edge = 1 - margin if better else end + margin
        elbows += [
            {"x": mean, "x2": mean, "y": TOP, "y2": level},
            {"x": mean, "x2": edge, "y": level, "y2": level},
        ]
        starred = shorten(name) + ("*" if name in different else "")
        text = f"{starred}  {mean:.2f}" if better else f"{mean:.2f}  {starred}"
        side = "left" if better else "right"
        who = "control" if result.control is not None and name == result.control.name else "other"
        labels.append({"x": edge, "y": level, "label": text, "algorithm": name, "mean_rank": mean, "side": side,
                       "who": who})  # fmt: skip
    return DiagramLayout(first + ROW * left, end, labels, elbows, bars)


def _bars(groups: tuple[tuple[str, ...], ...], rank: dict[str, float], start: int, end: int) -> list[Row]:
    width = end - 1
    ends: list[float] = []
    bars = []
    for names in groups:
        low, high = rank[names[0]] - 0.012 * width, min(rank[names[-1]], end) + 0.012 * width
        row = next((r for r, last in enumerate(ends) if low > last + 0.03 * width), len(ends))
        ends[row : row + 1] = [high]
        bars.append({"x": low, "x2": high, "y": start + BAR * row, "group": listing(names, most=SHOWN_OF_MANY)})
    return bars


def plot_critical_difference(result: CompareResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """Mean ranks on a line, best on the left; a bar joins algorithms of which no pair differs.

    The bars are those of one rule, `result.bars`. Under Nemenyi's the ruler on top is its critical difference; the
    others have none, since they do not compare mean ranks. Bars of the Bayesian rule, which is not corrected for the
    number of pairs, are thin and dashed. A control stands out, and those that differ from it have a star.
    """
    layout = lay_out(result, shown)
    end = layout.end
    x = channel("x:Q", scale={"domain": [1, end], "nice": False}, axis=None)
    y = channel("y:Q", scale={"domain": [0, layout.height], "reverse": True, "nice": False}, axis=None)

    def rules(rows: list[Row], **style: Any) -> Chart:
        ends = {end: f"{end}:Q" for end in ("x2", "y2") if end in rows[0]}
        tip = {"tooltip": "group:N"} if "group" in rows[0] else {}
        return marks(rows, "rule", **style).encode(x=x, y=y, **ends, **tip)

    def texts(rows: list[Row], **style: Any) -> Chart:
        tip = {"tooltip": tips("algorithm", "mean_rank")} if "algorithm" in rows[0] else {}
        return marks(rows, "text", **style).encode(x=x, y=y, text="label:N", **tip)

    ticks = [{"x": r, "y": TOP, "y2": TOP - 6, "label": str(r)} for r in range(1, end + 1)]
    not_crowded = f"(datum.x - 1) % ceil({TICK * (end - 1)} / width) == 0"
    layers = [
        rules(layout.elbows, color=FAINT, strokeWidth=1),
        rules([{"x": 1, "x2": end, "y": TOP}], color=INK, strokeWidth=1.2),
        rules(ticks, color=INK, strokeWidth=1.2),
        texts(ticks, dy=-14, fontSize=11, color=INK).transform_filter(not_crowded),
    ]
    if result.bars == "nemenyi":
        cd = result.nemenyi_cd
        ruler: list[Row] = [{"x": 1, "x2": min(1 + cd, end), "y": 10, "label": f"critical difference {cd:.2f}"}]
        layers.append(rules(ruler, color=INK, strokeWidth=1.5))
        layers.append(texts(ruler, align="left", dy=-8, fontSize=10.5, color=FAINT))
    for side, place in (("left", {"align": "right", "dx": -5}), ("right", {"align": "left", "dx": 5})):
        for who, style in LABEL_STYLES.items():
            rows = [row for row in layout.labels if (row["side"], row["who"]) == (side, who)]
            if rows:
                layers.append(texts(rows, fontSize=12, baseline="middle", **style, **place))
    if layout.bars:
        layers.append(rules(layout.bars, **(UNCORRECTED if result.bars == "bayesian" else CORRECTED)))
    return themed(
        layer(*layers).properties(width=WIDTH, height=layout.height),
        f"Critical difference, {result.metric}",
        f"Mean rank over {count_of(len(result.datasets), words.dataset)}"
        + (f"; a bar: not separated by {RULES[result.bars]}" if result.drawn else "")
        + (f"; *: shown to differ from {shorten(result.control.name)}, the control" if result.control else ""),
    )


LABEL_STYLES: dict[str, dict[str, Any]] = {
    "other": {"color": INK},
    "control": {"color": COLOURS[0], "fontWeight": "bold"},
}
CORRECTED = {"color": INK, "strokeWidth": 4.5, "strokeCap": "round"}
UNCORRECTED = {"color": FAINT, "strokeWidth": 2.2, "strokeDash": [5, 3]}
RULES: dict[BarsRule, str] = {
    "sign-flips": "the test of all pairs (flipped signs)",
    "wilcoxon-holm": "Wilcoxon-Holm",
    "nemenyi": "Nemenyi's test",
    "bayesian": "the Bayesian test, each pair by itself: not corrected",
}


CELL = 30


UNCOLOURED = "posterior, not corrected"
STANDINGS = {"row better": "#0072b2", "equivalent": "#9fc8b4", "not decided": "#e4e7eb", UNCOLOURED: "#f3f5f7"}


def plot_pairwise(result: CompareResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """Above the diagonal the status and adjusted p of each pair, below it the posterior that the row is better."""
    rows: list[dict[str, Any]] = []
    for p in result.judgement.pairs:
        standing = {"better": "row better", "equivalent": "equivalent"}.get(p.status, "not decided")
        rows.append({"row": p.a, "column": p.b, "standing": standing, "shown": _short(p.p),
                     "value": p.p, "test": f"adjusted p, {RULES[result.judgement.test]}",
                     "won-tied-lost": f"{p.wins}-{p.ties}-{p.losses}"})  # fmt: skip
    for b in result.bayesian:
        rows.append({"row": b.right, "column": b.left, "standing": UNCOLOURED, "shown": _short(b.p_right),
                     "value": b.p_right, "test": "posterior P(row better), not corrected",
                     "won-tied-lost": ""})  # fmt: skip
    order = shown.of(result.algorithms)
    small = len(order) > 16
    cell = 22 if small else CELL
    fill = channel(
        "standing:N",
        scale={"domain": list(STANDINGS), "range": list(STANDINGS.values())},
        legend={"title": None, "symbolType": "square"},
    )
    chart = heat_map(
        shown.rows(rows, "row", "column"),
        names_above("column", order, angle=-45),
        names_down("row", order),
        fill,
        ["row:N", "column:N", "test:N", "value:Q", "standing:N", "won-tied-lost:N"],
        dark="datum.standing == 'row better'",
        text_size=7.5 if small else 9.5,
    ).properties(width=cell * len(order), height=cell * len(order))
    return themed(
        chart,
        f"Pair by pair, {shorten(result.metric)}",
        f"Above the diagonal: p of all pairs, level {result.alpha:g}; below: posterior of the row, not corrected",
    )


def _short(value: float) -> str:
    """Two decimals without the leading zero, so that thirty fit side by side."""
    text = f"{value:.2f}"
    if text == "1.00":
        return "1" if value == 1 else ">.99"
    return "<.01" if text == "0.00" else text.removeprefix("0")
