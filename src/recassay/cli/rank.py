"""recassay rank."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.on_table import Asked, on_table


@on_table("rank")
def rank(
    asked: Asked,
    methods: o.Methods = None,
    replicates: Annotated[
        int, typer.Option("--replicates", max=o.MOST_DRAWS, help="Bootstrap replicates over datasets.")
    ] = 10_000,
    confidence: o.Confidence = 0.95,
    beta_max: o.BetaMax = 3.0,
    beta_step: Annotated[
        float | None,
        typer.Option(
            "--beta-step",
            help="Integrate the profiles on a grid (the KDD'24 authors: 0.1). [default: exact]",
            show_default=False,
        ),
    ] = None,
    seed: o.Seed = 0,
) -> Any:
    """Rank algorithms under every aggregation."""
    return recassay.rank(
        asked.results,
        asked.metric,
        methods=o.names("--methods", methods) or None,
        missing=asked.missing,
        higher_is_better=asked.higher_is_better,
        replicates=replicates,
        confidence=confidence,
        seed=seed,
        beta_max=beta_max,
        beta_step=beta_step,
    )
