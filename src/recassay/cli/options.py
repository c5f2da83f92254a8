"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

import recassay
from recassay.core.choices import MissingPolicy
from recassay.core.choices import Task as Tasks
from recassay.core.formats import known_formats
from recassay.core.system.files import refuse_no_file, refuse_no_folder

MOST_DRAWS = 1_000_000
"""Of a bootstrap or a simulation: more only cost memory and time."""

DEFAULT_BENCHMARK = "published:kdd24"
"""What a question about one's own data is answered from where no benchmark is named."""


def not_blank(option: str, text: str | None) -> str | None:
    """The text of an option, unless it says nothing."""
    if text is not None and not text.strip():
        raise recassay.UsageError(f"{option} is empty", fix="name a value, or leave the option out")
    return text


def folder_can_be(path: Path | None) -> Path | None:
    """A folder to write, unless a file stands in its way, it may not be written, or its name is none."""
    if path is not None:
        refuse_no_folder(path)
    return path


def file_can_be(path: Path | None) -> Path | None:
    """A file to write, unless its folder cannot be."""
    if path is not None:
        refuse_no_file(path)
    return path


def is_output(path: Path | None) -> bool:
    """Whether a file to write is the standard output, which nothing else is printed to then."""
    return path is not None and str(path) in ("-", "/dev/stdout")


Files = Annotated[
    list[str],
    typer.Argument(
        help="Results: files of any kind, folders, studies, published:kdd24; several are joined.",
        show_default=False,
        callback=lambda names: [not_blank("a file's name", name) for name in names],
    ),
]
Metric = Annotated[
    str | None,
    typer.Option(
        "--metric",
        "-m",
        help="Metric label, e.g. ndcg@10. [default: ndcg@10 if present]",
        show_default=False,
        callback=lambda label: not_blank("--metric", label),
    ),
]
Wide = Annotated[
    bool, typer.Option("--wide", help="Wide table: first column algorithm, one column a dataset (needs --metric).")
]
Transpose = Annotated[
    bool, typer.Option("--transpose", help="Wide table with a row a dataset and a column an algorithm.")
]
Column = Annotated[
    list[str] | None,
    typer.Option("--column", help="Name a column: algorithm=model, value=score, ... (repeatable).", show_default=False),
]
Dataset = Annotated[
    str | None,
    typer.Option("--dataset", help="The dataset, where the table does not name it. [default: by the file's name]",
                 show_default=False),
]  # fmt: skip
Format = Annotated[
    str | None,
    typer.Option("--from", "--format", help="The framework that wrote the file, or table. [default: by its content]",
                 show_default=False),
]  # fmt: skip
Prefer = Annotated[
    str, typer.Option("--prefer", help="Whose value counts where files differ: error, first, last or a file's name.")
]
Missing = Annotated[MissingPolicy, typer.Option("--missing", help="What becomes of missing cells.")]
Higher = Annotated[bool, typer.Option("--higher-is-better", help="For a metric whose direction is not known.")]
Lower = Annotated[bool, typer.Option("--lower-is-better", help="For a metric whose direction is not known.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the bootstrap and the posterior draws.")]
Control = Annotated[
    str | None,
    typer.Option("--control", help="An algorithm, named beforehand, against every other.", show_default=False),
]
Within = Annotated[str, typer.Option("--within", help="Relative difference that counts as practically equal.")]
Families = Annotated[
    str | None,
    typer.Option("--families", help="auto: datasets whose names start alike count as related.", show_default=False),
]
Characteristics = Annotated[
    str | None,
    typer.Option(
        "--characteristics", help="Table of dataset characteristics: dataset, Nu, Ni, ...", show_default=False
    ),
]
Task = Annotated[
    Tasks, typer.Option("--task", help="Recommend new items, or repeat: seen items are judged and allowed in lists.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on stdout instead of a table.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="Folder for CSV tables and figures.", show_default=False, callback=folder_can_be),
]
Formats = Annotated[
    str | None,
    typer.Option(
        "--formats",
        help="Figures as svg, pdf, png, json, with commas between. [default: svg,pdf,json]",
        show_default=False,
        callback=lambda text: text if figure_formats(text) else None,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", "-j", max=4096, help="Processes. [default: one a core]", show_default=False),
]
Retry = Annotated[bool, typer.Option("--retry-failed", help="Run cells again that failed before.")]
Cluster = Annotated[str | None, typer.Option("--cluster", help="Address of a Dask scheduler.", show_default=False)]
Alpha = Annotated[float, typer.Option("--alpha", help="Level of the tests.")]
Methods = Annotated[
    str | None,
    typer.Option(
        "--methods",
        help="Aggregations, separated by commas. [default: all]",
        show_default=False,
        callback=lambda said: not_blank("--methods", said),
    ),
]
BetaMax = Annotated[float, typer.Option("--beta-max", help="Largest ratio of the Dolan-Moré profiles.")]
Confidence = Annotated[float, typer.Option("--confidence", min=0.5, max=0.999, help="Level of the intervals.")]


def refuse_given(context: typer.Context, parameters: Iterable[str], why: str, fix: str) -> None:
    """Refuse the first of the options that stands on the command line: it would have no effect."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in parameters and source is not None and source.name == "COMMANDLINE":
            raise recassay.UsageError(f"{parameter.opts[0]} {why}", fix=fix)


def names(option: str, text: str | None) -> list[str]:
    """The names that were written with commas between them; none where the option was left out."""
    found = [name.strip() for name in (text or "").split(",") if name.strip()]
    if text is not None and not found:
        raise recassay.UsageError(f"{option} {text!r} names nothing", fix="name a value, or leave the option out")
    return found


def refuse_formats(formats: str | None, out: Path | None) -> None:
    """Formats are those of the figures that --out saves."""
    if formats is not None and out is None:
        raise recassay.UsageError("--formats is for the figures that --out saves", fix="add --out, or leave it out")


def figure_formats(text: str | None) -> tuple[str, ...]:
    """Formats of figures, where they are known: refused before the work, not after it."""
    return known_formats(None if text is None else names("--formats", text))


def share(option: str, text: str) -> float:
    """A share as people write it: `2%`, `2 %` or `0.02`."""
    number, percent = text.strip().removesuffix("%").strip(), text.strip().endswith("%")
    try:
        return float(number) / (100 if percent else 1)
    except ValueError:
        raise recassay.UsageError(f"{option} {text!r} is no share", fix="write it as 2% or 0.02") from None


def duration(option: str, text: str) -> float:
    """Seconds, from a time as people write it: `90`, `90s`, `30m`, `2h`, `1.5d`."""
    units = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
    number = text.strip().lower().rstrip("abcdefghijklmnopqrstuvwxyz").strip()
    unit = text.strip().lower().removeprefix(number).strip() or "s"
    try:
        found = float(number) * units[unit]
        if not 0 < found < float("inf"):
            raise ValueError
    except (ValueError, KeyError):
        raise recassay.UsageError(f"{option} {text!r} is no time", fix="write it as 90s, 30m or 2h") from None
    return found
