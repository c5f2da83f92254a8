"""How a command shows that it goes on (on a terminal a bar), and what it says when it is interrupted."""

from __future__ import annotations

import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import recassay
from recassay.cli.layout import wrapped
from recassay.cli.render import Interrupted, say, write
from recassay.core.metric_facts import of_kind
from recassay.core.system.failures import causes
from recassay.core.system.printable import one_line, printable
from recassay.core.words import count_of, duration

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


def show_progress() -> Callable[[Event], None]:
    """A bar on a terminal; elsewhere one line per finished cell, on stderr."""
    bar = Bar(write) if sys.stderr is not None and sys.stderr.isatty() else None
    refused: set[str] = set()

    def line(event: Event) -> str:
        whose = f"{event.algorithm} on {event.dataset}" if event.algorithm else (event.dataset or "")
        outcome = (event.reason or _outcome(event)) if event.kind == "finished" else (event.reason or "split ready")
        return f"[{event.done + event.failed}/{event.total}] {whose}: {outcome}"

    def lasting(event: Event) -> list[str]:
        """The lines that stay: what was decided or noted, datasets and cells; on a terminal only those that fail."""
        if event.kind in {"decided", "waiting", "note"}:
            return [event.reason or event.said or ""]
        left_out = [cause.sentence() for cause in causes(event.left_out)]
        notes = [*event.changes, *left_out, *earlier_lines(event.earlier), *damaged_lines(event.damaged)]
        if event.kind == "finished" and event.reason in refused:
            return notes  # the dataset is refused, and that was said
        if event.kind == "split" and event.reason:
            refused.add(event.reason)
        if event.kind in {"split", "finished"} and (bar is None or event.reason):
            notes.append(line(event))
        return notes

    def show(event: Event) -> None:
        lines = lasting(event)
        if bar is not None:
            bar.show(event, *(printable(text) for text in lines))
            return
        for text in lines:
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
        passed = time.monotonic() - begin
        left = f" (about {duration(passed / done * (total - done))} left)" if done > 2 and passed > 3 else ""
        write("\r\x1b[K" + (f"[{done + 1}/{total}] {stage[:70]}{left}" if done < total else ""))

    return show


@contextmanager
def resumable(folder: Callable[[], Path]) -> Iterator[None]:
    """Where Ctrl-C ends a run, say what is safe and how to go on, and exit with 130."""
    try:
        yield
    except KeyboardInterrupt:
        with _uninterrupted():
            kept = ""
            with suppress(recassay.RecAssayError, OSError):
                state = recassay.status(folder())
                kept = f"; {state.done} of {state.planned} cells and {state.trials} trials are kept in {folder()}"
            write("\n")
            message = f"recassay: interrupted{kept}; the same command goes on from there"
            columns = shutil.get_terminal_size().columns if sys.stderr.isatty() else len(message)
            for text in wrapped(message, columns):
                say(text)
        raise Interrupted from None


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """A second Ctrl-C does not cut what is being said."""
    before = None
    with suppress(ValueError):  # not the main thread
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)


LONGEST_BAR = 30
MOST_DATASETS = 8
"""Datasets whose best algorithm is shown; the rest is counted."""


class Bar:
    """A block of lines that is drawn again at every event; lines that stay are written above it."""

    def __init__(self, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self.write, self.clock = write, clock
        self._began: float | None = None
        self._ran = 0
        self._drawn = 0
        self._running: dict[str, str] = {}
        self._best: dict[str, tuple[str, float, str]] = {}

    def show(self, event: Event, *lasting: str) -> None:
        """Draw the block as it is after an event, below lines that stay."""
        cell, what = event.cell or "", f"{event.algorithm} on {event.dataset}"
        if event.kind == "started":
            self._began = self.clock() if self._began is None else self._began
            self._running[cell] = what
        elif event.kind == "trial" and cell in self._running:
            self._running[cell] = f"{what}, trial {event.trials}"
        elif event.kind == "finished":
            self._ran += 1
            self._running.pop(cell, None)
            self._compare(event)
        lines = [] if event.kind == "end" else self._lines(event)
        above = f"\x1b[{self._drawn}A" if self._drawn else ""
        self.write("".join([f"{above}\r\x1b[J", *(f"{line}\n" for line in (*lasting, *lines))]))
        self._drawn = len(lines)

    def _compare(self, event: Event) -> None:
        """Keep the best algorithm of the dataset, by its first metric of accuracy of which more is better."""
        scores = {} if event.record is None else event.record.metrics
        by_name = {label.partition("@")[0]: (label, value) for label, value in reversed(list(scores.items()))}
        usual = (facts.name for facts in of_kind("accuracy") if facts.higher_is_better)
        label, value = next((by_name[name] for name in usual if name in by_name), ("", None))
        if value is None or event.dataset is None:
            return
        known = self._best.get(event.dataset)
        if known is None or value > known[1]:
            self._best[event.dataset] = (str(event.algorithm), value, label)

    def _lines(self, event: Event) -> list[str]:
        columns = max(20, shutil.get_terminal_size((80, 24)).columns) - 1
        ended = event.done + event.failed
        width = min(LONGEST_BAR, columns // 3)
        filled = width * ended // max(event.total, 1)
        counts = f"{event.done} of {event.total} done, {len(self._running)} running, {event.failed} failed"
        left, to_go = "", event.total - ended
        if self._began is not None and self._ran and to_go:
            left = f", about {duration((self.clock() - self._began) / self._ran * to_go)} left"
        lines = [f"[{'#' * filled}{'-' * (width - filled)}] {counts}{left}"]
        if self._running:
            lines.append(f"running: {'; '.join(self._running.values())}")
        shown = list(self._best.items())[:MOST_DATASETS]
        lines += [f"best on {name}: {who} ({label} {value:.4f})" for name, (who, value, label) in shown]
        if len(self._best) > len(shown):
            lines.append(f"... and {count_of(len(self._best) - len(shown), 'more dataset')}")
        return [text if len(text) <= columns else f"{text[: columns - 3]}..." for text in map(one_line, lines)]
