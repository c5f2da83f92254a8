"""What the cells of an adaptive run say about the whole grid."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from recassay.analysis.adaptive.result import AdaptiveResult, Step
from recassay.core import columns as c
from recassay.core.words import count_of, duration, listing
from recassay.plots.forms import heat_map, names_above, names_down, rank_fill
from recassay.plots.grammar import channel, marks, tips
from recassay.plots.theme import COLOURS, FAINT, themed
from recassay.reporting.numbers import number, percent
from recassay.reporting.section import Plots, Section, Table, plot

MEANING = (
    "Probabilities are about the grid of this study alone, under the belief described in the documentation: what "
    "running every cell would have said. They are no claim about other datasets (recassay model makes that one). "
    "Predicted ranks stand in brackets; they were not measured."
)
NOTHING = 0.05
"""A prior that counts for fewer measured datasets counts for nothing."""

WHOLE = {"first": "the first place", "top3": "the first three", "order": "the order", "rho": "the order"}


def standing(result: AdaptiveResult) -> str:
    """How things stand, in one line: what is settled, what is not, the cost so far, and what is next."""
    done, total = int(result.measured.sum()), int(result.measured.size)
    up_to = {"order": f" {_up_to(result)}", "rho": f" (rho at least {result.rho:g})"}.get(result.target, "")
    parts = [f"{WHOLE[result.target]}{up_to} is {'' if result.certified else 'not '}settled ({_chance(result)})"]
    parts += _places(result)
    probed = f" and {count_of(result.probed, 'probe')}" if result.probed else ""
    parts.append(f"{done} of {total} cells{probed}, {cost_share(result.share)} of the predicted cost")
    if result.next is not None:
        first, *rest = _named(result.next)
        others = f" and {len(rest)} more" if rest else ""
        parts.append(f"next: {first}{others}, {duration(result.next.seconds)}")
    elif result.ended is not None:
        parts.append(ENDS[result.ended])
    if result.prior:
        tables = listing([source.partition(" (")[0] for source in result.prior], most=2, last="and")
        parts.append(f"prior: {tables}, as much as {number(result.prior_weight)} datasets")
    return "; ".join(parts)


def _named(step: Step) -> list[str]:
    """The probes and cells of a batch, by name."""
    return [f"a probe of {a} on {d}" for a, d in step.probes] + [f"{a} on {d}" for a, d in step.cells]


ENDS = {
    "certified": "nothing more has to be run",
    "budget": "the budget is spent",
    "complete": "every cell was run",
    "stuck": "no further cell can be run",
}


def sentences(result: AdaptiveResult) -> Iterator[str]:
    """What is certified, at what cost, and what is left open."""
    done, total = int(result.measured.sum()), int(result.measured.size)
    names, leader = ", ".join(result.order), result.order[0]
    claim = {
        "first": f"{leader} has the best mean rank of the whole grid",
        "top3": f"{listing(result.order[:3], most=3, last='and')} are the best three of the whole grid",
        "order": f"the order {names} is that of the whole grid {_up_to(result)}",
        "rho": f"the order {names} agrees with that of the whole grid (rho at least {result.rho:g})",
    }[result.target]
    if result.measured.all():
        yield f"Every cell was run: {claim}."
    elif result.certified:
        yield f"Certified with {_chance(result)}: {claim}."
    else:
        yield f"Not certified ({_chance(result)}; asked for {percent(result.confidence)}): {claim}."
    yield (
        f"{done} of {total} cells were run, {duration(result.spent)}: {cost_share(result.share)} of the predicted "
        f"{duration(float(result.seconds.sum()))} of the whole grid; the other ranks are predicted."
    )
    if result.probed:
        cells = "1 cell was" if result.probed == 1 else f"{result.probed} cells were"
        yield (
            f"{cells} probed besides ({duration(result.probes_took)}, counted above): a cheaper "
            "look that says something about the cell and stands in no table."
        )
    if result.prior:
        started = f"It started from {listing(result.prior, most=4, last='and')}, which"
        if done and result.prior_weight < NOTHING:
            yield f"{started} the new cells contradict: that counts for nothing now."
        else:
            count = f"{number(result.prior_weight)} measured datasets"
            yield f"{started} now count as much as {count} (the less, the more new cells disagree)."
    unseen = int((~result.measured[result.algorithms.index(leader)]).sum())
    if unseen and done:
        yield (
            f"{leader} was not run on {unseen} of {len(result.datasets)} datasets; that it fails on any of "
            f"them is counted as {percent(result.leader_fails)} probable."
        )
    if result.target != "first":
        yield f"{leader} is first with {percent(result.probabilities['first'])}."
    for text in _places(result):
        yield f"{text[0].upper()}{text[1:]}."
    if result.next is not None:
        yield f"Next: {listing(_named(result.next), most=4)} ({duration(result.next.seconds)})."


def tables(result: AdaptiveResult) -> Iterator[Table]:
    """The algorithms with their mean ranks, and every cell, predicted ones in brackets."""
    grid = [[dataset] for dataset in result.datasets]
    for name in result.order:
        i = result.algorithms.index(name)
        for row, rank, measured in zip(grid, result.ranks[i], result.measured[i], strict=True):
            whole = f"{rank:.0f}" if rank == round(rank) else f"{rank:.1f}"
            row.append(whole if measured else f"({rank:.1f})")
    yield Table(
        f"Mean ranks of the whole grid ({result.metric})",
        {"place": "{place}", "algorithm": "{algorithm}", "mean rank": "{mean_rank:.2f}",
         "uncertain by": "{deviation:.2f}", "settled": "{settled}",
         "cells run": f"{{cells_run}} of {len(result.datasets)}", "took": lambda row: duration(row["seconds"])},
        result.to_frame().to_dicts(),
        names=2,
        important=["algorithm", "mean rank", "settled"],
        notes=[MEANING],
    )  # fmt: skip
    yield Table(
        "Ranks by dataset; in brackets: predicted, not measured",
        ["dataset", *result.order],
        grid,
        notes=["A measured cell has a rank with a decimal where others of its dataset are only predicted."],
        most=40,
    )
    if result.steps:
        batches = [
            [n, listing(_named(step), most=2), step.why, len(_named(step)), duration(step.seconds)]
            for n, step in enumerate(result.steps, 1)
        ]
        header = ["batch", "which", "why", "cells", "expected"]
        yield Table("What was run, and why", header, batches, names=3, most=30)


def cost_share(share: float) -> str:
    """A share of the cost, with a decimal where it is small."""
    return percent(share, 0 if share >= 0.1 else 1 if share >= 0.002 else 2)


def _up_to(result: AdaptiveResult) -> str:
    return f"up to {result.indifference:g} mean rank{'' if result.indifference == 1 else 's'}"


def _chance(result: AdaptiveResult) -> str:
    return "known" if result.measured.all() else percent(min(result.probabilities[result.target], 0.999), 1)


def _places(result: AdaptiveResult) -> list[str]:
    """Runs of places that are settled one by one, and of those that are not."""
    first = 2 if result.target == "first" else 1
    lines = []
    for sure, run in groupby(enumerate(result.settled(), 1), key=itemgetter(1)):
        places = [place for place, _ in run if place >= first]
        if places:
            several = f"places {places[0]} to {places[-1]} are"
            whose = several if len(places) > 1 else f"place {places[0]} is"
            lines.append(f"{whose} {'' if sure else 'not '}settled")
    return lines[:4]


CLAIMS = {"first": "first place", "top3": "first three", "ordered": "order", "agreement": "agreement"}


@plot(
    "adaptive_curve",
    "How sure each claim about the whole grid was, as cells were paid for.",
    when=lambda result: result.steps,
)
def plot_curve(result: AdaptiveResult) -> Any:
    """The probability of each claim over the share of the predicted cost, on a logarithmic axis."""
    rows = [
        {"share": max(row["share"], 1e-6), "claim": words, "probability": row[field], "cells": row["done"]}
        for row in result.curve().to_dicts()
        for field, words in CLAIMS.items()
        if row["done"] > 0
    ]
    order = list(CLAIMS.values())
    axis = {"format": "~%", "tickCount": 6}
    lines = marks(rows, "line", interpolate="step-after", strokeWidth=2, point={"size": 18}).encode(
        x=channel("share:Q", title="share of the predicted cost", scale={"type": "log"}, axis=axis),
        y=channel("probability:Q", title="probability of the claim", scale={"domain": [0, 1]}),
        color=channel("claim:N", sort=order, title=None, scale={"domain": order, "range": COLOURS[:4]}),
        tooltip=tips("claim", "share cells probability"),
    )
    level = marks([{"probability": result.confidence}], "rule", color=FAINT, strokeDash=[4, 3])
    return themed(
        (lines + level.encode(y="probability:Q")).properties(width=480, height=260),
        f"Certainty against cost, {result.metric}",
        f"Dashed: {100 * result.confidence:g} %, the level at which a claim is certified",
    )


@plot(
    "adaptive_grid",
    "Ranks on every dataset; those in brackets are predicted from the others and were not measured.",
    table="adaptive_cells",
)
def plot_grid(result: AdaptiveResult) -> Any:
    """Algorithms against datasets: ranks, those that are only predicted in brackets and faint."""
    rows = result.cells().to_dicts()
    for row in rows:
        row["shown"] = f"({row[c.RANK]:.0f})" if row["state"] == "predicted" else f"{row[c.RANK]:.3g}"
        row[c.RANK] = round(row[c.RANK], 2)
    by_size = [result.datasets[j] for j in result.seconds.sum(axis=0).argsort(kind="stable")]
    chart = heat_map(
        rows,
        names_above(c.DATASET, by_size),
        names_down(c.ALGORITHM, result.order),
        rank_fill(c.RANK, len(result.algorithms)),
        tips(f"{c.ALGORITHM} {c.DATASET} state", f"{c.RANK} value seconds"),
        dark=f"datum.rank < {1 + 0.35 * len(result.algorithms)} && datum.state != 'predicted'",
        faint=("datum.state == 'predicted'", 0.55),
        text_size=9,
    ).properties(width=max(240, 26 * len(by_size)), height=max(80, 20 * len(result.algorithms)))
    return themed(
        chart,
        f"What was run, {result.metric}",
        "Ranks on each dataset, cheap datasets first; in brackets: predicted, not measured",
    )


FIGURES = Plots([plot_curve, plot_grid])
SECTION = Section(
    AdaptiveResult, "The whole grid from a part of it", "leaderboard", "adaptive", FIGURES, sentences, tables, order=15
)
