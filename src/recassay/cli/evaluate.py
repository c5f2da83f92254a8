"""`recassay evaluate`: recommendations made elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.render import print_json, print_lines, print_rows, print_saved


def evaluate(
    recommendations: Annotated[Path, typer.Argument(help="Table user,item,score[,rank]: CSV, TSV or Parquet.")],
    train: Annotated[str, typer.Option("--train", help="What was trained on: a file or a stored dataset.")],
    test: Annotated[str, typer.Option("--test", help="What was held out: a file or a stored dataset.")],
    metrics: Annotated[
        str | None, typer.Option("--metrics", help="Labels, separated by commas. [default: nine at 10]")
    ] = None,
    allow: Annotated[
        list[str] | None, typer.Option("--allow-leakage", help="Accept a finding of the audit (repeatable).")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the order of equal scores.")] = 0,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Judge recommendations made elsewhere, user by user."""
    wanted = [label.strip() for label in metrics.split(",")] if metrics else None
    report = recassay.evaluate(
        recommendations, train=train, test=test, metrics=wanted, allow_leakage=allow or (), seed=seed
    )
    document = recassay.plain(report.to_dict())
    if as_json:
        print_json(document)
    else:
        counts = report.result.counts
        values = [[label, report.result.conventions[label]["convention"], "undefined" if v is None else f"{v:.6f}"]
                  for label, v in document["metrics"].items()]  # fmt: skip
        print_rows(
            f"{counts['evaluated']:,} users evaluated",
            ["metric", "convention", "value"],
            values,
            names=2,
            important=["value"],
        )
        lists = report.lists
        print_lines(
            [
                f"{counts['without_list']:,} of them had no list and count as empty lists",
                f"{lists.unknown_user_rows:,} rows of unknown users were left out; {lists.unknown_item_rows:,} rows of "
                "unknown items kept their place and are no hits",
                *(f"{f['name']}: {f['sentence']}" for f in report.audit["findings"]),
            ]
        )
    if out is not None:
        files = recassay.save_evaluation(report, document, out)
        print_saved(files, out)
