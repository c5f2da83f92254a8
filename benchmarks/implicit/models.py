"""Models of implicit with a search space each, for the study beside this file. Needs `pip install implicit`."""

from __future__ import annotations

from typing import Any

from implicit.als import AlternatingLeastSquares
from implicit.bpr import BayesianPersonalizedRanking
from implicit.nearest_neighbours import BM25Recommender, CosineRecommender, TFIDFRecommender

from recassay import wrap
from recassay.core.specs.search import Choice, Real, Whole

COMMON = {"random_state": 7, "num_threads": 1}


def als(**parameters: Any) -> Any:
    """Alternating least squares."""
    return AlternatingLeastSquares(use_gpu=False, **COMMON, **parameters)


def bpr(**parameters: Any) -> Any:
    """Bayesian personalised ranking."""
    return BayesianPersonalizedRanking(use_gpu=False, **COMMON, **parameters)


def neighbours(weighting: str = "bm25", k: int = 20, k1: float = 1.2, b: float = 0.75) -> Any:
    """Neighbours of items under one of three weightings."""
    if weighting == "bm25":
        return BM25Recommender(K=k, K1=k1, B=b, num_threads=1)
    return {"cosine": CosineRecommender, "tfidf": TFIDFRecommender}[weighting](K=k, num_threads=1)


ImplicitALS = wrap(
    als,
    name="ALS of implicit",
    space={
        "factors": Whole(32, 256, 64, step=32),
        "regularization": Real(1e-3, 100.0, 0.01, log=True),
        "alpha": Real(1.0, 100.0, 1.0, log=True),
        "iterations": Whole(5, 40, 15),
    },
)
ImplicitBPR = wrap(
    bpr,
    name="BPR of implicit",
    space={
        "factors": Whole(32, 256, 100, step=4),
        "regularization": Real(1e-3, 0.1, 0.01, log=True),
        "learning_rate": Real(5e-3, 0.2, 0.01, log=True),
        "iterations": Whole(50, 400, 100),
    },
)
ImplicitItemKNN = wrap(
    neighbours,
    name="ItemKNN of implicit",
    space={
        "weighting": Choice(("bm25", "cosine", "tfidf"), "bm25"),
        "k": Whole(20, 1000, 20, log=True),
        "k1": Real(0.1, 100.0, 1.2, log=True),
        "b": Real(0.0, 1.0, 0.75),
    },
)
