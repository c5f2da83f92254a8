"""The trials of a store's tunings."""

from __future__ import annotations

import json
import math
import sqlite3
from pathlib import Path

import polars as pl

from recassay.core import columns as c
from recassay.store.files import checksum
from recassay.store.records import TrialRecord, unpacked

_COLUMNS = ("tuning", *TrialRecord.__dataclass_fields__)


class TrialTable:
    """What a store keeps of trials. Each row has a checksum of its own content."""

    folder: Path
    _connection: sqlite3.Connection

    def record_trial(self, tuning: str, trial: TrialRecord) -> None:
        """Keep a trial; when this returns it is on the disk. Only the first record of a number counts."""
        value = None if trial.value is None or math.isnan(trial.value) else float(trial.value)
        parameters, stages = json.dumps(dict(trial.parameters)), json.dumps(trial.stages)
        row = (tuning, trial.number, trial.state, parameters, value, trial.reason, stages, float(trial.seconds))
        self._connection.execute(
            f"INSERT OR IGNORE INTO trials ({', '.join((*_COLUMNS, 'seal'))}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*row, checksum(row)),
        )

    def forget_failed_trials(self, tuning: str) -> None:
        """Forget the first failed trial and those after it, which followed from it, so that they are tried again."""
        failed = "SELECT min(number) FROM trials WHERE tuning = ? AND state IN ('failed', 'over_budget')"
        self._connection.execute(f"DELETE FROM trials WHERE tuning = ? AND number >= ({failed})", (tuning, tuning))

    def damaged_trials(self) -> tuple[dict[str, int], int]:
        """By tuning, the first trial whose row is not what was written; and how many rows have no checksum."""
        damaged: dict[str, int] = {}
        unsealed = 0
        for *row, seal in self._connection.execute(f"SELECT {', '.join(_COLUMNS)}, seal FROM trials ORDER BY number"):
            if seal is None:
                unsealed += 1
            elif seal != checksum(row):
                damaged.setdefault(row[0], row[1])
        return damaged, unsealed

    def forget_damaged_trials(self) -> None:
        """Forget each trial that `damaged_trials` names and those after it, so that they are tried again."""
        for tuning, number in self.damaged_trials()[0].items():
            self._connection.execute("DELETE FROM trials WHERE tuning = ? AND number >= ?", (tuning, number))

    def trials(self) -> pl.DataFrame:
        """Every trial of the current plan: one row each, parameters and stages as JSON text."""
        of_plan = {c.ALGORITHM: pl.String, c.DATASET: pl.String, c.SEED: pl.Int64, c.FOLD: pl.Int64}
        kinds = {"number": pl.Int64, "state": pl.String, c.VALUE: pl.Float64, "parameters": pl.String}
        kinds |= {"stages": pl.String, "reason": pl.String, "seconds": pl.Float64}
        schema = {**of_plan, **kinds, "cell": pl.String}
        columns = [f"{'trials' if name in kinds else 'plan'}.{name}" for name in schema]
        query = (
            f"SELECT {', '.join(columns)} FROM plan "
            "JOIN trials ON trials.tuning = plan.tuning AND trials.number < plan.trials ORDER BY plan.position, number"
        )
        return pl.DataFrame(self._connection.execute(query).fetchall(), schema=schema, orient="row")

    def trial_records(self, tuning: str) -> tuple[TrialRecord, ...]:
        """The trials kept under `tuning` from number 0 on without a gap: what a tuning resumes from."""
        kept = self.kept_trials(tuning)
        return tuple(trial for n, (number, trial) in enumerate(kept.items()) if n == number)

    def kept_trials(self, tuning: str) -> dict[int, TrialRecord]:
        """All trials kept under `tuning`, by number; there are gaps where trials that ran side by side were lost."""
        names = _COLUMNS[1:]
        query = f"SELECT {', '.join(names)} FROM trials WHERE tuning = ? ORDER BY number"
        kept: dict[int, TrialRecord] = {}
        for row in self._connection.execute(query, (tuning,)):
            stored = dict(zip(names, row, strict=True))
            for name in ("parameters", "stages"):
                stored[name] = unpacked(name, stored[name], self.folder)
            kept[stored["number"]] = TrialRecord.from_dict(stored)
        return kept
