"""A bundle made of the finished study of one algorithm: nothing of the data and nothing of this machine's places."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError
from recassay.core.system.places import shareable
from recassay.core.system.plain import plain
from recassay.core.system.printable import one_line
from recassay.core.types import IntArray, Split
from recassay.data.published.benchmark import Benchmark
from recassay.metrics.make import as_metrics
from recassay.metrics.protocol import has_user_values
from recassay.recommenders.bundle.form import array_name, pack, sampled_places
from recassay.recommenders.seal import FILE, read_seal
from recassay.recommenders.splits import load_split
from recassay.runner.references import is_part_file
from recassay.store.records import CellRecord
from recassay.store.store import Store

_COPIED = ("id", "status", "finished", "validation", "seconds", "seconds_fit", "seconds_predict", "memory")
_MACHINE = ("processor", "cores", "memory_bytes", "gpu", "workers", "threads")


def user_metrics(metrics: tuple[str, ...]) -> list[str]:
    """The labels of those with a value per user, in their order."""
    return [metric.label for metric in as_metrics(metrics) if has_user_values(metric)]


def list_depth(metrics: tuple[str, ...]) -> int:
    """As many places as the deepest metric looks at."""
    return max(metric.k or 0 for metric in as_metrics(metrics))


def by_name(ids: pl.Series) -> IntArray:
    """The order of ids as texts: that of numbers and of texts with the same digits is the same one."""
    return ids.cast(pl.String).arg_sort().to_numpy().astype(np.int64)


def benchmark_hash(shipped: Benchmark) -> str:
    """The hash of a benchmark's rules: splits, metrics, tuning and budget. Seeds may be added later."""
    rules = {
        "datasets": {name: [one.split, one.windows] for name, one in shipped.datasets.items()},
        **{key: getattr(shipped, key) for key in ("name", "metrics", "tuning", "budget")},
    }
    return hashlib.sha256(json.dumps(plain(rules), sort_keys=True).encode()).hexdigest()


def make_bundle(folder: Path, shipped: Benchmark, algorithm: str) -> bytes:
    """The bundle of the study in `folder`, whose plan was sealed before its first cell."""
    arrays: dict[str, bytes] = {}
    with Store.open(folder) as store:
        manifest, records = store.manifest(), store.cells()
        tried = store.trials()
        cells = []
        for place, record in enumerate(records):
            cells.append(_cell(record, tried.filter(pl.col("cell") == record.id)))
            if record.status == "done":
                split = load_split(folder, str(record.split))
                cells[-1] |= {"split": split.fingerprint} | _arrays(store, record, split, shipped, place, arrays)
    reference = next(one["reference"] for one in manifest["study"]["algorithms"] if one["name"] == algorithm)
    machine = manifest.get("machine", {})
    content = {
        "benchmark": shipped.name,
        "benchmark_sha256": benchmark_hash(shipped),
        "algorithm": algorithm,
        "reference": None if is_part_file(reference) else reference,
        "versions": manifest.get("versions", {}),
        "machine": {"system": str(machine.get("system", "")).partition("-")[0]}
        | {key: machine[key] for key in _MACHINE if key in machine},
        "seal": read_seal(folder / FILE),
        "cells": cells,
    }
    text = json.dumps(content, ensure_ascii=False)
    if shareable(text) != text:
        raise InputError(
            "a setting or a parameter holds a path or the name of this machine, which no bundle may tell",
            where=str(folder), fix="name the file relative to your algorithm",
        )  # fmt: skip
    return pack(content, arrays)


def _cell(record: CellRecord, trials: pl.DataFrame) -> dict[str, Any]:
    """A cell as JSON; what it says of a failure is cut down to what strangers may read."""
    tried = [
        {"state": row["state"], "parameters": json.loads(row["parameters"]), "value": row[c.VALUE],
         "seconds": row["seconds"]}
        for row in trials.sort("number").iter_rows(named=True)
    ]  # fmt: skip
    return plain({
        **{name: getattr(record, name) for name in _COPIED},
        "spec": dict(record.spec),
        "split": None,
        "judged": 0,
        "reason": None if record.reason is None else one_line(shareable(record.reason), 300),
        "parameters": dict(record.parameters or {}),
        "joules": (record.energy or {}).get("joules_fit"),
        "metrics": dict(record.metrics),
        "trials": tried,
    })  # fmt: skip


def _arrays(
    store: Store, record: CellRecord, split: Split, shipped: Benchmark, place: int, arrays: dict[str, bytes]
) -> dict[str, int]:
    """Put the users' values and the sampled lists of a cell into `arrays`; how many users were judged."""
    scores = store.per_user(record.id)
    scores = scores[by_name(scores.get_column(c.USER)).tolist()]
    values = scores.select(pl.col(user_metrics(shipped.metrics)).cast(pl.Float32).fill_null(np.nan)).to_numpy().T
    arrays[array_name("users", place)] = values.astype("<f4").tobytes()
    sampled = scores.get_column(c.USER).unique(maintain_order=True).gather(sampled_places(scores.height))
    items = split.train.items
    rank = items.gather(by_name(items)).to_frame(c.ITEM).with_row_index("place")
    depth = list_depth(shipped.metrics)
    # Where one user is asked for after several histories, lists do not stand for users: none is kept.
    kept = record.spec["split"]["protocol"].get("target", "all") == "all"
    rows = store.top_lists(record.id) if kept else store.top_lists(record.id).clear()
    rows = rows.filter((pl.col(c.RANK) <= depth) & pl.col(c.USER).is_in(sampled.implode()))
    rows = rows.join(sampled.to_frame("user").with_row_index("row"), left_on=c.USER, right_on="user")
    rows = rows.join(rank, on=c.ITEM)
    lists = np.full((sampled.len(), depth), -1, dtype="<i4")
    lists[rows["row"].to_numpy(), rows[c.RANK].to_numpy() - 1] = rows["place"].to_numpy()
    arrays[array_name("lists", place)] = lists.tobytes()
    return {"judged": scores.height}
