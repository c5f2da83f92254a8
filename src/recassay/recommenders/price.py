"""What a study can be expected to cost: algorithms that cost alike, the sizes of datasets, and universes' time."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from recassay.core.names import canonical
from recassay.core.predicted_seconds import predict_seconds
from recassay.core.registry import algorithms
from recassay.core.specs.study import StudySpec
from recassay.core.tables.characteristics import CharacteristicsTable
from recassay.core.types import FloatArray
from recassay.core.words import count_of, duration, listing
from recassay.data.published.tables import PREFIX, published_results
from recassay.recommenders.plan import Plan
from recassay.recommenders.splits import is_prepared, split_record
from recassay.runner.order import EXPECTED
from recassay.runner.references import is_part_file
from recassay.store.store import Store

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
    rows: dict[str, tuple[float, float, float]] = {}
    for cell in planned.cells:
        if cell.dataset.name not in rows and is_prepared(folder, cell.spec.split.id):
            rows[cell.dataset.name] = split_record(folder, cell.spec.split.id).sizes
    values: FloatArray = np.array(list(rows.values()), dtype=np.float64).reshape(len(rows), 3)
    return CharacteristicsTable(values, tuple(rows), ("Nu", "Ni", "Nr"), where=str(folder))


TIMED = "open"
"""The published table of this package's own algorithms and catalogue, with its times."""

TIMES = ("seconds_fit", "seconds_predict")


def price(planned: Plan, folder: Path) -> str:
    """Cells, splits and fits of the universes of a plan, and the time that those not yet done should take.

    The time is that of cells that ran in the folder, else of published ones.
    """
    names = tuple(dict.fromkeys(cell.algorithm.name for cell in planned.cells))
    datasets = tuple(dict.fromkeys(cell.dataset.name for cell in planned.cells))
    seconds, ran, done = _stored(folder, names, datasets)
    basis = f"by {count_of(ran, 'cell')} that ran here"
    if not ran:
        seconds, basis = _published(planned, names, datasets), f"by published times of {PREFIX}{TIMED}"
    timed = np.isfinite(seconds)
    # A dataset of which nothing is known gets a time only where its size is known, and an algorithm only where others
    # have one.
    sizes = {cell.dataset.name: split_size(folder, split) for split, cell in planned.splits().items()}
    log_size = np.array([np.log(sizes.get(name) or np.nan) for name in datasets])
    usable = timed.any(axis=0) | (np.isfinite(log_size).all() & timed.any())
    if not usable.any():
        return f"{planned.price()}; the time is not known before cells have run"
    classes = [cost_classes(planned.study)[name] for name in names]
    size = log_size[usable] if np.isfinite(log_size[usable]).all() else None
    expected = np.full(seconds.shape, np.nan)
    expected[:, usable] = predict_seconds(seconds[:, usable], size, classes, EXPECTED)
    total, searches = 0.0, set()
    for cell in planned.cells:
        if cell.id not in done and usable[datasets.index(cell.dataset.name)]:
            of_fit = float(expected[names.index(cell.algorithm.name), datasets.index(cell.dataset.name)])
            trials = 0 if cell.spec.tuning_id in searches else cell.spec.tuning.trials
            searches.add(cell.spec.tuning_id)
            total += (trials + 1) * of_fit
    rest = [name for name, known in zip(datasets, usable, strict=True) if not known]
    unknown = f"; not known on {listing(rest, last='and')}" if rest else ""
    return f"{planned.price()}; about {duration(total)} of one process {basis}{unknown}"


def _stored(folder: Path, names: tuple[str, ...], datasets: tuple[str, ...]) -> tuple[FloatArray, int, set[str]]:
    """Mean seconds of a fit (algorithms x datasets, NaN: never run) in the store, of how many cells, and which."""
    total, count = np.zeros((len(names), len(datasets))), np.zeros((len(names), len(datasets)))
    done: set[str] = set()
    if Store.begun(folder):
        with Store.open(folder) as store:
            for cell in store.cells(every=True):
                if cell.status == "done" and cell.seconds and cell.algorithm in names and cell.dataset in datasets:
                    at = names.index(cell.algorithm), datasets.index(cell.dataset)
                    # A cell that took over the trials of another has little time of its own: its fit is the least.
                    fit = (cell.seconds_fit or 0.0) + (cell.seconds_predict or 0.0)
                    total[at] += max(fit, cell.seconds / (cell.spec["tuning"]["trials"] + 1))
                    count[at] += 1
                    done.add(cell.id)
    return np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0), len(done), done


def _published(planned: Plan, names: tuple[str, ...], datasets: tuple[str, ...]) -> FloatArray:
    """The same of the published table, by the names of parts that are registered."""
    results = published_results(PREFIX + TIMED)
    references = {algorithm.name: canonical(algorithm.reference) for algorithm in planned.study.algorithms}
    rows = {references[name]: i for i, name in enumerate(names)}
    columns = {canonical(name): j for j, name in enumerate(datasets)}
    table = np.zeros((len(names), len(datasets)))
    seen = np.zeros(table.shape, dtype=bool)
    for metric in TIMES:
        for algorithm, dataset, value in results.cells(metric).select("algorithm", "dataset", "value").iter_rows():
            at = rows.get(canonical(algorithm)), columns.get(canonical(dataset))
            if value is not None and None not in at:
                table[at] += value
                seen[at] = True
    return np.where(seen, table, np.nan)
