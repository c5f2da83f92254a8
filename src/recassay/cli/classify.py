"""`classify`: the classifier benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.progress import earlier_lines, resumable, show_progress, show_stages
from recassay.cli.render import print_answer, print_json, print_lines, print_rows
from recassay.cli.studies import plan_content
from recassay.cli.table import show_and_save

if TYPE_CHECKING:
    from recassay.runner.drive import StudyRecord


def _players(rated: str) -> str:
    """Asked before the study is run, not after it."""
    if "," not in rated and rated not in {"paper", "all", "everybody"}:
        raise recassay.UsageError(
            f"{rated!r} names no group of classifiers", fix="use paper, all, everybody, or two names and more"
        )
    return rated


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
            callback=o.folder_can_be,
            show_default=False,
        ),
    ] = None,
    responses: Annotated[
        Path | None,
        typer.Option("--responses", help="Instead of a study: a folder of response tables.", show_default=False),
    ] = None,
    rated: Annotated[
        str,
        typer.Option(
            "--rated", help="Who plays: paper, all, everybody (MLPs too), or names by commas.", callback=_players
        ),
    ] = "paper",
    workers: o.Workers = None,
    retry: o.Retry = False,
    cluster: o.Cluster = None,
    dry: Annotated[bool, typer.Option("--dry-run", help="Show the cells and which of them are done.")] = False,
    as_json: o.Json = False,
) -> None:
    """Run a classifier study, or resume it."""
    if (study is None) == (responses is None):
        raise recassay.UsageError(
            "a study file, or --responses with a folder", fix="give one of the two, as in: recassay classify study.toml"
        )
    if responses is not None:
        analyze_response_folder(responses, rated=rated, as_json=as_json, out=out)
        return
    assert study is not None
    spec = recassay.load_classify_study(study)
    with resumable(lambda: out or Path(spec.name)):
        record = recassay.classify(
            spec, out, workers=workers, progress=show_progress(), retry_failed=retry, dry_run=dry, cluster=cluster
        )
    if dry:
        _show_plan(record, as_json)
        return
    scores = recassay.classifier_scores(record.folder)
    analysis = None
    if record.done:
        analysis = recassay.analyze_instances(
            recassay.load_instances(record.folder),
            rated=[name.strip() for name in rated.split(",")] if "," in rated else rated,
            seed=spec.seed,
            progress=show_stages(),
        )
    if as_json:
        status = recassay.status(record.folder).to_dict()
        ran = {"folder": str(record.folder), "ran": record.ran, "earlier": record.earlier}
        content = {**status, **ran, "classifiers": scores}
        print_json(recassay.plain(content | ({} if analysis is None else {"analysis": analysis.to_dict()})))
    else:
        _show(record, scores)
        if analysis is not None:
            print_answer(recassay.tell(analysis))
    if record.failed:
        raise typer.Exit(1)


def _show_plan(record: StudyRecord, as_json: bool) -> None:
    if as_json:
        print_json(plan_content(record))
        return
    print_lines(earlier_lines(record.earlier))
    rows = [[p.algorithm, p.dataset, p.state] for p in record.predictions]
    print_rows(f"{record.planned} cells", ["classifier", "dataset", "state"], rows, names=3)


def _show(record: StudyRecord, scores: list[dict[str, Any]]) -> None:
    rows = [
        [row["classifier"], row["role"], row["datasets"],
         *("" if row[key] is None else f"{row[key]:.3f}" for key in ("accuracy", "balanced_accuracy", "seconds_fit"))]
        for row in scores
    ]  # fmt: skip
    header = ["classifier", "role", "datasets", "accuracy", "balanced accuracy", "seconds to fit"]
    if record.done:
        print_rows("Means over the datasets that each has done", header, rows, names=2)
    print_lines(
        [
            f"{record.done} of {record.planned} cells are done, {record.ran} of them in this run "
            f"({record.seconds:.0f} s); {len(record.failed)} failed.",
            *(cause.sentence() for cause in record.causes()),
            *([f"Now: recassay analyze {record.folder}", ""] if record.done else []),
        ]
    )


def analyze_response_folder(
    folder: Path, *, rated: str = "paper", seed: int = 0, as_json: bool = False, out: Path | None = None
) -> None:
    """`classify --responses DIR`: the analysis of response tables made elsewhere, no classifier run."""
    instances = recassay.load_response_folder(folder)
    names = [name.strip() for name in rated.split(",")] if "," in rated else rated
    result = recassay.analyze_instances(instances, rated=names, seed=seed, progress=show_stages())
    show_and_save(recassay.instances_document(instances, result), "decodirt", result, as_json, out)
