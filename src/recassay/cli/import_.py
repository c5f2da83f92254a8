"""`import`: results of other tools into the common table."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

from recassay.api.saving import document
from recassay.api.tables import default_metric
from recassay.cli.call import Call
from recassay.cli.render import print_json, print_notes, print_rows, say
from recassay.cli.values import is_output
from recassay.core.errors import UsageError
from recassay.core.system.printable import one_line

if TYPE_CHECKING:
    from recassay.core.tables.results import Results

MOST_ROWS, MOST_COLUMNS = 20, 8


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
        _preview(results)
    if "out" in call.typed:
        say(f"wrote {frame.height} rows to {call.typed['out']}")


def _preview(results: Results) -> None:
    """One metric of the table, algorithms by datasets; what does not fit is counted."""
    try:
        metric = default_metric(results)
    except UsageError:
        metric = results.metrics[0]
    algorithms, datasets = results.algorithms[:MOST_ROWS], results.datasets[:MOST_COLUMNS]
    word, other = results.words
    title = f"{metric}: {len(results.algorithms)} {word}s on {len(results.datasets)} {other}s"
    values = results.table(metric)[: len(algorithms), : len(datasets)]
    rows = [[name, *("" if math.isnan(value) else f"{value:.4g}" for value in row)]
            for name, row in zip(algorithms, values.tolist(), strict=True)]  # fmt: skip
    print_rows(title, [word, *datasets], rows, names=1)
    left = [(len(results.algorithms) - len(algorithms), word), (len(results.datasets) - len(datasets), other),
            (len(results.metrics) - 1, "metric")]  # fmt: skip
    more = [f"{count} more {name}{'s' if count > 1 else ''}" for count, name in left if count]
    if more:
        sys.stdout.write(f"and {', '.join(more)}\n")
