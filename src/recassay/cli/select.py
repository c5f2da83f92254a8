"""`select` and `advise`: which few datasets are enough, and what a benchmark says about a new one."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.on_table import Asked, on_table


@on_table("select", saved_as="selection")
def select(
    asked: Asked,
    k: Annotated[int, typer.Option("-k", help="How many datasets to choose.")] = 6,
    characteristics: o.Characteristics = None,
    method: Annotated[
        str,
        typer.Option("--method", help="all, or some of random, kmeans, d_optimal, a_optimal, preserving (commas)."),
    ] = "all",
    aggregation: Annotated[
        str | None,
        typer.Option("--aggregation", help="How rankings are made: see recassay rank. [default: dm_auc]",
                     show_default=False),
    ] = None,
    simulations: Annotated[
        int, typer.Option("--simulations", max=100_000, help="Random subsets, and starts of each way.")
    ] = 500,
    seed: o.Seed = 0,
) -> Any:  # fmt: skip
    """Choose few datasets that keep the ranking of all."""
    return recassay.select(
        asked.results,
        asked.metric,
        k=k,
        characteristics=characteristics,
        methods=o.names("--method", method),
        aggregation=aggregation,
        missing=asked.missing,
        higher_is_better=asked.higher_is_better,
        simulations=simulations,
        seed=seed,
    )
