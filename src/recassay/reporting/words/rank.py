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
    """Who is first under which aggregation; the verdict speaks of the best mean rank."""
    firsts, total = result.firsts(), len(result.counted())
    leader = result.judgement.leaders[0]
    others = {name: titles for name, titles in firsts.items() if name != leader}
    if len(firsts.get(leader, [])) == total:
        ties = [f"{name} under {listing(titles, most=4)}" for name, titles in others.items()]
        tied = f", tied with {'; '.join(ties)}" if ties else ""
        return f"{leader} is first under all {total} aggregations{tied}."
    counts = [
        f"{name} by {listing(titles, most=4)} ({len(titles)} of {total})"
        for name, titles in sorted(firsts.items(), key=lambda item: (item[0] != leader, -len(item[1])))
    ]
    tied = " (ties count for each)" if sum(map(len, firsts.values())) > total else ""
    return f"The aggregations disagree on who is first: {'; '.join(counts)}{tied}."
