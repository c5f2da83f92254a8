"""The bar of a study on a terminal: how many cells are finished, running and failed, the time left, the best so far."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from recassay.core.system.printable import one_line

if TYPE_CHECKING:
    from recassay.recommenders.study import Event

LONGEST_BAR = 30
MOST_DATASETS = 8
"""Datasets whose best algorithm is shown; the rest is counted."""

ACCURACY = ("ndcg", "recall", "map", "mrr", "hitrate", "precision", "auc", "f1", "rprecision", "accuracy")
"""Metrics of which more is better, the most usual first."""


def duration(seconds: float) -> str:
    """A time as people say it: `45 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


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
        self._note(event)
        lines = [] if event.kind == "end" else self._lines(event)
        self.write("".join([self._cleared(), *(f"{line}\n" for line in (*lasting, *lines))]))
        self._drawn = len(lines)

    def _cleared(self) -> str:
        return f"\x1b[{self._drawn}A\r\x1b[J" if self._drawn else "\r\x1b[J"

    def _note(self, event: Event) -> None:
        cell = event.cell or ""
        if event.kind == "started":
            self._began = self.clock() if self._began is None else self._began
            self._running[cell] = f"{event.algorithm} on {event.dataset}"
        elif event.kind == "trial" and cell in self._running:
            self._running[cell] = f"{event.algorithm} on {event.dataset}, trial {event.trials}"
        elif event.kind == "finished":
            self._ran += 1
            self._running.pop(cell, None)
            self._compare(event)

    def _compare(self, event: Event) -> None:
        """Keep the best algorithm of the dataset, by the first metric of which more is better."""
        scores = {} if event.record is None else event.record.metrics
        by_name = {label.partition("@")[0]: (label, value) for label, value in reversed(list(scores.items()))}
        label, value = next((by_name[name] for name in ACCURACY if name in by_name), ("", None))
        if value is None or event.dataset is None:
            return
        known = self._best.get(event.dataset)
        if known is None or value > known[1]:
            self._best[event.dataset] = (str(event.algorithm), value, label)

    def _lines(self, event: Event) -> list[str]:
        columns = max(20, shutil.get_terminal_size((80, 24)).columns) - 1
        ended = event.done + event.failed
        width = max(5, min(LONGEST_BAR, columns // 3))
        filled = width * ended // max(event.total, 1)
        counts = f"{event.done} of {event.total} done, {len(self._running)} running, {event.failed} failed"
        lines = [f"[{'#' * filled}{'-' * (width - filled)}] {counts}{self._left(event.total - ended)}"]
        if self._running:
            lines.append(f"running: {'; '.join(self._running.values())}")
        shown = list(self._best.items())[:MOST_DATASETS]
        lines += [f"best on {name}: {who} ({label} {value:.4f})" for name, (who, value, label) in shown]
        if len(self._best) > len(shown):
            lines.append(f"... and {len(self._best) - len(shown)} more datasets")
        return [text if len(text) <= columns else f"{text[: columns - 3]}..." for text in map(one_line, lines)]

    def _left(self, to_go: int) -> str:
        if self._began is None or not self._ran or not to_go:
            return ""
        return f", about {duration((self.clock() - self._began) / self._ran * to_go)} left"
