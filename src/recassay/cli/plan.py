"""recassay plan."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.on_table import Asked, on_table


@on_table("plan", without=("missing",))
def plan(
    asked: Asked,
    difference: Annotated[
        str | None,
        typer.Option(
            "--difference",
            help="Relative difference to be shown, such as 2%. [default: as estimated]",
            show_default=False,
        ),
    ] = None,
    power: Annotated[float, typer.Option("--power", help="Probability with which it is to be shown.")] = 0.8,
    alpha: o.Alpha = 0.05,
    families: o.Families = None,
    seed: o.Seed = 0,
) -> Any:
    """How many more datasets, seeds or users would tell?"""
    return recassay.plan(
        asked.results,
        asked.metric,
        difference=None if difference is None else o.share("--difference", difference),
        power=power,
        alpha=alpha,
        families=families,
        higher_is_better=asked.higher_is_better,
        seed=seed,
    )
