"""Does the verdict keep its promises where they are hard to keep? Errors over all pairs, mean ranks, leading again.

    python benchmarks/calibration_court.py [error coverage again] [--share 0.2] [--processes 2]

Tables are drawn from a known truth, among them the hard ones: algorithms equal in pairs that are far apart, an
algorithm that wins nine of ten datasets, six datasets. The page of the documentation quotes what this prints.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from multiprocessing import Pool

import numpy as np

from recassay.analysis.inference import winners
from recassay.analysis.verdict import decision
from recassay.analysis.verdict.decision import decide
from recassay.core.choices import PRACTICALLY_EQUAL
from recassay.core.seeds import derived_rng
from recassay.core.tables.matrix import Matrix

ALPHA = 0.05
TRUTHS = ("equal", "pairs", "best", "steps")
NOISES = ("normal", "heavy tails", "unequal scales")
SIZES = ((2, 6), (2, 12), (4, 6), (6, 8), (10, 8), (10, 12), (20, 10), (10, 20), (30, 20))
SHARES = (0.1, 0.2, 0.3)
SPREADS = (1.0, 5.0)
"""Scales of the prior that are tried; the last is the one in use (`winners.SPREAD`)."""


def noise(kind: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Noise of deviation 1 over the algorithms (second last axis) and datasets (last)."""
    if kind == "heavy tails":
        return rng.standard_t(3, shape) / np.sqrt(3)
    if kind == "skew":
        return rng.exponential(size=shape) - 1
    if kind == "unequal scales":  # the same for two neighbours, so that equals are exchangeable
        scale = np.exp(0.6 * rng.standard_normal((shape[-2] + 1) // 2))
        return rng.standard_normal(shape) * np.repeat(scale, 2)[: shape[-2], None]
    return rng.standard_normal(shape)


def levels(truth: str, k: int) -> np.ndarray:
    """The levels of k algorithms, in deviations of the noise."""
    steps = {"equal": np.zeros(k), "pairs": 1.5 * (np.arange(k) // 2), "steps": 0.15 * np.arange(k)}
    return steps.get(truth, np.r_[2.0, np.zeros(k - 1)])


def error(cell: tuple[str, str, int, int, int]) -> str:
    """How often any pair is called better that is not, and how many true differences are found, by share."""
    truth, kind, k, n, tables = cell
    rng, level = derived_rng(0, "error", *map(str, cell)), levels(truth, k)
    true = level[:, None] > level
    names = tuple(f"a{i:02d}" for i in range(k)), tuple(f"d{j:02d}" for j in range(n))
    false, found, clear = (np.zeros(len(SHARES)) for _ in range(3))
    for _ in range(tables):
        log = level[:, None] + noise(kind, (k, n), rng)
        matrix = Matrix(0.1 * np.exp(0.8 * rng.standard_normal(n) + 0.25 * log), *names, "score", True)
        for at, share in enumerate(SHARES):
            decision.WINNERS_SHARE = share  # type: ignore[attr-defined]
            made = decide(matrix, control=None, within=PRACTICALLY_EQUAL, alpha=ALPHA, seed=0, flips=2000)
            better = np.zeros((k, k), dtype=bool)
            better[np.ix_(made.order, made.order)] = made.better
            false[at] += (better & ~true).any()
            found[at] += (better & true).sum() / max(1, true.sum())
            clear[at] += made.grade == "clear_winner"
    percent = 100 * np.stack([false, found, clear]) / tables
    columns = (
        f"{share:.1f}: {part[0]:4.1f} % false, {part[1]:5.1f} % found, {part[2]:5.1f} % clear"
        for share, part in zip(SHARES, percent.T, strict=True)
    )
    return f"{truth:6} {kind:14} k {k:2} N {n:2} ({tables}) | " + " | ".join(columns)


def ranked(values: np.ndarray) -> np.ndarray:
    """Ranks over the second last axis, 1 the best."""
    return np.argsort(np.argsort(-values, axis=-2), axis=-2) + 1.0


def coverage(cell: tuple[str, int, int, int]) -> str:
    """How often intervals of mean ranks hold the true ones: a dominant, a middling, a weak one, the leader."""
    kind, k, n, tables = cell
    rng = derived_rng(0, "coverage", *map(str, cell))
    level = np.linspace(0.8, -0.8, k)
    low, high = 0.0, 8.0
    for _ in range(12):  # until the first wins nine of ten datasets
        level[0] = (low + high) / 2
        share = (ranked(level[:, None] + noise(kind, (k, 20_000), rng))[0] == 1).mean()
        low, high = (level[0], high) if share < 0.9 else (low, level[0])
    true = ranked(level[:, None] + noise(kind, (k, 200_000), rng)).mean(axis=1)
    held = np.zeros(4)
    for _ in range(tables):
        ranks = ranked(level[:, None] + noise(kind, (k, n), rng))
        ends = winners.mean_rank_intervals(ranks, 0.95)
        inside = (ends[:, 0] <= true) & (true <= ends[:, 1])
        held += inside[[0, k // 2, k - 1, int(ranks.mean(axis=1).argmin())]]
    parts = zip(("dominant", "middling", "weak", "observed leader"), 100 * held / tables, strict=True)
    return f"{kind:11} k {k:2} N {n:2} ({tables}) | " + " | ".join(f"{name} {share:4.1f} %" for name, share in parts)


def again(cell: tuple[str, str, int, int, int]) -> list[tuple[int, int, float, list[float]]]:
    """N, k, the true chance of the observed leader to lead again, and what was said, by scale of the prior."""
    truth, kind, k, n, tables = cell
    rng = derived_rng(0, "again", *map(str, cell))
    made = []
    for _ in range(tables):
        if truth == "many":
            level = rng.standard_normal(k) * rng.choice([0, 0.1, 0.2, 0.4, 0.8, 1.5])
        else:
            level = 0.3 * rng.standard_normal(k)
            level[0] += rng.choice([0.2, 0.5, 1.0, 1.5])
        ranks = ranked(level[:, None] + noise(kind, (k, n), rng))
        leader = int(ranks.mean(axis=1).argmin())
        new = ranked(level[:, None] + noise(kind, (300, k, n), rng)).mean(axis=2)
        tied = new <= new.min(axis=1, keepdims=True) + 1e-9
        said = []
        for spread in SPREADS:
            winners.SPREAD = spread
            said.append(float(winners.probability_first(ranks, np.random.default_rng(0), draws=2000)[leader]))
        made.append((n, k, float((tied / tied.sum(axis=1, keepdims=True))[:, leader].mean()), said))
    return made


def curve(made: list[tuple[int, int, float, list[float]]]) -> Iterator[str]:
    """By scale and N, what was said less what is true, by tenths of what was said; and the worst bin of each."""
    n, k, true = (np.array([row[at] for row in made]) for at in range(3))
    for at, spread in enumerate(SPREADS):
        said = np.array([row[3][at] for row in made])
        yield f"scale {spread}: root mean square {np.sqrt(((said - true) ** 2).mean()):.3f}"
        tenth = np.minimum((10 * said).astype(int), 9)
        for size in np.unique(n):
            bins = [(n == size) & (tenth == part) for part in range(10)]
            told = (f"{(said - true)[b].mean():+.2f}" if b.sum() >= 100 else "  .  " for b in bins)
            yield f"  N {size:2}: " + " ".join(told)
        worst = [
            (abs((said - true)[b].mean()), int(size), int(of), part)
            for size in np.unique(n) for of in np.unique(k) for part in range(10)
            if (b := (n == size) & (k == of) & (tenth == part)).sum() >= 100
        ]  # fmt: skip
        yield f"  worst by N, k and tenth: {sorted(worst)[-3:]}"


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["error", "coverage", "again"])
    parser.add_argument("--share", type=float, default=1.0, help="of the tables")
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    with Pool(asked.processes) as pool:
        if "error" in asked.parts:
            cells = [(truth, kind, k, n, max(20, round(asked.share * (1000 if k * n < 200 else 500))))
                     for truth in TRUTHS for kind in NOISES for k, n in reversed(SIZES)]  # fmt: skip
            for line in pool.imap(error, cells):
                print(line, flush=True)
        if "coverage" in asked.parts:
            cells = [(kind, k, n, max(50, round(2000 * asked.share))) for kind in ("normal", "heavy tails", "skew")
                     for k in (3, 5, 10, 25) for n in (6, 8, 12, 20, 30)]  # fmt: skip
            for line in pool.imap(coverage, cells):
                print(line, flush=True)
        if "again" in asked.parts:
            cells = [(truth, kind, k, n, max(20, round(600 * asked.share))) for truth in ("many", "one")
                     for kind in ("normal", "skew") for k in (2, 3, 5, 8, 14) for n in (30, 20, 12, 8, 6)]  # fmt: skip
            print(*curve([row for rows in pool.imap(again, cells) for row in rows]), sep="\n", flush=True)


if __name__ == "__main__":
    main()
