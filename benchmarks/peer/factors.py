"""The factor models that `peers.py` compares with those of other libraries, and how a row is measured."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import threadpoolctl
from scipy.sparse import csr_matrix

from recassay.core import columns as c
from recassay.core.seeds import derived_rng
from recassay.core.types import Interactions

DATA = Path(os.environ.get("RECASSAY_DATA", Path(__file__).parents[3] / "shared" / "data"))


def read_split(path: Path) -> tuple[Interactions, Interactions]:
    """(train, test): a random fifth of every user's events is the test."""
    frame = pl.read_parquet(path)
    ids = {name: frame[name].rank("dense").to_numpy().astype(np.int32) - 1 for name in (c.USER, c.ITEM)}
    data = Interactions(
        user=ids[c.USER],
        item=ids[c.ITEM],
        users=frame[c.USER].unique().sort(),
        items=frame[c.ITEM].unique().sort(),
        weight=frame[c.RATING].to_numpy().astype(np.float32),
    )
    order = np.lexsort((derived_rng(0, "split").random(len(data)), data.user))
    user = data.user[order]
    place = np.arange(len(user)) - np.searchsorted(user, user)
    test = np.zeros(len(data), dtype=bool)
    test[order] = place < np.round(0.2 * np.bincount(user)[user])
    return data.take(~test), data.take(test)


def ndcg(items: np.ndarray[Any, Any], test: Interactions) -> float:
    """Mean nDCG@10 over the users of `test`: binary gains, an ideal list of min(10, relevant) hits."""
    truth = test.csr()
    relevant = np.diff(truth.indptr)
    discounts = 1 / np.log2(np.arange(items.shape[1]) + 2)
    pairs = np.arange(len(items))[:, None].astype(np.int64) * truth.shape[1] + items
    known = np.repeat(np.arange(truth.shape[0], dtype=np.int64), relevant) * truth.shape[1] + truth.indices
    gains = (np.isin(pairs, known) * discounts).sum(axis=1)
    ideal = np.concatenate([[0], np.cumsum(discounts)])[np.minimum(relevant, items.shape[1])]
    return float((gains[relevant > 0] / ideal[relevant > 0]).mean())


def own(name: str, **parameters: Any) -> Callable[[Interactions], Any]:
    """Fit one of ours."""
    from recassay.algorithms import als, bpr, latent_class, nmf, rating_mf, svd, warp

    classes = (als.ALS, bpr.BPR, warp.WARP, rating_mf.RatingMF, svd.PureSVD, nmf.NMF)
    classes += (latent_class.PLSA, latent_class.AspectModel)
    algorithm = {made.name: made for made in classes}[name]
    return lambda train: algorithm(**parameters).fit(train, rng=derived_rng(1, name))


def factors(users: Any, items: Any, bias: Any = None) -> Any:
    """A peer's factors with our lists, so that only fitting differs."""
    from recassay.algorithms.kernels.scoring import FactorRecommender

    return FactorRecommender(users, items, bias, rng=derived_rng(1, "lists"))


def implicit_als(train: Interactions, threads: int, **parameters: Any) -> Any:
    """AlternatingLeastSquares of implicit."""
    from implicit.als import AlternatingLeastSquares

    model = AlternatingLeastSquares(random_state=1, num_threads=threads, **parameters)
    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        model.fit(csr_matrix(train.csr()), show_progress=False)
    return factors(model.user_factors, model.item_factors)


def implicit_bpr(train: Interactions, threads: int, **parameters: Any) -> Any:
    """BayesianPersonalizedRanking of implicit."""
    from implicit.bpr import BayesianPersonalizedRanking

    model = BayesianPersonalizedRanking(random_state=1, num_threads=threads, **parameters)
    model.fit(csr_matrix(train.csr()), show_progress=False)
    return factors(model.user_factors, model.item_factors)


def lightfm_warp(train: Interactions, threads: int, *, epochs: int, **parameters: Any) -> Any:
    """LightFM with the WARP loss."""
    from lightfm import LightFM

    model = LightFM(loss="warp", random_state=1, **parameters)
    model.fit(csr_matrix(train.csr()), epochs=epochs, num_threads=threads)
    return factors(model.user_embeddings, model.item_embeddings, model.item_biases)


def sklearn_nmf(train: Interactions, threads: int, **parameters: Any) -> Any:
    """NMF of scikit-learn by coordinate descent; its penalty is per row, ours per entry."""
    from sklearn.decomposition import NMF

    model = NMF(init="random", solver="cd", tol=0, random_state=1, **parameters)
    return factors(model.fit_transform(csr_matrix(train.csr())), model.components_.T)


def sklearn_svd(train: Interactions, threads: int, **parameters: Any) -> Any:
    """TruncatedSVD of scikit-learn, randomised."""
    from sklearn.decomposition import TruncatedSVD

    model = TruncatedSVD(random_state=1, **parameters)
    return factors(model.fit_transform(csr_matrix(train.csr())), model.components_.T)


Peer = tuple[str, Callable[..., Any], dict[str, Any]]

ROWS: list[tuple[str, dict[str, Any], Peer | None]] = [
    (
        "ALS",
        {"factors": 64, "iterations": 15, "alpha": alpha, "reg": 0.01},
        ("implicit", implicit_als, {"factors": 64, "iterations": 15, "alpha": alpha, "regularization": 0.01}),
    )
    for alpha in (1.0, 2.0)
]
ROWS += [
    ("ALS", {}, None),
    (
        "BPR",
        {"factors": 64, "iterations": 100, "reg": 0.01, "rate": 0.01, "hardest_of": 1},
        ("implicit", implicit_bpr, {"factors": 64, "iterations": 100, "regularization": 0.01, "learning_rate": 0.01}),
    ),
    ("BPR", {}, None),
    (
        "WARP",
        {"components": 64, "epochs": 10, "rate": 0.05, "max_sampled": 10},
        ("lightfm", lightfm_warp, {"no_components": 64, "epochs": 10, "learning_rate": 0.05, "max_sampled": 10}),
    ),
    ("WARP", {}, None),
    (
        "NMF",
        {"factors": 50, "iterations": 30, "reg": 0.0},
        ("sklearn", sklearn_nmf, {"n_components": 50, "max_iter": 30}),
    ),
    ("NMF", {}, None),
    ("PureSVD", {"factors": 50}, ("sklearn", sklearn_svd, {"n_components": 50})),
    ("PureSVD", {}, None),
    ("RatingMF", {}, None),
    ("PLSA", {}, None),
    ("AspectModel", {}, None),
]


def measure(fit: Callable[[Interactions], Any], train: Interactions, test: Interactions) -> dict[str, float]:
    """Seconds and processor seconds of `fit`, seconds of all lists of 10, and their nDCG@10."""
    wall, cpu = time.perf_counter(), time.process_time()
    model = fit(train)
    seconds, cpu = time.perf_counter() - wall, time.process_time() - cpu
    seen, users = train.csr(), np.arange(train.n_users, dtype=np.int32)
    wall = time.perf_counter()
    top = model.recommend(users, 10, exclude=seen)
    return {"seconds": seconds, "cpu": cpu, "recommend": time.perf_counter() - wall, "ndcg@10": ndcg(top.items, test)}
