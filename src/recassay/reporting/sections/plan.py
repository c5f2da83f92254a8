"""What more would have to be run."""

from __future__ import annotations

from collections.abc import Iterator

from recassay.analysis.plan.result import MOST, PairPlan, PlanResult
from recassay.reporting.numbers import percent
from recassay.reporting.section import Column, Section, Table, nothing


def sentences(result: PlanResult) -> Iterator[str]:
    """What it would take to decide the first open pair, what is out of reach, and how few datasets decide the win."""
    yield _lead(result)
    unreachable = result.out_of_reach()
    if unreachable and len(result.pairs) > 1:
        verb = "is" if len(unreachable) == 1 else "are"
        yield f"{len(unreachable)} of {len(result.pairs)} undecided pairs {verb} out of reach of {MOST:,} datasets."
    if result.left_out:
        further = "1 further undecided pair, outside the best algorithms, is"
        if result.left_out > 1:
            further = f"{result.left_out:,} further undecided pairs, outside the best algorithms, are"
        yield f"{further} not planned for."
    if result.challenger is not None:
        without = f"Without {len(result.removed)} of the {result.complete} complete datasets"
        yield f"{without} {result.challenger} would have the best mean rank."
    if result.look is not None:
        yield result.look.sentence()


def _lead(result: PlanResult) -> str:
    """How many datasets would decide the first open pair, as a range, and how surely its lead is real."""
    if not result.pairs:
        every = "The only pair is" if result.decided == 1 else f"All {result.decided} pairs are"
        return f"{every} decided: nothing more needs to be run."
    first = result.pairs[0]
    real = f"The lead of {first.left} over {first.right} is real with a chance of {percent(first.chance)}"
    if result.difference:
        size = f"a difference of {100 * result.difference:g} % between {first.left} and {first.right}"
        if first.alone is None:
            return f"{MOST:,} datasets would not show {size} with power {result.power:g}."
        return f"To show {size} with power {result.power:g} takes {first.alone:,} datasets like these."
    if first.alone is None:
        return f"{real}; no number of datasets up to {MOST:,} would show it with power {result.power:g}."
    few = "?" if first.fewest is None else f"{first.fewest:,}"
    many = f"more than {MOST:,}" if first.most is None else f"{first.most:,}"
    return (
        f"{real}. To show it with power {result.power:g} takes about {first.alone:,} datasets ({few} to {many}, as the "
        f"lead is large or small); there are {len(result.datasets)}."
    )


def tables(result: PlanResult) -> Iterator[Table]:
    """Datasets needed for every undecided pair."""
    if not result.pairs:
        return

    def count(value: int | None) -> str:
        return f"> {MOST:,}" if value is None else f"{value:,}"

    def size(pair: PairPlan) -> str:
        if result.relative:
            return f"{100 * pair.gap:+.1f} % ({100 * pair.low:+.1f} to {100 * pair.high:+.1f})"
        return f"{pair.gap:+.3g} ({pair.low:+.3g} to {pair.high:+.3g})"

    ranged = result.difference is None
    columns: dict[str, Column] = {
        "better": "{left}", "worse": "{right}", "difference": size, "lead is real": "{chance:.0%}",
        "datasets": lambda pair: count(pair.alone),
    }  # fmt: skip
    if ranged:
        columns["range"] = lambda pair: f"{count(pair.fewest)} to {count(pair.most)}"
    columns["among all pairs"] = lambda pair: count(pair.among_all)
    if result.shares["repeats"] > 0:
        columns["without seed noise"] = lambda pair: count(pair.without_repeats)
    if result.shares["users"] > 0:
        columns["without user noise"] = lambda pair: count(pair.without_users)
    asked = "the lead" if ranged else f"a difference of {100 * (result.difference or 0):g} %"
    averaged = "The power is averaged over what the difference may be. The range is that of the middle half of it."
    yield Table(
        f"Datasets that would show {asked} with power {result.power:g} ({result.metric}), undecided pairs",
        columns,
        result.pairs,
        names=2,
        important=["worse", "datasets", "range", "lead is real"],
        notes=[averaged] if ranged else [],
        most=30,
    )


SECTION = Section(PlanResult, "What more would tell", "significance", "plan", nothing, sentences, tables, order=40)
