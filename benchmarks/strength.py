"""Gowalla as LightGCN's authors split it: sixteen algorithms by default, three seeds each, beside published values.

python benchmarks/strength.py STUDY [NAMES ...] [--data DIR] [--seeds 1 2 3]

Runs a study into the folder STUDY and goes on where an earlier run ended. DIR has the parts of the split as train,
valid (a tenth of the training events) and test, of user and item. One trial finds how many iterations a default needs
on the validation part; the final training is on both parts. The table has the highest published values of this split,
the mean over seeds of recall@20 and nDCG@20 with the lowest and the highest, and the median seconds of search, final
training and lists. One cell at a time is on a GPU. To find what a change did, run the same names with both versions.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from neural import DATA

import recassay
from recassay.core.names import canonical
from recassay.core.specs.study import StudySpec
from recassay.data.published.expected import single_values
from recassay.store.records import CellRecord
from recassay.store.store import Store

NAMES = [
    *("GF-CF", "EASE", "Turbo-CF", "SLIM", "ItemKNN", "UserKNN", "RP3beta", "ALS", "BPR", "WARP"),
    *("XSimGCL", "LightGCN", "SimpleX", "MultiVAE", "ENMF", "UltraGCN"),
]
METRICS = ("recall@20", "ndcg@20")
PUBLISHED_AS = {"ItemKNN": "ItemCF", "MultiVAE": "MultVAE"}
"""What the leaderboard calls an algorithm, where it has another name."""


def study(
    names: list[str], folder: Path, seeds: list[int], settings: Mapping[str, Mapping[str, Any]] | None = None
) -> StudySpec:
    """The study of these algorithms, some with settings."""
    return recassay.make_study(
        [str(folder.resolve())],
        names,
        metrics=METRICS,
        name="strength",
        seed=seeds,
        trials=1,
        tuning_metric="ndcg@20",
        settings=settings,
        protocol={"split": "given", "filter": "none"},
    )


def published(name: str, metric: str) -> str:
    """The highest value of an algorithm that was published for this split."""
    wanted = canonical(PUBLISHED_AS.get(name, name))
    known = [v for v in single_values() if "LightGCN split" in v.protocol and canonical(v.algorithm) == wanted]
    return max((f"{value.value:.4f}" for value in known if value.metric == metric), default="")


def row(name: str, cells: list[CellRecord]) -> str:
    """One line of the table."""
    parts = [name, " / ".join(filter(None, (published(name, metric) for metric in METRICS)))]
    for metric in METRICS:
        values = [cell.metrics[metric] or 0.0 for cell in cells]
        parts.append(f"{statistics.mean(values):.4f} ({min(values):.4f} to {max(values):.4f})")
    seconds = [sum(filter(None, (cell.seconds_tune, cell.seconds_fit, cell.seconds_predict))) for cell in cells]
    return f"| {' | '.join([*parts, f'{statistics.median(seconds):.0f}', str(len(cells))])} |"


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--data", type=Path, default=DATA.parent / "splits" / "gowalla")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    asked = parser.parse_args()
    recassay.run(study(asked.names, asked.data, asked.seeds), asked.study)
    with Store.open(asked.study) as store:
        cells = store.cells()
    print("| algorithm | published | recall@20 | nDCG@20 | seconds | seeds |\n|---|---|---|---|---|---|")
    for name in asked.names:
        if done := [cell for cell in cells if cell.algorithm == name and cell.status == "done"]:
            print(row(name, done))
    for cell in cells:
        if cell.status != "done":
            print(f"{cell.algorithm}, seed {cell.seed}: {cell.status}, {cell.reason}")


if __name__ == "__main__":
    main()
