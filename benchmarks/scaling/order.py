"""The order of work on the KDD'24 grid: makespan against the lower bound, simulated from its published seconds.

A cell is 40 trials and the last fit, each of `seconds_fit` + `seconds_predict`. The queue, the costs that are learned
as cells finish and the rounds of trials are those of a run. The lower bound is the larger of all seconds divided by the
workers, and the longest chain that must run one after the other (a cell in one piece, or its rounds and the last fit).
"""

from __future__ import annotations

import argparse
import heapq
from collections.abc import Callable
from dataclasses import replace

import numpy as np

import recassay
from recassay.runner.jobs import Job, JobQueue
from recassay.runner.order import LearnedCosts, chain_seconds
from recassay.runner.work import Rounds, WorkCell
from recassay.store.records import PlannedRow

TRIALS = 40
CLASSES = {
    **dict.fromkeys(("MostPop", "Random"), "baseline"),
    **dict.fromkeys(("EASE", "ItemKNN", "SLIM"), "closed form"),
    **dict.fromkeys(("ALS", "BPR", "LightFM"), "factor model"),
    **dict.fromkeys(("LightGCL", "LightGCN", "MultiVAE"), "neural"),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """The numbers of workers and of trials side by side."""
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--parallel", type=int, nargs="+", default=[4, 8])
    parser.add_argument("--shuffles", type=int, default=20, help="random orders, of which the mean is shown")


def main(chosen: argparse.Namespace) -> int:
    """Simulate, and print the table."""
    seconds, sizes = published()
    cells = {key: work_cell(*key) for key in seconds}
    took = {cells[key].id: (TRIALS + 1) * value for key, value in seconds.items()}
    total = sum(took.values())
    print(
        f"{len(cells)} cells, {TRIALS + 1} fits each: {total / 3600:,.0f} hours in all, the longest cell "
        f"{max(took.values()) / 3600:,.1f} h ({total / max(took.values()):.1f} times that is all)"
    )
    print(f"{'':<44} " + " ".join(f"{f'{n} workers':>22}" for n in chosen.workers))
    print(f"{'':<44} " + " ".join(f"{'hours':>13} {'to bound':>8}" for _ in chosen.workers))
    plan = list(cells.values())
    rng = np.random.default_rng(1)
    shuffled = [[plan[i] for i in rng.permutation(len(plan))] for _ in range(chosen.shuffles)]

    def known(cell: WorkCell) -> float:
        return took[cell.id]

    def row(name: str, simulate: Callable[[int], float], parallel: int = 1) -> None:
        longest = (
            max(took.values()) * (-(-TRIALS // parallel) + 1) / (TRIALS + 1) if parallel > 1 else max(took.values())
        )
        found = [(simulate(n), max(total / n, longest)) for n in chosen.workers]
        print(f"{name:<44} " + " ".join(f"{span / 3600:>13,.1f} {span / bound:>8.3f}" for span, bound in found))

    row("plan order", lambda n: makespan(plan, took, n))
    row(
        f"random order, mean of {chosen.shuffles}",
        lambda n: float(np.mean([makespan(order, took, n) for order in shuffled])),
    )
    row("largest first, costs learned", lambda n: makespan(plan, took, n, costs=LearnedCosts(plan, CLASSES, sizes)))
    row("largest first, costs known", lambda n: makespan(plan, took, n, exact=known))
    for parallel in chosen.parallel:
        spread = [replace(cell, rounds=Rounds(TRIALS, parallel)) for cell in plan]
        name = f"trials as tasks, {parallel} at a time, costs"
        row(
            f"{name} learned",
            lambda n, spread=spread: makespan(spread, took, n, costs=LearnedCosts(spread, CLASSES, sizes)),
            parallel,
        )
        row(f"{name} known", lambda n, spread=spread: makespan(spread, took, n, exact=known), parallel)
    return 0


def published() -> tuple[dict[tuple[str, str], float], dict[str, float]]:
    """Seconds of one fit with its lists by algorithm and dataset, in the order of a plan, and sizes by dataset."""
    frame = recassay.load_results("published:kdd24").frame
    seconds: dict[tuple[str, str], float] = {}
    for algorithm, dataset, metric, value in sorted(
        frame.select("algorithm", "dataset", "metric", "value").rows(), key=lambda one: (one[1], one[0])
    ):
        if metric in ("seconds_fit", "seconds_predict") and value is not None:
            seconds[algorithm, dataset] = seconds.get((algorithm, dataset), 0.0) + value
    table = recassay.load_characteristics("published:kdd24")
    sizes = table.values[:, table.names.index("Nr")]
    return seconds, dict(zip(table.datasets, sizes.tolist(), strict=True))


def work_cell(algorithm: str, dataset: str) -> WorkCell:
    """A cell that only has a name."""
    name = f"{algorithm} on {dataset}"
    row = PlannedRow(name, algorithm, dataset, 1, None, (), name, TRIALS)
    return WorkCell(row, dataset, {}, lambda _: {})


def makespan(
    cells: list[WorkCell],
    took: dict[str, float],
    workers: int,
    *,
    costs: LearnedCosts | None = None,
    exact: Callable[[WorkCell], float] | None = None,
) -> float:
    """When the last job ends, where every worker that is free takes the first job of the queue."""
    predicted = exact if exact is not None else (costs.seconds if costs is not None else lambda cell: 0.0)
    by_id, trials_known, open_trials = {cell.id: cell for cell in cells}, dict.fromkeys(took, 0), dict.fromkeys(took, 0)
    queue = JobQueue()

    def priority(job: Job) -> float:
        cell = by_id[job.id.partition("#")[0]]
        return chain_seconds(cell, predicted(cell), trials_known[cell.id])

    def add(cell: WorkCell) -> None:
        known = trials_known[cell.id]
        left = 0 if cell.rounds is None else min(cell.rounds.parallel, cell.rounds.trials - known)
        for name in [f"{cell.id}#{known + n}" for n in range(left)] or [cell.id]:
            queue.add(replace(job := Job(name, "", dict), priority=priority(job)))
        open_trials[cell.id] = left

    for cell in cells:
        add(cell)
    running: list[tuple[float, int, str]] = []
    now, count = 0.0, 0
    while queue or running:
        while len(running) < workers and (job := queue.take()) is not None:
            cell = by_id[job.id.partition("#")[0]]
            length = took[cell.id] if cell.rounds is None else took[cell.id] / (TRIALS + 1)
            heapq.heappush(running, (now + length, count, job.id))
            count += 1
        now, _, ended = heapq.heappop(running)
        cell = by_id[ended.partition("#")[0]]
        if "#" in ended:
            trials_known[cell.id] += 1
            open_trials[cell.id] -= 1
            if not open_trials[cell.id]:
                add(cell)
        elif costs is not None:
            costs.add(cell, took[cell.id])
            if costs.learn():
                queue.reorder(priority)
    return now
