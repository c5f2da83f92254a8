"""Which framework a file is of: every importer looks at it, and the one that knows it reads it."""

from __future__ import annotations

from dataclasses import dataclass

from recassay.core.errors import InputError, UsageError
from recassay.core.names import canonical, did_you_mean
from recassay.core.registry import importers
from recassay.data.importers.contract import KIND_WORDS, RESULTS, Importer, Kind
from recassay.data.importers.opened import OpenedFile
from recassay.data.importers.table import NAMES


@dataclass(frozen=True, slots=True)
class Detected:
    """What a file is: the importer that knows it (None for a plain table), and what it holds."""

    importer: Importer | None
    kind: Kind


def detect(file: OpenedFile, format: str | None = None) -> Detected:
    """The importer of a file, by its content; `format` names one instead, or `table` for a plain table.

    Where several know a file, those that find results in it come first. Two that do so is a mistake of ours or of a
    plugin, and the user is asked.
    """
    if format is not None:
        if canonical(format) in map(canonical, NAMES):
            return Detected(None, "results")
        if format not in importers:
            raise UsageError(f"unknown format {format!r}", fix=did_you_mean(format, [*importers.names(), *NAMES]))
        named: Importer = importers.get(format)
        return Detected(named, named.recognise(file) or "results")
    found = [Detected(one, kind) for _, one in importers if (kind := one.recognise(file)) is not None]
    held = [one for one in found if one.kind in RESULTS]
    if len(held) > 1:
        names = [one.importer.name for one in held if one.importer]
        raise InputError(f"may be of {' or '.join(names)}", where=file.name, fix=f"say which with --from {names[0]}")
    return (held or found or [Detected(None, "results")])[0]


def refuse_other(file: OpenedFile, found: Detected) -> None:
    """A file that a framework wrote and that holds no results is refused with what it is and who reads it."""
    if found.kind in RESULTS or found.importer is None:
        return
    reader = {"lists": "recassay evaluate judges lists", "judgements": "recassay evaluate takes them as --test"}
    raise InputError(
        f"holds {KIND_WORDS[found.kind]} of {found.importer.title}, not results",
        where=file.name,
        fix=reader.get(found.kind, "give the file of results beside it"),
    )
