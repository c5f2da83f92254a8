"""How values are written on the command line: lists, shares, times, numbers within limits, places to write."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from math import isfinite, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recassay.core.choices import Range
from recassay.core.errors import UsageError
from recassay.core.system.files import refuse_no_file, refuse_no_folder

FILES = ("results", "source", "recommendations", "responses")
"""Arguments that are names of files."""

PAGES = (".html", ".htm")
NO_LIMITS = Range()
UNITS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


def named(option: click.Parameter) -> str:
    """How an option is written in a message: its first long name."""
    return next((name for name in option.opts if name.startswith("--")), option.opts[0])


if TYPE_CHECKING:
    ValueType = click.ParamType[Any, Any]
else:  # older versions of click do not say what a type converts to
    ValueType = click.ParamType


class Text(ValueType):
    """A text that says something: what `read` makes of it and of the option's name."""

    name = "text"

    def __init__(self, read: Callable[[str, str], Any] = lambda text, option: text) -> None:
        self.read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value that the text means; a blank one is refused."""
        if isinstance(value, str) and not value.strip():
            shown = "a value" if param is None else "a file's name" if param.name in FILES else named(param)
            raise UsageError(f"{shown} is empty", fix="name a value, or leave the option out")
        return self.read(value, named(param) if param else "the value")


def listed(text: str, option: str, *, inner: Any = str) -> list[Any]:
    """Texts or numbers with commas between them; a name that has a comma stands in double quotes, as in CSV."""
    fields = next(csv.reader([text], skipinitialspace=True), [])
    parts = [part.strip() for part in fields if part.strip()]
    if not parts:
        raise UsageError(f"{option} {text!r} names nothing", fix="name a value, or leave the option out")
    try:
        values: list[Any] = [inner(part) for part in parts] if inner in (int, float) else list(parts)
        if inner is float and not all(map(isfinite, values)):
            raise ValueError
        return values
    except ValueError:
        kind, example = ("whole numbers", "5,10,50,200") if inner is int else ("numbers", "0.8,0.1,0.1")
        raise UsageError(f"{option} {text!r} are not {kind}", fix=f"write them as in {example}") from None


def number(text: str, option: str, *, kind: Any = int, limits: Range = NO_LIMITS) -> Any:
    """A number within limits; anything else, or a number outside, is refused in the words that functions use."""
    try:
        value = kind(text)
    except ValueError:
        value = None
    if value is None or not limits.holds(value):
        article = "a whole number" if kind is int else "a number"
        raise UsageError(f"{option} is {text!r}", fix=f"give {article}{limits.words()}")
    return value


def one_or_list(text: str, option: str, *, inner: Any) -> Any:
    """A word or a whole number, or several with commas between them."""
    if "," in text:
        return listed(text, option, inner=inner)
    return number(text, option) if inner is int else text


def number_or_word(text: str, option: str, *, words: Sequence[str]) -> int | str:
    """A whole number from 1, or one of some words."""
    if text in words:
        return text
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"{option} is {text!r}", fix=f"use a whole number from 1, or {' or '.join(words)}")
    return int(text)


def weights_or_word(text: str, option: str, *, words: Sequence[str]) -> dict[str, float] | str:
    """Weights by name, as in `view=1,purchase=20`, or one of some words."""
    if text in words:
        return text
    weights: dict[str, float] = {}
    for pair in text.split(","):
        name, _, value = pair.partition("=")
        if name.strip() in weights:
            raise UsageError(f"{option} weighs {name.strip()!r} twice", fix="weigh it once")
        try:
            weights[name.strip()] = float(value)
            if not isfinite(weights[name.strip()]):
                raise ValueError
        except ValueError:
            fix = "for example view=1,purchase=20"
            raise UsageError(f"{option}: {pair!r} is not of the form type=number", fix=fix) from None
    return weights


def share(text: str, option: str, *, limits: Range = NO_LIMITS) -> float:
    """A share as people write it: `2%`, `2 %` or `0.02`; within limits."""
    bare = text.strip().removesuffix("%").strip()
    try:
        value = float(bare) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        value = nan
    if not isfinite(value):
        raise UsageError(f"{option} {text!r} is not a share", fix="write it as 2% or 0.02") from None
    if not limits.holds(value):
        raise UsageError(f"{option} is {text!r}", fix=f"give a share{limits.words()}")
    return value


def seconds(text: str, option: str) -> float:
    """A time as people write it: `90`, `90s`, `30m`, `2h`, `1.5d`."""
    parts = re.fullmatch(r"(.*?)\s*([a-z]*)", text.strip().lower())
    try:
        time = float(parts[1]) * UNITS[parts[2] or "s"] if parts else 0.0
    except (ValueError, KeyError):
        time = 0.0
    if not 0 < time < float("inf"):
        raise UsageError(f"{option} {text!r} is not a time", fix="write it as 90s, 30m or 2h")
    return time


class Target(ValueType):
    """A `folder`, a `file`, or a `place` (a folder or a page) to write, refused before the work where it cannot be."""

    name = "path"

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """A path that can be written."""
        path = Path(value)
        is_page = path.suffix.lower() in PAGES and not path.is_dir()
        (refuse_no_file if self.kind == "file" or (self.kind == "place" and is_page) else refuse_no_folder)(path)
        return path


def is_output(path: Path | None) -> bool:
    """Whether a file to write is the standard output, which nothing else is printed to then."""
    return path is not None and str(path) in ("-", "/dev/stdout")
