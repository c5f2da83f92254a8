"""Adaptive benchmarking replayed: what share of a grid's cost its answer takes, beside simpler choices; calibration.

python benchmarks/adaptive.py replay [published:kdd24]     curves and certificates on a published table with times
python benchmarks/adaptive.py calibrate [N]                claims on N synthetic grids of each kind, known truth
python benchmarks/adaptive.py real [N]                     claims on published tables, N random costs or cut grids
python benchmarks/adaptive.py decide                       seconds of one decision
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np
from scipy import stats

import recassay
from recassay.analysis.adaptive.certificate import SLACK
from recassay.analysis.adaptive.fit import Benchmark, CellGrid, Question, decide, read_benchmark, replay, replay_costs
from recassay.analysis.adaptive.result import AdaptiveResult
from recassay.analysis.dataset_space.kmeans import kmeans
from recassay.core import ties
from recassay.core.choices import AdaptiveTarget
from support.grids import GRID_KINDS, synthetic_grid

SHARES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
METRICS = ("ndcg@10", "recall@10", "precision@10", "map@10", "mrr@10", "hitrate@10")
Curve = list[tuple[float, float, float]]
"""Share of the cost, Spearman's rho with the whole grid's order, whether the first is right."""


def judged(order: Sequence[int], truth: np.ndarray, indifference: float) -> dict[str, bool]:
    """Which claims about an order are true, given the mean ranks of the whole grid."""
    ranks = truth[list(order)]
    worst, best = np.maximum.accumulate(ranks), np.minimum.accumulate(ranks[::-1])[::-1]
    return {
        "first": bool(ranks[0] <= truth.min() + SLACK),
        "top3": bool(worst[min(3, len(ranks)) - 1] <= best[min(3, len(ranks) - 1)] + SLACK),
        "order": bool((worst[:-1] - ranks[1:] <= indifference + SLACK).all()),
        "rho": bool(stats.spearmanr(np.arange(len(ranks)), ranks)[0] >= 0.97 - SLACK),
    }


def at_shares(curve: Curve, field: int) -> list[float]:
    """A field of a curve at `SHARES`: that of the last point that costs no more."""
    found = []
    for share in SHARES:
        reached = [point[field] for point in curve if point[0] <= share + 1e-12]
        found.append(reached[-1] if reached else np.nan)
    return found


def mean_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks of a complete table, and 1 for the best, averaged over datasets."""
    return ties.ranks(values, higher_is_better=True, axis=0).mean(axis=1)


def follow(
    benchmark: Benchmark, target: AdaptiveTarget, *, indifference: float = 1.0, until: float = 1.0, seed: int = 0
) -> tuple[list[AdaptiveResult], Curve]:
    """Every decision of a replay up to a share of the cost, and its curve."""
    costs, truth = replay_costs(benchmark), mean_ranks(benchmark.values)
    results: list[AdaptiveResult] = []
    replay(
        benchmark,
        Question(target, 0.9999, indifference),
        progress=results.append,
        seed=seed,
        budget=until * costs.sum(),
    )
    curve = []
    for result in results[1:]:
        order = [benchmark.grid.algorithms.index(name) for name in result.order]
        rho = stats.spearmanr(result.mean_ranks, truth)[0]
        paid = float(costs[result.measured].sum() / costs.sum())
        curve.append((paid, float(rho), float(judged(order, truth, indifference)["first"])))
    return results[1:], curve


def by_columns(values: np.ndarray, costs: np.ndarray, sets: Iterable[Sequence[int]]) -> Curve:
    """Mean ranks over complete datasets, for growing sets of them."""
    ranks, truth = ties.ranks(values, higher_is_better=True, axis=0), mean_ranks(values)
    curve = []
    for chosen in sets:
        mean = ranks[:, list(chosen)].mean(axis=1)
        first = truth[int(mean.argmin())] <= truth.min() + SLACK
        share = float(costs[:, list(chosen)].sum() / costs.sum())
        curve.append((share, float(stats.spearmanr(mean, truth)[0]), float(first)))
    return sorted(curve)


def by_cells(values: np.ndarray, costs: np.ndarray, order: np.ndarray) -> Curve:
    """Scattered cells in this order: the mean of each algorithm's relative rank among those run on a dataset."""
    truth, done, curve = mean_ranks(values), np.zeros(values.shape, bool), []
    for count, cell in enumerate(order, 1):
        done[np.unravel_index(cell, values.shape)] = True
        if count % 5:
            continue
        seen = np.where(done, values, np.nan)
        above = (seen[None] > seen[:, None]).sum(axis=1) + 0.5
        relative = np.where(done, above / np.maximum(done.sum(axis=0), 1), np.nan)
        known = done.any(axis=1)
        mean = np.full(len(values), 0.5)
        mean[known] = np.nanmean(relative[known], axis=1)
        if np.ptp(mean) == 0:
            continue
        first = truth[int(mean.argmin())] <= truth.min() + SLACK
        curve.append((float(costs[done].sum() / costs.sum()), float(stats.spearmanr(mean, truth)[0]), float(first)))
    return curve


def k_means_sets(features: np.ndarray, rng: np.random.Generator) -> list[list[int]]:
    """For every number of clusters, the datasets nearest to their centres."""
    points = (features - features.mean(axis=0)) / features.std(axis=0)
    sets = []
    for k in range(1, len(points)):
        _, centres = kmeans(points, k, rng, starts=20)
        distance = ((points[:, None] - centres[None]) ** 2).sum(axis=2)
        sets.append(sorted(set(distance.argmin(axis=0).tolist())))
    return sets


def baselines(benchmark: Benchmark, features: np.ndarray, draws: int = 100) -> dict[str, list[Curve]]:
    """Curves of the simpler choices; `features` (datasets x p) are what k-means groups the datasets by."""
    values, costs, n = benchmark.values, replay_costs(benchmark), len(benchmark.grid.datasets)
    rng = np.random.default_rng(0)

    def growing(order: Sequence[int]) -> list[Sequence[int]]:
        return [order[:k] for k in range(1, n + 1)]

    return {
        "random cells": [by_cells(values, costs, rng.permutation(values.size)) for _ in range(draws // 5)],
        "random datasets": [by_columns(values, costs, growing(rng.permutation(n).tolist())) for _ in range(draws)],
        "cheapest datasets first": [by_columns(values, costs, growing(np.argsort(costs.sum(axis=0)).tolist()))],
        "k-means choice": [by_columns(values, costs, k_means_sets(features, rng)) for _ in range(draws // 10)],
    }


def show(label: str, curves: Sequence[Curve], field: int) -> None:
    """A row of a table: the mean over curves at `SHARES`."""
    with np.errstate(all="ignore"):
        rows = np.array([at_shares(curve, field) for curve in curves])
        reached = ~np.isnan(rows)
        mean = np.where(reached.any(axis=0), np.nansum(rows, axis=0) / np.maximum(reached.sum(axis=0), 1), np.nan)
    print(f"| {label} | " + " | ".join("" if np.isnan(x) else f"{x:.3f}" for x in mean) + " |", flush=True)


def first_claims(
    results: Sequence[AdaptiveResult], benchmark: Benchmark, confidence: float, indifference: float
) -> dict[str, tuple[float, bool]]:
    """By target, the share of the cost at which it was first certified, and whether the claim was right."""
    costs, truth = replay_costs(benchmark), mean_ranks(benchmark.values)
    found: dict[str, tuple[float, bool]] = {}
    for result in results:
        order = [benchmark.grid.algorithms.index(name) for name in result.order]
        right = judged(order, truth, indifference)
        for target, probability in result.probabilities.items():
            if probability >= confidence and target not in found:
                found[target] = (float(costs[result.measured].sum() / costs.sum()), right[target])
    return found


def replay_published(source: str, metrics: Sequence[str] = METRICS) -> None:
    """Curves and certificates of every accuracy metric of a published table with times."""
    results = recassay.load_results(source)
    known = recassay.load_characteristics(source)
    tables = {metric: read_benchmark(results, metric, characteristics=known) for metric in metrics}
    runs = {}
    for target in ("first", "order", "top3", "rho"):
        for metric, benchmark in tables.items():
            start = time.process_time()
            runs[metric, target] = follow(benchmark, target, until=0.25 if target in ("first", "rho") else 0.55)
            claims = first_claims(runs[metric, target][0], benchmark, 0.95, 1.0)
            said = ", ".join(f"{t} {100 * s:.2f} % ({'right' if ok else 'WRONG'})" for t, (s, ok) in claims.items())
            steps = len(runs[metric, target][0])
            print(f"{metric}, aimed at {target}: certified at {said}; {steps} decisions, "
                  f"{(time.process_time() - start) / steps:.2f} s each", flush=True)  # fmt: skip
    aligned = known.aligned(next(iter(tables.values())).grid.datasets)
    users, items, events = (np.log(aligned.values[:, aligned.names.index(name)]) for name in ("Nu", "Ni", "Nr"))
    features = np.column_stack([events, users - items, events - users - items])  # size, shape and density
    simple = [baselines(benchmark, features) for benchmark in tables.values()]
    for field, title in ((1, "Spearman's rho"), (2, "the first is right")):
        print(
            f"\nmeans over {len(metrics)} metrics\n\n| {title} | " + " | ".join(f"{100 * s:g} %" for s in SHARES) + " |"
        )
        for target in ("first", "order", "rho"):
            show(f"adaptive, aimed at {target}", [runs[metric, target][1] for metric in metrics], field)
        for label in simple[0]:
            show(label, [curve for found in simple for curve in found[label]], field)


def as_benchmark(values: np.ndarray, seconds: np.ndarray, log_size: np.ndarray | None) -> Benchmark:
    """Arrays as a benchmark."""
    names = tuple(f"a{i:02d}" for i in range(len(values)))
    grid = CellGrid("value", names, tuple(f"d{j:02d}" for j in range(values.shape[1])), log_size)
    return Benchmark(grid, values, seconds)


def claims_on(
    label: str, make: Callable[[int], Benchmark], count: int, target: AdaptiveTarget, until: float = 1.0
) -> list[bool]:
    """The first certified claim about the target on each of so many grids: how many are right, and their cost."""
    right, shares, missing = [], [], 0
    for number in range(count):
        benchmark = make(number)
        costs, truth = replay_costs(benchmark), mean_ranks(benchmark.values)
        found = replay(benchmark, Question(target), seed=number, budget=until * costs.sum())
        order = [benchmark.grid.algorithms.index(name) for name in found.order]
        if found.certified:
            right.append(judged(order, truth, found.indifference)[target])
            shares.append(float(costs[found.measured].sum() / costs.sum()))
        else:
            missing += 1
    if right:
        print(f"| {label} | {target} | {sum(right)} of {len(right)} | {100 * np.median(shares):.1f} % |", flush=True)
    return right


def calibrate(count: int) -> None:
    """Claims on synthetic grids, whose seeds are not those on which the settings were chosen."""
    print("| grids | target | right at 95 % | median share of the cost |\n|---|---|---|---|")
    for target in ("first", "order", "top3"):
        every: list[bool] = []
        for kind in GRID_KINDS:

            def make(number: int, kind: str = kind) -> Benchmark:
                rng = np.random.default_rng([2026, number, GRID_KINDS.index(kind)])
                grid = synthetic_grid(kind, rng)
                return as_benchmark(grid.values, grid.seconds, grid.features[:, 0])

            every += claims_on(kind, make, count, target)
        print(f"| all | {target} | {sum(every)} of {len(every)} ({100 * np.mean(every):.1f} %) | |", flush=True)


def calibrate_real(count: int) -> None:
    """Claims on parts of published tables: random algorithms and datasets of them, times as published or drawn."""
    print("| grids | target | right at 95 % | median share of the cost |\n|---|---|---|---|")
    known = recassay.load_characteristics("published:kdd24")
    tables = [
        read_benchmark(recassay.load_results("published:kdd24"), metric, characteristics=known) for metric in METRICS
    ]
    others = [
        read_benchmark(recassay.load_results("published:bi-reirt"), metric) for metric in ("ndcg@10", "hitrate@10")
    ]

    def part(number: int) -> Benchmark:
        rng = np.random.default_rng([7, number])
        whole = tables[number % len(tables)]
        rows = np.sort(rng.choice(11, int(rng.integers(6, 11)), replace=False))
        columns = np.sort(rng.choice(30, int(rng.integers(12, 26)), replace=False))
        at = np.ix_(rows, columns)
        assert whole.grid.log_size is not None
        return as_benchmark(whole.values[at], replay_costs(whole)[at], whole.grid.log_size[columns])

    def drawn(number: int) -> Benchmark:
        rng = np.random.default_rng([8, number])
        whole = others[number % len(others)]
        m = len(whole.grid.algorithms)
        rows = np.sort(rng.choice(m, int(rng.integers(6, m + 1)), replace=False))
        values = whole.values[rows]
        size, slow = rng.normal(0, 1.6, values.shape[1]), rng.normal(0, 1.8, (len(rows), 1))
        seconds = np.exp(slow + size + rng.normal(0, 0.4, values.shape))
        return as_benchmark(values, seconds, None)

    for target in ("first", "order"):
        claims_on("parts of KDD'24", part, count, target)
        claims_on("BI-ReIRT, drawn times", drawn, count, target)


def time_decisions() -> None:
    """Processor seconds of a decision."""
    for m, n in ((11, 30), (30, 30)):
        grid = synthetic_grid("factors", np.random.default_rng(0), algorithms=m, datasets=n)
        hidden = np.random.default_rng(1).random((m, n)) < 0.5
        benchmark = as_benchmark(np.where(hidden, np.nan, grid.values), grid.seconds, grid.features[:, 0])
        for _ in range(2):
            start = time.process_time()
            decide(benchmark.grid, Question("order"), benchmark.values, benchmark.seconds)
            took = time.process_time() - start
        print(f"{m} x {n}, half of the cells run: {took:.2f} s a decision", flush=True)


def main(arguments: list[str]) -> None:
    """Run what is asked, or a little of everything."""
    what = arguments[0] if arguments else "decide"
    if what == "replay":
        replay_published(arguments[1] if len(arguments) > 1 else "published:kdd24")
    elif what == "calibrate":
        calibrate(int(arguments[1]) if len(arguments) > 1 else 20)
    elif what == "real":
        calibrate_real(int(arguments[1]) if len(arguments) > 1 else 20)
    else:
        time_decisions()


if __name__ == "__main__":
    main(sys.argv[1:])
