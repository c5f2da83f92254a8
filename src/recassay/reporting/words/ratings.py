"""Ratings by Bradley and Terry: the tournament without an order."""

from __future__ import annotations

from recassay.analysis.ratings.result import RatingsResult
from recassay.core.choices import FEWEST_DATASETS
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import count_of
from recassay.reporting.numbers import between, percent


def sentences(result: RatingsResult, words: Vocabulary = USUAL) -> list[str]:
    """The two best and how often the first would beat the second; nothing below five datasets."""
    if result.battles is None and len(result.datasets) < FEWEST_DATASETS:
        return []
    first, second = result.order()[:2]
    gap, wins = result.lead()
    low, high = result.interval[first].tolist()
    if high == float("inf"):
        return [
            f"{result.algorithms[first]} won all {rounds(result, words)} against every other: its true share is at "
            f"least {percent(result.least_share())} ({100 * result.confidence:g} %; rating {low:.0f} or more)."
        ]
    over = words.datasets if result.battles is None else rounds(result)
    drawn = over if result.families is None else f"{result.families} families of {words.datasets}"
    return [
        f"By Bradley-Terry {result.algorithms[first]} is rated {result.rating[first]:.0f} ({100 * result.confidence:g} "
        f"% {between(low, high, 0)} over {drawn}), {gap:.0f} points before {result.algorithms[second]}: it would win "
        f"{percent(wins)} of pairwise comparisons."
    ]


def rounds(result: RatingsResult, words: Vocabulary = USUAL) -> str:
    """What the ratings rest on, with its number: `30 datasets`, `5,000 battles`."""
    return count_of(len(result.datasets), words.dataset) if result.battles is None else f"{result.battles:,} battles"
