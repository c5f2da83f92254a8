"""How a command shows that it goes on, and what it says when it is interrupted."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import recassay
from recassay.cli.render import Interrupted, say
from recassay.cli.render import show as write

if TYPE_CHECKING:
    from recassay.recommenders.study import Event


def earlier_lines(earlier: Mapping[str, int], by: str = "") -> list[str]:
    """How many cells an earlier version of an algorithm's code has made; no line where there are none."""
    count = sum(earlier.values())
    if not count:
        return []
    whose = next(iter(earlier)) if len(earlier) == 1 else f"{len(earlier)} algorithms ({', '.join(earlier)})"
    words = ("1 cell was", "it is") if count == 1 else (f"{count} cells were", "they are")
    return [f"{words[0]} made by an earlier version of {whose}; {words[1]} run again{by}"]


def damaged_lines(files: Sequence[str]) -> list[str]:
    """Which files are gone or damaged, so that their cells are run again; no line where there are none."""
    if not files:
        return []
    more = f" (and {len(files) - 1} more)" if len(files) > 1 else ""
    whose = "its cell is" if len(files) == 1 else "their cells are"
    return [f"{files[0]}{more}: gone, or not what was written; {whose} run again"]


def duration(seconds: float) -> str:
    """A time as people say it: `45 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def show_progress() -> Callable[[Event], None]:
    """A line that counts on a terminal, with the time left; elsewhere one line per finished cell, on stderr."""
    terminal = sys.stderr is not None and sys.stderr.isatty()
    refused: set[str] = set()
    begin: float | None = None
    ran = 0

    def line(event: Event) -> str:
        whose = f"{event.algorithm} on {event.dataset}" if event.algorithm else (event.dataset or "")
        counted = f"[{event.done + event.failed}/{event.total}]"
        if event.kind == "trial":
            best = "" if event.best is None else f", best {event.best:.4f}"
            return f"{counted} {whose}: trial {event.trials}{best}"
        if event.kind == "finished":
            return f"{counted} {whose}: {event.reason or _outcome(event)}"
        if event.kind == "split":
            return f"{counted} {whose}: {event.reason or 'split ready'}"
        return f"{counted} {whose}: {event.kind}" if whose else f"{counted} {event.kind}"

    def left(event: Event) -> str:
        to_go = event.total - event.done - event.failed
        if begin is None or not ran or not to_go:
            return ""
        return f" (about {duration((time.monotonic() - begin) / ran * to_go)} left)"

    def show(event: Event) -> None:
        nonlocal begin, ran
        if event.kind == "decided":
            write("\r\x1b[K" if terminal else "", event.said or "", "\n")
            return
        begin = time.monotonic() if begin is None and event.kind == "started" else begin
        ran += event.kind == "finished"
        text = line(event)
        for note in (*earlier_lines(event.earlier), *damaged_lines(event.damaged)):
            say(note)
        if event.kind in {"waiting", "note"}:
            say(event.reason or event.said or "")
            return
        if event.kind == "split" and event.reason:
            refused.add(event.reason)
        elif event.kind == "finished" and event.reason in refused:
            return  # the dataset is refused, and that was said
        if terminal:
            lasting = event.kind == "finished" and event.reason
            write("\r\x1b[K", f"{text[:86]}{left(event)}", "\n" if lasting or event.kind == "end" else "")
        elif event.kind in {"split", "finished"}:
            say(text)

    return show


def _outcome(event: Event) -> str:
    """The score of a finished cell and its seconds: of `ndcg@10` where it has it, else of its first metric."""
    record = event.record
    if record is None:
        return "done"
    scores = {label: value for label, value in record.metrics.items() if value is not None}
    label = "ndcg@10" if "ndcg@10" in scores else next(iter(scores), None)
    score = [] if label is None else [f"{label} {scores[label]:.4f}"]
    took = [] if record.seconds is None else [f"{record.seconds:.1f} s"]
    return ", ".join([*score, *took]) or "done"


def show_stages() -> Callable[[int, int, str], None] | None:
    """A line that names the stage of an analysis, counts, and says the time left, on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        return None
    begin = time.monotonic()

    def show(done: int, total: int, stage: str) -> None:
        if done >= total:
            sys.stderr.write("\r\x1b[K")
        else:
            passed = time.monotonic() - begin
            left = f" (about {duration(passed / done * (total - done))} left)" if done > 2 and passed > 3 else ""
            sys.stderr.write(f"\r\x1b[K[{done + 1}/{total}] {stage[:70]}{left}")
        sys.stderr.flush()

    return show


@contextmanager
def resumable(folder: Callable[[], Path]) -> Iterator[None]:
    """Where Ctrl-C ends a run, say what is safe and how to go on, and exit with 130."""
    try:
        yield
    except KeyboardInterrupt:
        kept = ""
        with suppress(recassay.RecAssayError, OSError):
            state = recassay.status(folder())
            kept = f"; {state.done} of {state.planned} cells and {state.trials} trials are kept in {folder()}"
        sys.stderr.write(f"\nrecassay: interrupted{kept}; the same command goes on from there\n")
        raise Interrupted from None
