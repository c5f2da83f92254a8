"""Logistic IRT: item characteristic curves, and abilities with their intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from recassay.analysis.logistic_irt.result import LogisticResult
from recassay.plots.forms import intervals, names_down, short_labels
from recassay.plots.grammar import Chart, channel, layer
from recassay.plots.theme import COLOURS, FAINT, INK, inline, themed

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
    band = Chart(inline([{"low": float(ends.min()), "high": float(ends.max())}])).mark("rect",
        color=FAINT, opacity=0.12
    ).encode(x="low:Q", x2="high:Q")  # fmt: skip
    lines = (
        Chart(inline(rows))
        .mark("line", strokeWidth=1.4, opacity=0.65)
        .encode(
            x=channel("ability:Q", title="ability", scale={"domain": [-4, 4]}),
            y=channel("probability:Q", title="probability of a right answer", scale={"domain": [0, 1]}),
            detail="item:N",
            color=channel(
                "kind:N",
                title=None,
                scale={"domain": ["positive discrimination", "negative discrimination"], "range": list(COLOURS[:2])},
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
    base = Chart(inline(rows)).encode(
        y=names_down("respondent", names, labelExpr=short_labels(names, 28)),
        tooltip=["respondent:N", "ability:Q", "ability_low:Q", "ability_high:Q", "true_score:Q", "accuracy:Q"],
    )
    marks = intervals(
        base, "ability", "ability_low", "ability_high", scale={}, title="ability", size=50,
        line={"color": COLOURS[0]}, dot={"color": INK},
    )  # fmt: skip
    return themed(
        layer(*marks).properties(width=480, height=18 * len(names)),
        f"Abilities, {result.model.upper()}",
        f"{len(names)} of {len(result.respondents)} respondents; {100 * result.confidence:.3g} % intervals",
    )
