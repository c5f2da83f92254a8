"""`report`: the page alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.on_table import Asked, on_table
from recassay.cli.progress import show_stages
from recassay.cli.render import print_json, print_lines, say

_OTHERS = frozenset(
    f".{ending}"
    for ending in ["pdf", "png", "svg", "csv", "tsv", "json", "tex", "md", "txt", "docx", "xlsx", "parquet", "zip"]
)


def _page_can_be(path: Path | None) -> Path | None:
    """A page to write, unless it would take the place of a file that is none, or be called like one."""
    if path is not None and path.is_file() and path.suffix.lower() not in {".html", ".htm"}:
        raise recassay.UsageError(
            "is there, and is no HTML file", where=str(path), fix="name a file that ends in .html"
        )
    if path is not None and path.suffix.lower() in _OTHERS and not path.is_dir():
        raise recassay.UsageError("a report is an HTML page", where=str(path), fix="name a file that ends in .html")
    return o.file_can_be(path)


@on_table()
def report(
    asked: Asked,
    alpha: o.Alpha = 0.05,
    seed: o.Seed = 0,
    characteristics: o.Characteristics = None,
    as_json: o.Json = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="HTML file. [default: report.html, in the study's folder]",
            show_default=False,
            callback=_page_can_be,
        ),
    ] = None,
) -> None:
    """One HTML page with everything: verdict, pictures, numbers."""
    found = recassay.report(
        asked.results,
        asked.metric,
        missing=asked.missing,
        higher_is_better=asked.higher_is_better,
        alpha=alpha,
        seed=seed,
        characteristics=characteristics,
        progress=show_stages(),
        out=out,
    )
    if o.is_output(out):
        return  # the page is the output
    if as_json:
        print_json(recassay.document("report", {**found.to_dict(), "report": str(found.files[0])}, found.results))
        return
    print_lines(found.verdict)
    size = found.files[0].stat().st_size / 1e6
    say(f"wrote {found.files[0]} ({size:.2f} MB): open it in a browser")
