"""`reproduce`: the numbers of the papers, computed again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recassay.api.reproduce import reproduction_page
from recassay.api.saving import save_text
from recassay.cli.call import Call
from recassay.cli.render import Failed, print_json, print_lines, print_rows, say
from recassay.cli.values import Target
from recassay.core.system.plain import plain
from recassay.core.version import __version__


def reproduce(call: Call, *, everything: bool = False, markdown: Path | None = None, as_json: bool = False) -> None:
    """Every number beside the printed one.

    Args:
        everything: show every number, not only those that do not agree.
        markdown: write the page of the documentation into this file.
        as_json: print JSON on stdout instead of tables.
    """
    if markdown is not None:
        Target("file").convert(markdown, None, None)
    result = call(paper=list(call.typed.get("paper", ())) or None)
    if markdown is not None:
        save_text(markdown, reproduction_page(result))
        say(f"wrote {markdown}")
    if as_json:
        print_json({"recassay": __version__, "command": "reproduce", **plain(result.to_dict())})
    else:
        _show(result, everything)
    if result.fallen:
        say(f"recassay: {len(result.fallen)} numbers that used to agree no longer do")
        raise Failed


def _show(result: Any, everything: bool) -> None:
    counts = result.count()
    summary = result.summary()
    print_rows(
        f"{len(result.numbers)} numbers: {', '.join(f'{count} {verdict}' for verdict, count in counts.items())}",
        summary.columns,
        [[cell or "" for cell in row] for row in summary.iter_rows()],
        names=2,
    )
    shown = result.to_frame()
    rows = shown.iter_rows() if everything else (row for row in shown.iter_rows() if row[7] == "does not follow")
    print_rows(
        "Every number" if everything else "Numbers that do not follow (--all shows every number)",
        ["paper", "table", "row", "column", "printed", "ours", "difference", "verdict", "why"],
        [["" if cell is None else f"{cell:+.4g}" if isinstance(cell, float) else cell for cell in row] for row in rows],
        names=4,
    )
    left = [
        f"{paper.name}, {what}: not computed again: {why}."
        for paper in result.papers
        for what, why in paper.not_recomputed
    ]
    print_lines(left)
