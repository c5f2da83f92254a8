"""Popularity strata: whether the order of the algorithms is an order on popular items only."""

from __future__ import annotations

from collections.abc import Iterator

from recassay.analysis.strata.result import DatasetStrata, StrataResult
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import count_of, listing
from recassay.reporting.numbers import percent


def sentences(result: StrataResult, words: Vocabulary = USUAL) -> Iterator[str]:
    """Where the order changes with the popularity of the items, as far as the tests support it."""
    changed, n = _changed(result), len(result.datasets)
    if not changed:
        ends = sum(dataset.sensitivity.proven for dataset in result.datasets)
        differ = "1 pair differs" if ends == 1 else f"{ends} pairs differ"
        both = f" {differ} significantly at both ends, before correction for the search over thresholds."
        yield (
            f"That two {words.algorithms} change places with the popularity of the held-out items is not shown on "
            f"{_any(n, words)}. {_distance(result, words)}{both if ends else ''}"
        )
        return
    flips = list(map(_flips, changed[:SHOWN_DATASETS]))
    left = len(changed) - SHOWN_DATASETS
    more = [f"and {count_of(left, f'more {words.dataset}')}"] if left > 0 else []
    yield (
        f"On {_some_of(len(changed), n, words)} the order in {result.metric} changes with the popularity of the "
        f"held-out items, significantly on both sides: {'; '.join([*flips, *more])}. {_distance(result, words)}"
    )
    yield from _other_leaders(result, words)


def _distance(result: StrataResult, words: Vocabulary) -> str:
    """How far the two orders are apart, beside what chance alone puts between two orders."""
    study, n = result.study, len(result.datasets)
    if study.estimate != study.estimate:
        return f"On the least popular items no two {words.algorithms} have an order: nothing was hit there."
    over = "" if n == 1 else f", on average over {n} {words.datasets}"
    judged = "more than chance gives" if study.beyond_chance else "no more than chance may give"
    return (
        f"Between the least popular items and all items {percent(study.estimate)} of the pairs with an order at both "
        f"ends turn round{over}: {judged} (between random halves of the {words.users} at one and the same threshold "
        f"{percent(study.chance.mean)}, {100 * result.confidence:g} % of the halvings {percent(study.chance.low)} to "
        f"{percent(study.chance.high)})."
    )


SHOWN_DATASETS, SHOWN_FLIPS = 3, 2


def _changed(result: StrataResult) -> list[DatasetStrata]:
    """The datasets with a crossing that is significant on both sides."""
    return [dataset for dataset in result.datasets if any(crossing.proven for crossing in dataset.crossings)]


def _flips(dataset: DatasetStrata) -> str:
    """The proven crossings of a dataset, those first whose winner on all items ranks highest there."""
    place = {name: float(dataset.rank[-1, a]) for a, name in enumerate(dataset.algorithms)}
    proven = [crossing for crossing in dataset.crossings if crossing.proven]
    shown = [
        f"{pair.first} leads {pair.second} below P = {pair.threshold:.0f} and trails above"
        for pair in sorted(proven, key=lambda pair: (place[pair.second], place[pair.first]))[:SHOWN_FLIPS]
    ]
    left = len(proven) - SHOWN_FLIPS
    more = f" (and {count_of(left, 'more pair')})" if left > 0 else ""
    return f"on {dataset.dataset} {', '.join(shown)}{more}"


def _other_leaders(result: StrataResult, words: Vocabulary) -> list[str]:
    """Who is first without the popular items, where that is another one and each beats the other at its own end."""
    leaders = []
    for dataset in result.datasets:
        first, last = dataset.order(0)[0], dataset.first_on_all()
        worse = dataset.told_from_best(result.alpha)
        if first != last and worse[0, dataset.algorithms.index(last)] and worse[-1, dataset.algorithms.index(first)]:
            leaders.append(f"on {dataset.dataset} {first} in place of {last} (P = {dataset.thresholds[0]})")
    return (
        [f"Without the popular items another {words.algorithm} is first: {listing(leaders, most=3)}."]
        if leaders
        else []
    )


def _some_of(n: int, of: int, words: Vocabulary) -> str:
    return f"the {words.dataset}" if of == 1 else f"{n} of {of} {words.datasets}"


def _any(n: int, words: Vocabulary) -> str:
    return f"the {words.dataset}" if n == 1 else f"any of {n} {words.datasets}"
