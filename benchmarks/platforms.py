"""How far results move between machines: the figures of docs/reproducibility.md.

    python benchmarks/platforms.py record x86.json                 # on one machine
    python benchmarks/platforms.py record gpu.json --device cuda   # on one with a GPU
    python benchmarks/platforms.py compare arm.json x86.json       # a row per analysis and algorithm

`record` runs every analysis on three tables (the suite's usual one, part of KDD'24's, and small numbers with ties) and
every algorithm on two small datasets with known tastes, makes every synthetic dataset, and keeps all their numbers.
`--only NAME,...` leaves others out.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
import zlib
from collections.abc import Collection, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import recassay
from recassay.core import registry
from recassay.core.analysis import AnalysisSpec
from recassay.core.errors import RecAssayError
from recassay.core.seeds import derived_rng
from recassay.core.system.plain import plain
from recassay.core.tables.results import Results
from recassay.data.synthetic.generate import generate
from recassay.data.synthetic.presets import PRESETS, preset_spec
from recassay.testing.analysis_examples import example_evidence, usual_case
from recassay.testing.examples import learnable_tastes

EPOCHS = 12
"""Of networks: enough that roundings have grown, few enough for a slow machine."""


def tables() -> Iterator[tuple[str, Results, str]]:
    """(what, results, metric)."""
    yield "usual", usual_case().results, "ndcg@10"
    frame = recassay.load_results("published:kdd24").frame
    datasets = frame["dataset"].unique(maintain_order=True)[:14]
    yield "kdd24", Results.from_frame(frame.filter(pl.col("dataset").is_in(datasets.implode()))), "ndcg@10"
    rng = np.random.default_rng(5)
    rounded = np.round(0.2 + 0.02 * np.arange(5)[:, None] + 0.04 * rng.normal(size=(5, 8)), 2)
    rows = [(f"a{i}", f"d{j}", "recall@10", float(value)) for (i, j), value in np.ndenumerate(rounded)]
    columns = ["algorithm", "dataset", "metric", "value"]
    yield "ties", Results.from_frame(pl.DataFrame(rows, schema=columns, orient="row")), "recall@10"


def flat(data: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every number and text of plain data, with its place."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from flat(value, f"{place}/{key}")
    elif isinstance(data, list):
        for i, value in enumerate(data):
            yield from flat(value, f"{place}/{i}")
    else:
        yield place, data


def analyses(only: set[str], known: Collection[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """By analysis and table, its numbers."""
    for what, results, metric in tables():
        evidence = example_evidence(results.datasets)
        spec = AnalysisSpec(metric, "error", None, 3, replicates=1000, evidence=evidence)
        for name in registry.analyses.names():
            if (only and name not in only) or f"{name} {what}" in known:
                continue
            try:
                answer = registry.analyses.get(name).run(results, spec)
            except RecAssayError:
                continue
            yield f"{name} {what}", dict(flat(plain(answer.to_dict())))


def algorithms(only: set[str], device: str, known: Collection[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """By algorithm, its lists and scores on two datasets."""
    for name in registry.algorithms.names():
        kind = registry.algorithms.get(name)
        if (only and name not in only) or name in known or not kind.__module__.startswith("recassay."):
            continue
        asked: dict[str, Any] = {"device": device} if "device" in getattr(kind, "limits", {}) else {}
        if device != "cpu" and not asked:
            continue
        if getattr(kind, "stopped_by", None) == "epochs":
            asked["epochs"] = EPOCHS
        lists = []
        for seed in (1, 2):
            train, test = learnable_tastes(seed=seed)
            top = kind(**asked).fit(train, rng=derived_rng(seed, "fit", name)).recommend(
                np.arange(train.n_users, dtype=np.int32), 10, exclude=train.csr()
            )  # fmt: skip
            hits = int(np.take_along_axis(test.csr().toarray(), np.maximum(top.items, 0), axis=1)[top.items >= 0].sum())
            scores = np.where(top.items < 0, 0, top.scores).tolist()
            lists.append({"items": top.items.tolist(), "scores": scores, "hits": hits})
        yield name, {"lists": lists}


def synthetic() -> Iterator[tuple[str, dict[str, Any]]]:
    """By preset, a hash of its events."""
    for name in PRESETS:
        data = generate(preset_spec(name, seed=1)).interactions
        parts = (data.user, data.item, data.time, data.weight)
        yield (
            name,
            {"hash": sha256(b"".join(np.ascontiguousarray(p).tobytes() for p in parts if p is not None)).hexdigest()},
        )


def record(path: Path, device: str, only: set[str]) -> None:
    """All numbers of this machine, packed; what the file has already is kept."""
    kept: dict[str, Any] = {"machine": f"{platform.machine()}, {device}, Python {platform.python_version()}"}
    if path.exists():
        kept = json.loads(zlib.decompress(path.read_bytes()))
    kinds = {"algorithms": algorithms(only, device, kept.get("algorithms", {}))}
    if device == "cpu":
        kinds = {"data": synthetic(), "analyses": analyses(only, kept.get("analyses", {})), **kinds}
    for kind, made in kinds.items():
        begin = time.perf_counter()
        for name, numbers in made:
            kept.setdefault(kind, {})[name] = numbers
            print(f"{time.perf_counter() - begin:8.1f} s  {name}", flush=True)
            begin = time.perf_counter()
            path.write_bytes(zlib.compress(json.dumps(kept).encode()))


def differences(old: dict[str, Any], new: dict[str, Any]) -> tuple[int, float, str]:
    """(texts that differ, the largest relative difference of numbers, where)."""
    worst, place, texts = 0.0, "", int(old.keys() != new.keys())
    for key in old.keys() & new.keys():
        a, b = old[key], new[key]
        if isinstance(a, (int, float)) and isinstance(b, (int, float)):
            apart = abs(a - b) / max(abs(a), abs(b), 1e-3) if a != b else 0.0
            if apart > worst:
                worst, place = apart, key
        elif a != b:
            texts, place = texts + 1, place or key
    return texts, worst, place


def compare(first: Path, second: Path) -> None:
    """A row per analysis and algorithm."""
    old, new = (json.loads(zlib.decompress(path.read_bytes())) for path in (first, second))
    print(f"{old['machine']} | {new['machine']}\n")
    same = {name: made == new["data"][name] for name, made in old.get("data", {}).items() if "data" in new}
    print(f"synthetic datasets with the same events: {sum(same.values())} of {len(same)}\n")
    print(
        "| analysis, table | numbers | texts that differ | largest relative difference | where |\n|---|---|---|---|---|"
    )
    for name, numbers in old.get("analyses", {}).items():
        if name in new.get("analyses", {}):
            texts, worst, place = differences(numbers, new["analyses"][name])
            print(f"| {name} | {len(numbers)} | {texts} | {f'{worst:.1e}' if worst else 'same bits'} | {place} |")
    print("\n| algorithm | equal places | largest relative difference of scores | hits |\n|---|---|---|---|")
    for name in old["algorithms"]:
        if name not in new["algorithms"]:
            continue
        pairs = list(zip(old["algorithms"][name]["lists"], new["algorithms"][name]["lists"], strict=True))
        places = np.mean([np.equal(a["items"], b["items"]).mean() for a, b in pairs])
        apart = max(float(np.abs(np.subtract(a["scores"], b["scores"])).max() / max(np.abs(a["scores"]).max(), 1e-30))
                    for a, b in pairs)  # fmt: skip
        hits = ", ".join(f"{a['hits']} and {b['hits']}" for a, b in pairs)
        print(f"| {name} | {places:.4f} | {f'{apart:.1e}' if apart else 'same bits'} | {hits} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("record", "compare"))
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    if asked.what == "record":
        record(asked.files[0], asked.device, {name for name in asked.only.split(",") if name})
    else:
        compare(*asked.files)
