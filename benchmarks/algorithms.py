"""Fit, top 10 for everyone and nDCG@10 on ml-1m, each algorithm beside its peers: `python benchmarks/algorithms.py`.

All ratings count; 80 % of every user's are training, 20 % test, at random. A peer is run in the same process where it
is installed and passed over where not; all stand on the same matrix, so that the ratios mean something on a busy
machine too. Options: names of algorithms to run (all by default), `--data DIR`, `--threads N`, `--dataset NAME`.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array, csr_matrix, vstack

K = 10
Lists = np.ndarray[Any, np.dtype[np.int32]]
Peer = Callable[[csr_array], tuple[Callable[[], Any], Callable[[Any], Lists]]]
"""From the training matrix (not timed) to a function that fits and one from the model to everyone's lists."""


@dataclass(frozen=True)
class Row:
    """One algorithm of ours (as `module:Class`) with its parameters, and its peers by name."""

    ours: str
    parameters: dict[str, Any]
    peers: dict[str, Peer]


def implicit_neighbours(train: csr_array) -> tuple[Callable[[], Any], Callable[[Any], Lists]]:
    """implicit's CosineRecommender, 100 neighbours."""
    from implicit.nearest_neighbours import CosineRecommender

    matrix, everyone = csr_matrix(train), np.arange(train.shape[0])

    def fit() -> Any:
        model = CosineRecommender(K=100)
        model.fit(matrix, show_progress=False)
        return model

    return fit, lambda model: model.recommend(everyone, matrix, N=K)[0]


def lenskit_neighbours(train: csr_array) -> tuple[Callable[[], Any], Callable[[Any], Lists]]:
    """LensKit's ItemKNNScorer, 100 neighbours saved; lists by its own top-N pipeline."""
    from lenskit.batch import recommend
    from lenskit.knn import ItemKNNScorer

    return _lenskit(train, ItemKNNScorer(max_nbrs=100, save_nbrs=100, feedback="implicit"), recommend)


def lenskit_ease(train: csr_array) -> tuple[Callable[[], Any], Callable[[Any], Lists]]:
    """LensKit's EASEScorer, the same regularisation."""
    from lenskit.batch import recommend
    from lenskit.knn import EASEScorer

    return _lenskit(train, EASEScorer(regularization=500), recommend)


def _lenskit(train: csr_array, scorer: Any, recommend: Any) -> tuple[Callable[[], Any], Callable[[Any], Lists]]:
    import pandas as pd
    from lenskit.data import from_interactions_df
    from lenskit.pipeline import topn_pipeline

    user, item = train.nonzero()
    data = from_interactions_df(pd.DataFrame({"user_id": user, "item_id": item}))

    def fit() -> Any:
        pipeline = topn_pipeline(scorer, n=K)
        pipeline.train(data)
        return pipeline

    def lists(pipeline: Any) -> Lists:
        answers = recommend(pipeline, np.arange(train.shape[0]).tolist(), n=K, n_jobs=1)
        items = np.full((train.shape[0], K), -1, dtype=np.int32)
        for key, answer in answers:
            ids = answer.ids()
            items[key.user_id, : len(ids)] = ids
        return items

    return fit, lists


def rectools_ease(train: csr_array) -> tuple[Callable[[], Any], Callable[[Any], Lists]]:
    """RecTools' EASEModel, the same regularisation.

    Its weights equal ours to 1e-6, but version 0.19 ranks by x_u B' where the paper has x_u B (its ranker multiplies by
    the transpose of the item matrix it is given), which is why its lists score lower.
    """
    import pandas as pd
    from rectools import Columns
    from rectools.dataset import Dataset
    from rectools.models import EASEModel

    user, item = train.nonzero()
    table = pd.DataFrame({Columns.User: user, Columns.Item: item, Columns.Weight: 1.0, Columns.Datetime: "2020-01-01"})
    dataset = Dataset.construct(table)

    def lists(model: Any) -> Lists:
        answer = model.recommend(np.arange(train.shape[0]), dataset, k=K, filter_viewed=True)
        items = np.full((train.shape[0], K), -1, dtype=np.int32)
        items[answer[Columns.User], answer[Columns.Rank] - 1] = answer[Columns.Item]
        return items

    return lambda: EASEModel(regularization=500.0).fit(dataset), lists


def cornac_neighbours(train: csr_array) -> tuple[Callable[[], Any], Callable[[Any], Lists]]:
    """Cornac's ItemKNN, cosine, 100 neighbours (it normalises by the sum of similarities); users scored one by one."""
    from cornac.data import Dataset
    from cornac.models import ItemKNN

    user, item = train.nonzero()
    data = Dataset.from_uir(list(zip(user.tolist(), item.tolist(), [1.0] * len(user), strict=True)), seed=1)
    item_of = np.array(list(data.iid_map))
    position = np.full(train.shape[1], -1)
    position[item_of] = np.arange(len(item_of))

    def lists(model: Any) -> Lists:
        items = np.full((train.shape[0], K), -1, dtype=np.int32)
        for number in range(train.shape[0]):
            scores = np.array(model.score(data.uid_map[number]), dtype=np.float32)
            scores[position[train.indices[train.indptr[number] : train.indptr[number + 1]]]] = -np.inf
            items[number] = item_of[np.argsort(-scores)[:K]]
        return items

    return lambda: ItemKNN(k=100, similarity="cosine", verbose=False, seed=1).fit(data), lists


def sklearn_slim(train: csr_array) -> tuple[Callable[[], Any], Callable[[Any], Lists]]:
    """scikit-learn's ElasticNet, item by item, tolerance and sweeps as in RecBole's SLIMElastic."""
    from scipy.sparse import csc_matrix
    from sklearn.linear_model import ElasticNet

    columns = csc_matrix(train)

    def fit() -> Any:
        model = ElasticNet(
            alpha=0.002, l1_ratio=0.1, positive=True, fit_intercept=False, copy_X=False, max_iter=100, tol=1e-4
        )
        weights = []
        for item in range(train.shape[1]):
            own = slice(columns.indptr[item], columns.indptr[item + 1])
            target = np.zeros(train.shape[0], dtype=np.float32)
            target[columns.indices[own]] = 1.0
            columns.data[own] = 0.0
            weights.append(model.fit(columns, target).sparse_coef_)
            columns.data[own] = 1.0
        return vstack(weights).T.tocsr()

    return fit, lambda weights: _dense_lists(train, weights)


def _dense_lists(train: csr_array, weights: Any) -> Lists:
    scores = np.asarray((csr_matrix(train) @ weights).todense())
    scores[train.nonzero()] = -np.inf
    return np.argsort(-scores, axis=1)[:, :K].astype(np.int32)


ROWS = [
    Row("baselines:Random", {}, {}),
    Row("baselines:MostPop", {}, {}),
    Row("neighbours:ItemKNN", {"k": 100}, {}),
    Row(
        "neighbours:ItemKNN",
        {"k": 100, "keep": "history"},
        {"implicit": implicit_neighbours, "lenskit": lenskit_neighbours, "cornac": cornac_neighbours},
    ),
    Row("neighbours:UserKNN", {"k": 100}, {}),
    Row("linear:EASE", {"reg": 500.0}, {"rectools": rectools_ease, "lenskit": lenskit_ease}),
    Row("sparse_linear:LocalEASE", {}, {}),
    Row("slim:SLIM", {"alpha": 0.002, "l1_ratio": 0.1}, {"scikit-learn": sklearn_slim}),
]


def split(path: Path) -> tuple[Any, csr_array]:
    """(training interactions, test matrix): 20 % of every user's ratings held out at random."""
    from recassay.core.types import Interactions

    table = pl.read_parquet(path)
    user, item = (table[name].rank("dense").to_numpy().astype(np.int32) - 1 for name in table.columns[:2])
    order = np.lexsort((np.random.default_rng(0).random(len(user)), user))
    user, item = user[order].astype(np.int32), item[order].astype(np.int32)
    count = np.bincount(user)
    place = np.arange(len(user)) - np.repeat(np.cumsum(count) - count, count)
    held_out = place < np.floor(0.2 * count)[user]
    users, items = pl.Series(np.arange(user.max() + 1)), pl.Series(np.arange(item.max() + 1))
    train, test = (Interactions(user[part], item[part], users, items) for part in (~held_out, held_out))
    return train, test.csr()


def ndcg(items: Lists, test: csr_array) -> float:
    """Mean nDCG@10 of the users with a test item, ideal of min(10, relevant) items."""
    truth = test.toarray() > 0
    discount = 1 / np.log2(np.arange(2, K + 2))
    hits = np.take_along_axis(truth, np.maximum(items, 0), axis=1) & (items >= 0)
    relevant = truth.sum(axis=1)
    ideal = np.cumsum(discount)[np.clip(relevant, 1, K) - 1]
    return float((hits @ discount / ideal)[relevant > 0].mean())


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """The answer, seconds by the clock, seconds of processor."""
    wall, cpu = time.perf_counter(), time.process_time()
    answer = work()
    return answer, time.perf_counter() - wall, time.process_time() - cpu


def show(name: str, fit: Callable[[], Any], lists: Callable[[Any], Lists], test: csr_array) -> None:
    """Run and print one line."""
    model, fit_wall, fit_cpu = timed(fit)
    items, list_wall, list_cpu = timed(lambda: lists(model))
    print(
        f"{name:<38} fit {fit_wall:7.2f} s ({fit_cpu:7.2f} cpu)   top-{K} {list_wall:6.2f} s ({list_cpu:6.2f} cpu)"
        f"   nDCG@{K} {ndcg(np.asarray(items), test):.4f}",
        flush=True,
    )


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="names of algorithms, all by default")
    default = os.environ.get("RECASSAY_DATA") or Path(__file__).resolve().parents[1].parent / "shared" / "data"
    parser.add_argument("--data", type=Path, default=Path(default))
    parser.add_argument("--dataset", default="ml-1m")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[variable] = str(options.threads)
    warnings.simplefilter("ignore")
    import threadpoolctl

    with threadpoolctl.threadpool_limits(options.threads):
        run(options)


def run(options: argparse.Namespace) -> None:
    """All rows, ours once on a small sample first so that compiling is not timed."""
    train, test = split(options.data / "interactions" / f"{options.dataset}.parquet")
    matrix, everyone = train.csr(), np.arange(train.n_users, dtype=np.int32)
    print(f"{options.dataset}: {train.n_users} users, {train.n_items} items, {len(train)} training events")
    print(", ".join(f"{part} {importlib.metadata.version(part)}" for part in ("numpy", "scipy", "numba")))
    small = train.take(train.user < 50)
    for row in ROWS:
        module, name = row.ours.split(":")
        if options.names and name not in options.names:
            continue
        algorithm = getattr(importlib.import_module(f"recassay.algorithms.{module}"), name)(**row.parameters)
        algorithm.fit(small, rng=np.random.default_rng(0)).recommend(everyone[:5], K, exclude=matrix)
        shown = " ".join([name, *(f"{key}={value}" for key, value in row.parameters.items())])
        show(
            shown,
            lambda algorithm=algorithm: algorithm.fit(train, rng=np.random.default_rng(0)),
            lambda model: model.recommend(everyone, K, exclude=matrix).items,
            test,
        )
        for peer, prepare in row.peers.items():
            try:
                fit, lists = prepare(matrix)
            except ImportError as error:
                print(f"  {peer:<36} not installed ({error})")
                continue
            show(f"  {peer} {importlib.metadata.version(peer)}", fit, lists, test)


if __name__ == "__main__":
    main()
