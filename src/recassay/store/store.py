"""The store of a study: what was planned, what happened, and the numbers for every analysis."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError, UsageError
from recassay.core.system.plain import plain
from recassay.core.system.shapes import shaped
from recassay.core.tables.results import Results
from recassay.core.tables.sources import Source
from recassay.store.files import CellFiles, checksum
from recassay.store.records import CellRecord, PlannedRow, StoreStatus, unpacked
from recassay.store.schema import connect, has_tables, rest
from recassay.store.sealed import Manifest, read_sealed, write_sealed
from recassay.store.trials import TrialTable

INDEX_FILE = "study.sqlite"
MANIFEST_FILE = "manifest.json"
PLAN_DIGEST = "plan_sha256"
"""What the manifest calls the checksum of the plan's rows."""
COST_METRICS = ("seconds_fit", "seconds_predict", "memory", "joules")
"""What every finished cell has besides its metrics: seconds of the final fit and the lists, megabytes at the peak, and
joules of both (cells of earlier versions have none).
"""

NO_ROW = ("gone", "")
"""The checksums of a row that an index of the database names and the table does not have."""
_JSON_FIELDS = ("spec", "parameters", "counts", "files", "energy")
_COLUMNS = tuple(name for name in CellRecord.__dataclass_fields__ if name != "metrics")
_PLAN = tuple(PlannedRow.__dataclass_fields__)


class Store(CellFiles, TrialTable):
    """A study folder: `study.sqlite`, `manifest.json`, and Parquet files of the cells. One writer at a time."""

    def __init__(self, folder: Path, connection: sqlite3.Connection, *, writes: bool = False) -> None:
        self.folder = folder
        self._connection, self._writes = connection, writes
        self._cells: tuple[tuple[int, int], tuple[tuple[CellRecord, ...], ...]] | None = None
        self._checked = False

    @classmethod
    def open(cls, folder: str | Path, *, create: bool = False) -> Store:
        """The store in `folder`; where there is none it is made if `create`, else `InputError`."""
        folder = Path(folder)
        index = folder / INDEX_FILE
        if create:
            folder.mkdir(parents=True, exist_ok=True)
        elif not index.is_file():
            file = folder.is_file()
            what = "is a file, and a study is a folder" if file else "there is no study in this folder"
            raise InputError(what, where=str(folder), fix="name the folder of a study")
        return cls(folder, connect(index, create=create), writes=create)

    @staticmethod
    def begun(folder: Path) -> bool:
        """Whether a run has made the store in `folder`, all of its tables."""
        return has_tables(folder / INDEX_FILE)

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
        values = [[json.dumps(value) if isinstance(value, tuple) else value for value in astuple(row)] for row in rows]
        planned = [(n, *row) for n, row in enumerate(values)]
        with self._transaction():
            self._connection.execute("DELETE FROM plan")
            self._connection.executemany(f"INSERT INTO plan VALUES (?{', ?' * len(_PLAN)})", planned)
        write_sealed(self.folder / MANIFEST_FILE, plain({**manifest, PLAN_DIGEST: self.plan_digest()}))

    def plan_digest(self) -> str:
        """The checksum of the plan's rows as they are now."""
        query = f"SELECT {', '.join(('position', *_PLAN))} FROM plan ORDER BY position"
        rows = self._connection.execute(query).fetchall()
        return hashlib.sha256(json.dumps([tuple(row) for row in rows]).encode()).hexdigest()

    def manifest(self) -> dict[str, Any]:
        """Versions, machine, seeds, the study's spec, hashes and conventions, as of the last run."""
        manifest = read_sealed(self.folder, MANIFEST_FILE, "the manifest")
        place, fix = str(self.folder / MANIFEST_FILE), "run the study again: it makes this part again"
        shaped(Manifest, manifest, "the manifest is damaged", where=place, fix=fix)
        return {key: value for key, value in manifest.items() if key != PLAN_DIGEST}

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
            # Of what the database says it holds: a whole number in a column of reals comes back as a real.
            self._connection.execute(
                "UPDATE cells SET seal = ? WHERE id = ?", (self.seals(cell.id)[cell.id][1], cell.id)
            )

    def plan(self) -> tuple[PlannedRow, ...]:
        """The cells of the current plan, in order."""
        query = f"SELECT {', '.join(_PLAN)} FROM plan ORDER BY position"
        rows = [PlannedRow(*row) for row in self._connection.execute(query)]
        return tuple(replace(row, metrics=tuple(unpacked("metrics", str(row.metrics), self.folder))) for row in rows)

    def cells(self, *, every: bool = False, damaged: bool = False) -> tuple[CellRecord, ...]:
        """The records of the current plan's cells that ran, in the plan's order; read again only after a change.

        Of a study with a [multiverse] those of its first universe, unless `every` is wanted. A row that is not what was
        written raises `InputError`; with `damaged` such rows are given as they are, for what looks for them.
        """
        changes = self._connection.execute("PRAGMA data_version").fetchone()[0], self._connection.total_changes
        if self._cells is None or self._cells[0] != changes:
            self._cells = changes, self._read_cells()
            self._checked = False
        if not (damaged or self._checked):
            seals = self.seals()
            for cell in self._cells[1][True]:
                seal, now = seals.get(cell.id, NO_ROW)
                if seal not in (None, now):
                    raise InputError(
                        f"the row of {cell.algorithm} on {cell.dataset} is not what was written (the checksum differs)",
                        where=str(self.folder / INDEX_FILE),
                        fix="run the study again: it makes this cell again",
                    )
            self._checked = True
        return self._cells[1][every]

    def _read_cells(self) -> tuple[tuple[CellRecord, ...], ...]:
        """Those of the first universe, and all."""
        names = ", ".join(f"cells.{name}" for name in _COLUMNS)
        query = f"SELECT {names}, plan.universe FROM plan JOIN cells ON cells.id = plan.cell ORDER BY plan.position"
        values: dict[str, dict[str, float | None]] = {}
        metrics = "SELECT cell, metric, value FROM metrics ORDER BY position"
        for cell, metric, value in self._connection.execute(metrics):
            values.setdefault(cell, {})[metric] = value
        rows, records = [], []
        # One by one: a large study is read within its memory.
        for *columns, universe in self._connection.execute(query):
            row = dict(zip(_COLUMNS, columns, strict=True))
            row |= {name: unpacked(name, row[name], self.folder) for name in _JSON_FIELDS}
            records.append(CellRecord(**row, metrics=values.get(row["id"], {})))
            if not universe:
                rows.append(records[-1])
        return tuple(rows), tuple(records)

    def statuses(self) -> dict[str, str]:
        """The status of every cell that ever ran here."""
        return dict(self._connection.execute("SELECT id, status FROM cells").fetchall())

    def seals(self, cell: str | None = None) -> dict[str, tuple[str | None, str]]:
        """By cell (all, or one), the checksum that its row was written with and the one of its row and metrics now."""
        metrics: dict[str, list[Any]] = {}
        query = "SELECT cell, position, metric, value FROM metrics WHERE ? IS NULL OR cell = ? ORDER BY cell, position"
        for name, *row in self._connection.execute(query, (cell, cell)):
            metrics.setdefault(name, []).append(row)
        query = f"SELECT {', '.join(_COLUMNS)}, seal FROM cells WHERE ? IS NULL OR id = ?"
        seals = {}
        for *values, seal in self._connection.execute(query, (cell, cell)):
            # Empty columns are left out, so that a column of a later version changes no checksum.
            row = {name: value for name, value in zip(_COLUMNS, values, strict=True) if value is not None}
            seals[row["id"]] = seal, checksum([row, metrics.get(row["id"], [])])
        return seals

    def forget_damaged(self, cells: Iterable[str]) -> None:
        """Forget the rows of damaged `cells` and all damaged trials: no reader sees them until they are made again."""
        with self._transaction():
            self._connection.executemany("DELETE FROM cells WHERE id = ?", [(cell,) for cell in cells])
            self.forget_damaged_trials()

    def earlier_versions(self, rows: Iterable[PlannedRow], code: Mapping[str, str]) -> dict[str, int]:
        """By algorithm, how many cells of `rows` are done here by another version of its code than `code`, and by no
        other: a cell of the same dataset, seed and fold counts, whatever else of the study has changed.
        """
        made: dict[tuple[Any, ...], set[str]] = {}
        query = "SELECT algorithm, dataset, seed, fold, spec FROM cells WHERE status = 'done'"
        for *key, spec in self._connection.execute(query):
            made.setdefault(tuple(key), set()).add(str(unpacked("spec", spec, self.folder).get("code")))
        counts: dict[str, int] = {}
        for row in rows:
            versions = made.get((row.algorithm, row.dataset, row.seed, row.fold))
            if versions and code.get(row.algorithm) not in (None, *versions):
                counts[row.algorithm] = counts.get(row.algorithm, 0) + 1
        return counts

    def status(self) -> StoreStatus:
        """How many cells are done, which failed and why, and which are to go."""
        cells, plan = self.cells(every=True, damaged=True), self.plan()
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
        """The long table of the current plan: metrics, and `COST_METRICS`, of every cell that ran (`cells`).

        A failed cell has a row without a value for each, so that a matrix lists it as missing; `status()` has the
        reasons. Columns: algorithm, dataset, metric, value, seed, and fold where there are several.
        """
        rows = []
        labels = {row.cell: row.metrics for row in self.plan()}
        costs_kept = [name for name in COST_METRICS if name != "joules" or any(cell.energy for cell in self.cells())]
        for cell in self.cells():
            costs = {"seconds_fit": cell.seconds_fit, "seconds_predict": cell.seconds_predict}
            costs["memory"] = None if cell.memory is None else cell.memory / 1e6
            costs["joules"] = (cell.energy or {}).get("joules_fit")
            for label in (*labels[cell.id], *costs_kept):
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
        content = [(cell.id, cell.status, dict(cell.metrics)) for cell in self.cells()]
        source = Source(str(self.folder), hashlib.sha256(json.dumps(content).encode()).hexdigest())
        return Results.from_frame(frame, where=str(self.folder), sources=(source,))

    def seconds(self) -> dict[str, float]:
        """By id, the seconds that the current plan's cells took, of those that are done."""
        query = (
            "SELECT cells.id, cells.seconds FROM plan JOIN cells ON cells.id = plan.cell "
            "WHERE cells.status = 'done' AND cells.seconds IS NOT NULL ORDER BY plan.position"
        )
        return dict(self._connection.execute(query).fetchall())
