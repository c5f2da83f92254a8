"""A folder of tables, figures and one JSON: what `--out` writes."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recassay.core.analysis import AnalysisResult
from recassay.core.errors import InputError
from recassay.reporting.content import ReportContent
from recassay.reporting.figures import FORMATS, draw, told
from recassay.reporting.tables import paper_tables


def write_atomically(path: Path, data: bytes) -> None:
    """Write to a temporary name beside `path` and rename: a reader sees the old file or the new one, never a part."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def safe_stem(name: str) -> str:
    """A name from outside as a file name that stays in its folder."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._") or "unnamed"


def refuse_file(out: Path) -> None:
    """Raise where `out`, which is to be a folder, is a file: before the work, not after it."""
    if out.exists() and not out.is_dir():
        raise InputError("is a file", where=str(out), fix="name a folder for --out")


def write_files(out: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write each file (its path within `out`, with `/`) atomically, making the folders; returns them in order."""
    refuse_file(out)
    written = []
    try:
        for name, data in files.items():
            written.append(out / name)
            written[-1].parent.mkdir(parents=True, exist_ok=True)
            write_atomically(written[-1], data)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", where=str(out), fix="choose another --out") from error
    return written


def write_folder(
    out: Path,
    results: Mapping[str, AnalysisResult],
    document: Mapping[str, Any],
    *,
    formats: Sequence[str] = FORMATS,
    content: ReportContent | None = None,
) -> list[Path]:
    """Write `analysis.json` (the document), `tables/*` and `figures/*`, and with `content` the page `report.html`.

    Tables are CSV, and LaTeX and Markdown where they are short; every chart is laid out once for all of its files.
    """
    files = {"analysis.json": json.dumps(document, indent=1, allow_nan=False).encode()}
    parts = told(results)
    captions = {figure.table: figure.caption for part in parts for figure in part.figures}
    for result in results.values():
        for name, frame in result.frames().items():
            caption = captions.get(name, name.replace("_", " "))
            for file, data in paper_tables(safe_stem(name), frame, caption).items():
                files[f"tables/{file}"] = data
    drawings = {}
    for part in parts:
        for figure in part.figures:
            made = draw(figure.chart, formats)
            drawings[figure.name] = made.get("svg", b"").decode()
            for form, drawn in made.items():
                files[f"figures/{safe_stem(figure.name)}.{'vl.json' if form == 'json' else form}"] = drawn
    if content is not None:
        from recassay.reporting.page import build_page

        files = {"report.html": build_page(content, parts, drawings, beside=True).encode(), **files}
    return write_files(out, files)
