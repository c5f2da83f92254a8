"""Dolan-Moré performance profiles (KDD'24, Figure 3)."""

from __future__ import annotations

from typing import Any

import altair as alt

from recassay.analysis.profiles import ProfilesResult
from recassay.core import columns as c
from recassay.plots.theme import colour_scale, dash_scale, inline, themed


def plot_profiles(result: ProfilesResult) -> Any:
    """Share of datasets on which each algorithm is within a factor beta of the best; the legend carries the areas."""
    order = [result.algorithms[a] for a in result.order()]
    auc = {name: result.auc[a] for a, name in enumerate(result.algorithms)}
    rows = [{**row, "auc": round(float(auc[row[c.ALGORITHM]]), 4)} for row in result.to_frame().to_dicts()]
    areas = ", ".join(f"'{_quoted(name)}': '{auc[name]:.3f}'" for name in order)
    legend = alt.Legend(
        title="area share, algorithm", columns=2 if len(order) > 18 else 1,
        labelExpr="({" + areas + "})[datum.label] + '  ' + datum.label", symbolStrokeWidth=3,
    )  # fmt: skip
    chart = (
        alt.Chart(inline(rows))
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X("beta:Q", title="factor beta from the best", scale=alt.Scale(domain=[1, result.beta_max])),
            y=alt.Y("share:Q", title="share of datasets within it", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color(f"{c.ALGORITHM}:N", scale=colour_scale(order), sort=order, legend=legend),
            strokeDash=alt.StrokeDash(f"{c.ALGORITHM}:N", scale=dash_scale(order), sort=order, legend=legend),
            tooltip=[f"{c.ALGORITHM}:N", "beta:Q", "share:Q", "auc:Q"],
        )
        .properties(width=480, height=max(320, 11 * len(order)))
    )
    return themed(
        chart,
        f"Performance profiles, {result.metric}",
        f"{result.n_datasets} datasets; higher and further left is better",
    )


def _quoted(name: str) -> str:
    return name.replace("\\", "\\\\").replace("'", "\\'")
