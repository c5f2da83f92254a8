"""The store of a study: what was planned, what happened, and the numbers for every analysis."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError, UsageError
from recassay.core.system.parquet import parquet_frame
from recassay.core.system.plain import plain
from recassay.core.tables.results import Results
from recassay.core.tables.sources import Source
from recassay.store.files import file_checksum, write_parquet
from recassay.store.records import CellRecord, PlannedRow, StoreStatus, TrialRecord, unpacked
from recassay.store.schema import connect, rest
from recassay.store.sealed import read_sealed, write_sealed

INDEX_FILE = "study.sqlite"
MANIFEST_FILE = "manifest.json"
COST_METRICS = ("seconds_fit", "seconds_predict", "memory")
"""What every finished cell has besides its metrics: seconds of the final fit and the lists, megabytes at the peak."""

SCORES, LISTS, RESPONSES = "scores", "lists", "responses"
"""The kinds of files that a cell leaves, which are also the names of their folders."""

_JSON_FIELDS = ("spec", "parameters", "counts", "files")
_COLUMNS = tuple(name for name in CellRecord.__dataclass_fields__ if name != "metrics")


class Store:
    """A study folder: `study.sqlite`, `manifest.json`, and Parquet files of the cells. One writer at a time."""

    def __init__(self, folder: Path, connection: sqlite3.Connection, *, writes: bool = False) -> None:
        self.folder = folder
        self._connection, self._writes = connection, writes

    @classmethod
    def open(cls, folder: str | Path, *, create: bool = False) -> Store:
        """The store in `folder`; where there is none it is made if `create`, else `InputError`."""
        folder = Path(folder)
        index = folder / INDEX_FILE
        if create:
            folder.mkdir(parents=True, exist_ok=True)
        elif not index.is_file():
            raise InputError("there is no study in this folder", where=str(folder), fix="name the folder of a study")
        return cls(folder, connect(index, create=create), writes=create)

    def close(self) -> None:
        """Close the index."""
        if self._writes:
            rest(self._connection)
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def set_plan(self, rows: Iterable[PlannedRow], manifest: Mapping[str, Any]) -> None:
        """Make `rows` the current plan; cells of earlier plans stay and count again when a plan names them again."""
        planned = [
            (
                n,
                row.cell,
                row.algorithm,
                row.dataset,
                row.seed,
                row.fold,
                json.dumps(row.metrics),
                row.tuning,
                row.trials,
            )
            for n, row in enumerate(rows)
        ]
        with self._transaction():
            self._connection.execute("DELETE FROM plan")
            self._connection.executemany("INSERT INTO plan VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", planned)
        write_sealed(self.folder / MANIFEST_FILE, plain(manifest))

    def manifest(self) -> dict[str, Any]:
        """Versions, machine, seeds, the study's spec, hashes and conventions, as of the last run."""
        return read_sealed(self.folder, MANIFEST_FILE, "the manifest")

    def record_trial(self, tuning: str, trial: TrialRecord) -> None:
        """Keep a trial; when this returns it is on the disk. Only the first record of a number counts."""
        self._connection.execute(
            "INSERT OR IGNORE INTO trials VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                tuning,
                trial.number,
                trial.state,
                json.dumps(dict(trial.parameters)),
                trial.value,
                trial.reason,
                json.dumps(trial.stages),
                trial.seconds,
            ),
        )

    def forget_failed_trials(self, tuning: str) -> None:
        """Forget the first failed trial and those after it, which followed from it, so that they are tried again."""
        failed = "SELECT min(number) FROM trials WHERE tuning = ? AND state IN ('failed', 'over_budget')"
        self._connection.execute(f"DELETE FROM trials WHERE tuning = ? AND number >= ({failed})", (tuning, tuning))

    def record(self, cell: CellRecord) -> None:
        """Keep what happened to a cell, in place of what was known before; a done one must have its files."""
        if cell.status == "done" and not self.has_files(cell.id):
            raise UsageError(f"the cell {cell.id} has no files", fix="write its files before its row")
        row = [
            json.dumps(value) if name in _JSON_FIELDS and value is not None else value
            for name, value in ((name, getattr(cell, name)) for name in _COLUMNS)
        ]
        marks = ", ".join("?" * len(_COLUMNS))
        with self._transaction():
            self._connection.execute("DELETE FROM cells WHERE id = ?", (cell.id,))
            self._connection.execute(f"INSERT INTO cells ({', '.join(_COLUMNS)}) VALUES ({marks})", row)
            self._connection.executemany(
                "INSERT INTO metrics VALUES (?, ?, ?, ?)",
                [(cell.id, n, label, value) for n, (label, value) in enumerate(cell.metrics.items())],
            )

    def plan(self) -> tuple[PlannedRow, ...]:
        """The cells of the current plan, in order."""
        names = ("cell", "algorithm", "dataset", "seed", "fold", "metrics", "tuning", "trials")
        query = f"SELECT {', '.join(names)} FROM plan ORDER BY position"
        rows = [dict(zip(names, row, strict=True)) for row in self._connection.execute(query)]
        return tuple(PlannedRow(**{**row, "metrics": tuple(self._unpacked("metrics", row["metrics"]))}) for row in rows)

    def _unpacked(self, column: str, text: str | None) -> Any:
        return unpacked(column, text, self.folder)

    def cells(self) -> tuple[CellRecord, ...]:
        """The records of the current plan's cells that ran, in the plan's order."""
        names = ", ".join(f"cells.{name}" for name in _COLUMNS)
        query = f"SELECT {names} FROM plan JOIN cells ON cells.id = plan.cell ORDER BY plan.position"
        rows = [dict(zip(_COLUMNS, row, strict=True)) for row in self._connection.execute(query)]
        values: dict[str, dict[str, float | None]] = {}
        for cell, metric, value in self._connection.execute(
            "SELECT cell, metric, value FROM metrics ORDER BY position"
        ):
            values.setdefault(cell, {})[metric] = value
        for row in rows:
            for name in _JSON_FIELDS:
                row[name] = self._unpacked(name, row[name])
        return tuple(CellRecord(**row, metrics=values.get(row["id"], {})) for row in rows)

    def statuses(self) -> dict[str, str]:
        """The status of every cell that ever ran here."""
        return dict(self._connection.execute("SELECT id, status FROM cells").fetchall())

    def damaged(self, cells: Iterable[str]) -> dict[str, Path]:
        """Of done `cells` those with a file that is gone or is not what was written, and that file: they do not count
        as done. Every file is read.
        """
        found = {cell: self._damaged_file(cell) for cell in cells}
        return {cell: path for cell, path in found.items() if path is not None}

    def _damaged_file(self, cell: str) -> Path | None:
        checksums = self._checksums(cell)
        if not checksums:
            return None if self.has_files(cell) else scores_file(self.folder, cell)
        for kind, checksum in checksums.items():
            path = cell_file(self.folder, kind, cell)
            if not path.is_file() or file_checksum(path) != checksum:
                return path
        return None

    def _checksums(self, cell: str) -> dict[str, str]:
        """Empty for a cell of a version that kept none."""
        row = self._connection.execute("SELECT files FROM cells WHERE id = ?", (cell,)).fetchone()
        kept: dict[str, str] | None = self._unpacked("files", row[0]) if row is not None else None
        return kept or {}

    def earlier_versions(self, rows: Iterable[PlannedRow], code: Mapping[str, str]) -> dict[str, int]:
        """By algorithm, how many cells of `rows` are done here by another version of its code than `code`, and by no
        other: a cell of the same dataset, seed and fold counts, whatever else of the study has changed.
        """
        made: dict[tuple[Any, ...], set[str]] = {}
        for *key, spec in self._connection.execute(
            "SELECT algorithm, dataset, seed, fold, spec FROM cells WHERE status = 'done'"
        ):
            made.setdefault(tuple(key), set()).add(str(self._unpacked("spec", spec).get("code")))
        found: dict[str, int] = {}
        for row in rows:
            versions = made.get((row.algorithm, row.dataset, row.seed, row.fold))
            if versions and code.get(row.algorithm) not in (None, *versions):
                found[row.algorithm] = found.get(row.algorithm, 0) + 1
        return found

    def status(self) -> StoreStatus:
        """How many cells are done, which failed and why, and which are to go."""
        cells, plan = self.cells(), self.plan()
        ran = {cell.id for cell in cells}
        of_plan = "SELECT count(*) FROM plan JOIN trials ON trials.tuning = plan.tuning AND trials.number < plan.trials"
        return StoreStatus(
            planned=len(plan),
            done=sum(cell.status == "done" for cell in cells),
            failed=tuple(cell for cell in cells if cell.status != "done"),
            to_go=tuple(row for row in plan if row.cell not in ran),
            trials=int(self._connection.execute(of_plan).fetchone()[0]),
        )

    def results(self) -> Results:
        """The long table of the current plan: metrics, and `COST_METRICS`, of every cell that ran.

        A failed cell has a row without a value for each, so that a matrix lists it as missing; `status()` has the
        reasons. Columns: algorithm, dataset, metric, value, seed, and fold where there are several.
        """
        rows = []
        labels = {row.cell: row.metrics for row in self.plan()}
        for cell in self.cells():
            costs = {"seconds_fit": cell.seconds_fit, "seconds_predict": cell.seconds_predict, "memory": cell.memory}
            costs["memory"] = None if cell.memory is None else cell.memory / 1e6
            for label in (*labels[cell.id], *COST_METRICS):
                value = (costs[label] if label in costs else cell.metrics.get(label)) if cell.status == "done" else None
                rows.append((cell.algorithm, cell.dataset, label, value, cell.seed, cell.fold))
        if not rows:
            raise InputError("no cell of this study has run yet", where=str(self.folder), fix="run the study")
        schema = {c.ALGORITHM: pl.String, c.DATASET: pl.String, c.METRIC: pl.String, c.VALUE: pl.Float64}
        frame = pl.DataFrame(rows, schema=schema | {c.SEED: pl.Int64, c.FOLD: pl.Int64}, orient="row")
        folds = frame.get_column(c.FOLD)
        if folds.null_count() == frame.height:
            frame = frame.drop(c.FOLD)
        elif folds.null_count():  # some datasets have folds, and others a single split, which counts as one
            frame = frame.with_columns(pl.col(c.FOLD).fill_null(0))
        return Results.from_frame(frame, where=str(self.folder), sources=(self._source(),))

    def trials(self, cell: str | None = None) -> pl.DataFrame:
        """Every trial of the current plan (or of one cell): one row each, parameters and stages as JSON text."""
        query = (
            "SELECT plan.algorithm, plan.dataset, plan.seed, plan.fold, trials.number, trials.state, trials.value, "
            "trials.parameters, trials.stages, trials.reason, trials.seconds, plan.cell FROM plan "
            "JOIN trials ON trials.tuning = plan.tuning AND trials.number < plan.trials "
            "WHERE ? IS NULL OR plan.cell = ? ORDER BY plan.position, number"
        )
        schema = {
            c.ALGORITHM: pl.String,
            c.DATASET: pl.String,
            c.SEED: pl.Int64,
            c.FOLD: pl.Int64,
            "number": pl.Int64,
            "state": pl.String,
            c.VALUE: pl.Float64,
            "parameters": pl.String,
            "stages": pl.String,
            "reason": pl.String,
            "seconds": pl.Float64,
            "cell": pl.String,
        }
        return pl.DataFrame(self._connection.execute(query, (cell, cell)).fetchall(), schema=schema, orient="row")

    def trial_records(self, tuning: str) -> tuple[TrialRecord, ...]:
        """The trials kept under `tuning` from number 0 on without a gap: what a tuning resumes from."""
        kept = self.kept_trials(tuning)
        return tuple(trial for n, (number, trial) in enumerate(kept.items()) if n == number)

    def kept_trials(self, tuning: str) -> dict[int, TrialRecord]:
        """All trials kept under `tuning`, by number; there are gaps where trials that ran side by side were lost."""
        names = ("number", "state", "parameters", "value", "reason", "stages", "seconds")
        query = f"SELECT {', '.join(names)} FROM trials WHERE tuning = ? ORDER BY number"
        found: dict[int, TrialRecord] = {}
        for row in self._connection.execute(query, (tuning,)):
            stored = dict(zip(names, row, strict=True))
            for name in ("parameters", "stages"):
                stored[name] = self._unpacked(name, stored[name])
            found[stored["number"]] = TrialRecord.from_dict(stored)
        return found

    def seconds(self) -> dict[str, float]:
        """By id, the seconds that the current plan's cells took, of those that are done."""
        query = (
            "SELECT cells.id, cells.seconds FROM plan JOIN cells ON cells.id = plan.cell "
            "WHERE cells.status = 'done' AND cells.seconds IS NOT NULL ORDER BY plan.position"
        )
        return dict(self._connection.execute(query).fetchall())

    def per_user(self, cell: str) -> pl.DataFrame:
        """The scores of a cell: the user's own id and one column a metric label, null where undefined."""
        return self._read(SCORES, cell)

    def top_lists(self, cell: str) -> pl.DataFrame:
        """The lists of a cell: user, rank (from 1), item (original ids) and score."""
        return self._read(LISTS, cell)

    def responses(self, cell: str) -> pl.DataFrame:
        """The answers of a classifier's cell: row (from 1, in the file), truth, predicted, right (0 or 1)."""
        return self._read(RESPONSES, cell)

    def has_files(self, cell: str) -> bool:
        """Whether the files of a cell are there: scores and lists of a recommender, or responses of a classifier."""
        if responses_file(self.folder, cell).is_file():
            return True
        return scores_file(self.folder, cell).is_file() and lists_file(self.folder, cell).is_file()

    def _read(self, kind: str, cell: str) -> pl.DataFrame:
        path = cell_file(self.folder, kind, cell)
        if not path.is_file():
            raise InputError(f"there is no finished cell {cell!r}", where=str(self.folder), fix="see the status")
        content = path.read_bytes()
        checksum = self._checksums(cell).get(kind)
        again = "run the study again: it makes this cell anew"
        if checksum is not None and hashlib.sha256(content).hexdigest() != checksum:
            raise InputError(
                f"the {kind} of this cell are not what was written (the checksum differs)", where=str(path), fix=again
            )
        try:
            return parquet_frame(content)
        except (pl.exceptions.PolarsError, OSError):
            raise InputError(f"the {kind} of this cell cannot be read", where=str(path), fix=again) from None

    def _source(self) -> Source:
        cells = [(cell.id, cell.status, dict(cell.metrics)) for cell in self.cells()]
        return Source(str(self.folder), hashlib.sha256(json.dumps(cells).encode()).hexdigest())


def cell_file(folder: Path, kind: str, cell: str) -> Path:
    """Where a cell's file of a kind (`SCORES`, `LISTS`, `RESPONSES`) lies."""
    return folder / kind / f"{cell}.parquet"


def scores_file(folder: Path, cell: str) -> Path:
    """Where a cell's per-user scores lie."""
    return cell_file(folder, SCORES, cell)


def lists_file(folder: Path, cell: str) -> Path:
    """Where a cell's lists lie."""
    return cell_file(folder, LISTS, cell)


def responses_file(folder: Path, cell: str) -> Path:
    """Where the answers of a classifier's cell lie."""
    return cell_file(folder, RESPONSES, cell)


def write_cell_files(folder: Path, cell: str, *, per_user: pl.DataFrame, lists: pl.DataFrame) -> dict[str, str]:
    """Write a cell's scores and lists, each whole; their checksums, for its row, which whoever holds the index writes
    after them.
    """
    return {
        SCORES: write_parquet(scores_file(folder, cell), per_user),
        LISTS: write_parquet(lists_file(folder, cell), lists),
    }
