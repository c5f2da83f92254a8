"""`run` and `status`: studies."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.progress import earlier_lines, resumable, show_progress
from recassay.cli.render import print_json, print_lines, print_rows
from recassay.core.choices import AdaptiveTarget

if TYPE_CHECKING:
    from recassay.recommenders.study import StudyRecord
    from recassay.store.records import StoreStatus


def run(
    context: typer.Context,
    study: Annotated[Path | None, typer.Argument(help="Study file (TOML or YAML).", show_default=False)] = None,
    datasets: Annotated[
        str | None, typer.Option("--datasets", help="Instead of a file: names or files, separated by commas.")
    ] = None,
    algorithms: Annotated[
        str | None, typer.Option("--algorithms", help="Instead of a file: names, separated by commas.")
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics",
            help="Without a file: labels, by commas.",
            callback=lambda labels: o.not_blank("--metrics", labels),
        ),
    ] = None,
    trials: Annotated[int, typer.Option("--trials", help="Without a file: tuning trials; 0 means defaults.")] = 40,
    seed: Annotated[int, typer.Option("--seed", help="Without a file: the seed.")] = 1,
    split: Annotated[str, typer.Option("--split", help="Without a file: the split rule.")] = "global_time",
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="Without a file: lowest positive rating.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Folder of the study. [default: its name]", show_default=False, callback=o.folder_can_be
        ),
    ] = None,
    workers: o.Workers = None,
    retry: o.Retry = False,
    cluster: o.Cluster = None,
    adaptive: Annotated[
        bool, typer.Option("--adaptive", help="Run the cells that tell most per second; stop when the target is sure.")
    ] = False,
    target: Annotated[AdaptiveTarget, typer.Option("--target", help="Adaptive: what is to be settled.")] = "first",
    confidence: Annotated[float, typer.Option("--confidence", min=0.5, max=0.999, help="Adaptive: how surely.")] = 0.95,
    indifference: Annotated[
        float, typer.Option("--indifference", min=0.0, help="Adaptive, for the order: mean ranks that do not matter.")
    ] = 1.0,
    budget: Annotated[
        str | None, typer.Option("--budget", help="Adaptive: most time of this run, such as 2h.", show_default=False)
    ] = None,
    probes: Annotated[
        bool, typer.Option("--probes", help="Adaptive: look at cells without tuning first; tune where that decides.")
    ] = False,
    dry: Annotated[bool, typer.Option("--dry-run", help="Show the cells and their predicted memory.")] = False,
    as_json: o.Json = False,
) -> None:
    """Run a study, or resume it."""
    if (study is None) == (datasets is None or algorithms is None):
        raise recassay.UsageError(
            "a study is a file, or --datasets and --algorithms",
            fix="give one of the two, as in: recassay run study.toml",
        )
    if study is not None:
        alone = ("datasets", "algorithms", "metrics", "trials", "seed", "split", "threshold")
        o.refuse_given(context, alone, "is for a study without a file", f"write it into {study}")
        spec = recassay.load_study(study)
    else:
        spec = recassay.make_study(
            o.names("--datasets", datasets),
            o.names("--algorithms", algorithms),
            trials=trials,
            seed=seed,
            protocol={"split": split} | ({} if threshold is None else {"positive_threshold": threshold}),
            metrics=o.names("--metrics", metrics) or None,
            name=(out.resolve().name if out is not None else "") or "study",
        )
    if not adaptive:
        choosing = ("target", "confidence", "indifference", "budget", "probes")
        o.refuse_given(context, choosing, "is for adaptive runs", "add --adaptive, or leave it out")
    elif target != "order":
        o.refuse_given(context, ("indifference",), "is for --target order", "say that, or leave it out")
    with resumable(lambda: out or Path(spec.name)):
        record = recassay.run(
            spec,
            out,
            workers=workers,
            progress=show_progress(),
            retry_failed=retry,
            dry_run=dry,
            cluster=cluster,
            adaptive=adaptive,
            target=target,
            confidence=confidence,
            indifference=indifference,
            budget=None if budget is None else o.duration("--budget", budget),
            probes=probes,
        )
    if dry:
        _show_plan(record, as_json)
        if record.causes():
            raise typer.Exit(1)
        return
    if as_json:
        print_json(
            recassay.plain(
                {
                    **recassay.status(record.folder).to_dict(),
                    "folder": str(record.folder),
                    "ran": record.ran,
                    "earlier": record.earlier,
                    **({"adaptive": recassay.adaptive_standing(record.folder)} if adaptive else {}),
                }
            )
        )
    else:
        print_lines(
            [
                f"{record.done} of {record.planned} cells are done, {record.ran} of them in this run "
                f"({record.seconds:.0f} s); {len(record.failed)} failed.",
                *(cause.sentence() for cause in record.causes()),
                *(_standing(record.folder) if adaptive else []),
                *([f"Now: recassay {'adaptive' if adaptive else 'analyze'} {record.folder}"] if record.done else []),
            ]
        )
    if record.failed:
        raise typer.Exit(1)


def status(
    folder: Annotated[Path, typer.Argument(help="Folder of a study.")],
    verify: Annotated[bool, typer.Option("--verify", help="Check rows, trials, files and splits.")] = False,
    as_json: o.Json = False,
) -> None:
    """How far a study is."""
    found = recassay.status(folder, verify=verify)
    if as_json:
        print_json(recassay.plain({**found.to_dict(), "adaptive": recassay.adaptive_standing(folder)}))
        raise typer.Exit(1 if found.verified is not None and found.verified.damaged else 0)
    print_lines([f"{found.done} of {found.planned} cells done, {len(found.failed)} failed, {len(found.to_go)} to go; "
                 f"{found.trials} trials kept", *earlier_lines(found.earlier, " by `recassay run`"),
                 *_standing(folder), *_verified(found)])  # fmt: skip
    if found.failed:
        print_lines(cause.sentence() for cause in found.causes())
    if found.to_go:
        print_rows("To go", ["algorithm", "dataset"], [[c.algorithm, c.dataset] for c in found.to_go], names=2)
    if found.verified is not None and found.verified.damaged:
        raise typer.Exit(1)


def _verified(status: StoreStatus) -> list[str]:
    """What the checksums say; no line where they were not asked."""
    verified = status.verified
    if verified is None:
        return []
    lines = []
    if verified.damaged:
        named = ", ".join(verified.damaged[:3])
        more = f" and {len(verified.damaged) - 3} more" if len(verified.damaged) > 3 else ""
        lines.append(f"Damaged or gone: {named}{more}; the same `recassay run` makes this again.")
    if verified.unverified:
        kinds = ", ".join(f"{count} {what if count > 1 else what[:-1]}" for what, count in verified.unverified.items())
        lines.append(f"{kinds} cannot be verified: the version that wrote this kept no checksums.")
    if not lines:
        lines.append(f"All {verified.cells} done cells and {verified.splits} splits are what was written.")
    return lines


def _standing(folder: Path) -> list[str]:
    """How an adaptive run stood at its last decision; no line where there was none."""
    said = recassay.adaptive_standing(folder)
    return [] if said is None else [f"Adaptive: {said}."]


def plan_content(record: StudyRecord) -> dict[str, Any]:
    """What a dry run answers as JSON."""
    cells = [asdict(prediction) for prediction in record.predictions]
    plan: dict[str, Any] = recassay.plain({"planned": record.planned, "earlier": record.earlier, "cells": cells})
    return plan


def _show_plan(record: StudyRecord, as_json: bool) -> None:
    if as_json:
        print_json(plan_content(record))
        return
    print_lines(earlier_lines(record.earlier))
    rows = [
        [p.algorithm, p.dataset, p.state, p.trials if p.trials is not None else "", _megabytes(p.memory),
         _megabytes(p.most_memory), _megabytes(p.gpu_memory), p.users or "", p.items or "", p.interactions or ""]
        for p in record.predictions
    ]  # fmt: skip
    header = ["algorithm", "dataset", "state", "trials", "MB", "most MB", "GPU MB", "users", "items", "interactions"]
    print_rows(f"{record.planned} cells", header, rows, names=3)
    print_lines(cause.sentence() for cause in record.causes())


def _megabytes(size: int | None) -> str:
    return "" if size is None else f"{size / 1e6:,.1f}"
