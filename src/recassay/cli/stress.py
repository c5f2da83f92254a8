"""`stress`: how the rankings of a results table bear perturbation."""

from __future__ import annotations

from typing import Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.table import finish, load_table, said_direction


def stress(
    files: o.Files,
    metric: o.Metric = None,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            help="Aggregations, separated by commas. [default: all]",
            show_default=False,
            callback=lambda names: o.not_blank("--methods", names),
        ),
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(
            "--draws", max=o.MOST_DRAWS, help="Random subsets at each size. [default: 1000]", show_default=False
        ),
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
    beta_max: Annotated[float, typer.Option("--beta-max", help="Largest ratio of the Dolan-Moré profiles.")] = 3.0,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the draws.")] = 0,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Which conclusions survive fewer datasets, other algorithms."""
    results = load_table(files, metric, wide, transpose, column, dataset, format_, prefer)
    result = recassay.stress(
        results,
        metric,
        methods=[m.strip() for m in methods.split(",")] if methods else None,
        draws=draws,
        missing=missing,
        higher_is_better=said_direction(higher, lower),
        beta_max=beta_max,
        seed=seed,
    )
    finish("stress", "stress", result, results, as_json, out)
