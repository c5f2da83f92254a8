"""`analyze`: every analysis on a results table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import recassay
from recassay.cli import options as o
from recassay.cli.on_table import Asked, on_table
from recassay.cli.progress import show_stages
from recassay.cli.render import print_json, print_lines, print_saved, print_table

if TYPE_CHECKING:
    from recassay.core.analysis import AnalysisResult


@on_table()
def analyze(
    asked: Asked,
    alpha: o.Alpha = 0.05,
    control: o.Control = None,
    characteristics: o.Characteristics = None,
    seed: o.Seed = 0,
    as_json: o.Json = False,
    out: o.Out = None,
    formats: o.Formats = None,
) -> None:
    """Every analysis; --out saves the report, tables and figures."""
    o.refuse_formats(formats, out)
    report = recassay.analyze(
        asked.results,
        asked.metric,
        missing=asked.missing,
        higher_is_better=asked.higher_is_better,
        alpha=alpha,
        seed=seed,
        control=control,
        out=out,
        formats=o.figure_formats(formats),
        characteristics=characteristics,
        progress=show_stages(),
    )
    show_report(report, as_json, out)


def show_report(report: recassay.AnalysisReport, as_json: bool, out: Path | None) -> None:
    """The leaderboard, the verdict, warnings and what was not done, or their JSON; and where the files went."""
    if as_json:
        print_json(recassay.document("analyze", report.to_dict(), report.results))
    else:
        if "rank" in report.analyses:
            _show_tables(report.analyses["rank"])
        elif "users" in report.analyses:
            _show_tables(report.analyses["users"])
        print_lines(report.verdict)
        told = tuple(report.verdict)
        print_lines(f"Before you believe it: {found}" for found in report.cautions if not found.endswith(told))
        print_lines(f"Not done: {', '.join(names)}: {reason}." for reason, names in report.not_done().items())
        if out is None:
            print_lines(["", "With --out DIR the report (one HTML page), the tables and the figures are saved."])
        else:
            print_lines(["", f"Open {out / 'report.html'} first; figures and tables lie beside it."])
    if out is not None:
        print_saved(report.files, out)


def _show_tables(result: AnalysisResult) -> None:
    for table in recassay.tell(result).tables:
        print_table(table)
