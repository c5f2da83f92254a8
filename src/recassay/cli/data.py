"""`recassay data ...`: import, list, describe, fetch and remove datasets."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.progress import duration
from recassay.cli.render import print_json, print_lines, print_rows
from recassay.cli.render import show as write

app = typer.Typer(help="Import, list, describe, fetch and remove datasets.", rich_markup_mode=None)

Format = Annotated[str, typer.Option("--format", help="auto, csv, parquet, inter, movielens or adjacency.")]
Delimiter = Annotated[str | None, typer.Option("--delimiter", help="[default: recognised]", show_default=False)]
Header = Annotated[bool | None, typer.Option("--header/--no-header", help="[default: recognised]", show_default=False)]
Column = Annotated[
    list[str] | None,
    typer.Option("--column", help="user=NAME, item=3, rating=..., timestamp=..., event=... (repeatable)"),
]
Encoding = Annotated[str, typer.Option("--encoding", help="Encoding of a text file.")]
Time = Annotated[
    str,
    typer.Option("--time", help="auto, seconds, milliseconds, microseconds, nanoseconds, iso, position or ignore."),
]
Repeated = Annotated[
    str, typer.Option("--repeated", help="What several rows of one user and item mean: last, first, sum or max.")
]
Events = Annotated[
    str | None,
    typer.Option("--event-weights", help="view=1,cart=5,purchase=20, or inverse_frequency (KDD'24, A.1)."),
]
SkipBad = Annotated[bool, typer.Option("--skip-bad-rows", help="Leave rows out that cannot be read, and count them.")]


def _reading(
    form: str, delimiter: str | None, header: bool | None, column: list[str] | None, encoding: str, time: str,
    repeated: str, events: str | None, skip: bool,
) -> dict[str, Any]:  # fmt: skip
    columns: dict[str, str | int] = {}
    for pair in column or []:
        ours, equals, theirs = pair.partition("=")
        if not equals:
            raise recassay.UsageError(f"--column {pair!r} is not of the form role=name", fix="for example user=visitor")
        if ours.strip() in columns:
            raise recassay.UsageError(f"--column names the {ours.strip()} twice", fix="name each once")
        columns[ours.strip()] = int(theirs) if theirs.strip().isdigit() else theirs.strip()
    weights: Any = events
    if events is not None and events != "inverse_frequency":
        weights = {}
        for pair in events.split(","):
            name, _, value = pair.partition("=")
            if name.strip() in weights:
                raise recassay.UsageError(f"--event-weights weighs {name.strip()!r} twice", fix="weigh it once")
            try:
                weights[name.strip()] = float(value)
            except ValueError:
                raise recassay.UsageError(
                    f"--event-weights: {pair!r} is not of the form type=number", fix="for example view=1,purchase=20"
                ) from None
    return {
        "format": form, "delimiter": delimiter, "header": header, "columns": columns, "encoding": encoding,
        "time": time, "repeated": repeated, "event_weights": weights, "skip_bad_rows": skip,
    }  # fmt: skip


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet, .inter, MovieLens .dat or adjacency list.")],
    name: Annotated[str, typer.Option("--name", help="Name to keep it under.")],
    form: Format = "auto",
    delimiter: Delimiter = None,
    header: Header = None,
    column: Column = None,
    encoding: Encoding = "utf-8",
    time: Time = "auto",
    repeated: Repeated = "last",
    events: Events = None,
    skip: SkipBad = False,
    licence: Annotated[str | None, typer.Option("--licence", help="Kept in the manifest.")] = None,
    note: Annotated[str | None, typer.Option("--note", help="Kept in the manifest.")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace a dataset of that name.")] = False,
    as_json: o.Json = False,
) -> None:
    """Read a file and keep it under a name."""
    read = _reading(form, delimiter, header, column, encoding, time, repeated, events, skip)
    manifest = recassay.import_data(file, name, read, licence=licence, note=note, replace=replace)
    _imported(manifest, as_json)


@app.command("list")
def list_(
    everything: Annotated[
        bool, typer.Option("--all", help="Also the embedded datasets and those of the catalogue.")
    ] = False,
    as_json: o.Json = False,
) -> None:
    """The stored datasets."""
    rows = recassay.list_data(everything=everything)
    if as_json:
        print_json({"datasets": rows})
    elif not rows:
        print_lines(["No dataset is stored yet: recassay data import FILE --name NAME, or see --all."])
    else:
        header = ["name", "kind", "what", "interactions", "users", "items", "time"]
        print_rows("Datasets", header, [[_shown(row, key) for key in header] for row in rows], names=3)


def _shown(row: dict[str, Any], key: str) -> Any:
    """A value of a dataset's row; what must be done by hand stands after the title."""
    told = row.get(key, "")
    return f"{told}: {row['how']}" if key == "what" and row.get("how") else told


@app.command("describe")
def describe(
    dataset: Annotated[str, typer.Argument(help="A stored name, synthetic:PRESET, or a file.")],
    split: Annotated[
        str | None,
        typer.Option(
            "--split",
            help="Split and audit: global_time, user_time, leave_last_out, random, random_per_user, kfold.",
        ),
    ] = None,
    threshold: Annotated[float | None, typer.Option("--threshold", help="Lowest positive rating (tau).")] = None,
    filter_: Annotated[str, typer.Option("--filter", help="once (F-filter), core (F-core) or none.")] = "once",
    min_items: Annotated[int, typer.Option("--min-item-interactions")] = 5,
    min_users: Annotated[int, typer.Option("--min-user-interactions")] = 5,
    ratios: Annotated[str, typer.Option("--ratios", help="Shares of train, validation and test.")] = "0.8,0.1,0.1",
    seed: Annotated[int, typer.Option("--seed", help="Seed of the random splits.")] = 0,
    task: o.Task = "new",
    allow: Annotated[
        list[str] | None, typer.Option("--allow-leakage", help="Accept a finding of the audit (repeatable).")
    ] = None,
    form: Format = "auto",
    delimiter: Delimiter = None,
    header: Header = None,
    column: Column = None,
    encoding: Encoding = "utf-8",
    time: Time = "auto",
    repeated: Repeated = "last",
    events: Events = None,
    skip: SkipBad = False,
    as_json: o.Json = False,
) -> None:
    """The 18 characteristics; --split shows the split and its leakage audit."""
    protocol = None
    if split is None:
        given = {"--threshold": threshold is not None, "--filter": filter_ != "once", "--task": task != "new",
                 "--min-item-interactions": min_items != 5, "--min-user-interactions": min_users != 5,
                 "--ratios": ratios != "0.8,0.1,0.1", "--seed": seed != 0, "--allow-leakage": bool(allow)}  # fmt: skip
        unused = [option for option, said in given.items() if said]
        if unused:
            raise recassay.UsageError(
                f"{unused[0]} says how to split, and --split is not given", fix="add --split RULE, or leave it out"
            )
    else:
        try:
            shares = tuple(float(share) for share in ratios.split(","))
        except ValueError:
            raise recassay.UsageError(f"--ratios {ratios!r} are no numbers", fix="for example 0.8,0.1,0.1") from None
        protocol = {
            "split": split, "positive_threshold": threshold, "filter": filter_, "min_item_interactions": min_items,
            "min_user_interactions": min_users, "ratios": shares, "seed": seed, "task": task,
            "allow_leakage": tuple(allow or ()),
        }  # fmt: skip
    read = _reading(form, delimiter, header, column, encoding, time, repeated, events, skip)
    found = recassay.describe_data(dataset, read, protocol=protocol)
    if as_json:
        print_json(recassay.plain(found.to_dict()))
    else:
        _show(found)


@app.command("fetch")
def fetch(
    name: Annotated[str, typer.Argument(help="A dataset of the catalogue (recassay data list --all).")],
    accept_change: Annotated[
        bool, typer.Option("--accept-change", help="Accept a file that differs from the first one fetched.")
    ] = False,
    as_json: o.Json = False,
) -> None:
    """Download a dataset of the catalogue, verified and resumable."""
    manifest = recassay.fetch_data(name, progress=_progress(), accept_change=accept_change)
    _imported(manifest, as_json)


@app.command("remove")
def remove(name: Annotated[str, typer.Argument(help="A stored dataset.")]) -> None:
    """Forget a stored dataset."""
    recassay.remove_data(name)
    print_lines([f"removed {name}"])


def _progress() -> Callable[[int, int | None], None] | None:
    """A line that counts the bytes, on a terminal only."""
    if not sys.stderr.isatty():
        return None

    begin = time.monotonic()

    def show(done: int, total: int | None) -> None:
        whole = f" of {total / 1e6:,.1f}" if total else ""
        passed = time.monotonic() - begin
        left = f" (about {duration(passed / done * (total - done))} left)" if total and done and passed > 3 else ""
        end = "\n" if done == total else ""
        write(f"\r\x1b[K{done / 1e6:,.1f}{whole} MB{left}{end}")
        sys.stderr.flush()

    return show


def _imported(manifest: Any, as_json: bool) -> None:
    if as_json:
        print_json(manifest.to_dict())
        return
    record = manifest.record
    print_lines(
        [
            f"{manifest.name}: {manifest.interactions:,} interactions of {manifest.users:,} users "
            f"and {manifest.items:,} items, {'with' if manifest.has_ratings else 'without'} ratings, "
            f"times: {manifest.time_unit or 'none'}",
            f"read {record['rows']:,} rows; {record['bad']:,} bad rows left out",
            *_told_repeats(record, manifest.time_unit),
            *record["warnings"],
        ]
    )


def _told_repeats(record: dict[str, Any], time_unit: str | None) -> list[str]:
    if not record["repeated"]:
        return []
    done = "were made one" if time_unit is None else "stay events, and each part of a split makes them one"
    return [f"{record['repeated']:,} rows share their user and item with another row: they {done} "
            f"(rule: {record['repeated_rule']})"]  # fmt: skip


def _show(found: Any) -> None:
    rows = [[name, f"{value:,}" if isinstance(value, int) else f"{value:.6g}"]
            for name, value in found.characteristics.items()]  # fmt: skip
    print_rows(f"{found.name}: characteristics (KDD'24, section 4.3)", ["characteristic", "value"], rows)
    if found.parts is None:
        return
    print_rows(
        f"Split {found.protocol['split']}, fingerprint {found.fingerprint[:12]}",
        ["part", "interactions", "users", "items"],
        [[name, *(f"{n:,}" for n in part.values())] for name, part in found.parts.items()],
    )
    print_rows("What each step left", ["step", "count"], [[k, f"{v:,}"] for k, v in found.counts.items()])
    audit = found.audit
    lines = [f"Audit ({audit['scope']}): {100 * audit['share_of_users_evaluated']:.1f} % of the users are evaluated."]
    lines += [f"{'LEAK' if f['refuses'] else 'note'} {f['name']}: {f['sentence']}" for f in audit["findings"]]
    print_lines([*lines, *([] if audit["findings"] else ["No leakage found."])])
