"""The plan of a study: its cells, each known by the content hash of what determines its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from pydantic import Field

from recassay.core.errors import UsageError
from recassay.core.specs.specs import FOLDED, IdentifiedSpec, ProtocolSpec
from recassay.core.specs.study import LIST_DEPTH, AlgorithmSpec, ComPerSpec, DatasetSpec, Setting, StudySpec, TuningSpec
from recassay.core.system.failures import LeftOut
from recassay.core.words import listing
from recassay.metrics.judgements import NO_HISTORIES
from recassay.metrics.make import as_metrics, make_metric
from recassay.metrics.protocol import Metric
from recassay.recommenders.references import knows_users_only
from recassay.recommenders.universes import Universe, universes
from recassay.runner.references import dataset_version, part_version

ROBUSTNESS = "robustness"
"""The label of the shift under attack."""

CELL_VERSION = 2
"""Part of every cell's identity: raise it when the same cell comes to give other numbers."""


class SplitSpec(IdentifiedSpec):
    """A dataset under a protocol: what the cells on it share."""

    data: str
    """The version of the raw data."""
    protocol: ProtocolSpec


class CellSpec(IdentifiedSpec):
    """One algorithm on one dataset under one protocol and seed: all that its numbers depend on, and nothing else.

    No path is part of it, so that a study may be moved, and no budget, so that a larger one keeps what is done.
    """

    version: int = CELL_VERSION
    algorithm: str
    code: str
    settings: dict[str, Setting] = Field(default_factory=dict)
    dataset: str
    split: SplitSpec
    metrics: tuple[str, ...]
    tuning: TuningSpec
    seed: int
    depth: int = LIST_DEPTH
    comper: ComPerSpec | None = None
    """The attack under which robustness is measured; a cell without one is known by the fields above alone."""

    def idle(self) -> dict[str, bool]:
        """No attack."""
        return {"comper": self.comper is None}

    @property
    def reported(self) -> tuple[str, ...]:
        """The labels of the numbers that the cell reports."""
        return self.metrics if self.comper is None else (*self.metrics, ROBUSTNESS)

    @property
    def tuning_id(self) -> str:
        """The content hash of what trials depend on: another metric to report, more trials or more time keep those
        there are."""
        tuning = self.tuning.model_copy(update={"trials": 0, "pruning": self.tuning.staged, "seconds": None})
        changes = {"metrics": (), "depth": 0, "tuning": tuning, "comper": None, "seed": self.search_seed}
        return self.model_copy(update=changes).id

    @property
    def search_seed(self) -> int:
        """The seed of tuning: its own where the study names one."""
        return self.seed if self.tuning.seed is None else self.tuning.seed

    @property
    def fold(self) -> int | None:
        """The fold of a cross-validation or the window of a rolling split, None without one."""
        return self.split.protocol.fold if self.split.protocol.split in FOLDED else None


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """A cell and where its parts lie."""

    id: str
    spec: CellSpec
    algorithm: AlgorithmSpec
    dataset: DatasetSpec
    universe: int = 0
    """The first universe that it belongs to, from 0."""


@dataclass(frozen=True, slots=True)
class Plan:
    """All cells of a study, dataset by dataset."""

    study: StudySpec
    cells: tuple[PlannedCell, ...]
    left_out: tuple[LeftOut, ...] = ()

    def splits(self) -> dict[str, PlannedCell]:
        """By id, the splits that the cells need, each with the first of its cells."""
        by_id: dict[str, PlannedCell] = {}
        for cell in self.cells:
            by_id.setdefault(cell.spec.split.id, cell)
        return by_id

    def price(self) -> str:
        """What the universes of the study cost, in a line: cells, those saved by sharing, splits and fits."""
        planned = universes(self.study)
        needed = sum(1 for universe in planned for _ in universe_cells(universe))
        fits = len({cell.spec.tuning_id for cell in self.cells}) * self.study.tuning.trials + len(self.cells)
        shared = f" ({needed - len(self.cells):,} more are shared)" if needed > len(self.cells) else ""
        metrics = f", each with {len(self.study.metrics)} metrics" if len(self.study.metrics) > 1 else ""
        return (
            f"{len(planned):,} universes{metrics}: {len(self.cells):,} cells{shared}, {len(self.splits()):,} splits, "
            f"at most {fits:,} fits"
        )


def plan(study: StudySpec) -> Plan:
    """The cells of `study`: every algorithm on every dataset, for every fold and seed, in every universe.

    A cell that several universes need is planned once. What cannot be asked as its protocol asks is left out by name.

    Datasets and algorithm files are hashed, not read or executed. A name that means nothing raises here, before
    anything runs; so does a metric label.
    """
    metrics = _metrics(study)
    depth = max(LIST_DEPTH, *(metric.k or 0 for metric in metrics))
    code = {algorithm.name: part_version(algorithm.reference, study.base) for algorithm in study.algorithms}
    data = {dataset.name: dataset_version(dataset, study.base) for dataset in study.datasets}
    cells: dict[str, PlannedCell] = {}
    for number, universe in enumerate(universes(study)):
        for algorithm, dataset, protocol, tuning, seed in universe_cells(universe):
            spec = CellSpec(
                algorithm=algorithm.name,
                code=code[algorithm.name],
                settings=algorithm.settings,
                dataset=dataset.name,
                split=SplitSpec(data=data[dataset.name], protocol=protocol),
                metrics=tuple(metric.label for metric in metrics),
                tuning=tuning,
                seed=seed,
                depth=depth,
                comper=study.comper,
            )
            cells.setdefault(spec.id, PlannedCell(spec.id, spec, algorithm, dataset, number))
    if not cells:
        names = listing(algorithm.name for algorithm in study.algorithms)
        raise UsageError(f"no cell is left: {names} {NO_HISTORIES}", fix="add others, or use target = 'all'")
    return Plan(study, tuple(cells.values()), _left_out(study))


def _left_out(study: StudySpec) -> tuple[LeftOut, ...]:
    """The algorithms that cannot be asked with histories, on each dataset where some universe asks so."""
    users_only = [algorithm.name for algorithm in study.algorithms if knows_users_only(algorithm.reference)]
    asked = {
        dataset.name
        for universe in universes(study)
        for dataset in study.datasets
        if dataset.protocol.get("target", universe.study.protocol.target) != "all"
    }
    datasets = [dataset.name for dataset in study.datasets if dataset.name in asked]
    return tuple(LeftOut(name, dataset, NO_HISTORIES) for name in users_only for dataset in datasets)


def universe_cells(
    universe: Universe,
) -> Iterator[tuple[AlgorithmSpec, DatasetSpec, ProtocolSpec, TuningSpec, int]]:
    """What the cells of one universe are made of: algorithm, dataset, protocol, tuning and seed."""
    study = universe.study
    users_only = {algorithm.name for algorithm in study.algorithms if knows_users_only(algorithm.reference)}
    tuning = study.tuning.model_copy(update={"metric": make_metric(study.tuning.metric).label})
    for dataset in study.datasets:
        for fold, seed in product(_folds(study, dataset), study.seeds):
            protocol = dataset_protocol(study, dataset, fold)
            protocol = universe.settled(protocol) if universe.choices else protocol
            for algorithm in study.algorithms:
                can = protocol.target == "all" or algorithm.name not in users_only
                if can and universe.has(dataset.name, algorithm.name):
                    yield algorithm, dataset, protocol, tuning, seed


def _metrics(study: StudySpec) -> list[Metric]:
    """The metrics that the study names, and those that ComPer needs besides."""
    metrics = as_metrics(study.metrics)
    labels = {metric.label for metric in metrics}
    needed = as_metrics(study.comper.metrics) if study.comper else []
    return [*metrics, *(metric for metric in needed if metric.label not in labels)]


def _folds(study: StudySpec, dataset: DatasetSpec) -> Sequence[int | None]:
    """The folds of a dataset under cross-validation, None for the others and for the one that a dataset names."""
    if dataset_protocol(study, dataset).split not in FOLDED or (dataset.folds is None and "fold" in dataset.protocol):
        return (None,)
    return dataset.folds or study.folds or (None,)


def dataset_protocol(study: StudySpec, dataset: DatasetSpec, fold: int | None = None) -> ProtocolSpec:
    """The study's protocol with the keys that the dataset replaces, for one fold of a cross-validation."""
    fields = dict(study.protocol) | dataset.protocol
    if fold is not None:
        fields["fold"] = fold
    return ProtocolSpec.model_validate(fields)
