"""What order adds, by dataset: the best sequential algorithm beside the best general one, from the study order.toml.

python benchmarks/order.py STUDY [STUDY ...] [--out docs/evidence/order.csv]

STUDY is the folder that `recassay run benchmarks/order.toml` wrote; several are parts of the study, such as networks on
a GPU and the others elsewhere. Of a cell that is in several the first counts. Of each family the algorithm with the
best value on the validation part stands for the family; their difference on the test part has a 95 % interval over
users. The verdict is that of `recassay.compare` on the two families. What shuffling the histories changes is the
study's audit.
"""

from __future__ import annotations

import argparse
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import recassay
from recassay.core.registry import algorithms
from recassay.evidence.facts import study_facts
from recassay.store.store import Store

METRIC = "ndcg@10"


def family_of(name: str) -> str:
    """Whether an algorithm reads the order of events."""
    return "sequential" if getattr(algorithms.get(name), "reads_order", False) else "general"


def compared(dataset: str, cells: list[tuple[Any, Path]], order: dict[str, Any]) -> dict[str, Any]:
    """One row: both families on a dataset."""
    validated = [(cell, folder) for cell, folder in cells if cell.validation is not None]
    chosen = {
        family: max((one for one in validated if family_of(one[0].algorithm) == family), key=lambda c: c[0].validation)
        for family in ("sequential", "general")
    }
    users = [
        pl.read_parquet(folder / "scores" / f"{cell.id}.parquet").select("user", METRIC)
        for cell, folder in chosen.values()
    ]
    best = {family: cell for family, (cell, _) in chosen.items()}
    pairs = users[0].join(users[1], on="user", suffix="_general")
    gap = (pairs[METRIC] - pairs[f"{METRIC}_general"]).to_numpy()
    error = 1.96 * gap.std(ddof=1) / np.sqrt(len(gap))
    values = {family: cell.metrics[METRIC] for family, cell in best.items()}
    return {
        "dataset": dataset,
        "sequential": best["sequential"].algorithm,
        "value": values["sequential"],
        "general": best["general"].algorithm,
        "general value": values["general"],
        "gain": values["sequential"] / values["general"] - 1,
        "low": (gap.mean() - error) / values["general"],
        "high": (gap.mean() + error) / values["general"],
        "users": len(gap),
        "judgements": best["general"].counts["judgements"],
        "shuffling": order["change"],
        "shuffling low": order["low"],
        "shuffling high": order["high"],
        "in history": order["share_in_history"],
        "last again": order["share_last_again"],
        "tied": order["share_tied"],
    }


def main() -> None:
    """Print the table, write it, and say what follows over the datasets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", type=Path, nargs="+")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    cells: dict[str, tuple[Any, Path]] = {}
    orders: dict[str, dict[str, Any]] = {}
    for folder in asked.studies:
        with Store.open(folder) as store:
            cells = {cell.id: (cell, folder) for cell in store.cells() if cell.status == "done"} | cells
        orders = {row["dataset"]: row for row in study_facts(folder).order.to_dicts()} | orders
    of: dict[str, list[tuple[Any, Path]]] = {}
    for cell, folder in cells.values():
        of.setdefault(cell.dataset, []).append((cell, folder))
    planned = tomllib.loads(Path(__file__).with_name("order.toml").read_text("utf-8"))["study"]
    rows = [compared(name, of[name], orders[name]) for name in planned["datasets"] if name in of]
    families = pl.DataFrame(
        {"algorithm": family, "dataset": row["dataset"], "metric": METRIC, "value": row[column]}
        for row in rows
        for family, column in (("sequential", "value"), ("general", "general value"))
    )
    every = pl.DataFrame(
        {"dataset": c.dataset, "algorithm": c.algorithm, METRIC: c.metrics[METRIC]} for c, _ in cells.values()
    )
    by_algorithm = every.pivot("algorithm", index="dataset", values=METRIC)
    shown = [name for name in planned["algorithms"] if name in by_algorithm.columns]
    table = pl.DataFrame(rows).join(by_algorithm.select("dataset", *shown), on="dataset", maintain_order="left")
    print(table.write_csv(float_precision=4))
    if len(rows) > 1:
        found = recassay.compare(families)
        print(found.verdict(), found.pairs[0])
    if asked.out:
        asked.out.write_text(table.write_csv(float_precision=4))


if __name__ == "__main__":
    main()
