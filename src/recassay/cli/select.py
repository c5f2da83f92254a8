"""`select` and `advise`: which few datasets are enough, and what a benchmark says about a new one."""

from __future__ import annotations

from typing import Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.table import finish, load_table, said_direction


def select(
    files: o.Files,
    metric: o.Metric = None,
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
) -> None:  # fmt: skip
    """Choose few datasets that keep the ranking of all."""
    results = load_table(files, metric, wide, transpose, column, dataset, format_, prefer)
    result = recassay.select(
        results,
        metric,
        k=k,
        characteristics=characteristics,
        methods=[name.strip() for name in method.split(",")],
        aggregation=aggregation,
        missing=missing,
        higher_is_better=said_direction(higher, lower),
        simulations=simulations,
        seed=seed,
    )
    finish("select", "selection", result, results, as_json, out)
