"""recassay advise."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.render import print_lines, say
from recassay.cli.table import finish, load_table, said_direction


def advise(
    dataset: Annotated[str, typer.Argument(help="Your dataset: a file, a stored name, or synthetic:PRESET.")],
    files: Annotated[
        list[str] | None,
        typer.Option("--results", help="A finished benchmark: a table or a study folder. [default: published:kdd24]",
                     show_default=False),
    ] = None,
    characteristics: o.Characteristics = None,
    metric: o.Metric = None,
    k: Annotated[int, typer.Option("-k", help="How many nearest datasets to rank on.")] = 5,
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", help="Lowest positive rating (tau). [default: the study's, else none]",
                     show_default=False),
    ] = None,
    filter_: Annotated[
        str | None,
        typer.Option("--filter", help="once, core or none. [default: the study's, else once]", show_default=False),
    ] = None,
    min_items: Annotated[
        int | None, typer.Option("--min-item-interactions", help="[default: the study's, else 5]", show_default=False)
    ] = None,
    min_users: Annotated[
        int | None, typer.Option("--min-user-interactions", help="[default: the study's, else 5]", show_default=False)
    ] = None,
    wide: o.Wide = False,
    transpose: o.Transpose = False,
    column: o.Column = None,
    format_: o.Format = None,
    prefer: o.Prefer = "error",
    missing: o.Missing = "error",
    higher: o.Higher = False,
    lower: o.Lower = False,
    seed: o.Seed = 0,
    study: Annotated[
        Path | None, typer.Option("--study", help="Write the study to run next into this file.", show_default=False)
    ] = None,
    as_json: o.Json = False,
    out: o.Out = None,
    formats: o.Formats = None,
) -> None:  # fmt: skip
    """Which algorithms to try first on a dataset of one's own."""
    if study is not None and o.file_can_be(study) and study.exists():
        raise recassay.UsageError("is there already", where=str(study), fix="choose another name for --study")
    results = load_table(files or [o.DEFAULT_BENCHMARK], metric, wide, transpose, column, None, format_, prefer)
    said: dict[str, Any] = {
        "positive_threshold": threshold, "filter": filter_, "min_item_interactions": min_items,
        "min_user_interactions": min_users,
    }  # fmt: skip
    result = recassay.advise(
        dataset,
        results,
        metric,
        characteristics=characteristics,
        k=k,
        protocol={name: value for name, value in said.items() if value is not None},
        missing=missing,
        higher_is_better=said_direction(higher, lower),
        seed=seed,
    )
    if study is not None:
        recassay.save_text(study, result.study)
        say(f"wrote {study}: run it with recassay run {study}")
    finish("advise", "advice", result, results, as_json, out, formats)
    if not as_json and study is None:
        print_lines(["", "A study to run next (--study FILE writes it):", "", *result.study.rstrip().splitlines()])
