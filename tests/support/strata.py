"""Scores on popularity strata with a known truth."""

from __future__ import annotations

import numpy as np
import polars as pl

from recassay.core.tables.scores import StrataEvidence, StrataScores

THRESHOLDS = (5, 10, 20, 40)


def scores(means, *, users: int = 400, noise: float = 0.1, seed: int = 0, absent: float = 0.2, name: str = "films"):
    """Scores of algorithms a0, a1, ... around `means` (thresholds x algorithms); a share of users is in no T_P."""
    table = np.asarray(means, dtype=np.float64)
    rng = np.random.default_rng(seed)
    values = table[:, :, None] + rng.normal(0, noise, (*table.shape, users))
    values[np.broadcast_to(rng.random((len(table), 1, users)) < absent, values.shape)] = np.nan
    return of(values, name=name)


def of(values, *, name: str = "films", thresholds=None) -> StrataScores:
    values = np.asarray(values, dtype=np.float64)
    thresholds = tuple(thresholds or THRESHOLDS[: len(values)])
    share = np.linspace(0.25, 1, len(values))
    shares = {"threshold": thresholds, **dict.fromkeys(("events", "pool", "items", "train_interactions"), 50.0)}
    return StrataScores(
        dataset=name,
        algorithms=tuple(f"a{i}" for i in range(values.shape[1])),
        thresholds=thresholds,
        scores=values,
        shares=pl.DataFrame({**shares, "share_of_items": share, "share_of_train": share, "share_of_test": share}),
        curve=pl.DataFrame({"rank": [1, 10, 100], "popularity": [90, 12, 1]}),
    )


def evidence(*datasets: StrataScores, metric: str = "ndcg@20") -> StrataEvidence:
    return StrataEvidence(metric, True, datasets)
