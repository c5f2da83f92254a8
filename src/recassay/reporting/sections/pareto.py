"""What accuracy costs: the Pareto fronts."""

from __future__ import annotations

from recassay.analysis.pareto import ParetoResult
from recassay.core.errors import listing
from recassay.reporting.section import Figure, Section


def sentences(result: ParetoResult) -> list[str]:
    """Who is on the front of the first trades."""
    told = []
    for trade in result.trades[:3]:
        front = [trade.algorithms[i] for i in trade.order() if trade.front[i]]
        told.append(f"{trade.other}: {listing(front, most=5)}")
    return [f"Not beaten in both {result.metric} and another metric (the Pareto front), by {'; by '.join(told)}."]


def figures(result: ParetoResult) -> list[Figure]:
    """A panel a trade."""
    from recassay.plots.pareto import plot_pareto

    absent = sorted({name for trade in result.trades for name in trade.left_out})
    note = f"; left out where values are missing: {listing(absent)}" if absent else ""
    caption = (
        f"{result.metric} against what it may cost, averaged over datasets (times and memory geometrically): filled "
        f"points on the line are the Pareto front, hollow ones are beaten in both{note}."
    )
    return [Figure("pareto", caption, plot_pareto(result), "pareto")]


SECTION = Section(ParetoResult, "What accuracy costs", "beyond accuracy", "report", figures, sentences, order=10)
