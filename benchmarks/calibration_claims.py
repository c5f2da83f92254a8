"""What no other script measures: skewed differences, families of datasets, effects, ratings, cells missing where weak.

    python benchmarks/calibration_claims.py [--tables 400]

Every share is printed with its standard error.
"""

from __future__ import annotations

import argparse

import numpy as np
from calibration_model import share

from recassay.analysis.inference.effects import equivalence_p, hodges_lehmann
from recassay.analysis.inference.skillings_mack import skillings_mack
from recassay.analysis.inference.wilcoxon import wilcoxon_rows
from recassay.analysis.ratings.fit import rate_by_pairs
from recassay.analysis.users.fit import user_intervals
from recassay.analysis.verdict.decision import decide
from recassay.core.tables.matrix import Matrix

LISTS = 1 / np.log2(np.arange(1, 11) + 1)
"""What a hit at each place of a list of ten scores."""


def matrix(values: np.ndarray) -> Matrix:
    """A table of algorithms x datasets."""
    names = tuple(f"a{i:02d}" for i in range(len(values))), tuple(f"d{j:02d}" for j in range(values.shape[1]))
    return Matrix(values, *names, "score", True)


def skewed(kind: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Differences of mean 0 and deviation about 1."""
    noise = rng.standard_normal(shape)
    if kind == "normal":
        return noise
    if kind == "lognormal":
        return (np.exp(noise) - np.exp(0.5)) / 2.16
    if kind == "rare losses":
        return 0.5 * noise - 3.0 * (rng.random(shape) < 0.1) + 0.3
    return 0.3 * noise + 5.0 * (rng.random(shape) < 0.05) - 0.25


def equivalence(tables: int, rng: np.random.Generator) -> None:
    """How often two algorithms are called equivalent whose typical, or whose mean, difference lies at the margin."""
    print("equivalence: false findings where the typical / the mean difference is at the margin")
    for kind in ("normal", "lognormal", "rare losses", "rare gains"):
        pairs = skewed(kind, (2, 1_000_000), rng).mean(axis=0)
        typical = float(np.median(pairs))
        for n in (8, 15, 30):
            gaps = skewed(kind, (5 * tables, n), rng)
            false = [wilcoxon_rows(-(gaps - at)).greater < 0.05 for at in (typical, 0.0)]
            print(f"  {kind}, {n} datasets: {share(false[0])} / {share(false[1])}", flush=True)


def rare_gains(tables: int, rng: np.random.Generator) -> None:
    """How often the interval of a mean difference over users holds it, where one user in twenty gains."""
    print("intervals over users, one in twenty gains, none else")
    for kind in ("nDCG", "exponential", "lognormal"):
        for users in (30, 100, 300, 1000):
            held = []
            for _ in range(tables):
                size = {
                    "nDCG": rng.choice(LISTS, size=users),
                    "exponential": rng.exponential(size=users),
                    "lognormal": np.exp(rng.standard_normal(users)),
                }[kind]
                truth = 0.05 * {"nDCG": LISTS.mean(), "exponential": 1.0, "lognormal": np.exp(0.5)}[kind]
                values = np.stack([size * (rng.random(users) < 0.05), np.zeros(users)])
                pair = np.array([0]), np.array([1])
                low, high = user_intervals(values, *pair, confidence=0.95, replicates=2, rng=rng)[1][0]
                held.append(low <= truth <= high)
            print(f"  {kind} gains, {users} users: {share(held)}", flush=True)


def families(tables: int, rng: np.random.Generator) -> None:
    """Size and power of the test of all pairs on families of three datasets that share 80 % of what is theirs."""
    print("families: size / power (better by 1.5), by families, and taken for independent")
    for count in (8, 12):
        numbers = np.repeat(np.arange(count), 3)
        found: dict[tuple[float, bool], list[float]] = {}
        for _ in range(tables // 2):
            for better in (0.0, 1.5):
                shared, own = rng.standard_normal((5, count))[:, numbers], rng.standard_normal((5, len(numbers)))
                values = np.r_[better, np.zeros(4)][:, None] + np.sqrt(0.8) * shared + np.sqrt(0.2) * own
                for known in (True, False):
                    codes = decide(
                        matrix(values), control=None, within=0.02, alpha=0.05, seed=1, flips=1000,
                        families=numbers if known else None,
                    ).codes  # fmt: skip
                    any_found = (codes == "better").any() if better == 0 else (codes[:4] == "better").mean()
                    found.setdefault((better, known), []).append(float(any_found))
        for known in (True, False):
            of = "families" if known else "independent"
            print(f"  {count} x 3, {of}: {share(found[0.0, known])} / {share(found[1.5, known])}", flush=True)


def effects(tables: int, rng: np.random.Generator) -> None:
    """How often the interval of the Hodges-Lehmann difference holds the typical one."""
    print("effect sizes")
    for kind in ("normal", "lognormal"):
        typical = float(np.median(skewed(kind, (2, 1_000_000), rng).mean(axis=0)))
        for n in (6, 10, 30):
            found = hodges_lehmann(skewed(kind, (5 * tables, n), rng), 0.95)
            print(f"  {kind}, {n} datasets: {share((found[:, 1] <= typical) & (typical <= found[:, 2]))}", flush=True)


def ratings(tables: int, rng: np.random.Generator) -> None:
    """How often the interval of a Bradley-Terry rating holds it, on equal algorithms."""
    print("Bradley-Terry ratings of equal algorithms")
    for n in (5, 10, 30):
        for k in (2, 4, 8):
            held = []
            for i in range(tables // 4):
                ends = rate_by_pairs(matrix(rng.standard_normal((k, n))), replicates=200, seed=i).interval
                held.append(float(((ends[:, 0] <= 1500) & (ends[:, 1] >= 1500)).mean()))
            print(f"  {n} datasets, {k} algorithms: {share(held)}", flush=True)


def missing(tables: int, rng: np.random.Generator) -> None:
    """Equal algorithms, the first of which was run only where it is not among its worst quarter: how often it leads,
    and how often the unseen cells could change the leader."""
    print("missing where weak: the favoured one leads / unseen cells are said to be able to change that")
    for n in (8, 15, 30):
        leads, open_ = [], []
        for _ in range(tables):
            values = rng.standard_normal((5, n))
            values[0, np.argsort(values[0])[: n // 4]] = np.nan
            found = skillings_mack(values, tuple("abcde"), higher_is_better=True, rng=np.random.default_rng(1))
            if found is not None and found.unseen is not None:
                first = found.unseen.algorithm == "a" and found.unseen.leader != "a"
                leads.append(first)
                if first:
                    open_.append(found.unseen.possible)
        print(f"  {n} datasets: {share(leads)} / {share(open_)}", flush=True)


def rounding(tables: int, rng: np.random.Generator) -> None:
    """Equivalence within 2 % of values that differ by 3 %, printed to one or three decimals."""
    print("rounded values: false equivalence within 2 % where the difference is 3 %")
    for decimals in (1, 3):
        false = []
        for _ in range(tables):
            base = rng.uniform(0.1, 0.9, 15)
            values = np.round(np.stack([base * 1.03, base]), decimals)
            p = equivalence_p(values, np.array([0]), np.array([1]), within=0.02)[0][0]
            false.append(p < 0.05)
        print(f"  {decimals} decimals: {share(false)}", flush=True)


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=400)
    tables = parser.parse_args().tables
    for part in (equivalence, rare_gains, effects, rounding, missing, families, ratings):
        part(tables, np.random.default_rng(len(part.__name__)))


if __name__ == "__main__":
    main()
