"""`glicko`: ratings after a tournament over the datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.table import finish, load_table, said_direction


def glicko(
    files: o.Files,
    metric: o.Metric = None,
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
    wide: o.Wide = False,
    transpose: o.Transpose = False,
    column: o.Column = None,
    dataset: o.Dataset = None,
    format_: o.Format = None,
    prefer: o.Prefer = "error",
    missing: o.Missing = "error",
    higher: o.Higher = False,
    lower: o.Lower = False,
    seed: o.Seed = 0,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Glicko-2 ratings, datasets as rating periods."""
    results = load_table(files, metric, wide, transpose, column, dataset, format_, prefer)
    result = recassay.glicko(
        results,
        metric,
        order=[name.strip() for name in order.split(",")] if "," in order else order,
        properties=properties,
        missing=missing,
        higher_is_better=said_direction(higher, lower),
        tau=tau,
        tie=tie,
        orders=orders,
        seed=seed,
    )
    finish("glicko", "glicko", result, results, as_json, out)
