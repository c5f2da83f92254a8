"""What seals and reruns are worth: honest studies that are killed, resumed and moved, and altered ones that are rerun.

python benchmarks/seal.py honest --runs 200     # false alarms of `recassay verify`
python benchmarks/seal.py catching              # by simulation: the chance of meeting an altered cell
python benchmarks/seal.py real --datasets a.parquet b.parquet   # the same cells, run again
python benchmarks/seal.py make --to FOLDER --runs 20    # sealed studies, on one machine
python benchmarks/seal.py elsewhere --to FOLDER         # the same, verified on another, as they are and altered
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

import recassay
from recassay.core.seeds import derived_rng
from recassay.core.types import FloatArray
from recassay.recommenders.rerun import Drawing, altered_cells, chance_of_catching, reruns_for
from recassay.recommenders.study import run_study
from recassay.store import Store

STUDY = """
[study]
name = "sealed"
seed = {seed}
datasets = ["synthetic:few-items", "synthetic:dense-small"]
algorithms = ["MostPop", "ItemKNN", "EASE"]
metrics = ["ndcg@10"]
[tuning]
trials = 2
"""


def honest(first: int, runs: int, to: Path | None) -> None:
    """Seal, run with kills at random moments, move and resume, verify: how often does it cry wolf?

    One line of JSON per run is added to `to`, so that the runs can be made in several sittings.
    """
    for number in range(first, first + runs):
        chance, kills, moves = random.Random(number), Counter[str](), 0
        with tempfile.TemporaryDirectory(prefix="recassay-honest-") as place:
            folder, name = Path(place), "out"
            (folder / "study.toml").write_text(STUDY.format(seed=number))
            recassay.seal(folder / "study.toml", claims=["EASE > MostPop"], folder=folder / name)
            for attempt in range(chance.randrange(4)):
                _kill(folder, name, chance, kills)
                if chance.random() < 0.5:
                    name = _move(folder, name, f"moved{attempt}", chance)
                    moves += 1
            last = subprocess.run(_command(name, chance), cwd=folder, capture_output=True, text=True)
            if last.returncode:
                raise SystemExit(f"run {number} ended with exit code {last.returncode}: {last.stderr.strip()}")
            name = _move(folder, name, "at the end", chance)
            checked = recassay.verify(folder / name)
            with Store.open(folder / name) as store:
                done = store.status().done
        row = {"run": number, "cells": done, "kills": dict(kills), "moves": moves + 1, "sound": checked.sound,
               "sentences": [] if checked.sound else checked.verdict()}  # fmt: skip
        print(json.dumps(row), flush=True)
        if to is not None:
            with to.open("a") as file:
                file.write(json.dumps(row) + "\n")


def _command(name: str, chance: random.Random) -> list[str]:
    workers = str(chance.choice((1, 2)))
    return [sys.executable, "-m", "recassay", "run", "study.toml", "--out", name, "--workers", workers]


def _kill(folder: Path, name: str, chance: random.Random, kills: Counter[str]) -> None:
    """Start the study, wait until its store is there, and kill it after a random while; one in six times at once."""
    output = subprocess.DEVNULL
    process = subprocess.Popen(_command(name, chance), cwd=folder, stdout=output, stderr=output)
    while process.poll() is None and not (folder / name / "study.sqlite").exists():
        time.sleep(0.002)
    time.sleep(max(chance.uniform(-0.5, 2.5), 0.0))
    how = chance.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
    if process.poll() is None:
        kills[how.name] += 1
        process.send_signal(how)
    process.wait()


def _move(folder: Path, name: str, new: str, chance: random.Random) -> str:
    """Rename the study, or copy it with new times of its files and delete the first."""
    if chance.random() < 0.5:
        (folder / name).rename(folder / new)
    else:
        shutil.copytree(folder / name, folder / new, copy_function=shutil.copyfile)
        shutil.rmtree(folder / name)
    return new


def honest_table(files: list[Path]) -> None:
    """What all the lines of `honest` come to."""
    rows = {row["run"]: row for file in files for row in map(json.loads, file.read_text().splitlines())}.values()
    kills: Counter[str] = sum((Counter(row["kills"]) for row in rows), Counter())
    killed = sum(bool(row["kills"]) for row in rows)
    print(f"{len(rows)} honest runs of {sum(row['cells'] for row in rows)} cells: {kills.total()} kills {dict(kills)} "
          f"in {killed} of them, {sum(row['moves'] for row in rows)} moves, "
          f"{sum(not row['sound'] for row in rows)} false alarms")  # fmt: skip
    for row in rows:
        if not row["sound"]:
            print(row["run"], *row["sentences"], sep="\n  ")


def catching() -> None:
    """The share of studies that N reruns catch, on simulated grids and on published results; is N enough?"""
    numbers = (10, 20, 40, 80, 133)
    published = recassay.load_results("published:kdd24").matrix("ndcg@10", missing="drop-datasets").values
    for name, tables in (
        ("20 x 20, simulated", [_grid(derived_rng(number, "grid")) for number in range(20)]),
        ("11 x 30, KDD'24", [np.maximum(published, 1e-6)]),
    ):
        count = tables[0].size
        print(f"{name}: share, improved by, chance with N = {numbers}, N for 95 %")
        for share in (0.01, 0.02, 0.05):
            altered = altered_cells(count, share)
            for gain in (0.05, 0.10, 0.20):
                met = np.sort(np.concatenate([_drawing(table).reruns_until_met(share, gain) for table in tables]))
                caught = [f"{np.mean(met <= number):.2f}" for number in numbers]
                print(f"  {share:.0%} {gain:.0%}: {caught} {met[int(np.ceil(0.95 * len(met))) - 1]}", flush=True)
            alone = [chance_of_catching(count, altered, number) for number in range(1, count + 1)]
            enough = 1 + int(np.argmax(np.array(alone) >= 0.95))
            print(f"  {share:.0%} at random alone: {[f'{alone[number - 1]:.2f}' for number in numbers]} {enough}")
        print(f"  the printed N, on studies whose cells were improved afterwards: {_kept_promise(tables)}", flush=True)


def _kept_promise(tables: list[FloatArray], studies: int = 400) -> str:
    """2 % of the cells improved by 10 %: how often does the N that `verify` prints for that study catch it?"""
    caught, needed = 0, []
    for number in range(studies):
        rng = derived_rng(number, "promise")
        table = tables[number % len(tables)].copy()
        wrong = rng.choice(table.size, altered_cells(table.size, 0.02), replace=False)
        table.ravel()[wrong] *= 1.1
        drawing = _drawing(table)
        met = drawing.reruns_until_met(0.02, 0.10)
        needed.append(reruns_for(met, 0.95))
        caught += bool({*drawing.order(number)[: needed[-1]].tolist()} & {*wrong.tolist()})
    return f"{caught} of {studies} caught, N from {min(needed)} to {max(needed)}"


def _grid(rng: np.random.Generator) -> FloatArray:
    """Values of 20 algorithms on 20 datasets: levels of both, and a scatter of 12 %."""
    level = rng.normal(0, 0.3, 20)[:, None] + rng.normal(0, 0.8, 20)[None, :]
    return 0.1 * np.exp(level + rng.normal(0, 0.12, (20, 20)))


def _drawing(table: FloatArray) -> Drawing:
    return Drawing(np.log(table).ravel(), *(axis.ravel() for axis in np.indices(table.shape)))


def real(datasets: list[str], algorithms: list[str], threads: int) -> None:
    """A study of files, sealed and run; one number per algorithm is improved, and every cell is run again.

    The study is made with so many `threads`, and run again with one: sums are rounded in another order, and neural
    algorithms come out with other numbers, as on another device.
    """
    with tempfile.TemporaryDirectory(prefix="recassay-real-") as place:
        folder = Path(place) / "real"
        spec = recassay.make_study(
            datasets, algorithms, metrics=["ndcg@10"], trials=2, protocol={"split": "random_per_user"}, name="real",
            settings={"MultiVAE": {"epochs": 40}} if "MultiVAE" in algorithms else None,
        )  # fmt: skip
        recassay.seal(spec, folder=folder)
        run_study(spec, folder, workers=1, threads=threads)
        with Store.open(folder) as store:
            cells = [cell for cell in store.cells() if cell.status == "done"]
        chance, gains = random.Random(1), (1.02, 1.05, 1.1, 1.2)
        chosen = [chance.choice([cell for cell in cells if cell.algorithm == name]) for name in algorithms]
        improved = {cell.id: gains[place % 4] for place, cell in enumerate(chosen)}
        improve(folder, improved)
        factors = {(cell.algorithm, cell.dataset): improved.get(cell.id, 1.0) for cell in cells}
        checked = recassay.verify(folder, rerun=len(cells), workers=1)
        print(f"| cell ({threads} threads, then 1) | altered | reported nDCG@10 | run again | |\n|---|---|---|---|---|")
        for cell in sorted(checked.rerun, key=lambda cell: (cell.algorithm, cell.dataset)):
            factor = factors[cell.algorithm, cell.dataset]
            altered = "honest" if factor == 1 else f"improved by {factor - 1:.0%}"
            again = "" if cell.again is None else f"{cell.again:.6f}"
            print(f"| {cell.algorithm} on {cell.dataset} | {altered} | {cell.reported:.6f} | {again} | {cell.state} |")
        print(*checked.verdict(), sep="\n", flush=True)


ELSEWHERE = ("EASE", "ItemKNN", "UserKNN", "ALS", "BPR", "SLIM", "PureSVD", "RP3beta", "MultiVAE", "LightGCN", "ELSA")
"""Algorithms of which `make` draws three per study: closed forms, iterations, chance and networks."""


def make(to: Path, runs: int) -> None:
    """Sealed and finished studies of two datasets and three algorithms each, with three trials."""
    for number in range(runs):
        chance = random.Random(number)
        algorithms = ["MostPop", *chance.sample(ELSEWHERE, 3)]
        quick = {name: {"epochs": 15} for name in algorithms if name in ("MultiVAE", "LightGCN", "ELSA")}
        spec = recassay.make_study(
            ["synthetic:few-items", "synthetic:dense-small"], algorithms, metrics=["ndcg@10"], trials=3, seed=number,
            name=f"study{number}", settings=quick or None,
        )  # fmt: skip
        recassay.seal(spec, claims=[f"{algorithms[1]} > MostPop"], folder=to / f"study{number}")
        begin = time.perf_counter()
        run_study(spec, to / f"study{number}", workers=1)
        print(f"study{number}: {algorithms[1:]}, {time.perf_counter() - begin:.0f} s", flush=True)


def elsewhere(to: Path) -> None:
    """Every study that `make` made, all its cells run again here; then one cell improved, and all of it once more."""
    gains, alarms, missed, states = (1.05, 1.1, 1.2), 0, 0, Counter[str]()
    for folder in sorted(to.glob("study*")):
        with Store.open(folder) as store:
            cells = [cell for cell in store.cells() if cell.status == "done"]
        honest = recassay.verify(folder, rerun=len(cells), workers=1)
        alarms += not honest.sound
        states.update(cell.state for cell in honest.rerun)
        apart = max(abs((cell.again or 0) / cell.reported - 1) for cell in honest.rerun if cell.reported)
        with tempfile.TemporaryDirectory(prefix="recassay-altered-") as place:
            altered = shutil.copytree(folder, Path(place) / folder.name)
            chance = random.Random(folder.name)
            cell, factor = chance.choice(cells), chance.choice(gains)
            improve(altered, {cell.id: factor})
            found = not recassay.verify(altered, rerun=len(cells), workers=1).sound
        missed += not found
        said = "" if honest.sound else " ".join(honest.verdict())
        print(f"{folder.name}: sound {honest.sound}, largest difference {apart:.1e}; {cell.algorithm} improved by "
              f"{factor - 1:.0%}: {'found' if found else 'MISSED'} {said}", flush=True)  # fmt: skip
    print(f"{alarms} false alarms, {missed} missed, cells {dict(states)}")


def improve(folder: Path, factors: dict[str, float]) -> None:
    """Multiply the numbers of cells in a store, as somebody would who also knows of the checksums."""
    database = sqlite3.connect(folder / "study.sqlite")
    for cell, factor in factors.items():
        database.execute("UPDATE metrics SET value = value * ? WHERE cell = ?", (factor, cell))
        database.execute("UPDATE cells SET seal = NULL WHERE id = ?", (cell,))
    database.commit()
    database.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["honest", "honest-table", "catching", "real", "make", "elsewhere"])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--to", type=Path)
    parser.add_argument("--files", type=Path, nargs="*", default=[])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--datasets", nargs="*", default=[])
    parser.add_argument("--algorithms", nargs="*", default=["MostPop", "EASE", "ItemKNN", "ALS"])
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    if given.what == "honest":
        honest(given.first, given.runs, given.to)
    elif given.what == "honest-table":
        honest_table(given.files)
    elif given.what == "catching":
        catching()
    elif given.what == "make":
        make(given.to, given.runs)
    elif given.what == "elsewhere":
        elsewhere(given.to)
    else:
        real(given.datasets, given.algorithms, given.threads)
