"""What accuracy costs: the Pareto fronts."""

from __future__ import annotations

from recassay.analysis.pareto import ParetoResult, Trade
from recassay.core.errors import listing
from recassay.reporting.numbers import percent
from recassay.reporting.section import Figure, Section


def sentences(result: ParetoResult) -> list[str]:
    """Who is on the front of the first trades, and how often with the datasets drawn anew."""
    told = [f"{trade.other}: {listing(_front(trade), most=5)}" for trade in result.trades[:3]]
    sure = any(trade.share is not None for trade in result.trades[:3])
    how = (
        " In brackets the share of bootstrap replicates over the datasets that agree."
        if sure
        else " That holds for the datasets at hand; they are too few to speak of others."
    )
    return [f"Not beaten in both {result.metric} and another metric (the Pareto front), by {'; by '.join(told)}.{how}"]


def _front(trade: Trade) -> list[str]:
    shares = trade.shares()
    names = [trade.algorithms[i] for i in trade.order() if trade.front[i]]
    return names if shares is None else [f"{name} ({percent(shares[name])})" for name in names]


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
