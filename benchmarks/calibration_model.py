"""Is the hierarchical model calibrated? Coverage of levels, P(best), failures, chance and families, on known truth.

    python3 dev.py bench calibration_model
    python benchmarks/calibration_model.py [--tables 200] [--write docs/evidence/calibration.md]

On every dataset an algorithm's score is the dataset's level (deviation 1.5), its own level and noise of deviation 1.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

import numpy as np
from calibration import write_section

from recassay.analysis.inference import hierarchical
from recassay.analysis.inference.hierarchical import fit_hierarchical
from recassay.analysis.model.result import first_shares

DATASETS, ALGORITHMS, SPREADS = (5, 10, 30), (2, 4, 8, 16), (0.0, 0.5)


def made(levels: np.ndarray, n: int, rng: np.random.Generator, deviation: float = 1.0) -> np.ndarray:
    """A table of n datasets x algorithms."""
    return levels + 1.5 * rng.standard_normal((n, 1)) + deviation * rng.standard_normal((n, len(levels)))


def share(values: list[float] | np.ndarray) -> str:
    """A mean with its standard error."""
    return f"{np.mean(values):.3f} ± {np.std(values) / np.sqrt(len(values)):.3f}"


def levels(n: int, k: int, spread: float, tables: int) -> tuple[str, str]:
    """How often 95 % intervals hold the level; and P(best) of the favourite beside how often it is the best."""
    rng = np.random.default_rng([1, n, k, int(100 * spread)])
    held, said, right = [], [], []
    for _ in range(tables):
        truth = spread * rng.standard_normal(k)
        found = fit_hierarchical(made(truth, n, rng), draws=480, rounds=1, rng=rng).level
        low, high = np.quantile(found, [0.025, 0.975], axis=0)
        held.append(((low < truth) & (truth < high)).mean())
        best = first_shares(found)
        said.append(best.max())
        right.append(best.argmax() == truth.argmax())
    return share(held), f"{np.mean(said):.2f} / {share(right)}"


def failures(size: float, n: int, tables: int) -> str:
    """P(best) of an algorithm with one cell that many deviations low, minus its P(best) with that cell missing."""
    rng = np.random.default_rng([2, n, int(size)])
    moved = []
    for _ in range(tables):
        failed = made(np.zeros(5), n, rng, 0.05)
        missing = failed.copy()
        failed[3, 2], missing[3, 2] = failed[3, 2] - 0.05 * size, np.nan
        chance = [first_shares(fit_hierarchical(x, draws=960, rounds=1, rng=rng).level)[2] for x in (failed, missing)]
        moved.append(chance[0] - chance[1])
    return share(moved)


def chance(tables: int) -> str:
    """The deviation of P(best) over seeds, as the commands draw it, with a fifth of the cells missing: the largest."""
    rng = np.random.default_rng(3)
    found = []
    for _ in range(tables):
        table = made(0.3 * rng.standard_normal(4), 12, rng)
        table[rng.random(table.shape) < 0.2] = np.nan
        table[0] = np.where(np.isnan(table[0]), 0.0, table[0])
        table = table[~np.isnan(table).all(axis=1)]
        runs = [first_shares(fit_hierarchical(table, rng=np.random.default_rng(seed)).level) for seed in range(4)]
        found.append(np.std(runs, axis=0, ddof=1).max())
    return f"{np.mean(found):.4f}, at most {np.max(found):.4f}"


def families(tables: int) -> tuple[str, str]:
    """Coverage of the difference of two levels where 30 datasets are 6 families that share 80 % of the interaction:
    with the families, and taken for independent."""
    rng = np.random.default_rng(4)
    numbers, held = np.repeat(np.arange(6), 5), ([], [])
    for _ in range(tables):
        truth = 0.5 * rng.standard_normal(4)
        common = np.sqrt(0.8) * rng.standard_normal((6, 4))[numbers]
        table = made(truth, 30, rng, np.sqrt(0.2)) + common
        for known, into in ((numbers, held[0]), (None, held[1])):
            found = fit_hierarchical(table, families=known, draws=480, rounds=1, rng=rng).level
            low, high = np.quantile(found[:, 0] - found[:, 1], [0.025, 0.975])
            into.append(low < truth[0] - truth[1] < high)
    return share(held[0]), share(held[1])


def main() -> None:
    """Measure everything; write the section of the page where one is given."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--write", type=Path)
    asked = parser.parse_args()
    few = max(asked.tables // 10, 3)
    lines = [
        "How often the 95 % interval of a level holds it; and the probability that the model gives to the algorithm it "
        "favours, beside how often that is the best. Where all algorithms are equal none is the best, and the "
        f"favourite gets more than its share. {asked.tables} tables per cell, with standard errors."
    ]
    outcome = {}
    hierarchical.CHAINS = 8
    for key in product(DATASETS, ALGORITHMS, SPREADS):
        measured = levels(*key, asked.tables)
        print(*key, *measured, flush=True)
        outcome[key] = measured
    for at, what in enumerate(("Levels covered", "P(best): said / true")):
        for spread in SPREADS:
            name = f"levels of deviation {spread:g}" if spread else "equal algorithms"
            lines += ["", f"**{what}, {name}**", "", "| datasets | " + " | ".join(f"{k} algorithms" for k in ALGORITHMS)
                      + " |", "| --- " * (len(ALGORITHMS) + 1) + "|"]  # fmt: skip
            lines += [f"| {n} | " + " | ".join(outcome[n, k, spread][at] for k in ALGORITHMS) + " |" for n in DATASETS]
    related = families(asked.tables)
    lines += ["", "**One failure, families, chance**", "", "| what | measured |", "| --- | --- |"]
    lines += [
        f"| P(best) after one cell {size} deviations low, {n} datasets, minus that with the cell missing | "
        f"{failures(size, n, few)} |"
        for size, n in ((10, 15), (160, 15), (160, 6))
    ]
    lines += [
        f"| 95 % interval of a difference of levels, 6 families of 5 datasets that share 80 %: families known | "
        f"{related[0]} |",
        f"| the same, datasets taken for independent | {related[1]} |",
    ]
    hierarchical.CHAINS = 32
    lines += [f"| deviation of P(best) over seeds, a fifth of the cells missing | {chance(max(few // 2, 3))} |"]
    text = "\n".join(lines)
    print(text)
    if asked.write is not None:
        write_section(asked.write, "Model", text)


if __name__ == "__main__":
    main()
