"""Many trivial cells through the local and the Dask executor: cells a second, and what the driver holds and computes.

A cell is `Random` on a small synthetic dataset without tuning, one for each of many seeds: what is left is the way of a
cell from the plan to the store. Driver, scheduler and workers are processes of their own; the driver's is measured.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scaling.growth import in_process, processor_seconds

IDLE_SECONDS = 10.0
"""How long the process of a Dask worker's jobs waits for the next one."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """How many cells and workers; `--drive` is how the section calls itself."""
    parser.add_argument("--cells", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--executors", nargs="+", choices=["local", "dask"], default=["local", "dask"])
    parser.add_argument("--drive", nargs=2, help=argparse.SUPPRESS)


def main(chosen: argparse.Namespace) -> int:
    """Measure each executor and print a line for it."""
    if chosen.drive:
        print(json.dumps(drive(Path(chosen.drive[0]), chosen.drive[1], chosen)))
        return 0
    marks = sorted({max(chosen.cells // 10, 1), max(chosen.cells // 2, 1), chosen.cells})
    print(f"{chosen.cells:,} cells, {chosen.workers} workers; the driver's resident MB after so many cells")
    header = " ".join(f"{mark:>7,}" for mark in marks)
    print(f"{'executor':<9} {'cells/s':>8} {'CPU ms a cell':>14} {'of the driver':>14} {'begin':>7} {header}")
    for executor in chosen.executors:
        before = _children_seconds()
        with tempfile.TemporaryDirectory() as folder, _cluster(executor, Path(folder), chosen.workers) as address:
            rest = ["--cells", str(chosen.cells), "--workers", str(chosen.workers)]
            found = in_process(["grid", "--drive", folder, address, *rest])
        held = " ".join(f"{found['held'][str(mark)]:>7.0f}" for mark in marks)
        each = (_children_seconds() - before) / chosen.cells * 1e3
        own = found["cpu"] / chosen.cells * 1e3
        print(
            f"{executor:<9} {found['rate']:>8.2f} {each:>14.0f} {own:>14.1f} {found['begin']:>7.0f} {held}", flush=True
        )
    return 0


def drive(folder: Path, address: str, chosen: argparse.Namespace) -> dict[str, Any]:
    """Run the study here; the rate from the first cell's end to the last's, and the memory on the way."""
    from recassay.api.study.studies import make_study
    from recassay.recommenders.study import run_study
    from recassay.runner.memory import resident_bytes

    study = make_study(
        ["synthetic:dense-small"], ["Random"], metrics=["ndcg@10"], seed=range(1, chosen.cells + 1), trials=0
    )
    held: dict[str, float] = {}
    first = last = begin = 0.0
    count = 0

    def watch(event: Any) -> None:
        nonlocal first, last, begin, count
        if event.kind == "plan":
            begin = resident_bytes() / 1e6
        if event.kind == "finished":
            if event.reason:
                raise RuntimeError(event.reason)
            count += 1
            last = time.perf_counter()
            first = first or last
            held[str(count)] = resident_bytes() / 1e6

    cpu = processor_seconds()
    run_study(study, folder / "study", workers=chosen.workers, cluster=address or None, progress=watch)
    return {"rate": (count - 1) / (last - first), "cpu": processor_seconds() - cpu, "begin": begin, "held": held}


def _children_seconds() -> float:
    """Processor seconds of all processes that were started here and have ended, and of those that they started."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextmanager
def _cluster(executor: str, folder: Path, workers: int) -> Iterator[str]:
    """The address of a scheduler with workers of this machine; none for the local executor."""
    if executor == "local":
        yield ""
        return
    file = folder / "scheduler.json"
    common = ["--scheduler-file", str(file), "--no-dashboard"]
    commands = [["scheduler", "--host", "127.0.0.1", "--port", "0", *common]]
    commands += [["worker", *common, "--nthreads", "1", "--no-nanny"]] * workers
    begun = []
    try:
        for command in commands:
            quiet = subprocess.DEVNULL
            begun.append(subprocess.Popen([sys.executable, "-m", "dask", *command], stdout=quiet, stderr=quiet))
            while not file.is_file():
                time.sleep(0.05)
        yield json.loads(file.read_text())["address"]
        time.sleep(IDLE_SECONDS + 2)  # the processes of the jobs end themselves, and are counted
    finally:
        for process in reversed(begun):
            process.terminate()
            process.wait()
