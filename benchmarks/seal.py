"""What seals and reruns are worth: honest studies that are killed, resumed and moved, and altered ones that are rerun.

python benchmarks/seal.py honest --runs 200     # false alarms of `recassay verify`
python benchmarks/seal.py catching              # by simulation: the chance of meeting an altered cell
python benchmarks/seal.py real --datasets a.parquet b.parquet   # the same cells, run again
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import recassay
from recassay.core.seeds import derived_rng
from recassay.recommenders.rerun import _drawn, cells_needed, chance_of_catching
from recassay.store.records import CellRecord

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


def honest(runs: int) -> None:
    """Seal, run with kills at random moments, resume, move, verify: how often does it cry wolf?"""
    alarms, kills = [], 0
    for number in range(runs):
        chance = random.Random(number)
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            (folder / "study.toml").write_text(STUDY.format(seed=number))
            recassay.seal(folder / "study.toml", claims=["EASE > MostPop"], folder=folder / "out")
            run = [sys.executable, "-m", "recassay", "run", "study.toml", "--out", "out", "--workers", "2"]
            for _ in range(chance.randrange(3)):
                process = subprocess.Popen(run, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(chance.uniform(0.3, 4.0))
                kills += process.poll() is None
                process.send_signal(chance.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
                process.wait()
            subprocess.run(run, cwd=folder, check=True, capture_output=True)
            if chance.random() < 0.5:
                shutil.move(folder / "out", folder / "moved")
                (folder / "moved").rename(folder / "again")
            else:
                (folder / "out").rename(folder / "again")
            checked = recassay.verify(folder / "again")
            if not checked.sound:
                alarms.append((number, checked.verdict()))
    print(f"{runs} honest runs, {kills} kills while they ran, {len(alarms)} false alarms")
    for alarm in alarms[:5]:
        print(alarm)


def catching(draws: int = 400) -> None:
    """On grids of 20 algorithms x 20 datasets with real-looking scatter: the share of studies that a rerun catches."""
    cells = 400
    print("altered, improved, " + ", ".join(f"N = {n}" for n in (20, 40, 80, 133)) + ", at random alone")
    for share in (0.01, 0.02, 0.05):
        altered = round(share * cells)
        for gain in (0.05, 0.10, 0.20):
            caught = []
            for n in (20, 40, 80, 133):
                met = 0
                for draw in range(draws):
                    rng = derived_rng(draw, "grid")
                    level = rng.normal(0, 0.3, 20)[:, None] + rng.normal(0, 0.8, 20)[None, :]
                    values = 0.1 * np.exp(level + rng.normal(0, 0.12, (20, 20))).ravel()
                    wrong = rng.choice(cells, altered, replace=False)
                    values[wrong] *= 1 + gain
                    records = [
                        CellRecord(
                            str(i), f"a{i // 20}", f"d{i % 20}", 1, None, {}, "done", metrics={"ndcg@10": float(v)}
                        )
                        for i, v in enumerate(values)
                    ]
                    met += bool({*_drawn(records, "ndcg@10", True, n, draw)} & {*wrong.tolist()})
                caught.append(met / draws)
            alone = [chance_of_catching(cells, altered, n) for n in (20, 40, 80, 133)]
            print(f"{share:.0%}, {gain:.0%}: {caught} at random alone {[round(p, 2) for p in alone]}", flush=True)
    print("N for 95 %, at random:", {share: cells_needed(cells, share) for share in (0.01, 0.02, 0.05)})


def real(datasets: list[str], algorithms: list[str]) -> None:
    """A study of files, sealed, run, and every cell of it run again."""
    with tempfile.TemporaryDirectory() as place:
        spec = recassay.make_study(
            datasets, algorithms, metrics=["ndcg@10"], trials=2, protocol={"split": "random_per_user"}, name="real"
        )
        recassay.seal(spec, folder=Path(place) / "real")
        recassay.run(spec, Path(place) / "real")
        checked = recassay.verify(Path(place) / "real", rerun=len(datasets) * len(algorithms))
        for cell in checked.rerun:
            print(f"{cell.algorithm} on {cell.dataset}: {cell.reported:.6f} and {cell.again}: {cell.state}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["honest", "catching", "real"])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--datasets", nargs="*", default=[])
    parser.add_argument("--algorithms", nargs="*", default=["MostPop", "EASE", "ItemKNN", "ALS"])
    given = parser.parse_args()
    if given.what == "honest":
        honest(given.runs)
    elif given.what == "catching":
        catching()
    else:
        real(given.datasets, given.algorithms)
