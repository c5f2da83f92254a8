"""recassay plan."""

from __future__ import annotations

from typing import Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.table import finish, load_table, said_direction


def plan(
    files: o.Files,
    metric: o.Metric = None,
    difference: Annotated[
        str | None,
        typer.Option(
            "--difference",
            help="Relative difference to be shown, such as 2%. [default: as estimated]",
            show_default=False,
        ),
    ] = None,
    power: Annotated[float, typer.Option("--power", help="Probability with which it is to be shown.")] = 0.8,
    alpha: Annotated[float, typer.Option("--alpha", help="Level of the tests.")] = 0.05,
    wide: o.Wide = False,
    transpose: o.Transpose = False,
    column: o.Column = None,
    dataset: o.Dataset = None,
    format_: o.Format = None,
    prefer: o.Prefer = "error",
    higher: o.Higher = False,
    lower: o.Lower = False,
    seed: o.Seed = 0,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """How many more datasets, seeds or users would tell?"""
    results = load_table(files, metric, wide, transpose, column, dataset, format_, prefer)
    result = recassay.plan(
        results,
        metric,
        difference=None if difference is None else o.share("--difference", difference),
        power=power,
        alpha=alpha,
        higher_is_better=said_direction(higher, lower),
        seed=seed,
    )
    finish("plan", "plan", result, results, as_json, out)
