"""Logistic IRT against its peers on the same tables: seconds, and how well the truth comes back.

Peers: girth and py-irt, where they are installed. `--large` adds 1,000 x 2,000 and 1,000 x 100,000; `--peers PYTHON`
runs the peers under another interpreter (girth needs an older numpy). With RECASSAY_REFERENCE set (or the folder
../shared/reference) the table of 139 x 500 is the published one, else a simulated one.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from recassay.analysis.logistic_irt.fit import fit_logistic
from recassay.analysis.logistic_irt.model import probabilities
from recassay.core.tables.responses import LogisticItems, Responses
from recassay.data.tables.responses import read_items, read_responses

ROOT = Path(__file__).resolve().parent.parent
PEER_LIMIT = 300
HEADER = ["table", "by", "seconds", "ability r", "RMSE", "discrimination RMSE", "wrong signs", ""]

GIRTH = """
import json, sys, time, numpy as np
import girth
data = np.load(sys.argv[1]).T.astype(int)
start = time.perf_counter()
found = girth.threepl_mml(data) if sys.argv[2] == "3pl" else girth.twopl_mml(data)
c = found.get("Guessing", np.zeros(len(data)))
estimate = girth.ability_3pl_eap(data, found["Difficulty"], found["Discrimination"], c)
print(json.dumps({"seconds": time.perf_counter() - start, "ability": list(map(float, estimate)),
                  "discrimination": list(map(float, found["Discrimination"])), "guessing": list(map(float, c))}))
"""
PYIRT = """
import json, sys, tempfile, time, numpy as np
from py_irt.config import IrtConfig
from py_irt.dataset import Dataset
from py_irt.training import IrtModelTrainer
data = np.load(sys.argv[1]).astype(int)
path = tempfile.mktemp(suffix=".jsonlines")
with open(path, "w") as file:
    for r, row in enumerate(data):
        answers = {f"i{i}": int(x) for i, x in enumerate(row)}
        file.write(json.dumps({"subject_id": f"r{r}", "responses": answers}) + "\\n")
start = time.perf_counter()
config = IrtConfig(model_type=sys.argv[2], epochs=2000, priors="hierarchical", log_every=100000)
trainer = IrtModelTrainer(data_path=path, config=config)
trainer.train(device="cpu")
best = trainer.best_params
order = sorted(range(len(data)), key=lambda r: int(best["subject_ids"][r][1:]))
places = sorted(range(data.shape[1]), key=lambda i: int(best["item_ids"][i][1:]))
print(json.dumps({"seconds": time.perf_counter() - start, "ability": [float(best["ability"][r]) for r in order],
                  "discrimination": [float(np.ravel(best["disc"])[i]) for i in places], "guessing": None}))
"""


def simulated(
    n: int, m: int, *, guessing: bool, negative: float, seed: int
) -> tuple[Responses, np.ndarray, LogisticItems]:
    """Responses, abilities and items: log-normal discriminations, Normal(0, 1) difficulties, Beta(5, 17) guessing."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=n)
    a = np.exp(rng.normal(0.2, 0.35, m)) * np.where(rng.random(m) < negative, -1, 1)
    c = rng.beta(5, 17, m) if guessing else np.zeros(m)
    items = LogisticItems.from_difficulty([f"i{i}" for i in range(m)], a, rng.normal(0, 1, m), c)
    codes = np.empty((n, m), dtype=np.uint8)
    for part in range(0, m, 5000):
        at = slice(part, part + 5000)
        p = probabilities(theta, items.take(at))
        codes[:, at] = rng.random(p.shape) < p
    return Responses(codes, tuple(f"r{i}" for i in range(n)), items.names), theta, items


def rmse(found: np.ndarray, truth: np.ndarray) -> float:
    """Root of the mean squared difference."""
    return float(np.sqrt(np.mean((found - truth) ** 2)))


def recovered(ability: np.ndarray, slope: np.ndarray, theta: np.ndarray, items: LogisticItems) -> list[str]:
    """Correlation and error of abilities, error and wrong signs of discriminations."""
    return [
        f"{np.corrcoef(ability, theta)[0, 1]:.3f}",
        f"{rmse(ability, theta):.3f}",
        f"{rmse(slope, items.slope):.3f}",
        str(int((np.sign(slope) != np.sign(items.slope)).sum())),
    ]


def ours(responses: Responses, theta: np.ndarray, items: LogisticItems, model: str) -> list[str]:
    """Seconds, recovery, and what else is known of our fit."""
    start, before = time.perf_counter(), time.process_time()
    found = fit_logistic(responses, model, priors=True)
    seconds, processor = time.perf_counter() - start, time.process_time() - before

    def covered(interval: np.ndarray, truth: np.ndarray) -> str:
        return f"{((interval[:, 0] < truth) & (truth < interval[:, 1])).mean():.3f}"

    told = (
        f"{processor:.1f} s of processor, {found.cycles} cycles, converged {found.converged}; intervals cover "
        f"{covered(found.ability_intervals, theta)} ability, {covered(found.item_intervals[:, 0], items.slope)} "
        f"discrimination, {covered(found.item_intervals[:, 1], items.difficulty)} difficulty; peak memory "
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB"
    )
    return [f"{seconds:.1f}", *recovered(found.abilities.estimate, found.items.slope, theta, items), told]


def peer(script: str, python: str, responses: Responses, theta: np.ndarray, items: LogisticItems, model: str) -> list:
    """Seconds and recovery of a peer, or why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "responses.npy"
        np.save(path, responses.codes)
        try:
            ran = subprocess.run(
                [python, "-c", script, str(path), model], capture_output=True, text=True, timeout=PEER_LIMIT
            )
        except subprocess.TimeoutExpired:
            return [f"> {PEER_LIMIT}", *[""] * 4, "stopped"]
    if ran.returncode:
        last = (ran.stderr.strip().splitlines() or ["no message"])[-1]
        return [*[""] * 5, "not installed" if "No module named" in last else f"failed: {last[:100]}"]
    begin = ran.stdout.rfind('{"seconds"')
    if begin < 0:
        return [*[""] * 5, "ended without a result"]
    found = json.loads(ran.stdout[begin:].splitlines()[0])
    return [
        f"{found['seconds']:.1f}",
        *recovered(np.array(found["ability"]), np.array(found["discrimination"]), theta, items),
        "",
    ]


def show(rows: list[list[str]]) -> None:
    """The table, columns aligned."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(HEADER))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip(), flush=True)


def main() -> None:
    """Fit every table with ours and with every peer, then print one table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--peers", default=sys.executable)
    chosen = parser.parse_args()
    rows = [HEADER]
    tables = []
    folder = Path(os.environ.get("RECASSAY_REFERENCE") or ROOT.parent / "shared" / "reference") / "irt"
    if folder.is_dir():
        responses = read_responses(folder / "responses_139x500_3pl_pos.csv")
        theta = pl.read_csv(folder / "abilities_139x500_3pl_pos.csv").get_column("ability").to_numpy()
        tables.append(("published", (responses, theta, read_items(folder / "items_139x500_3pl_pos.csv")), "3pl"))
    for model, negative in (("2pl", 0.0), ("3pl", 0.1)):
        drawn = simulated(139, 500, guessing=model == "3pl", negative=negative, seed=1)
        tables.append((f"{100 * negative:.0f} % negative", drawn, model))
    for what, table, model in tables:
        name = f"139 x 500 {model}, {what}"
        rows.append([name, "ours", *ours(*table, model)])
        for library, script in (("girth", GIRTH), ("py-irt", PYIRT)):
            rows.append([name, library, *peer(script, chosen.peers, *table, model)])
    for model, m in (("2pl", 2_000), ("3pl", 2_000), ("3pl", 5_000), ("3pl", 100_000)) if chosen.large else ():
        table = simulated(1_000, m, guessing=model == "3pl", negative=0.1, seed=2)
        rows.append([f"1,000 x {m:,} {model}, 10 % negative", "ours", *ours(*table, model)])
    show(rows)


if __name__ == "__main__":
    main()
