"""Ship the boards: from the records of the grid to the folders `board` and `board-time` of the published tables.

python3 benchmarks/board/export.py CELLS.jsonl... --machines MACHINES.jsonl... [--to FOLDER]

A dataset that is judged in several windows has the mean over them, and only where all are done. Of a cell that several
files have, the last one that is done counts. What the datasets are stands in `benchmarks/open/datasets.toml`.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
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
Record = Mapping[str, Any]


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


def export(lines: Sequence[Record], board: str, machines: Sequence[Record], target: Path) -> dict[str, int]:
    """Write one board; the sizes of its files."""
    study = tomllib.loads((HERE / f"{board}.toml").read_text())
    known = tomllib.loads((HERE / "datasets.toml").read_text())
    about = tomllib.loads((HERE.parent / "open" / "datasets.toml").read_text())["datasets"] | known["datasets"]
    splits = {(one["dataset"], one["fold"]): one for one in lines if one["what"] == "split" and one["board"] == board
              and one["status"] == "done"}  # fmt: skip
    folds = {name: sorted(fold for dataset, fold in splits if dataset == name) for name in study["study"]["datasets"]}
    cells = settled(lines, board)
    keys = sorted({(algorithm, dataset, seed) for algorithm, dataset, _, seed in cells})
    groups = {(a, d, s): [cells.get((a, d, fold, s)) for fold in folds[d]] for a, d, s in keys}
    done = {
        key: [one for one in windows if one is not None]
        for key, windows in groups.items()
        if all(one is not None and one["status"] == "done" for one in windows)
    }
    judged = {dataset: sum(one["judged"] for one in windows) for (_, dataset, _), windows in done.items()}
    described = {}
    for name, own in folds.items():
        windows = [splits[name, fold] for fold in own]
        described[name] = {
            "reference": f"{name}.parquet",
            "read": {},
            "protocol": windows[-1]["protocol"],
            "split": windows[-1]["fingerprint"],
            "judged": judged[name],
            **({"windows": [one["fingerprint"] for one in windows]} if len(windows) > 1 else {}),
            **{key: about[name][key] for key in ("family", "licence", "source")},
        }
    manifest = {
        "name": FOLDERS[board],
        "datasets": described,
        "metrics": [*next(iter(done.values()))[0]["metrics"]],
        "tuning": {
            "trials": study["tuning"]["trials"],
            "metric": study["tuning"]["metric"],
            "pruning": True,
            "seconds": max(one["search"] for one in machines),
        },
        "seeds": sorted({seed for _, _, seed in done}),
        "budget": {"seconds_per_cell": max(one["hard"] for one in machines), "memory_gb": study["budget"]["memory_gb"]},
        "not_run": _not_run(study["study"], folds, cells, done),
        "left_out": known["left_out"][board],
        "environments": [{key: one[key] for key in ("written", "versions", "machine")} for one in machines],
        "notes": [*known["notes"]["both"], *known["notes"][board]],
    }
    files = {
        MANIFEST: (json.dumps(manifest, indent=1, ensure_ascii=False) + "\n").encode(),
        RESULTS: compressed_csv(_values(done)),
        CELLS: compressed_csv(_cells(done)),
        USERS: _users(done),
        CHARACTERISTICS: compressed_csv(
            pl.DataFrame([{c.DATASET: name, **splits[name, own[-1]]["characteristics"]} for name, own in folds.items()])
        ),
    }
    target.mkdir(parents=True, exist_ok=True)
    for file, content in files.items():
        write_whole(target / file, content)
    return {file: len(content) for file, content in files.items()}


def _mean(windows: Sequence[Record], value: Any) -> float | None:
    """The mean over the windows, None where one has no value."""
    values = [value(one) for one in windows]
    return None if any(known is None for known in values) else rounded(float(np.mean(values)))


def _values(done: Mapping[tuple[str, str, int], Sequence[Record]]) -> pl.DataFrame:
    rows = []
    for (algorithm, dataset, seed), windows in done.items():
        known = {label: _mean(windows, lambda one, label=label: one["metrics"].get(label))
                 for label in windows[0]["metrics"]}  # fmt: skip
        for label, name in (("seconds_fit", "seconds_fit"), ("seconds_predict", "seconds_predict"),
                            ("joules", "joules_fit")):  # fmt: skip
            known[label] = _mean(windows, lambda one, name=name: one[name])
        # A GPU's energy is not measured while cells share it.
        known["joules"] = None if any(one["gpu"] for one in windows) else known["joules"]
        known["memory"] = _mean(windows, lambda one: None if one["memory"] is None else one["memory"] / 1e6)
        rows += [(algorithm, dataset, label, value, seed) for label, value in known.items() if value is not None]
    schema = {c.ALGORITHM: pl.String, c.DATASET: pl.String, c.METRIC: pl.String, c.VALUE: pl.Float64, c.SEED: pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row").sort(c.METRIC, c.DATASET, c.ALGORITHM, c.SEED)


def _cells(done: Mapping[tuple[str, str, int], Sequence[Record]]) -> pl.DataFrame:
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
        schema_overrides={"joules": pl.Float64, "energy": pl.String, "validation": pl.Float64, "window": pl.Int64},
        infer_schema_length=None,
    )


def _users(done: Mapping[tuple[str, str, int], Sequence[Record]]) -> bytes:
    """By dataset and algorithm the values of users with the first seed, window after window."""
    scores: dict[tuple[str, str], bytes] = {}
    for (algorithm, dataset, _), windows in sorted(done.items()):
        scores.setdefault((dataset, algorithm), b"".join(base64.b64decode(one["users"]) for one in windows))
    rows = [{c.DATASET: d, c.ALGORITHM: a, "scores": packed} for (d, a), packed in sorted(scores.items())]
    content = io.BytesIO()
    schema = {c.DATASET: pl.String, c.ALGORITHM: pl.String, "scores": pl.Binary}
    pl.DataFrame(rows, schema=schema).write_parquet(content, compression="zstd", compression_level=19)
    return content.getvalue()


def _not_run(
    study: Mapping[str, Any],
    folds: Mapping[str, Sequence[str]],
    cells: Mapping[tuple[str, str, str, int], Record],
    done: Mapping[tuple[str, str, int], Sequence[Record]],
) -> list[dict[str, str]]:
    """Every algorithm and dataset without a value, with the reason."""
    complete = {(algorithm, dataset) for algorithm, dataset, _ in done}
    rows = []
    for algorithm in study["algorithms"]:
        for dataset in study["datasets"]:
            if (algorithm, dataset) in complete:
                continue
            windows = [cells.get((algorithm, dataset, fold, 1)) for fold in folds[dataset]]
            reasons = [str(one["reason"]) for one in windows if one is not None and one["status"] != "done"]
            rows.append({c.ALGORITHM: algorithm, c.DATASET: dataset,
                         "reason": reasons[0] if reasons else "not started when the grid's time was up"})  # fmt: skip
    return rows


def main() -> None:
    """Export both boards, and say how large they are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cells", nargs="+", type=Path, metavar="CELLS")
    parser.add_argument("--machines", nargs="+", type=Path, required=True)
    parser.add_argument("--to", type=Path, default=SHIPPED)
    options = parser.parse_args()
    lines, machines = records(options.cells), records(options.machines)
    total = 0
    for board, folder in FOLDERS.items():
        for file, size in export(lines, board, machines, options.to / folder).items():
            print(f"{folder}/{file}: {size:,} bytes")
            total += size
    if total > MOST_BYTES:
        raise SystemExit(f"together {total:,} bytes, more than {MOST_BYTES:,}")


if __name__ == "__main__":
    main()
