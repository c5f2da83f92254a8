"""One other library's metrics on given lists, timed, as JSON: `python metrics_peers.py NAME CASE.npz`.

Runs in whatever interpreter has that library, and needs nothing of RecAssay. The case holds lists (`users`,
`items`, `scores`), `train_user`, `train_item`, `test_user`, `test_item`, `n_items`. Each library gets its own
input format before the clock starts. `cold` is the first call in a fresh process, `warm` the best of some
further calls.
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

K = 10
Case = dict[str, np.ndarray]
Timed = dict[str, Callable[[], dict[str, float]]]


def ranx(case: Case) -> Timed:
    """Precision, recall, nDCG, MAP, MRR, hit rate."""
    from ranx import Qrels, Run, evaluate

    truth: dict[str, dict[str, int]] = {}
    for user, item in zip(case["test_user"].tolist(), case["test_item"].tolist(), strict=True):
        truth.setdefault(str(user), {})[str(item)] = 1
    lists = {
        str(user): {str(item): float(len(row) - place) for place, item in enumerate(row)}
        for user, row in zip(case["users"].tolist(), case["items"].tolist(), strict=True)
    }
    qrels, run = Qrels(truth), Run(lists)
    names = ["precision", "recall", "ndcg", "map", "mrr", "hit_rate"]

    def six() -> dict[str, float]:
        values = evaluate(qrels, run, [f"{name}@{K}" for name in names])
        return {name: float(values[f"{name}@{K}"]) for name in names}

    return {"accuracy": six}


def rectools(case: Case) -> Timed:
    """The six accuracy metrics, coverage, novelty (its diversity is a Hamming distance: not compared)."""
    import pandas as pd
    from rectools import Columns
    from rectools.metrics import (
        MAP,
        MRR,
        NDCG,
        CatalogCoverage,
        HitRate,
        MeanInvUserFreq,
        Precision,
        Recall,
        calc_metrics,
    )

    rows, width = case["items"].shape
    lists = pd.DataFrame(
        {
            Columns.User: np.repeat(case["users"], width),
            Columns.Item: case["items"].ravel(),
            Columns.Rank: np.tile(np.arange(1, width + 1), rows),
        }
    )
    truth = pd.DataFrame({Columns.User: case["test_user"], Columns.Item: case["test_item"]})
    train = pd.DataFrame({Columns.User: case["train_user"], Columns.Item: case["train_item"]})
    catalogue = np.arange(int(case["n_items"]))
    six = {
        "precision": Precision(K),
        "recall": Recall(K),
        "ndcg": NDCG(K, divide_by_achievable=True),
        "ndcg[ideal_k]": NDCG(K),
        "map": MAP(K),
        "map[by_k]": MAP(K, divide_by_k=True),
        "mrr": MRR(K),
        "hit_rate": HitRate(K),
    }
    timed = {name: six[name] for name in ("precision", "recall", "ndcg", "map", "mrr", "hit_rate")}
    return {
        "accuracy": lambda: calc_metrics(timed, lists, truth),
        "variants": lambda: calc_metrics(six, lists, truth),
        "coverage, novelty": lambda: calc_metrics(
            {"coverage": CatalogCoverage(K, normalize=True), "novelty": MeanInvUserFreq(K)},
            lists,
            prev_interactions=train,
            catalog=catalogue,
        ),
    }


def recommenders(case: Case) -> Timed:
    """Precision, recall, nDCG and two MAPs (no MRR, no hit rate); coverage, novelty, diversity by cosine."""
    import pandas as pd
    from recommenders.evaluation import python_evaluation as theirs

    rows, width = case["items"].shape
    lists = pd.DataFrame(
        {
            "userID": np.repeat(case["users"], width),
            "itemID": case["items"].ravel(),
            "prediction": np.tile(np.arange(width, 0, -1, dtype=float), rows),
        }
    )
    truth = pd.DataFrame({"userID": case["test_user"], "itemID": case["test_item"], "rating": 1.0})
    train = pd.DataFrame({"userID": case["train_user"], "itemID": case["train_item"], "rating": 1.0})
    functions = {
        "precision": theirs.precision_at_k,
        "recall": theirs.recall_at_k,
        "ndcg": theirs.ndcg_at_k,
        "map": theirs.map,
        "map[by_min]": theirs.map_at_k,
    }

    def accuracy() -> dict[str, float]:
        return {name: float(function(truth, lists, k=K)) for name, function in functions.items()}

    def beyond() -> dict[str, float]:
        return {
            "coverage[train]": float(theirs.catalog_coverage(train, lists)),
            "novelty (over all lists)": float(theirs.novelty(train, lists)),
        }

    return {
        "accuracy": accuracy,
        "coverage, novelty": beyond,
        "diversity": lambda: {"diversity": float(theirs.diversity(train, lists))},
    }


def torchmetrics(case: Case) -> Timed:
    """Precision, recall, nDCG, MAP, MRR, hit rate; unlisted relevant items enter below every list."""
    import torch
    from torchmetrics import retrieval

    rows, width = case["items"].shape
    n_items = int(case["n_items"])
    relevant = np.unique(case["test_user"].astype(np.int64) * n_items + case["test_item"])
    listed = np.repeat(case["users"].astype(np.int64), width) * n_items + case["items"].ravel()
    rest = np.setdiff1d(relevant, listed)
    index = torch.from_numpy(np.concatenate([listed, rest]) // n_items)
    target = torch.from_numpy(np.isin(np.concatenate([listed, rest]), relevant))
    score = np.concatenate([np.tile(np.arange(width, 0, -1), rows), np.zeros(len(rest))])
    predicted = torch.from_numpy(score.astype(np.float32))
    kinds = {
        "precision": retrieval.RetrievalPrecision,
        "recall": retrieval.RetrievalRecall,
        "ndcg": retrieval.RetrievalNormalizedDCG,
        "map[by_hits]": retrieval.RetrievalMAP,
        "mrr": retrieval.RetrievalMRR,
        "hit_rate": retrieval.RetrievalHitRate,
    }

    def six() -> dict[str, float]:
        return {name: float(kind(top_k=K)(predicted, target, indexes=index)) for name, kind in kinds.items()}

    return {"accuracy": six}


PEERS: dict[str, tuple[str, Callable[[Case], Timed]]] = {
    "ranx": ("ranx", ranx),
    "RecTools": ("RecTools", rectools),
    "recommenders": ("recommenders", recommenders),
    "torchmetrics": ("torchmetrics", torchmetrics),
}


def main(name: str, path: str) -> None:
    """Print what `name` makes of the case: versions, seconds cold and warm by group of metrics, values."""
    warnings.simplefilter("ignore")
    distribution, prepare = PEERS[name]
    found = {part: importlib.metadata.version(part) for part in (distribution, "numpy")}
    with np.load(path) as stored:
        groups = prepare(dict(stored))
    report: dict[str, Any] = {"versions": found, "groups": {}}
    for group, compute in groups.items():
        seconds = []
        while len(seconds) < 2 or (len(seconds) < 6 and sum(seconds) < 10):
            started = time.perf_counter()
            values = compute()
            seconds.append(time.perf_counter() - started)
        values = {label: float(value) for label, value in values.items()}
        report["groups"][group] = {"cold": seconds[0], "warm": min(seconds[1:]), "values": values}
    print(json.dumps(report))


if __name__ == "__main__":
    main(*sys.argv[1:])
