"""What is read from an export, against its truth; and the advice of a refusal, as a person would paste it."""

from __future__ import annotations

import ast
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
from tests.support.exports import EXPORTS, Export, Truth

from recassay import RecAssayError, load_results

CLOSE = 2e-5
"""Files print five decimals; pandas prints four in some of its forms."""


def outcome(export: Export, **pasted: Any) -> tuple[str, str]:
    """`right`, `wrong` or `refused`, and what was read or why not."""
    with tempfile.TemporaryDirectory(prefix="exports") as folder:
        source = export.content
        if export.file:
            source = Path(folder) / export.file
            source.write_bytes(export.content if isinstance(export.content, bytes) else export.content.encode())
        try:
            frame = load_results(source, **{**export.said, **pasted}).frame
        except RecAssayError as error:
            return "refused", str(error)
    why = _other(frame, "value", export.truth())
    if not why and export.spread:
        why = _other(frame, "deviation", export.spreads())
    return ("wrong", why) if why else ("right", "")


def _other(frame: pl.DataFrame, column: str, truth: Truth) -> str:
    """How a column differs from the truth by cell; empty where it does not. Seeds of a cell are averaged."""
    if column not in frame.columns:
        return f"no column {column}"
    rows = frame.group_by("algorithm", "dataset", "metric").agg(pl.col(column).mean()).rows()
    read = {row[:3]: row[3] for row in rows}
    if read.keys() != truth.keys():
        return f"cells {sorted(set(read) - set(truth))[:3]} instead of {sorted(set(truth) - set(read))[:3]}"
    scale = 100 if min(value or 0 for value in read.values()) > 1 else 1  # percent without a sign stay as they stand
    far = [cell for cell, value in read.items() if value is None or abs(value / scale - truth[cell]) > CLOSE]
    return f"{column} of {far[:2]}: {[read[cell] for cell in far[:2]]}" if far else ""


def advice(refusal: str) -> list[dict[str, Any]]:
    """The arguments that a refusal names in backticks, as ways to call again: each alone, and all that agree."""
    said: list[tuple[str, Any]] = []
    for name, value in re.findall(r"`(\w+)=([^`]+)`", refusal):
        said.append((name, ast.literal_eval(value)))
    together: dict[str, Any] = {}
    for name, value in said:
        together.setdefault(name, value)
    both = {"wide", "transpose"} <= together.keys()
    whole = (
        [{k: v for k, v in together.items() if k != other} for other in ("wide", "transpose")] if both else [together]
    )
    return [*whole, *({name: value} for name, value in said)]


def main(*words: str) -> None:
    """Print how exports are read whose names have one of the words, or all of them."""
    counts: Counter[str] = Counter()
    for name, export in EXPORTS.items():
        if words and not any(word in name for word in words):
            continue
        verdict, why = outcome(export)
        counts[verdict] += 1
        if verdict != "right":
            print(f"{verdict:8}{name}: {why}")
    print(dict(counts))


if __name__ == "__main__":
    main(*sys.argv[1:])
