"""The standing of one algorithm among the rows of a matrix, tested over datasets and over users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from recassay.analysis.bench.result import BenchResult, BenchRow
from recassay.analysis.inference.significance import holm
from recassay.analysis.users.fit import compare_users
from recassay.analysis.verdict.fit import judge
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.scores import UserScores


def place_algorithm(
    matrix: Matrix,
    algorithm: str,
    users: Mapping[str, UserScores],
    *,
    user_metric: str,
    benchmark: str,
    of_datasets: int,
    seed: int = 0,
) -> BenchResult:
    """The standing of `algorithm`, a row of `matrix`, among the other rows.

    `users` has, by dataset, the values of the same users for the algorithm and its baselines; they are tested against
    the best baseline where the metric is the one of which those values are known. `of_datasets` is how many datasets
    `benchmark` has.
    """
    upward = matrix.higher_is_better
    mine = matrix.algorithms.index(algorithm)
    signed = matrix.values if upward else -matrix.values
    others = [a for a in range(len(matrix.algorithms)) if a != mine]
    rows = []
    for d, dataset in enumerate(matrix.datasets):
        best = others[int(np.argmax(signed[others, d]))]
        row = BenchRow(
            dataset, float(matrix.values[mine, d]), 1 + int((signed[others, d] > signed[mine, d]).sum()),
            len(matrix.algorithms), matrix.algorithms[best], float(matrix.values[best, d]),
        )  # fmt: skip
        scores = users.get(dataset) if user_metric == matrix.metric else None
        if scores is not None and row.best in scores.algorithms and scores.users > 1:
            pair = [scores.algorithms.index(name) for name in (algorithm, row.best)]
            both = UserScores(dataset, (algorithm, row.best), scores.values[pair])
            test = compare_users([both], "", higher_is_better=True, seed=seed).datasets[0].pairs[0]
            sign = 1 if test.left == algorithm else -1
            low, high = sorted((sign * test.low, sign * test.high))
            row = replace(row, users=scores.users, difference=sign * test.difference, low=low, high=high, p=test.p)
        rows.append(row)
    known = [n for n, row in enumerate(rows) if row.p is not None]
    for n, p in zip(known, holm(np.array([rows[n].p for n in known], dtype=float)).tolist(), strict=True):
        rows[n] = replace(rows[n], p=p)
    order = sorted(rows, key=lambda row: (row.place, row.dataset))
    verdict = judge(matrix, control=algorithm, seed=seed)
    return BenchResult(algorithm, benchmark, verdict, tuple(order), of_datasets)
