"""The verb `reproduce`: every number of the papers that can be computed again, beside the printed one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from recassay.api.arguments import checked
from recassay.api.reproduction import kdd24
from recassay.api.reproduction import papers as others
from recassay.api.reproduction.result import ReproducedNumber, ReproduceResult, shown
from recassay.core.errors import UsageError
from recassay.core.names import canonical, did_you_mean
from recassay.data.published.printed import VERDICTS, PrintedNumber, Verdict, papers, printed_numbers

RECOMPUTED = {
    "kdd24": kdd24.numbers,
    "bi-reirt": others.bi_reirt,
    "decodirt": others.decodirt,
    "comper": others.comper_tables,
    "popularity-stratified": others.popularity,
    "textbooks": others.textbooks,
}
"""By paper, the function that computes its numbers again."""

_HEAD = """# The papers' numbers, one by one

This page is made by `recassay reproduce --markdown docs/evidence/reproduction.md`, from the published tables that come
with RecAssay (`published:kdd24` and the others: see [importing](../importing.md)). The short answer is on
[the papers' numbers](../reproduction.md). Run `recassay reproduce` to check it: it
takes less than a minute, and ends with exit code 1 where a number that used to agree no longer does.

- **exact**: a count, a word, or a number given in full, and ours is the same.
- **printed digits**: ours rounds to the printed number.
- **near**: within what chance or another snapshot of the data explains.
- **does not follow**: the printed number cannot be had from what is public; the reason is given.
"""


@checked
def reproduce(paper: str | Sequence[str] | None = None) -> ReproduceResult:
    """Compute again every number of the papers that follows from public tables, and judge it.

    A number is `exact` where it is a count, a word or given in full and agrees, agrees to its `printed digits`, is
    `near` where it is within what chance or another snapshot explains, or `does not follow`. The list of printed
    numbers holds the verdict that each had: what falls below it is in `fallen`.

    Args:
        paper: the name of a paper (`kdd24`, `bi-reirt`, `decodirt`, `comper`, `popularity-stratified`, `textbooks`), or
            several; by default all.
    """
    known = papers()
    asked = list(known) if paper is None else [paper] if isinstance(paper, str) else list(paper)
    names = []
    for wanted in asked:
        known_name = {canonical(name): name for name in known}.get(canonical(wanted))
        if known_name is None:
            raise UsageError(f"there is no paper {wanted!r}", fix=did_you_mean(wanted, known))
        names.append(known_name)
    numbers = []
    for name in dict.fromkeys(names):
        ours = RECOMPUTED[name]()
        numbers += [
            _judged(number, ours.get((number.table, number.row, number.column)))
            for number in printed_numbers()
            if number.paper == name
        ]
    return ReproduceResult(tuple(known[name] for name in dict.fromkeys(names)), tuple(numbers))


def _judged(wanted: PrintedNumber, ours: float | str | None) -> ReproducedNumber:
    if ours is None or isinstance(ours, str):
        same = ours is not None and canonical(str(ours)) == canonical(wanted.printed)
        return ReproducedNumber(wanted, ours, None, "exact" if same else "does not follow")
    printed = float(wanted.printed)
    difference = ours - printed
    in_full = wanted.digits is None or (wanted.digits == 0 and float(ours).is_integer())
    if in_full and abs(difference) <= 1e-9 * max(1.0, abs(printed)):
        verdict: Verdict = "exact"
    elif wanted.digits is not None and abs(difference) <= 0.5 * 10.0**-wanted.digits + 1e-9:
        verdict = "printed digits"
    else:
        verdict = "near" if abs(difference) <= wanted.near else "does not follow"
    return ReproducedNumber(wanted, float(ours), difference, verdict)


def reproduction_page(result: ReproduceResult) -> str:
    """The page of the documentation that tells every number.

    Args:
        result: what `reproduce` returned.
    """
    counts = result.count()
    lines = [
        _HEAD,
        f"Of {len(result.numbers)} numbers: {', '.join(f'{counts[verdict]} {verdict}' for verdict in VERDICTS)}.",
        "",
        f"| paper | table | {' | '.join(VERDICTS)} |",
        f"|---|---|{'--:|' * len(VERDICTS)}",
    ]
    for row in result.summary().iter_rows(named=True):
        shares = " | ".join(str(row[verdict] or "") for verdict in VERDICTS)
        lines.append(f"| {row['paper']} | {row['table']} | {shares} |")
    for paper in result.papers:
        of_paper = [number for number in result.numbers if number.published.paper == paper.name]
        lines += ["", f"## {paper.name}", "", paper.title, ""]
        for reason in dict.fromkeys(judged.reason for judged in of_paper if judged.reason):
            places = [judged.published.table for judged in of_paper if judged.reason == reason]
            lines.append(f"- {', '.join(dict.fromkeys(places))} ({len(places)} numbers): {reason}.")
        lines += [f"- Not recomputed: {what}: {why}." for what, why in paper.not_recomputed]
        for table, numbers in groupby(of_paper, key=lambda judged: judged.published.table):
            lines += ["", f"### {paper.name}: {table}", "", "| row | column | printed | ours | verdict |"]
            lines.append("|---|---|--:|--:|---|")
            for number in numbers:
                published = number.published
                ours = shown(number.ours, published.digits)
                cells = (published.row, published.column, published.printed, ours, number.verdict)
                lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines).rstrip() + "\n"
