"""The chooser of an adaptive run over universes: reads the store, decides, and names the cells to run next."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from recassay.analysis.certify.fit import CONFIRMED, Multiverse, claims_of, decide, scores
from recassay.analysis.certify.result import CertificateResult
from recassay.core.errors import UsageError, listing
from recassay.core.seeds import derived_rng
from recassay.core.tables.labels import known_direction, split_label
from recassay.core.types import FloatArray
from recassay.evidence.universes import cell_key, stored_study, universe_keys
from recassay.metrics.make import make_metric
from recassay.recommenders.plan import Plan
from recassay.recommenders.study import Choice
from recassay.recommenders.universes import FREE, universes
from recassay.reporting.sections.certify import sentences
from recassay.store.store import Store


@dataclass(frozen=True, slots=True, eq=False)
class StoredBlocks:
    """The blocks of a study: which cells each has, the scores of those that ran, and what they took or will take."""

    grid: Multiverse
    scores: FloatArray
    price: FloatArray
    cells: dict[tuple[int, int], list[tuple[Any, ...]]]
    """By block, the keys of its cells."""


def stored_blocks(store: Store) -> StoredBlocks:
    """The blocks of a study with a [multiverse]; a failed cell scores worst, a block without values is none."""
    study = stored_study(store)
    if study.multiverse is None:
        raise UsageError("the study has no [multiverse]", where=str(store.folder), fix="see docs/multiverse-studies.md")
    records = {cell_key(cell): cell for cell in store.cells(every=True)}
    axes = {name: values for name, values in study.multiverse.axes.items() if name not in FREE}
    names = tuple(algorithm.name for algorithm in study.algorithms)
    datasets = tuple(dataset.name for dataset in study.datasets)
    labels = [make_metric(label).label for label in study.metrics]
    parts = [split_label(label) for label in labels]
    free_axes = {"metric": tuple(dict.fromkeys(name for name, _ in parts)),
                 "cutoff": tuple(dict.fromkeys(cut or "(none)" for _, cut in parts))}  # fmt: skip
    free = np.array(
        [[free_axes["metric"].index(name), free_axes["cutoff"].index(cut or "(none)")] for name, cut in parts]
    )
    sign = np.array([-1.0 if known_direction(label) is not False else 1.0 for label in labels])
    combinations: dict[tuple[str, ...], Any] = {}
    for universe in universes(study):
        combinations.setdefault(tuple(universe.labels[name] for name in axes), universe)
    choices = {name: tuple(dict.fromkeys(key[i] for key in combinations)) for i, name in enumerate(axes)}
    paid = np.array([[choices[name].index(key[i]) for i, name in enumerate(axes)] for key in combinations])
    cells: dict[tuple[int, int], list[tuple[Any, ...]]] = {}
    for p, universe in enumerate(combinations.values()):
        for key in universe_keys(universe):
            cells.setdefault((p, datasets.index(key[1])), []).append(key)
    exists = np.zeros((len(paid), len(datasets)), dtype=bool)
    values: dict[tuple[int, int], FloatArray | None] = {}
    seconds: dict[int, list[float]] = {}
    for block, keys in cells.items():
        values[block] = _values(keys, records, names, labels, sign)
        ran = [records[key].seconds or 0.0 for key in keys if key in records]
        seconds.setdefault(block[1], []).extend(ran)
        table = values[block]
        exists[block] = table is None or bool(np.isfinite(table).any())
    places = list(zip(*np.nonzero(exists), strict=True))
    known = np.full((len(places), len(labels) * len(names)), np.nan)
    price = np.ones(len(places))
    usual = float(np.mean([s for all_ in seconds.values() for s in all_])) if any(seconds.values()) else 1.0
    for row, (p, d) in enumerate(places):
        block = (int(p), int(d))
        table = values[block]
        if table is not None:
            known[row] = scores(table).ravel()
        of_one = float(np.mean(seconds[block[1]])) if seconds[block[1]] else usual
        price[row] = max(sum(records[k].seconds or 0.0 if k in records else of_one for k in cells[block]), 1e-3)
    grid = Multiverse({**choices, **free_axes}, paid, free, names, datasets, exists)
    return StoredBlocks(grid, known, price, cells)


def _values(
    keys: Sequence[tuple[Any, ...]], records: Any, names: Sequence[str], labels: Sequence[str], sign: FloatArray
) -> FloatArray | None:
    """Metrics x algorithms of a block, lower is better, NaN where a cell failed; None while cells are missing."""
    if any(key not in records for key in keys):
        return None
    table, count = np.zeros((len(labels), len(names))), np.zeros(len(names))
    for key in keys:
        cell, a = records[key], names.index(key[0])
        measured = [cell.metrics.get(label) if cell.status == "done" else None for label in labels]
        table[:, a] += sign * np.array([np.nan if value is None else value for value in measured])
        count[a] += 1
    return np.where(count > 0, table / np.maximum(count, 1), np.nan)


def certificate_of(
    folder: str | Path, claims: Sequence[str] | None = None, *, confidence: float = 0.95, seed: int = 0
) -> CertificateResult:
    """What the cells of the study in `folder` settle."""
    with Store.open(folder) as store:
        known = stored_blocks(store)
    rng = derived_rng(seed, "certificate", str(int(np.isfinite(known.scores).all(axis=1).sum())))
    made = claims_of(claims, known.grid)
    return decide(known.grid, known.scores, known.price, made, confidence=confidence, rng=rng)[0]


def how_certified(folder: str | Path) -> str:
    """The same in one line."""
    return " ".join(sentences(certificate_of(folder))[:2]).rstrip(".")


@dataclass(slots=True)
class AdaptiveUniverses:
    """Which cells of a study with a [multiverse] run next: a `StudyChooser`. `budget` is in seconds."""

    confidence: float = 0.95
    budget: float | None = None
    workers: int = 1
    began: float | None = None
    theta: FloatArray | None = None
    last: CertificateResult | None = None
    confirmed: int = 0

    def __call__(self, planned: Plan, store: Store) -> Choice:
        """Decide, and name the cells of the blocks to run next."""
        first, self.began = self.began is None, self.began or time.monotonic()
        with threadpool_limits(1, user_api="blas"):
            known = stored_blocks(store)
            rng = derived_rng(0, "certificate", str(int(np.isfinite(known.scores).all(axis=1).sum())))
            self.last, self.theta = decide(
                known.grid, known.scores, known.price, None,
                confidence=self.confidence, rng=rng, theta=self.theta, least=self.workers,
            )  # fmt: skip
        standing = " ".join(sentences(self.last)[:2]).rstrip(".")
        if self.budget is not None and time.monotonic() - self.began > self.budget:
            return Choice([], f"{standing}; the budget is spent")
        # A run that is resumed where everything was certified has ended before.
        self.confirmed = (CONFIRMED if first else self.confirmed + 1) if self.last.complete else 0
        if self.confirmed == CONFIRMED:
            return Choice([], standing)
        wanted = {key for block in self.last.next for key in known.cells[block]}
        done = {cell_key(cell) for cell in store.cells(every=True)}
        ids = [cell.id for cell in planned.cells if _planned_key(cell) in wanted - done]
        if self.last.next and not ids:
            raise UsageError(f"blocks without cells: {listing(map(str, self.last.next))}", fix="report this")
        return Choice(ids, standing)


def _planned_key(cell: Any) -> tuple[Any, ...]:
    spec = cell.spec.model_dump(mode="json")
    texts = (json.dumps(part, sort_keys=True) for part in (spec["split"]["protocol"], spec["tuning"]))
    return (cell.algorithm.name, cell.dataset.name, *texts, cell.spec.seed)
