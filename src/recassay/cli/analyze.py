"""`rank`, `compare`, `analyze` and `demo`: commands on a results table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.rank import show_rank
from recassay.cli.render import print_json, print_lines, print_saved
from recassay.cli.table import load_table, said_direction


def analyze(
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
    characteristics: o.Characteristics = None,
    seed: o.Seed = 0,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Every analysis; --out saves the report, tables and figures."""
    results = load_table(files, metric, wide, transpose, column, dataset, format_, prefer)
    report = recassay.analyze(
        results,
        metric,
        missing=missing,
        higher_is_better=said_direction(higher, lower),
        alpha=alpha,
        seed=seed,
        out=out,
        characteristics=characteristics,
    )
    _show_report(report, as_json, out)


def _show_report(report: recassay.AnalysisReport, as_json: bool, out: Path | None) -> None:
    if as_json:
        print_json(recassay.document("analyze", report.to_dict(), report.results))
    else:
        if "rank" in report.analyses:
            show_rank(report.analyses["rank"])  # type: ignore[arg-type]
        print_lines(["", *report.verdict])
        print_lines(f"Not done: {name}: {reason}." for name, reason in report.skipped.items())
        if out is None:
            print_lines(["", "With --out DIR the report (one HTML page), the tables and the figures are saved."])
        else:
            print_lines(["", f"Open {out / 'report.html'} first; figures and tables lie beside it."])
    if out is not None:
        print_saved(report.files, out)
