"""`report`: the page alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.progress import show_stages
from recassay.cli.render import print_json, print_lines
from recassay.cli.table import load_table, said_direction


def report(
    files: o.Files,
    metric: o.Metric = None,
    wide: o.Wide = False,
    transpose: o.Transpose = False,
    column: o.Column = None,
    dataset: o.Dataset = None,
    format_: o.Format = None,
    prefer: o.Prefer = "error",
    missing: o.Missing = "error",
    higher: o.Higher = False,
    lower: o.Lower = False,
    alpha: Annotated[float, typer.Option("--alpha", help="Level of the tests.")] = 0.05,
    seed: o.Seed = 0,
    characteristics: o.Characteristics = None,
    as_json: o.Json = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="HTML file. [default: report.html, in the study's folder]", show_default=False
        ),
    ] = None,
) -> None:
    """One HTML page with everything: verdict, pictures, numbers."""
    results = load_table(files, metric, wide, transpose, column, dataset, format_, prefer)
    found = recassay.report(
        results,
        metric,
        missing=missing,
        higher_is_better=said_direction(higher, lower),
        alpha=alpha,
        seed=seed,
        characteristics=characteristics,
        progress=show_stages(),
        out=out,
    )
    if as_json:
        print_json(recassay.document("report", {**found.to_dict(), "report": str(found.files[0])}, found.results))
        return
    print_lines(found.verdict)
    size = found.files[0].stat().st_size / 1e6
    sys.stderr.write(f"wrote {found.files[0]} ({size:.2f} MB): open it in a browser\n")
