"""`comper` and `comper-matrix`: one score out of five dimensions, and where its weights come from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.table import finish, load_table
from recassay.core.choices import ComPerTimeUnit, Normalisation


def comper(
    files: o.Files,
    correctness: Annotated[
        str | None,
        typer.Option("--correctness", help="Metric of accuracy. [default: correctness, else auc]", show_default=False),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option(
            "-k", min=1, max=1_000_000, help="Cut-off of coverage and diversity. [default: 10]", show_default=False
        ),
    ] = None,
    matrix: Annotated[
        str | None,
        typer.Option(
            "--matrix",
            help="CSV: a row a dimension, a column an objective; or `printed`. [default: Table 8]",
            show_default=False,
        ),
    ] = None,
    normalisation: Annotated[
        Normalisation, typer.Option("--normalisation", help="Equation 4 (ratio), or another.")
    ] = "ratio",
    time_unit: Annotated[
        ComPerTimeUnit, typer.Option("--time-unit", help="Unit in which time enters the score.")
    ] = "seconds",
    draws: Annotated[
        int, typer.Option("--draws", min=1, max=o.MOST_DRAWS, help="Random matrices of the sensitivity analysis.")
    ] = 10_000,
    column: o.Column = None,
    dataset: o.Dataset = None,
    format_: o.Format = None,
    prefer: o.Prefer = "error",
    missing: o.Missing = "error",
    seed: Annotated[int, typer.Option("--seed", help="Seed of the random matrices.")] = 0,
    as_json: o.Json = False,
    out: o.Out = None,
    formats: o.Formats = None,
) -> None:
    """One score: accuracy, coverage, diversity, robustness, time."""
    results = load_table(files, correctness, False, False, column, dataset, format_, prefer)
    result = recassay.comper(
        results,
        correctness=correctness,
        k=k,
        matrix=matrix,
        normalisation=normalisation,
        time_unit=time_unit,
        missing=missing,
        draws=draws,
        seed=seed,
    )
    finish("comper", "comper", result, results, as_json, out, formats)


def comper_matrix(
    experts: Annotated[
        list[Path] | None,
        typer.Option("--experts", help="Labels N, P, S: merged, or repeated for three experts.", show_default=False),
    ] = None,
    similarities: Annotated[
        Path | None, typer.Option("--similarities", help="Dice similarities of the definitions.", show_default=False)
    ] = None,
    definitions: Annotated[
        Path | None,
        typer.Option("--definitions", help="name,definition: compute the similarities.", show_default=False),
    ] = None,
    fourth: Annotated[
        Path | None,
        typer.Option("--fourth", help="Labels, or ratings 1 to 5, of the open pairs.", show_default=False),
    ] = None,
    as_json: o.Json = False,
    out: o.Out = None,
    formats: o.Formats = None,
) -> None:
    """ComPer's matrix, derived step by step."""
    derived = recassay.comper_matrix(experts=experts, similarities=similarities, definitions=definitions, fourth=fourth)
    finish("comper-matrix", "comper-matrix", derived, derived, as_json, out, formats)
