"""The choice of a few datasets: how well each way keeps the ranking, honestly judged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recassay.analysis.select.result import METHODS, PRESERVING, SelectResult, Spread
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import listing
from recassay.plots.forms import intervals, line_legend, names_down, panel_title
from recassay.plots.grammar import Chart, Spec, channel, condition, fixed, hconcat, layer, tips
from recassay.plots.theme import COLOURS, FAINT, themed
from recassay.reporting.numbers import between, number, p_text, percent
from recassay.reporting.section import Plots, Section, Table, plot
from recassay.reporting.words.select import sentences


def tables(result: SelectResult, words: Vocabulary = USUAL) -> Iterator[Table]:
    """The methods with their numbers, then the datasets that each chose."""
    rows = [
        [name, _spread(choice.left_out), _spread(choice.simulated),
         number(None if name == "random" else choice.rho, 3, missing="-"),
         "-" if name == "random" else percent(choice.better_than_random), _spread(choice.held_out_algorithms),
         number(sum(choice.by_metric.values()) / len(choice.by_metric) if choice.by_metric else None, 3, missing="-"),
         number(None if choice.held_out_both is None else choice.held_out_both.mean, 3, missing="-")]
        for name, choice in result.choices.items()
    ]  # fmt: skip
    preserving = result.choices.get(PRESERVING)
    p = None if preserving is None else preserving.held_out_p
    luck = "" if p is None else f" Against random subsets on other {words.algorithms}: {p_text(p)}."
    note = (
        f"'with those left out', 'over its chance' and 'other {words.algorithms}': mean (middle 95 %). All "
        f"{words.datasets} contain the chosen ones; 'with those left out', 'other {words.algorithms}' and 'both other' "
        "are judged on the others alone. Where a way looks at the results (preserving), 'its choice' flatters it, as "
        f"it was made on the same numbers: compare 'other {words.algorithms}' and 'both other', which the choice did "
        f"not see.{luck}"
    )
    chosen = [[name, listing(choice.datasets, most=None)] for name, choice in result.choices.items() if choice.datasets]
    judged = [f"other {words.algorithms}", "other metrics", "both other"]
    yield Table(
        f"Spearman's rho between the ranking on {result.k} {words.datasets} and on all {len(result.datasets)} "
        f"({result.metric}, {result.rule})",
        ["method", "with those left out", "over its chance", "its choice", "random below", *judged],
        rows,
        important=[f"other {words.algorithms}", "with those left out", "its choice", "both other", "other metrics"],
        notes=[note],
    )
    yield Table(
        f"The {words.datasets} that each chose",
        ["method", words.datasets],
        chosen,
        names=2,
        notes=[f"{name} was left out: it {reason}." for name, reason in result.skipped.items()],
    )


def _spread(spread: Spread | None) -> str:
    if spread is None:
        return "-"
    return f"{spread.mean:z.3f} ({between(spread.low, spread.high).replace('-0.00', '0.00')})"


_LOOK = dict(zip(METHODS, ("#8a929b", COLOURS[0], COLOURS[2], COLOURS[5], COLOURS[1]), strict=True))


def _colour(names: list[str], legend: Any) -> Spec:
    scale = {"domain": names, "range": [_LOOK[name] for name in names]}
    return channel("method:N", scale=scale, sort=names, legend=legend)


@plot(
    "dataset_selection",
    lambda result, words: (
        f"How well the ranking on {result.k} {words.datasets} agrees with that on all {len(result.datasets)}, by how "
        f"the {words.datasets} were chosen."
    ),
    table="selection",
)
def plot_selection(result: SelectResult, words: Vocabulary = USUAL) -> Any:
    """One row per method: held-out agreement (dot) over its spread (line), and the agreement in sample (ring)."""
    names = list(result.choices)
    rows = []
    for name, choice in result.choices.items():
        held = choice.held_out_algorithms
        for kind, value, low, high in (
            (f"{words.algorithms} the choice did not see", held and held.mean, held and held.low, held and held.high),
            (
                "the numbers it was chosen on" if name == PRESERVING else f"all {words.algorithms}",
                choice.rho,
                None,
                None,
            ),
        ):
            if value is not None:
                rows.append({"method": name, "kind": kind, "rho": value, "low": low, "high": high,
                             "held": low is not None, "datasets": listing(choice.datasets, most=None)})  # fmt: skip
    ends = [spread.low for spread in (choice.held_out_algorithms for choice in result.choices.values()) if spread]
    floor = min([0.0, *ends, *(choice.rho for choice in result.choices.values())])
    scale = {"domain": [floor, 1], "nice": False}
    base = Chart(rows).encode(
        y=names_down("method", names),
        color=_colour(names, None),
        tooltip=[*tips("method kind", "rho low high"), "datasets:N"],
    )
    spans, dots = intervals(
        base.transform_filter("datum.held"), "rho", "low", "high", scale=scale, size=90, line={"opacity": 0.5},
        title=f"Spearman's rho with the ranking on all {words.datasets}",
    )  # fmt: skip
    rings = base.transform_filter("!datum.held").mark("point", size=80, strokeWidth=1.8, opacity=1).encode(
        x=channel("rho:Q", scale=scale)
    )  # fmt: skip
    return themed(
        layer(spans, rings, dots).properties(width=470, height=34 * len(names)),
        f"{result.k} of {len(result.datasets)} {words.datasets}, {result.metric}",
        f"Dot and line: mean and middle 95 % on {words.algorithms} held out from the choice; ring: on all "
        f"{words.algorithms} (flattering for preserving)",
    )


@plot(
    "dataset_selection_curve",
    "Agreement with the ranking on all {datasets} against the number of {datasets}, by how they were chosen.",
    table="selection_curve",
    when=lambda result: result.curve,
)
def plot_selection_curve(result: SelectResult, words: Vocabulary = USUAL) -> Any:
    """Agreement against the number of datasets; left on all algorithms, right on those held out from the choice."""
    names = list(result.choices)
    table = result.frames()["selection_curve"].to_dicts()
    panels = []
    legend = line_legend(names)
    floor = min(row["low"] for row in table if row["method"] == "random") if "random" in names else 0.0
    lowest = min(floor, *(row["mean"] for row in table))
    for held, title in ((False, f"all {words.algorithms}"), (True, f"{words.algorithms} held out from the choice")):
        rows = [row for row in table if row["held_out"] == held]
        if not rows:
            continue
        base = Chart(rows)
        sizes = sorted({row["k"] for row in rows})
        x = channel("k:Q", title=words.datasets, axis={"values": sizes, "format": "d", "grid": False},
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
            tooltip=tips("method", "k mean low high"),
        )
        panels.append((band + lines).properties(width=300, height=300, title=panel_title(title, centred=True)))
    return themed(
        hconcat(*panels, spacing=30),
        f"How many {words.datasets} are enough, {result.metric}",
        f"Mean agreement of the ranking ({result.rule}) with that on all {len(result.datasets)} {words.datasets}; "
        "band: middle 95 % of random; dashed: judged on what it was chosen on",
    )


FIGURES = Plots([plot_selection, plot_selection_curve])
SECTION = Section(
    SelectResult, "How few {datasets} are enough?", "datasets", "select", FIGURES, sentences, tables, order=40
)
