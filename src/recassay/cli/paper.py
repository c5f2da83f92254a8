"""`paper`: what a paper takes from results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.render import print_json, print_lines, print_notes, print_saved
from recassay.cli.table import load_table, said_direction
from recassay.core.choices import RowOrder


def paper(
    files: o.Files,
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics",
            "--metric",
            "-m",
            help="Labels, separated by commas; the first is that of the figures. [default: ndcg@10 if present]",
            show_default=False,
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder.")] = Path("paper"),
    figures: Annotated[
        str | None,
        typer.Option(
            "--figures",
            help="Names of figures or of analyses, separated by commas, or none. "
            "[default: critical_difference,performance_profiles]",
            show_default=False,
        ),
    ] = None,
    width: Annotated[
        str, typer.Option("--width", help="Width of a column, which figures have: 3.33in, 8.5cm.")
    ] = "3.33in",
    page_width: Annotated[str, typer.Option("--page-width", help="Width of the text of a page.")] = "7in",
    letters: Annotated[float, typer.Option("--letters", help="Size of the letters in figures, in points.")] = 9.0,
    percent: Annotated[bool, typer.Option("--percent", help="Values between 0 and 1 in percent.")] = False,
    decimals: Annotated[
        int | None, typer.Option("--decimals", help="Digits after the point. [default: by size]", show_default=False)
    ] = None,
    deviations: Annotated[
        bool, typer.Option("--deviations/--no-deviations", help="± over seeds, folds or stated runs.")
    ] = True,
    mean: Annotated[bool, typer.Option("--mean", help="The mean over datasets as a further column.")] = False,
    wide_table: Annotated[bool, typer.Option("--wide-table", help="The main table over both columns.")] = False,
    rotated: Annotated[bool, typer.Option("--rotated", help="The main table turned, on a page of its own.")] = False,
    order: Annotated[RowOrder, typer.Option("--order", help="Order of the algorithms.")] = "rank",
    wide: o.Wide = False,
    transpose: o.Transpose = False,
    column: o.Column = None,
    dataset: o.Dataset = None,
    format_: o.Format = None,
    prefer: o.Prefer = "error",
    missing: o.Missing = "error",
    higher: o.Higher = False,
    lower: o.Lower = False,
    alpha: o.Alpha = 0.05,
    control: o.Control = None,
    seed: o.Seed = 0,
    as_json: o.Json = False,
) -> None:
    """Tables, figures, setup and references for a paper."""
    labels = o.names("--metrics", metrics)
    results = load_table(
        files, labels[0] if len(labels) == 1 else None, wide, transpose, column, dataset, format_, prefer
    )
    made = recassay.paper(
        results,
        labels or None,
        out=out,
        figures=None if figures is None else [name for name in o.names("--figures", figures) if name != "none"],
        width=width,
        page_width=page_width,
        letters=letters,
        percent=percent,
        decimals=decimals,
        deviations=deviations,
        mean=mean,
        wide_table=wide_table,
        rotated=rotated,
        order=order,
        missing=missing,
        higher_is_better=said_direction(higher, lower),
        alpha=alpha,
        control=control,
        seed=seed,
    )
    if as_json:
        print_json(recassay.document("paper", made.to_dict(), made.results))
    else:
        print_lines(made.sentences)
    print_notes(made.notes)
    print_saved(made.files, out)
