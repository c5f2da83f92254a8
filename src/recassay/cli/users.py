"""`recassay users`: paired tests over the users of each dataset of a study or a table."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.on_table import Asked, on_table


@on_table("users", without=("wide", "transpose", "column", "missing", "higher", "lower"))
def users(
    asked: Asked,
    alpha: o.Alpha = 0.05,
    replicates: Annotated[
        int, typer.Option("--replicates", max=o.MOST_DRAWS, help="Bootstrap replicates over users.")
    ] = 10_000,
    seed: o.Seed = 0,
) -> Any:
    """Test over the users of each dataset; one dataset is enough."""
    return recassay.users(asked.results, asked.metric, alpha=alpha, replicates=replicates, seed=seed)
