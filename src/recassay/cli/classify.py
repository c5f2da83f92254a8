"""`classify`: the classifier benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recassay.api.classify import classifier_scores, load_classify_study, load_instances
from recassay.api.decodirt import analyze_instances, instances_document, load_response_folder
from recassay.api.publish.content import tell
from recassay.api.study.studies import status
from recassay.cli.call import Call
from recassay.cli.on_table import show_answer
from recassay.cli.progress import earlier_lines, resumable, show_progress, show_stages
from recassay.cli.render import Failed, print_answer, print_json, print_lines, print_rows
from recassay.cli.studies import counted, plan_content
from recassay.core.errors import UsageError
from recassay.core.system.plain import plain

if TYPE_CHECKING:
    from recassay.runner.drive import StudyRecord


def classify(
    call: Call, *, responses: Path | None = None, rated: str | Sequence[str] = "paper", as_json: bool = False
) -> None:
    """Run a classifier study, or resume it.

    Args:
        responses: instead of a study: a folder of response tables.
        rated: who plays: `paper`, `all`, `everybody` (the MLPs too), or names.
        as_json: print JSON on stdout instead of tables.
    """
    if isinstance(rated, str) and rated not in {"paper", "all", "everybody"}:
        fix = "use paper, all, everybody, or two names and more"
        raise UsageError(f"{rated!r} names no group of classifiers", fix=fix)
    if ("study" in call.typed) == (responses is not None):
        fix = "give one of the two, as in: recassay classify study.toml"
        raise UsageError("a study file, or --responses with a folder", fix=fix)
    out = call.typed.get("folder")
    if responses is not None:
        answers = load_response_folder(responses)
        result = analyze_instances(answers, rated=rated, progress=show_stages())
        show_answer(call, result, instances_document(answers, result), as_json, out, None)
        return
    spec = load_classify_study(call.typed["study"])
    with resumable(lambda: out or Path(spec.name)):
        record = call(study=spec, progress=show_progress())
    if "dry_run" in call.typed:
        _show_plan(record, as_json)
        if record.causes():
            raise Failed
        return
    scores = classifier_scores(record.folder)
    analysis = None
    if record.done:
        analysis = analyze_instances(
            load_instances(record.folder),
            rated=rated,
            seed=spec.seed,
            progress=show_stages(),
        )
    if as_json:
        state = status(record.folder).to_dict()
        ran = {"folder": str(record.folder), "ran": record.ran, "earlier": record.earlier}
        content = {**state, **ran, "classifiers": scores}
        print_json(plain(content | ({} if analysis is None else {"analysis": analysis.to_dict()})))
    else:
        _show(record, scores)
        if analysis is not None:
            print_answer(tell(analysis))
    if record.failed:
        raise Failed


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
            counted(record),
            *(cause.sentence() for cause in record.causes()),
            *([f"Now: recassay analyze {record.folder}", ""] if record.done else []),
        ]
    )
