"""How a run shows that it goes on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from recassay.cli.render import say
from recassay.cli.render import show as write

if TYPE_CHECKING:
    from recassay.recommenders.study import Event


def earlier_lines(earlier: Mapping[str, int], by: str = "") -> list[str]:
    """How many cells an earlier version of an algorithm's code has made; no line where there are none."""
    count = sum(earlier.values())
    if not count:
        return []
    whose = next(iter(earlier)) if len(earlier) == 1 else f"{len(earlier)} algorithms ({', '.join(earlier)})"
    said = ("1 cell was", "it is") if count == 1 else (f"{count} cells were", "they are")
    return [f"{said[0]} made by an earlier version of {whose}; {said[1]} run again{by}"]


def damaged_lines(files: Sequence[str]) -> list[str]:
    """Which files are gone or damaged, so that their cells are run again; no line where there are none."""
    if not files:
        return []
    more = f" (and {len(files) - 1} more)" if len(files) > 1 else ""
    whose = "its cell is" if len(files) == 1 else "their cells are"
    return [f"{files[0]}{more}: gone, or not what was written; {whose} run again"]


def show_progress() -> Callable[[Event], None]:
    """A line that counts on a terminal; elsewhere one line a finished cell, on stderr."""
    terminal = sys.stderr is not None and sys.stderr.isatty()
    told: set[str] = set()

    def line(event: Event) -> str:
        whose = f"{event.algorithm} on {event.dataset}" if event.algorithm else (event.dataset or "")
        counted = f"[{event.done + event.failed}/{event.total}]"
        if event.kind == "trial":
            best = "" if event.best is None else f", best {event.best:.4f}"
            return f"{counted} {whose}: trial {event.trials}{best}"
        if event.kind == "finished":
            return f"{counted} {whose}: {event.reason or 'done'}"
        if event.kind == "split":
            return f"{counted} {whose}: {event.reason or 'split ready'}"
        return f"{counted} {whose}: {event.kind}" if whose else f"{counted} {event.kind}"

    def show(event: Event) -> None:
        if event.kind == "decided":
            sys.stderr.write(("\r\x1b[K" if terminal else "") + f"{event.said}\n")
            return
        text = line(event)
        for said in (*earlier_lines(event.earlier), *damaged_lines(event.damaged)):
            say(said)
        if event.kind == "waiting":
            say(event.reason or "")
            return
        if event.kind == "split" and event.reason:
            told.add(event.reason)
        elif event.kind == "finished" and event.reason in told:
            return  # the dataset is refused, and that was said
        if terminal:
            lasting = event.kind == "finished" and event.reason
            write("\r\x1b[K", text[:110], "\n" if lasting or event.kind == "end" else "")
        elif event.kind in {"split", "finished"}:
            say(text)

    return show
