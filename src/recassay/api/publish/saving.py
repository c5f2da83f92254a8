"""What a command writes: its JSON document, and the folder of tables and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recassay.api.arguments import checked
from recassay.core.analysis import AnalysisResult
from recassay.core.choices import known_formats
from recassay.core.system.plain import plain
from recassay.core.tables.results import Results
from recassay.core.tables.sources import Sourced
from recassay.core.version import __version__
from recassay.reporting.content import ReportContent
from recassay.reporting.drawing import Drawers
from recassay.reporting.files import write_files
from recassay.reporting.folder import write_folder


@checked
def document(command: str, content: Mapping[str, Any], results: Sourced) -> dict[str, Any]:
    """The JSON of a command: version, input files with their hashes, what to know of them, and the answer.

    Args:
        command: the name of the command.
        content: its answer as plain data.
        results: what knows the input files.
    """
    files = [{"file": s.file, "sha256": s.sha256} for s in results.sources]
    notes = getattr(results, "notes", ())
    extras: dict[str, Any] = {"notes": list(notes)} if notes else {}
    if isinstance(results, Results):
        extras["reading"] = results.reading
    return {"recassay": __version__, "command": command, "input": files, **extras, **plain(content)}


@checked
def save(
    analyses: Mapping[str, AnalysisResult],
    answer: Mapping[str, Any],
    out: str | Path,
    *,
    formats: Sequence[str] | None = None,
    content: ReportContent | None = None,
    drawers: Drawers | None = None,
) -> list[Path]:
    """Write tables (CSV, LaTeX, Markdown), figures and `analysis.json` into `out`.

    With `content` the page `report.html` comes first.

    Args:
        analyses: results by name.
        answer: the JSON document.
        out: the folder.
        formats: of the figures: `svg`, `pdf`, `png` and `json` (Vega-Lite); by default all but `png`.
        content: what a page is made of.
        drawers: processes that draw the figures; by default they are started where it is worth it.
    """
    return write_folder(Path(out), analyses, answer, formats=known_formats(formats), content=content, drawers=drawers)


@checked
def save_text(path: str | Path, text: str | bytes) -> Path:
    """Write a file whole; text in UTF-8, bytes as they are.

    Args:
        path: the file; its folder is made where it is not there.
        text: the content.
    """
    target = Path(path)
    return write_files(target.parent, {target.name: text if isinstance(text, bytes) else text.encode()})[0]
