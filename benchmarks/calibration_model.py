"""Is the hierarchical model calibrated? P(best), P(beats on a new dataset) and predicted cells against known truth.

python3 dev.py bench calibration_model [--tables 200] [--holes 0.2] [--truth normal|failures|alike]

For every number of datasets and algorithms and every spread of their levels, tables are drawn from a known truth. Shown
are: the probability that the model gives to the algorithm it favours, and how often that is the best one; how often a
claim above 0.9 is right; the mean error of P(beats) on a new dataset; and the share of predicted cells whose interval
holds the value.
"""

from __future__ import annotations

import argparse
from math import erf

import numpy as np

from recassay.analysis.inference.hierarchical import fit_hierarchical


def table(truth: str, n: int, k: int, spread: float, holes: float, rng: np.random.Generator):
    """Levels, interaction deviations, the whole table and the one with holes."""
    level = max(spread, 1e-9) * rng.standard_normal(k)
    deviation = np.full(k, 0.5) if truth == "alike" else 0.5 * np.exp(0.4 * rng.standard_normal(k))
    whole = level + 1.5 * rng.standard_normal((n, 1)) + deviation * rng.standard_normal((n, k))
    if truth == "failures":
        whole -= (rng.random((n, k)) < 0.05) * rng.exponential(3.0, (n, k))
    absent = rng.random((n, k)) < holes
    absent[np.arange(n), rng.integers(k, size=n)] = False
    absent[rng.integers(n, size=k), np.arange(k)] = False
    return level, deviation, whole, np.where(absent, np.nan, whole)


def main() -> None:
    """Print a row for every size and spread."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--holes", type=float, default=0.0)
    parser.add_argument("--truth", choices=["normal", "failures", "alike"], default="normal")
    parser.add_argument("--datasets", default="3,5,10,30")
    parser.add_argument("--algorithms", default="2,4,8,16")
    asked = parser.parse_args()
    rng = np.random.default_rng(1)
    print("datasets algorithms spread | favoured: said true | claims > 0.9: number right | new: error | cells held")
    for n in map(int, asked.datasets.split(",")):
        for k in map(int, asked.algorithms.split(",")):
            for spread in (0.0, 0.1, 0.3, 1.0):
                said, right, error, held = [], [], [], []
                for _ in range(asked.tables):
                    level, deviation, whole, seen = table(asked.truth, n, k, spread, asked.holes, rng)
                    found = fit_hierarchical(seen, draws=1000, rng=rng)
                    best = np.bincount(found.level.argmax(axis=1), minlength=k) / len(found.level)
                    said.append(best.max())
                    right.append(best.argmax() == level.argmax())
                    width = np.sqrt(2 * (deviation[0] ** 2 + deviation[1] ** 2))
                    truth = 0.5 * (1 + erf((level[0] - level[1]) / width))
                    error.append(abs((found.new[:, 0] > found.new[:, 1]).mean() - truth))
                    low, high = np.quantile(found.cells, [0.025, 0.975], axis=0)
                    held.append(((low < whole) & (whole < high))[np.isnan(seen)])
                sure = np.array(said) > 0.9
                cells = np.concatenate(held)
                print(
                    f"{n:8} {k:10} {spread:6} | {np.mean(said):14.2f} {np.mean(right):4.2f} | {sure.sum():20} "
                    f"{np.mean(np.array(right)[sure]) if sure.any() else float('nan'):5.2f} | {np.mean(error):10.3f} | "
                    f"{np.mean(cells) if len(cells) else float('nan'):10.3f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
