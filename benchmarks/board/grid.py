"""Run the grid of the boards on one machine, column by column, until a clock says stop; the same command goes on.

python3 benchmarks/board/grid.py --out FOLDER [--seconds 480] [--workers 16] [--gpu-cells 8] [--known FILE...]
    [--processor] [--seeds 2 3] [--shipped FOLDER]

The studies `random.toml` and `time.toml` beside this file are the plan. A column is an algorithm on all datasets of
both boards, the largest first; `CPU` and `GPU` say in which order columns are run, each by the workers that have no
cell of the other. Every finished cell is a line of JSON in `cells.jsonl`, written when it ends. Cells that `--known`
files have, and with `--shipped` those of the boards in a folder, are not run again.

`--seeds` repeats the final training of algorithms in which chance has a part, with the parameters that seed 1 found:
the seeds share its search. They come after all cells of seed 1.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import multiprocessing
import os
import sys
import time
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import limited

from recassay.recommenders.dispatch import cell_payload, part_modules, split_payload
from recassay.recommenders.plan import Plan, PlannedCell, plan
from recassay.recommenders.study_file import study_of
from recassay.runner.manifest import environment

HERE = Path(__file__).resolve().parent
CPU = [
    "Random", "MostPop", "RecentPop", "ItemKNN", "UserKNN", "RP3beta", "PureSVD", "LocalEASE", "SLIM", "ALS",
    "LastItems", "MarkovChain", "SequentialRules", "AssociationRules", "V-SKNN", "STAN", "BPR", "NMF", "PLSA", "WARP",
    "NCE-PLRec", "AspectModel", "RatingMF",
]  # fmt: skip
GPU = [
    "EASE", "ELSA", "MultiVAE", "SASRec", "MultiDAE", "GF-CF", "Turbo-CF", "GRU4Rec", "LightGCN", "SimpleX", "XSimGCL",
    "CDAE", "eSASRec", "ENMF", "DiffRec", "BERT4Rec", "RecVAE", "RaCT", "UltraGCN", "LightGCL", "SGL", "LINE", "DMF",
    "NNCF",
]  # fmt: skip
ALIKE = {
    "MostPop", "RecentPop", "ItemKNN", "UserKNN", "RP3beta", "PureSVD", "EASE", "LocalEASE", "SLIM", "GF-CF",
    "Turbo-CF", "NCE-PLRec", "LastItems", "MarkovChain", "SequentialRules", "AssociationRules", "V-SKNN", "STAN",
}  # fmt: skip
"""Algorithms that learn the same with every seed: at most chance parts equal scores."""
USERS_ONLY = {"LightGCN", "SimpleX", "XSimGCL", "CDAE", "ENMF", "LightGCL", "SGL", "LINE", "DMF", "NNCF", "UltraGCN"}
"""Networks that know only users of training."""
WARM = "epub"
"""Small data with times, on which algorithms are compiled before any of their cells is run."""
LOST_AFTER = 2.5 * limited.HARD
"""Seconds after which a worker that its own alarm did not stop is ended."""
SHARED = 20
"""How much longer that is where processor seconds are counted: other work may have the cores."""


@dataclass(eq=False)
class Task:
    """A split to make, or a cell to run."""

    name: tuple[str, ...]
    payload: Mapping[str, Any]
    split: str
    gpu: bool = False
    again: int = 0

    @property
    def searched(self) -> tuple[str, ...] | None:
        """The cell whose parameters this one takes; None for one that searches."""
        return (*self.name[:5], "1") if self.name[0] == "cell" and self.name[5] != "1" else None

    @property
    def makes_split(self) -> bool:
        """Whether this is not a cell."""
        return self.name[0] == "split"

    @property
    def warms(self) -> bool:
        """Whether this lets an algorithm be compiled; its numbers are thrown away."""
        return self.name[0] == "warm"


@dataclass(eq=False)
class Worker:
    """A process that runs tasks one after the other."""

    process: Any
    line: Connection
    task: Task | None = None
    since: float = 0.0


def serve(line: Connection, processor: bool) -> None:
    """Run what comes down the line, until it closes; its seconds are those of the `processor` where that is asked."""
    if processor:
        limited.count_processor_seconds()
    while True:
        try:
            name, payload, found = line.recv()
        except EOFError:
            return
        if name[0] == "split":
            try:
                answer = {"status": "done", **limited.prepared(payload)}
            except Exception as error:
                answer = {"status": "failed", "reason": str(error)[:400]}
        else:
            warm, gpu = name[0] == "warm", name[4] in GPU
            answer = limited.run(payload, search=0.0 if warm else limited.SEARCH, gpu=gpu, found=found)
            if gpu and str(answer.get("reason", "")).startswith("no value"):
                line.send(answer)
                return  # whatever was interrupted on the GPU ends with this process
        line.send(answer)


Found = Mapping[str, Any]
"""The `parameters` of a search and their value in `validation`."""


@dataclass
class Grid:
    """The tasks that wait, the workers, and the files."""

    out: Path
    gpu_cells: int
    waiting: list[Task]
    end: float
    cold: set[str] = field(default_factory=set)
    """Algorithms whose kernels are not compiled yet."""
    ready: dict[str, str] = field(default_factory=dict)
    """By split, `done` or why it could not be made."""
    workers: list[Worker] = field(default_factory=list)
    lost_gpu: int = 0
    processor: bool = False
    """Whether seconds are those of the processor."""
    found: dict[tuple[str, ...], Found] = field(default_factory=dict)
    """What the searches that are done have found."""

    def hire(self) -> Worker:
        """One more worker, forked from this process, which has imported what cells need."""
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs, self.processor), daemon=True)
        process.start()
        theirs.close()
        worker = Worker(process, ours)
        self.workers.append(worker)
        return worker

    def run(self, number: int) -> None:
        """Run until nothing waits or the time is up."""
        for _ in range(number):
            self.hire()
        try:
            while time.monotonic() < self.end and (self.waiting or any(w.task for w in self.workers)):
                self._give()
                lines = [worker.line for worker in self.workers if worker.task]
                for line in wait(lines, timeout=0.5) if lines else ():
                    self._hear(next(worker for worker in self.workers if worker.line is line))
                for worker in list(self.workers):
                    lost = LOST_AFTER * (SHARED if self.processor else 1)
                    if worker.task and time.monotonic() - worker.since > lost:
                        self._lose(worker, f"no value after {lost:g} s")
                if not lines and not any(w.task for w in self.workers):
                    break
        finally:
            for worker in self.workers:
                worker.process.kill()

    def leave_out(self, plans: Mapping[str, Plan], known: set[tuple[str, ...]]) -> None:
        """Write a refusal for what the plans leave out before anything is fitted."""
        for board, whole in plans.items():
            for one in whole.left_out:
                task = Task(("cell", board, one.dataset, "-1", one.algorithm, str(whole.study.seeds[0])), {}, "")
                if task.name not in known:
                    reason = f"{one.algorithm} {one.reason}"
                    self._write(task, {"status": "refused", "reason": reason, "seconds": 0.0, "trials": []})

    def _give(self) -> None:
        """Give every idle worker the first task that may begin: those of the GPU to the first workers."""
        idle = [worker for worker in self.workers if worker.task is None]
        while idle:
            on_gpu = sum(1 for worker in self.workers if worker.task and worker.task.gpu)
            task = self._next(on_gpu)
            if task is None:
                return
            worker = idle.pop(0) if task.gpu else idle.pop()
            self.waiting.remove(task)
            if self.ready.get(task.split, "done") != "done":
                self._write(task, {"status": "failed", "reason": self.ready[task.split], "seconds": 0.0, "trials": []})
                idle.append(worker)
                continue
            worker.task, worker.since = task, time.monotonic()
            worker.line.send((task.name, task.payload, self.found.get(task.searched or ())))

    def _next(self, on_gpu: int) -> Task | None:
        can = [
            task
            for task in self.waiting
            if task.makes_split or (task.split in self.ready and (task.warms or task.name[4] not in self.cold))
            if task.searched is None or task.searched in self.found
        ]
        splits = (task for task in can if task.makes_split)
        cpu = (task for task in can if not task.makes_split and not task.gpu)
        gpu = (task for task in can if task.gpu)
        first = next(splits, None)
        if first is None and on_gpu < self.gpu_cells:
            first = next(gpu, None)
        if first is None:
            first = next(cpu, None)
        if first is None and on_gpu < 2 * self.gpu_cells:
            first = next(gpu, None)
        return first

    def _hear(self, worker: Worker) -> None:
        task = worker.task
        assert task is not None
        try:
            answer = worker.line.recv()
        except (EOFError, OSError):
            self._lose(worker, "its process ended without a word")
            return
        reason = str(answer.get("reason", ""))
        if task.gpu and answer["status"] == "failed" and "CUDA" in reason:
            self._lose(worker, reason)
            return
        worker.task = None
        if task.gpu and reason.startswith("no value"):
            self.workers.remove(worker)
            worker.process.join(5)
            worker.process.kill()
            self.hire()
        if task.warms:
            self.cold.discard(task.name[4])
            return
        if task.makes_split:
            self.ready[task.split] = "done" if answer["status"] == "done" else str(answer["reason"])
        self._write(task, answer)

    def _lose(self, worker: Worker, reason: str) -> None:
        """End a worker and hire another; its cell is tried once more."""
        task = worker.task
        assert task is not None
        worker.process.kill()
        worker.process.join()
        self.workers.remove(worker)
        self.hire()
        self.lost_gpu += task.gpu
        if task.warms:
            self.cold.discard(task.name[4])
        elif task.again or "CUDA" not in reason or self.lost_gpu > 30:
            status = "refused" if reason.startswith("no value") else "failed"
            self._write(task, {"status": status, "reason": reason[:400], "seconds": LOST_AFTER, "trials": []})
        else:
            task.again += 1
            self.waiting.insert(0, task)

    def _write(self, task: Task, answer: Mapping[str, Any]) -> None:
        keys = ("what", "board", "dataset", "fold", "algorithm", "seed")
        others = sum(1 for worker in self.workers if worker.task and worker.task.gpu)
        record = {**dict(zip(keys, task.name, strict=False)), "gpu": task.gpu, "on_gpu": others, **answer}
        self.found |= searches([record])
        with (self.out / "cells.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")


def planned(
    data: Path, datasets: Iterable[str] = (), algorithms: Iterable[str] = (), seeds: Sequence[int] = ()
) -> dict[str, Plan]:
    """By board, the plan of its study with the files in `data`; `seeds` besides 1 share its search."""
    plans = {}
    for board in ("random", "time"):
        tables = tomllib.loads((HERE / f"{board}.toml").read_text())
        for name, table in tables["dataset"].items():
            table["data"] = str(data.resolve() / f"{name}.parquet")
        for key, chosen in (("datasets", set(datasets)), ("algorithms", set(algorithms))):
            tables["study"][key] = [name for name in tables["study"][key] if not chosen or name in chosen]
        tables["dataset"] = {name: tables["dataset"][name] for name in tables["study"]["datasets"]}
        tables["algorithm"] = {n: t for n, t in tables["algorithm"].items() if n in tables["study"]["algorithms"]}
        if seeds:
            tables["study"]["seed"], tables["tuning"]["seed"] = [1, *seeds], 1
        if tables["study"]["datasets"] and tables["study"]["algorithms"]:
            plans[board] = plan(study_of(tables, base=data))
    return plans


def records(files: Iterable[Path], shipped: Path | None = None) -> list[dict[str, Any]]:
    """What earlier runs have written, without lines that were cut off; and the cells of shipped boards."""
    found: list[dict[str, Any]] = []
    for board, folder in {"random": "board", "time": "board-time"}.items() if shipped else ():
        # Polars would start threads, and no process could be forked after that.
        with gzip.open(shipped / folder / "cells.csv.gz", "rt", encoding="utf-8", newline="") as file:
            found += [
                {"what": "cell", "board": board, "fold": one["window"] or "-1", "status": "done"}
                | {key: one[key] for key in ("dataset", "algorithm", "seed")}
                | {key: json.loads(one[key] or "null") for key in ("validation", "parameters")}
                for one in csv.DictReader(file)
            ]
    for path in files:
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
    return found


def name_of(record: Mapping[str, Any]) -> tuple[str, ...]:
    """The name of the cell that a record is of."""
    return tuple(str(record[key]) for key in ("what", "board", "dataset", "fold", "algorithm", "seed"))


def known_cells(lines: Iterable[Mapping[str, Any]]) -> set[tuple[str, ...]]:
    """The names of the cells that are finished: done, or refused for another reason than time."""
    return {
        name_of(one)
        for one in lines
        if one["what"] == "cell"
        and (one["status"] == "done" or (one["status"] == "refused" and not one["reason"].startswith("no value")))
    }


def searches(lines: Iterable[Mapping[str, Any]]) -> dict[tuple[str, ...], Found]:
    """By cell of seed 1 that is done, what its search has found."""
    return {
        name_of(one): {key: one[key] for key in ("parameters", "validation")}
        for one in lines
        if one["what"] == "cell" and one["status"] == "done" and str(one["seed"]) == "1"
    }


def tasks_of(plans: Mapping[str, Plan], work: Path, known: set[tuple[str, ...]]) -> list[Task]:
    """All splits, then the cells that are not known, in columns."""
    splits: dict[str, Task] = {}
    cells: list[tuple[int, int, Task]] = []
    size: dict[str, int] = {}
    for board, whole in plans.items():
        home = work / board
        home.mkdir(parents=True, exist_ok=True)
        for cell in whole.cells:
            file = Path(cell.dataset.reference)
            size[cell.dataset.name] = file.stat().st_size
            fold = str(-1 if cell.spec.fold is None else cell.spec.fold)
            name = ("cell", board, cell.dataset.name, fold, cell.algorithm.name, str(cell.spec.seed))
            split = f"{board}:{cell.spec.split.id}"
            if split not in splits:
                splits[split] = Task(("split", board, cell.dataset.name, fold), split_payload(whole, cell, home), split)
            alike = cell.spec.seed != 1 and cell.algorithm.name in ALIKE
            if name not in known and not alike:
                cells.append(_placed(cell, Task(name, cell_payload(whole, cell, home), split)))
    cells.sort(key=lambda one: (one[0], one[1], -size[one[2].name[2]]))
    first = {name: min(of, key=lambda task: size[task.name[2]]) for name, of in _columns(cells).items()}
    warm = [
        Task(("warm", *task.name[1:]), {**task.payload, "id": f"warm-{task.payload['id']}"}, task.split, task.gpu)
        for task in first.values()
    ]
    needed = {task.split for task in first.values()}
    made = sorted(splits.values(), key=lambda task: (task.split not in needed, -size[task.name[2]]))
    return [*made, *warm, *(task for _, _, task in cells)]


def _columns(cells: Iterable[tuple[int, int, Task]]) -> dict[str, list[Task]]:
    """By algorithm on the processor its cells, of data that every algorithm takes where there are such."""
    columns: dict[str, list[Task]] = {}
    for _, _, task in cells:
        if not task.gpu:
            columns.setdefault(task.name[4], []).append(task)
    return {name: [task for task in of if task.name[2] == WARM] or of for name, of in columns.items()}


def _placed(cell: PlannedCell, task: Task) -> tuple[int, int, Task]:
    """The cell's seed, the place of its column, and its task.

    Where an algorithm cannot have a place by time, because it cannot answer sessions, its other cells there are last.
    """
    name = cell.algorithm.name
    task.gpu = name in GPU
    column = (GPU if task.gpu else CPU).index(name)
    late = name in USERS_ONLY and task.name[1] == "time" and cell.spec.split.protocol.target == "all"
    return cell.spec.seed, column + 100 * late, task


def main() -> None:
    """Run the grid and say how far it came."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=HERE / "data")
    parser.add_argument("--work", type=Path, help="where splits are kept; by default in the folder of --out")
    parser.add_argument("--seconds", type=float, default=480.0)
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--gpu-cells", type=int, default=8, metavar="N")
    parser.add_argument("--known", type=Path, nargs="*", default=[])
    parser.add_argument("--seeds", type=int, nargs="*", default=[], help="further seeds than 1")
    parser.add_argument("--shipped", type=Path, help="the folder with the shipped boards")
    parser.add_argument("--processor", action="store_true", help="count processor seconds: other work has the cores")
    parser.add_argument("--datasets", nargs="*", default=[])
    parser.add_argument("--algorithms", nargs="*", default=[])
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    options.out.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    plans = planned(options.data, options.datasets, options.algorithms, options.seeds)
    lines = records([*options.known, *options.out.glob("cells.jsonl")], options.shipped)
    known = known_cells(lines)
    for name in sorted({module for whole in plans.values() for module in part_modules(whole.study)}):
        __import__(name)
    tasks = tasks_of(plans, options.work or options.out / "work", known)
    print(f"{len(tasks)} tasks, {len(known)} known; imported in {time.monotonic() - begin:.1f} s", flush=True)
    grid = Grid(options.out, options.gpu_cells, tasks, end, {task.name[4] for task in tasks if task.warms})
    grid.processor, grid.found = options.processor, searches(lines)
    grid.leave_out(plans, known)
    grid.run(options.workers)
    took = {"seconds": round(time.monotonic() - begin, 1), "waiting": len(grid.waiting)}
    # Asked for the GPU's name, torch wakes it, and no process could be forked after that.
    about = {**environment(options.workers, 1), "search": limited.SEARCH, "hard": limited.HARD, **took}
    about |= {"clock": "processor"} if options.processor else {}
    with (options.out / "machines.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(about) + "\n")
    print(f"{len(grid.waiting)} tasks wait after {took['seconds']} s", flush=True)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
