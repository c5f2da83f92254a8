"""Nine metrics at k = 10 for all users of ml-1m, against other libraries on the same lists.

python benchmarks/metrics.py [--peer-python PATH ...] [--json FILE]

Ratings of at least 3.5, a random fifth of every user's held out, lists of 10 from a truncated SVD with seen
items excluded. Every library starts from its own input format, prepared before the clock starts (ours: arrays
and a sparse matrix). A peer runs in a process of its own, in this interpreter or in the first of
`--peer-python` that has it (RecTools needs an older numpy than the others). The data is looked for in
RECASSAY_DATA, else in ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse.linalg import svds

from recassay.core.ranking import select_top
from recassay.core.types import Interactions, TopK
from recassay.metrics.accuracy import NDCG, AveragePrecision, HitRate, Precision, Recall, ReciprocalRank
from recassay.metrics.beyond import Novelty
from recassay.metrics.diversity import Diversity
from recassay.metrics.evaluate import evaluate
from recassay.metrics.exposure import Coverage
from recassay.metrics.lists import recommendations_to_topk

K = 10
HERE = Path(__file__).resolve().parent
PEERS = ("ranx", "RecTools", "recommenders", "torchmetrics")
SIX = [Precision(K), Recall(K), NDCG(K), AveragePrecision(K, "by_relevant"), ReciprocalRank(K), HitRate(K)]
NINE = [*SIX, Coverage(K), Diversity(K), Novelty(K)]
OURS = {
    "precision": "precision@10",
    "recall": "recall@10",
    "ndcg": "ndcg@10",
    "ndcg[ideal_k]": "ndcg@10[ideal_k]",
    "map": "map@10[by_relevant]",
    "map[by_min]": "map@10",
    "map[by_k]": "map@10[by_k]",
    "map[by_hits]": "map@10[by_hits]",
    "mrr": "mrr@10",
    "hit_rate": "hitrate@10",
    "coverage": "coverage@10",
    "coverage[train]": "coverage@10[train]",
    "diversity": "diversity@10",
    "novelty": "novelty@10",
}


def load() -> tuple[Interactions, Interactions]:
    """Training and test part of ml-1m."""
    folder = Path(os.environ.get("RECASSAY_DATA", HERE.parent.parent / "shared" / "data"))
    path = folder / "interactions" / "ml-1m.parquet"
    if not path.exists():
        raise SystemExit(f"{path} is not there: set RECASSAY_DATA to the folder that holds interactions/ml-1m.parquet")
    rows = pl.read_parquet(path).filter(pl.col("rating") >= 3.5)
    users, user = np.unique(rows.get_column("user").to_numpy(), return_inverse=True)
    items, item = np.unique(rows.get_column("item").to_numpy(), return_inverse=True)
    data = Interactions(user.astype(np.int32), item.astype(np.int32), pl.Series(users), pl.Series(items))
    order = np.lexsort((np.random.default_rng(1).random(len(data)), data.user))
    count = np.bincount(data.user)
    place = np.empty(len(data), dtype=np.int64)
    place[order] = np.arange(len(data)) - np.repeat(np.cumsum(count) - count, count)
    held_out = place < np.ceil(0.2 * (count - 1))[data.user]
    return data.take(~held_out), data.take(held_out)


def clock(compute: Callable[[], Any], times: int = 7) -> dict[str, float]:
    """Seconds of the first call and of the fastest of the others."""
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        compute()
        seconds.append(time.perf_counter() - started)
    return {"cold": seconds[0], "warm": min(seconds[1:])}


def run_peer(name: str, case: Path, pythons: list[str]) -> dict[str, Any] | None:
    """The peer's report from the first interpreter that has it, None where none has."""
    for python in pythons:
        done = subprocess.run([python, str(HERE / "metrics_peers.py"), name, str(case)], capture_output=True, text=True)
        if done.returncode == 0:
            return dict(json.loads(done.stdout.splitlines()[-1]))
        if "PackageNotFoundError" not in done.stderr:
            print(f"{name} failed: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
    return None


def table(rows: list[tuple[str, ...]]) -> str:
    """Rows of text in columns."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def main() -> None:
    """Measure ours and every peer, print times, ratios and whether the values agree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer-python", action="append", default=[], help="a further interpreter to look for peers in")
    parser.add_argument("--json", type=Path, help="write the measurements here")
    options = parser.parse_args()

    train, test = load()
    seen, truth = train.csr(), test.csr()
    left, weight, right = svds(seen, k=32, rng=np.random.default_rng(0))
    scores = ((left * weight) @ right).astype(np.float32)
    selection = clock(lambda: select_top(scores, K, exclude=seen, rng=np.random.default_rng(0)), 5)
    items, best = select_top(scores, K, exclude=seen, rng=np.random.default_rng(0))
    users = np.flatnonzero(np.diff(truth.indptr)).astype(np.int32)
    top = TopK(users, items[users], best[users])
    frame = pl.DataFrame(
        {
            "user": train.users.gather(np.repeat(users, K)),
            "item": train.items.gather(top.items.ravel()),
            "score": top.scores.ravel(),
        }
    )
    print(f"ml-1m: {len(users)} users evaluated, {seen.shape[1]} items, {seen.nnz} training interactions")
    print(f"top {K} of {scores.shape[0]} x {scores.shape[1]} scores: {selection['warm'] * 1e3:.0f} ms\n")

    def from_frames() -> None:
        lists = recommendations_to_topk(frame, train, rng=np.random.default_rng(0)).top
        evaluate(lists, test, SIX, train=train)

    ours = {
        "accuracy": clock(lambda: evaluate(top, truth, SIX, train=seen)),
        "accuracy, from tables": clock(from_frames),
        "coverage, novelty": clock(lambda: evaluate(top, truth, [Coverage(K), Novelty(K)], train=seen)),
        "diversity": clock(lambda: evaluate(top, truth, [Diversity(K)], train=seen)),
        "all nine": clock(lambda: evaluate(top, truth, NINE, train=seen)),
    }
    extra = [
        NDCG(K, "ideal_k"),
        Coverage(K, "train"),
        *(AveragePrecision(K, v) for v in ("by_min", "by_k", "by_hits")),
    ]
    values = evaluate(top, truth, [*NINE, *extra], train=seen).mean()

    with tempfile.TemporaryDirectory() as folder:
        case = Path(folder) / "case.npz"
        parts = {"train": train, "test": test}
        np.savez(
            case,
            users=top.users,
            items=top.items,
            scores=top.scores,
            n_items=np.array(seen.shape[1]),
            **{f"{name}_user": part.user for name, part in parts.items()},
            **{f"{name}_item": part.item for name, part in parts.items()},
        )
        reports = {name: run_peer(name, case, [sys.executable, *options.peer_python]) for name in PEERS}

    rows = [("library", "metrics", "cold ms", "warm ms", "times ours (warm)", "largest difference of a value")]
    rows += [("RecAssay", g, f"{t['cold'] * 1e3:.1f}", f"{t['warm'] * 1e3:.1f}", "", "") for g, t in ours.items()]
    for name, report in reports.items():
        if report is None:
            rows.append((name, "not installed", "", "", "", ""))
            continue
        for group, timed in report["groups"].items():
            same = [(theirs, values[OURS[n]]) for n, theirs in timed["values"].items() if n in OURS]
            rows.append(
                (
                    f"{name} {report['versions'][name]}",
                    f"{group} ({len(timed['values'])})",
                    f"{timed['cold'] * 1e3:.1f}",
                    f"{timed['warm'] * 1e3:.1f}",
                    f"{timed['warm'] / ours[group]['warm']:.0f}" if group in ours else "",
                    f"{max(abs(a - b) for a, b in same):.1e}" if same else "",
                )
            )
    print(table(rows))
    print("\n" + "  ".join(f"{label} {value:.4f}" for label, value in values.items()))
    if options.json:
        options.json.write_text(
            json.dumps({"select": selection, "ours": ours, "values": values, "peers": reports}, indent=1)
        )


if __name__ == "__main__":
    main()
