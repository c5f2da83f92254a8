"""Is the power that `plan` states the power that a new benchmark has? By simulation, with known levels.

    python3 dev.py bench calibration_plan
    python benchmarks/calibration_plan.py [--tables 200] [--write docs/evidence/calibration.md]

On every dataset an algorithm's score is the dataset's level, its own level (deviation 0.5) and noise of deviation 1.
The pair that is planned for is the leader and the second, as a reader would take them. The truth is a signed-rank test
on new datasets, simulated.
"""

from __future__ import annotations

import argparse
from functools import lru_cache
from pathlib import Path

import numpy as np
from calibration import write_section
from calibration_model import made, share

from recassay.analysis.inference import hierarchical
from recassay.analysis.inference.hierarchical import fit_hierarchical
from recassay.analysis.inference.wilcoxon import sum_distribution
from recassay.analysis.plan.fit import datasets_needed, power_of, standardised

SPREAD, ALPHA, POWER = 0.5, 0.05, 0.8


@lru_cache(maxsize=4096)
def true_power(standard: float, n: int) -> float:
    """The share of benchmarks of n datasets whose signed-rank test shows a difference of this mean over deviation."""
    rng = np.random.default_rng([5, n, int(1e6 * abs(standard)), standard < 0])
    gaps = standard + rng.standard_normal((1000, n))
    ranks = np.abs(gaps).argsort(axis=1).argsort(axis=1) + 1
    lost = (ranks * (gaps < 0)).sum(axis=1)
    tail = 2 * np.cumsum(sum_distribution(np.arange(1, n + 1)))
    return float(((tail[np.minimum(lost, len(tail) - 1)] <= ALPHA) & (lost < n * (n + 1) / 4)).mean())


def planned(n: int, k: int, tables: int) -> list[str]:
    """Datasets, algorithms, chance of the lead and how often it is real, assurance and true power."""
    rng = np.random.default_rng([6, n, k])
    real, right, assured, powered, reached = [], [], [], [], []
    for _ in range(tables):
        levels = SPREAD * rng.standard_normal(k)
        found = fit_hierarchical(made(levels, n, rng), draws=800, rounds=1, rng=rng)
        a, b = np.argsort(-found.level.mean(axis=0))[:2]
        gap = found.level[:, a] - found.level[:, b]
        standard = standardised(gap, found.new[:, a] - found.new[:, b] - gap, rng)
        truth = float((levels[a] - levels[b]) / np.sqrt(2))
        real.append((gap > 0).mean())
        right.append(truth > 0)
        assured.append(power_of(standard, n, ALPHA).mean())
        powered.append(true_power(truth, n))
        asked = datasets_needed(standard, ALPHA, POWER)
        if asked is not None and asked <= 300:
            reached.append(true_power(truth, asked))
    at = share(reached) if len(reached) > 5 else "-"
    return [str(n), str(k), f"{np.mean(real):.2f} / {share(right)}", f"{np.mean(assured):.2f} / {share(powered)}",
            f"{at} ({len(reached)} of {tables})"]  # fmt: skip


def main() -> None:
    """Measure; write the section of the page where one is given."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--write", type=Path)
    asked = parser.parse_args()
    hierarchical.CHAINS = 8
    lines = [
        "The leader and the second of a table whose levels have deviation 0.5. First the chance that the lead is real, "
        "beside how often it is. Then the chance that as many new datasets show it, beside the true power. Last the "
        f"true power at the number of datasets that is stated for power {POWER:g}, where that is at most 300. "
        f"{asked.tables} tables per row, with standard errors.",
        "",
        "| datasets | algorithms | lead real: said / true | shown again: said / true | true power as planned |",
        "| --- | --- | --- | --- | --- |",
    ]
    for n in (5, 10, 15, 30):
        for k in (2, 4, 8):
            lines.append(f"| {' | '.join(planned(n, k, asked.tables))} |")
            print(lines[-1], flush=True)
    if asked.write is not None:
        write_section(asked.write, "Plan", "\n".join(lines))


if __name__ == "__main__":
    main()
