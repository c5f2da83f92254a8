"""What a prior from published tables is worth to an adaptive run, and what a wrong one costs.

python benchmarks/adaptive_prior.py tables ROWS.csv [N] [TABLE]   N parts per published table, prior from the others
python benchmarks/adaptive_prior.py halves ROWS.csv [N]           KDD'24: 15 datasets known, 15 replayed, N halves
python benchmarks/adaptive_prior.py synthetic ROWS.csv [N]        N grids per kind: right, partly right, shuffled priors
python benchmarks/adaptive_prior.py plain                         the prior and the cheapest datasets alone, 100 halves
python benchmarks/adaptive_prior.py show ROWS.csv                 the tables of the rows so far

Every replay is a row of ROWS.csv, appended when it ends; replays that are there are not repeated.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
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
from recassay.api.study.adaptive_study import published_prior
from recassay.core import ties
from recassay.core.choices import AdaptiveTarget
from support.grids import GRID_KINDS, synthetic_grid

TARGETS: tuple[AdaptiveTarget, ...] = ("first", "order")
SHARES = (0.005, 0.02, 0.05)
KEPT = 0.8
"""The share of a published table's algorithms and datasets that a part of it keeps."""

OPEN_ALGORITHMS = {19: 9, 9: 18}
"""Complete blocks of the open benchmark: datasets, and algorithms that ran on all of them."""

KNOWN_AS = 8
"""The known datasets of the plain calculation count as so many."""

Case = tuple[str, int, Benchmark, dict[str, Prior | None]]
"""What is replayed, its number, and the priors to start from."""

FIELDS = ("table", "number", "prior", "target", "cost", "certified", "right", "weight",
          *(f"{what} {share}" for share in SHARES for what in ("rho", "first")))  # fmt: skip


def run(table: Benchmark, target: AdaptiveTarget, prior: Prior | None, seed: int) -> dict[str, float]:
    """Cost of the first claim, whether it is right, and Spearman's rho and the first place at `SHARES`."""
    costs, truth = replay_costs(table), mean_ranks(table.values)
    seen: list[AdaptiveResult] = []
    last = replay(table, Question(target), prior=prior, progress=seen.append, seed=seed)
    paid = [float(costs[step.measured].sum() / costs.sum()) for step in seen]
    order = [table.grid.algorithms.index(algorithm) for algorithm in last.order]
    right = judged(order, truth, 1.0)[target]
    row = {"cost": paid[-1], "certified": last.certified, "right": float(right), "weight": last.prior_weight}
    for share in SHARES:
        until = [step for step, spent in zip(seen, paid, strict=True) if spent <= share]
        row[f"rho {share}"] = float(stats.spearmanr(until[-1].mean_ranks, truth)[0])
        best = table.grid.algorithms.index(until[-1].order[0])
        row[f"first {share}"] = float(truth[best] <= truth.min() + 1e-9)
    return row


def keep(path: Path, cases: Iterable[Case]) -> None:
    """Append a row per replay that is not yet there."""
    done = set()
    if path.exists():
        done = set(pl.read_csv(path).select("table", "number", "prior", "target").iter_rows())
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if not file.tell():
            writer.writeheader()
        for (name, number, table, priors), target in product(cases, TARGETS):
            for kind, prior in priors.items():
                if (name, number, kind, target) not in done:
                    row = run(table, target, prior, number)
                    writer.writerow({"table": name, "number": number, "prior": kind, "target": target, **row})
                    file.flush()


def known(table: Benchmark, datasets: np.ndarray, names: Iterable[str]) -> Prior | None:
    """The prior that some datasets of a table give, its algorithms going by `names`."""
    assert table.grid.log_size is not None
    evidence = as_evidence("known", tuple(names), table.values[:, datasets], replay_costs(table)[:, datasets],
                           table.grid.log_size[datasets], np.random.default_rng(0))  # fmt: skip
    return prior_from([evidence], table.grid.algorithms)


def cut(whole: Benchmark, rows: np.ndarray, columns: np.ndarray) -> Benchmark:
    """Some algorithms and datasets of a table."""
    grid, at = whole.grid, np.ix_(rows, columns)
    part = CellGrid(grid.metric, tuple(grid.algorithms[i] for i in rows), tuple(grid.datasets[j] for j in columns),
                    None if grid.log_size is None else grid.log_size[columns])  # fmt: skip
    return Benchmark(part, np.ascontiguousarray(whole.values[at]), replay_costs(whole)[at])


def split(name: str, number: int, whole: Benchmark, rng: np.random.Generator, kinds: tuple[str, ...]) -> Case:
    """Half of a table with the priors that its other half gives: right, shuffled, or with half of the names changed."""
    order = rng.permutation(len(whole.grid.datasets))
    half = len(order) // 2
    before, after = np.sort(order[:half]), np.sort(order[half:])
    algorithms = whole.grid.algorithms
    partly = list(algorithms)
    moved = rng.permutation(len(algorithms))[: len(algorithms) // 2]
    for here, there in zip(moved, np.roll(moved, 1), strict=True):
        partly[here] = algorithms[there]
    names = {"right": algorithms, "shuffled": rng.permutation(algorithms).tolist(), "partly right": partly}
    priors = {kind: None if kind == "none" else known(whole, before, names[kind]) for kind in kinds}
    return name, number, cut(whole, np.arange(len(algorithms)), after), priors


def kdd24(metric: str = "ndcg@10") -> Benchmark:
    """The table of KDD'24."""
    source = "published:kdd24"
    return read_benchmark(recassay.load_results(source), metric, characteristics=recassay.load_characteristics(source))


def halves(count: int) -> Iterator[Case]:
    """Random halves of KDD'24, ndcg@10."""
    whole = kdd24()
    for number in range(count):
        yield split("kdd24 half", number, whole, np.random.default_rng([33, number]), ("none", "right", "shuffled"))


def open_block(metric: str, datasets: int) -> Benchmark:
    """A complete block of the open benchmark: the algorithms with most datasets, and the datasets that all have."""
    source = "published:open"
    whole = read_benchmark(recassay.load_results(source), metric, characteristics=recassay.load_characteristics(source))
    ran = np.isfinite(whole.values)
    columns = np.argsort(-ran.sum(axis=0), kind="stable")[:datasets]
    rows = np.sort(np.argsort(-ran[:, columns].sum(axis=1), kind="stable")[: OPEN_ALGORITHMS[datasets]])
    columns = np.flatnonzero(ran[rows].all(axis=0))
    return cut(whole, rows, columns)


TABLES = {
    "kdd24 ndcg@10": lambda: kdd24("ndcg@10"),
    "kdd24 recall@10": lambda: kdd24("recall@10"),
    "kdd24 map@10": lambda: kdd24("map@10"),
    "open ndcg@10": lambda: open_block("ndcg@10", 19),
    "open recall@20": lambda: open_block("recall@20", 19),
    "open many ndcg@10": lambda: open_block("ndcg@10", 9),
    "bi-reirt ndcg@10": lambda: read_benchmark(recassay.load_results("published:bi-reirt"), "ndcg@10"),
}


def tables(count: int, only: str = "") -> Iterator[Case]:
    """Published tables, whole (number 0) and random parts of them, with what the other tables say."""
    wholes = {name: make() for name, make in TABLES.items() if only in name}
    for number, (name, whole) in product(range(count), wholes.items()):
        rng = np.random.default_rng([35, number])
        rows, columns = (
            np.sort(rng.permutation(n)[: n if number == 0 else round(KEPT * n)]) for n in whole.values.shape
        )
        part = cut(whole, rows, columns)
        yield name, number, part, {"none": None, "others": published_prior(part.grid)}


def synthetic(count: int) -> Iterator[Case]:
    """Halves of synthetic grids of every kind."""
    for number, kind in product(range(count), GRID_KINDS):
        rng = np.random.default_rng([34, number, GRID_KINDS.index(kind)])
        grid = synthetic_grid(kind, rng, algorithms=11, datasets=30)
        whole = as_benchmark(grid.values, grid.seconds, grid.features[:, 0])
        yield split(kind, number, whole, rng, ("none", "right", "partly right", "shuffled"))


def ratio_of(frame: pl.DataFrame, target: str, kind: str) -> str:
    """The geometric mean of the cost with a prior by that without, paired, with its 95 % interval."""
    keys = ["table", "number"]
    with_prior = frame.filter((pl.col("target") == target) & (pl.col("prior") == kind))
    pairs = with_prior.join(frame.filter((pl.col("target") == target) & (pl.col("prior") == "none")), on=keys)
    logs = np.log(pairs["cost"].to_numpy() / pairs["cost_right"].to_numpy())
    if len(logs) < 3 or kind == "none":
        return ""
    half = stats.t.ppf(0.975, len(logs) - 1) * logs.std(ddof=1) / np.sqrt(len(logs))
    return f"{np.exp(logs.mean()):.2f} ({np.exp(logs.mean() - half):.2f} to {np.exp(logs.mean() + half):.2f})"


def show(path: Path) -> None:
    """A row per table, target and prior: cost, its ratio to none, claims that are right, rho and first place."""
    frame = pl.read_csv(path)
    heads = [f"{what} at {100 * share:g} %" for share in SHARES for what in ("rho", "first right")]
    print("| table | target | prior | cost: median, geometric mean | by none | right | " + " | ".join(heads) + " |")
    print("|---" * (6 + len(heads)) + "|")
    for name in [*frame["table"].unique(maintain_order=True), "all"]:
        own = frame if name == "all" else frame.filter(pl.col("table") == name)
        for target, kind in product(TARGETS, own["prior"].unique(maintain_order=True)):
            rows = own.filter((pl.col("target") == target) & (pl.col("prior") == kind))
            if not len(rows):
                continue
            costs = 100 * rows["cost"].to_numpy()
            right = int(rows["right"].sum())
            interval = stats.binomtest(right, len(rows)).proportion_ci()
            later = [f"{rows[f'{what} {share}'].mean():.3f}" for share in SHARES for what in ("rho", "first")]
            print(
                f"| {name} | {target} | {kind} | {np.median(costs):.1f}, {np.exp(np.log(costs).mean()):.1f} % "
                f"| {ratio_of(own, target, kind)} | {right} of {len(rows)} ({100 * interval.low:.0f} to "
                f"{100 * interval.high:.0f} %) | " + " | ".join(later) + " |"
            )


def plain(count: int = 100) -> None:
    """What mean ranks on known datasets, then the cheapest datasets whole, say on random halves of KDD'24: rho, whether
    the first is right, and the share of the cost at which a normal calculation is sure of it by 95 %.
    """
    whole = kdd24()
    ranks, costs = ties.ranks(whole.values, higher_is_better=True, axis=0), replay_costs(whole)
    found: dict[tuple[str, float], list[tuple[float, float]]] = {}
    sure: list[tuple[float, float, float]] = []
    for number in range(count):
        rng = np.random.default_rng([33, number])
        order = rng.permutation(30)
        before, after = np.sort(order[:15]), np.sort(order[15:])
        truth = ranks[:, after].mean(axis=1)
        cheap = after[np.argsort(costs[:, after].sum(axis=0))]
        spent = np.concatenate([[0.0], np.cumsum(costs[:, cheap].sum(axis=0)) / costs[:, after].sum()])
        for share in (0.0, *SHARES):
            k = int((spent <= share).sum()) - 1
            bought = ranks[:, cheap[:k]].sum(axis=1)
            known_part = (bought + KNOWN_AS * ranks[:, before].mean(axis=1)) / (k + KNOWN_AS)
            for name, level in (("15 known", known_part), ("all 30 known", ranks.mean(axis=1))):
                guess = bought + (15 - k) * level
                first = truth[int(guess.argmin())] <= truth.min() + 1e-9
                found.setdefault((name, share), []).append((float(stats.spearmanr(guess, truth)[0]), float(first)))
        chances = []
        for k in range(16):
            seen = ranks[:, np.concatenate([before, cheap[:k]])]
            covariance = np.cov(seen)
            root = np.linalg.cholesky(0.8 * covariance + 0.2 * np.diag(np.diag(covariance)) + 1e-6 * np.eye(len(seen)))
            level = seen.mean(axis=1) + rng.standard_normal((2000, len(seen))) @ root.T / np.sqrt(15 + k)
            rest = (15 - k) * level + np.sqrt(15 - k) * rng.standard_normal((2000, len(seen))) @ root.T
            draws = ranks[:, cheap[:k]].sum(axis=1) + rest
            leader = int(draws.mean(axis=0).argmin())
            chances.append(float((draws.argmin(axis=1) == leader).mean()))
            if chances[-1] >= 0.95:
                break
        sure.append((chances[0], float(spent[k]), float(truth[leader] <= truth.min() + 1e-9)))
    for (name, share), rows in found.items():
        rho, first = np.mean(rows, axis=0)
        print(f"{name} at {100 * share:g} %: rho {rho:.3f}, first right {first:.3f} ({len(rows)} halves)")
    chance, cost, right = zip(*sure, strict=True)
    print(
        f"known half alone: sure by {np.mean(chance):.2f}; by 95 % at a median of {100 * np.median(cost):.1f} % "
        f"of the cost, right in {np.mean(right):.2f}"
    )


def main(arguments: list[str]) -> None:
    """Run what is asked."""
    what = arguments[0] if arguments else "plain"
    if what == "plain":
        plain()
        return
    path, count = Path(arguments[1]), int(arguments[2]) if len(arguments) > 2 else 20
    if what == "tables":
        keep(path, tables(count, arguments[3] if len(arguments) > 3 else ""))
    elif what in ("halves", "synthetic"):
        keep(path, {"halves": halves, "synthetic": synthetic}[what](count))
    show(path)


if __name__ == "__main__":
    main(sys.argv[1:])
