"""The chooser of an adaptive run over universes: reads the store, decides, and names the cells to run next."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from recassay.analysis.certify.fit import CONFIRMED, Multiverse, claims_of, decide, scores
from recassay.analysis.certify.result import CertificateResult
from recassay.core.errors import UsageError
from recassay.core.seeds import derived_rng
from recassay.core.system.blas import one_blas_thread
from recassay.core.tables.labels import known_direction, split_label
from recassay.core.types import FloatArray, IntArray
from recassay.core.words import listing
from recassay.evidence.universes import Key, cell_key, key_of, stored_study, universe_keys
from recassay.metrics.make import make_metric
from recassay.recommenders.plan import Plan
from recassay.recommenders.study import Choice
from recassay.recommenders.universes import FREE, Universe, universes
from recassay.reporting.words.certify import sentences
from recassay.store.store import Store

Block: TypeAlias = tuple[int, int]
"""The places of a combination of choices and of a dataset: what is run whole."""


def stored_blocks(store: Store) -> tuple[Multiverse, FloatArray, FloatArray, dict[Block, list[Key]]]:
    """The blocks of a study with a [multiverse]: their grid, the scores of those that ran, what each took or will take,
    and by block the keys of its cells. A failed cell scores worst, a block without values is left out.
    """
    study = stored_study(store)
    if study.multiverse is None:
        raise UsageError("the study has no [multiverse]", where=str(store.folder), fix="see docs/multiverse-studies.md")
    records = {cell_key(cell): cell for cell in store.cells(every=True)}
    axes = [name for name in study.multiverse.axes if name not in FREE]
    names = tuple(algorithm.name for algorithm in study.algorithms)
    datasets = tuple(dataset.name for dataset in study.datasets)
    labels = [make_metric(label).label for label in study.metrics]
    free_axes, free = _coded(["metric", "cutoff"], [(name, cut or "(none)") for name, cut in map(split_label, labels)])
    sign = np.array([-1.0 if known_direction(label) is not False else 1.0 for label in labels])
    combinations: dict[tuple[str, ...], Universe] = {}
    for universe in universes(study):
        combinations.setdefault(tuple(universe.labels[name] for name in axes), universe)
    choices, paid = _coded(axes, list(combinations))
    cells: dict[Block, list[Key]] = {}
    for p, universe in enumerate(combinations.values()):
        for key in universe_keys(universe):
            cells.setdefault((p, datasets.index(key[1])), []).append(key)
    exists = np.zeros((len(paid), len(datasets)), dtype=bool)
    values: dict[Block, FloatArray | None] = {}
    seconds: dict[int, list[float]] = {}
    for block, keys in cells.items():
        table = values[block] = _values(keys, records, names, labels, sign)
        exists[block] = table is None or bool(np.isfinite(table).any())
        seconds.setdefault(block[1], []).extend(records[key].seconds or 0.0 for key in keys if key in records)
    places = [(p, d) for p, d in np.argwhere(exists).tolist()]
    known = np.full((len(places), len(labels) * len(names)), np.nan)
    price = np.ones(len(places))
    usual = float(np.mean([s for all_ in seconds.values() for s in all_])) if any(seconds.values()) else 1.0
    for row, block in enumerate(places):
        table = values[block]
        if table is not None:
            known[row] = scores(table).ravel()
        of_one = float(np.mean(seconds[block[1]])) if seconds[block[1]] else usual
        price[row] = max(sum(records[k].seconds or 0.0 if k in records else of_one for k in cells[block]), 1e-3)
    return Multiverse(choices | free_axes, paid, free, names, datasets, exists), known, price, cells


def _coded(axes: Sequence[str], rows: Sequence[tuple[str, ...]]) -> tuple[dict[str, tuple[str, ...]], IntArray]:
    """By axis its choices as they first occur, and the rows in numbers of these."""
    choices = {axis: tuple(dict.fromkeys(row[i] for row in rows)) for i, axis in enumerate(axes)}
    return choices, np.array([[values.index(row[i]) for i, values in enumerate(choices.values())] for row in rows])


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
        return _decided(store, claims, confidence=confidence, seed=seed)[0]


def _decided(
    store: Store,
    claims: Sequence[str] | None = None,
    *,
    confidence: float,
    theta: FloatArray | None = None,
    least: int = 1,
    seed: int = 0,
) -> tuple[CertificateResult, FloatArray | None, dict[Block, list[Key]]]:
    """What the cells settle, where the next fit of the model starts, and the keys of the cells by block."""
    grid, known, price, cells = stored_blocks(store)
    rng = derived_rng(seed, "certificate", str(int(np.isfinite(known).all(axis=1).sum())))
    made = claims_of(claims, grid)
    found = decide(grid, known, price, made, confidence=confidence, rng=rng, theta=theta, least=least)
    return (*found, cells)


def standing_of(certificate: CertificateResult) -> str:
    """How things stand, in one line."""
    return " ".join(sentences(certificate)[:2]).rstrip(".")


@dataclass(slots=True)
class AdaptiveUniverses:
    """Which cells of a study with a [multiverse] run next: a `StudyChooser`. `budget` is in seconds."""

    confidence: float = 0.95
    budget: float | None = None
    workers: int = 1
    began: float | None = None
    theta: FloatArray | None = None
    confirmed: int = 0

    def __call__(self, planned: Plan, store: Store) -> Choice:
        """Decide, and name the cells of the blocks to run next."""
        first, self.began = self.began is None, self.began or time.monotonic()
        with one_blas_thread():
            certificate, self.theta, cells = _decided(
                store, confidence=self.confidence, theta=self.theta, least=self.workers
            )
        standing = standing_of(certificate)
        if self.budget is not None and time.monotonic() - self.began > self.budget:
            return Choice([], f"{standing}; the budget is spent")
        # A run that is resumed where everything was certified has ended before.
        self.confirmed = (CONFIRMED if first else self.confirmed + 1) if certificate.complete else 0
        if self.confirmed == CONFIRMED:
            return Choice([], standing)
        done = {cell_key(cell) for cell in store.cells(every=True)}
        wanted = {key for block in certificate.next for key in cells[block]} - done
        ids = [cell.id for cell in planned.cells if _planned_key(cell) in wanted]
        if certificate.next and not ids:
            raise UsageError(f"blocks without cells: {listing(map(str, certificate.next))}", fix="report this")
        return Choice(ids, standing)


def _planned_key(cell: Any) -> Key:
    spec = cell.spec.model_dump(mode="json")
    parts = spec["split"]["protocol"], spec["tuning"]
    return key_of(cell.algorithm.name, cell.dataset.name, *parts, seed=cell.spec.seed)
