"""`classify`: the classifier benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recassay.api.classify import classifier_scores, load_classify_study, load_instances
from recassay.api.decodirt import analyze_instances, load_response_folder, sources_of
from recassay.api.publish.content import tell
from recassay.cli.call import Call
from recassay.cli.on_table import show_answer
from recassay.cli.progress import resumable, show_progress, show_stages
from recassay.cli.render import Failed, print_answer, print_json, print_lines, print_rows
from recassay.cli.studies import counted, run_content, show_plan
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
        show_answer(call, result, sources_of(answers), as_json, out, None)
        return
    spec = load_classify_study(call.typed["study"])
    with resumable(lambda: out or Path(spec.name)):
        record = call(study=spec, progress=show_progress())
    if "dry_run" in call.typed:
        rows = [[cell.algorithm, cell.dataset, cell.state] for cell in record.predictions]
        show_plan(record, as_json, ["classifier", "dataset", "state"], rows)
        return
    scores = classifier_scores(record.folder)
    analysis = None
    if record.done:
        answers = load_instances(record.folder)
        analysis = analyze_instances(answers, rated=rated, seed=spec.seed, progress=show_stages())
    if as_json:
        analysed = {} if analysis is None else {"analysis": plain(analysis.to_dict())}
        print_json(run_content(record) | {"classifiers": plain(scores)} | analysed)
    else:
        _show(record, scores)
        if analysis is not None:
            print_answer(tell(analysis))
    if record.failed:
        raise Failed


def _show(record: StudyRecord, scores: list[dict[str, Any]]) -> None:
    columns = {"classifier": "{classifier}", "role": "{role}", "datasets": "{datasets}", "accuracy": "{accuracy:.3f}",
               "balanced accuracy": "{balanced_accuracy:.3f}", "seconds to fit": "{seconds_fit:.3f}"}  # fmt: skip
    if record.done:
        print_rows("Means over the datasets that each has done", columns, scores, names=2)
    print_lines(
        [
            counted(record),
            *(cause.sentence() for cause in record.causes()),
            *([f"Now: recassay analyze {record.folder}", ""] if record.done else []),
        ]
    )
