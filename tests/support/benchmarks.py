"""Benchmarks whose truth is known: results and characteristics of made-up datasets."""

from __future__ import annotations

import numpy as np
import polars as pl

from recassay.core.tables.characteristics import CharacteristicsTable
from recassay.core.tables.matrix import Matrix

NAMES = ("Nu", "Ni", "Density", "Giniu", "APB")


def characteristics(n: int, seed: int = 0, names: tuple[str, ...] = NAMES) -> CharacteristicsTable:
    values = np.exp(np.random.default_rng(seed).normal(size=(n, len(names))))
    return CharacteristicsTable(values, tuple(f"d{i:02d}" for i in range(n)), names)


def benchmark(values: np.ndarray, metric: str = "ndcg@10") -> Matrix:
    k, n = values.shape
    return Matrix(values, tuple(f"a{i:02d}" for i in range(k)), tuple(f"d{i:02d}" for i in range(n)), metric, True)


def long_frame(*matrices: Matrix) -> pl.DataFrame:
    rows = [
        (a, d, m.metric, float(m.values[i, j]))
        for m in matrices
        for i, a in enumerate(m.algorithms)
        for j, d in enumerate(m.datasets)
    ]
    return pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value"], orient="row")


def fading(n_algorithms: int = 8, n_datasets: int = 16, noise: float = 0.6, seed: int = 0) -> np.ndarray:
    """A true order of the algorithms (the first is best) under noise, between 0 and 1."""
    rng = np.random.default_rng(seed)
    ability = np.linspace(1.5, -1.5, n_algorithms)[:, None]
    return 1 / (1 + np.exp(-(ability + noise * rng.normal(size=(n_algorithms, n_datasets)))))
