"""Stress: which conclusions survive a change of the table."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from functools import partial
from typing import Any

from recassay.analysis.stress.result import StressResult
from recassay.core.types import FloatArray
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.plots.forms import (
    heat_map,
    line_legend,
    line_looks,
    names_above,
    names_down,
    panel_title,
    share_fill,
)
from recassay.plots.grammar import Chart, channel, concat, hconcat, marks, quoted, tips
from recassay.plots.theme import COLOURS, FAINT, INK, shorten, themed
from recassay.reporting.numbers import sized
from recassay.reporting.section import Brief, Plot, Plots, Section, Table, plot
from recassay.reporting.words.missing import missing_cells
from recassay.reporting.words.stress import STRENGTHS, sentences, sign_rules, sign_titles, when


def brief(result: StressResult, words: Vocabulary = USUAL) -> Brief:
    """The verdict, and which conclusions survive."""
    first, *others = sentences(result, words)
    *_, survive = tables(result, words)
    return Brief(first, survive, sentences=tuple(others[:3]))


def tables(result: StressResult, words: Vocabulary = USUAL) -> Iterator[Table]:
    """The properties of each aggregation with their signs, rho under fewer datasets, and what survives."""
    properties = [
        [title, *("NA" if row.signs[r] == "NA" else f"{row.numbers[r]:.3f} {row.signs[r]}" for row in result.signs)]
        for r, title in enumerate(result.titles)
    ]
    columns: dict[str, FloatArray] = {}
    for subset in result.subsets:
        columns[f"{subset.size} {words.datasets}"] = subset.numbers["full"]
        if "disjoint" in subset.numbers:
            columns[f"two of {subset.size}, disjoint"] = subset.numbers["disjoint"]
    curve, half = result.curves["drop_datasets"], len(result.datasets) // 2
    columns[f"without {half} {words.datasets}"] = curve.numbers[:, curve.x.tolist().index(half)]
    agreement = [[title, *(_span(column[r]) for column in columns.values())] for r, title in enumerate(result.titles)]
    main = [conclusion for conclusion in result.conclusions if conclusion.change == result.main.change]
    notes = [f"{name} was left out: it {reason}." for name, reason in result.skipped.items()]
    if result.missing.cells:
        notes.append(missing_cells(result.missing, words))
    yield Table(
        f"Properties of the aggregations: {result.metric}, {sized(result.algorithms, result.datasets, words)}",
        ["aggregation", *sign_titles(result, words)],
        properties,
        notes=notes,
    )
    yield Table(
        f"Spearman's rho with the ranking on all {words.datasets} (mean, middle 95 % of {result.draws} draws)",
        ["aggregation", *columns],
        agreement,
    )
    yield Table(
        f"What survives when {when(result.main.change, words)}: under how many aggregations at least 95 % of the "
        "changed tables keep a statement",
        {"conclusion": "{statement}", "holds under": f"{{holds_under}} of {len(result.rules)}", "verdict": "{verdict}"},
        main,
    )


def _span(numbers: FloatArray) -> str:
    mean, low, high = (float(value) for value in numbers[:3])
    return f"{mean:.3f} [{low:.2f}, {high:.2f}]"


PANELS_ACROSS = 4
SIGN_COLOURS = {"+": "#d3e6f3", "-": "#fbdcc4", "NA": "#f1f2f4"}


def plot_dropping(result: StressResult, words: Vocabulary = USUAL, *, test: str) -> Any:
    """One panel per aggregation: its rho against how many are left out, with its band, over the others in grey."""
    curve = result.curves[test]
    titles = dict(zip(curve.rules, result.titles, strict=True))
    x = channel("x:Q", title=words.filled(STRENGTHS[test]), scale={"domain": [0, float(curve.x.max())], "nice": False},
              axis={"grid": False, "tickCount": 5, "tickMinStep": 1, "format": "d"})  # fmt: skip
    y = channel("rho:Q", title="Spearman's rho", scale={"domain": [0.0, 1.0]}, axis={"tickCount": 5})
    panels = []
    for name in curve.rules:
        mine = Chart().transform_filter(f"datum.aggregation === '{name}'")
        others = Chart().transform_filter(f"datum.aggregation !== '{name}'")
        context = others.mark("line", color=FAINT, opacity=0.35, strokeWidth=1, clip=True).encode(
            x=x, y=y, detail="aggregation:N"
        )
        band = mine.mark("area", color=COLOURS[0], opacity=0.18, clip=True).encode(
            x=x, y=channel("low:Q", title="Spearman's rho"), y2="high:Q"
        )
        line = mine.mark("line", color=COLOURS[0], strokeWidth=2.2, clip=True).encode(
            x=x, y=y, tooltip=tips("aggregation", "x rho low high error tried")
        )
        title = panel_title(titles[name], fontSize=12, offset=4, color=INK)
        panels.append((context + band + line).properties(width=170, height=130, title=title))
    chart = concat(*panels, columns=PANELS_ACROSS, spacing=18, data={"values": curve.to_frame().to_dicts()})
    of = words.datasets if test == "drop_datasets" else words.algorithms
    return themed(
        chart,
        f"Does the ranking survive fewer {of}? {result.metric}",
        "Line: mean rho with the ranking of the whole table; band: middle 95 % of the draws; grey: other aggregations",
    )


@plot(
    "stress_additions",
    "Agreement of the order of the others after a copy or a new best {algorithm} is added, and of the Dolan-Moré rules "
    "at another beta.",
    table="stress_curves",
)
def plot_additions(result: StressResult, words: Vocabulary = USUAL) -> Any:
    """Panels for a copy, a new best one and another beta: one line per aggregation."""
    titles = {rule.name: rule.title for rule in result.rules}
    order = list(titles.values())
    headings = {
        "similar": "A copy, slightly worse or better",
        "new_best": "A new best one",
        "beta": f"Another beta (usual: {result.dolan_more.beta_max:g})",
    }
    legend = line_legend(order, title="aggregation", symbolStrokeWidth=3)
    panels = []
    for test, heading in headings.items():
        if test not in result.curves:
            continue
        curve = result.curves[test]
        rows = [{**row, "title": titles[row["aggregation"]]} for row in curve.to_frame().to_dicts()]
        low = min(row["rho"] for row in rows)
        bottom = min(0.95, 0.05 * int(20 * low - (low < 0)))
        scale, axis = {"zero": False, "nice": False}, {"grid": False, "tickCount": 6}
        lines = marks(rows, "line", strokeWidth=2, point={"size": 22}).encode(
            x=channel("x:Q", title=words.filled(STRENGTHS[test]), scale=scale, axis=axis),
            y=channel("rho:Q", title="Spearman's rho", scale={"domain": [bottom, 1.0], "nice": False}),
            **line_looks("title", order, legend),
            tooltip=tips("title", "x rho low high lowest"),
        )
        panels.append(lines.properties(width=220, height=210, title=panel_title(heading, fontSize=12, color=INK)))
    return themed(
        hconcat(*panels, spacing=24),
        f"Does the order of the others survive an addition? {result.metric}",
        "Mean rho with the order before; 1: the order of the others does not change",
    )


@plot(
    "stress_signs",
    "What each aggregation bears: the measured number, blue where it passes the stated rule, orange where it does not.",
)
def plot_signs(result: StressResult, words: Vocabulary = USUAL) -> Any:
    """Table 3 as a picture: properties down, aggregations across; colour is the sign, the number is measured."""
    properties = sign_titles(result, words)
    rows = []
    for row, named, rule in zip(result.signs, properties, sign_rules(result, words), strict=True):
        for title, sign, number in zip(result.titles, row.signs, row.numbers, strict=True):
            shown = "NA" if sign == "NA" else f"{number:.2f} {sign.replace('-', '−')}"
            rows.append({"property": named, "aggregation": title, "sign": sign, "shown": shown, "rule": rule})
    chart = heat_map(
        rows,
        names_above("aggregation", result.titles),
        names_down("property", properties),
        channel("sign:N", legend=None, scale={"domain": list(SIGN_COLOURS), "range": list(SIGN_COLOURS.values())}),
        ["property:N", "aggregation:N", "shown:N", "rule:N"],
    ).properties(width=62 * len(result.titles), height=30 * len(properties))
    return themed(
        chart,
        f"What each aggregation bears, {result.metric}",
        "Pareto: share of dominated pairs ranked wrongly (0 is best); below: Spearman's rho (1 is best)",
    )


@plot(
    "stress_conclusions",
    "Under how many aggregations each statement about the order is kept by at least 95 % of the changed tables, for "
    "five kinds of change.",
)
def plot_conclusions(result: StressResult, words: Vocabulary = USUAL) -> Any:
    """Statements down, changes across: under how many aggregations at least 95 % of the changed tables keep it."""
    shown = result.conclusions
    statements = list(dict.fromkeys(conclusion.statement for conclusion in shown))
    heads = list(dict.fromkeys(when(conclusion.change, words) for conclusion in shown))
    count = len(result.rules)
    rows = [
        {"statement": conclusion.statement, "label": f"{statements.index(conclusion.statement):02d}",
         "when": when(conclusion.change, words), "share": conclusion.holds_under / count,
         "shown": f"{conclusion.holds_under}/{count}", "verdict": conclusion.verdict}
        for conclusion in shown
    ]  # fmt: skip
    texts = ", ".join(quoted(_brief(result, text)) for text in statements)
    lines = {head: textwrap.wrap(head, 18) for head in heads}
    wrapped = ", ".join(f"'{head}': {json.dumps(parts)}" for head, parts in lines.items())
    above = 8 + 13 * (max(len(parts) for parts in lines.values()) - 1)
    places = [f"{place:02d}" for place in range(len(statements))]
    chart = heat_map(
        rows,
        names_above(
            "when", heads, angle=0, labelLimit=0, labelPadding=above, labelExpr="({" + wrapped + "})[datum.label]"
        ),
        names_down("label", places, labelLimit=0, labelExpr=f"[{texts}][+datum.label]"),
        share_fill("share", "of the aggregations"),
        ["statement:N", "when:N", "shown:N", "verdict:N"],
        dark="datum.share > 0.55",
    ).properties(width=112 * len(heads), height=24 * len(statements))
    return themed(
        chart,
        f"Which conclusions survive? {result.metric}",
        "Aggregations under which at least 95 % of the changed tables keep the statement",
    )


def _brief(result: StressResult, statement: str) -> str:
    """The statement with long names cut, each to what fits."""
    for name in sorted(result.algorithms, key=len, reverse=True):
        statement = statement.replace(name, shorten(name, 22))
    return statement


FIGURES = Plots([
    plot_conclusions,
    plot_signs,
    Plot("stress_datasets", "Agreement with the ranking on all {datasets} when some are left out: mean and middle 95 % "
         "of the draws; grey, the other aggregations.", partial(plot_dropping, test="drop_datasets"), "stress_curves"),
    Plot("stress_algorithms", "Agreement of the order of the remaining {algorithms} with their order among all when "
         "some are left out; grey, the other aggregations.",
         partial(plot_dropping, test="drop_algorithms"), "stress_curves"),
    plot_additions,
])  # fmt: skip
SECTION = Section(
    StressResult, "What survives", "robustness", "stress", FIGURES, sentences, tables, order=10, brief=brief
)
