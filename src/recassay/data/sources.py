"""One way to name a dataset: a stored name, an embedded preset, a file, or an object in memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recassay.core.errors import UsageError
from recassay.core.names import did_you_mean
from recassay.core.specs import ReadSpec, SplitName
from recassay.core.types import Interactions
from recassay.data.catalog import all_datasets
from recassay.data.library import list_datasets, load_dataset, read_manifest
from recassay.data.presets import PRESETS, load_preset
from recassay.data.readers import read_interactions

SYNTHETIC = "synthetic:"


@dataclass(frozen=True, slots=True, eq=False)
class OpenedDataset:
    """Interactions, and as plain data how they came to be."""

    name: str
    interactions: Interactions
    reading: dict[str, Any]

    def refuse_positions(self, split: SplitName) -> None:
        """A global split by time needs a clock: positions within a user's history order no two users."""
        if split == "global_time" and self.reading.get("time_unit") == "position":
            raise UsageError(
                "the times are positions, not a clock, so a global_time split would compare what has no common order",
                where=self.name,
                fix="use leave_last_out or user_time, or a random split",
            )


def open_dataset(reference: Any, read: ReadSpec | None = None, *, base: Path | None = None) -> OpenedDataset:
    """The dataset that `reference` names.

    `synthetic:PRESET` is generated; text that looks like a path (it has a separator or a suffix, or such a file exists)
    is read, relative to `base`; any other text is the name of a stored dataset. Frames and sparse matrices are read as
    they are. `read` is how a file or a frame is read.
    """
    options = read or ReadSpec()
    if not isinstance(reference, (str, Path)):
        result = read_interactions(reference, options)
        return OpenedDataset(type(reference).__name__, result.interactions, result.record.to_dict())
    text = str(reference)
    if text.startswith(SYNTHETIC):
        return _preset(text)
    path = (base or Path()) / text
    stored = {manifest.name for manifest in list_datasets()}
    if isinstance(reference, Path) or (text not in stored and (path.exists() or "/" in text or "\\" in text)):
        result = read_interactions(path, options)
        return OpenedDataset(path.name.split(".")[0], result.interactions, result.record.to_dict())
    if text in stored:
        return OpenedDataset(text, load_dataset(text), read_manifest(text).to_dict())
    raise _unknown(text, stored)


def _preset(text: str) -> OpenedDataset:
    """`synthetic:dense-small`, or `synthetic:dense-small@4` for one four times as large."""
    name, _, scale = text.removeprefix(SYNTHETIC).partition("@")
    if name not in PRESETS:
        raise UsageError(f"there is no embedded dataset {text!r}", fix=did_you_mean(name, PRESETS))
    try:
        size = float(scale) if scale else 1.0
    except ValueError:
        raise UsageError(
            f"{scale!r} in {text!r} is no scale", fix="write a number, as in synthetic:long-tail@4"
        ) from None
    data = load_preset(name, scale=size)
    return OpenedDataset(text, data.interactions, {"source": text, "synthetic": True})


def _unknown(text: str, stored: set[str]) -> UsageError:
    entries = {name: entry for entry in all_datasets() for name in entry.names}
    if text in entries:
        entry = entries[text]
        fix = f"fetch it first: recassay data fetch {entry.name}" if entry.addresses else f"obtain it: {entry.how}"
        return UsageError(f"the dataset {text!r} is known but not stored here", fix=fix)
    known = [*stored, *entries, *(SYNTHETIC + name for name in PRESETS)]
    return UsageError(f"there is no dataset or file {text!r}", fix=did_you_mean(text, known))
