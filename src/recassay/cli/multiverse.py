"""`multiverse`: which claims survive the choices of the evaluation."""

from __future__ import annotations

from typing import Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.render import print_notes
from recassay.cli.table import finish, said_direction


def multiverse(
    files: o.Files,
    axes: Annotated[
        str | None,
        typer.Option("--axes", help="Columns that are choices, comma-separated. [default: all with several values]",
                     show_default=False),
    ] = None,
    claim: Annotated[
        list[str] | None,
        typer.Option("--claim", help='Such as "A > B" or "A is best"; may be repeated.', show_default=False),
    ] = None,
    metric: o.Metric = None,
    leaky: Annotated[
        list[str] | None,
        typer.Option("--leaky", help="Choices not to be trusted, such as split=random; shown apart.",
                     show_default=False),
    ] = None,
    missing: o.Missing = "drop-datasets",
    higher: o.Higher = False,
    lower: o.Lower = False,
    permutations: Annotated[
        int, typer.Option("--permutations", min=0, max=o.MOST_DRAWS, help="Relabelled tables of the joint test.")
    ] = 10_000,
    seed: o.Seed = 0,
    as_json: o.Json = False,
    out: o.Out = None,
    formats: o.Formats = None,
) -> None:  # fmt: skip
    """Which conclusions survive other splits, metrics, seeds."""
    result = recassay.multiverse(
        list(files),
        o.names("--axes", axes) or None,
        claim,
        metric=metric,
        leaky=leaky,
        missing=missing,
        higher_is_better=said_direction(higher, lower),
        permutations=permutations,
        seed=seed,
    )
    if not as_json:
        print_notes(result.notes)
    finish("multiverse", "multiverse", result, result, as_json, out, formats)
