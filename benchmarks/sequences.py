"""Sequential algorithms on public files, beside published values: the last event of each user, all items ranked.

python benchmarks/sequences.py [--data DIR] [--datasets NAMES ...] [--models NAMES ...] [--device auto]
    [--limit-seconds S] [--out FILE]

The last event of each user is judged, the one before it is for validation, lists leave out what the user has had.
Training sees neither of the two. Networks are validated every few epochs and stop when they no longer get better; rules
are chosen from a small grid by validation. Then lists are made from the history with the validation event, without
refitting; rows that say `refitted` were trained again with it, which published values are not. `train s` holds the
validations, too; `lists s` is a top 10 for all users. Each row is printed as soon as it is done, the most important
first; `--limit-seconds` ends a training that is under way, and what has not begun is left out. `cpu s` is the processor
time of training, all threads together: on a shared machine it says more than the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recassay.algorithms.kernels.device import gpu_name, settled_device, torch
from recassay.algorithms.neural.bert4rec import BERT4Rec
from recassay.algorithms.neural.gru4rec import GRU4Rec
from recassay.algorithms.neural.sasrec import ESASRec, SASRec
from recassay.algorithms.sequential import rules, session_knn
from recassay.core.histories import Histories
from recassay.core.interactions import Interactions
from recassay.core.seeds import derived_rng

DATA = Path(os.environ.get("RECASSAY_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
FILES = {
    "ml-1m": "sequences/ml-1m",
    "beauty-bert4rec": "sequences/beauty-bert4rec",
    "beauty": "interactions/amazon-beauty-seq",
    "sports": "interactions/amazon-sports-seq",
    "toys": "interactions/amazon-toys-seq",
    "ml-100k": "interactions/ml-100k",
}

NETWORKS: dict[str, Any] = {kind.name: kind for kind in (SASRec, ESASRec, BERT4Rec, GRU4Rec)}
AMAZON = {"length": 50, "embedding": 128, "batch": 256}
MASKED = {**AMAZON, "length": 20, "masked": 0.4, "dropout": 0.2}
SOFTMAX = {**AMAZON, "loss": "softmax", "dropout": 0.5}


@dataclass(frozen=True)
class Cell:
    """One row: an algorithm with its parameters on a dataset, how it is trained, and what was published."""

    dataset: str
    algorithm: str
    settings: dict[str, Any] = field(default_factory=dict)
    published: str = ""
    most_seconds: float = 60.0
    every: int = 5
    """Epochs between validations."""


CELLS = [
    Cell("ml-1m", "SASRec", {"dropout": 0.2, "embedding": 256}, ".1821 softmax, .1857 sampled"),
    Cell("beauty-bert4rec", "SASRec", {**SOFTMAX, "layers": 1, "dropout": 0.4}, ".0327, .0295", every=3),
    Cell("beauty-bert4rec", "SASRec", {**SOFTMAX, "layers": 1, "embedding": 256}, ".0327, .0295", every=3),
    Cell("beauty", "SASRec", {**SOFTMAX, "length": 20}, ".0531 sampled", every=3),
    Cell("toys", "SASRec", SOFTMAX, ".0580 sampled", every=3),
    Cell("sports", "SASRec", SOFTMAX, ".0314 sampled", every=3),
    Cell("beauty-bert4rec", "BERT4Rec", MASKED, ".0187", 170, every=4),
    Cell("beauty-bert4rec", "BERT4Rec", {**MASKED, "dropout": 0.3, "rate": 0.002}, ".0187", 170, every=4),
    Cell("ml-1m", "BERT4Rec", {"embedding": 128}, ".1537", 90, every=10),
    Cell("ml-1m", "GRU4Rec", {"embedding": 256, "dropout": 0.2}, "", 90, every=3),
    Cell("ml-1m", "SASRec", {"dropout": 0.2, "embedding": 128, "batch": 256, "rate": 0.002}, ".1821 softmax"),
    Cell("beauty", "SASRec", SOFTMAX, ".0531 sampled", every=3),
    Cell("beauty", "SASRec", {**SOFTMAX, "loss": "sampled", "negatives": 4000}, ".0531 sampled", every=3),
    Cell("beauty", "eSASRec", {**AMAZON, "negatives": 2000, "dropout": 0.5}, ".0523", every=3),
    Cell("ml-100k", "SASRec", {}, "", 300, every=4),
    Cell("ml-1m", "SASRec", {"loss": "bce", "dropout": 0.2}, ".1341"),
    Cell("ml-1m", "SASRec", {"loss": "gbce", "dropout": 0.2, "embedding": 128}, ".1726"),
    Cell("ml-1m", "eSASRec", {"embedding": 128}, ""),
    *(Cell(name, "GRU4Rec", {**AMAZON, "dropout": 0.4}, "", every=3) for name in ("beauty", "toys", "sports")),
]  # fmt: skip

OWN_RULES = {"ml-1m": ".1507", "beauty-bert4rec": ".0346", "beauty": ".0517", "sports": ".0314", "toys": ".0610"}
GRIDS: dict[str, list[dict[str, Any]]] = {
    "MarkovChain": [{}],
    "SequentialRules": [
        {"steps": steps, "last": 50, "decay": decay, "confidence": confidence}
        for steps in (10, 20)
        for decay in (1.0, 1.25, 1.5)
        for confidence in (0.0, 0.25, 0.5, 1.0)
    ],
    "AssociationRules": [{"last": last} for last in (1, 5)],
    "V-SKNN": [{"k": 100, "last": last, "position": 2} for last in (5, 20)],
    "STAN": [{"decay": decay, "nearby": 1.81} for decay in (1.81, 3.62)],
}
"""What is chosen from by validation."""


@dataclass(frozen=True)
class Parts:
    """The events before the last two, those with the validation event, and the two items of each user."""

    train: Interactions
    known: Interactions
    valid: Any
    test: Any


@dataclass(frozen=True)
class Row:
    """What a cell gave."""

    dataset: str
    algorithm: str
    settings: dict[str, Any]
    valid: float
    ndcg: float
    hit_rate: float
    train_seconds: float
    cpu_seconds: float
    list_seconds: float
    epochs: int
    ended: str
    published: str


def columns_of(name: str, folder: Path) -> tuple[Any, Any]:
    """(user, item) of every event in order, as positions."""
    stem = FILES[name]
    file = folder / f"{stem}.parquet"
    if not file.exists():
        sys.exit(f"no {stem}.parquet in {folder}: name the folder with --data")
    frame = pl.read_parquet(file)
    frame = frame.sort("user", "position" if "position" in frame.columns else "timestamp", maintain_order=True)
    user, item = (
        np.unique(frame[part].to_numpy(), return_inverse=True)[1].astype(np.int32) for part in ("user", "item")
    )
    return user, item


def parts_of(name: str, folder: Path) -> Parts:
    """The split of a dataset."""
    user, item = columns_of(name, folder)
    tables = [pl.Series(part, np.arange(ids.max() + 1)) for part, ids in (("user", user), ("item", item))]
    from_end = np.cumsum(np.bincount(user))[user] - np.arange(len(user))
    parts = [
        Interactions(user=user[from_end > last], item=item[from_end > last], users=tables[0], items=tables[1])
        for last in (2, 1)
    ]
    return Parts(*parts, valid=item[from_end == 2], test=item[from_end == 1])


def judged(top: Any, truth: Any) -> tuple[float, float]:
    """(nDCG@10, hit rate@10) of lists with one relevant item each."""
    hits = top.items == truth[:, None]
    return float((hits / np.log2(np.arange(hits.shape[1]) + 2)).sum(1).mean()), float(hits.any(1).mean())


def tested(model: Any, parts: Parts) -> tuple[float, float, float]:
    """(nDCG@10, hit rate@10, seconds of the lists) after the histories with the validation event."""
    users = np.arange(parts.known.n_users, dtype=np.int32)
    histories, seen = Histories.of(parts.known, users), parts.known.csr()
    started = time.perf_counter()
    top = model.recommend_from(histories, 10, exclude=seen)
    return *judged(top, parts.test), time.perf_counter() - started


def trained(cell: Cell, parts: Parts, device: str, until: float) -> Row:
    """A network, validated every few epochs until it no longer gets better, or the time is over."""
    algorithm = NETWORKS[cell.algorithm](**{"device": device, **cell.settings})
    some = derived_rng(0, "validated users").permutation(parts.train.n_users)[:8000].astype(np.int32)
    seen, best, chosen, waited, epochs, ended = parts.train.csr(), -1.0, None, 0, 0, "its epochs are over"
    started, spent = time.perf_counter(), time.process_time()
    until = min(until, started + cell.most_seconds)
    training = algorithm.training(parts.train, derived_rng(1, "sequences"))
    while epochs < algorithm.epochs:
        training.advance(cell.every)
        epochs += cell.every
        model = training.model()
        value, _ = judged(model.recommend(some, 10, exclude=seen), parts.valid[some])
        waited = 0 if value > best else waited + 1
        if value > best:
            best, chosen = value, model
        elapsed = time.perf_counter() - started
        print(
            f"  {cell.dataset} {cell.algorithm} epoch {epochs}: {value:.4f} after {elapsed:.1f} s",
            file=sys.stderr,
            flush=True,
        )
        if waited == 4:
            ended = "no longer better"
            break
        if time.perf_counter() + elapsed / epochs * cell.every > until:
            ended = "the time is over"
            break
    took = time.perf_counter() - started, time.process_time() - spent
    ndcg, hit_rate, list_seconds = tested(chosen, parts)
    settings = {**cell.settings}
    done = chosen.iterations if chosen is not None else 0
    return Row(
        cell.dataset, cell.algorithm, settings, best, ndcg, hit_rate, *took, list_seconds, done, ended, cell.published
    )


def counted(dataset: str, name: str, parts: Parts) -> Iterator[Row]:
    """Rules or neighbours, chosen by validation: fed with the validation event, and refitted with it."""
    kinds = {**vars(rules), **vars(session_knn), "V-SKNN": session_knn.VSKNN}
    users, seen = np.arange(parts.train.n_users, dtype=np.int32), parts.train.csr()
    started, spent = time.perf_counter(), time.process_time()
    tried = []
    for settings in GRIDS[name]:
        model = kinds[name](**settings).fit(parts.train, rng=derived_rng(1, "sequences"))
        tried.append((judged(model.recommend(users, 10, exclude=seen), parts.valid)[0], len(tried), settings, model))
    valid, _, settings, model = max(tried, key=lambda trial: trial[:2])
    searched = time.perf_counter() - started, time.process_time() - spent
    published = OWN_RULES.get(dataset, "") if name == "SequentialRules" else ""
    ndcg, hit_rate, seconds = tested(model, parts)
    yield Row(dataset, name, settings, valid, ndcg, hit_rate, *searched, seconds, 0, f"{len(tried)} tried", published)
    started, spent = time.perf_counter(), time.process_time()
    model = kinds[name](**settings).fit(parts.known, rng=derived_rng(1, "sequences"))
    fitted = time.perf_counter() - started, time.process_time() - spent
    ndcg, hit_rate, seconds = tested(model, parts)
    yield Row(dataset, f"{name}, refitted", settings, valid, ndcg, hit_rate, *fitted, seconds, 0, "one fit", "")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--datasets", nargs="*", default=list(FILES))
    parser.add_argument("--models", nargs="*", default=[*dict.fromkeys(cell.algorithm for cell in CELLS), *GRIDS])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--limit-seconds", type=float, default=3600.0)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    until = time.perf_counter() + asked.limit_seconds
    device = "cpu"
    if set(asked.models) - GRIDS.keys():
        device = settled_device(asked.device, "this benchmark")
        print(f"device {device} {gpu_name() if device == 'cuda' else ''} torch {torch.__version__}", flush=True)
    seconds = f"{'train s':>8} {'cpu s':>8} {'lists s':>8}"
    head = f"{'dataset':16} {'algorithm':26} {'valid':>6} {'nDCG@10':>8} {'HR@10':>7} {seconds} epochs"
    print(f"{head}  published nDCG@10; settings", flush=True)
    rows: list[Row] = []
    loaded: dict[str, Parts] = {}

    def show(row: Row) -> None:
        rows.append(row)
        settings = " ".join(f"{name}={value}" for name, value in row.settings.items())
        print(
            f"{row.dataset:16} {row.algorithm:26} {row.valid:6.4f} {row.ndcg:8.4f} {row.hit_rate:7.4f} "
            f"{row.train_seconds:8.1f} {row.cpu_seconds:8.1f} {row.list_seconds:8.2f} {row.epochs:6}  "
            f"{row.published or '-'}; {settings} ({row.ended})",
            flush=True,
        )
        if asked.out:
            asked.out.parent.mkdir(parents=True, exist_ok=True)
            asked.out.write_text(json.dumps([asdict(row) for row in rows], indent=1))

    def part(name: str) -> Parts:
        if name not in loaded:
            loaded[name] = parts_of(name, asked.data)
        return loaded[name]

    for cell in CELLS:
        if cell.dataset in asked.datasets and cell.algorithm in asked.models and until - time.perf_counter() > 10:
            show(trained(cell, part(cell.dataset), device, until))
    for name in asked.datasets:
        for model in (model for model in GRIDS if model in asked.models and time.perf_counter() < until):
            for row in counted(name, model, part(name)):
                show(row)


if __name__ == "__main__":
    main()
