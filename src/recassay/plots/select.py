"""How well few datasets keep the ranking: by method, and by how many."""

from __future__ import annotations

from typing import Any

from recassay.analysis.select.result import METHODS, PRESERVING, SelectResult
from recassay.core.errors import listing
from recassay.plots.forms import intervals, line_legend, names_down, panel_title
from recassay.plots.grammar import Chart, Spec, channel, condition, fixed, hconcat, layer
from recassay.plots.theme import COLOURS, FAINT, inline, themed

_LOOK = dict(zip(METHODS, ("#8a929b", COLOURS[0], COLOURS[2], COLOURS[5], COLOURS[1]), strict=True))


def _colour(names: list[str], legend: Any) -> Spec:
    scale = {"domain": names, "range": [_LOOK[name] for name in names]}
    return channel("method:N", scale=scale, sort=names, legend=legend)


def plot_selection(result: SelectResult) -> Any:
    """A row a method: held-out agreement (dot) over its spread (line), and the agreement in sample (ring)."""
    names = list(result.choices)
    rows = []
    for name, choice in result.choices.items():
        held = choice.held_out_algorithms
        for kind, value, low, high in (
            ("algorithms the choice did not see", held and held.mean, held and held.low, held and held.high),
            ("the numbers it was chosen on" if name == PRESERVING else "all algorithms", choice.rho, None, None),
        ):
            if value is not None:
                rows.append({"method": name, "kind": kind, "rho": value, "low": low, "high": high,
                             "held": low is not None, "datasets": listing(choice.datasets, most=None)})  # fmt: skip
    ends = [spread.low for spread in (choice.held_out_algorithms for choice in result.choices.values()) if spread]
    floor = min([0.0, *ends, *(choice.rho for choice in result.choices.values())])
    scale = {"domain": [floor, 1], "nice": False}
    base = Chart(inline(rows)).encode(
        y=names_down("method", names),
        color=_colour(names, None),
        tooltip=["method:N", "kind:N", "rho:Q", "low:Q", "high:Q", "datasets:N"],
    )
    spans, dots = intervals(
        base.transform_filter("datum.held"), "rho", "low", "high", scale=scale, size=90, line={"opacity": 0.5},
        title="Spearman's rho with the ranking on all datasets",
    )  # fmt: skip
    rings = base.transform_filter("!datum.held").mark("point", size=80, strokeWidth=1.8, opacity=1).encode(
        x=channel("rho:Q", scale=scale)
    )  # fmt: skip
    chart = layer(spans, rings, dots).properties(width=470, height=34 * len(names))
    return themed(
        chart,
        f"{result.k} of {len(result.datasets)} datasets, {result.metric}",
        "Dot and line: mean and middle 95 % on algorithms held out from the choice; ring: on all algorithms "
        "(flattering for preserving)",
    )


def plot_selection_curve(result: SelectResult) -> Any:
    """Agreement against the number of datasets; left on all algorithms, right on those held out from the choice."""
    names = list(result.choices)
    table = result.frames()["selection_curve"].to_dicts()
    panels = []
    legend = line_legend(names)
    floor = min(row["low"] for row in table if row["method"] == "random") if "random" in names else 0.0
    lowest = min(floor, *(row["mean"] for row in table))
    for held, title in ((False, "all algorithms"), (True, "algorithms held out from the choice")):
        rows = [row for row in table if row["held_out"] == held]
        if not rows:
            continue
        base = Chart(inline(rows))
        sizes = sorted({row["k"] for row in rows})
        x = channel("k:Q", title="datasets", axis={"values": sizes, "format": "d", "grid": False},
                  scale={"domain": [sizes[0], sizes[-1]], "nice": False})  # fmt: skip
        y_scale = {"domain": [max(-1.0, lowest - 0.02), 1.0], "nice": False}
        band = base.transform_filter("datum.method == 'random'").mark("area", color=FAINT, opacity=0.15).encode(
            x=x, y=channel("low:Q", scale=y_scale, title="Spearman's rho"), y2="high:Q"
        )  # fmt: skip
        lines = base.mark("line", strokeWidth=2.2, point={"size": 38}).encode(
            x=x,
            y=channel("mean:Q", scale=y_scale, title="Spearman's rho"),
            color=_colour(names, legend),
            strokeDash=condition(f"datum.method == '{PRESERVING}' && !datum.held_out", fixed([5, 3]), fixed([1, 0])),
            tooltip=["method:N", "k:Q", "mean:Q", "low:Q", "high:Q"],
        )
        panels.append((band + lines).properties(width=300, height=300, title=panel_title(title, centred=True)))
    return themed(
        hconcat(*panels, spacing=30),
        f"How many datasets are enough, {result.metric}",
        f"Mean agreement of the ranking ({result.rule}) with that on all {len(result.datasets)} datasets; band: middle "
        "95 % of random; dashed: judged on what it was chosen on",
    )
