"""`recassay evaluate`: recommendations made elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.render import print_json, print_lines, print_rows, print_saved

if TYPE_CHECKING:
    from recassay.analysis.users.result import UsersResult


def evaluate(
    context: typer.Context,
    recommendations: Annotated[
        list[Path], typer.Argument(help="Lists: tables, TREC runs, ranx, LensKit, Elliot, WarpRec; files or folders.")
    ],
    train: Annotated[
        str | None,
        typer.Option("--train", help="What was trained on: a file or a stored dataset.", show_default=False),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option("--test", help="What was held out: a file, a stored dataset, or qrels.", show_default=False),
    ] = None,
    split: Annotated[
        Path | None,
        typer.Option("--split", help="Instead of both: a folder of recassay split.", show_default=False),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics",
            help="Labels, separated by commas. [default: nine at 10]",
            callback=lambda labels: o.not_blank("--metrics", labels),
        ),
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Paired tests over users between the lists, and a LaTeX table.")
    ] = False,
    alpha: o.Alpha = 0.05,
    task: o.Task = "new",
    threshold: Annotated[float | None, typer.Option("--threshold", help="Lowest positive rating.")] = None,
    allow: Annotated[
        list[str] | None, typer.Option("--allow-leakage", help="Accept a finding of the audit (repeatable).")
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Seed of the order of equal scores, and of intervals.")
    ] = 0,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Judge lists made elsewhere, user by user; --compare tests between them."""
    if not compare:
        o.refuse_given(context, ("alpha",), "is the level of the tests of --compare", "say that, or leave it out")
    report = recassay.evaluate(
        recommendations, train=train, test=test, split=split, metrics=o.names("--metrics", metrics) or None,
        compare=compare, alpha=alpha, task=task, threshold=threshold, allow_leakage=allow or (), seed=seed,
    )  # fmt: skip
    document = recassay.plain(report.to_dict())
    if as_json:
        print_json(document)
    elif len(report.judged) == 1:
        _show_one(report)
    else:
        _show_several(report)
    if not as_json:
        print_lines([*report.notes, *(f"{f['name']}: {f['sentence']}" for f in report.audit["findings"])])
    if out is not None:
        files = recassay.save_evaluation(report, document, out)
        print_saved(files, out)


def _show_one(report: recassay.EvaluationReport) -> None:
    counts, lists = report.result.counts, report.lists
    values = [
        [label, report.result.conventions[label]["convention"], _shown(value)]
        for label, value in report.result.mean().items()
    ]
    print_rows(
        f"{counts['evaluated']:,} users evaluated",
        ["metric", "convention", "value"],
        values,
        names=2,
        important=["value"],
    )
    print_lines(
        [
            f"{counts['without_list']:,} of them had no list and count as empty lists",
            f"{lists.unknown_user_rows:,} rows of unknown users were left out; {lists.unknown_item_rows:,} rows of "
            "unknown items kept their place and are no hits",
        ]
    )


def _show_several(report: recassay.EvaluationReport) -> None:
    first = report.judged[0].result
    labels = list(first.mean())
    print_rows(
        f"{first.counts['evaluated']:,} users evaluated",
        ["lists", *labels, "users without a list"],
        [
            [one.name, *(_shown(value) for value in one.result.mean().values()), one.result.counts["without_list"]]
            for one in report.judged
        ],
    )
    for metric, found in report.comparison.items():
        _show_pairs(metric, found)
    if report.latex:
        sys.stdout.write(f"{report.latex}\n")


def _show_pairs(metric: str, found: UsersResult) -> None:
    one, share = found.datasets[0], f"{100 * found.confidence:g} %"
    print_rows(
        f"{metric}: paired sign-flip tests over {one.users:,} users (left has the better mean)",
        ["left", "right", "difference", f"{share} interval", "p", "p (Holm)", "users better-equal-worse"],
        [
            [p.left, p.right, f"{p.difference:+.5f}", f"{p.low:+.5f} to {p.high:+.5f}", f"{p.p:.3g}",
             f"{p.p_holm:.3g}{'*' if p.significant else ' '}", f"{p.better}-{p.equal}-{p.worse}"]
            for p in one.pairs
        ],
        names=2,
    )  # fmt: skip


def _shown(value: float) -> str:
    return "undefined" if value != value else f"{value:.6f}"
