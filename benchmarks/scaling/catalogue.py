"""Fitting, lists of 10 and nDCG@10 by the number of items: time and memory of every algorithm, in a process of its own.

Half as many users as items, each with about 20 events in training and 2 in the test: seven in ten from a community of
200 items, the others from the whole catalogue by a power law. Lists are asked for and judged for `--users` users. One
thread. What an algorithm needs beside the data is its peak less what the process held before it was fitted (Linux;
elsewhere less the peak before).
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

from scaling.growth import Stages, exponent, in_process

ALGORITHMS: dict[str, dict[str, Any]] = {
    "MostPop": {},
    "ItemKNN": {"k": 100},
    "LocalEASE": {"neighbours": 100},
    "ALS": {"factors": 64, "iterations": 10},
    "BPR": {"factors": 64, "iterations": 10},
    "EASE": {},
}
STAGES = ("fit", "lists", "judge")
COMMUNITY = 200


def add_options(parser: argparse.ArgumentParser) -> None:
    """Sizes and algorithms; `--work` is how the section calls itself."""
    parser.add_argument("--items", type=float, nargs="+", default=[1e4, 3e4, 1e5])
    parser.add_argument("--algorithms", nargs="+", choices=list(ALGORITHMS), default=list(ALGORITHMS))
    parser.add_argument("--users", type=int, default=5000, help="users whose lists are made and judged")
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)


def main(chosen: argparse.Namespace) -> int:
    """Measure every size of every algorithm and print the table."""
    if chosen.work:
        print(json.dumps(work(chosen.work[0], int(chosen.work[1]), chosen.users)))
        return 0
    print(
        "CPU seconds on one thread, MB beside the data; exponents of the CPU seconds of fit and lists between the sizes"
    )
    print(f"{'':12} {'items':>9} {'events':>11} {'fit':>8} {'lists':>8} {'judge':>8} {'MB':>7} {'nDCG@10':>8}")
    for name in chosen.algorithms:
        records = []
        for items in chosen.items:
            given = [name, str(round(items)), "--users", str(chosen.users)]
            record = in_process(["catalogue", "--work", *given], threads=1)
            print(line(name, record), flush=True)
            records += [record] if "stages" in record else []
        if len(records) > 1:
            slopes = [
                f"{stage} {exponent([r['items'] for r in records], [r['stages'][stage]['cpu'] for r in records]):.2f}"
                for stage in STAGES[:2]
            ]
            print(f"{name:12} exponents: {', '.join(slopes)}", flush=True)
    return 0


def line(name: str, record: dict[str, Any]) -> str:
    """One row of the table, or why there is none."""
    if "refused" in record:
        return f"{name:12} {record['items']:>9,} {record['refused']}"
    found = record["stages"]
    cells = " ".join(f"{found[stage]['cpu']:8.2f}" for stage in STAGES)
    beside = (found["lists"]["peak"] - found["start"]["peak"]) / 1e6
    return f"{name:12} {record['items']:>9,} {record['events']:>11,} {cells} {beside:7.0f} {record['ndcg']:8.4f}"


def work(name: str, n_items: int, n_users: int) -> dict[str, Any]:
    """One algorithm on one size."""
    from recassay.core.errors import RecAssayError
    from recassay.core.registry import algorithms
    from recassay.metrics.evaluate import evaluate
    from recassay.metrics.recommend import recommend_all
    from recassay.runner.memory import reset_peak

    algorithm = algorithms.get(name)(**ALGORITHMS[name])
    small, _ = market(500, seed=2)
    algorithm.fit(small, rng=np.random.default_rng(0)).recommend(np.zeros(1, np.int32), 10, exclude=small.csr())
    train, test = market(n_items, seed=1)
    seen = train.csr()
    users = np.unique(test.user)[:n_users].astype(np.int32)
    asked = test.take(test.user <= users[-1])
    stages = Stages()
    reset_peak()
    with stages.stage("start"):
        pass
    try:
        with stages.stage("fit"):
            model = algorithm.fit(train, rng=np.random.default_rng(0))
    except RecAssayError as error:
        return {"items": n_items, "refused": str(error)}
    with stages.stage("lists"):
        top = recommend_all(model, users, 10, exclude=seen, n_items=train.n_items)
    with stages.stage("judge"):
        judged = evaluate(top, asked, ["ndcg@10"], train=train)
    return {"items": n_items, "events": len(train), "stages": stages.found, "ndcg": judged.mean()["ndcg@10"]}


def market(n_items: int, *, seed: int) -> tuple[Any, Any]:
    """(training, test) over a catalogue of `n_items`."""
    import polars as pl

    from recassay.core.types import Interactions

    rng = np.random.default_rng(seed)
    n_users = max(n_items // 2, 200)
    per_user = np.minimum(rng.geometric(1 / 18, n_users) + 4, 300)
    user = np.repeat(np.arange(n_users, dtype=np.int32), per_user)
    near = COMMUNITY * rng.integers(0, max(n_items // COMMUNITY, 1), n_users)[user]
    near = near + (COMMUNITY * rng.random(len(user)) ** 2).astype(np.int64)
    far = n_items * rng.random(len(user)) ** 3
    item = np.where(rng.random(len(user)) < 0.7, near, far).astype(np.int64)
    pair = np.unique(user.astype(np.int64) * n_items + np.minimum(item, n_items - 1))
    user, item = (pair // n_items).astype(np.int32), (pair % n_items).astype(np.int32)
    held_out = rng.random(len(user)) < 0.1
    tables = pl.Series("user", np.arange(n_users)), pl.Series("item", np.arange(n_items))
    train, test = (Interactions(user[part], item[part], *tables) for part in (~held_out, held_out))
    return train, test
