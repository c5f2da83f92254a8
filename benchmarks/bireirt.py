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
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recassay.core.registry import algorithms
from recassay.core.seeds import derived_rng
from recassay.core.specs import ProtocolSpec
from recassay.core.study import PATIENCE
from recassay.core.types import Interactions, Split
from recassay.data.readers import read_interactions
from recassay.metrics.evaluate import evaluate
from recassay.metrics.make import make_metric
from recassay.metrics.recommend import recommend_all
from recassay.protocol.apply import apply_protocol

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("RECASSAY_DATA", ROOT.parent / "shared" / "data")) / "interactions"
REFERENCE = Path(os.environ.get("RECASSAY_REFERENCE", ROOT.parent / "shared" / "reference"))
PROTOCOL = ProtocolSpec(
    filter="none", min_user_interactions=1, min_item_interactions=1, split="random_per_user", ratios=(0.8, 0.1, 0.1)
)
EPOCHS = 100
METRIC = make_metric("ndcg@10")
PUBLISHED = {"Random": "Random", "MostPop": "Pop", "NCE-PLRec": "NCEPLRec"}
"""What the published table calls an algorithm, where it has another name."""
NAMES = [
    *("Random", "MostPop", "ItemKNN", "BPR", "ENMF", "DMF", "NNCF", "MultiDAE", "MultiVAE", "NCE-PLRec", "RecVAE"),
    *("CDAE", "LINE", "SGL", "DiffRec", "RaCT", "SimpleX"),
]
RECBOLE: dict[str, dict[str, Any]] = {
    "MultiVAE": {"noise": 0.01, "anneal_epochs": 10**6, "batch": 2048},
}
"""Settings by which an algorithm is trained as RecBole's defaults do."""


def read_split(name: str, folder: Path) -> Split:
    """The split of a dataset."""
    return apply_protocol(read_interactions(folder / f"{name}.parquet").interactions, PROTOCOL)


def score(model: Any, judged: Interactions, seen: Interactions) -> float:
    """Mean nDCG@10 of the users of `judged`, the items of `seen` left out of the lists."""
    exclude = seen.csr()
    top = recommend_all(model, np.unique(judged.user).astype(np.int32), 10, exclude=exclude)
    return float(evaluate(top, judged.csr(), [METRIC], train=exclude).mean()[METRIC.label])


def trained(kind: Any, parameters: dict[str, Any], split: Split, seed: int) -> dict[str, Any]:
    """Both test scores, with the epochs that the validation part chose and the seconds that training took."""
    stops = getattr(kind, "stopped_by", None)
    limits = {stops: EPOCHS} if stops else {}
    begin = time.perf_counter()
    rng = derived_rng(seed, kind.name)
    best: tuple[float, Any, dict[str, int]] = (-1.0, None, {})
    if stops:
        since = 0
        for model in kind(**parameters | limits).fit_steps(split.train, rng=rng):
            value, since = score(model, split.valid, split.train), since + 1
            if value > best[0]:
                best, since = (value, model, {stops: model.iterations}), 0
            if since >= PATIENCE:
                break
    else:
        model = kind(**parameters).fit(split.train, rng=rng)
        best = score(model, split.valid, split.train), model, {}
    seconds = time.perf_counter() - begin
    both = split.refit()
    final = kind(**parameters | limits | best[2]).fit(both, rng=derived_rng(seed, kind.name, "final"))
    return {
        "valid": best[0],
        "as published": score(best[1], split.test, both),
        "refitted": score(final, split.test, both),
        **best[2],
        "seconds": seconds,
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
    published: dict[tuple[str, str], float] = {}
    if table.is_file():
        published = {(row[0], row[1]): float(row[3]) for row in pl.read_csv(table).rows()}
    rows: list[dict[str, Any]] = []
    for dataset in options.datasets:
        split = read_split(dataset, options.data)
        for name in options.names or NAMES:
            kind = algorithms.get(name)
            neural = {"device": options.device} if getattr(kind, "stopped_by", None) else {}
            for setting in [{}, *([RECBOLE[name]] if options.recbole and name in RECBOLE else [])]:
                found = trained(kind, {**neural, **setting}, split, options.seed)
                known = published.get((PUBLISHED.get(name, name), dataset))
                row = {"algorithm": name, "dataset": dataset, "setting": str(setting or "defaults"), **found}
                rows.append(row | {"published": known})
                print(
                    "  ".join(f"{k} {v:.4f}" if isinstance(v, float) else f"{v}" for k, v in rows[-1].items()),
                    flush=True,
                )
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
