"""What a store keeps: records of trials and cells, the plan, and how far a study is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from recassay.core.errors import InputError
from recassay.core.system.failures import Cause, LeftOut, causes

Status: TypeAlias = Literal["done", "failed", "timeout", "memory", "crashed", "over_budget"]
TrialState: TypeAlias = Literal["complete", "pruned", "failed", "over_budget"]


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """One trial of a tuning; `stages` are the values after each stage of training, where the algorithm reports them."""

    number: int
    state: TrialState
    parameters: Mapping[str, Any]
    value: float | None = None
    reason: str | None = None
    stages: tuple[float, ...] = ()
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self) | {"parameters": dict(self.parameters), "stages": list(self.stages)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> TrialRecord:
        """The record that `to_dict` wrote."""
        return cls(**{**stored, "stages": tuple(stored["stages"])})


TRIALS = "trials"
"""What the counts of a cell call the trials that it was tuned with."""


@dataclass(frozen=True, slots=True)
class CellRecord:
    """What happened to a cell. `reason` is one line for people, `detail` a traceback; both None where it is done.

    `metrics` are the means over users and the catalogue's numbers by label (None: nowhere defined); `memory` is the
    peak of the final fit and the lists, `peak_memory` that of the whole cell, both in bytes.
    """

    id: str
    algorithm: str
    dataset: str
    seed: int
    fold: int | None
    spec: Mapping[str, Any]
    status: Status
    reason: str | None = None
    detail: str | None = None
    attempts: int = 1
    finished: str = ""
    parameters: Mapping[str, Any] | None = None
    validation: float | None = None
    seconds: float | None = None
    seconds_tune: float | None = None
    seconds_fit: float | None = None
    seconds_predict: float | None = None
    memory: float | None = None
    peak_memory: float | None = None
    predicted_memory: float | None = None
    energy: Mapping[str, Any] | None = None
    """`joules` of the whole cell, `joules_fit` of the final fit and the lists, and `how` they are known."""
    counts: Mapping[str, int] | None = None
    """Of users, of values that are undefined, and of `TRIALS`, where it was tuned."""
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    files: Mapping[str, str] | None = None
    """By kind of file (`SCORES`, `LISTS`, `RESPONSES`), the SHA-256 of what was written."""
    split: str | None = None
    """The folder of the prepared data that it was trained and judged on."""

    def in_brief(self) -> dict[str, Any]:
        """Which cell, and how it ended."""
        return {name: getattr(self, name) for name in ("algorithm", "dataset", "seed", "fold", "status", "reason")}


@dataclass(frozen=True, slots=True)
class PlannedRow:
    """A cell of the current plan, as the store knows it."""

    cell: str
    algorithm: str
    dataset: str
    seed: int
    fold: int | None
    metrics: tuple[str, ...]
    tuning: str
    """What its trials are kept under; cells that differ only in what is reported share them."""
    trials: int
    universe: int = 0
    """The first universe of the study that it belongs to; 0: the study's own."""


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether a study is what was written: its done cells with their rows, trials and files, and its splits."""

    cells: int
    splits: int
    damaged: tuple[str, ...]
    """The places of what is gone or is not what was written."""
    unverified: Mapping[str, int]
    """How many `cells`, `splits` and `trials` have no checksum: an earlier version wrote them."""


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """How far a study is: the cells of its current plan."""

    planned: int
    done: int
    failed: tuple[CellRecord, ...]
    to_go: tuple[PlannedRow, ...]
    """The cells that have not been run."""
    trials: int
    """How many tuning trials of the plan are recorded."""
    earlier: Mapping[str, int] = field(default_factory=dict)
    verified: Verification | None = None
    """What the checksums say; None where they were not asked."""
    left_out: tuple[LeftOut, ...] = ()
    """The algorithms that are not part of the plan on some dataset, and why."""

    def causes(self) -> tuple[Cause, ...]:
        """Why cells failed, each cause once."""
        return causes(self.failed)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "planned": self.planned,
            "done": self.done,
            "failed": [cell.in_brief() for cell in self.failed],
            "to_go": [{"algorithm": row.algorithm, "dataset": row.dataset, "seed": row.seed} for row in self.to_go],
            "trials": self.trials,
            "earlier": dict(self.earlier),
            "left_out": [asdict(one) for one in self.left_out],
            "damaged": None if self.verified is None else list(self.verified.damaged),
            "unverified": None if self.verified is None else dict(self.verified.unverified),
        }


KINDS: Mapping[str, type] = {
    "spec": dict, "parameters": dict, "counts": dict, "files": dict, "energy": dict, "metrics": list, "stages": list
}  # fmt: skip
"""Of the columns that hold JSON, what each of them holds."""


def unpacked(column: str, text: str | None, folder: Path) -> Any:
    """What a column of JSON says, None where it is empty; `InputError` where it is damaged."""
    if text is None:
        return None
    value: Any
    try:
        value = json.loads(text)
        if "\\u" in text:  # half of a character
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        value = None
    sound = isinstance(value, KINDS[column])
    if not sound or (column == "metrics" and not all(isinstance(name, str) for name in value)):
        raise InputError(
            f"the store is damaged: {column} of a row is not what was written", where=str(folder),
            fix="restore it from a copy, or run the study in a new folder",
        )  # fmt: skip
    return value
