"""The bootstrap of all aggregations and the Bayesian test on an 11 x 30 table, against plain peers on the same work.

Peers: a loop over replicates with scipy's rankdata for the bootstrap (nobody offers it vectorised), and baycomp for the
Bayesian signed-rank test where it is installed.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable

import numpy as np
from scipy import stats

from recassay.analysis.compare.bayesian import posterior_weights, signed_rank_rows
from recassay.analysis.rank.fit import rank_algorithms
from recassay.core.tables.matrix import Matrix

REPLICATES = 10_000
PEER_REPLICATES = 500


def timed(work: Callable[[], object]) -> float:
    """Seconds of the best of three runs."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def loop(values: np.ndarray) -> None:
    """Five aggregations, replicate by replicate, as scripts in papers do it."""
    rng = np.random.default_rng(0)
    for _ in range(PEER_REPLICATES):
        drawn = values[:, rng.integers(0, values.shape[1], values.shape[1])]
        stats.rankdata(-drawn, axis=0).mean(axis=1)
        drawn.mean(axis=1)
        stats.gmean(drawn, axis=1)
        stats.hmean(drawn, axis=1)
        np.clip(3 - drawn.max(axis=0) / drawn, 0, None).mean(axis=1)


def main() -> None:
    """Print seconds and ratios."""
    rng = np.random.default_rng(0)
    for k in (11, 30):
        values = rng.random((k, 30)) + 0.01
        names = tuple(f"a{i:02d}" for i in range(k))
        table = Matrix(values, names, tuple(f"d{i:02d}" for i in range(30)), "ndcg@10", True)
        ours = timed(lambda table=table: rank_algorithms(table, replicates=REPLICATES))
        peer = timed(lambda values=values: loop(values)) * REPLICATES / PEER_REPLICATES
        print(f"{k} x 30, {REPLICATES} replicates: all 11 aggregations with intervals {ours:.2f} s; "
              f"loop over 5 of them {peer:.2f} s (from {PEER_REPLICATES}): {peer / ours:.1f} times ours")  # fmt: skip
    gap = rng.normal(0.01, 0.05, 30)
    ours = timed(lambda: signed_rank_rows(gap[None], posterior_weights(30, 50_000, np.random.default_rng(0)), 0.0))
    if importlib.util.find_spec("baycomp") is None:
        print(f"Bayesian signed-rank, 50,000 draws: {ours * 1e3:.0f} ms; baycomp is not installed")
        return
    import baycomp

    peer = timed(lambda: baycomp.SignedRankTest.probs(gap, np.zeros(30), rope=0, nsamples=50_000))
    ratio = f"{peer / ours:.1f} times ours"
    print(f"Bayesian signed-rank, 50,000 draws: {ours * 1e3:.0f} ms; baycomp {peer * 1e3:.0f} ms: {ratio}")


if __name__ == "__main__":
    main()
