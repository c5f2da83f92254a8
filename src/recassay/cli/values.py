"""How values are written on the command line: lists, shares, times, numbers within limits, places to write."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recassay.core.choices import Range
from recassay.core.errors import UsageError
from recassay.core.system.files import refuse_no_file, refuse_no_folder

FILES = ("results", "source", "recommendations", "responses")
"""Arguments that are names of files."""

PAGES = (".html", ".htm")
UNITS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


def named(option: click.Parameter) -> str:
    """How an option is written in a message: its first long name."""
    return next((name for name in option.opts if name.startswith("--")), option.opts[0])


if TYPE_CHECKING:
    ValueType = click.ParamType[Any, Any]
else:  # older versions of click do not say what a type converts to
    ValueType = click.ParamType


class Text(ValueType):
    """A text that says something."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse a blank text."""
        if isinstance(value, str) and not value.strip():
            shown = "a value" if param is None else "a file's name" if param.name in FILES else named(param)
            raise UsageError(f"{shown} is empty", fix="name a value, or leave the option out")
        return self.read(value, named(param) if param else "the value")

    def read(self, text: str, option: str) -> Any:
        """The value that the text means."""
        return text


class Listed(Text):
    """Values with commas between them; a name that has a comma stands in double quotes, as in CSV."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner if inner in (int, float) else str

    def read(self, text: str, option: str) -> Any:
        """A list of texts or of numbers."""
        fields = next(csv.reader([text], skipinitialspace=True), [])
        parts = [part.strip() for part in fields if part.strip()]
        if not parts:
            raise UsageError(f"{option} {text!r} names nothing", fix="name a value, or leave the option out")
        try:
            return [self.inner(part) for part in parts]
        except ValueError:
            kind, example = ("whole numbers", "5,10,50,200") if self.inner is int else ("numbers", "0.8,0.1,0.1")
            raise UsageError(f"{option} {text!r} are no {kind}", fix=f"write them as in {example}") from None


class Number(Text):
    """A number within limits."""

    def __init__(self, kind: Any, limits: Range) -> None:
        self.kind, self.limits = kind, limits

    def read(self, text: str, option: str) -> Any:
        """The number; what is none, or lies outside, is refused in the words that functions use."""
        try:
            number = self.kind(text)
        except ValueError:
            number = None
        if number is None or not self.limits.holds(number):
            kind = "a whole number" if self.kind is int else "a number"
            raise UsageError(f"{option} is {text!r}", fix=f"give {kind}{self.limits.words()}")
        return number


class NumberOrList(Text):
    """A whole number, or several with commas between them."""

    def read(self, text: str, option: str) -> Any:
        """A number, or a list of numbers."""
        return Listed(int).read(text, option) if "," in text else Number(int, Range()).read(text, option)


class TextOrList(Text):
    """A word, or several with commas between them."""

    def read(self, text: str, option: str) -> Any:
        """A text, or a list of texts."""
        return Listed(str).read(text, option) if "," in text else text


class NumberOr(Text):
    """A whole number from 1, or one of some words."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words

    def read(self, text: str, option: str) -> Any:
        """The number or the word."""
        if text in self.words:
            return text
        if not text.isdecimal() or int(text) < 1:
            raise UsageError(f"{option} is {text!r}", fix=f"use a whole number from 1, or {' or '.join(self.words)}")
        return int(text)


class Weights(Text):
    """`view=1,purchase=20`, or one of some words."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words

    def read(self, text: str, option: str) -> Any:
        """The weights by name, or the word."""
        if text in self.words:
            return text
        weights: dict[str, float] = {}
        for pair in text.split(","):
            name, _, value = pair.partition("=")
            if name.strip() in weights:
                raise UsageError(f"{option} weighs {name.strip()!r} twice", fix="weigh it once")
            try:
                weights[name.strip()] = float(value)
            except ValueError:
                fix = "for example view=1,purchase=20"
                raise UsageError(f"{option}: {pair!r} is not of the form type=number", fix=fix) from None
        return weights


class Share(Text):
    """A share as people write it: `2%`, `2 %` or `0.02`."""

    def read(self, text: str, option: str) -> Any:
        """The share as a number."""
        number = text.strip().removesuffix("%").strip()
        try:
            return float(number) / (100 if text.strip().endswith("%") else 1)
        except ValueError:
            raise UsageError(f"{option} {text!r} is not a share", fix="write it as 2% or 0.02") from None


class Seconds(Text):
    """A time as people write it: `90`, `90s`, `30m`, `2h`, `1.5d`."""

    def read(self, text: str, option: str) -> Any:
        """The time in seconds."""
        parts = re.fullmatch(r"(.*?)\s*([a-z]*)", text.strip().lower())
        try:
            seconds = float(parts[1]) * UNITS[parts[2] or "s"] if parts else 0.0
        except (ValueError, KeyError):
            seconds = 0.0
        if not 0 < seconds < float("inf"):
            raise UsageError(f"{option} {text!r} is not a time", fix="write it as 90s, 30m or 2h")
        return seconds


class Target(Text):
    """A `folder`, a `file`, or a `place` (a folder or a page) to write, refused before the work where it cannot be."""

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
