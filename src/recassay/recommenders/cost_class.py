"""Which algorithms can be expected to cost alike, and how large the datasets of a plan are."""

from __future__ import annotations

from pathlib import Path

from recassay.core.registry import algorithms
from recassay.core.specs.study import StudySpec
from recassay.core.tables.characteristics import CharacteristicsTable
from recassay.core.types import FloatArray
from recassay.recommenders.plan import Plan
from recassay.recommenders.splits import is_prepared, split_record
from recassay.runner.references import is_part_file

_MODULES = {
    "baseline": "baselines",
    "closed form": "neighbours linear slim sparse_linear nce_plrec random_walks graph_filters svd",
    "factor model": "als bpr warp rating_mf nmf latent_class",
}
CLASSES = {module: kind for kind, modules in _MODULES.items() for module in modules.split()}
"""By module of the algorithms; those in `neural` are neural, others (plugins, files) of no known class."""


def cost_classes(study: StudySpec) -> dict[str, str]:
    """The class of each algorithm of a study."""
    classes = {}
    for algorithm in study.algorithms:
        if is_part_file(algorithm.reference):
            classes[algorithm.name] = "other"
            continue
        module = algorithms.get(algorithm.reference).__module__
        last = module.rpartition(".")[2]
        classes[algorithm.name] = "neural" if ".neural." in module else CLASSES.get(last, "other")
    return classes


def split_size(folder: Path, split: str) -> float | None:
    """The interactions of a prepared split; None where it is not there."""
    return float(split_record(folder, split).n_interactions) if is_prepared(folder, split) else None


def planned_sizes(planned: Plan, folder: Path) -> CharacteristicsTable:
    """Users, items and interactions of the datasets that are prepared (of the first of several folds)."""
    import numpy as np

    rows: dict[str, tuple[float, float, float]] = {}
    for cell in planned.cells:
        if cell.dataset.name not in rows and is_prepared(folder, cell.spec.split.id):
            record = split_record(folder, cell.spec.split.id)
            rows[cell.dataset.name] = (record.n_users, record.n_items, record.n_interactions)
    values: FloatArray = np.array(list(rows.values()), dtype=np.float64).reshape(len(rows), 3)
    return CharacteristicsTable(values, tuple(rows), ("Nu", "Ni", "Nr"), where=str(folder))
