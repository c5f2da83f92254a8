"""recassay demo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.analyze import show_report
from recassay.cli.progress import show_progress


def demo(
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="Folder for the study, the report, tables and figures.", callback=o.folder_can_be
        ),
    ] = Path("recassay-demo"),
    trials: Annotated[int, typer.Option("--trials", help="Tuning trials of each algorithm on each dataset.")] = 3,
    workers: Annotated[
        int | None,
        typer.Option("--workers", "-j", max=4096, help="Processes. [default: one a core]", show_default=False),
    ] = None,
    as_json: o.Json = False,
) -> None:
    """The main job on embedded data, with no network."""
    report = recassay.demo(out, trials=trials, workers=workers, progress=show_progress())
    show_report(report, as_json, out)
