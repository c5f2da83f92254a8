"""recassay advise."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.table import finish, load_table, said_direction


def advise(
    dataset: Annotated[str, typer.Argument(help="Your dataset: a file, a stored name, or synthetic:PRESET.")],
    files: Annotated[
        list[Path], typer.Option("--results", help="Results of a finished benchmark: a table or a study folder.")
    ],
    characteristics: o.Characteristics = None,
    metric: o.Metric = None,
    k: Annotated[int, typer.Option("-k", help="How many nearest datasets to rank on.")] = 5,
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", help="Lowest positive rating (tau). [default: the study's, else none]",
                     show_default=False),
    ] = None,
    filter_: Annotated[
        str | None,
        typer.Option("--filter", help="once, core or none. [default: the study's, else once]", show_default=False),
    ] = None,
    min_items: Annotated[
        int | None, typer.Option("--min-item-interactions", help="[default: the study's, else 5]", show_default=False)
    ] = None,
    min_users: Annotated[
        int | None, typer.Option("--min-user-interactions", help="[default: the study's, else 5]", show_default=False)
    ] = None,
    wide: o.Wide = False,
    transpose: o.Transpose = False,
    column: o.Column = None,
    missing: o.Missing = "error",
    higher: o.Higher = False,
    lower: o.Lower = False,
    seed: o.Seed = 0,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:  # fmt: skip
    """Which algorithms to try first on a dataset of one's own."""
    results = load_table(files, metric, wide, transpose, column)
    said: dict[str, Any] = {
        "positive_threshold": threshold, "filter": filter_, "min_item_interactions": min_items,
        "min_user_interactions": min_users,
    }  # fmt: skip
    result = recassay.advise(
        dataset,
        results,
        metric,
        characteristics=characteristics,
        k=k,
        protocol={name: value for name, value in said.items() if value is not None},
        missing=missing,
        higher_is_better=said_direction(higher, lower),
        seed=seed,
    )
    finish("advise", "advice", result, results, as_json, out)
