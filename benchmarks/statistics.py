"""CPU seconds of every statistic over datasets: the published KDD'24 table, and 30 algorithms on 30 datasets.

python benchmarks/statistics.py [--size 30] [--replicates 10000]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import polars as pl

import recassay


def table(size: int) -> pl.DataFrame:
    """Algorithms x datasets with a level for each and an interaction."""
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 1, size)[:, None] + rng.normal(-2, 1, size) + rng.normal(0, 0.7, (size, size))
    values = 1 / (1 + np.exp(-scores))
    rows = [
        {"algorithm": f"a{a:02d}", "dataset": f"d{d:02d}", "metric": "ndcg@10", "value": float(values[a, d])}
        for a in range(size)
        for d in range(size)
    ]  # fmt: skip
    return pl.DataFrame(rows)


def main() -> None:
    """Time each verb once and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=30)
    parser.add_argument("--replicates", type=int, default=10_000)
    asked = parser.parse_args()
    verbs = {
        "rank": lambda results: recassay.rank(results, "ndcg@10", replicates=asked.replicates),
        "compare": lambda results: recassay.compare(results, "ndcg@10", control=None),
        "model": lambda results: recassay.model(results, "ndcg@10"),
        "ratings": lambda results: recassay.ratings(results, "ndcg@10", replicates=asked.replicates),
        "plan": lambda results: recassay.plan(results, "ndcg@10"),
    }
    tables = {"KDD'24 (11 x 30)": "published:kdd24", f"{asked.size} x {asked.size}": table(asked.size)}
    recassay.compare(table(4), "ndcg@10")  # imports are not what is timed
    recassay.model(table(4), "ndcg@10")
    for name, source in tables.items():
        results = recassay.load_results(source)
        total = 0.0
        for verb, call in verbs.items():
            begin = time.process_time()
            call(results)
            spent = time.process_time() - begin
            total += spent
            print(f"{name:18} {verb:8} {spent:6.2f} s")
        print(f"{name:18} all      {total:6.2f} s")


if __name__ == "__main__":
    main()
