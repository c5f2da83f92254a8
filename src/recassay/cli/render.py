"""Tables and lines on a terminal, JSON for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


def print_json(document: Any) -> None:
    """JSON on stdout, and nothing else there."""
    sys.stdout.write(json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n")


def print_table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]], *, names: int = 1) -> None:
    """A table; the first `names` columns hold names and are left-aligned."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = _console(Console)
    console.print(Text(title, style="bold"))
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for i, name in enumerate(header):
        table.add_column(Text(name), justify="left" if i < names else "right", overflow="fold", no_wrap=i == 0)
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    console.print(table)


def print_lines(lines: Iterable[str]) -> None:
    """Sentences, wrapped to the terminal."""
    from rich.console import Console
    from rich.text import Text

    console = _console(Console)
    for line in lines:
        console.print(Text(line))


def print_notes(notes: Iterable[str]) -> None:
    """What a reader of the numbers must know, on stderr: stdout may be JSON."""
    for note in notes:
        sys.stderr.write(f"note: {note}\n")


def _console(make: Any) -> Any:
    """Plain text of 132 columns where stdout is no terminal, so that logs and pipes keep whole tables."""
    return make() if sys.stdout.isatty() else make(width=132)


def print_saved(files: Sequence[Path], out: Path) -> None:
    """Where the files went, on stderr: stdout may be JSON."""
    sys.stderr.write(f"wrote {len(files)} files to {out}\n")
