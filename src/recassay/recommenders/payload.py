"""What the processes of a study must know: the job of a split and the job of a cell, as plain data and back.

`dispatch` makes them of the plan, `runner` hands them on without a look, and `cell` reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recassay.core.specs.study import DatasetSpec
from recassay.recommenders.plan import CellSpec, SplitSpec
from recassay.runner.jobs import CHECKED
from recassay.store import TrialRecord


@dataclass(frozen=True, slots=True)
class SplitJob:
    """The job that makes the split of a dataset."""

    split: SplitSpec
    """With the protocol: filter, threshold, split."""
    dataset: DatasetSpec
    base: str
    """Folder that the paths of the study start from."""
    folder: Path
    """Of the study."""
    memory: int | None = None
    """The limit in bytes."""

    def plain(self) -> dict[str, Any]:
        """As the process gets it."""
        return {
            "folder": str(self.folder),
            "split": self.split.model_dump(mode="json"),
            "dataset": self.dataset.model_dump(mode="json"),
            "base": self.base,
            "memory": self.memory,
        }

    @classmethod
    def of(cls, payload: Mapping[str, Any]) -> SplitJob:
        """The job that the process got."""
        return cls(
            split=SplitSpec.model_validate(payload["split"]),
            dataset=DatasetSpec.model_validate(payload["dataset"]),
            base=payload["base"],
            folder=Path(payload["folder"]),
            memory=payload.get("memory"),
        )


@dataclass(frozen=True, slots=True)
class CellJob:
    """The job of a cell, or of one of its trials."""

    cell: CellSpec
    """With its split, and in it the protocol."""
    id: str
    reference: str
    """The algorithm: a registered name, or `./file.py:Class`."""
    base: str
    """Folder that the paths of the study start from."""
    folder: Path
    """Of the study."""
    memory: int | None = None
    """The limit in bytes."""
    memory_in_words: str = "the limit is"
    """Where the limit comes from."""
    trials: tuple[TrialRecord, ...] = ()
    """Those that are known; the runner adds them when the job starts."""
    number: int = 0
    """Of the trial, where the job is one trial; the runner adds it."""
    checked: Mapping[str, Any] | None = None
    """In which state the files of the split were found sound; the runner adds it."""

    def plain(self) -> dict[str, Any]:
        """As the process gets it, but for what the runner adds."""
        return {
            "cell": self.cell.model_dump(mode="json"),
            "id": self.id,
            "reference": self.reference,
            "base": self.base,
            "folder": str(self.folder),
            "memory": self.memory,
            "memory_in_words": self.memory_in_words,
        }

    @classmethod
    def of(cls, payload: Mapping[str, Any]) -> CellJob:
        """The job that the process got."""
        return cls(
            cell=CellSpec.model_validate(payload["cell"]),
            id=payload["id"],
            reference=payload["reference"],
            base=payload["base"],
            folder=Path(payload["folder"]),
            memory=payload["memory"],
            memory_in_words=payload["memory_in_words"],
            trials=tuple(TrialRecord.from_dict(trial) for trial in payload.get("trials", ())),
            number=int(payload.get("number", 0)),
            checked=payload.get(CHECKED),
        )
