"""A review of a paper: its tables as they were read, the flags, the claims and the verdicts."""

from __future__ import annotations

from collections.abc import Iterator

from recassay.analysis.review.result import ReviewResult
from recassay.reporting.section import Brief, Section, Table, nothing
from recassay.reporting.words import review as words


def tables(result: ReviewResult) -> Iterator[Table]:
    """What was read, every flag, every claim, every verdict."""
    read = []
    for table in result.tables:
        flags = sum(flag.table == table.number for flag in result.flags)
        why = "; ".join((table.reason, *table.notes))
        read.append([table.number, words.KINDS[table.kind], len(table.entries), flags, table.caption[:60], why])
    yield Table("What was read", ["table", "kind", "results", "flags", "caption", "why"], read, names=2,
                important=("kind", "flags", "results", "caption"))  # fmt: skip
    if result.flags:
        rows = [[flag.table, words.flag_sentence(flag), words.certainty(flag)] for flag in result.flags]
        yield Table("Flags", ["table", "what", "how sure"], rows, names=3)
    if result.claims:
        checked = [[claim.place, claim.text, words.claim_line(claim)] for claim in result.claims]
        yield Table("Claims", ["place", "sentence", "standing"], checked, names=3)
    if result.verdicts:
        yield Table("Verdicts", ["verdict"], [[words.verdict_line(each)] for each in result.verdicts])


def brief(result: ReviewResult) -> Brief:
    """What a terminal shows first."""
    first, *others = words.sentences(result)
    return Brief(first, sentences=tuple(others))


SECTION = Section(
    ReviewResult, "Review of a paper", "robustness", "review", nothing, words.sentences, tables, order=200, brief=brief
)
