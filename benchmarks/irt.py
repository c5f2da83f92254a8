"""Logistic IRT against its peers on the same tables: seconds, and how well the truth comes back.

Peers: girth and py-irt, where they are installed. `--large` adds 1,000 x 2,000 and 1,000 x 100,000; `--peers PYTHON`
runs the peers under another interpreter (girth needs an older numpy). With RECASSAY_REFERENCE set (or the folder
../shared/reference) the table of 139 x 500 is the published one, else a simulated one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from recassay.analysis.logistic_irt import fit_logistic
from recassay.analysis.logistic_model import probabilities
from recassay.core.responses import LogisticItems, Responses
from recassay.data.responses import read_items, read_responses

ROOT = Path(__file__).resolve().parent.parent
PEER_LIMIT = 300

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


def ours(responses: Responses, theta: np.ndarray, items: LogisticItems, model: str) -> float:
    """Fit, print one block of lines, return the seconds."""
    start = time.perf_counter()
    found = fit_logistic(responses, model, priors=True)
    seconds = time.perf_counter() - start
    n, m = responses.codes.shape
    ability = found.abilities.estimate
    wrong = int((np.sign(found.items.slope) != np.sign(items.slope)).sum())

    def covered(interval: np.ndarray, truth: np.ndarray) -> float:
        return float(((interval[:, 0] < truth) & (truth < interval[:, 1])).mean())

    b = np.clip(found.items.difficulty, -6, 6)
    print(
        f"{n} x {m} {model}: ours {seconds:.1f} s, {found.cycles} cycles, converged {found.converged}, gradient "
        f"{found.gradient:.1g}\n  ability r {np.corrcoef(ability, theta)[0, 1]:.3f} RMSE {rmse(ability, theta):.3f} "
        f"covered {covered(found.ability_intervals, theta):.3f}\n  discrimination r "
        f"{np.corrcoef(found.items.slope, items.slope)[0, 1]:.3f} RMSE {rmse(found.items.slope, items.slope):.3f} "
        f"covered {covered(found.item_intervals[:, 0], items.slope):.3f}; wrong signs {wrong} of {m}\n  difficulty r "
        f"{np.corrcoef(b, items.difficulty)[0, 1]:.3f} RMSE {rmse(b, items.difficulty):.3f} "
        f"covered {covered(found.item_intervals[:, 1], items.difficulty):.3f}"
        + (f"\n  guessing RMSE {rmse(found.items.guessing, items.guessing):.3f}" if model == "3pl" else ""),
        flush=True,
    )
    return seconds


def peer(name: str, script: str, python: str, responses: Responses, model: str) -> dict[str, object] | str:
    """What a peer found, or why it found nothing."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "responses.npy"
        np.save(path, responses.codes)
        try:
            ran = subprocess.run(
                [python, "-c", script, str(path), model], capture_output=True, text=True, timeout=PEER_LIMIT
            )
        except subprocess.TimeoutExpired:
            return f"more than {PEER_LIMIT} s"
    if ran.returncode:
        last = (ran.stderr.strip().splitlines() or ["no message"])[-1]
        return "not installed" if "No module named" in last else f"failed: {last[:100]}"
    printed = [line for line in ran.stdout.splitlines() if line.startswith("{")]
    return json.loads(printed[-1]) if printed else "ended without a result"


def against(responses: Responses, theta: np.ndarray, items: LogisticItems, model: str, python: str) -> None:
    """Ours and every peer on one table."""
    seconds = ours(responses, theta, items, model)
    for name, script in (("girth", GIRTH), ("py-irt", PYIRT)):
        found = peer(name, script, python, responses, model)
        if isinstance(found, str):
            print(f"  {name}: {found}", flush=True)
            continue
        ability = np.array(found["ability"])
        slope = np.array(found["discrimination"])
        print(
            f"  {name}: {found['seconds']:.1f} s ({float(found['seconds']) / seconds:.0f} times ours), ability r "
            f"{np.corrcoef(ability, theta)[0, 1]:.3f} RMSE {rmse(ability, theta):.3f}, discrimination RMSE "
            f"{rmse(slope, items.slope):.3f}, wrong signs {int((np.sign(slope) != np.sign(items.slope)).sum())}",
            flush=True,
        )


def main() -> None:
    """Print seconds, accuracy and ratios."""
    import sys

    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--peers", default=sys.executable)
    chosen = parser.parse_args()
    folder = Path(os.environ.get("RECASSAY_REFERENCE") or ROOT.parent / "shared" / "reference") / "irt"
    if folder.is_dir():
        responses = read_responses(folder / "responses_139x500_3pl_pos.csv")
        theta = pl.read_csv(folder / "abilities_139x500_3pl_pos.csv").get_column("ability").to_numpy()
        against(responses, theta, read_items(folder / "items_139x500_3pl_pos.csv"), "3pl", chosen.peers)
    for model, negative in (("2pl", 0.0), ("3pl", 0.1)):
        table = simulated(139, 500, guessing=model == "3pl", negative=negative, seed=1)
        against(*table, model, chosen.peers)
    if chosen.large:
        for model, m in (("2pl", 2_000), ("3pl", 2_000), ("3pl", 100_000)):
            ours(*simulated(1_000, m, guessing=model == "3pl", negative=0.1, seed=2), model)


if __name__ == "__main__":
    main()
