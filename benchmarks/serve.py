"""Readers of `recassay serve` beside a running study of 3,000 cells: how long each waits, and what the server holds.

python benchmarks/serve.py [--cells 3000] [--done 2500] [--readers 200] [--rounds 6]

The first cells of the plan are copies of one that was run; `recassay run` makes the others meanwhile. Every reader asks
for `status.json` as the page does, every two seconds, while 100 clients begin a request and never end it. The exit code
is 1 where an answer failed or took a second, or the server held 200 MB. Linux.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

import recassay
from recassay.recommenders.plan import plan
from recassay.recommenders.study import Choice, run_study
from recassay.store import Store

ALGORITHMS = ("Random", "MostPop", "ItemKNN", "UserKNN", "EASE", "PureSVD", "RP3beta", "ALS", "NMF", "GF-CF")
DATASETS = 30
STUDY = """
[study]
name = "many"
seed = {seeds}
datasets = {datasets}
algorithms = {algorithms}
metrics = ["ndcg@10"]
[protocol]
split = "random"
filter = "none"
[tuning]
trials = 0
"""
MOST_SECONDS, MOST_BYTES = 1.0, 200e6


def write_study(base: Path, cells: int) -> Path:
    """A study of small files and fast algorithms, without tuning."""
    chance = random.Random(1)
    for number in range(DATASETS):
        rows = sorted({(user, chance.randrange(40)) for user in range(40) for _ in range(14)})
        (base / f"d{number}.csv").write_text("user,item\n" + "".join(f"u{user},i{item}\n" for user, item in rows))
    seeds = list(range(1, 1 + -(-cells // (len(ALGORITHMS) * DATASETS))))
    datasets = [f"./d{number}.csv" for number in range(DATASETS)]
    file = base / "study.toml"
    file.write_text(STUDY.format(seeds=seeds, datasets=json.dumps(datasets), algorithms=json.dumps(ALGORITHMS)))
    return file


def fill(study: Path, folder: Path, done: int) -> None:
    """Run the first cell of the plan, and write copies of it for those that follow."""
    spec = recassay.load_study(study)
    first, *others = plan(spec).cells[:done]
    wanted, chance = iter([[first.id], []]), random.Random(2)
    run_study(spec, folder, workers=1, choose=lambda *_: Choice(next(wanted), ""))
    with Store.open(folder, create=True) as store:
        known = store.cells()[0]
        for cell in others:
            for kind in ("scores", "lists"):
                shutil.copyfile(folder / kind / f"{first.id}.parquet", folder / kind / f"{cell.id}.parquet")
            store.record(
                replace(
                    known, id=cell.id, algorithm=cell.algorithm.name, dataset=cell.dataset.name, seed=cell.spec.seed,
                    spec=cell.spec.model_dump(mode="json"), metrics={"ndcg@10": chance.uniform(0.1, 0.4)},
                )
            )  # fmt: skip


class Readers:
    """Threads that ask as the page does; `waited` has the seconds of every answer."""

    def __init__(self, port: int) -> None:
        self.port, self.waited, self.failed, self.bytes = port, list[float](), 0, 0

    def read(self, rounds: int) -> None:
        """Ask every two seconds."""
        time.sleep(random.uniform(0.0, 2.0))
        for _ in range(rounds):
            begin = time.monotonic()
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
                connection.request("GET", "/status.json")
                answer = connection.getresponse()
                body = answer.read()
                connection.close()
                self.failed += answer.status != 200
                self.bytes = max(self.bytes, len(body))
            except OSError:
                self.failed += 1
            self.waited.append(time.monotonic() - begin)
            time.sleep(max(2.0 - (time.monotonic() - begin), 0.0))


def held(process: int) -> int:
    """The most bytes that a process held."""
    found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    return 1024 * int(found[1]) if found else 0


def done_in(folder: Path) -> int:
    """How many cells are done."""
    with Store.open(folder) as store:
        return store.status().done


def main() -> int:
    """Fill, run, serve and ask."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=3000)
    parser.add_argument("--done", type=int, default=2500)
    parser.add_argument("--readers", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=6)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="recassay-serve-") as place:
        base, folder = Path(place), Path(place) / "many"
        study = write_study(base, asked.cells)
        fill(study, folder, asked.done)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        ours, quiet = [sys.executable, "-m", "recassay"], {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        running = subprocess.Popen([*ours, "run", str(study), "--out", str(folder), "--workers", "1"], **quiet)
        serving = subprocess.Popen([*ours, "serve", str(folder), "--port", str(port)], **quiet)
        readers = Readers(port)
        try:
            while True:
                try:
                    slow = [socket.create_connection(("127.0.0.1", port), timeout=5) for _ in range(100)]
                    break
                except OSError:
                    time.sleep(0.2)
            for one in slow:
                one.sendall(b"GET /status.json HTTP/1.1\r\nX: ")
            readers.read(1)  # the first answer waits for the first reading of the study
            first, readers.waited = readers.waited[0], []
            while (before := done_in(folder)) == asked.done and running.poll() is None:
                time.sleep(0.5)  # the run prepares its splits
            threads = [threading.Thread(target=readers.read, args=(asked.rounds,)) for _ in range(asked.readers)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            after = done_in(folder)
            memory, load = held(serving.pid), os.getloadavg()[0]
        finally:
            for process in (running, serving):
                process.kill()
                process.wait()
    waited = sorted(readers.waited)
    told = {"cells": asked.cells, "done_before": before, "done_after": after, "answers": len(waited),
            "failed": readers.failed, "first": round(first, 2), "median": round(waited[len(waited) // 2], 3),
            "p99": round(waited[int(0.99 * len(waited))], 3), "slowest": round(waited[-1], 3),
            "answer_bytes": readers.bytes, "memory_mb": round(memory / 1e6), "load": round(load, 1)}  # fmt: skip
    print(json.dumps(told, indent=1))
    return int(bool(readers.failed) or waited[-1] > MOST_SECONDS or memory > MOST_BYTES)


if __name__ == "__main__":
    sys.exit(main())
