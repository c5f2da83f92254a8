"""`import`: results of other tools into the common table."""

from __future__ import annotations

import sys

from recassay.api.saving import document
from recassay.cli.call import Call
from recassay.cli.render import print_json, print_notes, print_rows, say
from recassay.cli.values import is_output
from recassay.core.system.printable import one_line

MOST_ROWS = 20


def import_(call: Call, *, as_json: bool = False) -> None:
    """The common table.

    Args:
        as_json: print JSON on stdout instead of tables.
    """
    results = call()
    say(one_line(results.told_reading(), 600))
    print_notes(results.notes)
    frame = results.frame
    if is_output(call.typed.get("out")):
        return  # the table is the output
    if as_json:
        print_json(document("import", {"rows": frame.to_dicts()}, results))
    else:
        title = (
            f"{len(results.algorithms)} algorithms, {len(results.datasets)} datasets, {len(results.metrics)} metrics"
        )
        shown = frame.head(MOST_ROWS)
        rows = [["" if cell is None else f"{cell:.6g}" if isinstance(cell, float) else str(cell)[:40] for cell in row]
                for row in shown.iter_rows()]  # fmt: skip
        print_rows(title, frame.columns, rows, names=len(frame.columns))
        if frame.height > MOST_ROWS:
            sys.stdout.write(f"and {frame.height - MOST_ROWS} more rows\n")
    if "out" in call.typed:
        say(f"wrote {frame.height} rows to {call.typed['out']}")
