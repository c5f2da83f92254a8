"""The pairs of a verdict in words: how many differ, which neighbours do not, and how one algorithm stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from recassay.analysis.verdict.result import PairVerdict, Verdict
from recassay.core.tables.labels import metric_name
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import count_of, listing
from recassay.reporting.numbers import smallest
from recassay.reporting.words.control import of_control
from recassay.reporting.words.verdict import headline, pair_sentence


def pairs_headline(v: Verdict, words: Vocabulary = USUAL) -> str:
    """How many pairs differ; of two algorithms, whether they do."""
    total, same = len(v.pairs), int(v.identical.sum())
    if v.grade == "not_comparable" or same == total:
        return headline(v, words)
    if v.grade == "too_little_data":
        least = smallest(v.smallest_p)
        return f"No pair can be decided: even winning all {units(v, words)} gives no smaller p than {least}."
    differ, alike = int(v.better.sum()), int(v.equivalent.sum()) - same
    if total == 1 or alike == total:
        return headline(v, words)
    pairs, metric = f"{total} pairs of {words.algorithms}", metric_name(v.metric)
    if differ == total:
        return f"All {pairs} differ in {metric} on {words.datasets} like these."
    if differ + alike + same == 0:
        return f"None of the {pairs} is shown to differ in {metric}."
    undecided = total - differ - alike - same
    rest = _counted((alike, f"equivalent within {100 * v.within:g} %"), (same, "identical"), (undecided, "undecided"))
    verb = "differs" if differ < 2 else "differ"
    return f"{f'{differ} of' if differ else 'None of the'} {pairs} {verb} in {metric}; {rest}."


def _counted(*parts: tuple[int, str]) -> str:
    return listing((f"{count} {'is' if count == 1 else 'are'} {what}" for count, what in parts if count), last="and")


def units(v: Verdict, words: Vocabulary = USUAL) -> str:
    """What counts as one piece of evidence, with its number."""
    families = v.families
    return count_of(len(v.datasets), words.dataset) if families is None else f"{families} families of {words.datasets}"


MOST_NEIGHBOURS = 4


def neighbours(v: Verdict, words: Vocabulary = USUAL) -> str:
    """Which neighbours by mean rank are not shown to differ; where no pair is, how far the first two are apart."""
    if v.grade == "too_little_data":
        least = v.fewest_datasets
        return f"{least} {words.datasets} are the minimum; the numbers describe these {units(v, words)} only."
    if not v.better.any():
        return pair_sentence(v, v.pair(v.leaders[0], v.rival), words)
    couples = list(zip(v.algorithms, v.algorithms[1:], strict=False))
    alike = [(one, other) for one, other in couples if v.status_of(one, other) != "better"]
    if not alike:
        order = listing(v.algorithms, most=8)
        return f"Each {words.algorithm} is better than the next by mean rank: {order}."
    named = listing((f"{one} and {other}" for one, other in alike), most=MOST_NEIGHBOURS)
    return f"Neighbours by mean rank not shown to differ ({len(alike)} of {len(couples)}): {named}."


def control_headline(v: Verdict, words: Vocabulary = USUAL) -> str:
    """How many of the others the control is better and worse than, and with how many nothing is decided."""
    if v.grade == "too_little_data":
        return (
            f"No comparison of {v.control} can be decided: even winning all {units(v, words)} gives no smaller p than "
            f"{smallest(v.smallest_p)}."
        )
    return of_control(v)


def control_scope(v: Verdict, words: Vocabulary = USUAL) -> str:
    """What the comparisons of a control are adjusted for, and when that is valid."""
    if v.grade == "too_little_data":
        return neighbours(v, words)
    count = count_of(len(v.algorithms) - 1, "comparison")
    return f"Adjusted for its {count}; valid if {v.control} was named before the results were seen."


def status_text(v: Verdict, pair: PairVerdict) -> str:
    """The status of the first of a pair against the second; `worse (< 2 %)`: also shown to be within the margin."""
    if pair.identical:
        return "identical"
    if pair.status in ("better", "worse") and v.close(pair):
        return f"{pair.status} (< {100 * v.within:g} %)"
    return pair.status


def effect_cells(pair: PairVerdict) -> tuple[str, str]:
    """The effect and its interval as cells of a table: in percent where it is a ratio."""
    effect = pair.effect
    if effect.kind == "ratio":
        estimate, *ends = (
            f"{round(100 * (end - 1), 1) + 0.0:+.1f}" for end in (effect.estimate, *(effect.interval or ()))
        )
        return f"{estimate} %", f"{ends[0]} to {ends[1]} %" if ends else ""
    estimate, *ends = (f"{end + 0.0:+.3g}" for end in (effect.estimate, *(effect.interval or ())))
    return estimate, f"{ends[0]} to {ends[1]}" if ends else ""


def letter_groups(v: Verdict) -> Iterator[tuple[str, Sequence[int]]]:
    """Each letter of the verdict with the places of its algorithms: those of which no pair is shown to differ."""
    members: dict[str, list[int]] = {}
    for place, letters in enumerate(v.groups):
        for letter in re.findall(r"[a-zA-Z]\d*", letters):
            members.setdefault(letter, []).append(place)
    yield from members.items()
