"""What the cells of an adaptive run say about the whole grid."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from recassay.analysis.adaptive.result import AdaptiveResult, Step
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import count_of, duration, listing
from recassay.reporting.numbers import number, percent

MEANING = (
    "Probabilities are about the grid of this study alone, under the belief described in the documentation: what "
    "running every cell would have said. They are not claims about other {datasets} (recassay model makes that one). "
    "Predicted ranks stand in brackets; they were not measured."
)


NOTHING = 0.05
"""A prior that counts for fewer measured datasets counts for nothing."""


WHOLE = {"first": "the first place", "top3": "the first three", "order": "the order", "rho": "the order"}


def standing(result: AdaptiveResult, words: Vocabulary = USUAL) -> str:
    """How things stand, in one line: what is settled, what is not, the cost so far, and what is next."""
    done, total = int(result.measured.sum()), int(result.measured.size)
    up_to = {"order": f" {_up_to(result)}", "rho": f" (rho at least {result.rho:g})"}.get(result.target, "")
    parts = [f"{WHOLE[result.target]}{up_to} is {'' if result.certified else 'not '}settled ({_chance(result)})"]
    parts += _places(result)
    probed = f" and {count_of(result.probed, 'probe')}" if result.probed else ""
    parts.append(f"{done} of {total} cells{probed}, {cost_share(result.share)} of the predicted cost")
    if result.next is not None:
        first, *rest = named(result.next)
        others = f" and {len(rest)} more" if rest else ""
        parts.append(f"next: {first}{others}, {duration(result.next.seconds)}")
    elif result.ended is not None:
        parts.append(ENDS[result.ended])
    if result.prior:
        tables = listing([source.partition(" (")[0] for source in result.prior], most=2, last="and")
        parts.append(f"prior: {tables}, as much as {number(result.prior_weight)} {words.datasets}")
    return "; ".join(parts)


def named(step: Step) -> list[str]:
    """The probes and cells of a batch, by name."""
    return [f"a probe of {a} on {d}" for a, d in step.probes] + [f"{a} on {d}" for a, d in step.cells]


ENDS = {
    "certified": "nothing more has to be run",
    "budget": "the budget is spent",
    "complete": "every cell was run",
    "stuck": "no further cell can be run",
}


def sentences(result: AdaptiveResult, words: Vocabulary = USUAL) -> Iterator[str]:
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
            f"{cells} probed besides ({duration(result.probes_took)}, counted above): a cheaper look that says "
            "something about the cell and stands in no table."
        )
    if result.prior:
        started = f"It started from {listing(result.prior, most=4, last='and')}, which"
        if done and result.prior_weight < NOTHING:
            yield f"{started} the new cells contradict: that counts for nothing now."
        else:
            count = f"{number(result.prior_weight)} measured {words.datasets}"
            yield f"{started} now count as much as {count} (the less, the more new cells disagree)."
    unseen = int((~result.measured[result.algorithms.index(leader)]).sum())
    if unseen and done:
        yield (
            f"{leader} was not run on {unseen} of {len(result.datasets)} {words.datasets}; that it fails on any of "
            f"them is counted as {percent(result.leader_fails)} probable."
        )
    if result.target != "first":
        yield f"{leader} is first with {percent(result.probabilities['first'])}."
    for text in _places(result):
        yield f"{text[0].upper()}{text[1:]}."
    if result.next is not None:
        yield f"Next: {listing(named(result.next), most=4)} ({duration(result.next.seconds)})."


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
