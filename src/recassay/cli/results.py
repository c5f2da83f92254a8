"""`recassay results`: every number of a study, printed or exported."""

from __future__ import annotations

import json
import sys
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.render import print_json, print_lines, print_rows, say

if TYPE_CHECKING:
    import polars as pl

MOST_ROWS = 200
"""Rows on a terminal; an export has them all."""


def results(
    folder: Annotated[Path, typer.Argument(help="The folder of a study.", show_default=False)],
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="Metric label (repeatable). [default: all]", show_default=False),
    ] = None,
    per_user: Annotated[bool, typer.Option("--per-user", help="The value of every user of every cell.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="CSV, on stdout or into --out.")] = False,
    as_parquet: Annotated[bool, typer.Option("--parquet", help="Parquet, into --out or a redirected stdout.")] = False,
    as_json: o.Json = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write.", show_default=False, callback=o.file_can_be)
    ] = None,
) -> None:
    """Print or export every number of a study."""
    if as_csv + as_parquet + as_json > 1:
        raise recassay.UsageError("--csv, --parquet and --json exclude each other", fix="keep one")
    if out is not None and out.is_dir():
        out = out / ("per_user" if per_user else "results")
        out = out.with_suffix(".parquet" if as_parquet else ".json" if as_json else ".csv")
    frame = recassay.results(folder, metric, per_user=per_user)
    if as_parquet or (out is not None and out.suffix in (".parquet", ".pq") and not (as_csv or as_json)):
        _parquet(frame, out)
    elif as_json:
        _json(frame, folder, out)
    elif as_csv or out is not None:
        if out is None:
            sys.stdout.write(frame.write_csv())
        else:
            recassay.save_text(out, frame.write_csv())
    else:
        _table(frame)
    if out is not None:
        say(f"wrote {frame.height:,} rows to {out}")


def _parquet(frame: pl.DataFrame, out: Path | None) -> None:
    if out is not None:
        packed = BytesIO()
        frame.write_parquet(packed, compression="zstd")
        recassay.save_text(out, packed.getvalue())
    elif sys.stdout.isatty():
        raise recassay.UsageError("Parquet is no text for a terminal", fix="say --out FILE, or redirect the output")
    else:
        frame.write_parquet(sys.stdout.buffer, compression="zstd")


def _json(frame: pl.DataFrame, folder: Path, out: Path | None) -> None:
    document = recassay.document("results", {"results": frame.to_dicts()}, recassay.load_results(folder))
    if out is None:
        print_json(document)
    else:
        recassay.save_text(out, json.dumps(document, indent=1, allow_nan=False) + "\n")


def _table(frame: pl.DataFrame) -> None:
    """Metrics side by side; of users' values the rows as they are."""
    import polars as pl

    if "user" not in frame.columns:
        keys = [name for name in ("dataset", "algorithm", "seed", "fold") if name in frame.columns]
        frame = frame.pivot(on="metric", index=keys, values="value", maintain_order=True).sort("dataset")
    shown = frame.head(MOST_ROWS)
    numbers = [dtype == pl.Float64 for dtype in shown.dtypes]
    rows = [
        [
            "" if value is None else f"{value:.5g}" if number else value
            for value, number in zip(row, numbers, strict=True)
        ]
        for row in shown.rows()
    ]
    print_rows(f"{frame.height:,} rows", shown.columns, rows, names=2)
    if frame.height > MOST_ROWS:
        print_lines([f"The first {MOST_ROWS} of {frame.height:,} rows; --csv or --parquet has them all."])
