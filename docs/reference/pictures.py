"""The pictures of the documentation, and the numbers behind them, which a test computes again."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

PICTURES = Path(__file__).resolve().parents[1] / "pictures"
TABLE, NUMBERS = PICTURES / "demo.csv", PICTURES / "numbers.json"
"""The results of the demo, and by picture the numbers that it shows."""

TIMED = ("cost_by_algorithm", "pareto")
"""Pictures that show seconds: another run has others."""


def numbers_behind(results: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """By the name of a picture of the documentation, the rows of the table that it draws, to four digits."""
    from recassay.reporting.figures import build_sections

    shown = {path.stem for path in PICTURES.glob("*.png")} - set(TIMED)
    return {
        figure.name: [
            {key: _short(value) for key, value in row.items()}
            for row in filled.result.frames()[figure.table].to_dicts()
        ]
        for filled in build_sections(results)
        for figure in filled.figures
        if figure.name in shown
    }


OF_A_STUDY = "multiverse_field"
"""How pictures begin that show a study of real data; they stay as they are."""


def renew(report: Any, others: Mapping[str, Any]) -> None:
    """Draw the pictures from the report of the demo and from other results; keep the numbers behind the demo's."""
    figures = {figure.name: figure for figure in report.figures}
    figures |= {figure.name: figure for result in others.values() for figure in result.figures.values()}
    for path in sorted(PICTURES.glob("*.png")):
        if not path.stem.startswith(OF_A_STUDY):
            figures[path.stem].save(path)
    columns = ["algorithm", "dataset", "metric", "value"]
    measured_here = pl.col("metric").str.contains("^(seconds|joules|memory)")
    frame = report.results.frame.select(columns).filter(~measured_here)
    frame.sort("metric", "dataset", "algorithm").write_csv(TABLE)
    numbers = numbers_behind(report.analyses)
    lines = [f"{json.dumps(name)}: {json.dumps(rows)}" for name, rows in sorted(numbers.items())]
    NUMBERS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _short(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.4g}") if math.isfinite(value) else None
    return value if isinstance(value, (str, int, bool, type(None))) else str(value)
