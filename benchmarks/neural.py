"""What the neural algorithms cost on ml-1m: seconds per epoch and to convergence, lists for everyone, peak memory.

python benchmarks/neural.py [NAMES ...] [--dataset ml-1m] [--data DIR] [--device auto]
    [--epochs 3] [--converge] [--linear] [--json FILE]

Every rating counts; a random 8:1:1 split within each user. `epoch` is the median time of `--epochs` epochs after a
first one that is not counted; with `--converge` training goes on as a study's does (20 stages of at most 100 epochs,
ended by 4 without a better nDCG@10 on the validation part), and `to best` is the training time up to the best stage,
`all` that of the whole training with its validation. `lists` is the time of a top 10 for all users. `GPU MB` is the
peak that torch allocated, `said MB` what the algorithm declares. The KDD'24 authors report 94 s (MultiVAE), 999 s
(LightGCN) and 9,080 s (LightGCL) to fit on ml-1m. `--linear` times EASE and the neighbour algorithms on the processor
and on the GPU instead, compares their lists, and times EASE for 20,000 items on the GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recassay.algorithms.kernels.device import gpu_name, settled_device
from recassay.algorithms.neural.algorithm import NeuralAlgorithm
from recassay.core.registry import algorithms
from recassay.core.seeds import derived_rng
from recassay.core.specs.specs import ProtocolSpec, ReadSpec
from recassay.core.specs.study import PATIENCE
from recassay.core.types import Interactions, Split
from recassay.data.readers import read_interactions
from recassay.metrics.evaluate import evaluate
from recassay.metrics.make import make_metric
from recassay.metrics.recommend import recommend_all
from recassay.protocol.apply import apply_protocol

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("RECASSAY_DATA", ROOT.parent / "shared" / "data")) / "interactions"
EVERYTHING = ProtocolSpec(
    filter="none", min_user_interactions=1, min_item_interactions=1, split="random_per_user", ratios=(0.8, 0.1, 0.1)
)
METRIC = make_metric("ndcg@10")
MOST_EPOCHS = 100


def read_split(name: str, folder: Path = DATA, protocol: ProtocolSpec = EVERYTHING, *, time: str = "auto") -> Split:
    """A dataset under a protocol."""
    read = ReadSpec.checked(time=time)
    return apply_protocol(read_interactions(folder / f"{name}.parquet", read).interactions, protocol)


def ndcg(model: Any, judged: Interactions, seen: Interactions) -> float:
    """Mean nDCG@10 of the users of `judged`, the items of `seen` left out of the lists."""
    exclude = seen.csr()
    top = recommend_all(model, np.unique(judged.user).astype(np.int32), 10, exclude=exclude, n_items=seen.n_items)
    return float(evaluate(top, judged.csr(), [METRIC], train=exclude).mean()[METRIC.label])


@dataclass(frozen=True)
class Trained:
    """A training that was stopped by the validation part."""

    model: Any
    epochs: int
    valid: float
    trained_epochs: int
    seconds_to_best: float
    seconds_training: float
    seconds: float


def stopped_early(algorithm: Any, split: Split, rng: np.random.Generator) -> Trained:
    """Train on the training part; keep the model of the best stage."""
    begin, training, since = time.perf_counter(), 0.0, 0
    best: tuple[float, Any, float] = (-1.0, None, 0.0)
    done = 0
    for model, seconds in _timed(algorithm.fit_steps(split.train, rng=rng)):
        training, since, done = training + seconds, since + 1, model.iterations
        value = ndcg(model, split.valid, split.train)
        if value > best[0]:
            best, since = (value, model, training), 0
        if since >= PATIENCE:
            break
    total = time.perf_counter() - begin
    return Trained(best[1], best[1].iterations, best[0], done, best[2], training, total)


def _timed(steps: Iterator[Any]) -> Iterator[tuple[Any, float]]:
    """Every step with the seconds it took."""
    while True:
        begin = time.perf_counter()
        try:
            model = next(steps)
        except StopIteration:
            return
        yield model, time.perf_counter() - begin


def measure(kind: Any, split: Split, device: str, epochs: int, converge: bool) -> dict[str, Any]:
    """One row of the table."""
    import torch

    used = settled_device(device, kind.name)
    before = 0
    if used == "cuda":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
    sizes = split.train.n_users, split.train.n_items, len(split.train)
    made = kind(epochs=MOST_EPOCHS, device=device)
    timed = []
    for model, seconds in _timed(
        kind(epochs=epochs + 1, device=device).fit_steps(split.train, rng=derived_rng(1, "b"))
    ):
        timed.append(seconds)
        last = model
    users, seen = np.arange(split.train.n_users, dtype=np.int32), split.train.csr()
    begin = time.perf_counter()
    last.recommend(users, 10, exclude=seen)
    row: dict[str, Any] = {
        "algorithm": kind.name,
        "epoch": statistics.median(timed[1:]),
        "lists": time.perf_counter() - begin,
    }
    if converge:
        found = stopped_early(made, split, derived_rng(1, kind.name))
        row |= {
            "to best": found.seconds_to_best,
            "all": found.seconds,
            "epochs": found.epochs,
            "valid": found.valid,
            "test": ndcg(found.model, split.test, split.refit()),
        }
    if used == "cuda":
        row["GPU MB"] = (torch.cuda.max_memory_allocated() - before) / 1e6
        row["said MB"] = made.gpu_memory_bytes(*sizes) / 1e6
    else:
        row["host MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        row["said MB"] = made.memory_bytes(*sizes) / 1e6
    return row


def linear_rows(split: Split, names: list[str]) -> Iterator[dict[str, Any]]:
    """EASE, neighbours and filters on processor and GPU: seconds, and how far their lists agree."""
    users, seen = np.arange(split.train.n_users, dtype=np.int32), split.train.csr()
    for name in names or ("EASE", "ItemKNN", "UserKNN", "GF-CF", "Turbo-CF"):
        answers, row = [], {"algorithm": name}
        for device in ("cuda", "cpu"):
            for _ in range(2 if device == "cuda" else 1):
                begin = time.perf_counter()
                model = algorithms.get(name)(device=device).fit(split.train, rng=derived_rng(1))
                fitted = time.perf_counter()
                top = model.recommend(users, 10, exclude=seen)
                listed = time.perf_counter()
            row |= {f"fit {device}": fitted - begin, f"lists {device}": listed - fitted}
            answers.append(top)
        agree = answers[0].items == answers[1].items
        apart = np.abs(answers[0].scores - answers[1].scores) / np.maximum(np.abs(answers[0].scores), 1e-9)
        yield row | {"same items": float(agree.mean()), "scores apart": float(apart.max())}


def large_rows() -> Iterator[dict[str, Any]]:
    """EASE on the GPU for 20,000 items, on made-up events: what a large catalogue costs."""
    rng = derived_rng(1, "large")
    n_users, n_items, n = 50_000, 20_000, 2_000_000
    item = np.minimum((n_items * rng.random(n) ** 2).astype(np.int32), n_items - 1)
    users, items = (pl.Series(np.arange(size)) for size in (n_users, n_items))
    train = Interactions(rng.integers(n_users, size=n).astype(np.int32), item, users=users, items=items)
    for _ in range(2):
        begin = time.perf_counter()
        model = algorithms.get("EASE")(device="cuda").fit(train, rng=derived_rng(1))
        fitted = time.perf_counter()
        model.recommend(np.arange(n_users, dtype=np.int32), 10, exclude=train.csr())
        listed = time.perf_counter()
    yield {"algorithm": "EASE", "items": n_items, "fit cuda": fitted - begin, "lists cuda": listed - fitted}


def show(row: dict[str, Any]) -> None:
    """Print one row."""
    print("  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{v!s:10}" for k, v in row.items()), flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--dataset", default="ml-1m")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--converge", action="store_true")
    parser.add_argument("--linear", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    split = read_split(options.dataset, options.data)
    print(f"{options.dataset}: {split.train.n_users} users, {split.train.n_items} items, {len(split.train)} events")
    print(gpu_name() or "no GPU", flush=True)
    names = options.names or [name for name in algorithms.names() if issubclass(algorithms.get(name), NeuralAlgorithm)]
    rows: list[dict[str, Any]] = []
    for row in chain(linear_rows(split, options.names), large_rows()) if options.linear else ():
        rows.append(row)
        show(row)
    for name in () if options.linear else names:
        try:
            rows.append(measure(algorithms.get(name), split, options.device, options.epochs, options.converge))
        except Exception as error:
            rows.append({"algorithm": name, "error": f"{type(error).__name__}: {error}"})
        show(rows[-1])
        if options.json is not None:
            options.json.write_text(json.dumps(rows, indent=1))
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
