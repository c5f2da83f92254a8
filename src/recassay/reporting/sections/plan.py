"""What more would have to be run."""

from __future__ import annotations

from collections.abc import Iterator

from recassay.analysis.plan.result import MOST, PairPlan, PlanResult
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.reporting.section import Column, Section, Table, nothing
from recassay.reporting.words.plan import sentences


def tables(result: PlanResult, words: Vocabulary = USUAL) -> Iterator[Table]:
    """Datasets needed for every undecided pair."""
    if not result.pairs:
        return

    def count(value: int | None) -> str:
        return f"> {MOST:,}" if value is None else f"{value:,}"

    def size(pair: PairPlan) -> str:
        scale, form, unit = (100.0, "+.1f", " %") if pair.relative else (1.0, "+.3g", "")
        ends = [f"{scale * end + 0.0:{form}}" for end in (pair.low, pair.high) if end is not None]
        return f"{scale * pair.gap + 0.0:{form}}{unit}" + (f" ({ends[0]} to {ends[1]})" if ends else "")

    ranged = result.difference is None
    columns: dict[str, Column] = {
        "ahead": "{left}", "behind": "{right}", "typical difference": size, "lead is real": "{chance:.0%}",
        words.datasets: lambda pair: count(pair.alone),
    }  # fmt: skip
    if ranged:
        columns["range"] = lambda pair: " to ".join(map(count, pair.span))
    columns["among all pairs"] = lambda pair: count(pair.among_all)
    if result.shares["repeats"] > 0:
        columns["without seed noise"] = lambda pair: count(pair.without_repeats)
    if result.shares["users"] > 0:
        columns[f"without {words.user} noise"] = lambda pair: count(pair.without_users)
    asked = "the lead" if ranged else f"a difference of {100 * (result.difference or 0):g} %"
    averaged = (
        f"Ahead is the better mean rank. The typical difference per {words.dataset} and its interval are those of the "
        "verdict. The power is averaged over what the difference may be by the model. The range is that of the middle "
        "half of it."
    )
    yield Table(
        f"{words.datasets.capitalize()} that would show {asked} with power {result.power:g} ({result.metric}), "
        "undecided pairs",
        columns,
        result.pairs,
        names=2,
        important=["behind", words.datasets, "range", "lead is real"],
        notes=[averaged] if ranged else [],
        most=30,
    )


SECTION = Section(PlanResult, "What more would tell", "significance", "plan", nothing, sentences, tables, order=40)
