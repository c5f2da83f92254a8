"""What more would have to be run."""

from __future__ import annotations

from recassay.analysis.plan.result import MOST, PlanResult
from recassay.core.errors import listing
from recassay.reporting.section import Figure, Section, Table


def sentences(result: PlanResult) -> list[str]:
    """What it would take to tell the two best apart, what nothing would, and how few datasets decide the win."""
    first = result.pairs[0]
    size = f"a difference of {100 * result.difference:g} %" if result.difference else f"{first.left}'s lead"
    if first.alone is None:
        lead = f"No number of datasets up to {MOST:,} would show {size} over {first.right}."
    else:
        more = f"{first.among_all:,}" if first.among_all is not None else f"more than {MOST:,}"
        lead = (
            f"To show {size} over {first.right} with power {result.power:g} takes {first.alone:,} datasets like these "
            f"if that comparison is named beforehand, {more} as one of all pairs (there are {len(result.datasets)})."
        )
    said = [lead]
    unreachable = result.out_of_reach()
    if unreachable:
        names = listing([f"{pair.left} and {pair.right}" for pair in unreachable], most=4)
        said.append(f"{len(unreachable)} of {len(result.pairs)} pairs are out of reach of {MOST:,} datasets: {names}.")
    if result.challenger is not None:
        count = len(result.removed)
        said.append(
            f"Without {count} of the {len(result.datasets)} datasets {result.challenger} would have the best mean rank."
        )
    if result.look is not None:
        said.append(result.look.sentence())
    return said


def tables(result: PlanResult) -> list[Table]:
    """Datasets needed for every pair."""

    def count(value: int | None) -> str:
        return f"> {MOST:,}" if value is None else f"{value:,}"

    repeated, users = result.shares["repeats"] > 0, result.shares["users"] > 0
    rows = [
        [pair.left, pair.right, f"{100 * pair.gap:+.1f} %", count(pair.alone), count(pair.among_all),
         *([count(pair.without_repeats)] if repeated else []), *([count(pair.without_users)] if users else [])]
        for pair in result.pairs
    ]  # fmt: skip
    asked = (
        "the estimated difference" if result.difference is None else f"a difference of {100 * result.difference:g} %"
    )
    return [
        Table(
            f"Datasets that would show {asked} with power {result.power:g} ({result.metric})",
            ["better", "worse", "estimated", "named beforehand", "among all pairs",
             *(["without seed noise"] if repeated else []), *(["without user noise"] if users else [])],
            rows,
            names=2,
            important=["worse", "named beforehand", "among all pairs", "estimated"],
            most=30,
        )
    ]  # fmt: skip


def no_figures(result: PlanResult) -> list[Figure]:
    """Its numbers are few: the table shows them."""
    return []


SECTION = Section(PlanResult, "What more would tell", "significance", "plan", no_figures, sentences, tables, order=40)
