"""recassay adaptive."""

from __future__ import annotations

from typing import Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.table import finish, load_table, said_direction
from recassay.core.choices import AdaptiveTarget

Target = Annotated[AdaptiveTarget, typer.Option("--target", help="What is to be settled.")]
Indifference = Annotated[
    float, typer.Option("--indifference", min=0.0, help="For the order: mean ranks that do not matter.")
]


def adaptive(
    files: o.Files,
    metric: o.Metric = None,
    target: Target = "first",
    confidence: Annotated[float, typer.Option("--confidence", min=0.5, max=0.999, help="How surely.")] = 0.95,
    indifference: Indifference = 1.0,
    budget: Annotated[
        str | None, typer.Option("--budget", help="Most time of cells, such as 2h.", show_default=False)
    ] = None,
    characteristics: o.Characteristics = None,
    wide: o.Wide = False,
    transpose: o.Transpose = False,
    column: o.Column = None,
    higher: o.Higher = False,
    lower: o.Lower = False,
    seed: o.Seed = 0,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Which cells settle the ranking of the whole grid?"""
    results = load_table(files, metric, wide, transpose, column)
    result = recassay.adaptive(
        results,
        metric,
        target=target,
        confidence=confidence,
        indifference=indifference,
        budget=None if budget is None else o.duration("--budget", budget),
        characteristics=characteristics,
        higher_is_better=said_direction(higher, lower),
        seed=seed,
    )
    finish("adaptive", "adaptive", result, results, as_json, out)
