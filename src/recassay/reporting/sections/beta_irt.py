"""Beta-IRT: abilities, difficulties and discriminations in both directions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from recassay.analysis.beta_irt.result import BetaIRTResult, Trait
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.plots.forms import intervals, label_rows, line_legend, line_looks, names_down
from recassay.plots.grammar import Chart, Row, channel, hconcat, layer, marks, tips
from recassay.plots.shown import ALL, Shown
from recassay.plots.theme import COLOURS, FAINT, INK, colour_scale, shorten, themed
from recassay.reporting.section import Plot, Plots, Section, Table, plot
from recassay.reporting.words.beta_irt import sentences

DENSITIES = {
    "beta": "The responses follow the Beta density of the model.",
    "precision": "The responses follow a Beta density around the curves with a precision of its own",
    "bi-reirt": "The curves have the smallest squared error.",
}


NARROW = (
    "Read intervals of abilities as lower limits of the uncertainty: in simulations 95 % intervals held the truth in "
    "84 % where slopes vary less than the prior expects, and in 93 to 98 % else."
)


def tables(result: BetaIRTResult, words: Vocabulary = USUAL) -> Iterator[Table]:
    """For each direction the respondents, then the items with the fit; below the last, the density that was taken."""
    density = DENSITIES[result.estimator]
    if result.estimator == "precision":
        posteriors = result.log_posteriors
        if posteriors:
            gain = posteriors["precision"] - posteriors["beta"]
            density += f": {gain:.0f} units of log-likelihood better than the model's own"
        density += "."
    for direction in result.directions:
        respondent, level, slope = direction.traits
        who, what = (words.algorithm, words.dataset) if direction.number == 1 else (words.dataset, words.algorithm)
        title = f"Direction {direction.number}: {who}s on {what}s, {result.metric}"
        able, hard, steep = (direction.traits[name] for name in (respondent, level, slope))
        fit = (
            f"Fit: mean squared error {direction.mse:.3g}, log-likelihood {direction.log_likelihood:.1f}, reliability "
            f"{direction.reliability:.2f}."
        )
        items = [
            [hard.names[i], _span(hard, i), _span(steep, i), f"{direction.probability_positive[i]:.3f}"]
            for i in hard.order()
        ]
        yield Table(
            title,
            [who, respondent.replace("_", " ")],
            [[able.names[i], _span(able, i)] for i in able.order()],
            notes=[NARROW] if direction.number == 1 else [],
        )
        yield Table(
            title,
            [what, level.replace("_", " "), slope, "P(> 0)"],
            items,
            important=[level.replace("_", " "), "P(> 0)"],
            notes=[fit, *([density] if direction is result.directions[-1] else [])],
        )


def _span(trait: Trait, i: int) -> str:
    return f"{trait.estimate[i]:.3f} [{trait.low[i]:.3f}, {trait.high[i]:.3f}]"


WIDTH, HEIGHT = 400, 380
ROW = 13
"""Pixels between two labels of the scatter plot, more than the height of their letters."""

TITLES = {
    "ability": "{algorithm} ability", "difficulty": "{dataset} difficulty",
    "discrimination": "{dataset} discrimination",
    "challenge": "inherent challenge of the {dataset}", "difficulty_limit": "{algorithm} difficulty limit",
    "consistency": "{algorithm} consistency",
}  # fmt: skip
"""The traits of both directions as axes name them (Bi-ReIRT, Table 1)."""


def _scatter(result: BetaIRTResult, number: int, words: Vocabulary, shown: Shown) -> Any:
    """Difficulty against discrimination with intervals; each label on a row of its own at the right, with a leader."""
    _, level, slope = result.directions[number - 1].traits
    across, up = result.trait(slope), result.trait(level)
    names = shown.of(up.names)
    places = [up.names.index(name) for name in names]
    height = max(HEIGHT, ROW * (len(names) + 2))
    low, high = min(0.0, float(across.low[places].min())), float(across.high[places].max())
    edge = high + 0.04 * (high - low)
    rows_at = label_rows(up.estimate[places].tolist(), ROW / height, top=1.0)
    rows: list[Row] = []
    for i, name, row in zip(places, names, rows_at, strict=True):
        rows.append({"name": name, "label": shorten(name, 24), "edge": edge, "row": row})
        for axis, trait in (("x", across), ("y", up)):
            ends = {axis: trait.estimate[i], f"{axis}_low": trait.low[i], f"{axis}_high": trait.high[i]}
            rows[-1] |= {end: float(value) for end, value in ends.items()}
    x_scale = {"domain": [low, edge], "nice": False, "zero": False}
    y_scale = {"domain": [min(0.0, *rows_at), 1], "nice": False, "clamp": False}
    x = channel("x:Q", title=words.filled(TITLES[slope]), scale=x_scale)
    y = channel("y:Q", title=words.filled(TITLES[level]), scale=y_scale, axis={"values": [0, 0.2, 0.4, 0.6, 0.8, 1]})
    tip = tips("name", "x x_low x_high y y_low y_high")
    base = Chart(rows)
    colour = channel("name:N", scale=colour_scale(sorted(names)), legend=None)
    return layer(
        base.mark("rule", color=FAINT, strokeWidth=0.6, strokeDash=[2, 2]).encode(x=x, y=y, x2="edge:Q", y2="row:Q"),
        base.mark("rule", strokeWidth=1, opacity=0.45).encode(x="x_low:Q", x2="x_high:Q", y=y, color=colour),
        base.mark("rule", strokeWidth=1, opacity=0.45).encode(x=x, y="y_low:Q", y2="y_high:Q", color=colour),
        base.mark("circle", size=46, opacity=1).encode(x=x, y=y, color=colour, tooltip=tip),
        base.mark("text", align="left", dx=3, fontSize=10.5, color=INK).encode(
            x="edge:Q", y=channel("row:Q", scale=y_scale), text="label:N", tooltip=tip
        ),
    ).properties(width=WIDTH, height=height)


def _curves(result: BetaIRTResult, number: int, words: Vocabulary, shown: Shown) -> Any:
    """Characteristic curves over the respondents' trait, the range of those observed shaded."""
    respondent, level, _ = result.directions[number - 1].traits
    items = result.trait(level)
    names = shown.of(sorted(items.names))
    frames = result.frames()
    rows = shown.rows((row for row in frames["irt_curves"].to_dicts() if row["direction"] == number), "item")
    band = [row for row in frames["irt_ranges"].to_dicts() if row["direction"] == number]
    scale = {"domain": [0, 1]}
    shade = marks(band, "rect", color=FAINT, opacity=0.18).encode(
        x=channel("low:Q", scale=scale), x2="high:Q", tooltip=tips("trait", "low high")
    )
    lines = marks(rows, "line", strokeWidth=1.8).encode(
        x=channel("trait:Q", title=words.filled(TITLES[respondent]), scale=scale),
        y=channel("expected:Q", title=f"expected {result.metric}", scale=scale),
        **line_looks("item", names, line_legend(names)),
        tooltip=tips("item", "trait expected"),
    )
    height = max(HEIGHT, ROW * (len(names) + 2))
    seen = f"shaded: the {respondent} of those observed"
    return (shade + lines).properties(width=WIDTH, height=height, title={"text": seen, "fontSize": 11, "color": FAINT})


def plot_direction(result: BetaIRTResult, words: Vocabulary = USUAL, shown: Shown = ALL, *, number: int) -> Any:
    """Figure 2 (number 1: datasets as items) or Figure 3 (number 2: algorithms as items) of Bi-ReIRT."""
    chart = hconcat(_scatter(result, number, words, shown), _curves(result, number, words, shown), spacing=130).resolve(
        scale={"color": "independent", "strokeDash": "independent"}
    )
    what = f"What the {words.datasets} ask" if number == 1 else f"What the {words.algorithms} bear"
    subtitle = (
        f"Beta-IRT, direction 1: left, how hard and how telling each {words.dataset} is; right, expected score by "
        "ability"
        if number == 1
        else f"Beta-IRT, direction 2: left, difficulty limit and consistency of each {words.algorithm}; "
        "right, expected score by challenge"
    )
    return themed(chart, f"{what}, {result.metric}", subtitle)


@plot("irt_traits", "Ability of each {algorithm} and challenge of each {dataset}, with intervals.")
def plot_traits(result: BetaIRTResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """Abilities of the algorithms and challenges of the datasets with their intervals, the largest on top."""
    panels = []
    for name in ("ability", "challenge"):
        trait = result.trait(name)
        order = [trait.names[i] for i in trait.order()]
        order = shown.of(order) if name == "ability" else order
        rows = [row for row in result.to_frame().to_dicts() if row["trait"] == name and row["name"] in order]
        base = Chart(rows).encode(y=names_down("name", order), tooltip=tips("name", "estimate low high"))
        spans = intervals(
            base, "estimate", "low", "high", scale={"domain": [0, 1]}, title=words.filled(TITLES[name]),
            line={"color": FAINT}, dot={"color": COLOURS[0]},
        )  # fmt: skip
        panels.append(layer(*spans).properties(width=320, height=18 * len(order)))
    return themed(
        hconcat(*panels, spacing=40),
        f"Ability and challenge, {result.metric}",
        f"Beta-IRT ({result.estimator}), {100 * result.confidence:g} % intervals",
    )


FIGURES = Plots([
    plot_traits,
    Plot("irt_datasets", "Difficulty against discrimination of the {datasets}, and the value that each expects of an "
         "{algorithm} by its ability; the shaded range holds the observed abilities.",
         lambda result, words: plot_direction(result, words, number=1), "irt_traits"),
    Plot("irt_algorithms", "The other way round: difficulty limit against consistency of the {algorithms}, and the "
         "value that each reaches by the challenge of a {dataset}.", partial(plot_direction, number=2), "irt_traits"),
])  # fmt: skip
SECTION = Section(
    BetaIRTResult, "Ability and challenge", "traits", "beta-irt", FIGURES, sentences, tables, order=10,
    leader=lambda result: result.algorithms[result.trait("ability").order()[0]],
)  # fmt: skip
