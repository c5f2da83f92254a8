"""How far every algorithm is behind the best on the users of each dataset."""

from __future__ import annotations

from typing import Any

from recassay.analysis.users.result import UsersResult
from recassay.core import columns as c
from recassay.plots.grammar import Chart, channel, concat, condition, fixed
from recassay.plots.theme import FAINT, colour_scale, inline, shorten, themed

MOST_PANELS = 24
"""Datasets beyond these are in the table alone."""


def plot_user_differences(result: UsersResult) -> Any:
    """A panel for each dataset: the differences to its best algorithm with their intervals over users."""
    shown = result.datasets[:MOST_PANELS]
    columns = min(3, len(shown))
    panels = []
    for one in shown:
        first = one.algorithms[0]
        rows = [
            {c.ALGORITHM: p.right, "behind": -p.difference, "low": -p.high, "high": -p.low,
             "worse": "shown to be worse" if p.significant else "not shown", "p_holm": p.p_holm}
            for p in one.pairs
            if p.left == first
        ]  # fmt: skip
        order = [row[c.ALGORITHM] for row in rows]
        colour = channel(f"{c.ALGORITHM}:N", scale=colour_scale(list(result.algorithms)), legend=None)
        y = channel(
            f"{c.ALGORITHM}:N", sort=order, title=None, axis={"domain": False, "ticks": False, "labelLimit": 120}
        )
        base = Chart(inline(rows)).encode(
            y=y, color=colour,
            tooltip=[f"{c.ALGORITHM}:N", "behind:Q", "low:Q", "high:Q", "p_holm:Q", "worse:N"],
        )  # fmt: skip
        spans = base.mark("rule", strokeWidth=2).encode(x=channel("low:Q", title=None), x2="high:Q")
        dots = base.mark("point", size=45, opacity=1, strokeWidth=1.6).encode(
            x=channel("behind:Q", axis={"tickCount": 4}),
            fill=condition("datum.worse == 'shown to be worse'", colour, fixed("white")),
        )
        zero = Chart(inline([{"zero": 0}])).mark("rule", color=FAINT, strokeDash=[2, 3]).encode(x="zero:Q")
        name = f"{shorten(one.dataset, 24)}: behind {shorten(first, 18)}"
        title = {"text": name, "fontSize": 11, "fontWeight": "normal", "color": "#1b1f24"}
        panels.append((zero + spans + dots).properties(width=210, height=16 * len(order), title=title))
    chart = concat(*panels, columns=columns, spacing=16)
    return themed(
        chart,
        f"{result.metric}: distance to the best, over users",
        f"{100 * result.confidence:g} % intervals; filled: shown to be worse than the best (sign-flip test, Holm)",
    )
