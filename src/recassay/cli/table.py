"""What every command on a results table does: read it, settle the direction, show and save the answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import recassay
from recassay.cli import options as o
from recassay.cli.render import print_answer, print_json, print_notes, print_saved, say
from recassay.core.system.printable import one_line

if TYPE_CHECKING:
    from recassay.core.tables.results import Results
    from recassay.core.tables.sources import Sourced


def named_columns(column: list[str] | None) -> dict[str, str]:
    """What `--column role=name` says, by role."""
    columns: dict[str, str] = {}
    for pair in column or []:
        ours, equals, theirs = pair.partition("=")
        if not equals:
            raise recassay.UsageError(f"--column {pair!r} is not of the form role=name", fix="for example value=score")
        if ours.strip() in columns:
            raise recassay.UsageError(f"--column names the {ours.strip()} twice", fix="name each once")
        if theirs.strip() in columns.values():
            raise recassay.UsageError(f"--column gives {theirs.strip()!r} two roles", fix="give each its own column")
        columns[ours.strip()] = theirs.strip()
    return columns


def load_table(
    files: list[str],
    metric: str | None,
    wide: bool,
    transpose: bool,
    column: list[str] | None,
    dataset: str | None = None,
    format_: str | None = None,
    prefer: str = "error",
) -> Results:
    """The results table that the shared options describe; what must be known of it is told on stderr."""
    results = recassay.load_results(
        list(files),
        metric=metric,
        wide=wide,
        transpose=transpose,
        columns=named_columns(column),
        dataset=dataset,
        format=format_,
        prefer=prefer,
    )
    say(one_line(results.told_reading(), 600))
    print_notes(results.notes)
    return results


def said_direction(higher: bool, lower: bool) -> bool | None:
    """What the two flags say of the direction; None where neither was given."""
    if higher and lower:
        raise recassay.UsageError("--higher-is-better and --lower-is-better exclude each other", fix="keep one")
    return True if higher else False if lower else None


def finish(
    command: str,
    name: str,
    result: Any,
    results: Sourced,
    as_json: bool,
    out: Path | None,
    formats: str | None = None,
) -> None:
    """Print what a result says, or its JSON, and save it under `name` where a folder was named."""
    show_and_save(recassay.document(command, result.to_dict(), results), name, result, as_json, out, formats)


def show_and_save(
    document: dict[str, Any], name: str, result: Any, as_json: bool, out: Path | None, formats: str | None = None
) -> None:
    """`finish` with the JSON document made already."""
    o.refuse_formats(formats, out)
    if as_json:
        print_json(document)
    else:
        print_answer(recassay.tell(result))
    if out is not None:
        print_saved(recassay.save({name: result}, document, out, formats=o.figure_formats(formats)), out)
