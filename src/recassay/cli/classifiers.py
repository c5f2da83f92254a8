"""`classify`: the classifier benchmark."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recassay import api
from recassay.cli import options as o
from recassay.cli.decodirt import analyze_response_folder, fitting_progress, show_decodirt
from recassay.cli.progress import show_progress
from recassay.cli.render import print_json, print_lines, print_table
from recassay.cli.studies import failure_lines

if TYPE_CHECKING:
    from recassay.runner.drive import StudyRecord


def classify(
    study: Annotated[
        Path | None, typer.Argument(help="Classifier study file (TOML or YAML).", show_default=False)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder of the study, or for the tables. [default: its name]",
            show_default=False,
        ),
    ] = None,
    responses: Annotated[
        Path | None,
        typer.Option("--responses", help="Instead of a study: a folder of response tables.", show_default=False),
    ] = None,
    rated: Annotated[
        str, typer.Option("--rated", help="Who plays: paper, all, everybody (MLPs too), or names by commas.")
    ] = "paper",
    workers: Annotated[
        int | None, typer.Option("--workers", "-j", help="Processes. [default: one a core]", show_default=False)
    ] = None,
    retry: Annotated[bool, typer.Option("--retry-failed", help="Run cells again that failed before.")] = False,
    cluster: Annotated[
        str | None, typer.Option("--cluster", help="Address of a Dask scheduler.", show_default=False)
    ] = None,
    dry: Annotated[bool, typer.Option("--dry-run", help="Show the cells and which of them are done.")] = False,
    as_json: o.Json = False,
) -> None:
    """Run a classifier study, or resume it."""
    if (study is None) == (responses is None):
        raise api.UsageError(
            "a study file, or --responses with a folder", fix="give one of the two, as in: recassay classify study.toml"
        )
    if responses is not None:
        analyze_response_folder(responses, rated=rated, as_json=as_json, out=out)
        return
    assert study is not None
    spec = api.load_classify_study(study)
    record = api.classify(
        spec, out, workers=workers, progress=show_progress(), retry_failed=retry, dry_run=dry, cluster=cluster
    )
    if dry:
        _show_plan(record, as_json)
        return
    scores = api.classifier_scores(record.folder)
    analysis = None
    if record.done:
        analysis = api.analyze_instances(
            api.load_instances(record.folder),
            rated=[name.strip() for name in rated.split(",")] if "," in rated else rated,
            seed=spec.seed,
            progress=fitting_progress(),
        )
    if as_json:
        status = api.status(record.folder).to_dict()
        content = {**status, "folder": str(record.folder), "ran": record.ran, "classifiers": scores}
        print_json(api.plain(content | ({} if analysis is None else {"analysis": analysis.to_dict()})))
    else:
        if analysis is not None:
            show_decodirt(analysis)
        _show(record, scores)
    if record.failed:
        raise typer.Exit(1)


def _show_plan(record: StudyRecord, as_json: bool) -> None:
    if as_json:
        print_json(api.plain({"planned": record.planned, "cells": [asdict(p) for p in record.predictions]}))
        return
    rows = [[p.algorithm, p.dataset, p.state] for p in record.predictions]
    print_table(f"{record.planned} cells", ["classifier", "dataset", "state"], rows, names=3)


def _show(record: StudyRecord, scores: list[dict[str, Any]]) -> None:
    rows = [
        [row["classifier"], row["role"], row["datasets"], _number(row["accuracy"]), _number(row["balanced_accuracy"]),
         _number(row["seconds_fit"])]
        for row in scores
    ]  # fmt: skip
    header = ["classifier", "role", "datasets", "accuracy", "balanced accuracy", "seconds to fit"]
    if record.done:
        print_table("Means over the datasets that each has done", header, rows, names=2)
    print_lines(
        [
            f"{record.done} of {record.planned} cells are done, {record.ran} of them in this run "
            f"({record.seconds:.0f} s); {len(record.failed)} failed.",
            *failure_lines(record.failed),
            *([f"Now: recassay analyze {record.folder}"] if record.done else []),
        ]
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
