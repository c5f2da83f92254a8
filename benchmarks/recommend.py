"""Lists for all users of a log of 1 million events: `recassay recommend` beside implicit's ALS, in one run.

python benchmarks/recommend.py [--events 1000000] [--factors 64] [--iterations 15] [--k 20] [--page FILE]

The log is drawn with Zipf-like popularity and activity. Each side is a process of its own that reads the same CSV file,
fits ALS at equal settings with all cores, makes the lists of all users without what they have had, and writes them as
Parquet: wall seconds, and the most resident memory of the process and what it starts. Kernels of ours are compiled
before. Where implicit is not installed its row is missing, which is said.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import recassay
from recassay.runner.memory import tree_bytes

OURS = """
import json, sys, recassay
log, out, k, settings = json.loads(sys.argv[1])
made = recassay.recommend(log, "ALS", k=k, settings=settings, out=out)
print(json.dumps({"fit": made.seconds_fit, "lists": made.seconds_lists}))
"""
IMPLICIT = """
import json, sys, time
import numpy as np, polars as pl
from implicit.als import AlternatingLeastSquares
from scipy.sparse import csr_matrix
log, out, k, settings = json.loads(sys.argv[1])
events = pl.read_csv(log).select("user", "item").unique()
users, items = events["user"].unique().sort(), events["item"].unique().sort()
rows, columns = (table.search_sorted(events[name]).to_numpy() for table, name in ((users, "user"), (items, "item")))
matrix = csr_matrix((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=(len(users), len(items)))
model = AlternatingLeastSquares(factors=settings["factors"], iterations=settings["iterations"],
                                regularization=settings["reg"], alpha=settings["alpha"])
begin = time.perf_counter()
model.fit(matrix, show_progress=False)
fit = time.perf_counter() - begin
begin = time.perf_counter()
found, scores = model.recommend(np.arange(len(users)), matrix, N=k, filter_already_liked_items=True)
row, place = np.repeat(np.arange(len(users)), k), np.tile(np.arange(1, k + 1), len(users))
lists = {"user": users.gather(row), "rank": place, "item": items.gather(found.ravel()), "score": scores.ravel()}
pl.DataFrame(lists).write_parquet(out)
print(json.dumps({"fit": fit, "lists": time.perf_counter() - begin}))
"""


def draw_log(path: Path, events: int) -> None:
    """About `events` different pairs: users and items by 1 / (rank + 20)^0.8."""
    random = np.random.default_rng(1)
    sizes = max(events // 20, 10), max(events // 100, 10)
    sides = []
    for size in sizes:
        weight = 1 / (np.arange(size) + 20) ** 0.8
        sides.append(random.choice(size, 2 * events, p=weight / weight.sum()))
    pairs = pl.DataFrame({"user": sides[0], "item": sides[1]}).unique(maintain_order=True).head(events)
    pairs.with_columns(timestamp=pl.Series(1_700_000_000 + np.arange(pairs.height) * 20)).write_csv(path)


def measured(script: str, given: list[Any]) -> dict[str, float]:
    """What the script says of itself, its wall seconds and the most memory of its processes."""
    begin, before = time.perf_counter(), spent()
    process = subprocess.Popen([sys.executable, "-c", script, json.dumps(given)], stdout=subprocess.PIPE, text=True)
    most = 0

    def watch() -> None:
        nonlocal most
        while process.poll() is None:
            most = max(most, tree_bytes(process.pid))
            time.sleep(0.02)

    watcher = threading.Thread(target=watch)
    watcher.start()
    said, _ = process.communicate()
    watcher.join()
    if process.returncode:
        raise SystemExit(process.returncode)
    return json.loads(said) | {"seconds": time.perf_counter() - begin, "cpu": spent() - before, "memory": most / 1e9}


def spent() -> float:
    """CPU seconds of all processes that this one has started and outlived."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Draw the log, measure both, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--factors", type=int, default=64)
    parser.add_argument("--iterations", type=int, default=15)
    parser.add_argument("--k", type=int, default=20)
    parser.add_argument("--page", type=Path)
    asked = parser.parse_args()
    settings = {"factors": asked.factors, "iterations": asked.iterations, "alpha": 1.0, "reg": 0.01, "reg_power": 0.0}
    sides = {f"RecAssay {recassay.__version__}": OURS}
    try:
        sides[f"implicit {importlib.metadata.version('implicit')}"] = IMPLICIT
    except importlib.metadata.PackageNotFoundError:
        print("implicit is not installed: RecAssay alone is measured (pip install implicit)", file=sys.stderr)
    lines = ["| | fit, s | lists, s | all, s | all, CPU s | most memory, GB |", "|---|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as scratch:
        log, small = Path(scratch, "log.csv"), Path(scratch, "small.csv")
        draw_log(log, asked.events)
        draw_log(small, 2000)
        measured(OURS, [str(small), str(Path(scratch, "warm.parquet")), asked.k, settings])
        for number, (name, script) in enumerate(sides.items()):
            found = measured(script, [str(log), str(Path(scratch, f"{number}.parquet")), asked.k, settings])
            numbers = (found["fit"], found["lists"], found["seconds"], found["cpu"])
            lines.append(f"| {name} | {' | '.join(f'{n:.1f}' for n in numbers)} | {found['memory']:.2f} |")
        read = pl.read_csv(log)
        sizes = f"{read.height:,} events, {read['user'].n_unique():,} users, {read['item'].n_unique():,} items"
    lines.append("")
    lines.append(f"{sizes}; {asked.k} items per user; {settings}; {os.cpu_count()} cores.")
    print("\n".join(lines))
    if asked.page is not None:
        asked.page.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
