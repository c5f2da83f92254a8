"""recassay model."""

from __future__ import annotations

from typing import Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.table import finish, load_table, said_direction


def model(
    files: o.Files,
    metric: o.Metric = None,
    within: Annotated[
        str, typer.Option("--within", help="Relative difference that counts as practically equal.")
    ] = "2%",
    wide: o.Wide = False,
    transpose: o.Transpose = False,
    column: o.Column = None,
    higher: o.Higher = False,
    lower: o.Lower = False,
    confidence: o.Confidence = 0.95,
    seed: o.Seed = 0,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Who is best for datasets like these, and how surely?"""
    results = load_table(files, metric, wide, transpose, column)
    result = recassay.model(
        results,
        metric,
        within=o.share("--within", within),
        higher_is_better=said_direction(higher, lower),
        confidence=confidence,
        seed=seed,
    )
    finish("model", "model", result, results, as_json, out)
