"""What `load_results` makes of a file, as plain values: rows, remarks and guesses, or the refusal.

The values that are expected stand in `readings.json`. After a change that is meant, `python -m tests.support.readings`
writes them again; the difference is what a reviewer reads.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from dataclasses import fields, is_dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from tests.support.small_tables import SMALL_LISTS, SMALL_OTHERS, SMALL_TABLES

from recassay import RecAssayError, load_results
from recassay.data.lists.judgements import read_judgements
from recassay.data.lists.read import read_lists
from recassay.data.tables.characteristics import read_properties
from recassay.data.tables.instances import read_instances
from recassay.data.tables.responses import read_items, read_responses
from recassay.data.tables.universes import read_choices

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
EXPECTED = Path(__file__).with_name("readings.json")
FILES = sorted(
    path.relative_to(SAMPLES).as_posix() for path in SAMPLES.rglob("*") if path.is_file() and path.name != "README.md"
)
FOLDERS = ("elliot", "lm_eval", "mteb", "recbole", "swe_bench/verified", "trec/toya", "warprec")


def sample_reading(name: str) -> dict[str, Any]:
    """What a file or folder of the samples is read as: results, and lists and judgements where it holds some."""
    path = SAMPLES / name
    readings = {"results": _results([path], SAMPLES, {})}
    if name.startswith("lists/"):
        readings |= {"lists": _lists(path, SAMPLES), "judgements": _judgements(path)}
    return readings


def small_reading(name: str) -> dict[str, Any]:
    """What a small table, or several of them, is read as, with the options it stands with."""
    files, options = SMALL_TABLES[name]
    with tempfile.TemporaryDirectory(prefix="readings") as folder:
        root = Path(folder).resolve() / "work"
        places = _write(root, files)
        return _results([root] if options.get("folder") else places, root, options)


def small_lists_reading(name: str) -> dict[str, Any]:
    """What a small file of lists, or a folder of them, is read as."""
    files, read = SMALL_LISTS[name]
    with tempfile.TemporaryDirectory(prefix="readings") as folder:
        root = Path(folder).resolve() / "work"
        _write(root, files)
        return {"lists": _lists(root / read, root), "judgements": _judgements(root / read)}


def small_other_reading(name: str) -> Any:
    """What a small table of answers, items, characteristics or choices of a protocol is read as."""
    files, read, kind = SMALL_OTHERS[name]
    readers: dict[str, Any] = {
        "responses": read_responses, "items": read_items, "instances": read_instances, "properties": read_properties,
        "choices": read_choices,
    }  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="readings") as folder:
        root = Path(folder).resolve() / "work"
        _write(root, files)
        try:
            return _value(readers[kind](root / read), root)
        except RecAssayError as error:
            return {"refused": _named(str(error), root)}


def _value(value: Any, root: Path) -> Any:
    """Results of readers as plain values: the fields of classes, the rows of frames and arrays."""
    if is_dataclass(value):
        return {field.name: _value(getattr(value, field.name), root) for field in fields(value)}
    if isinstance(value, pl.DataFrame):
        return {"columns": value.columns, "rows": _rows(value, root)}
    if isinstance(value, dict):
        return {str(key): _value(each, root) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return _value(value.tolist(), root)
    return [_value(each, root) for each in value] if isinstance(value, list | tuple) else _plain(value, root)


def _write(root: Path, files: dict[str, str | bytes]) -> list[Path]:
    places = []
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        places.append(path)
    return places


def _results(places: list[Path], root: Path, options: dict[str, Any]) -> dict[str, Any]:
    asked = {name: value for name, value in options.items() if name != "folder"}
    try:
        results = load_results(places if len(places) > 1 else places[0], **asked)
    except RecAssayError as error:
        return {"refused": _named(str(error), root)}
    reading: dict[str, Any] = {"columns": results.frame.columns, "rows": _rows(results.frame, root)}
    if results.users is not None:
        reading["users"] = _rows(results.users.head(3), root)
    told = {"notes": results.notes, "guesses": results.guesses}
    reading |= {kind: [_named(text, root) for text in texts] for kind, texts in told.items() if texts}
    if results.words != ("algorithm", "dataset"):
        reading["words"] = list(results.words)
    return reading


def _lists(path: Path, root: Path) -> Any:
    try:
        lists = read_lists(path)
    except RecAssayError as error:
        return {"refused": _named(str(error), root)}
    return [
        {"name": each.name, "format": each.format, "split": each.split, "named_in": _plain(each.named_in, root),
         "notes": list(each.notes), "columns": each.frame.columns, "height": each.frame.height,
         "rows": _rows(each.frame.head(5), root)}
        for each in lists
    ]  # fmt: skip


def _judgements(path: Path) -> Any:
    try:
        frame = read_judgements(path)
    except RecAssayError as error:
        return {"refused": _named(str(error), path.parent)}
    return None if frame is None else {"height": frame.height, "rows": _rows(frame.head(5), path.parent)}


def _rows(frame: Any, root: Path) -> list[list[Any]]:
    return [[_plain(value, root) for value in row] for row in frame.rows()]


def _plain(value: Any, root: Path) -> Any:
    if isinstance(value, float):
        return float(f"{value:.9g}") if isfinite(value) else str(value)
    return _named(value, root) if isinstance(value, str) else value


def _named(text: str, root: Path) -> str:
    """A message without the place of the files, and without what other libraries say."""
    text = text.replace(f"{root}/", "").replace(str(root), "FOLDER")
    return re.sub(
        r"(is not JSON|is not a readable \w+ file) \(.*?\);|(cannot be read as a table:) .*?;", r"\1\2 ...;", text
    )


def readings() -> dict[str, dict[str, Any]]:
    """All of them."""
    return {
        "samples": {name: sample_reading(name) for name in (*FILES, *FOLDERS)},
        "tables": {name: small_reading(name) for name in SMALL_TABLES},
        "lists": {name: small_lists_reading(name) for name in SMALL_LISTS},
        "others": {name: small_other_reading(name) for name in SMALL_OTHERS},
    }


@cache
def expected() -> dict[str, dict[str, Any]]:
    """The values that are expected."""
    loaded: dict[str, dict[str, Any]] = json.loads(EXPECTED.read_text(encoding="utf-8"))
    return loaded


if __name__ == "__main__":
    lines = json.dumps(readings(), ensure_ascii=False, indent=1).splitlines()
    # Innermost lists, which are rows of a table, stand on one line each.
    text = "\n".join(lines)
    text = re.sub(r"\[\n\s+([^\[\]{}]*?)\n\s+\]", lambda m: "[" + re.sub(r"\n\s+", " ", m[1]) + "]", text)
    EXPECTED.write_text(text + "\n", encoding="utf-8")
    sys.stdout.write(f"{EXPECTED}\n")
