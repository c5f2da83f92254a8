"""What accuracy costs: the Pareto fronts."""

from __future__ import annotations

from recassay.analysis.pareto import ParetoResult, Trade
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import listing
from recassay.reporting.numbers import percent


def sentences(result: ParetoResult, words: Vocabulary = USUAL) -> list[str]:
    """Who is on the front of the first trades, and how often with the datasets drawn again."""
    trades = [f"{trade.other}: {listing(_front(trade), most=5)}" for trade in result.trades[:3]]
    sure = any(trade.share is not None for trade in result.trades[:3])
    how = (
        f" In brackets the share of bootstrap replicates over the {words.datasets} that agree."
        if sure
        else f" This describes these {words.datasets} only; there are too few to generalise."
    )
    return [f"Pareto-optimal in {result.metric} together with {'; with '.join(trades)}.{how}"]


def _front(trade: Trade) -> list[str]:
    shares = trade.shares()
    names = [trade.algorithms[i] for i in trade.order() if trade.front[i]]
    return names if shares is None else [f"{name} ({percent(shares[name])})" for name in names]
