"""The multiverse: which claims survive the choices of the evaluation, and which choices decide."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from recassay.analysis.multiverse.result import Claim, MultiverseResult
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import count_of
from recassay.plots.forms import names_down
from recassay.plots.grammar import channel, layer, marks, tips, vconcat
from recassay.plots.theme import COLOURS, FAINT, colour_scale, shorten, themed
from recassay.reporting.numbers import between, percent
from recassay.reporting.section import Plots, Section, Table, plot
from recassay.reporting.words.multiverse import level, sentences

SIDES = {"ahead": COLOURS[0], "tied": FAINT, "behind": COLOURS[1]}
MOST_ROWS = 40
"""Rows of choices below a specification curve; longer axes are left out of the picture."""


def tables(result: MultiverseResult, words: Vocabulary = USUAL) -> Iterator[Table]:
    """The claims, the deciding choices, and the claims by dataset."""
    counted = ["ahead", "tied", "behind", "holds", "undecided", "reversed"]
    shares = [
        [share.name, percent(share.share, 1), "exact" if share.interval is None
         else between(100 * share.interval[0], 100 * share.interval[1], 1)]
        for share in result.shares
        if share.share >= 0.005 or len(share.axes) == 1
    ]  # fmt: skip
    by_dataset = [
        [claim.statement, *(f"{counts[0]} of {sum(counts)}" for counts in claim.by_dataset.values())]
        for claim in result.claims
    ]
    size = (
        f"{result.universes} universes, {count_of(len(result.algorithms), words.algorithm)}, "
        f"{count_of(len(result.datasets), words.dataset)}"
    )
    yield Table(
        f"Claims over {size}: seen by mean rank, and shown by the verdict of each universe",
        {"claim": "{statement}", **{name: f"{{counts.{name}}}" for name in counted}, "mean lead": "{lead:.2f}",
         "joint p": "{p:p}"},
        result.claims,
        important=["ahead", "behind", "joint p", "holds", "tied"],
        most=30,
    )  # fmt: skip
    decide = "Which choices decide: shares of the variance between the rankings (%)"
    yield Table(decide, ["choice", "share", level(result)], shares, most=20)
    if 1 < len(result.datasets) <= 12:
        yield Table(f"Universes in which a claim is seen, by {words.dataset}", ["claim", *result.datasets], by_dataset)


def drawn_claim(result: MultiverseResult) -> Claim:
    """The claim of the specification curve: the leader against its nearest rival where there is one."""
    return next((claim for claim in result.claims if claim.rival is not None), result.claims[0])


@plot(
    "multiverse_curve",
    lambda result, words: (
        f"{drawn_claim(result).statement}: the lead in mean rank of every universe, sorted, with its choices below."
    ),
    table="multiverse_curves",
    when=lambda result: result.claims,
)
def plot_curve(result: MultiverseResult, words: Vocabulary = USUAL) -> Any:
    """Leads from the smallest to the largest, and below them a dot for every choice."""
    claim = drawn_claim(result)
    lead = np.where(result.leaky, np.nan, result.lead_of(claim))
    order = [int(u) for u in np.argsort(lead, kind="stable") if np.isfinite(lead[u])]
    sides = np.where(np.abs(lead) < 1e-9, "tied", np.where(lead > 0, "ahead", "behind"))
    width = max(360, min(900, 5 * len(order)))
    colour = channel("side:N", title=None, scale={"domain": list(SIDES), "range": list(SIDES.values())},
                     legend={"orient": "top"})  # fmt: skip
    x = channel("place:Q", title=None, axis=None, scale={"domain": [0, len(order) + 1], "nice": False})
    rows = [{"place": i, "lead": float(lead[u]), "side": str(sides[u])} for i, u in enumerate(order, 1)]
    size = max(8, min(40, 4000 // max(len(order), 1)))
    curve = layer(
        marks([{"lead": 0.0}], "rule", color=FAINT, strokeDash=[4, 3]).encode(y=channel("lead:Q")),
        marks(rows, "point", filled=True, size=size, opacity=1).encode(
            x=x, y=channel("lead:Q", title="lead in mean rank"), color=colour, tooltip=["place:Q", "lead:Q"]
        ),
    ).properties(width=width, height=180)
    panels = [curve]
    room = MOST_ROWS
    for a, (axis, choices) in enumerate(result.axes.items()):
        room -= len(choices)
        if room < 0:
            continue
        dots = [
            {"place": i, "choice": choices[result.choices[u, a]], "side": str(sides[u])} for i, u in enumerate(order, 1)
        ]
        ticks = marks(dots, "tick", thickness=max(1.0, min(3.0, 0.8 * width / len(order))), bandSize=9)
        ticks = ticks.encode(x=x, y=names_down("choice", list(choices), title=axis), color=colour)
        panels.append(ticks.properties(width=width, height=14 * len(choices)))
    names = f"{shorten(claim.algorithm)} against {shorten(claim.rival or 'the best other')}"
    return themed(
        vconcat(*panels, spacing=8),
        f"Specification curve: {names}",
        "Above: lead in mean rank per universe (above 0: ahead); below: the choices of each universe",
    )


@plot(
    "multiverse_map",
    "Universes by the distance of their mean ranks: near ones rank the {algorithms} alike; colour is the first.",
    table="multiverse_universes",
)
def plot_map(result: MultiverseResult, words: Vocabulary = USUAL) -> Any:
    """A point per universe; near ones rank the algorithms alike."""
    firsts = result.firsts()
    names = [result.algorithms[int(row.argmax())] if row.sum() == 1 else "several" for row in firsts]
    used = [name for name in result.algorithms if name in names]
    scale = colour_scale(used)
    if "several" in names:
        scale = {"domain": [*used, "several"], "range": [*scale["range"][: len(used)], FAINT]}
    # Universes with the same mean ranks are one point, the larger the more there are.
    together: dict[tuple[float, float, str, str], list[int]] = {}
    for u, ((x, y), name, leaky) in enumerate(zip(result.places.round(6).tolist(), names, result.leaky, strict=True)):
        together.setdefault((x, y, name, "leaky" if leaky else "clean"), []).append(u)
    rows = [
        {"x": x, "y": y, "first": name, "leaky": leaky, "universes": len(members),
         "choices": ", ".join(f"{axis}: {choice}" for axis, choice in result.choice_names(members[0]).items())}
        for (x, y, name, leaky), members in together.items()
    ]  # fmt: skip
    most = max(len(members) for members in together.values())
    sizes = {"domain": [1, max(most, 2)], "range": [30, min(900, 60 + 20 * most)]}
    chart = marks(rows, "point", filled=True, opacity=0.8).encode(
        x=channel("x:Q", title=f"first direction ({percent(result.explained[0])})", axis={"grid": False}),
        y=channel("y:Q", title=f"second direction ({percent(result.explained[1])})", axis={"grid": False}),
        color=channel("first:N", title="first", scale=scale),
        size=channel("universes:Q", title="universes", scale=sizes, legend={"tickCount": 3} if most > 1 else None),
        shape=channel("leaky:N", legend=None if not result.leaky.any() else {"title": None}),
        tooltip=tips("choices first", "universes"),
    )
    return themed(
        chart.properties(width=420, height=320),
        "Map of universes",
        "Distance: difference of the mean ranks; in brackets the share shown",
    )


@plot(
    "multiverse_axes",
    "Which choices decide: shares of the variance between the rankings of universes.",
    when=lambda result: result.shares,
)
def plot_axes(result: MultiverseResult, words: Vocabulary = USUAL) -> Any:
    """Bars of the shares, with intervals where they are estimated."""
    shares = [share for share in result.shares if share.axes and (len(share.axes) == 1 or share.share >= 0.01)][:16]
    order = [share.name for share in sorted(shares, key=lambda share: -share.share)]
    rows = [
        {"axis": share.name, "share": share.share, "kind": "one choice" if len(share.axes) == 1 else "two together",
         "low": (share.interval or (share.share,) * 2)[0], "high": (share.interval or (share.share,) * 2)[1]}
        for share in shares
    ]  # fmt: skip
    y = names_down("axis", order, title=None)
    domain = ["one choice", "two together"]
    bars = marks(rows, "bar", height={"band": 0.7}).encode(
        x=channel("share:Q", title="share of the variance", axis={"format": "%"}),
        y=y,
        color=channel("kind:N", title=None, scale={"domain": domain, "range": [COLOURS[0], COLOURS[4]]}),
        tooltip=tips("axis", "share low high"),
    )
    whiskers = marks(rows, "rule", strokeWidth=1.5).encode(x=channel("low:Q"), x2="high:Q", y=y)
    estimated = any(share.interval is not None for share in shares)
    chart = (layer(bars, whiskers) if estimated else bars).properties(width=380, height=20 * len(order))
    return themed(
        chart,
        "Which choices decide",
        "Share of the variance between the rankings of universes"
        + (f"; lines: {level(result)} intervals" if estimated else ""),
    )


FIGURES = Plots([plot_curve, plot_map, plot_axes])
SECTION = Section(
    MultiverseResult, "Over other choices", "robustness", "multiverse", FIGURES, sentences, tables, order=20
)
