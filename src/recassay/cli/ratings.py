"""recassay ratings."""

from __future__ import annotations

from typing import Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.table import finish, load_table, said_direction


def ratings(
    files: o.Files,
    metric: o.Metric = None,
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", help="Algorithm that is rated 1000 and compared with.", show_default=False),
    ] = None,
    families: Annotated[
        str | None,
        typer.Option("--families", help="auto: datasets of one name's start are drawn together.", show_default=False),
    ] = None,
    replicates: Annotated[int, typer.Option("--replicates", max=o.MOST_DRAWS, help="Bootstrap replicates.")] = 10_000,
    wide: o.Wide = False,
    transpose: o.Transpose = False,
    column: o.Column = None,
    dataset: o.Dataset = None,
    format_: o.Format = None,
    prefer: o.Prefer = "error",
    missing: o.Missing = "error",
    higher: o.Higher = False,
    lower: o.Lower = False,
    confidence: o.Confidence = 0.95,
    seed: o.Seed = 0,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Elo-like ratings, whatever the order of the datasets."""
    results = load_table(files, metric, wide, transpose, column, dataset, format_, prefer)
    result = recassay.ratings(
        results,
        metric,
        baseline=baseline,
        families=families,
        missing=missing,
        higher_is_better=said_direction(higher, lower),
        replicates=replicates,
        confidence=confidence,
        seed=seed,
    )
    finish("ratings", "ratings", result, results, as_json, out)
