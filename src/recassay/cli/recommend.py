"""`recommend`: lists to be used."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from recassay.cli.call import Call
from recassay.cli.render import print_json, print_lines, say, write
from recassay.core.system.plain import plain
from recassay.core.words import duration, listing

if TYPE_CHECKING:
    from recassay.api.recommend import RecommendResult


def recommend(call: Call, *, as_json: bool = False) -> None:
    """Fit on all data, write the lists, and say what they are."""
    shown = sys.stderr is not None and sys.stderr.isatty()
    progress = _progress(str(call.typed["source"]), str(call.typed.get("algorithm", "it"))) if shown else None
    try:
        result = call(progress=progress)
    finally:
        write("\r\x1b[K" if shown else "")
    for line in (*result.told, *result.notes):
        say(line)
    if as_json:
        print_json(plain(result.to_dict()))
    else:
        print_lines(_sentences(result))


def _progress(source: str, algorithm: str) -> Callable[[str, Mapping[str, Any]], None]:
    """A line that says what is done, for a terminal."""
    began = time.monotonic()

    def show(stage: str, facts: Mapping[str, Any]) -> None:
        nonlocal began
        text = f"reading {source}"
        if stage == "fit":
            text = f"fitting {algorithm} on {facts['events']:,} events"
        elif stage == "lists":
            done, total = facts["done"], facts["total"]
            began = time.monotonic() if not done else began
            left = f", about {duration((time.monotonic() - began) / done * (total - done))} left" if done else ""
            text = f"lists for {done:,} of {total:,} users{left}"
        write(f"\r\x1b[K{text}")

    return show


def _sentences(result: RecommendResult) -> list[str]:
    settings = ", ".join(f"{name} {_short(value)}" for name, value in result.parameters.items())
    whose = f"the best parameters of {result.study}" if result.study else "default parameters"
    had = "are left out" if result.task == "new" else "may be listed"
    length = f"{'up to ' if result.short else ''}{_many(result.k, 'item')}"
    memory = f"; at most {result.memory / 1e9:.2g} GB" if result.memory else ""
    lines = [
        f"Wrote {result.out}: {length} for each of {_many(result.lists, 'user')}, by {result.algorithm} with {whose}.",
        f"Columns: {listing(result.columns, most=None)}. Items that a user has had {had}.",
        f"Fitted on {_many(result.events, 'event')} of {_many(result.users, 'user')} and {_many(result.items, 'item')} "
        f"in {result.seconds_fit:.1f} s; lists in {result.seconds_lists:.1f} s{memory}.",
        *([f"Parameters: {settings}."] if settings else []),
    ]
    if result.short:
        lines.append(f"Lists shorter than {result.k}: {result.short:,}; nothing else is left to recommend there.")
    if result.unknown:
        unknown = listing(result.unknown, most=3)
        lines.append(f"Users not in the log, and so without a list: {unknown}.")
    if result.uncounted:
        lines.append(f"Users without an event that counts, and so without a list: {result.uncounted:,}.")
    return lines


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
