"""The time that the universes of a study should take, by cells that ran in its folder, else by published times."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from recassay.core.errors import count_of, duration, listing
from recassay.core.names import canonical
from recassay.core.predicted_seconds import predict_seconds
from recassay.core.types import FloatArray
from recassay.data.published.tables import PREFIX, published_results
from recassay.recommenders.cost_class import cost_classes, split_size
from recassay.recommenders.plan import Plan
from recassay.runner.order import EXPECTED
from recassay.store.store import Store

TIMED = "open"
"""The published table of this package's own algorithms and catalogue, with its times."""

TIMES = ("seconds_fit", "seconds_predict")


def price(planned: Plan, folder: Path) -> str:
    """Cells, splits and fits of the universes of a plan, and the time that those not yet done should take."""
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
    own = {algorithm.name: canonical(algorithm.reference) for algorithm in planned.study.algorithms}
    rows = {own[name]: i for i, name in enumerate(names)}
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
