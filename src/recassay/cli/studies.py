"""`run`, `status`, `serve`, `seal` and `verify`: studies, and what they promised."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recassay.api.study.studies import ON_UNIVERSES, adaptive_standing, has_universes, told_logs
from recassay.api.study.studies import status as study_status
from recassay.cli.call import Call
from recassay.cli.progress import earlier_lines, resumable, show_progress
from recassay.cli.render import Failed, print_answer, print_json, print_lines, print_rows, print_verdict, say
from recassay.core.errors import UsageError
from recassay.core.system.failures import causes
from recassay.core.system.files import write_whole
from recassay.core.system.plain import plain
from recassay.core.words import count_of, listing

if TYPE_CHECKING:
    from recassay.api.study.checklist import ChecklistResult
    from recassay.core.specs.study import StudySpec
    from recassay.recommenders.study import StudyRecord
    from recassay.reporting.live import LiveServer
    from recassay.store.records import StoreStatus

ALONE = "columns datasets algorithms metrics trials seed split positive_threshold"
"""Options that describe a study without a file."""


def refuse_idle(call: Call) -> None:
    """Refuse options of `run` that would have no effect on a study of recommender algorithms."""
    typed = call.typed
    if ("study" in typed) == ("datasets" in typed and "algorithms" in typed):
        fix = "give one of the two, as in: recassay run study.toml"
        raise UsageError("a study is a file, or --datasets and --algorithms", fix=fix)
    if "adaptive" not in typed:
        choosing = "target confidence indifference budget probes probe_users probe_epochs prior"
        call.refuse(choosing, "is for adaptive runs", "add --adaptive, or leave it out")
    elif typed.get("target") != "order":
        call.refuse("indifference", "is for --target order", "say that, or leave it out")
    if "study" in typed:
        call.refuse(ALONE, "is for a study without a file", f"write it into {typed['study']}")


def run_recommenders(call: Call, spec: StudySpec, as_json: bool) -> None:
    """Run a study of recommender algorithms, or resume it."""
    typed = call.typed
    adaptive, folder = "adaptive" in typed, typed.get("folder")
    if adaptive and spec.multiverse is not None:
        call.refuse(
            "target indifference probes probe_users probe_epochs prior",
            "does not apply to a study with a [multiverse]",
            ON_UNIVERSES,
        )
    for line in told_logs(spec):
        say(line)
    with resumable(lambda: folder or Path(spec.name)):
        record = call(study=spec, progress=show_progress())
    if "dry_run" in typed:
        rows = [
            [p.algorithm, p.dataset, p.state, p.trials if p.trials is not None else "", _megabytes(p.memory),
             _megabytes(p.most_memory), _megabytes(p.gpu_memory), p.users or "", p.items or "", p.interactions or ""]
            for p in record.predictions
        ]  # fmt: skip
        sizes = ["MB", "most MB", "GPU MB", "users", "items", "interactions"]
        show_plan(record, as_json, ["algorithm", "dataset", "state", "trials", *sizes], rows)
        return
    if as_json:
        standing = {"adaptive": adaptive_standing(record.folder)} if adaptive else {}
        print_json(run_content(record) | standing)
    else:
        print_lines(
            [
                counted(record),
                *(cause.sentence() for cause in (*record.causes(), *causes(record.left_out))),
                *(_standing(record.folder) if adaptive else []),
                *([f"Now: recassay {'status' if adaptive else 'analyze'} {record.folder}"] if record.done else []),
            ]
        )
    if record.failed:
        raise Failed


def counted(record: StudyRecord) -> str:
    """How far the study is, and what this run did of it."""
    failed = f" and {len(record.failed)} failed" if record.failed else ""
    ran = f"{count_of(record.ran, 'cell')} in {record.seconds:.0f} s" if record.ran else "no cell"
    return f"{record.done} of {record.planned} cells are done{failed}; this run ran {ran}."


def status(call: Call, *, as_json: bool = False) -> None:
    """How far a study is, and where an adaptive run stands."""
    folder, state = call.typed["folder"], call()
    if as_json:
        print_json(plain({**state.to_dict(), "adaptive": adaptive_standing(folder)}))
    else:
        _show_status(folder, state)
    if state.verified is not None and state.verified.damaged:
        raise Failed


def _show_status(folder: str, state: StoreStatus) -> None:
    print_lines([f"{state.done} of {state.planned} cells done, {len(state.failed)} failed, {len(state.to_go)} to go; "
                 f"{state.trials} trials kept", *earlier_lines(state.earlier, " by `recassay run`"),
                 *_verified(state), *(cause.sentence() for cause in causes(state.left_out))])  # fmt: skip
    if state.failed:
        print_lines(cause.sentence() for cause in state.causes())
    if state.to_go:
        seeds = {cell.seed for cell in state.to_go}
        rows = [[cell.algorithm, cell.dataset, str(cell.seed)][: 2 + (len(seeds) > 1)] for cell in state.to_go]
        print_rows("To go", ["algorithm", "dataset", "seed"][: len(rows[0])], rows, names=2)
    if has_universes(folder):
        from recassay.api.certify import certify
        from recassay.api.publish.content import tell

        print_answer(tell(certify(folder)))
    elif adaptive_standing(folder) is not None:
        from recassay.api.adaptive import adaptive
        from recassay.api.publish.content import tell

        print_lines(_standing(Path(folder)))
        print_answer(tell(adaptive(folder)))


def serve(call: Call, *, open: bool = False) -> None:
    """Watch a study live in the browser.

    Args:
        open: open the page in a browser.
    """

    def ready(server: LiveServer) -> None:
        say(f"{call.typed['folder']} is shown at {server.url} (read-only; Ctrl-C ends it)")
        if open:
            webbrowser.open(server.url)

    call(ready=ready)


def _verified(state: StoreStatus) -> list[str]:
    """What the checksums say; no line where they were not asked."""
    verified = state.verified
    if verified is None:
        return []
    lines = []
    if verified.damaged:
        damaged = listing(verified.damaged, most=3)
        lines.append(f"Damaged or gone: {damaged}; the same `recassay run` makes this again.")
    if verified.unverified:
        kinds = ", ".join(f"{count} {what if count > 1 else what[:-1]}" for what, count in verified.unverified.items())
        lines.append(f"{kinds} cannot be verified: the version that wrote this kept no checksums.")
    if not lines:
        lines.append(f"All {verified.cells} done cells and {verified.splits} splits are what was written.")
    return lines


def _standing(folder: Path) -> list[str]:
    """How an adaptive run stood at its last decision; no line where there was none."""
    standing = adaptive_standing(folder)
    return [] if standing is None else [f"Adaptive: {standing}."]


def run_content(record: StudyRecord) -> dict[str, Any]:
    """What a run answers as JSON."""
    ran = {"folder": str(record.folder), "ran": record.ran, "earlier": record.earlier, "changes": record.changes}
    content: dict[str, Any] = plain({**study_status(record.folder).to_dict(), **ran})
    return content


def show_plan(record: StudyRecord, as_json: bool, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """What a dry run answers; it fails where a cell cannot run."""
    if as_json:
        cells = [asdict(prediction) for prediction in record.predictions]
        left_out = [asdict(one) for one in record.left_out]
        print_json(plain({"planned": record.planned, "earlier": record.earlier, "cells": cells, "left_out": left_out}))
    else:
        print_lines(earlier_lines(record.earlier))
        print_rows(f"{record.planned} cells", header, rows, names=3)
        print_lines(cause.sentence() for cause in (*record.causes(), *causes(record.left_out)))
    if record.causes():
        raise Failed


def _megabytes(size: int | None) -> str:
    return "" if size is None else f"{size / 1e6:,.1f}"


def sealed(call: Call, *, as_json: bool = False) -> None:
    """Where the seal is, and the line to publish.

    Args:
        as_json: print JSON on stdout instead of sentences.
    """
    seal, typed = call(), call.typed
    folder = f" --out {typed['folder']}" if "folder" in typed else ""
    print_verdict(seal, as_json, f"Now: recassay run {typed['study']}{folder}")


def verified(call: Call, *, checklist: bool = False, as_json: bool = False, out: Path | None = None) -> None:
    """Whether the study is what was sealed; exit 1 where something deviates.

    Args:
        checklist: instead, the reproducibility questions of venues, answered from the records of the study.
        as_json: print JSON on stdout instead of sentences.
        out: with `checklist`, a file for the Markdown.
    """
    if checklist:
        call.refuse("seal metric rerun base workers draw", "has no effect with --checklist", "leave it out")
        _show_checklist(call("study.checklist:checklist"), as_json, out)
        return
    call.refuse("out", "is for --checklist", "say that, or leave it out")
    _show_whether_sound(call, as_json)


def _show_whether_sound(call: Call, as_json: bool) -> None:
    """Print what was found; exit 1 where it speaks against what was stated."""
    result = call(progress=show_progress())
    print_verdict(result, as_json)
    if not result.sound:
        raise Failed


def board_added(call: Call, *, as_json: bool = False) -> None:
    """What was checked of a bundle; exit 1 where a cell that was run again came out differently.

    Args:
        as_json: print JSON on stdout instead of sentences.
    """
    _show_whether_sound(call, as_json)


def board_built(call: Call, *, as_json: bool = False) -> None:
    """Where the page is, and the places of what was handed in.

    Args:
        as_json: print JSON on stdout instead of sentences.
    """
    print_verdict(call(), as_json)


def _show_checklist(result: ChecklistResult, as_json: bool, out: Path | None) -> None:
    """The questions with their answers, as Markdown."""
    if out is not None:
        write_whole(out, result.to_markdown().encode())
    if as_json:
        print_json(result.to_dict())
    elif out is None:
        print_lines(result.to_markdown().splitlines())
    else:
        print_lines(result.verdict())
