"""Tables and lines on a terminal, JSON for machines."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recassay.cli.layout import brief_lines, table_lines, wrapped
from recassay.cli.wording import in_options
from recassay.core.choices import MANY_ALGORITHMS
from recassay.core.system.printable import one_line, printable

if TYPE_CHECKING:
    from recassay.reporting.section import Brief, Table
    from recassay.reporting.telling import Answer

WIDTH = 132
"""Columns where stdout is not a terminal; tables are whole there, so that logs and pipes lose nothing."""

BRIEF_WIDTH = 80
"""Columns of a brief answer there."""

PLAIN = str.maketrans("├─┤●…", "|-|o~")
"""Drawn intervals where an encoding has no lines and dots."""


class Failed(Exception):
    """The work is done and something of it failed, which was said: exit with 1."""


class Interrupted(Exception):
    """Somebody ended the work, which was said: exit with 130."""


MOST_ROWS, ROWS_OF_LONG = 200, 60
"""A table of more rows than the first is printed up to the second: nobody reads 20,000 pairs on a terminal."""

ANSWER = 3
"""Sentences that a command ends with; further ones stand above them."""


def print_json(document: Any) -> None:
    """JSON on stdout, and nothing else there; of many algorithms on one line, which takes a tenth of the time."""
    many = isinstance(document, dict) and len(document.get("algorithms") or ()) > MANY_ALGORITHMS
    sys.stdout.write(json.dumps(document, indent=None if many else 1, allow_nan=False, ensure_ascii=False) + "\n")


def print_verdict(result: Any, as_json: bool, *after: str) -> None:
    """The sentences of a result and those that follow them, or its JSON."""
    if as_json:
        print_json(result.to_dict())
    else:
        print_lines([*result.verdict(), *after])


def print_brief(brief: Brief, rest: Sequence[str] = ()) -> None:
    """The headline, the table and a few sentences, with the rows that stand out in colour on a terminal."""
    width, narrow = _width()
    styles = {"headline": "\x1b[1m", "marked": "\x1b[36m"} if _coloured() else {}
    for line, kind in brief_lines(brief, width if narrow else BRIEF_WIDTH, rest):
        _print([line], styles.get(kind, ""), "\x1b[0m" if kind in styles else "")


def print_answer(answer: Answer, *, everything: bool = True) -> None:
    """What an analysis says, in brief; or all its tables, and at the end its answer in at most three sentences."""
    if not everything and answer.brief is not None:
        failed = [f"Not done: {reason}." for reason in answer.not_done]
        print_brief(answer.brief, [*failed, "Everything: --all, as data: --json, in a folder: --out DIR"])
        return
    for table in answer.tables:
        long = table.most is None and len(table.rows) > MOST_ROWS
        print_table(replace(table, most=ROWS_OF_LONG) if long else table)
    remarks = [*answer.sentences[ANSWER:], *(f"Not done: {reason}." for reason in answer.not_done)]
    print_lines([*remarks, ""] if remarks else [])
    if answer.sentences:
        print_title("Answer")
        print_lines(answer.sentences[:ANSWER])


def print_table(table: Table) -> None:
    """A table with its title and notes, and an empty line."""
    width, narrow = _width()
    print_title(table.title)
    _print([*table_lines(table, width, whole=not narrow), ""])


def print_rows(
    title: str,
    header: Sequence[str] | Mapping[str, Any],
    rows: Iterable[Any],
    *,
    names: int = 1,
    important: Sequence[str] = (),
) -> None:
    """A table of a command's own: see `reporting.section.Table`."""
    from recassay.reporting.section import Table

    print_table(Table(title, header, rows, names=names, important=important))


def print_first_rows(
    headline: str, header: Sequence[str], rows: Iterable[Sequence[object]], *, names: int, rest: str
) -> None:
    """A headline, as many rows as a brief answer has, and where the rest is."""
    from recassay.reporting.section import Brief, Table

    print_brief(Brief(headline, Table(headline, header, rows, names=names)), [rest])


def print_title(text: str) -> None:
    """A line that stands out on a terminal."""
    bold = _coloured()
    _print(wrapped(text, _width()[0]), "\x1b[1m" if bold else "", "\x1b[0m" if bold else "")


def _coloured() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def print_lines(lines: Iterable[str]) -> None:
    """Sentences, wrapped to the terminal."""
    _print(line for text in lines for line in wrapped(in_options(text), _width()[0]))


def print_command(command: str) -> None:
    """A command to paste: on one line, however long it is."""
    _print([f"  {command}"])


def print_notes(notes: Iterable[str]) -> None:
    """What a reader of the numbers must know, on stderr: stdout may be JSON."""
    for note in notes:
        say(f"note: {one_line(in_options(note), 600)}")


def print_saved(files: Sequence[Path], out: Path) -> None:
    """Where the files went, on stderr: stdout may be JSON."""
    say(f"wrote {len(files)} files to {out}")


def say(line: str) -> None:
    """A line on stderr, if there is one: a reader who has gone away does not end what is being done."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(f"{printable(line)}\n")


def write(text: str) -> None:
    """A part of a line on stderr that says how far something is."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()


def _width() -> tuple[int, bool]:
    """The columns there are, and whether tables must keep to them: on a terminal, or where COLUMNS says so."""
    narrow = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal()
    return (max(20, shutil.get_terminal_size((WIDTH, 24)).columns) if narrow else WIDTH), narrow


def _print(lines: Iterable[str], before: str = "", after: str = "") -> None:
    """Lines on stdout, with a question mark for what its encoding does not know and codes for control characters."""
    encoding = sys.stdout.encoding or "utf-8"
    for line in lines:
        text = printable(line)
        try:
            text.encode(encoding)
        except UnicodeEncodeError:
            text = text.translate(PLAIN)
        shown = text.encode(encoding, "replace").decode(encoding)
        sys.stdout.write(f"{before}{shown}{after}\n")
