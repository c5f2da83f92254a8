"""Agreement between metrics (KDD'24, Figure 2)."""

from __future__ import annotations

from typing import Any

import altair as alt

from recassay.analysis.correlations import CorrelationsResult
from recassay.core import columns as c
from recassay.plots.theme import DIVERGING, inline, themed


def plot_correlations(result: CorrelationsResult) -> Any:
    """Spearman's correlation between every two metrics, averaged over datasets."""
    rows = [
        {**row, "shown": f"{row['spearman']:.2f}".replace("-0.00", "0.00")}
        for row in result.to_frame().to_dicts()
        if row["datasets"]
    ]
    order = list(result.metrics)
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("other:N", sort=order, title=None,
                axis=alt.Axis(orient="top", labelAngle=-35, domain=False, ticks=False)),
        y=alt.Y(f"{c.METRIC}:N", sort=order, title=None, axis=alt.Axis(domain=False, ticks=False)),
        tooltip=[f"{c.METRIC}:N", "other:N", "spearman:Q", "datasets:Q"],
    )  # fmt: skip
    cells = base.mark_rect(stroke="white", strokeWidth=1.5).encode(
        color=alt.Color(
            "spearman:Q",
            scale=alt.Scale(scheme=DIVERGING, domain=[-1, 1], reverse=True),
            legend=alt.Legend(title="Spearman's rho", gradientLength=140),
        )
    )
    numbers = base.mark_text(fontSize=10.5).encode(
        text="shown:N",
        color=alt.condition("abs(datum.spearman) > 0.6", alt.value("white"), alt.value("#1b1f24")),
    )
    side = 46 * len(order)
    chart = (cells + numbers).properties(width=side, height=0.62 * side)
    return themed(chart, "Do the metrics agree?", "Spearman's correlation over algorithms, averaged over datasets")
