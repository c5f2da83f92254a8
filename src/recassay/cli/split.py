"""`recassay split`: a split as files, for training elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.render import print_json, print_lines, print_rows
from recassay.core.choices import SplitFormat

HOW = {
    "csv": "columns user, item and, where there are any, rating and timestamp",
    "parquet": "columns user, item and, where there are any, rating and timestamp",
    "recbole": "atomic files: data_path is the folder above, dataset its name, benchmark_filename [train, valid, test]",
    "lenskit": "from_interactions_df(polars.read_parquet(...)) with columns user_id and item_id",
    "trec": "CSV files to train on, and qrels of the held-out parts",
}


_PROTOCOL = (
    "rule", "threshold", "filter_", "min_items", "min_users", "ratios", "folds", "fold", "final_fit", "seed", "task",
    "repeated", "allow",
)  # fmt: skip


def split(
    context: typer.Context,
    dataset: Annotated[str, typer.Argument(help="A stored name, synthetic:PRESET, or a file; or a study's dataset.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder to write.", show_default=False, callback=o.folder_can_be)
    ],
    form: Annotated[SplitFormat, typer.Option("--format", help="What the files are for.")] = "csv",
    study: Annotated[
        Path | None, typer.Option("--study", help="Take the protocol from this study file.", show_default=False)
    ] = None,
    rule: Annotated[
        str,
        typer.Option("--split", help="global_time, user_time, leave_last_out, random, random_per_user or kfold."),
    ] = "global_time",
    threshold: Annotated[float | None, typer.Option("--threshold", help="Lowest positive rating (tau).")] = None,
    filter_: Annotated[str, typer.Option("--filter", help="once (F-filter), core (F-core) or none.")] = "once",
    min_items: Annotated[int, typer.Option("--min-item-interactions")] = 5,
    min_users: Annotated[int, typer.Option("--min-user-interactions")] = 5,
    ratios: Annotated[str, typer.Option("--ratios", help="Shares of train, validation and test.")] = "0.8,0.1,0.1",
    folds: Annotated[int, typer.Option("--folds", help="For kfold: how many.")] = 5,
    fold: Annotated[int, typer.Option("--fold", help="For kfold: which one tests, from 0.")] = 0,
    final_fit: Annotated[str, typer.Option("--final-fit", help="train+valid, or train.")] = "train+valid",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the random splits.")] = 0,
    task: o.Task = "new",
    repeated: Annotated[
        str, typer.Option("--repeated", help="What several rows of one user and item mean: last, first, sum or max.")
    ] = "last",
    allow: Annotated[
        list[str] | None, typer.Option("--allow-leakage", help="Accept a finding of the audit (repeatable).")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace a split that lies in the folder.")] = False,
    as_json: o.Json = False,
) -> None:
    """Write the split of a study, audited and named, to train elsewhere."""
    if study is not None:
        o.refuse_given(context, _PROTOCOL, "is for a split without --study", f"write it into {study}")
    elif rule != "kfold":
        o.refuse_given(context, ("folds", "fold"), "is for --split kfold", "say that, or leave it out")
    try:
        shares = tuple(float(share) for share in ratios.split(","))
    except ValueError:
        raise recassay.UsageError(f"--ratios {ratios!r} are no numbers", fix="for example 0.8,0.1,0.1") from None
    protocol = {
        "split": rule, "positive_threshold": threshold, "filter": filter_, "min_item_interactions": min_items,
        "min_user_interactions": min_users, "ratios": shares, "folds": folds, "fold": fold, "final_fit": final_fit,
        "seed": seed, "task": task, "allow_leakage": tuple(allow or ()),
    }  # fmt: skip
    options = {"study": study} if study is not None else {"protocol": protocol, "read": {"repeated": repeated}}
    made = recassay.split(dataset, out, form=form, replace=replace, **options)
    if as_json:
        print_json(recassay.plain(made.to_dict()))
        return
    print_rows(
        f"{made.dataset}, split {made.fingerprint[:12]} in {made.folder}",
        ["part", "file", "rows"],
        [[part, told["file"], f"{told['rows']:,}"] for part, told in made.files.items()],
        names=2,
    )
    trained = "training and validation together" if final_fit == "train+valid" else "the training part alone"
    print_lines(
        [
            f"{HOW[form]}.",
            f"A study trains its final model on {trained}, and judges it on the test part.",
            "Keep split.json beside the lists that you make from these files, then: "
            f"recassay evaluate LISTS --split {out}",
            *(f"{f['name']}: {f['sentence']}" for f in made.audit["findings"]),
        ]
    )
