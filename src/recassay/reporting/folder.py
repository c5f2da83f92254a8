"""A folder of tables, figures and one JSON: what `--out` writes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recassay.core.analysis import AnalysisResult
from recassay.core.formats import USUAL
from recassay.reporting.content import ReportContent
from recassay.reporting.drawers import Drawers
from recassay.reporting.figures import fill_sections
from recassay.reporting.files import safe_stem, write_files
from recassay.reporting.table_captions import table_caption
from recassay.reporting.tables import paper_tables


def write_folder(
    out: Path,
    results: Mapping[str, AnalysisResult],
    document: Mapping[str, Any],
    *,
    formats: Sequence[str] = USUAL,
    content: ReportContent | None = None,
    drawers: Drawers | None = None,
) -> list[Path]:
    """Write `analysis.json` (the document), `tables/*` and `figures/*`, and with `content` the page `report.html`.

    Tables are CSV, and LaTeX and Markdown where they are short; every chart is laid out once for all of its files, and
    the page shows the same SVG.
    """
    files = {"analysis.json": json.dumps(document, indent=1, allow_nan=False).encode()}
    needed = formats if content is None else tuple(dict.fromkeys(("svg", *formats)))
    filled = fill_sections(results, needed, drawers)
    for result in results.values():
        for name, frame in result.frames().items():
            caption = table_caption(name, getattr(result, "metric", None))
            for file, data in paper_tables(safe_stem(name), frame, caption).items():
                files[f"tables/{file}"] = data
    for one in filled:
        for name, made in one.files.items():
            for form in formats:
                files[f"figures/{safe_stem(name)}.{'vl.json' if form == 'json' else form}"] = made[form]
    if content is not None:
        from recassay.reporting.page.build import build_page

        files = {"report.html": build_page(content, filled, beside=formats).encode(), **files}
    return write_files(out, files)
