"""The verb `reproduce`: every number of the papers that can be computed again, beside the printed one."""

from __future__ import annotations

from collections.abc import Sequence

from recassay.api.arguments import checked
from recassay.api.reproduction import bi_reirt, comper, decodirt, kdd24, popularity, textbooks
from recassay.api.reproduction.page import markdown
from recassay.api.reproduction.result import ReproducedNumber, ReproduceResult
from recassay.core.errors import UsageError
from recassay.core.names import canonical, did_you_mean
from recassay.data.published.printed import PrintedNumber, Verdict, papers, printed_numbers

RECOMPUTED = {
    "kdd24": kdd24.numbers,
    "bi-reirt": bi_reirt.numbers,
    "decodirt": decodirt.numbers,
    "comper": comper.numbers,
    "popularity-stratified": popularity.numbers,
    "textbooks": textbooks.numbers,
}
"""By paper, the function that computes its numbers again."""


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
    for one in asked:
        found = {canonical(name): name for name in known}.get(canonical(one))
        if found is None:
            raise UsageError(f"there is no paper {one!r}", fix=did_you_mean(one, known))
        names.append(found)
    numbers = []
    for name in dict.fromkeys(names):
        ours = RECOMPUTED[name]()
        numbers += [
            _judged(one, ours.get((one.table, one.row, one.column))) for one in printed_numbers() if one.paper == name
        ]
    return ReproduceResult(tuple(known[name] for name in dict.fromkeys(names)), tuple(numbers))


def _judged(told: PrintedNumber, ours: float | str | None) -> ReproducedNumber:
    if ours is None or isinstance(ours, str):
        same = ours is not None and canonical(str(ours)) == canonical(told.printed)
        return ReproducedNumber(told, ours, None, "exact" if same else "does not follow")
    printed = float(told.printed)
    difference = ours - printed
    in_full = told.digits is None or (told.digits == 0 and float(ours).is_integer())
    if in_full and abs(difference) <= 1e-9 * max(1.0, abs(printed)):
        verdict: Verdict = "exact"
    elif told.digits is not None and abs(difference) <= 0.5 * 10.0**-told.digits + 1e-9:
        verdict = "printed digits"
    else:
        verdict = "near" if abs(difference) <= told.near else "does not follow"
    return ReproducedNumber(told, float(ours), difference, verdict)


@checked
def reproduction_page(result: ReproduceResult) -> str:
    """The page of the documentation that tells every number.

    Args:
        result: what `reproduce` returned.
    """
    return markdown(result)
