"""Datasets on their principal components, and the algorithms' ranks by cluster (KDD'24, Figure 8)."""

from __future__ import annotations

from typing import Any

from recassay.analysis.clusters.result import ClustersResult
from recassay.core import columns as c
from recassay.plots.beta_irt import label_rows
from recassay.plots.forms import heat_map, names_above, names_down, rank_fill
from recassay.plots.grammar import Chart, Spec, channel, condition, fixed, layer
from recassay.plots.theme import COLOURS, FAINT, INK, inline, shorten, themed

WIDTH = 470
ROW = 13


def _colour(result: ClustersResult) -> Spec:
    names = [str(k + 1) for k in range(len(result.sizes))]
    scale = {"domain": names, "range": [COLOURS[k % len(COLOURS)] for k in range(len(names))]}
    return channel("cluster:N", scale=scale, legend={"title": "cluster", "orient": "left"})


def plot_clusters(result: ClustersResult) -> Any:
    """The first two components; each name on a row of its own at the right, outliers hollow, central ones larger."""
    points = result.space.points
    across = points[:, 0]
    up = points[:, 1] if points.shape[1] > 1 else 0 * across
    n = len(across)
    height = max(320, ROW * (n + 2))
    low, high = float(up.min()), float(up.max())
    span = (high - low) or 1.0
    low, high = low - 0.04 * span, high + 0.04 * span
    unit = (high - low) / height
    at = label_rows(up.tolist(), ROW * unit)
    over = max(0.0, max(at) - high)
    at = [row - over for row in at]
    under = min(0.0, min(at) - low)
    edge = float(across.max()) + 0.05 * float(across.max() - across.min() or 1.0)
    rows = [
        {
            c.DATASET: name,
            "label": shorten(name, 26),
            "cluster": str(result.labels[d]),
            "x": float(across[d]),
            "y": float(up[d]),
            "edge": edge,
            "row": at[d],
            "outlier": bool(result.space.outlier[d]),
            "central": name in result.central,
        }
        for d, name in enumerate(result.space.datasets)
    ]
    shares = [*(f"{100 * share:.0f} %" for share in result.space.explained), "0 %"]
    x_scale = {"domain": [float(across.min()) - 0.3, edge], "nice": False, "zero": False}
    y_scale = {"domain": [low + under, high], "nice": False, "zero": False}
    x = channel("x:Q", title=f"component 1 ({shares[0]} of the variance)", scale=x_scale)
    y = channel("y:Q", title=f"component 2 ({shares[1]})", scale=y_scale)
    base, colour = Chart(inline(rows)), _colour(result)
    tip = [f"{c.DATASET}:N", "cluster:N", "outlier:N", "central:N", "x:Q", "y:Q"]
    chart = layer(
        base.mark("rule", strokeWidth=0.6, strokeDash=[2, 2], color=FAINT).encode(x=x, y=y, x2="edge:Q", y2="row:Q"),
        base.mark("point", opacity=1, strokeWidth=1.8).encode(
            x=x,
            y=y,
            color=colour,
            fill=condition("datum.outlier", fixed("white"), colour),
            size=condition("datum.central", fixed(150), fixed(55)),
            tooltip=tip,
        ),
        base.mark("text", align="left", dx=4, fontSize=10.5, color=INK).encode(
            x="edge:Q", y=channel("row:Q", scale=y_scale), text="label:N"
        ),
    ).properties(width=WIDTH, height=height)
    return themed(
        chart,
        f"{len(result.sizes)} clusters of {n} datasets",
        "By characteristics; large: nearest to the centre; hollow: set aside as an outlier before clustering",
    )


def plot_cluster_ranks(result: ClustersResult) -> Any:
    """Mean rank of every algorithm in every cluster, its geometric mean in brackets."""
    order = [
        name for _, name in sorted(zip(result.overall_rank.tolist(), result.algorithms, strict=True))
    ]  # best first
    rows = []
    for row in result.frames()["cluster_ranks"].to_dicts():
        value = row["geometric_mean"]
        size = f"{row['datasets']} dataset{'' if row['datasets'] == 1 else 's'}"
        rows.append(
            {
                **row,
                "column": f"cluster {row['cluster']} ({size})",
                "shown": f"{row['mean_rank']:.2f}" + ("" if value is None else f" ({value:.3g})"),
            }
        )
    count = len(order)
    chart = heat_map(
        rows,
        names_above("column", {"field": "cluster"}, angle=-25),
        names_down(c.ALGORITHM, order),
        rank_fill("mean_rank", count, "mean rank", gradientLength=min(140, 18 * count)),
        [f"{c.ALGORITHM}:N", "cluster:N", "mean_rank:Q", "geometric_mean:Q", "overall_mean_rank:Q"],
        dark=f"datum.mean_rank <= {0.5 * count}",
        text_size=10,
    ).properties(width=104 * len(result.sizes), height=22 * count)
    return themed(
        chart,
        f"Ranks by cluster, {result.metric}",
        f"Mean rank (geometric mean); random groups of these sizes differ as much with p = {result.p_differ:.2g}",
    )
