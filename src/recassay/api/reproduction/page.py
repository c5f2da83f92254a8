"""The page of the documentation that `reproduce` makes: every number beside the printed one."""

from __future__ import annotations

from itertools import groupby

from recassay.api.reproduction.result import ReproducedNumber, ReproduceResult, shown
from recassay.data.published.printed import VERDICTS, PaperRecord

_HEAD = """# The papers' numbers, recomputed

This page is made by `recassay reproduce --markdown docs/reproduction.md`, from the published tables that come with
RecAssay (`published:kdd24` and the others: see [importing](importing.md)). Run `recassay reproduce` to check it: it
takes less than a minute, and ends with exit code 1 where a number that used to agree no longer does.

- **exact**: a count, a word, or a number given in full, and ours is the same.
- **printed digits**: ours rounds to the printed number.
- **near**: within what chance or another snapshot of the data explains.
- **does not follow**: the printed number cannot be had from what is public; the reason is given.
"""


def markdown(result: ReproduceResult) -> str:
    """Counts, what does not follow and why, then every number by paper and table."""
    counts = result.count()
    told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS)
    parts = [_HEAD, f"Of {len(result.numbers)} numbers: {told}.", _summary(result)]
    parts += [_paper(result, paper) for paper in result.papers]
    return "\n".join(parts).rstrip() + "\n"


def _summary(result: ReproduceResult) -> str:
    lines = [f"\n| paper | table | {' | '.join(VERDICTS)} |", f"|---|---|{'--:|' * len(VERDICTS)}"]
    for row in result.summary().iter_rows(named=True):
        lines.append(
            f"| {row['paper']} | {row['table']} | {' | '.join(str(row[verdict] or '') for verdict in VERDICTS)} |"
        )
    return "\n".join([*lines, ""])


def _paper(result: ReproduceResult, paper: PaperRecord) -> str:
    own = [one for one in result.numbers if one.told.paper == paper.name]
    lines = [f"## {paper.name}", "", paper.title, ""]
    reasons = list(dict.fromkeys(one.reason for one in own if one.reason))
    for reason in reasons:
        where = list(dict.fromkeys(one.told.table for one in own if one.reason == reason))
        count = sum(one.reason == reason for one in own)
        lines.append(f"- {', '.join(where)} ({count} numbers): {reason}.")
    lines += [f"- Not recomputed: {what}: {why}." for what, why in paper.not_recomputed]
    for table, numbers in groupby(own, key=lambda one: one.told.table):
        lines += [
            "",
            f"### {paper.name}: {table}",
            "",
            "| row | column | printed | ours | verdict |",
            "|---|---|--:|--:|---|",
        ]
        lines += [_line(one) for one in numbers]
    return "\n".join([*lines, ""])


def _line(one: ReproducedNumber) -> str:
    told = one.told
    return f"| {told.row} | {told.column} | {told.printed} | {shown(one.ours, told.digits)} | {one.verdict} |"
