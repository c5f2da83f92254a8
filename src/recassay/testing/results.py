"""A results table whose truth is known: for trying and testing the analyses."""

from __future__ import annotations

import numpy as np
import polars as pl

from recassay.core import columns as c
from recassay.core.seeds import derived_rng

ALGORITHMS = ("Oracle", "Strong", "Solid", "Twin A", "Twin B", "Average", "Weak", "Random")
"""From the best to the worst; the twins are equal in truth."""

ABILITY = np.array([1.0, 0.75, 0.5, 0.25, 0.25, 0.0, -0.5, -2.0])


def synthetic_results(n_datasets: int = 16, *, noise: float = 0.25, seeds: int = 3, seed: int = 0) -> pl.DataFrame:
    """Long results of eight algorithms on `n_datasets` datasets, with `seeds` measurements a cell.

    Each dataset has a level (how high scores are on it) and a slope (how much ability matters there):
    logit score = level + slope * ability + noise * N(0, 1) for the cell + a smaller noise for the measurement. The
    best algorithm is `Oracle`; `Twin A` and `Twin B` have the same ability. Metrics: ndcg@10 and hitrate@10 (higher is
    better, strongly correlated), coverage@10 (unrelated to ability), seconds_fit (lower is better; falls with ability
    rank, so that the order is nearly reversed).
    """
    rng = derived_rng(seed, "synthetic results")
    shape = (len(ALGORITHMS), n_datasets)
    level = rng.normal(-2.5, 0.8, n_datasets)
    slope = rng.lognormal(-0.2, 0.4, n_datasets)
    cell = level + slope * ABILITY[:, None] + noise * rng.normal(size=shape)
    cover = rng.beta(2, 3, size=shape)
    seconds = np.exp(0.6 * np.arange(len(ALGORITHMS))[::-1, None] + rng.normal(0, 0.4, shape))
    frames = []
    names = {
        c.ALGORITHM: np.repeat(ALGORITHMS, n_datasets),
        c.DATASET: [f"set-{d + 1:02d}" for d in range(n_datasets)] * len(ALGORITHMS),
    }
    for s in range(seeds):
        wobble = 0.3 * noise * rng.normal(size=shape)
        logit = cell + wobble
        for metric, values in (
            ("ndcg@10", 1 / (1 + np.exp(-logit))),
            ("hitrate@10", 1 / (1 + np.exp(-logit - 1.2))),
            ("coverage@10", np.clip(cover + 0.01 * wobble, 0, 1)),
            ("seconds_fit", seconds * np.exp(0.05 * wobble)),
        ):
            frames.append(pl.DataFrame({**names, c.METRIC: metric, c.VALUE: values.ravel(), c.SEED: s}))
    return pl.concat(frames)
