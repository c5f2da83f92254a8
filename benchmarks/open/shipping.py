"""From finished studies to a benchmark that is shipped: values, costs, parameters, splits, and users' values."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError, NotApplicableError
from recassay.core.specs.study import DatasetSpec
from recassay.core.system.files import write_whole
from recassay.data.published.benchmark import (
    CELLS,
    CHARACTERISTICS,
    MANIFEST,
    RESULTS,
    USER_METRIC,
    USERS,
    compressed_csv,
    packed,
    rounded,
    sampled_users,
)
from recassay.evidence.study import study_characteristics
from recassay.recommenders.plan import SplitSpec
from recassay.recommenders.splits import is_prepared, prepare_split, split_record
from recassay.runner.references import dataset_version
from recassay.store.records import CellRecord, PlannedRow, TrialRecord
from recassay.store.store import COST_METRICS, Store


@dataclass(slots=True)
class _Gathered:
    """What the studies hold together: of a cell that several have, the last that is done."""

    cells: dict[tuple[str, str, int], tuple[Path, CellRecord]] = field(default_factory=dict)
    waiting: dict[tuple[str, str, int], PlannedRow] = field(default_factory=dict)
    datasets: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    studies: list[Mapping[str, Any]] = field(default_factory=list)
    characteristics: dict[str, dict[str, float]] = field(default_factory=dict)

    def add(self, folder: Path) -> None:
        """Take in one study."""
        with Store.open(folder) as store:
            manifest, status = store.manifest(), store.status()
            tunings = {row.cell: row.tuning for row in store.plan()}
            cells = [_with_all_trials(cell, store.trial_records(tunings[cell.id])) for cell in store.cells()]
        self.studies.append(manifest)
        self.datasets |= {str(dataset["name"]): dataset for dataset in manifest["study"]["datasets"]}
        for row in status.to_go:
            self.waiting[row.algorithm, row.dataset, row.seed] = row
        for cell in cells:
            key = cell.algorithm, cell.dataset, cell.seed
            if key not in self.cells or cell.status == "done" or self.cells[key][1].status != "done":
                self.cells[key] = folder, cell
        self.describe(folder)

    def describe(self, folder: Path) -> None:
        """What the datasets are like whose splits the study has kept."""
        try:
            table = study_characteristics(folder)
        except NotApplicableError:
            return
        for name, row in zip(table.datasets, table.values, strict=True):
            self.characteristics[name] = dict(zip(table.names, map(float, row), strict=True))

    def exclude(self, excluded: Mapping[str, Mapping[str, str]]) -> None:
        """Let cells count as failed for the reason that is given."""
        for key, (folder, cell) in self.cells.items():
            reason = excluded.get(cell.algorithm, {}).get(cell.dataset)
            if reason is not None:
                self.cells[key] = folder, replace(cell, status="failed", reason=reason)

    def done(self) -> list[tuple[Path, CellRecord]]:
        """The finished cells, by dataset and algorithm."""
        done = [(folder, cell) for folder, cell in self.cells.values() if cell.status == "done"]
        return sorted(done, key=lambda one: (one[1].dataset, one[1].algorithm, one[1].seed))


def _with_all_trials(cell: CellRecord, trials: Sequence[TrialRecord]) -> CellRecord:
    """The cell with the seconds of all its trials: those of a run that was resumed leave out what came before."""
    alone = sum(trial.seconds for trial in trials) + (cell.seconds_fit or 0.0) + (cell.seconds_predict or 0.0)
    return replace(cell, seconds=max(cell.seconds or 0.0, alone)) if cell.status == "done" else cell


def export_benchmark(
    folders: Sequence[str | Path],
    target: str | Path,
    *,
    name: str = "open",
    about: Mapping[str, Mapping[str, str]] | None = None,
    left_out: Mapping[str, str] | None = None,
    reasons: Mapping[str, str] | None = None,
    excluded: Mapping[str, Mapping[str, str]] | None = None,
    notes: Sequence[str] = (),
    data: str | Path | None = None,
) -> dict[str, int]:
    """Write the benchmark that the studies in `folders` are, into the folder `target`; by file its size in bytes.

    `about` has family, licence and source by dataset, `left_out` the datasets that are not part and why, `reasons` why
    algorithms were not run, where the studies do not say it, `excluded` by algorithm and dataset the cells that were
    run and do not count, with the reason, and `notes` what a reader of the numbers must know. Where a
    study came without its splits, they are made again from the files in the folder `data`, which must be those that the
    study read. Two splits of one dataset are refused.
    """
    gathered = _Gathered()
    for folder in folders:
        gathered.add(Path(folder))
    gathered.exclude(excluded or {})
    done = gathered.done()
    if not done:
        raise InputError("no cell of these studies is done", fix="run them first")
    if data is not None:
        _make_splits(gathered, Path(data))
    splits = _splits(done)
    first = done[0][1].spec
    described = {
        dataset: {
            "reference": Path(str(gathered.datasets[dataset]["reference"])).name,
            "read": gathered.datasets[dataset].get("read", {}),
            "protocol": cell.spec["split"]["protocol"],
            "split": fingerprint,
            "judged": int((cell.counts or {}).get("users", 0)),
            **dict((about or {}).get(dataset, {})),
        }
        for dataset, (cell, fingerprint) in splits.items()
    }
    users, judged = _users(done)
    for dataset, count in judged.items():
        described[dataset]["judged"] = count
    manifest = {
        "name": name,
        "datasets": described,
        "metrics": list(first["metrics"]),
        "tuning": first["tuning"],
        "seeds": sorted({cell.seed for _, cell in done}),
        "budget": _budget(gathered.studies),
        "not_run": _not_run(gathered, reasons or {}),
        "left_out": dict(left_out or {}),
        "notes": list(notes),
        "environments": [
            {key: study.get(key) for key in ("written", "versions", "machine")} for study in gathered.studies
        ],
    }
    files = {
        MANIFEST: (json.dumps(manifest, indent=1, ensure_ascii=False) + "\n").encode(),
        RESULTS: compressed_csv(_values(done)),
        CELLS: compressed_csv(_cells(done)),
        USERS: users,
    }
    known = {dataset: row for dataset, row in gathered.characteristics.items() if dataset in splits}
    if known:
        rows = [{c.DATASET: dataset, **row} for dataset, row in sorted(known.items())]
        files[CHARACTERISTICS] = compressed_csv(pl.DataFrame(rows))
    place = Path(target)
    place.mkdir(parents=True, exist_ok=True)
    for file, content in files.items():
        write_whole(place / file, content)
    return {file: len(content) for file, content in files.items()}


def _budget(studies: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The largest limits of a cell that a study had; None: no limit."""
    budgets = [study["study"].get("budget", {}) for study in studies]
    limits = {name: [budget.get(name) for budget in budgets] for name in ("seconds_per_cell", "memory_gb")}
    return {name: None if None in values else max(values) for name, values in limits.items()}


def _make_splits(gathered: _Gathered, data: Path) -> None:
    """Make the splits that no study has kept, in the folder of the first study that used them, and describe them."""
    made: set[Path] = set()
    kept = {str(cell.split) for folder, cell in gathered.done() if is_prepared(folder, str(cell.split))}
    for folder, cell in gathered.done():
        if str(cell.split) in kept:
            continue
        dataset = gathered.datasets[cell.dataset]
        file = data / Path(str(dataset["reference"])).name
        spec = DatasetSpec(reference=str(file.resolve()), name=cell.dataset, read=dataset.get("read", {}))
        split = SplitSpec.model_validate(cell.spec["split"])
        if dataset_version(spec, ".") != split.data:
            raise InputError(f"is not the file that {cell.dataset} was", where=str(file), fix="give the same data")
        prepare_split(folder, split, spec, ".")
        kept.add(str(cell.split))
        made.add(folder)
    for folder in made:
        gathered.describe(folder)


def _splits(done: Sequence[tuple[Path, CellRecord]]) -> dict[str, tuple[CellRecord, str]]:
    """By dataset, a cell of it and the fingerprint of its split."""
    fingerprints: dict[str, str] = {}
    found: dict[str, tuple[CellRecord, str]] = {}
    for folder, cell in done:
        split = str(cell.split)
        if split not in fingerprints:
            try:
                fingerprints[split] = split_record(folder, split).fingerprint
            except InputError:
                continue  # another study has kept it
        known = found.setdefault(cell.dataset, (cell, fingerprints[split]))
        if known[1] != fingerprints[split]:
            raise InputError(
                f"the studies divide {cell.dataset} in two ways, so their values cannot stand in one table",
                where=str(folder),
                fix="leave one of the studies out",
            )
    lacking = sorted({cell.dataset for _, cell in done} - set(found))
    if lacking:
        raise InputError(
            f"no study has kept the split of {', '.join(lacking)}", fix="copy the folder `splits` of the study, too"
        )
    return dict(sorted(found.items()))


def _values(done: Sequence[tuple[Path, CellRecord]]) -> pl.DataFrame:
    rows = []
    for _, cell in done:
        costs = {
            "seconds_fit": cell.seconds_fit,
            "seconds_predict": cell.seconds_predict,
            "memory": None if cell.memory is None else cell.memory / 1e6,
            "joules": (cell.energy or {}).get("joules_fit"),
        }
        known = {**cell.metrics, **{name: costs[name] for name in COST_METRICS}}
        rows += [
            (cell.algorithm, cell.dataset, label, rounded(value), cell.seed)
            for label, value in known.items()
            if value is not None
        ]
    schema = {c.ALGORITHM: pl.String, c.DATASET: pl.String, c.METRIC: pl.String, c.VALUE: pl.Float64, c.SEED: pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row").sort(c.METRIC, c.DATASET, c.ALGORITHM, c.SEED)


def _cells(done: Sequence[tuple[Path, CellRecord]]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                c.ALGORITHM: cell.algorithm,
                c.DATASET: cell.dataset,
                c.SEED: cell.seed,
                "seconds": rounded(cell.seconds),
                "joules": rounded((cell.energy or {}).get("joules")),
                "energy": (cell.energy or {}).get("how"),
                "validation": rounded(cell.validation),
                "parameters": json.dumps({key: _short(value) for key, value in (cell.parameters or {}).items()}),
            }
            for _, cell in done
        ],
        schema_overrides={"joules": pl.Float64, "energy": pl.String, "validation": pl.Float64},
        infer_schema_length=None,
    )


def _users(done: Sequence[tuple[Path, CellRecord]]) -> tuple[bytes, dict[str, int]]:
    """The file of users' values, and by dataset how many users are judged."""
    sums: dict[tuple[str, str], list[Any]] = {}
    judged: dict[str, int] = {}
    for folder, cell in done:
        with Store.open(folder) as store:
            scores = store.per_user(cell.id)
        if USER_METRIC not in scores.columns:
            continue
        values = scores.sort(c.USER).get_column(USER_METRIC).cast(pl.Float64).fill_null(np.nan).to_numpy()
        if judged.setdefault(cell.dataset, len(values)) == len(values):
            chosen = values[sampled_users(cell.dataset, len(values))]
            sums.setdefault((cell.dataset, cell.algorithm), []).append(chosen)
    rows = [
        {c.DATASET: dataset, c.ALGORITHM: algorithm, "scores": packed(np.mean(values, axis=0))}
        for (dataset, algorithm), values in sorted(sums.items())
    ]
    schema = {c.DATASET: pl.String, c.ALGORITHM: pl.String, "scores": pl.Binary}
    content = io.BytesIO()
    pl.DataFrame(rows, schema=schema).write_parquet(content, compression="zstd", compression_level=19)
    return content.getvalue(), judged


def _not_run(gathered: _Gathered, reasons: Mapping[str, str]) -> list[dict[str, str]]:
    """Every algorithm and dataset without a finished cell, with the reason."""
    complete = {(cell.algorithm, cell.dataset) for _, cell in gathered.done()}
    algorithms = sorted({key[0] for key in (*gathered.cells, *gathered.waiting)} | set(reasons))
    datasets = sorted({dataset for _, dataset in complete})
    said = {(key[0], key[1]): cell.reason or cell.status for key, (_, cell) in gathered.cells.items()}
    return [
        {
            c.ALGORITHM: algorithm,
            c.DATASET: dataset,
            "reason": said.get((algorithm, dataset)) or reasons.get(algorithm) or "not started when the time was up",
        }
        for algorithm in algorithms
        for dataset in datasets
        if (algorithm, dataset) not in complete
    ]


def _short(value: Any) -> Any:
    return rounded(value) if isinstance(value, float) else value
