"""`glicko`: ratings after a tournament over the datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.on_table import Asked, on_table


@on_table("glicko")
def glicko(
    asked: Asked,
    order: Annotated[
        str,
        typer.Option(
            "--order",
            help="Order of the datasets: given, name, difficulty, discrimination, deviation, a column of --properties, "
            "or names separated by commas.",
        ),
    ] = "given",
    properties: Annotated[
        Path | None,
        typer.Option("--properties", help="Table of dataset properties to order by.", show_default=False),
    ] = None,
    tau: Annotated[
        float | None,
        typer.Option(
            "--tau", help="How fast volatility may change. [default: 0.5, less if it runs away]", show_default=False
        ),
    ] = None,
    tie: Annotated[float, typer.Option("--tie", help="Values that differ by at most this are a draw.")] = 0.0,
    orders: Annotated[
        int | None,
        typer.Option("--orders", help="Random orders, for the spread. [default: 200]", show_default=False),
    ] = None,
    seed: o.Seed = 0,
) -> Any:
    """Glicko-2 ratings, datasets as rating periods."""
    return recassay.glicko(
        asked.results,
        asked.metric,
        order=[name.strip() for name in order.split(",")] if "," in order else order,
        properties=properties,
        missing=asked.missing,
        higher_is_better=asked.higher_is_better,
        tau=tau,
        tie=tie,
        orders=orders,
        seed=seed,
    )
