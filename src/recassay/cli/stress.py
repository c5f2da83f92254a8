"""`stress`: how the rankings of a results table bear perturbation."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.on_table import Asked, on_table


@on_table("stress")
def stress(
    asked: Asked,
    methods: o.Methods = None,
    draws: Annotated[
        int | None,
        typer.Option(
            "--draws", max=o.MOST_DRAWS, help="Random subsets at each size. [default: 1000]", show_default=False
        ),
    ] = None,
    beta_max: o.BetaMax = 3.0,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the draws.")] = 0,
) -> Any:
    """Which conclusions survive fewer datasets, other algorithms."""
    return recassay.stress(
        asked.results,
        asked.metric,
        methods=o.names("--methods", methods) or None,
        draws=draws,
        missing=asked.missing,
        higher_is_better=asked.higher_is_better,
        beta_max=beta_max,
        seed=seed,
    )
