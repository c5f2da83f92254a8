"""`recassay strata`: the algorithms of a study on held-out items below a popularity threshold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.table import finish
from recassay.core.choices import OtherItems


def strata(
    folder: Annotated[Path, typer.Argument(help="The folder of a study.", show_default=False)],
    metric: Annotated[str, typer.Option("--metric", "-m", help="An accuracy metric with a cut-off.")] = "ndcg@20",
    thresholds: Annotated[
        str | None,
        typer.Option(
            "--thresholds",
            help="Popularity thresholds P, separated by commas. [default: ten, each letting in as many test events]",
            show_default=False,
        ),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            "--size",
            help="Events in every T_P, or all of those below P. [default: as many as the smallest has]",
            show_default=False,
        ),
    ] = None,
    others: Annotated[
        OtherItems,
        typer.Option("--others", help="A user's held-out items outside T_P: keep (as no hits) or remove from lists."),
    ] = "keep",
    alpha: o.Alpha = 0.05,
    replicates: Annotated[
        int, typer.Option("--replicates", max=o.MOST_DRAWS, help="Bootstrap replicates over users.")
    ] = 2000,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the sets T_P and of the bootstrap.")] = 0,
    as_json: o.Json = False,
    out: o.Out = None,
    formats: o.Formats = None,
) -> None:
    """Does the order hold on less popular items?"""
    if not folder.is_dir():
        raise recassay.UsageError(f"there is no folder {str(folder)!r}", fix="name the folder of a study")
    result = recassay.strata(
        folder,
        metric,
        thresholds=_thresholds(thresholds),
        size=_size(size),
        others=others,
        alpha=alpha,
        replicates=replicates,
        seed=seed,
    )
    finish("strata", "strata", result, recassay.load_results(folder), as_json, out, formats)


def _thresholds(text: str | None) -> list[int] | None:
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise recassay.UsageError(f"--thresholds {text!r} are no whole numbers", fix="write them as in 5,10,50,200")
    return [int(part) for part in parts]


def _size(text: str | None) -> int | Literal["all"] | None:
    if text is None:
        return None
    if text == "all":
        return "all"
    if not text.isdecimal() or int(text) < 1:
        raise recassay.UsageError(f"--size {text!r} is no number of events", fix="use a whole number from 1, or all")
    return int(text)
