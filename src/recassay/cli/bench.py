"""`bench`: one's own algorithm among the shipped baselines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from recassay.cli.call import Call
from recassay.cli.on_table import refuse_formats, show_answer
from recassay.cli.progress import resumable, show_progress
from recassay.cli.render import say


def bench(
    call: Call,
    *,
    everything: bool = False,
    as_json: bool = False,
    out: Path | None = None,
    formats: Sequence[str] | None = None,
) -> None:
    """Where the algorithm stands, in one page.

    Args:
        everything: every table and sentence, not the answer alone.
        as_json: print JSON on stdout instead of tables.
        out: folder for tables and figures.
        formats: of the figures: `svg`, `pdf`, `png`, `json`; by default all but `png`.
    """
    refuse_formats(formats, out)
    with resumable(lambda: Path(call.typed.get("folder") or ".")):
        result = call(progress=show_progress(), told=lambda name: say(f"{name}: looking for it, and making its split"))
    show_answer(call, result, result, as_json, out, formats, everything=everything)
