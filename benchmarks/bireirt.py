"""The portfolio of the Bi-ReIRT study under its protocol, beside its published nDCG@10.

python benchmarks/bireirt.py [NAMES ...] [--data DIR] [--datasets ml-100k ml-1m] [--device auto] [--recbole] [--json F]

No filter, every rating a positive, a random 8:1:1 split within each user, full ranking, default parameters, at most 100
epochs. Training looks at nDCG@10 on the validation part at 20 stages and stops after 4 without a better one, as a study
does. `as published` is the model of the training part at its best stage, with the items of the training and validation
parts left out of the lists (what RecBole does); `refitted` is what a study reports: the same number of epochs on both
parts. `--recbole` adds the settings of RecBole for those algorithms that have other defaults here.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

import polars as pl
from neural import DATA, MOST_EPOCHS, ROOT, ndcg, read_split, stopped_early

from recassay.algorithms.neural.algorithm import NeuralAlgorithm
from recassay.core.registry import algorithms
from recassay.core.seeds import derived_rng
from recassay.core.types import Split

REFERENCE = Path(os.environ.get("RECASSAY_REFERENCE", ROOT.parent / "shared" / "reference"))
PUBLISHED = {"MostPop": "Pop", "NCE-PLRec": "NCEPLRec"}
"""What the published table calls an algorithm, where it has another name."""
NAMES = [
    *("Random", "MostPop", "ItemKNN", "BPR", "ENMF", "DMF", "NNCF", "MultiDAE", "MultiVAE", "NCE-PLRec", "RecVAE"),
    *("CDAE", "LINE", "SGL", "DiffRec", "RaCT", "SimpleX"),
]
RECBOLE: dict[str, dict[str, Any]] = {
    "MultiVAE": {"noise": 0.01, "anneal_epochs": 10**6, "batch": 2048},
    "MultiDAE": {"latent": 64, "hidden": 600, "reg": 1e-9, "batch": 2048},
    "ENMF": {"dropout": 0.7, "optimiser": "Adam", "rate": 1e-3, "negative_weight": 0.5, "batch": 2048},
    "NNCF": {"neighbourhood": "random", "negatives": 1},
    "RaCT": {"actor_epochs": 10**6, "noise": 0.01, "anneal_epochs": 10**6, "batch": 2048},
    "SimpleX": {"negatives": 1, "negative_weight": 10.0, "margin": 0.5, "gamma": 0.5, "batch": 2048},
    "SGL": {"contrast": 0.05, "temperature": 0.5, "reg": 1e-5},
    "NCE-PLRec": {"factors": 450, "beta": 1.0, "reg": 100.0},
}
"""Settings by which an algorithm is trained as RecBole's defaults do."""


def both_scores(kind: Any, parameters: dict[str, Any], split: Split, seed: int) -> dict[str, Any]:
    """The two test scores, with the epochs that the validation part chose and the seconds that training took."""
    both, rng = split.refit(), derived_rng(seed, kind.name)
    again = derived_rng(seed, kind.name, "final")
    if not hasattr(kind, "stopped_by"):
        model = kind(**parameters).fit(split.train, rng=rng)
        found = {"valid": ndcg(model, split.valid, split.train), "as published": ndcg(model, split.test, both)}
        return found | {"refitted": ndcg(kind(**parameters).fit(both, rng=again), split.test, both)}
    counter = kind.stopped_by
    trained = stopped_early(kind(**parameters | {counter: MOST_EPOCHS}), split, rng)
    final = kind(**parameters | {counter: trained.epochs}).fit(both, rng=again)
    return {
        "valid": trained.valid,
        "as published": ndcg(trained.model, split.test, both),
        "refitted": ndcg(final, split.test, both),
        "epochs": trained.epochs,
        "epoch": trained.seconds_training / trained.trained_epochs,
        "seconds": trained.seconds,
    }


def main() -> None:
    """Print one row per algorithm and dataset."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--datasets", nargs="*", default=["ml-100k", "ml-1m"])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--recbole", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    table = REFERENCE / "bireirt" / "ndcg_at_10.csv"
    published = {row[:2]: float(row[3]) for row in pl.read_csv(table).rows()} if table.is_file() else {}
    rows: list[dict[str, Any]] = []
    for dataset in options.datasets:
        split = read_split(dataset, options.data)
        for name in options.names or NAMES:
            kind = algorithms.get(name)
            neural = {"device": options.device} if issubclass(kind, NeuralAlgorithm) else {}
            for setting in [{}, *([RECBOLE[name]] if options.recbole and name in RECBOLE else [])]:
                row = {"algorithm": name, "dataset": dataset, "setting": str(setting or "defaults")}
                try:
                    row |= both_scores(kind, {**neural, **setting}, split, options.seed)
                except Exception as error:
                    row |= {"error": f"{type(error).__name__}: {error}"}
                rows.append(row | {"published": published.get((PUBLISHED.get(name, name), dataset))})
                told = (f"{k} {v:.4f}" if isinstance(v, float) else f"{v}" for k, v in rows[-1].items())
                print("  ".join(told), flush=True)
                if options.json is not None:
                    options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
