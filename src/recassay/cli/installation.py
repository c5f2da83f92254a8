"""`list` and `doctor`: what is available, and whether it works."""

from __future__ import annotations

from typing import Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.render import print_json, print_lines, print_rows

SPACE_COLUMNS = ("name", "parameter", "values", "default")
"""What a terminal shows of a search space; the numbers of a range alone are in the JSON."""


def list_(
    kind: Annotated[
        str,
        typer.Argument(
            help="algorithms, metrics, datasets, analyses, importers, published or others (a wrong word names all)"
        ),
    ],
    spaces: Annotated[bool, typer.Option("--spaces", help="Of algorithms: what tuning may vary.")] = False,
    as_json: o.Json = False,
) -> None:
    """What is available, plugins included."""
    rows = recassay.list_available(kind, spaces)
    if as_json:
        print_json({kind: rows})
        return
    if not rows:
        print_lines([f"no {kind} are installed"])
        return
    header = list(dict.fromkeys(key for row in rows for key in row)) if not spaces else list(SPACE_COLUMNS)
    print_rows(kind, header, [[row.get(key, "") for key in header] for row in rows], names=len(header))


def doctor(as_json: o.Json = False) -> None:
    """Check this installation."""
    found = recassay.doctor()
    if as_json:
        print_json(found)
    else:
        flat = {key: value for key, value in found.items() if not isinstance(value, (dict, list))}
        print_rows("This machine", ["what", "value"], flat.items(), names=2)
        print_rows("Dependencies", ["package", "version"], found["dependencies"].items(), names=2)
        print_rows(
            "Extras", ["extra", "installed"], [[k, "yes" if v else "no"] for k, v in found["extras"].items()], names=2
        )
        print_lines(found["problems"] or ["no problems found"])
    if found["problems"]:
        raise typer.Exit(1)
