"""`classify`: the classifier benchmark."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.progress import show_progress
from recassay.cli.render import print_json, print_lines, print_saved, print_table

if TYPE_CHECKING:
    from recassay.analysis.decodirt.ratings import SetRatings
    from recassay.analysis.decodirt.result import DecodirtResult
    from recassay.analysis.decodirt.subset import Recommendation
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
        raise recassay.UsageError(
            "a study file, or --responses with a folder", fix="give one of the two, as in: recassay classify study.toml"
        )
    if responses is not None:
        analyze_response_folder(responses, rated=rated, as_json=as_json, out=out)
        return
    assert study is not None
    spec = recassay.load_classify_study(study)
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
            progress=fitting_progress(),
        )
    if as_json:
        status = recassay.status(record.folder).to_dict()
        content = {**status, "folder": str(record.folder), "ran": record.ran, "classifiers": scores}
        print_json(recassay.plain(content | ({} if analysis is None else {"analysis": analysis.to_dict()})))
    else:
        if analysis is not None:
            show_decodirt(analysis)
        _show(record, scores)
    if record.failed:
        raise typer.Exit(1)


def _show_plan(record: StudyRecord, as_json: bool) -> None:
    if as_json:
        print_json(recassay.plain({"planned": record.planned, "cells": [asdict(p) for p in record.predictions]}))
        return
    rows = [[p.algorithm, p.dataset, p.state] for p in record.predictions]
    print_table(f"{record.planned} cells", ["classifier", "dataset", "state"], rows, names=3)


def _show(record: StudyRecord, scores: list[dict[str, Any]]) -> None:
    rows = [
        [row["classifier"], row["role"], row["datasets"], _number(row["accuracy"], 3),
         _number(row["balanced_accuracy"], 3), _number(row["seconds_fit"], 3)]
        for row in scores
    ]  # fmt: skip
    header = ["classifier", "role", "datasets", "accuracy", "balanced accuracy", "seconds to fit"]
    if record.done:
        print_table("Means over the datasets that each has done", header, rows, names=2)
    print_lines(
        [
            f"{record.done} of {record.planned} cells are done, {record.ran} of them in this run "
            f"({record.seconds:.0f} s); {len(record.failed)} failed.",
            *(cause.sentence() for cause in record.causes()),
            *([f"Now: recassay analyze {record.folder}"] if record.done else []),
        ]
    )


def analyze_response_folder(
    folder: Path, *, rated: str = "paper", seed: int = 0, as_json: bool = False, out: Path | None = None
) -> None:
    """`classify --responses DIR`: the analysis of response tables made elsewhere, no classifier run."""
    instances = recassay.load_response_folder(folder)
    names = [name.strip() for name in rated.split(",")] if "," in rated else rated
    result = recassay.analyze_instances(instances, rated=names, seed=seed, progress=fitting_progress())
    document = recassay.instances_document(instances, result)
    if as_json:
        print_json(document)
    else:
        show_decodirt(result)
    if out is not None:
        print_saved(recassay.save({"decodirt": result}, document, out), out)


def fitting_progress() -> Callable[[int, int, str], None] | None:
    """A line that counts the datasets on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        return None

    def show(done: int, total: int, dataset: str) -> None:
        end = "\n" if done + 1 == total else ""
        sys.stderr.write(f"\r\x1b[K[{done + 1}/{total}] items of {dataset[:80]}{end}")
        sys.stderr.flush()

    return show


def show_decodirt(result: DecodirtResult, *, most: int = 80) -> None:
    """Datasets, bins, what goes with the metadata, the ratings of the six sets, and the recommended subset."""
    _show_datasets(result, most)
    _show_bins(result)
    _show_correlations(result)
    for variant, title in (("all", "all instances"), ("kept", "without negatively discriminating instances")):
        if result.ratings:
            _show_ratings(result.ratings, variant, title)
    _show_scores(result)
    if result.recommendation is not None:
        _show_recommendation(result.recommendation)
    print_lines(result.notes)


def _number(value: float | None, digits: int = 2) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _show_datasets(result: DecodirtResult, most: int) -> None:
    rows = result.to_frame().to_dicts()
    print_table(
        f"{len(rows)} datasets, hardest first: mean (deviation) of the 3PL parameters over test instances",
        ["dataset", "bin", "instances", "difficulty", "discrimination", "guessing", "negative", "converged"],
        [
            [
                row["dataset"],
                "" if row["bin"] is None else row["bin"],
                row["instances"],
                *(
                    f"{_number(row[f'mean_{name}'])} ({_number(row[f'{name}_deviation'])})"
                    for name in ("difficulty", "discrimination", "guessing")
                ),
                "" if row["negative_share"] is None else f"{100 * row['negative_share']:.1f} %",
                "yes" if row["converged"] else "no",
            ]
            for row in rows[:most]
        ],
    )
    if len(rows) > most:
        print_lines([f"and {len(rows) - most} more (--json or --out DIR has all)"])


def _show_bins(result: DecodirtResult) -> None:
    print_table(
        "Bins by difficulty: means over their datasets",
        ["bin", "datasets", "difficulty", "discrimination", "guessing", "negative"],
        [
            [
                one.number,
                len(one.datasets),
                *(_number(one.parameters[name]) for name in ("difficulty", "discrimination", "guessing")),
                f"{100 * one.parameters['negative_share']:.1f} %",
            ]
            for one in result.bins
        ],
    )


def _show_correlations(result: DecodirtResult, most: int = 8) -> None:
    rows = [row for row in result.correlations.to_frame().to_dicts() if row["kind"] == "property and items"]
    known = [row for row in rows if row["pearson"] is not None]
    if not known:
        return
    print_table(
        f"Properties and item parameters: the strongest of {len(known)} correlations over datasets",
        ["property", "of the items", "Pearson", "95 %", "p", "p (Holm)", "Spearman", "datasets"],
        [
            [
                row["left"],
                row["right"].replace("_", " "),
                _number(row["pearson"]),
                f"{row['low']:.2f} to {row['high']:.2f}",
                f"{row['p']:.3g}",
                f"{row['p_holm']:.3g}",
                _number(row["spearman"]),
                row["datasets"],
            ]
            for row in known[:most]
        ],
        names=2,
    )


def _show_ratings(ratings: tuple[SetRatings, ...], variant: str, title: str) -> None:
    results = [getattr(one, variant) for one in ratings]
    first = results[0]
    header = ["classifier", *(_short(one.set.name) for one in ratings)]
    ranks = [{result.algorithms[a]: r + 1 for r, a in enumerate(result.order())} for result in results]
    rows = []
    for a in first.order():
        name = first.algorithms[a]
        cells = []
        for result, rank in zip(results, ranks, strict=True):
            rating, deviation, _ = result.ratings[:, result.algorithms.index(name)]
            cells.append(f"{rating:.0f} ± {1.96 * deviation:.0f} ({rank[name]})")
        rows.append([name, *cells])
    print_table(f"Glicko-2 ratings, {title}: rating ± 95 % (rank) on each set of datasets", header, rows)


def _short(name: str) -> str:
    return name.replace("_deviation", " dev.").replace("_", " ")


def _show_scores(result: DecodirtResult) -> None:
    rows = [row for row in result.mean_scores_frame().to_dicts() if row["respondent"] in result.players]
    print_table(
        "Mean probability of a right answer (true score / instances) over datasets",
        ["classifier", "role", "all instances", "without negative", "accuracy", "datasets"],
        [
            [
                row["respondent"],
                row["role"],
                _number(row["probability"], 3),
                _number(row["probability_without_negative"], 3),
                _number(row["accuracy"], 3),
                row["datasets"],
            ]
            for row in rows
        ],
        names=2,
    )


def _show_recommendation(one: Recommendation) -> None:
    print_table(
        "Halves of the datasets",
        ["half", "datasets", "above optimal", "below pessimal", "pairs apart", "Kendall's tau with all"],
        [
            [
                candidate.title,
                len(candidate.datasets),
                "" if candidate.baselines.above_optimal is None else candidate.baselines.above_optimal,
                "" if candidate.baselines.below_pessimal is None else candidate.baselines.below_pessimal,
                "" if candidate.separated is None else f"{100 * candidate.separated:.0f} %",
                _number(candidate.tau),
            ]
            for candidate in one.candidates
        ],
    )
    lines = [f"Recommended, {one.title}: {', '.join(one.datasets)}.", f"Rule: {one.rule}"]
    if one.left_out:
        lines.append(f"Left out for negative mean discrimination: {', '.join(one.left_out)}.")
    if one.tau is not None and one.random_tau is not None and one.beaten is not None:
        lines.append(
            f"It orders the real classifiers as all datasets do with Kendall's tau {one.tau:.2f}; random subsets of "
            f"the same size reach {one.random_tau[1]:.2f} (95 %: {one.random_tau[0]:.2f} to {one.random_tau[2]:.2f}), "
            f"{100 * one.beaten:.0f} % of them agree no better."
        )
    print_lines(lines)
