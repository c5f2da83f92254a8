"""Rules and nearest sessions beside session-rec: its top lists on its sample, seconds on a million events.

python benchmarks/session_rec.py CHECKOUT [--data DIR] [--histories 20000] [--theirs 200] [--out FILE]

CHECKOUT is a copy of github.com/rn5l/session-rec; pandas must be installed. Nothing is written there.

Lists: its folder `data/rsc15` has a sample of Yoochoose and the top 50 items that its AR, SR and V-SKNN gave for 387
histories. Scores are compared item by item, each list divided by its largest score. Its rules are cut to the 20 best of
each item, ours are not: listed scores alone are compared. Its V-SKNN weighs by inverse document frequency, which is one
factor per item; ours are multiplied by it before they are compared.

Seconds: Diginetica's sessions (GCE-GNN's files, 906,140 events of training), top 20 after the test sessions without
their last event. Ours answer all of them, kernels compiled before; theirs `--theirs`. All are seconds of the processor,
for both on one thread where NUMBA_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import time
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recassay.algorithms.sequential.rules import AssociationRules, MarkovChain, SequentialRules
from recassay.algorithms.sequential.session_knn import STAN, VSKNN
from recassay.core.histories import Histories
from recassay.core.interactions import Interactions
from recassay.core.seeds import derived_rng

DATA = Path(os.environ.get("RECASSAY_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
IDF_WEIGHT = 5.0
"""`idf_weighting` of its V-SKNN lists, found from their first scores, as were k, the number of steps and the decays."""
LISTS: dict[str, Any] = {
    "ar": AssociationRules(),
    "sr": SequentialRules(last=1, confidence=0.0, steps=20, weighting="1/distance^2"),
    "vsknn": VSKNN(k=500, sample=2500, position=2, score_position=1, last=200),
}
TIMED: dict[str, tuple[Any, tuple[str, str, dict[str, Any]]]] = {
    "AssociationRules": (AssociationRules(), ("baselines.ar", "AssociationRules", {})),
    "SequentialRules": (SequentialRules(last=1, confidence=0.0), ("baselines.sr", "SequentialRules", {})),
    "MarkovChain": (MarkovChain(), ("baselines.markov", "MarkovModel", {})),
    "V-SKNN": (VSKNN(), ("knn.vsknn", "VMContextKNN", {"k": 100})),
    "STAN": (STAN(), ("knn.stan", "STAN", {"k": 500})),
}


def log_of(sessions: Any, items: Any, times: Any, n_items: int) -> Interactions:
    """Events whose sessions are users."""
    user = pd.factorize(sessions)[0].astype(np.int32)
    tables = pl.Series(np.arange(user.max() + 1)), pl.Series(np.arange(n_items))
    return Interactions(user, np.asarray(items, dtype=np.int32), *tables, time=np.asarray(times, dtype=np.int64))


def after(prefixes: Sequence[Any]) -> Histories:
    """Histories of given items."""
    lengths = np.cumsum([0, *map(len, prefixes)]).astype(np.int64)
    return Histories(np.concatenate(prefixes).astype(np.int32), lengths)


def lists(checkout: Path) -> list[dict[str, Any]]:
    """Its published lists beside ours."""
    folder = checkout / "data" / "rsc15"
    train, test = (
        pd.read_csv(folder / "prepared" / f"yoochoose-clicks-100k_{part}.txt", sep="\t").sort_values(
            ["SessionId", "Time"]
        )
        for part in ("train_full", "test")
    )
    ids = np.unique(train.ItemId)
    stamps = (train.Time * 1000).round()
    log = log_of(train.SessionId, np.searchsorted(ids, train.ItemId), stamps, len(ids))
    frequency = np.log(train.SessionId.nunique() / np.bincount(log.item))
    sessions = {session: np.searchsorted(ids, part.ItemId) for session, part in test.groupby("SessionId")}
    holders = [set(log.user[log.item == item].tolist()) for item in range(len(ids))]
    rows = []
    for name, algorithm in LISTS.items():
        published = pd.read_csv(folder / "recommendations" / f"recoms_rsc15_100k_{name}.csv", sep=";")
        prefixes = [
            sessions[session][: place + 1]
            for session, place in zip(published.SessionId, published.Position, strict=True)
        ]
        model = algorithm.fit(log, rng=derived_rng(0, "session-rec"))
        top = model.recommend_from(after(prefixes), min(600, len(ids)), exclude=None)
        weight = 1 + IDF_WEIGHT * frequency if name == "vsknn" else np.ones(len(ids))
        gaps, tied = [], []
        for row, (items, values) in enumerate(zip(published.Recommendations, published.Scores, strict=True)):
            scores = np.zeros(len(ids))
            scores[top.items[row]] = np.maximum(top.scores[row], 0) * weight[top.items[row]]
            theirs = np.array(values.split(","), dtype=float)
            listed = np.searchsorted(ids, np.array(items.split(","), dtype=np.int64))
            gaps.append(float(np.abs(scores[listed] / scores.max() - theirs)[theirs > 0].max(initial=0)))
            candidates = set().union(*(holders[item] for item in prefixes[row]))
            tied.append(name == "vsknn" and len(candidates) > algorithm.k)
        equal, cut = np.array(gaps) < 1e-5, np.array(tied)
        untied = f"{int((equal & ~cut).sum())} of {int((~cut).sum())}"
        gap = max(gaps)
        rows.append({"lists": name, "of": len(equal), "equal": int(equal.sum()), "largest gap": gap, "no ties": untied})
    return rows


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """(the answer, processor seconds)."""
    begin = time.process_time()
    return work(), time.process_time() - begin


def ours(algorithm: Any, log: Interactions, asked: Histories) -> dict[str, float]:
    """Seconds of our kernels, compiled by a first call on few events."""
    few = log.take(slice(0, 2000))
    algorithm.fit(few, rng=derived_rng(0, "warm")).recommend_from(asked.last(2), 20, exclude=None)
    model, fit = timed(lambda: algorithm.fit(log, rng=derived_rng(0, "timed")))
    _, answer = timed(lambda: model.recommend_from(asked, 20, exclude=None))
    return {"fit s": fit, "lists s": answer, "ms per list": 1000 * answer / len(asked)}


def theirs(module: str, kind: str, settings: dict[str, Any], frame: Any, asked: Sequence[Any]) -> dict[str, float]:
    """Seconds of session-rec."""
    peer = getattr(importlib.import_module(f"algorithms.{module}"), kind)(**settings)
    items = np.arange(frame.ItemId.max() + 1)

    def ask() -> None:
        for session, prefix in enumerate(asked):
            for place, item in enumerate(prefix):
                scores = peer.predict_next(-2 - session, item, items, skip=place < len(prefix) - 1, timestamp=0)
            scores.nlargest(20)

    _, fit = timed(lambda: peer.fit(frame))
    _, answer = timed(ask)
    return {"their fit s": fit, "their ms per list": 1000 * answer / len(asked)}


def seconds(checkout: Path, data: Path, most: int, fewer: int) -> list[dict[str, Any]]:
    """Both implementations on Diginetica."""
    sys.path.insert(0, str(checkout))
    unused = types.ModuleType("pympler")  # imported there, and not called
    vars(unused)["asizeof"] = None
    sys.modules.setdefault("pympler", unused)
    vars(np).setdefault("in1d", np.isin)  # its name in older versions
    train, test = (
        pl.read_parquet(data / "sequences" / f"diginetica-sessions-{part}.parquet").sort("user", "position")
        for part in ("train", "test")
    )
    ids = np.unique(train["item"].to_numpy())
    item = np.searchsorted(ids, train["item"].to_numpy())
    log = log_of(train["user"].to_numpy(), item, np.arange(len(item)), len(ids))
    frame = pd.DataFrame({"SessionId": log.user, "ItemId": log.item, "Time": np.arange(len(item))})
    known = test.filter(pl.col("item").is_in(ids)).partition_by("user", maintain_order=True)
    asked = [np.searchsorted(ids, part["item"].to_numpy()[:-1]) for part in known if len(part) > 1][:most]
    return [
        {"algorithm": name, "events": len(item), "lists": len(asked)}
        | ours(algorithm, log, after(asked))
        | theirs(*peer, frame, asked[:fewer])
        for name, (algorithm, peer) in TIMED.items()
    ]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--histories", type=int, default=20_000)
    parser.add_argument("--theirs", type=int, default=200)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    found = {"lists": lists(asked.checkout)}
    found["seconds"] = seconds(asked.checkout, asked.data, asked.histories, asked.theirs)
    for rows in found.values():
        print(pl.DataFrame(rows).write_csv(float_precision=3))
    if asked.out:
        asked.out.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
