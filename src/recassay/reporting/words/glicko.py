"""Glicko-2: ratings after a tournament over the datasets."""

from __future__ import annotations

from recassay.analysis.glicko.result import CALMER, SETTLED, TAU, GlickoResult
from recassay.core.vocabulary import USUAL, Vocabulary


def sentences(result: GlickoResult, words: Vocabulary = USUAL) -> list[str]:
    """Who ends with the highest rating, and whether that depends on the order of the datasets.

    Nothing below five datasets, where a rating has no interval.
    """
    if result.bounds is None:
        return []
    first, second = result.to_frame().to_dicts()[:2]
    lead = (
        f"As a Glicko-2 tournament over the {words.datasets}, {first['algorithm']} ends first ({first['rating']:.0f}, "
        f"95 % {first['low']:.0f} to {first['high']:.0f}) before {second['algorithm']} ({second['rating']:.0f}, "
        f"{second['low']:.0f} to {second['high']:.0f})"
    )
    low, high = round(first["order_rank_low"]), round(first["order_rank_high"])
    held = "first nearly always" if low == high == 1 else f"between places {low} and {high}"
    return [f"{lead}; over {result.n_orders} random orders of the {words.datasets} {first['algorithm']} ends {held}."]


def notes(result: GlickoResult, words: Vocabulary = USUAL) -> list[str]:
    """What a reader must know before reading the ratings."""
    if not result.settled:
        return [f"The ratings ran away (a volatility above {SETTLED:g}) and mean nothing: use a smaller tau."]
    if result.tau in CALMER:
        run_away = f"the volatility of some {words.algorithm} may run away on this table"
        return [f"tau is {result.tau:g}: with {TAU:g} {run_away}."]
    return []
