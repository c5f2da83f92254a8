"""`reproduce`: the numbers of the papers, computed anew."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.render import print_json, print_lines, print_rows, say


def reproduce(
    paper: Annotated[
        list[str] | None,
        typer.Argument(help="kdd24, bi-reirt, decodirt, comper, popularity-stratified, textbooks. [default: all]",
                       show_default=False),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show every number, not only those that do not agree.")] = False,
    page: Annotated[
        Path | None, typer.Option("--markdown", help="Write the page of the documentation.", show_default=False,
                                    callback=o.file_can_be)
    ] = None,
    as_json: o.Json = False,
) -> None:  # fmt: skip
    """Every number of the papers that follows from public data."""
    result = recassay.reproduce(paper or None)
    if page is not None:
        recassay.save_text(page, recassay.reproduction_page(result))
        say(f"wrote {page}")
    if as_json:
        print_json({"recassay": recassay.__version__, "command": "reproduce", **recassay.plain(result.to_dict())})
    else:
        _show(result, every)
    if result.fallen:
        say(f"recassay: {len(result.fallen)} numbers that used to agree no longer do")
        raise typer.Exit(1)


def _show(result: Any, every: bool) -> None:
    counts = result.count()
    summary = result.summary()
    print_rows(
        f"{len(result.numbers)} numbers: {', '.join(f'{count} {verdict}' for verdict, count in counts.items())}",
        summary.columns,
        [[cell or "" for cell in row] for row in summary.iter_rows()],
        names=2,
    )
    shown = result.to_frame()
    rows = shown.iter_rows() if every else (row for row in shown.iter_rows() if row[7] == "does not follow")
    print_rows(
        "Every number" if every else "Numbers that do not follow (--all shows every number)",
        ["paper", "table", "row", "column", "printed", "ours", "difference", "verdict", "why"],
        [["" if cell is None else f"{cell:+.4g}" if isinstance(cell, float) else cell for cell in row] for row in rows],
        names=4,
    )
    left = [
        f"{paper.name}, {what}: not computed anew: {why}."
        for paper in result.papers
        for what, why in paper.not_recomputed
    ]
    print_lines(left)
