"""The whole stress battery, against a plain loop over the draws of one of its seven tests."""

from __future__ import annotations

import resource
import time

import numpy as np
from scipy import stats

from recassay.analysis.stress.fit import stress_rankings
from recassay.core.tables.matrix import Matrix

PEER_DRAWS = 200


def loop(values: np.ndarray) -> None:
    """Rho under random subsets of 5 datasets, draw by draw, for five aggregations, as scripts in papers do it."""
    rng = np.random.default_rng(0)
    rules = (
        lambda table: -stats.rankdata(-table, axis=0).mean(axis=1),
        lambda table: table.mean(axis=1),
        lambda table: stats.gmean(table, axis=1),
        lambda table: stats.hmean(table, axis=1),
        lambda table: np.clip(3 - table.max(axis=0) / table, 0, None).mean(axis=1),
    )
    whole = [rule(values) for rule in rules]
    for _ in range(PEER_DRAWS):
        drawn = values[:, rng.choice(values.shape[1], 5, replace=False)]
        for rule, reference in zip(rules, whole, strict=True):
            stats.spearmanr(rule(drawn), reference)


def main() -> None:
    """Print processor seconds and the peak of memory."""
    rng = np.random.default_rng(0)
    for algorithms, datasets in ((11, 30), (30, 30)):
        values = rng.random((algorithms, datasets)) + np.linspace(0.01, 0.5, algorithms)[:, None]
        names = tuple(f"a{i:02d}" for i in range(algorithms))
        table = Matrix(values, names, tuple(f"d{i:02d}" for i in range(datasets)), "ndcg@10", True)
        start = time.process_time()
        stress_rankings(table)
        ours = time.process_time() - start
        start = time.process_time()
        loop(values)
        peer = (time.process_time() - start) * 1000 / PEER_DRAWS
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{algorithms} x {datasets}: the whole battery, 11 aggregations, {1000} draws: {ours:.1f} s, peak "
              f"{peak:.0f} MiB; a loop over 5 aggregations of one test {peer:.1f} s")  # fmt: skip


if __name__ == "__main__":
    main()
