"""How a run shows that it goes on."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recassay.recommenders.study import Event


def show_progress() -> Callable[[Event], None]:
    """A line that counts on a terminal; elsewhere one line a finished cell, on stderr."""
    terminal = sys.stderr.isatty()
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
        text = line(event)
        if event.kind == "split" and event.reason:
            told.add(event.reason)
        elif event.kind == "finished" and event.reason in told:
            return  # the dataset is refused, and that was said
        if terminal:
            lasting = event.kind == "finished" and event.reason
            sys.stderr.write(f"\r\x1b[K{text[:110]}" + ("\n" if lasting or event.kind == "end" else ""))
            sys.stderr.flush()
        elif event.kind in {"split", "finished"}:
            sys.stderr.write(text + "\n")

    return show
