"""`recassay users`: paired tests over the users of each dataset of a study or a table."""

from __future__ import annotations

from typing import Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.table import finish, load_table


def users(
    files: o.Files,
    metric: o.Metric = None,
    alpha: Annotated[float, typer.Option("--alpha", help="Level of the tests.")] = 0.05,
    replicates: Annotated[
        int, typer.Option("--replicates", max=o.MOST_DRAWS, help="Bootstrap replicates over users.")
    ] = 10_000,
    dataset: o.Dataset = None,
    format_: o.Format = None,
    prefer: o.Prefer = "error",
    seed: o.Seed = 0,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Test over the users of each dataset; one dataset is enough."""
    results = load_table(files, metric, False, False, None, dataset, format_, prefer)
    result = recassay.users(results, metric, alpha=alpha, replicates=replicates, seed=seed)
    finish("users", "users", result, results, as_json, out)
