"""`split` and `evaluate`: a split to train on elsewhere, and the recommendations that were made there."""

from __future__ import annotations

from pathlib import Path

from recassay.api.evaluate import EvaluationReport, evaluation_page, save_evaluation
from recassay.api.publish.content import tell
from recassay.cli.call import Call
from recassay.cli.render import print_brief, print_json, print_lines, print_rows, print_saved, print_table, say
from recassay.cli.values import PAGES
from recassay.core.system.plain import plain


def evaluate(call: Call, *, everything: bool = False, as_json: bool = False, out: Path | None = None) -> None:
    """What the lists are worth, and the tests between them.

    Args:
        everything: with --compare, every pair on every metric.
        out: folder for the tables, or a page: FILE.html.
    """
    page = out is not None and out.suffix.lower() in PAGES
    if "compare" not in call.typed and not page:
        call.refuse("alpha control", "is for the tests of --compare", "say that, or leave it out")
    compared = {"compare": True} if page else {}
    report = call(recommendations=[Path(file) for file in call.typed["recommendations"]], **compared)
    document = plain(report.to_dict())
    brief = report.brief()
    if as_json:
        print_json(document)
    elif len(report.judged) == 1:
        _show_one(report)
    elif brief is not None and not everything:
        print_brief(brief, ["Every pair: --all, one page: --out PAGE.html, for a paper: --out DIR"])
    else:
        _show_several(report)
    if not as_json:
        for result in report.groups.values():
            answer = tell(result)
            for table in answer.tables:
                print_table(table)
            print_lines(answer.sentences)
        print_lines([*report.notes, *(f"{f['name']}: {f['sentence']}" for f in report.audit["findings"])])
    if out is not None and page:
        asked = {name: call.typed[name] for name in ("alpha", "control") if name in call.typed}
        (made,) = evaluation_page(report, out, **asked)
        say(f"wrote {made} ({made.stat().st_size / 1e6:.2f} MB): open it in a browser")
    elif out is not None:
        print_saved(save_evaluation(report, document, out), out)


def _show_one(report: EvaluationReport) -> None:
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
            "unknown items kept their place and are not hits",
        ]
    )


def _show_several(report: EvaluationReport) -> None:
    first = report.judged[0].result
    labels = list(first.mean())
    print_rows(
        f"{first.counts['evaluated']:,} users evaluated",
        ["lists", *labels, "users without a list"],
        [
            [lists.name, *map(_shown, lists.result.mean().values()), lists.result.counts["without_list"]]
            for lists in report.judged
        ],
    )
    for tests in report.comparison.values():
        print_table(tell(tests).tables[-1])  # of its one dataset, every pair


def _shown(value: float) -> str:
    return "undefined" if value != value else f"{value:.6f}"


HOW = {
    "csv": "columns user, item and, where there are any, rating and timestamp",
    "parquet": "columns user, item and, where there are any, rating and timestamp",
    "recbole": "atomic files: data_path is the folder above, dataset its name, benchmark_filename [train, valid, test]",
    "lenskit": "from_interactions_df(polars.read_parquet(...)) with columns user_id and item_id",
    "trec": "CSV files to train on, and qrels of the held-out parts",
}


def split(call: Call, *, as_json: bool = False) -> None:
    """The parts of a split as files."""
    study, rule = call.typed.get("study"), call.typed.get("split")
    if study is not None:
        call.refuse(call.fields("protocol read"), "is for a split without --study", f"write it into {study}")
    elif rule not in ("kfold", "rolling"):
        call.refuse("folds fold", "is for --split kfold or rolling", "say that, or leave it out")
    made = call()
    if as_json:
        print_json(plain(made.to_dict()))
        return
    print_rows(
        f"{made.dataset}, split {made.fingerprint[:12]} in {made.folder}",
        ["part", "file", "rows"],
        [[part, file["file"], f"{file['rows']:,}"] for part, file in made.files.items()],
        names=2,
    )
    trained = "training and validation together" if made.final_fit != "train" else "the training part alone"
    print_lines(
        [
            f"{HOW[call.typed.get('form', 'csv')]}.",
            f"A study trains its final model on {trained}, and judges it on the test part.",
            "Keep split.json beside the lists that you make from these files, then: "
            f"recassay evaluate LISTS --split {made.folder}",
            *(f"{f['name']}: {f['sentence']}" for f in made.audit["findings"]),
        ]
    )
