"""`recassay users`: paired tests over the users of each dataset of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.table import finish


def users(
    folder: Annotated[Path, typer.Argument(help="The folder of a study.", show_default=False)],
    metric: o.Metric = None,
    alpha: Annotated[float, typer.Option("--alpha", help="Level of the tests.")] = 0.05,
    replicates: Annotated[int, typer.Option("--replicates", help="Bootstrap replicates over users.")] = 10_000,
    seed: o.Seed = 0,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Test over the users of each dataset; one dataset is enough."""
    result = recassay.users(folder, metric, alpha=alpha, replicates=replicates, seed=seed)
    finish("users", "users", result, recassay.load_results(folder), as_json, out)
