"""recassay ratings."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.on_table import Asked, on_table


@on_table("ratings")
def ratings(
    asked: Asked,
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", help="Algorithm that is rated 1000 and compared with.", show_default=False),
    ] = None,
    families: o.Families = None,
    replicates: Annotated[int, typer.Option("--replicates", max=o.MOST_DRAWS, help="Bootstrap replicates.")] = 10_000,
    confidence: o.Confidence = 0.95,
    seed: o.Seed = 0,
) -> Any:
    """Elo-like ratings, whatever the order of the datasets."""
    return recassay.ratings(
        asked.results,
        asked.metric,
        baseline=baseline,
        families=families,
        missing=asked.missing,
        higher_is_better=asked.higher_is_better,
        replicates=replicates,
        confidence=confidence,
        seed=seed,
    )
