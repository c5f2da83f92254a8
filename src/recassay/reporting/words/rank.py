"""The leaderboard: who is first under each aggregation, and how firmly."""

from __future__ import annotations

from recassay.analysis.rank.result import RankResult
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import listing
from recassay.reporting.words import verdict as judged
from recassay.reporting.words.missing import missing_cells


def sentences(result: RankResult, words: Vocabulary = USUAL) -> list[str]:
    """The verdict, and whether the aggregations agree on who is first."""
    verdict = result.judgement
    notes = [f"{name} was left out: it {reason}." for name, reason in result.skipped.items()]
    missing = missing_cells(result.missing, words)
    agreement = [] if verdict.grade == "not_comparable" or verdict.leads_again is None else [_agreement(result)]
    lines = [judged.headline(verdict, words), *judged.sentences(verdict, words), *agreement, *notes]
    return [*lines, missing] if missing else lines


def _agreement(result: RankResult) -> str:
    """Who is first under which aggregation, each counted once; the verdict speaks of the best mean rank."""
    places, total = result.first_places(), len(result.counted())
    leader = result.judgement.leaders[0]
    if all(leader in names for names in places):
        ties = [
            f"{listing((name for name in names if name != leader), last='and')} under {listing(titles, most=4)}"
            for names, titles in places.items()
            if len(names) > 1
        ]
        tied = f", tied with {'; '.join(ties)}" if ties else ""
        return f"{leader} is first under all {total} aggregations{tied}."
    ordered = sorted(places.items(), key=lambda item: (len(item[0]) > 1, item[0][0] != leader, -len(item[1])))
    counts = [
        f"{listing(names, most=3, last='and')}{' tied' if len(names) > 1 else ''} by {listing(titles, most=4)} "
        f"({len(titles)} of {total})"
        for names, titles in ordered
    ]
    return f"The aggregations disagree on who is first: {'; '.join(counts)}."


def aggregations(result: RankResult) -> str:
    """How many aggregations there are; those that always agree with another one are named, and not counted."""
    same = listing((f"{title} (orders like {other})" for title, other in result.uncounted().items()), last="and")
    return f"{len(result.counted())} aggregations{f' and {same}' if same else ''}"
