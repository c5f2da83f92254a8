"""What of a benchmark survives, in words: made of the measured numbers and of nothing else."""

from __future__ import annotations

import numpy as np

from recassay.analysis.stress.result import (
    ERRORS,
    FEW_ALGORITHMS,
    FEW_DATASETS,
    KEPT,
    SETTINGS,
    Change,
    Conclusion,
    StressResult,
    Survival,
)
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import listing
from recassay.reporting.numbers import percent

RESHUFFLED = 0.9
"""A lowest rho below this means that adding an algorithm reshuffles the others, not only swaps a few neighbours."""


def sentences(result: StressResult, words: Vocabulary = USUAL) -> list[str]:
    """The first place, single datasets that decide it, the rest of the order, the algorithms, and few datasets."""
    return [
        first_place(result, words),
        deciding(result, words),
        order(result),
        added(result, "similar", f"a near-copy of one {words.algorithm}"),
        added(result, "new_best", f"a new best {words.algorithm}"),
        few_datasets(result, words),
    ]


def when(change: Change, words: Vocabulary = USUAL) -> str:
    """What was changed, as the end of a sentence."""
    if change.kind == "copies":
        return f"a slightly better or worse copy of one {words.algorithm} is added"
    which = words.datasets if change.kind == "datasets" else words.algorithms
    return f"{change.left_out} of the {change.of} {which} {'is' if change.left_out == 1 else 'are'} left out"


def statement(conclusion: Conclusion) -> str:
    """What is concluded."""
    first, *second = conclusion.algorithms
    return f"{first} is before {second[0]}" if second else f"{first} is first"


def sign_titles(result: StressResult, words: Vocabulary = USUAL) -> list[str]:
    """What each row of the table of plus and minus is about."""
    titles = {
        "pareto": "Pareto efficiency",
        "few_datasets": f"Only {{}} {words.datasets}",
        "few_algorithms": f"Only {{}} {words.algorithms}",
        "similar": "Adding a similar one",
        "new_best": "Adding a new best one",
        "settings": "Changing beta",
    }
    return [titles[row.name].format(row.size) for row in result.signs]


def sign_rules(result: StressResult, words: Vocabulary = USUAL) -> list[str]:
    """What makes a plus in each of these rows."""
    small = result.subsets[0]
    within = f"+ unless below {{bound}} by more than {ERRORS:g} standard errors"
    lowest = "number: lowest rho of the others' order over {}; + where it is 1, so that their order never changes"
    rules = {
        "pareto": f"number: share of the {small.dominated} dominated pairs, over {small.tried} draws of {{size}} "
        f"{words.datasets}, that are ranked the wrong way round; + where none is",
        "few_datasets": f"number: mean rho of a ranking from {{size}} {words.datasets} with that from all; {within}",
        "few_algorithms": f"number: mean rho of a ranking of {{size}} {words.algorithms} with their order among all; "
        f"{within}",
        "similar": lowest.format("all copies"),
        "new_best": lowest.format("all factors"),
        "settings": f"number: lowest rho over beta; + from {SETTINGS} on; NA where there is no beta",
    }
    bounds = {"few_datasets": FEW_DATASETS, "few_algorithms": FEW_ALGORITHMS}
    return [rules[row.name].format(size=row.size, bound=bounds.get(row.name)) for row in result.signs]


STRENGTHS = {
    "drop_datasets": "{datasets} left out",
    "drop_algorithms": "{algorithms} left out",
    "similar": "copy's factor to its original",
    "new_best": "new best's factor to the best",
    "beta": "largest ratio beta",
}
"""What the strength of each change is, as an axis names it."""


def first_place(result: StressResult, words: Vocabulary = USUAL) -> str:
    """Whether the leader by mean rank stays first when several datasets are left out."""
    conclusion = _first(result, result.main)
    least = int(np.argmin(conclusion.shares))
    tables = f"all {result.main.tried} choices" if result.main.exhaustive else f"{result.main.tried} random choices"
    half = _first(result, result.half)
    again = "" if half == conclusion else f"; when {when(half.change, words)}, under {_count(half, result)}"
    weakest = f" (least under {result.titles[least]}, {percent(conclusion.shares[least])})"
    often = f"at least {percent(KEPT)} of {tables}"
    if conclusion.shares[least] == 1.0:
        often, weakest = tables.replace("all ", "each of "), ""
    return (
        f"The first place of {conclusion.algorithms[0]} {conclusion.verdict} when {when(conclusion.change, words)}: it "
        f"stays first in {often} under {_count(conclusion, result)}{weakest}{again}."
    )


def deciding(result: StressResult, words: Vocabulary = USUAL) -> str:
    """Single datasets without which the leader is no longer first."""
    leader = result.algorithms[result.order[0]]
    lost = result.deciding
    if not lost.any():
        return f"No single {words.dataset} decides it: without any one of them, {leader} stays first wherever it was."
    by_dataset = [
        f"{result.datasets[d]} (under {listing([result.titles[r] for r in np.flatnonzero(lost[:, d])], most=3)})"
        for d in np.argsort(-lost.sum(axis=0), kind="stable")
        if lost[:, d].any()
    ]
    return f"Single {words.datasets} decide it: {leader} is no longer first without {listing(by_dataset, most=4)}."


def order(result: StressResult) -> str:
    """Which places are firm, and where the order is not to be relied on."""
    names, place, firm, loose = result.algorithms, 1, [], []
    for tier in result.tiers:
        if len(tier) == 1:
            firm.append(f"{names[tier[0]]} ({place})")
        else:
            among = listing([names[a] for a in tier], most=8)
            loose.append(f"places {place} to {place + len(tier) - 1} ({among})")
        place += len(tier)
    if not firm and len(loose) == 1:
        return f"No part of the order survives that: {loose[0]} have no stable order."
    if not loose:
        return f"The whole order survives that: {listing([names[a] for a in result.order], most=12)}."
    kept = f"the places of {listing(firm, most=8)} survive that; " if firm else ""
    return f"Of the order, {kept}the order within {' and within '.join(loose)} does not."


def added(result: StressResult, name: str, what: str) -> str:
    """Aggregations whose order of the others changes when an algorithm is added."""
    row = next(row for row in result.signs if row.name == name)
    moved = sorted(
        (number, title)
        for number, title, sign in zip(row.numbers, result.titles, row.signs, strict=True)
        if sign == "-"
    )
    if not moved:
        return f"{what[0].upper()}{what[1:]} leaves the order of the others as it is under every aggregation."
    bad = [f"{title} (rho down to {number:.2f})" for number, title in moved if number < RESHUFFLED]
    little = [f"{title} ({_below_one(number)})" for number, title in moved if number >= RESHUFFLED]
    swaps = f"{listing(little, most=6)}: it moves the others a little"
    if not bad:
        return f"Under no aggregation does {what} reshuffle the others; under {swaps} (lowest rho)."
    them = "them" if len(bad) > 1 else "it"
    sentence = f"Under {listing(bad, most=6)} {what} reshuffles the others; do not rank by {them} here"
    return f"{sentence}. Under {swaps} (lowest rho)." if little else f"{sentence}."


def few_datasets(result: StressResult, words: Vocabulary = USUAL) -> str:
    """How far a ranking from few datasets can be trusted."""
    small = result.subsets[0]
    mean = small.numbers["full"][:, 0]
    best, worst = int(np.argmax(mean)), int(np.argmin(mean))
    if "disjoint" not in small.numbers:
        return (
            f"A ranking from {small.size} of the {len(result.datasets)} {words.datasets} agrees with that from all, "
            f"which contains it, to rho {mean[best]:.2f} at best ({result.titles[best]}) and {mean[worst]:.2f} at "
            f"worst ({result.titles[worst]})."
        )
    alone = small.numbers["disjoint"][:, 0]
    best, worst = int(np.argmax(alone)), int(np.argmin(alone))
    return (
        f"Two rankings from {small.size} {words.datasets} each, none in common, agree to rho {alone[best]:.2f} at best "
        f"({result.titles[best]}) and {alone[worst]:.2f} at worst ({result.titles[worst]}); with the ranking from all "
        f"{len(result.datasets)}, which contains them, {mean[best]:.2f} and {mean[worst]:.2f}."
    )


def _first(result: StressResult, survived: Survival) -> Conclusion:
    return next(x for x in result.conclusions if x.kind == "first" and x.change == survived.change)


def _count(conclusion: Conclusion, result: StressResult) -> str:
    held, count = conclusion.holds_under, len(result.titles)
    if held == count:
        return f"all {count} aggregations"
    return f"{held or 'none'} of the {count} aggregations"


def _below_one(rho: float) -> str:
    """Two digits, or as many as keep it from reading as 1."""
    return next(text for digits in (2, 3, 4, 9) if (text := f"{rho:.{digits}f}") != f"{1:.{digits}f}" or digits == 9)
