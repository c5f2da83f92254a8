"""Ship the boards: from the records of the grid to the folders `board` and `board-time` of the published tables.

python3 benchmarks/board/export.py CELLS.jsonl... --machines MACHINES.jsonl... [--onto FOLDER] [--to FOLDER]

With `--onto` the records are put over the boards that a folder has, where those of the whole grid are at hand no more:
a cell that they have done takes the place of the shipped one. A dataset that is judged in several windows has the mean
over them, and only where all are done, seed by seed. Of a cell that several files have, the last one that is done
counts. What the datasets are stands in `benchmarks/open/datasets.toml`.

The first seed has a search; a further one is a fit with the parameters that this search chose. A cell of a further seed
counts only where it has those parameters: one that is left of an earlier search is dropped. Users' values are those of
the first seed.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recassay.core import columns as c
from recassay.core.system.files import write_whole
from recassay.data.published.benchmark import (
    CELLS,
    CHARACTERISTICS,
    MANIFEST,
    RESULTS,
    USERS,
    compressed_csv,
    rounded,
)

HERE = Path(__file__).resolve().parent
SHIPPED = HERE.parents[1] / "src" / "recassay" / "data" / "published"
FOLDERS = {"random": "board", "time": "board-time"}
MOST_BYTES = 3_000_000
FIRST = 1
"""The seed that has a search of its own."""
NOT_STARTED = "not started when the grid's time was up"
KEY = (c.ALGORITHM, c.DATASET, c.SEED)
CELL_TYPES = {
    c.ALGORITHM: pl.String, c.DATASET: pl.String, c.SEED: pl.Int64, "window": pl.Int64, "trials": pl.Int64,
    "seconds": pl.Float64, "joules": pl.Float64, "energy": pl.String, "device": pl.String, "validation": pl.Float64,
    "parameters": pl.String,
}  # fmt: skip
Record = Mapping[str, Any]
Done = Mapping[tuple[str, str, int], Sequence[Record]]
"""By algorithm, dataset and seed, the cells of all windows."""


def records(files: Iterable[Path]) -> list[Record]:
    """Every whole line."""
    found = []
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:
                continue  # the grid was stopped while it wrote
    return found


def settled(lines: Sequence[Record], board: str) -> dict[tuple[str, str, str, int], Record]:
    """The cells of a board by algorithm, dataset, window and seed: the last that is done, else the last."""
    cells: dict[tuple[str, str, str, int], Record] = {}
    for one in lines:
        if one["what"] == "cell" and one["board"] == board:
            key = one["algorithm"], one["dataset"], one["fold"], int(one["seed"])
            if key not in cells or one["status"] == "done" or cells[key]["status"] != "done":
                cells[key] = one
    return cells


@dataclass(frozen=True)
class Tables:
    """What a shipped board is made of: its manifest, and tables of values, cells, users and datasets."""

    manifest: dict[str, Any]
    values: pl.DataFrame
    cells: pl.DataFrame
    users: dict[tuple[str, str], bytes]
    """By dataset and algorithm, the packed values of users."""
    characteristics: pl.DataFrame

    @classmethod
    def read(cls, folder: Path) -> Tables:
        """The board that a folder holds."""
        users = pl.read_parquet(folder / USERS).iter_rows()
        tables = (pl.read_csv(folder / name, infer_schema_length=None) for name in (RESULTS, CELLS, CHARACTERISTICS))
        values, cells, characteristics = tables
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        scores = {(dataset, algorithm): packed for dataset, algorithm, packed in users}
        return cls(manifest, values, cells.cast(CELL_TYPES), scores, characteristics)

    def write(self, target: Path) -> dict[str, int]:
        """Write the five files; their sizes."""
        rows = [{c.DATASET: d, c.ALGORITHM: a, "scores": packed} for (d, a), packed in sorted(self.users.items())]
        users = io.BytesIO()
        schema = {c.DATASET: pl.String, c.ALGORITHM: pl.String, "scores": pl.Binary}
        pl.DataFrame(rows, schema=schema).write_parquet(users, compression="zstd", compression_level=19)
        files = {
            MANIFEST: (json.dumps(self.manifest, indent=1, ensure_ascii=False) + "\n").encode(),
            RESULTS: compressed_csv(self.values.sort(c.METRIC, c.DATASET, c.ALGORITHM, c.SEED)),
            CELLS: compressed_csv(self.cells.sort(*KEY, "window", maintain_order=True)),
            USERS: users.getvalue(),
            CHARACTERISTICS: compressed_csv(self.characteristics),
        }
        target.mkdir(parents=True, exist_ok=True)
        for file, content in files.items():
            write_whole(target / file, content)
        return {file: len(content) for file, content in files.items()}


class Found:
    """What the records of a grid have of a board: splits, cells, and those that are done in all their windows."""

    def __init__(self, lines: Sequence[Record], board: str) -> None:
        of_board = [one for one in lines if one["what"] == "split" and one["board"] == board]
        self.splits = {(one["dataset"], one["fold"]): one for one in of_board if one["status"] == "done"}
        self.folds: dict[str, list[str]] = {}
        for dataset, fold in sorted(self.splits):
            self.folds.setdefault(dataset, []).append(fold)
        self.cells = settled(lines, board)
        keys = sorted({(algorithm, dataset, seed) for algorithm, dataset, _, seed in self.cells})
        groups = {(a, d, s): [self.cells.get((a, d, fold, s)) for fold in self.folds.get(d, ())] for a, d, s in keys}
        self.done: Done = {
            key: [one for one in windows if one is not None]
            for key, windows in groups.items()
            if windows and all(one is not None and one["status"] == "done" for one in windows)
        }

    def fingerprints(self, dataset: str) -> list[str]:
        """The content hashes of the windows of a dataset, the oldest first."""
        return [self.splits[dataset, fold]["fingerprint"] for fold in self.folds[dataset]]

    def reason(self, algorithm: str, dataset: str) -> str | None:
        """Why an algorithm has no value on a dataset; None where that is not recorded."""
        windows = [self.cells.get((algorithm, dataset, fold, FIRST)) for fold in self.folds.get(dataset, ["-1"])]
        return next((str(one["reason"]) for one in windows if one is not None and one["status"] != "done"), None)


def fresh(lines: Sequence[Record], board: str, machines: Sequence[Record]) -> Tables:
    """A board from the records of a whole grid."""
    study, found = tomllib.loads((HERE / f"{board}.toml").read_text()), Found(lines, board)
    known = tomllib.loads((HERE / "datasets.toml").read_text())
    about = tomllib.loads((HERE.parent / "open" / "datasets.toml").read_text())["datasets"] | known["datasets"]
    judged = {dataset: sum(one["judged"] for one in windows) for (_, dataset, _), windows in found.done.items()}
    described, rows = {}, []
    for name in study["study"]["datasets"]:
        hashes, last = found.fingerprints(name), found.splits[name, found.folds[name][-1]]
        described[name] = {
            "reference": f"{name}.parquet",
            "read": {},
            "protocol": last["protocol"],
            "split": last["fingerprint"],
            "judged": judged[name],
            **({"windows": hashes} if len(hashes) > 1 else {}),
            **{key: about[name][key] for key in ("family", "licence", "source")},
        }
        rows.append({c.DATASET: name, **last["characteristics"]})
    manifest = {
        "name": FOLDERS[board],
        "datasets": described,
        "metrics": [*next(iter(found.done.values()))[0]["metrics"]],
        "tuning": {
            "trials": study["tuning"]["trials"],
            "metric": study["tuning"]["metric"],
            "pruning": True,
            "seconds": max(one["search"] for one in machines),
        },
        "budget": {"seconds_per_cell": max(one["hard"] for one in machines), "memory_gb": study["budget"]["memory_gb"]},
    }
    none = Tables({"not_run": [], "environments": []}, _values({}), _cells({}), {}, pl.DataFrame(rows))
    return _joined(replace(none, manifest=manifest | none.manifest), found, board, machines)


def merged(base: Tables, lines: Sequence[Record], board: str, machines: Sequence[Record]) -> Tables:
    """A shipped board with further records: a cell that they have done takes the place of the one it has.

    The records must be of the board's own splits, and of its limits.
    """
    found, limits = Found(lines, board), {(one["search"], one["hard"]) for one in machines}
    for name in found.folds:
        one = base.manifest["datasets"][name]
        if found.fingerprints(name) != one.get("windows", [one["split"]]):
            raise SystemExit(f"{board}: the records of {name} are of another split than the board's")
    lacking = {dataset for (_, dataset, _, _), one in found.cells.items() if one["status"] == "done"} - set(found.folds)
    if lacking:
        raise SystemExit(f"{board}: no record of the split of {', '.join(sorted(lacking))}")
    if limits - {(base.manifest["tuning"]["seconds"], base.manifest["budget"]["seconds_per_cell"])}:
        raise SystemExit(f"{board}: the records were made under other limits than the board's: {limits}")
    return _joined(base, found, board, machines)


def _joined(base: Tables, found: Found, board: str, machines: Sequence[Record]) -> Tables:
    """The tables of a board with what was found put over them."""
    study = tomllib.loads((HERE / f"{board}.toml").read_text())["study"]
    known = tomllib.loads((HERE / "datasets.toml").read_text())
    new = pl.DataFrame([*found.done], schema={name: CELL_TYPES[name] for name in KEY}, orient="row")
    values = pl.concat([base.values.join(new, on=KEY, how="anti"), _values(found.done)])
    cells = pl.concat([base.cells.join(new, on=KEY, how="anti"), _cells(found.done)])
    stale = _of_another_search(cells)
    refused = [f"{a} on {d} with seed {s}" for a, d, s in stale.rows() if (a, d, s) in found.done]
    if refused:
        raise SystemExit(f"{board}: not the parameters that seed {FIRST} has: {', '.join(refused)}")
    if stale.height:
        print(f"{board}: dropped, since their parameters are those of another search: {stale.height} further seeds")
    values, cells = (table.join(stale, on=KEY, how="anti") for table in (values, cells))
    seeds = cells.select(KEY).unique().group_by(KEY[:2]).len()["len"].value_counts().sort("len").rows()
    complete = {(algorithm, dataset) for algorithm, dataset in values.select(KEY[:2]).unique().iter_rows()}
    before = {(gap[c.ALGORITHM], gap[c.DATASET]): gap["reason"] for gap in base.manifest["not_run"]}
    not_run = [
        {c.ALGORITHM: a, c.DATASET: d, "reason": found.reason(a, d) or before.get((a, d), NOT_STARTED)}
        for a, d in product(study["algorithms"], study["datasets"])
        if (a, d) not in complete
    ]
    ran = [{key: one[key] for key in ("written", "versions", "machine")} for one in machines]
    manifest = base.manifest | {
        "tuning": base.manifest["tuning"] | {"seed": FIRST},
        "seeds": cells[c.SEED].unique().sort().to_list(),
        "cells_by_seeds": {str(number): of for number, of in seeds},
        "not_run": not_run,
        "left_out": known["left_out"][board],
        "environments": [*base.manifest["environments"], *ran],
        "notes": [*known["notes"]["both"], *known["notes"][board]],
    }
    return Tables(manifest, values, cells, base.users | _users(found.done), base.characteristics)


def _of_another_search(cells: pl.DataFrame) -> pl.DataFrame:
    """The keys of cells of further seeds that lack the parameters of the first seed in one of their windows."""
    known = {
        (algorithm, dataset, window): json.loads(text)
        for algorithm, dataset, seed, window, text in cells.select(*KEY, "window", "parameters").iter_rows()
        if seed == FIRST
    }
    stale = {
        (algorithm, dataset, seed)
        for algorithm, dataset, seed, window, text in cells.select(*KEY, "window", "parameters").iter_rows()
        if known.get((algorithm, dataset, window)) != json.loads(text)
    }
    return pl.DataFrame(sorted(stale), schema={name: CELL_TYPES[name] for name in KEY}, orient="row")


def _mean(windows: Sequence[Record], value: Any) -> float | None:
    """The mean over the windows, None where one has no value."""
    values = [value(one) for one in windows]
    return None if any(known is None for known in values) else rounded(float(np.mean(values)))


def _values(done: Done) -> pl.DataFrame:
    """The values of every seed; costs are those of the first, which alone has searched."""
    rows = []
    for (algorithm, dataset, seed), windows in done.items():
        known = {label: _mean(windows, lambda one, label=label: one["metrics"].get(label))
                 for label in windows[0]["metrics"]}  # fmt: skip
        if seed == FIRST:
            known |= _costs(windows)
        rows += [(algorithm, dataset, label, value, seed) for label, value in known.items() if value is not None]
    schema = {c.ALGORITHM: pl.String, c.DATASET: pl.String, c.METRIC: pl.String, c.VALUE: pl.Float64, c.SEED: pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _costs(windows: Sequence[Record]) -> dict[str, float | None]:
    known = {label: _mean(windows, lambda one, name=name: one[name])
             for label, name in (("seconds_fit", "seconds_fit"), ("seconds_predict", "seconds_predict"),
                                 ("joules", "joules_fit"))}  # fmt: skip
    # A GPU's energy is not measured while cells share it.
    known["joules"] = None if any(one["gpu"] for one in windows) else known["joules"]
    return known | {"memory": _mean(windows, lambda one: None if one["memory"] is None else one["memory"] / 1e6)}


def _cells(done: Done) -> pl.DataFrame:
    """One row per finished cell, of several windows one row per window."""
    return pl.DataFrame(
        [
            {
                c.ALGORITHM: algorithm,
                c.DATASET: dataset,
                c.SEED: seed,
                "window": number if len(windows) > 1 else None,
                "trials": len(one["trials"]),
                "seconds": one["seconds"],
                "joules": None if one["gpu"] else one["joules"],
                "energy": None if one["gpu"] else one["energy"],
                "device": "gpu" if one["gpu"] else "cpu",
                "validation": one["validation"],
                "parameters": json.dumps(one["parameters"]),
            }
            for (algorithm, dataset, seed), windows in done.items()
            for number, one in enumerate(windows)
        ],
        schema=CELL_TYPES,
        infer_schema_length=None,
    )


def _users(done: Done) -> dict[tuple[str, str], bytes]:
    """By dataset and algorithm the values of users with the first seed, window after window."""
    return {
        (dataset, algorithm): b"".join(base64.b64decode(one["users"]) for one in windows)
        for (algorithm, dataset, seed), windows in done.items()
        if seed == FIRST
    }


def main() -> None:
    """Export both boards, and say how large they are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cells", nargs="*", type=Path, metavar="CELLS")
    parser.add_argument("--machines", nargs="*", type=Path, default=[])
    parser.add_argument("--onto", type=Path, help=f"the folder of the boards to begin with, such as {SHIPPED.name}")
    parser.add_argument("--to", type=Path, default=SHIPPED)
    options = parser.parse_args()
    lines, machines = records(options.cells), records(options.machines)
    total = 0
    for board, folder in FOLDERS.items():
        onto = None if options.onto is None else Tables.read(options.onto / folder)
        tables = fresh(lines, board, machines) if onto is None else merged(onto, lines, board, machines)
        for file, size in tables.write(options.to / folder).items():
            print(f"{folder}/{file}: {size:,} bytes")
            total += size
    if total > MOST_BYTES:
        raise SystemExit(f"together {total:,} bytes, more than {MOST_BYTES:,}")


if __name__ == "__main__":
    main()
