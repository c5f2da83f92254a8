"""recassay rank."""

from __future__ import annotations

from typing import Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.table import finish, load_table, said_direction


def rank(
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
    wide: o.Wide = False,
    transpose: o.Transpose = False,
    column: o.Column = None,
    dataset: o.Dataset = None,
    format_: o.Format = None,
    prefer: o.Prefer = "error",
    missing: o.Missing = "error",
    higher: o.Higher = False,
    lower: o.Lower = False,
    replicates: Annotated[
        int, typer.Option("--replicates", max=o.MOST_DRAWS, help="Bootstrap replicates over datasets.")
    ] = 10_000,
    confidence: Annotated[float, typer.Option("--confidence", min=0.5, max=0.999)] = 0.95,
    beta_max: Annotated[float, typer.Option("--beta-max", help="Largest ratio of the Dolan-Moré profiles.")] = 3.0,
    beta_step: Annotated[
        float | None,
        typer.Option(
            "--beta-step",
            help="Integrate the profiles on a grid (the KDD'24 authors: 0.1). [default: exact]",
            show_default=False,
        ),
    ] = None,
    seed: o.Seed = 0,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Rank algorithms under every aggregation."""
    results = load_table(files, metric, wide, transpose, column, dataset, format_, prefer)
    result = recassay.rank(
        results,
        metric,
        methods=[m.strip() for m in methods.split(",")] if methods else None,
        missing=missing,
        higher_is_better=said_direction(higher, lower),
        replicates=replicates,
        confidence=confidence,
        seed=seed,
        beta_max=beta_max,
        beta_step=beta_step,
    )
    finish("rank", "rank", result, results, as_json, out)
