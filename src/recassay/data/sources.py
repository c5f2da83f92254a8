"""One way to name a dataset: a stored name, an embedded preset, a file, or an object in memory."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from recassay.core.errors import RecAssayError, UsageError
from recassay.core.names import did_you_mean
from recassay.core.specs.specs import ReadSpec, SplitName
from recassay.core.types import Interactions
from recassay.core.words import count_of, listing
from recassay.data.catalog.entries import all_datasets
from recassay.data.library import DatasetManifest, list_datasets, load_dataset
from recassay.data.readers import ReadResult, read_interactions
from recassay.data.synthetic.generate import SyntheticSpec, generate
from recassay.data.synthetic.presets import PRESETS, preset_spec

SYNTHETIC = "synthetic:"
SUFFIXES = (".csv", ".tsv", ".tab", ".txt", ".dat", ".data", ".inter", ".parquet", ".pq", ".gz")
HEAD_BYTES, HEAD_ROWS = 1 << 18, 2000
"""How much of a file is read to know whether it has times."""


@dataclass(frozen=True, slots=True, eq=False)
class OpenedDataset:
    """Interactions, and as plain data how they came to be."""

    name: str
    interactions: Interactions
    reading: dict[str, Any]

    def notes(self) -> tuple[str, ...]:
        """Which columns were taken for what, how many rows were left out and why; nothing where no file was read."""
        return told_reading(self.name, self.reading)

    def refuse_positions(self, split: SplitName) -> None:
        """A global split by time needs a clock: positions within a user's history order no two users."""
        if split in ("global_time", "rolling") and self.reading.get("time_unit") == "position":
            what = f"the times are positions, not a clock, so a {split} split would compare what has no common order"
            raise UsageError(what, where=self.name, fix="use leave_last_out or user_time, or a random split")


def told_reading(name: str, reading: Mapping[str, Any]) -> tuple[str, ...]:
    """How a log was read, as a line: its columns by role, its rows, and why some were left out."""
    columns = reading.get("columns")
    if not columns:
        return ()
    words = {"rating": "weight", "timestamp": "time"}
    taken = listing((f"{words.get(role, role)} from {column!r}" for role, column in columns.items()), most=None)
    absent = [word for role, word in words.items() if role not in columns]
    lacking = f" (no column of {listing(absent, last='or')})" if absent else ""
    bad, rows = reading.get("bad", 0), reading.get("rows", 0)
    first = next(iter(reading.get("bad_rows") or ()), None)
    why = f" (the first: line {first['line']}, {first['reason']})" if first else ""
    left = f"{count_of(bad, 'row')} of {rows:,} left out{why}" if bad else f"{count_of(rows, 'row')}, none left out"
    repeated = reading.get("repeated", 0)
    again = f"; {count_of(repeated, 'row')} share their user and item with another" if repeated else ""
    return (f"read {name}: {taken}{lacking}; {left}{again}",)


def is_path(reference: str) -> bool:
    """Whether a reference means a file: a leading dot or tilde, a separator within, or the ending of a data file."""
    return reference.startswith((".", "~")) or "/" in reference or "\\" in reference or reference.endswith(SUFFIXES)


def path_of(reference: str, base: str | Path = ".") -> Path:
    """The file that a reference names; relative ones start from `base`."""
    try:
        return Path(base) / Path(reference).expanduser()
    except RuntimeError:
        raise UsageError(
            f"{reference.split('/', maxsplit=1)[0]} is not a user of this machine", fix="write the path out"
        ) from None


def preset_of(reference: str) -> SyntheticSpec:
    """The spec of `synthetic:dense-small`, or of `synthetic:dense-small@4`, four times as large."""
    name, at, scale = reference.removeprefix(SYNTHETIC).partition("@")
    try:
        return preset_spec(name, scale=float(scale) if at else 1.0)
    except ValueError:
        raise UsageError(
            f"{scale!r} in {reference!r} is not a scale", fix="write a number, as in synthetic:long-tail@4"
        ) from None


def stored_manifest(reference: str) -> DatasetManifest:
    """The manifest of a stored dataset; an unknown name says what is near, and a known one how to get it."""
    stored = {manifest.name: manifest for manifest in list_datasets()}
    if reference in stored:
        return stored[reference]
    entries = {name: entry for entry in all_datasets() for name in entry.names}
    if reference in entries:
        entry = entries[reference]
        fix = f"fetch it first: recassay data fetch {entry.name}" if entry.addresses else f"obtain it: {entry.how}"
        raise UsageError(f"the dataset {reference!r} is known but not stored here", fix=fix)
    known = [*stored, *entries, *(SYNTHETIC + name for name in PRESETS)]
    what = f"there is no dataset or file {reference!r}"
    raise UsageError(what, fix=did_you_mean(reference, known, else_see="`recassay.list_data(everything=True)`"))


def open_dataset(reference: Any, read: ReadSpec | None = None, *, base: str | Path = ".") -> OpenedDataset:
    """The dataset that `reference` names: `synthetic:PRESET`, a file (see `is_path`), or the name of a stored dataset.

    Frames and sparse matrices are read as they are. `read` is how a file or a frame is read.
    """
    options = read or ReadSpec()
    if not isinstance(reference, (str, Path)):
        result = read_interactions(reference, options)
        return OpenedDataset(type(reference).__name__, result.interactions, result.record.to_dict())
    text = str(reference)
    if text.startswith(SYNTHETIC):
        return OpenedDataset(text, generate(preset_of(text)).interactions, {"source": text, "synthetic": True})
    if isinstance(reference, Path) or is_path(text):
        result = read_interactions(path_of(text, base), options)
        return OpenedDataset(text, result.interactions, result.record.to_dict())
    manifest = stored_manifest(text)
    return OpenedDataset(text, load_dataset(text), manifest.to_dict())


def count_events(reference: str, base: str | Path = ".") -> int | None:
    """How many events the dataset has that `reference` names, where that is known without reading it, else None.

    A stored dataset says it in its manifest, a Parquet file in its footer.
    """
    if reference.startswith(SYNTHETIC):
        return preset_of(reference).n_interactions
    if not is_path(reference):
        return stored_manifest(reference).interactions
    path = path_of(reference, base)
    if not path.is_file() or path.suffix.lower() not in (".parquet", ".pq"):
        return None
    try:
        return int(pl.scan_parquet(path, glob=False).select(pl.len()).collect().item())
    except pl.exceptions.PolarsError:
        return None


def known_times(reference: str, read: ReadSpec, base: str | Path = ".") -> str | None:
    """What the times of a dataset are, by its manifest or its first rows: `clock`, `position`, `none`.

    None where that is not known: what is wrong with a file is said when all of it is read.
    """
    if reference.startswith(SYNTHETIC):
        return "clock"
    if not is_path(reference):
        unit = stored_manifest(reference).time_unit
        return "none" if unit is None else "position" if unit == "position" else "clock"
    try:
        first, whole = _first_rows(path_of(reference, base), read)
    except (RecAssayError, OSError, EOFError, pl.exceptions.PolarsError):
        return None
    if first.interactions.time is None:
        return "none"
    if first.record.time_unit == "position":  # more rows may show that it is a clock
        return "position" if whole else None
    return "clock"


def _first_rows(path: Path, read: ReadSpec) -> tuple[ReadResult, bool]:
    """The first rows of a file, and whether they are all."""
    if path.suffix.lower() in (".parquet", ".pq"):
        frame = pl.scan_parquet(path, glob=False).head(HEAD_ROWS).collect()
        return read_interactions(frame, read), frame.height < HEAD_ROWS
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
        start = file.read(HEAD_BYTES)
    whole = len(start) < HEAD_BYTES
    with tempfile.TemporaryDirectory(prefix="recassay-") as scratch:
        head = Path(scratch, path.name.removesuffix(".gz"))
        head.write_bytes(start if whole else start[: start.rfind(b"\n") + 1])
        return read_interactions(head, read.model_copy(update={"skip_bad_rows": True})), whole
