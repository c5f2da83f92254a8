"""Clusters of datasets: how firm they are, and whether the algorithms rank differently in them."""

from __future__ import annotations

from typing import Any

from recassay.analysis.clusters.result import ClustersResult
from recassay.core import columns as c
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import count_of
from recassay.plots.forms import heat_map, label_rows, names_above, names_down, rank_fill
from recassay.plots.grammar import Chart, channel, condition, fixed, layer, tips
from recassay.plots.shown import ALL, Shown
from recassay.plots.theme import COLOURS, FAINT, INK, shorten, themed
from recassay.reporting.numbers import p_text
from recassay.reporting.section import Plots, Section, plot
from recassay.reporting.words.clusters import sentences

WIDTH = 470
ROW = 13


@plot(
    "dataset_clusters",
    "{Datasets} by their characteristics on the first two principal components, coloured by cluster.",
    table="clusters",
)
def plot_clusters(result: ClustersResult, words: Vocabulary = USUAL) -> Any:
    """The first two components; each name on a row of its own; outliers are diamonds, central ones large."""
    points = result.space.points
    across = points[:, 0]
    up = points[:, 1] if points.shape[1] > 1 else 0 * across
    height = max(320, ROW * (len(up) + 2))
    margin = 0.04 * (float(up.max() - up.min()) or 1.0)
    low, high = float(up.min()) - margin, float(up.max()) + margin
    at = label_rows(up.tolist(), ROW * ((high - low) / height), top=high)
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
    y_scale = {"domain": [min(low, *at), high], "nice": False, "zero": False}
    x = channel("x:Q", title=f"component 1 ({shares[0]} of the variance)", scale=x_scale)
    y = channel("y:Q", title=f"component 2 ({shares[1]})", scale=y_scale)
    base = Chart(rows)
    names = [str(k + 1) for k in range(len(result.sizes))]
    colours = {"domain": names, "range": [COLOURS[k % len(COLOURS)] for k in range(len(names))]}
    colour = channel("cluster:N", scale=colours, legend={"title": "cluster", "orient": "left"})
    tip = tips(f"{c.DATASET} cluster outlier central", "x y")
    placed = base.encode(x=x, y=y)
    leaders = placed.mark("rule", strokeWidth=0.6, strokeDash=[2, 2], color=FAINT).encode(x2="edge:Q", y2="row:Q")
    dots = placed.mark("point", opacity=1, strokeWidth=1.8).encode(
        color=colour,
        fill=colour,
        shape=condition("datum.outlier", fixed("diamond"), fixed("circle")),
        size=condition("datum.central", fixed(150), fixed(55)),
        tooltip=tip,
    )
    labels = base.mark("text", align="left", dx=4, fontSize=10.5, color=INK).encode(
        x="edge:Q", y=channel("row:Q", scale=y_scale), text="label:N"
    )
    return themed(
        layer(leaders, dots, labels).properties(width=WIDTH, height=height),
        f"{len(result.sizes)} clusters of {len(up)} {words.datasets}",
        "By characteristics; large: nearest to the centre; diamond: set aside as an outlier before clustering",
    )


@plot(
    "cluster_ranks",
    lambda result, words: (
        f"Mean rank (and geometric mean) in {result.metric} of each {words.algorithm} within each cluster of "
        f"{words.datasets}."
    ),
)
def plot_cluster_ranks(result: ClustersResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """Mean rank of every algorithm in every cluster, its geometric mean in brackets."""
    best_first = sorted(zip(result.overall_rank.tolist(), result.algorithms, strict=True))
    order, count = shown.of(name for _, name in best_first), len(best_first)
    rows = shown.rows(result.frames()["cluster_ranks"].to_dicts())
    for row in rows:
        value = row["geometric_mean"]
        row["column"] = f"cluster {row['cluster']} ({count_of(row['datasets'], words.dataset)})"
        row["shown"] = f"{row['mean_rank']:.2f}" + ("" if value is None else f" ({value:.3g})")
    chart = heat_map(
        rows,
        names_above("column", {"field": "cluster"}, angle=-25),
        names_down(c.ALGORITHM, order),
        rank_fill("mean_rank", count, "mean rank", gradientLength=min(140, 18 * count)),
        tips(f"{c.ALGORITHM} cluster", "mean_rank geometric_mean overall_mean_rank"),
        dark=f"datum.mean_rank <= {0.5 * count}",
        text_size=10,
    ).properties(width=104 * len(result.sizes), height=22 * len(order))
    return themed(
        chart,
        f"Ranks by cluster, {result.metric}",
        f"Mean rank (geometric mean); random groups of these sizes differ as much with {p_text(result.p_differ)}",
    )


FIGURES = Plots([plot_clusters, plot_cluster_ranks])
SECTION = Section(ClustersResult, "Kinds of {datasets}", "datasets", "select", FIGURES, sentences, order=30)
