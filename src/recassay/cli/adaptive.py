"""recassay adaptive."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.on_table import Asked, on_table
from recassay.core.choices import AdaptiveTarget

Target = Annotated[AdaptiveTarget, typer.Option("--target", help="What is to be settled.")]
Indifference = Annotated[
    float, typer.Option("--indifference", min=0.0, help="For the order: mean ranks that do not matter.")
]


INDIFFERENCE = 1.0


@on_table("adaptive", without=("missing",))
def adaptive(
    asked: Asked,
    target: Target = "first",
    confidence: Annotated[float, typer.Option("--confidence", min=0.5, max=0.999, help="How surely.")] = 0.95,
    indifference: Indifference = INDIFFERENCE,
    budget: Annotated[
        str | None, typer.Option("--budget", help="Most time of cells, such as 2h.", show_default=False)
    ] = None,
    characteristics: o.Characteristics = None,
    seed: o.Seed = 0,
) -> Any:
    """Which cells settle the ranking of the whole grid?"""
    if target != "order" and indifference != INDIFFERENCE:
        raise recassay.UsageError("--indifference is for --target order", fix="say that, or leave it out")
    return recassay.adaptive(
        asked.results,
        asked.metric,
        target=target,
        confidence=confidence,
        indifference=indifference,
        budget=None if budget is None else o.duration("--budget", budget),
        characteristics=characteristics,
        higher_is_better=asked.higher_is_better,
        seed=seed,
    )
