"""The multiverse: which claims survive the choices of the evaluation, and which choices decide."""

from __future__ import annotations

from collections.abc import Iterator

from recassay.analysis.multiverse.result import Claim, Kind, MultiverseResult, Remark
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import count_of, listing
from recassay.reporting.numbers import between, p_text, percent, smallest

WORTH_NAMING = 0.05
"""Shares of the variance below this are not named in a sentence."""


def sentences(result: MultiverseResult, words: Vocabulary = USUAL) -> Iterator[str]:
    """Who is best in how many universes, where not, what decides, whether it is more than chance, and leaks."""
    main = result.claims[0] if result.claims else None
    if main is not None and main.named:
        seen = main.counts
        yield f"{main.statement} in {seen.ahead} of {seen.universes} universes (tied in {seen.tied}), by mean rank."
    else:
        (first, count), *rest = result.best().items()
        others = listing((f"{name} in {number}" for name, number in rest), most=3)
        tied = " (ties count for each)" if sum(result.best().values()) > result.universes else ""
        yield f"{first} is best in {count} of {result.universes} universes" + (f"; {others}{tied}." if rest else ".")
    if main is not None and main.fails:
        yield f"It fails mainly under {exceptions(main)}."
    if main is not None and len(main.by_dataset) > 1:
        (low, fewest), *_, (high, most) = sorted(main.by_dataset.items(), key=lambda kv: kv[1][0] / max(sum(kv[1]), 1))
        ends = f"{fewest[0]} of {sum(fewest)} universes on {low} and in {most[0]} of {sum(most)} on {high}"
        yield f"On single {words.datasets} it is ahead in {ends}."
    yield from _deciding(result)
    if main is not None:
        counts = main.counts
        yield (
            f"Within single universes the claim is significant in {counts.holds}, undecided in {counts.undecided} and "
            f"reversed in {counts.reversed}."
        )
        yield _joint(result, main, words)
    yield from _drift(result, words)
    if result.seeds:
        parts = listing((f"{seed.seed} {percent(seed.share)}" for seed in result.seeds), most=None)
        shares = f"; of the variance that they cause: {parts}" if len(result.seeds) > 1 else ""
        yield f"Seeds alone move a value by up to {percent(result.seeds[0].swing)} of its mean{shares}."
    leaky = int(result.leaky.sum())
    if leaky and main is not None and main.leaky is not None:
        seen_there = main.leaky.ahead + (main.leaky.tied if main.rival is None else 0)
        which = "the universe" if leaky == 1 else f"the {leaky} universes"
        yield f"In {which} marked as leaky, not counted above, {main.statement} in {seen_there}."


def level(result: MultiverseResult) -> str:
    """The level of the intervals."""
    return f"{100 * (1 - result.settings.alpha):g} %"


def _deciding(result: MultiverseResult) -> Iterator[str]:
    """The choices that explain most of the differences between the rankings."""
    ranked = sorted((s for s in result.shares if s.axes), key=lambda share: -share.share)
    if len(result.axes) < 2 or not ranked:
        return
    parts = []
    for share in ranked[:3]:
        if share.share >= WORTH_NAMING:
            ends = share.interval
            sure = "" if ends is None else f" ({level(result)} interval {between(100 * ends[0], 100 * ends[1], 0)} %)"
            parts.append(f"{share.name} {percent(share.share)}{sure}")
    if parts:
        yield f"The deciding choices, by their share of the differences between rankings: {listing(parts)}."
    else:
        yield "No choice decides: no axis explains 5 % of the differences between the rankings."


def _joint(result: MultiverseResult, main: Claim, words: Vocabulary) -> str:
    """Whether the claim has more support over all universes than chance gives."""
    if main.p is None:
        return f"There is no joint test: fewer than two {words.algorithms} are in every universe."
    sure = "more than" if main.p < result.settings.alpha else "not more than"
    return (
        f"Over all universes its support is {sure} equal {words.algorithms} would reach (mean lead {main.lead:.2f} "
        f"mean ranks; {count_of(len(result.datasets), words.dataset)}; joint {p_text(main.p)})."
    )


def _drift(result: MultiverseResult, words: Vocabulary) -> Iterator[str]:
    """Whether the order changes over the windows of time."""
    drift = result.drift
    if drift is None:
        return
    size = f"{drift.windows} windows, {count_of(drift.datasets, words.dataset)}"
    where = f"({size}; {p_text(drift.p)})"
    if drift.smallest_p >= result.settings.alpha:
        least = f"the smallest possible p is {smallest(drift.smallest_p)}"
        yield f"So few windows cannot show a drift of the order over time ({size}; {least})."
    elif drift.p >= result.settings.alpha:
        yield f"No drift of the order over time is seen {where}."
    else:
        gains, loses = min(drift.slopes, key=drift.slopes.__getitem__), max(drift.slopes, key=drift.slopes.__getitem__)
        moved = f"{gains} gains {-drift.slopes[gains]:.1f} ranks, {loses} loses {drift.slopes[loses]:.1f}"
        yield f"The order drifts over time {where}: from the first window to the last {moved}."


def exceptions(claim: Claim) -> str:
    """Where a claim is not seen; empty where there is nothing to say."""
    return "; ".join(
        f"{' and '.join(f'{axis} = {choice}' for axis, choice in each.choices.items())} ({each.fails} of {each.of} "
        "such universes)"
        for each in claim.fails
    )


def notes(result: MultiverseResult, words: Vocabulary = USUAL) -> list[str]:
    """What the reading noted, what was done to the tables, and what they do not allow."""
    return [*result.reading, *(_remark(each, words) for each in result.remarks)]


def _remark(each: Remark, words: Vocabulary) -> str:
    names, some = listing(each.names), f"{each.count} of {each.of}"
    others = listing(each.names[1:])
    lost = "with missing cells were left out"
    texts: dict[Kind, str] = {
        "costs_left_out": f"Costs are not measures of quality, and left out unless named as metric: {names}.",
        "kinds_left_out": f"By default metrics of one kind are alternatives; left out: {names}.",
        "identical": f"{some} universes have the same numbers as another: they count once.",
        "properties": f"Not a choice, since it never changes for a given {words.algorithm}, {words.dataset} and metric"
        f": {names}.",
        "measurements": f"Not a choice, since its numbers look like measurements: {names}.",
        "averaged": f"Values are means over {names}." if each.names else "Repeated values are averaged.",
        "together": f"{others} always change{'s' if len(each.names) == 2 else ''} together with "
        f"{''.join(each.names[:1])}: they count as one axis.",
        "universes_left_out": f"{each.count} universes were left out: without two {words.algorithms} on "
        f"{words.a_dataset}.",
        "datasets_left_out": f"In {each.count} universes {words.datasets} {lost}.",
        "algorithms_left_out": f"In {each.count} universes {words.algorithms} {lost}.",
        "unbalanced": f"The universes are not balanced: {some} lack {words.algorithms} or {words.datasets} of others.",
        "single_dataset": f"{each.count} universes have one {words.dataset}: they show an order there, and nothing "
        "about others.",
        "undecidable": f"In {some} universes no difference could be significant: they have too few {words.datasets}.",
        "no_shares": f"It was not estimated which choice decides: too many combinations, or no two {words.algorithms} "
        "in every universe.",
    }
    return texts[each.kind]
