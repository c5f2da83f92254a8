"""What a prior from published tables is worth to an adaptive run, and what a wrong one costs.

python benchmarks/adaptive_prior.py halves [N]       KDD'24: 15 datasets known, 15 replayed, N random halves
python benchmarks/adaptive_prior.py tables           KDD'24 and Bi-ReIRT whole, prior from the other tables
python benchmarks/adaptive_prior.py synthetic [N]    N grids per kind: right, partly right and shuffled priors
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from itertools import product

import numpy as np
from adaptive import as_benchmark, judged, mean_ranks
from scipy import stats

import recassay
from recassay.analysis.adaptive.fit import (
    Benchmark,
    CellGrid,
    Prior,
    Question,
    as_evidence,
    prior_from,
    read_benchmark,
    replay,
    replay_costs,
)
from recassay.analysis.adaptive.result import AdaptiveResult
from recassay.api.published_prior import published_prior
from recassay.core.choices import AdaptiveTarget
from recassay.testing.grids import GRID_KINDS, synthetic_grid

TARGETS: tuple[AdaptiveTarget, ...] = ("first", "order")
SHARES = (0.005, 0.02)
Case = tuple[str, Benchmark, dict[str, Prior | None]]
"""What is replayed, and the priors to start from."""


def run(name: str, table: Benchmark, target: AdaptiveTarget, prior: Prior | None, seed: int) -> dict[str, float]:
    """Cost of the first claim, whether it is right, and Spearman's rho at `SHARES`."""
    costs, truth = replay_costs(table), mean_ranks(table.values)
    seen: list[AdaptiveResult] = []
    found = replay(table, Question(target), prior=prior, told=seen.append, seed=seed)
    paid = [float(costs[step.measured].sum() / costs.sum()) for step in seen]
    order = [table.grid.algorithms.index(algorithm) for algorithm in found.order]
    row = {"cost": paid[-1], "right": float(judged(order, truth, 1.0)[target]), "weight": found.prior_weight}
    for share in SHARES:
        until = [step for step, spent in zip(seen, paid, strict=True) if 0 < spent <= share]
        row[f"rho {share}"] = float(stats.spearmanr(until[-1].mean_ranks, truth)[0]) if until else np.nan
    print(f"# {name} {target}: " + ", ".join(f"{key} {value:.4f}" for key, value in row.items()), flush=True)
    return row


def judge(cases: Callable[[], Iterable[Case]]) -> None:
    """A row per target and prior: median cost, claims that are right with their 95 % interval, rho."""
    rows: dict[tuple[str, str], list[dict[str, float]]] = {}
    for number, (name, table, priors) in enumerate(cases()):
        for target, (kind, prior) in product(TARGETS, priors.items()):
            rows.setdefault((target, kind), []).append(run(f"{name} {kind}", table, target, prior, number))
    print("| target | prior | median cost | right | 95 % interval | rho at 0.5 % | rho at 2 % | counts as datasets |")
    print("|---|---|---|---|---|---|---|---|")
    for (target, kind), found in rows.items():
        right = int(sum(row["right"] for row in found))
        interval = stats.binomtest(right, len(found)).proportion_ci()
        rho = [np.nanmean([row[f"rho {share}"] for row in found]) for share in SHARES]
        cost = 100 * np.median([row["cost"] for row in found])
        print(
            f"| {target} | {kind} | {cost:.2f} % | {right} of {len(found)} | "
            f"{100 * interval.low:.0f} to {100 * interval.high:.0f} % | {rho[0]:.3f} | {rho[1]:.3f} | "
            f"{np.mean([row['weight'] for row in found]):.1f} |"
        )


def known(table: Benchmark, datasets: np.ndarray, names: Iterable[str]) -> Prior | None:
    """The prior that some datasets of a table give, its algorithms going by `names`."""
    features = table.grid.features
    assert features is not None
    evidence = as_evidence("known", tuple(names), table.values[:, datasets], replay_costs(table)[:, datasets],
                           features[datasets, 0], np.random.default_rng(0))  # fmt: skip
    return prior_from([evidence], table.grid.algorithms)


def split(name: str, whole: Benchmark, rng: np.random.Generator, kinds: tuple[str, ...]) -> Case:
    """Half of a table with the priors that its other half gives: right, shuffled, or with half of the names changed."""
    order = rng.permutation(len(whole.grid.datasets))
    half = len(order) // 2
    before, after = np.sort(order[:half]), np.sort(order[half:])
    algorithms = whole.grid.algorithms
    assert whole.grid.features is not None
    grid = CellGrid(whole.grid.metric, algorithms, tuple(whole.grid.datasets[j] for j in after),
                    whole.grid.features[after])  # fmt: skip
    partly = list(algorithms)
    moved = rng.permutation(len(algorithms))[: len(algorithms) // 2]
    for here, there in zip(moved, np.roll(moved, 1), strict=True):
        partly[here] = algorithms[there]
    names = {"right": algorithms, "shuffled": rng.permutation(algorithms).tolist(), "partly right": partly}
    priors = {kind: None if kind == "none" else known(whole, before, names[kind]) for kind in kinds}
    return name, Benchmark(grid, whole.values[:, after], replay_costs(whole)[:, after], True), priors


def halves(count: int) -> Iterable[Case]:
    """Random halves of KDD'24, ndcg@10."""
    source = "published:kdd24"
    whole = read_benchmark(
        recassay.load_results(source), "ndcg@10", characteristics=recassay.load_characteristics(source)
    )
    for number in range(count):
        rng = np.random.default_rng([33, number])
        yield split(f"half {number}", whole, rng, ("none", "right", "shuffled"))


def tables() -> Iterable[Case]:
    """Whole published tables, with what the others say."""
    for source in ("published:kdd24", "published:bi-reirt"):
        sized = recassay.load_characteristics(source) if source.endswith("kdd24") else None
        table = read_benchmark(recassay.load_results(source), "ndcg@10", characteristics=sized)
        yield source, table, {f"{source} none": None, f"{source} others": published_prior(table.grid)}


def synthetic(count: int) -> Iterable[Case]:
    """Halves of synthetic grids of every kind."""
    for kind, number in product(GRID_KINDS, range(count)):
        rng = np.random.default_rng([34, number, GRID_KINDS.index(kind)])
        grid = synthetic_grid(kind, rng, algorithms=11, datasets=30)
        whole = as_benchmark(grid.values, grid.seconds, grid.features)
        yield split(f"{kind} {number}", whole, rng, ("none", "right", "partly right", "shuffled"))


def main(arguments: list[str]) -> None:
    """Run what is asked."""
    what = arguments[0] if arguments else "tables"
    count = int(arguments[1]) if len(arguments) > 1 else 20
    judge({"halves": lambda: halves(count), "synthetic": lambda: synthetic(count)}.get(what, tables))


if __name__ == "__main__":
    main(sys.argv[1:])
