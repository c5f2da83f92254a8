"""Abilities of algorithms with users as items: with intervals on all users, and a point for each dataset."""

from __future__ import annotations

from typing import Any

from recassay.analysis.user_irt.result import UserIRTResult
from recassay.core import columns as c
from recassay.plots.forms import algorithm_colour, intervals, names_down
from recassay.plots.grammar import Chart, channel, layer
from recassay.plots.theme import FAINT, INK, inline, themed


def plot_user_abilities(result: UserIRTResult) -> Any:
    """A row an algorithm, ablest first: the interval on all users, and ticks at its ability on each dataset."""
    rows = result.to_frame().to_dicts()
    name = next(iter(result.fits))
    main = [row for row in rows if row[c.DATASET] == name]
    order = [row[c.ALGORITHM] for row in main]
    y = names_down(c.ALGORITHM, order)
    scale = {"zero": False}
    x = channel("ability:Q", title="ability, in standard deviations of the algorithms", scale=scale)
    tips = [f"{c.DATASET}:N", f"{c.ALGORITHM}:N", "ability:Q", "low:Q", "high:Q", "hit_rate:Q"]
    base = Chart(inline(main)).encode(y=y, color=algorithm_colour(order), tooltip=tips)
    layers = [*intervals(base, "ability", "low", "high", scale=scale, size=70, line={"strokeWidth": 2.2})]
    several = [row for row in rows if row[c.DATASET] != name]
    if several:
        ticks = Chart(inline(several)).mark("tick", color=INK, opacity=0.5, thickness=1.4, size=12)
        layers.insert(0, ticks.encode(y=y, x=x, tooltip=tips))
    zero = Chart(inline([{"ability": 0}])).mark("rule", color=FAINT, strokeDash=[2, 3]).encode(x=x)
    main_fit = result.main
    ticked = f"; ticks: on each of {len(result.fits) - 1} datasets alone" if several else ""
    return themed(
        layer(zero, *layers).properties(width=480, height=22 * len(order)),
        f"Ability by users served, {result.metric}",
        f"{name}: {main_fit.telling} of {main_fit.users} users tell algorithms apart; "
        f"{100 * result.confidence:.3g} % intervals{ticked}",
    )
