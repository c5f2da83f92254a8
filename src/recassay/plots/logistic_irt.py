"""Logistic IRT: item characteristic curves, and abilities with their intervals."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from recassay.analysis.logistic_irt.result import LogisticResult
from recassay.plots.theme import COLOURS, FAINT, INK, inline, shorten, themed

MOST_CURVES = 60
MOST_NAMES = 60


def plot_item_curves(result: LogisticResult, *, most: int = MOST_CURVES) -> Any:
    """The probability of a right answer against ability (Cardoso et al., Figure 1); negative discrimination stands out.

    Of more than `most` items an even selection over their difficulties is drawn. The shaded range is that of the
    estimated abilities.
    """
    varied = np.flatnonzero(~result.constant)
    order = varied[np.argsort(result.items.difficulty[varied], kind="stable")]
    drawn = order if len(order) <= most else order[np.linspace(0, len(order) - 1, most).round().astype(int)]
    theta = np.linspace(-4, 4, 81)
    curves = result.curves(theta, drawn)
    kind = np.where(result.items.slope[drawn] < 0, "negative discrimination", "positive discrimination")
    rows = [
        {"item": result.items.names[i], "ability": float(t), "probability": float(curves[q, k]), "kind": str(kind[k])}
        for k, i in enumerate(drawn)
        for q, t in enumerate(theta)
    ]
    ends = np.clip(result.abilities.estimate, -4, 4)
    band = alt.Chart(inline([{"low": float(ends.min()), "high": float(ends.max())}])).mark_rect(
        color=FAINT, opacity=0.12
    ).encode(x="low:Q", x2="high:Q")  # fmt: skip
    lines = (
        alt.Chart(inline(rows))
        .mark_line(strokeWidth=1.4, opacity=0.65)
        .encode(
            x=alt.X("ability:Q", title="ability", scale=alt.Scale(domain=[-4, 4])),
            y=alt.Y("probability:Q", title="probability of a right answer", scale=alt.Scale(domain=[0, 1])),
            detail="item:N",
            color=alt.Color(
                "kind:N",
                title=None,
                scale=alt.Scale(domain=["positive discrimination", "negative discrimination"], range=list(COLOURS[:2])),
            ),
            tooltip=["item:N", "ability:Q", "probability:Q"],
        )
    )
    shown = f"{len(drawn)} of {len(result.items.names)} items" if len(drawn) < len(result.items.names) else (
        f"{len(drawn)} items")  # fmt: skip
    return themed(
        (band + lines).properties(width=480, height=320),
        f"Item characteristic curves, {result.model.upper()}",
        f"{shown}; shaded: the range of estimated abilities",
    )


def plot_abilities(result: LogisticResult, *, most: int = MOST_NAMES) -> Any:
    """Abilities with intervals, ablest first; of more than `most` respondents an even selection is drawn."""
    rows = result.to_frame().to_dicts()
    if len(rows) > most:
        rows = [rows[int(i)] for i in np.linspace(0, len(rows) - 1, most).round()]
    names = [row["respondent"] for row in rows]
    labels = ", ".join(f"'{_quoted(n)}': '{_quoted(shorten(n))}'" for n in names)
    base = alt.Chart(inline(rows)).encode(
        y=alt.Y("respondent:N", sort=names, title=None,
                axis=alt.Axis(domain=False, ticks=False, labelExpr="({" + labels + "})[datum.label]"))
    )  # fmt: skip
    tips = ["respondent:N", "ability:Q", "ability_low:Q", "ability_high:Q", "true_score:Q", "accuracy:Q"]
    bars = base.mark_rule(color=COLOURS[0], strokeWidth=2).encode(
        x=alt.X("ability_low:Q", title="ability"), x2="ability_high:Q"
    )  # fmt: skip
    points = base.mark_point(filled=True, size=50, color=INK, opacity=1).encode(x="ability:Q", tooltip=tips)
    return themed(
        (bars + points).properties(width=480, height=18 * len(names)),
        f"Abilities, {result.model.upper()}",
        f"{len(names)} of {len(result.respondents)} respondents; {100 * result.confidence:.3g} % intervals",
    )


def _quoted(name: str) -> str:
    return name.replace("\\", "\\\\").replace("'", "\\'")
