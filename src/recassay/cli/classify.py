"""`run`: a study of recommender algorithms, or of classifiers, as its file says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from recassay.api.publish.content import tell
from recassay.api.study.studies import is_classifier_study, load_study, make_study
from recassay.cli.call import Call
from recassay.cli.progress import resumable, show_progress, show_stages
from recassay.cli.render import Failed, print_answer, print_json, print_lines, print_notes, print_rows
from recassay.cli.studies import ALONE, counted, refuse_idle, run_content, run_recommenders, show_plan
from recassay.core.choices import Advanced
from recassay.core.errors import RecAssayError, UsageError
from recassay.core.specs.specs import ProtocolSpec, SplitName
from recassay.core.system.plain import plain

if TYPE_CHECKING:
    from recassay.runner.drive import StudyRecord


OTHERS = "adaptive target confidence indifference budget probes probe_users probe_epochs prior threads skip_preflight"


def run(
    call: Call,
    *,
    datasets: Sequence[str] = (),
    algorithms: Sequence[str] = (),
    metrics: Sequence[str] | None = None,
    trials: int = 40,
    seed: int | Sequence[int] = 1,
    split: SplitName = "global_time",
    positive_threshold: float | None = None,
    columns: Mapping[str, str] | None = None,
    rated: Annotated[str | Sequence[str], Advanced] = "paper",
    as_json: bool = False,
) -> None:
    """Run a study, or resume it; `make_study` and `ProtocolSpec` describe the options of a study without a file.

    Args:
        columns: by role (user, item, rating, timestamp), the name of the column, in the files of --datasets.
        rated: in a study of classifiers, who plays: `paper`, `all`, `everybody` (the MLPs too), or names.
        as_json: print JSON on stdout instead of sentences.
    """
    study, folder = call.typed.get("study"), call.typed.get("folder")
    if study is not None and is_classifier_study(study):
        call.refuse(OTHERS, "does not apply to a study of classifiers", "leave it out")
        call.refuse(ALONE, "is for a study without a file", f"write it into {study}")
        run_classifiers(call, rated, as_json)
        return
    call.refuse("rated", "is for a study of classifiers", "leave it out")
    refuse_idle(call)
    if study is not None:
        spec = load_study(study)
    else:
        spec = make_study(
            datasets=datasets,
            algorithms=algorithms,
            metrics=metrics,
            name=(folder.resolve().name if folder is not None else "") or "study",
            seed=seed,
            trials=trials,
            protocol=ProtocolSpec(split=split, positive_threshold=positive_threshold),
            dataset_settings={data: {"read": {"columns": columns}} for data in datasets} if columns else None,
        )
    run_recommenders(call, spec, as_json)


def run_classifiers(call: Call, rated: str | Sequence[str], as_json: bool) -> None:
    """Run a study of classifiers, or resume it."""
    from recassay.api.classify import classifier_scores, load_classify_study, load_instances
    from recassay.api.decodirt import analyze_instances

    if isinstance(rated, str) and rated not in {"paper", "all", "everybody"}:
        fix = "use paper, all, everybody, or two names and more"
        raise UsageError(f"{rated!r} names no group of classifiers", fix=fix)
    spec, out = load_classify_study(call.typed["study"]), call.typed.get("folder")
    with resumable(lambda: out or Path(spec.name)):
        record = call("classify:classify", study=spec, progress=show_progress())
    if "dry_run" in call.typed:
        rows = [[cell.algorithm, cell.dataset, cell.state] for cell in record.predictions]
        show_plan(record, as_json, ["classifier", "dataset", "state"], rows)
        return
    scores = classifier_scores(record.folder)
    analysis = None
    if record.done:
        answers = load_instances(record.folder)
        try:
            analysis = analyze_instances(answers, rated=rated, seed=spec.seed, progress=show_stages())
        except RecAssayError as error:
            if not record.failed:
                raise
            print_notes([f"not analysed: {error}"])  # the failures below are why
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
