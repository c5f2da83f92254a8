"""Characteristics of datasets and performance on them (KDD'24, Figure 7)."""

from __future__ import annotations

from typing import Any

import altair as alt

from recassay.analysis.associations import AVERAGE, AssociationsResult
from recassay.core import columns as c
from recassay.plots.theme import DIVERGING, FAINT, inline, themed

MEAN_ROWS = {"pearson": "mean, Pearson", "spearman": "mean, Spearman"}


def plot_associations(result: AssociationsResult) -> Any:
    """Algorithms down, characteristics across: Spearman's correlation over datasets; above, the two mean rows.

    A number stands only where it survives the correction for all that were tried.
    """
    rows = []
    for row in result.to_frame().to_dicts():
        mean = row[c.ALGORITHM] == AVERAGE
        if row["measure"] == "mutual_information" or (row["measure"] == "pearson" and not mean):
            continue
        sure = row["p_adjusted"] < result.alpha
        label = MEAN_ROWS[row["measure"]] if mean else row[c.ALGORITHM]
        rows.append({**row, "row": label, "shown": f"{row[c.VALUE]:.2f}" if sure or mean else "", "sure": sure})
    order = [*MEAN_ROWS.values(), *(name for name in result.rows if name != AVERAGE)]
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("characteristic:N", sort=list(result.characteristics), title=None,
                axis=alt.Axis(orient="top", labelAngle=-40, domain=False, ticks=False)),
        y=alt.Y("row:N", sort=order, title=None, axis=alt.Axis(domain=False, ticks=False)),
        tooltip=[f"{c.ALGORITHM}:N", "characteristic:N", "measure:N", f"{c.VALUE}:Q", "low:Q", "high:Q", "p:Q",
                 "p_adjusted:Q"],
    )  # fmt: skip
    cells = base.mark_rect(stroke="white", strokeWidth=1.5).encode(
        color=alt.Color(
            f"{c.VALUE}:Q",
            scale=alt.Scale(scheme=DIVERGING, domain=[-1, 1], reverse=True),
            legend=alt.Legend(title="correlation", gradientLength=min(140, 18 * len(order))),
        )
    )
    numbers = base.mark_text(fontSize=9.5).encode(
        text="shown:N",
        color=alt.condition(f"abs(datum.{c.VALUE}) > 0.6", alt.value("white"), alt.value("#1b1f24")),
        opacity=alt.condition("datum.sure", alt.value(1.0), alt.value(0.55)),
    )
    chart = (cells + numbers).properties(width=38 * len(result.characteristics), height=21 * len(order))
    return themed(
        chart,
        f"Characteristics and {result.metric}",
        f"Spearman over {result.n_datasets} datasets; algorithms show a number where p < {result.alpha:g} after "
        "correction for all cells",
    )


def plot_mutual_information(result: AssociationsResult) -> Any:
    """Mean mutual information of each characteristic (dot) beside what shuffled datasets give (bar)."""
    rows = [
        row
        for row in result.to_frame().to_dicts()
        if row["measure"] == "mutual_information" and row[c.ALGORITHM] == AVERAGE
    ]
    order = [row["characteristic"] for row in sorted(rows, key=lambda row: -row[c.VALUE])]
    base = alt.Chart(inline(rows)).encode(
        y=alt.Y("characteristic:N", sort=order, title=None, axis=alt.Axis(domain=False, ticks=False)),
        tooltip=["characteristic:N", f"{c.VALUE}:Q", "chance:Q", "p:Q", "p_adjusted:Q"],
    )
    by_chance = base.mark_bar(color="#d5dae0", height=9).encode(x=alt.X("chance:Q", title="nats"))
    dots = base.mark_circle(size=60, opacity=1).encode(
        x=f"{c.VALUE}:Q",
        color=alt.condition(f"datum.p_adjusted < {result.alpha}", alt.value("#0072b2"), alt.value(FAINT)),
    )
    chart = (by_chance + dots).properties(width=420, height=17 * len(order))
    return themed(
        chart,
        f"Mutual information with {result.metric}",
        "Mean over algorithms; bar: the same with datasets shuffled; blue: beyond chance after correction",
    )
