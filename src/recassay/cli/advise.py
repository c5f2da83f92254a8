"""`advise`: what a finished benchmark says about one's own dataset, and the study to run next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from recassay.api.advise import BENCHMARK
from recassay.api.saving import save_text
from recassay.cli.call import Call
from recassay.cli.on_table import refuse_formats, show_answer
from recassay.cli.render import print_lines, say
from recassay.cli.values import Target
from recassay.core.errors import UsageError


def advise(
    call: Call,
    *,
    study: Path | None = None,
    as_json: bool = False,
    out: Path | None = None,
    formats: Sequence[str] | None = None,
) -> None:
    """The advice, and the study to run next.

    Args:
        study: write the study to run next into this file.
        as_json: print JSON on stdout instead of tables.
        out: folder for tables and figures.
        formats: of the figures: `svg`, `pdf`, `png`, `json`; by default all but `png`.
    """
    refuse_formats(formats, out)
    target = None if study is None else Target("file").convert(study, None, None)
    if target is not None and target.exists():
        raise UsageError("is there already", where=str(target), fix="choose another name for --study")
    results = call.load(source=call.typed.get("results") or [BENCHMARK])
    advice = call(results=results)
    if target is not None:
        save_text(target, advice.study)
        say(f"wrote {target}: run it with recassay run {target}")
    show_answer(call, advice, results, as_json, out, formats)
    if not as_json and target is None:
        print_lines(["", "A study to run next (--study FILE writes it):", "", *advice.study.rstrip().splitlines()])
