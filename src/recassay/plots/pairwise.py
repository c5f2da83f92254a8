"""Every pair of algorithms: what the tests say of it, as a matrix."""

from __future__ import annotations

from typing import Any

import altair as alt

from recassay.analysis.compare import CompareResult
from recassay.plots.theme import INK, inline, shorten, themed

CELL = 30
STANDINGS = {"row better": "#0072b2", "not told apart": "#e4e7eb", "row worse": "#d55e00"}


def plot_pairwise(result: CompareResult) -> Any:
    """Above the diagonal Holm's p of Wilcoxon's test, below it the Bayesian probability that the row is better."""
    rows: list[dict[str, Any]] = []
    for p in result.pairs:
        standing = "row better" if p.significant and p.rank_biserial >= 0 else "not told apart"
        if p.significant and p.rank_biserial < 0:
            standing = "row worse"
        rows.append({"row": p.left, "column": p.right, "standing": standing, "shown": _short(p.p_holm),
                     "value": p.p_holm, "test": "Wilcoxon-Holm p",
                     "won-tied-lost": f"{p.wins}-{p.ties}-{p.losses}"})  # fmt: skip
    for b in result.bayesian:
        standing = "not told apart"
        if max(b.p_left, b.p_right) > result.credibility:
            standing = "row better" if b.p_right > b.p_left else "row worse"
        rows.append({"row": b.right, "column": b.left, "standing": standing, "shown": _short(b.p_right),
                     "value": b.p_right, "test": "Bayesian P(row better)",
                     "won-tied-lost": ""})  # fmt: skip
    order = list(result.algorithms)
    small = len(order) > 16
    cell = 22 if small else CELL
    names = {"sort": order, "title": None}
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("column:N", axis=alt.Axis(orient="top", labelAngle=-45, domain=False, ticks=False), **names),
        y=alt.Y("row:N", axis=alt.Axis(domain=False, ticks=False), **names),
        tooltip=["row:N", "column:N", "test:N", "value:Q", "standing:N", "won-tied-lost:N"],
    )
    cells = base.mark_rect(stroke="white", strokeWidth=1.5).encode(
        color=alt.Color(
            "standing:N",
            scale=alt.Scale(domain=list(STANDINGS), range=list(STANDINGS.values())),
            legend=alt.Legend(title=None, symbolType="square"),
        )
    )
    numbers = base.mark_text(fontSize=7.5 if small else 9.5).encode(
        text="shown:N", color=alt.condition("datum.standing == 'row better'", alt.value("white"), alt.value(INK))
    )
    chart = (cells + numbers).properties(width=cell * len(order), height=cell * len(order))
    return themed(
        chart,
        f"Pair by pair, {shorten(result.metric)}",
        f"Above the diagonal: Wilcoxon-Holm p at {result.alpha:g}; below: Bayesian probability that the row is better",
    )


def _short(value: float) -> str:
    """Two decimals without the leading zero, so that thirty fit side by side."""
    text = f"{value:.2f}"
    if text == "1.00":
        return "1" if value == 1 else ">.99"
    return "<.01" if text == "0.00" else text.removeprefix("0")
