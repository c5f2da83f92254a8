"""What a command writes: its JSON document, and the folder of tables and figures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recassay.core.system.plain import plain
from recassay.core.tables.results import Results
from recassay.core.tables.sources import Sourced
from recassay.core.version import __version__
from recassay.reporting.files import write_files
from recassay.reporting.folder import write_folder

__all__ = ["document", "save_text", "write_folder"]


def document(command: str, content: Mapping[str, Any], results: Sourced) -> dict[str, Any]:
    """The JSON of a command: version, input files with their hashes, what to know of them, and the answer.

    `results` is what knows the input files.
    """
    files = [{"file": s.file, "sha256": s.sha256} for s in results.sources]
    notes = getattr(results, "notes", ())
    extras: dict[str, Any] = {"notes": list(notes)} if notes else {}
    if isinstance(results, Results):
        extras["reading"] = results.reading
    return {"recassay": __version__, "command": command, "input": files, **extras, **plain(content)}


def save_text(path: str | Path, text: str | bytes) -> Path:
    """Write a file whole; text in UTF-8, bytes as they are. Its folder is made where it is not there."""
    target = Path(path)
    return write_files(target.parent, {target.name: text if isinstance(text, bytes) else text.encode()})[0]
