"""Size, coverage and accuracy of the tests over users, by simulation: what `docs/users.md` promises.

    python benchmarks/calibration_users.py [--simulations 1000] [--json FILE]

Scores are drawn as a top list's nDCG is: a user is hit with a chance that varies between users (beta distributed), a
hit at rank r scores 1 / log2(r + 1), a miss 0. "hits" are 0 or 1; "dense" scores have no zeros.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from recassay.analysis.inference.significance import holm
from recassay.analysis.users.fit import user_intervals
from recassay.analysis.users.random_effects import random_effects
from recassay.analysis.users.sign_flip import _saddlepoint, sign_flip_p
from recassay.analysis.users.uplift import uplifts
from recassay.core.seeds import derived_rng

Draw = Callable[[np.random.Generator, int, int], np.ndarray]
"""From a generator, a number of algorithms and of users: equal algorithms' scores, algorithms x users."""


def ndcg(rng: np.random.Generator, algorithms: int, users: int, hit: float = 0.2) -> np.ndarray:
    """Sparse scores: most users are missed."""
    chance = np.minimum(rng.beta(0.6, 1.5, size=users) * hit / (0.6 / 2.1), 1)
    rank = rng.integers(1, 11, size=(algorithms, users))
    return np.where(rng.random((algorithms, users)) < chance, 1 / np.log2(rank + 1), 0.0)


def rare(rng: np.random.Generator, algorithms: int, users: int) -> np.ndarray:
    """As `ndcg`, with one user in fifty hit."""
    return ndcg(rng, algorithms, users, hit=0.02)


def hits(rng: np.random.Generator, algorithms: int, users: int) -> np.ndarray:
    """0 or 1."""
    return (ndcg(rng, algorithms, users) > 0).astype(np.float64)


def dense(rng: np.random.Generator, algorithms: int, users: int) -> np.ndarray:
    """Scores between 0 and 1 with a share of each user's own."""
    return np.clip(rng.beta(2, 5, size=users) + rng.normal(0, 0.1, size=(algorithms, users)), 0, 1)


def lopsided(rng: np.random.Generator, algorithms: int, users: int) -> np.ndarray:
    """Equal means of unequal shape: one algorithm scores 1 for a tenth of users, the other 0.1 for all."""
    values = np.empty((algorithms, users))
    values[0::2] = (rng.random((len(values[0::2]), users)) < 0.1).astype(np.float64)
    values[1::2] = 0.1
    return values + rng.normal(0, 0.01, size=users)


KINDS: dict[str, Draw] = {"ndcg": ndcg, "rare": rare, "hits": hits, "dense": dense, "lopsided": lopsided}
USERS = (10, 30, 100, 1000)


def size_of_the_test(simulations: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    """How often two equal algorithms differ at 0.05, and how often any of 4 or 8 does after Holm's correction."""
    rows = []
    for kind, draw in KINDS.items():
        for users in USERS:
            gaps = np.stack([np.subtract(*draw(rng, 2, users)) for _ in range(simulations)], axis=1)
            size = float(np.mean(sign_flip_p(gaps, rng) < 0.05))
            row: dict[str, Any] = {"scores": kind, "users": users, "size": size}
            for k in (4, 8) if kind != "lopsided" else ():
                left, right = np.triu_indices(k, 1)
                worst = []
                for _ in range(max(simulations // 4, 1)):
                    values = draw(rng, k, users)
                    worst.append(holm(sign_flip_p((values[left] - values[right]).T, rng)).min() < 0.05)
                row[f"any of {k}"] = float(np.mean(worst))
            rows.append(row)
    return rows


def coverage_of_intervals(simulations: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    """How often 95 % intervals hold the true mean, and the true difference to an algorithm that hits half as often."""
    rows = []
    pair = np.array([0]), np.array([1])
    for kind, hit in (("ndcg", 0.3), ("ndcg", 0.1), ("hits", 0.2), ("dense", 0.0)):

        def draw(generator: np.random.Generator, users: int, kind: str = kind, hit: float = hit) -> np.ndarray:
            if kind == "dense":
                values = dense(generator, 2, users)
                values[1] *= 0.9
                return values
            chance = np.minimum(generator.beta(0.6, 1.5, size=users) * hit / (0.6 / 2.1), 1)
            hit_now = generator.random((2, users)) < chance * np.array([[1.0], [0.5]])
            rank = generator.integers(1, 11, size=(2, users))
            return np.where(hit_now, 1.0 if kind == "hits" else 1 / np.log2(rank + 1), 0.0)

        truth = draw(rng, 2_000_000).mean(axis=1)
        for users in USERS:
            held = np.zeros(2)
            for _ in range(simulations):
                values = draw(rng, users)
                means, gaps = user_intervals(values, *pair, confidence=0.95, replicates=500, rng=rng)
                held += (means[0, 0] <= truth[0] <= means[0, 1], gaps[0, 0] <= truth[0] - truth[1] <= gaps[0, 1])
            of_mean, of_difference = (held / simulations).tolist()
            rows.append({"scores": f"{kind}, {hit:g} hit" if hit else kind, "users": users, "mean": of_mean,
                         "difference": of_difference})  # fmt: skip
    return rows


def coverage_of_uplifts(simulations: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    """How often 95 % intervals of an uplift over a reference hold the truth, users being drawn again."""

    def lists(chances: tuple[float, float]) -> Callable[[int], np.ndarray]:
        def draw(users: int) -> np.ndarray:
            ease = rng.beta(0.6, 1.5, size=users) / (0.6 / 2.1)
            rank = rng.integers(1, 11, size=(2, users))
            hit = rng.random((2, users)) < np.minimum(ease * np.array(chances)[:, None], 1)
            return np.where(hit, 1 / np.log2(rank + 1), 0.0)

        return draw

    def reciprocal(users: int) -> np.ndarray:
        rank = rng.geometric([[0.04], [0.03]], size=(2, users))
        return np.where(rank <= 10, 1 / rank, 0.0)

    def spend(users: int) -> np.ndarray:
        bought = rng.random((2, users)) < np.array([[0.3], [0.25]])
        return np.where(bought, np.exp(0.5 * rng.normal(size=users) + 0.7 * rng.normal(size=(2, users))), 0.0)

    kinds: dict[str, Callable[[int], np.ndarray]] = {
        "nDCG@10, 30 and 25 % of users hit": lists((0.3, 0.25)),
        "nDCG@10, 10 and 5 % hit": lists((0.1, 0.05)),
        "nDCG@10, 2 % hit": lists((0.02, 0.02)),
        "reciprocal rank, a third hit": reciprocal,
        "dense, between 0 and 1": lambda users: dense(rng, 2, users) * np.array([[1.0], [0.9]]),
        "spend, a third buy, lognormal sums": spend,
    }
    rows = []
    for kind, draw in kinds.items():
        means = np.mean([draw(1_000_000).mean(axis=1) for _ in range(4)], axis=0)
        row: dict[str, Any] = {"scores": kind}
        for users in (100, 300, 1000, 3000):
            spans = [uplifts(own[None], base, confidence=0.95)[0, 1:] for own, base in map(draw, [users] * simulations)]
            low, high = np.array(spans).T + 1
            row[f"{users:,}"] = float(np.mean((low <= means[0] / means[1]) & (means[0] / means[1] <= high)))
        rows.append(row)
    return rows


def random_effects_calibration(simulations: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Size at 0.05 and coverage of 95 % intervals over N datasets, with and without a spread of the true differences.

    Sizes are those of real studies (50 to 2,000 users, log-uniform), or one dataset of a million among others of 100 to
    1,000.
    """
    rows = []
    for sizes, datasets, tau in product(("50 to 2,000", "one of 1,000,000"), (3, 5, 10, 30), (0.0, 0.005, 0.02)):
        rejected = held = predicted = 0
        for _ in range(simulations):
            users = np.exp(rng.uniform(np.log(50), np.log(2000), size=datasets)).astype(np.int64)
            if sizes.startswith("one"):
                users = np.append(rng.integers(100, 1001, size=datasets - 1), 1_000_000)
            true = rng.normal(0, tau, size=datasets)
            spread = rng.uniform(0.1, 0.4, size=datasets)
            effects = true + rng.normal(size=datasets) * spread / np.sqrt(users)
            variances = spread**2 * rng.chisquare(users - 1) / (users - 1) / users
            found = random_effects(effects, variances)
            rejected += found.p < 0.05
            held += found.low <= 0 <= found.high
            predicted += found.predicted_low <= rng.normal(0, tau) <= found.predicted_high
        shares = [count / simulations for count in (rejected, held, predicted)]
        names = ("users", "datasets", "tau", "size", "coverage", "prediction")
        rows.append(dict(zip(names, (sizes, datasets, tau, *shares), strict=True)))
    return rows


def accuracy_of_the_saddlepoint(simulations: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    """The largest relative error of p at 30 differences, where all 2^30 assignments can be counted."""
    rows = []
    for kind, sizes in (("ndcg", lambda: 1 / np.log2(rng.integers(1, 11, 30) + 1) + rng.normal(0, 0.003, 30)),
                        ("exponential", lambda: rng.exponential(size=30)),
                        ("normal", lambda: np.abs(rng.normal(size=30)))):  # fmt: skip
        errors = []
        for _ in range(max(simulations // 10, 10)):
            gaps = (sizes() * rng.choice([-1, 1], size=30, p=[0.35, 0.65]))[:, None]
            exact = sign_flip_p(gaps, rng)[0]
            if exact > 1e-4:
                errors.append(abs(_saddlepoint(gaps)[0] / exact - 1))
        rows.append({"sizes": kind, "median error": float(np.median(errors)), "largest error": float(np.max(errors))})
    return rows


def main() -> None:
    """Run all parts and print them as tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = {}
    parts = (
        size_of_the_test,
        coverage_of_intervals,
        coverage_of_uplifts,
        random_effects_calibration,
        accuracy_of_the_saddlepoint,
    )
    for part in parts:
        rows = part(options.simulations, derived_rng(0, "calibration of users", part.__name__))
        found[part.__name__] = rows
        print(f"\n{(part.__doc__ or '').splitlines()[0]}")
        print(" | ".join(rows[0]))
        for row in rows:
            cells = (f"{value:.3f}" if isinstance(value, float) else str(value) for value in row.values())
            print(" | ".join(cells), flush=True)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
