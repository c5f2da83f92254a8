"""The review of a paper: every check on every table, the claims of its sentences, and the verdicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from recassay.analysis.review.across import check_expected, check_repetition, check_significance
from recassay.analysis.review.arithmetic import check_arithmetic
from recassay.analysis.review.claims import check_claims
from recassay.analysis.review.identities import check_identities
from recassay.analysis.review.marks import check_marks
from recassay.analysis.review.result import CERTAINTIES, Flag, ReviewResult, TableVerdict
from recassay.analysis.review.settings import MOST_NAMES
from recassay.analysis.review.values import check_grain, check_range
from recassay.analysis.verdict.fit import judge
from recassay.core.errors import RecAssayError
from recassay.core.names import canonical
from recassay.core.tables.printed import ExpectedValue, Paper, PaperTable
from recassay.core.tables.results import Results

MOST_OF_A_KIND = 8
"""Flags of one kind in one table; more become one."""

_ORDER = ("range", "identities", "marks", "arithmetic", "significance", "repetition", "grain", "baselines")


def review_paper(
    paper: Paper,
    results: Callable[[PaperTable], Results],
    *,
    expected: Sequence[ExpectedValue] = (),
    users: int | None = None,
    own: str | None = None,
) -> ReviewResult:
    """Check a paper; `results` makes the results of one table, `own` names its method, `users` those judged."""
    judged = {canonical(name): count for table in paper.tables for name, count in table.users}
    if users is not None:
        judged = {"": users}
    flags: list[Flag] = []
    for table in paper.tables:
        if table.entries:
            found = [*check_range(table), *check_identities(table), *check_marks(table), *check_arithmetic(table)]
            one_target = not any(flag.code == "defined_otherwise" for flag in found)
            found += check_grain(table, judged, one_target=one_target)
            flags += _few(found)
    flags += check_repetition(paper.tables)
    flags += check_significance(paper.tables, paper.passages)
    flags += check_expected(paper.tables, expected, judged)
    verdicts = tuple(
        _verdict(table, results) for table in paper.tables if table.kind == "results" and len(table.algorithms) > 1
    )
    claims = tuple(check_claims(paper.passages, paper.tables, verdicts, own))
    flags.sort(key=lambda flag: (CERTAINTIES.index(flag.certainty), _ORDER.index(flag.family), flag.table))
    return ReviewResult(paper.tables, tuple(flags), claims, verdicts, paper.sources, paper.notes)


def _few(flags: Sequence[Flag]) -> list[Flag]:
    """Flags of one kind as they are, or as one where there are many."""
    kinds: Mapping[tuple[str, str, str], list[Flag]] = {}
    for flag in flags:
        kinds.setdefault((flag.code, flag.certainty, flag.condition), []).append(flag)  # type: ignore[attr-defined]
    kept = []
    for alike in kinds.values():
        if len(alike) <= MOST_OF_A_KIND:
            kept += alike
        else:
            cells = tuple(flag.cells[0] for flag in alike if flag.cells)
            kept.append(replace(alike[0], cells=cells, facts={**alike[0].facts, "alike": len(alike)}))
    return kept


def _verdict(table: PaperTable, results: Callable[[PaperTable], Results]) -> TableVerdict:
    """The verdict on the first metric of a table that has a direction, nDCG first."""
    try:
        made = results(table)
        if max(len(made.algorithms), len(made.datasets)) > MOST_NAMES:
            return TableVerdict(table.number, None, f"it has more than {MOST_NAMES} algorithms or datasets")
        metric = next(
            m for m in sorted(made.metrics, key=lambda m: not m.startswith("ndcg")) if made.direction(m) is not None
        )
        return TableVerdict(table.number, judge(made.matrix(metric, missing="drop-algorithms")))
    except (RecAssayError, StopIteration) as error:
        return TableVerdict(table.number, None, str(getattr(error, "what", "")) or "no metric of a known direction")
