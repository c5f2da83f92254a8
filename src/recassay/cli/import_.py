"""`import`: results of other tools into the common table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.render import print_json, print_notes, print_rows, say
from recassay.cli.table import named_columns
from recassay.core.system.printable import one_line

MOST_ROWS = 20


def import_(
    files: o.Files,
    metric: o.Metric = None,
    wide: o.Wide = False,
    transpose: o.Transpose = False,
    column: o.Column = None,
    dataset: o.Dataset = None,
    format_: o.Format = None,
    prefer: o.Prefer = "error",
    as_json: o.Json = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="The table: .parquet, .csv or .tsv.", show_default=False, callback=o.file_can_be
        ),
    ] = None,
) -> None:
    """Results of other tools and tables of papers -> one table."""
    results = recassay.import_results(
        list(files),
        out=out,
        format=format_,
        dataset=dataset,
        metric=metric,
        wide=wide,
        transpose=transpose,
        columns=named_columns(column),
        prefer=prefer,
    )
    say(one_line(results.told_reading(), 600))
    print_notes(results.notes)
    frame = results.frame
    if o.is_output(out):
        return  # the table is the output
    if as_json:
        print_json(recassay.document("import", {"rows": frame.to_dicts()}, results))
    else:
        title = (
            f"{len(results.algorithms)} algorithms, {len(results.datasets)} datasets, {len(results.metrics)} metrics"
        )
        shown = frame.head(MOST_ROWS)
        rows = [["" if cell is None else f"{cell:.6g}" if isinstance(cell, float) else str(cell)[:40] for cell in row]
                for row in shown.iter_rows()]  # fmt: skip
        print_rows(title, frame.columns, rows, names=len(frame.columns))
        if frame.height > MOST_ROWS:
            sys.stdout.write(f"and {frame.height - MOST_ROWS} more rows\n")
    if out is not None:
        say(f"wrote {frame.height} rows to {out}")
