"""`results` and `import`: every number of a study, and results of other tools as one table."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from recassay.api.publish.content import document, save_text
from recassay.api.tables import default_metric, load_results, table_bytes
from recassay.cli.call import Call
from recassay.cli.render import print_first_rows, print_json, print_lines, print_notes, print_rows, say
from recassay.cli.values import is_output
from recassay.core.errors import UsageError
from recassay.core.system.printable import one_line
from recassay.core.words import count_of

if TYPE_CHECKING:
    import polars as pl

    from recassay.core.tables.results import Results


MOST_ROWS = 200
"""Rows on a terminal; an export has them all."""


def results(
    call: Call,
    *,
    everything: bool = False,
    csv: bool = False,
    parquet: bool = False,
    as_json: bool = False,
    out: Path | None = None,
) -> None:
    """Print or export every number of a study.

    Args:
        everything: up to 200 rows, not the first ones alone.
        csv: CSV, on stdout or into `out`.
        parquet: Parquet, into `out` or a redirected stdout.
        out: file to write.
    """
    if csv + parquet + as_json > 1:
        raise UsageError("--csv, --parquet and --json exclude each other", fix="keep one")
    frame = call()
    if out is None and not (csv or parquet or as_json):
        _table(frame, everything)
        return
    if as_json:
        answer = document("results", {"results": frame.to_dicts()}, load_results(call.typed["folder"]))
        content = (json.dumps(answer, indent=1, allow_nan=False, ensure_ascii=False) + "\n").encode()
    else:
        ending = ".parquet" if parquet else ".csv" if csv or out is None else out.suffix.lower()
        content = table_bytes(frame, ending)
    if out is not None:
        save_text(out, content)
        say(f"wrote {frame.height:,} rows to {out}")
    elif parquet and sys.stdout.isatty():
        raise UsageError("Parquet is not text for a terminal", fix="say --out FILE, or redirect the output")
    else:
        sys.stdout.buffer.write(content)


def _table(frame: pl.DataFrame, everything: bool) -> None:
    """Metrics side by side; of users' values the rows as they are."""
    import polars as pl

    if "user" not in frame.columns:
        keys = [name for name in ("dataset", "algorithm", "seed", "fold") if name in frame.columns]
        frame = frame.pivot(on="metric", index=keys, values="value", maintain_order=True).sort("dataset")
    shown = frame.head(MOST_ROWS)
    numbers = [dtype == pl.Float64 for dtype in shown.dtypes]
    rows = [
        [
            "" if value is None else f"{value:.5g}" if number else value
            for value, number in zip(row, numbers, strict=True)
        ]
        for row in shown.rows()
    ]
    if not everything:
        counts = [f"{frame[name].n_unique():,} {name}s" for name in ("algorithm", "dataset", "user") if name in frame]
        rest = "Everything: --all, as data: --csv, --parquet or --json"
        print_first_rows(f"{frame.height:,} rows: {', '.join(counts)}.", shown.columns, rows, names=2, rest=rest)
        return
    print_rows(f"{frame.height:,} rows", shown.columns, rows, names=2)
    if frame.height > MOST_ROWS:
        print_lines([f"The first {MOST_ROWS} of {frame.height:,} rows; --csv or --parquet has them all."])


PREVIEWED_ROWS, PREVIEWED_COLUMNS = 20, 8


def import_(call: Call, *, as_json: bool = False) -> None:
    """The common table."""
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
    algorithms, datasets = results.algorithms[:PREVIEWED_ROWS], results.datasets[:PREVIEWED_COLUMNS]
    word, other = results.words
    title = f"{metric}: {len(results.algorithms)} {word}s on {len(results.datasets)} {other}s"
    values = results.table(metric)[: len(algorithms), : len(datasets)]
    rows = [[name, *("" if math.isnan(value) else f"{value:.4g}" for value in row)]
            for name, row in zip(algorithms, values.tolist(), strict=True)]  # fmt: skip
    print_rows(title, [word, *datasets], rows, names=1)
    left = [(len(results.algorithms) - len(algorithms), word), (len(results.datasets) - len(datasets), other),
            (len(results.metrics) - 1, "metric")]  # fmt: skip
    more = [count_of(count, f"more {name}") for count, name in left if count]
    if more:
        sys.stdout.write(f"and {', '.join(more)}\n")
