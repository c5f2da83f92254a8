"""`recassay split`: a split as files, for training elsewhere."""

from __future__ import annotations

from recassay.cli.call import Call
from recassay.cli.render import print_json, print_lines, print_rows
from recassay.core.system.plain import plain

HOW = {
    "csv": "columns user, item and, where there are any, rating and timestamp",
    "parquet": "columns user, item and, where there are any, rating and timestamp",
    "recbole": "atomic files: data_path is the folder above, dataset its name, benchmark_filename [train, valid, test]",
    "lenskit": "from_interactions_df(polars.read_parquet(...)) with columns user_id and item_id",
    "trec": "CSV files to train on, and qrels of the held-out parts",
}


PROTOCOL = (
    "split positive_threshold filter min_item_interactions min_user_interactions ratios folds fold final_fit seed task "
    "repeated allow_leakage"
)


def split(call: Call, *, as_json: bool = False) -> None:
    """The parts of a split as files.

    Args:
        as_json: print JSON on stdout instead of tables.
    """
    study, rule = call.typed.get("study"), call.typed.get("split")
    if study is not None:
        call.refuse(PROTOCOL, "is for a split without --study", f"write it into {study}")
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
    trained = (
        "training and validation together" if call.typed.get("final_fit") != "train" else "the training part alone"
    )
    print_lines(
        [
            f"{HOW[call.typed.get('form', 'csv')]}.",
            f"A study trains its final model on {trained}, and judges it on the test part.",
            "Keep split.json beside the lists that you make from these files, then: "
            f"recassay evaluate LISTS --split {made.folder}",
            *(f"{f['name']}: {f['sentence']}" for f in made.audit["findings"]),
        ]
    )
