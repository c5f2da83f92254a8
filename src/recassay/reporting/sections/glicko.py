"""Glicko-2: ratings after a tournament over the datasets."""

from __future__ import annotations

from recassay.analysis.glicko.result import GlickoResult
from recassay.reporting.numbers import between
from recassay.reporting.section import Figure, Section, Table


def sentences(result: GlickoResult) -> list[str]:
    """Who ends with the highest rating, and whether that depends on the order of the datasets.

    Nothing below five datasets, where a rating has no interval.
    """
    if result.bounds is None:
        return []
    first, second = result.to_frame().to_dicts()[:2]
    lead = (
        f"As a Glicko-2 tournament over the datasets, {first['algorithm']} ends first ({first['rating']:.0f}, 95 % "
        f"{first['low']:.0f} to {first['high']:.0f}) before {second['algorithm']} ({second['rating']:.0f}, "
        f"{second['low']:.0f} to {second['high']:.0f})"
    )
    low, high = round(first["order_rank_low"]), round(first["order_rank_high"])
    held = "first nearly always" if low == high == 1 else f"between places {low} and {high}"
    return [f"{lead}; over {result.n_orders} random orders of the datasets {first['algorithm']} ends {held}."]


def tables(result: GlickoResult) -> list[Table]:
    """Ratings, highest first, with the spread over orders."""
    better = "higher" if result.higher_is_better else "lower"
    rows = [
        [row["algorithm"], f"{row['rating']:.0f}", f"{row['deviation']:.0f}", f"{row['volatility']:.4f}",
         between(row["low"], row["high"], 0), between(row["order_low"], row["order_high"], 0),
         between(row["order_rank_low"], row["order_rank_high"], 0)]
        for row in result.to_frame().to_dicts()
    ]  # fmt: skip
    return [
        Table(
            f"Glicko-2: {result.metric} ({better} is better), {len(result.datasets)} datasets in the order: "
            f"{result.order_name}",
            ["algorithm", "rating", "deviation", "volatility", "95 %", "over orders", "rank over orders"],
            rows,
            important=["rating", "95 %", "rank over orders", "over orders"],
            notes=[f"Over orders: the middle 95 % of {result.n_orders} random orders of the datasets.", *result.notes],
        )
    ]


def figures(result: GlickoResult) -> list[Figure]:
    """The ranks by period and the final ratings."""
    from recassay.plots.glicko import plot_glicko_bump, plot_glicko_ratings

    return [
        Figure("glicko_ranks", "Rank of each algorithm after each dataset of the tournament.",
               plot_glicko_bump(result), "glicko_history"),
        Figure("glicko_ratings", "Final ratings with 95 % intervals (bootstrap over datasets and orders), and their "
               "spread over random orders.",
               plot_glicko_ratings(result), "glicko_ratings"),
    ]  # fmt: skip


def leader(result: GlickoResult) -> str:
    """The algorithm with the highest rating at the end."""
    return str(result.to_frame()["algorithm"][0])


SECTION = Section(GlickoResult, "Tournament", "traits", "glicko", figures, sentences, tables, order=20, leader=leader)
