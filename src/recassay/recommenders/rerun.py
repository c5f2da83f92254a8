"""Cells of a finished study run again, drawn at random: do their numbers come out as they were reported?"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from math import lgamma
from pathlib import Path
from typing import Any, Literal

import numpy as np

from recassay.core.errors import InputError
from recassay.core.seeds import derived_rng
from recassay.core.specs.study import StudySpec
from recassay.core.types import FloatArray
from recassay.metrics.make import make_metric
from recassay.recommenders.plan import Plan, plan
from recassay.recommenders.study import Choice, Progress, run_study
from recassay.store.records import CellRecord
from recassay.store.store import Store

SAME = 1e-6
"""Relative difference up to which two numbers are the same: other processors round differently."""

NOISE = 0.01
"""Relative difference that chance may explain where a study has one seed, and so does not say how much it moves."""

DEVIATIONS = 4.0
"""Standard deviations over seeds that chance may explain where a study has several."""


@dataclass(frozen=True, slots=True)
class RerunCell:
    """A reported number and the one that came out again."""

    algorithm: str
    dataset: str
    seed: int
    reported: float
    """The value in the study."""
    again: float | None
    """The value that came out now. None where the cell failed this time."""
    allowed: float
    """The difference that chance may explain."""

    @property
    def state(self) -> Literal["same", "within noise", "differs", "failed"]:
        """How the two compare."""
        if self.again is None:
            return "failed"
        difference = abs(self.again - self.reported)
        if difference <= SAME * max(abs(self.reported), abs(self.again)):
            return "same"
        return "within noise" if difference <= self.allowed else "differs"


def chance_of_catching(cells: int, altered: int, drawn: int) -> float:
    """The probability that at least one of the `altered` among `cells` is among `drawn`, drawn at random.

    1 - C(cells - altered, drawn) / C(cells, drawn), by logarithms of factorials.
    """
    if altered <= 0 or drawn <= 0:
        return 0.0
    if drawn > cells - altered:
        return 1.0
    missed = (
        lgamma(cells - altered + 1)
        - lgamma(cells - altered - drawn + 1)
        - lgamma(cells + 1)
        + lgamma(cells - drawn + 1)
    )
    return float(-np.expm1(missed))


def cells_needed(cells: int, share: float, level: float = 0.95) -> int:
    """The smallest number of reruns that catches a study with this share of altered cells at this level."""
    altered = max(1, round(share * cells))
    return next(n for n in range(1, cells + 1) if chance_of_catching(cells, altered, n) >= level)


def rerun(
    folder: Path,
    count: int,
    *,
    base: str,
    metric: str,
    seed: int = 0,
    workers: int | None = None,
    progress: Progress | None = None,
) -> list[RerunCell]:
    """Run `count` done cells of the study in `folder` again, elsewhere and from the raw data, and compare the `metric`.

    Half of them are drawn at random, the other half among those that are surprisingly good: what an algorithm and a
    dataset explain is taken off the logarithm of each value, and the chance grows with what is left.
    """
    with Store.open(folder) as store:
        manifest, cells = store.manifest(), [cell for cell in store.cells() if cell.status == "done"]
    spec = StudySpec.model_validate({**manifest["study"], "base": base})
    cells = [cell for cell in cells if cell.metrics.get(metric) is not None]
    known = {cell.id for cell in plan(spec).cells}
    others = [cell for cell in cells if cell.id not in known]
    if others:
        raise InputError(
            f"{len(others)} cells cannot be run again: data or code are no longer those of the study "
            f"(first: {others[0].algorithm} on {others[0].dataset})",
            where=str(folder),
            fix="check out the version and the data that the study was run with",
        )
    higher = make_metric(metric).higher_is_better
    chosen = [cells[place] for place in _drawn(cells, metric, higher, min(count, len(cells)), seed)]
    wanted = iter([[cell.id for cell in chosen], []])

    def choose(planned: Plan, store: Store) -> Choice:
        return Choice(next(wanted), "")

    with tempfile.TemporaryDirectory(prefix="recassay-rerun-") as place:
        run_study(spec, place, choose=choose, workers=workers, progress=progress)
        with Store.open(place) as store:
            again = {cell.id: cell.metrics.get(metric) for cell in store.cells() if cell.status == "done"}
    noise = _noise(cells, metric)
    return [
        RerunCell(
            cell.algorithm,
            cell.dataset,
            cell.seed,
            float(cell.metrics[metric] or 0.0),
            again.get(cell.id),
            noise.get(cell.algorithm, NOISE) * abs(float(cell.metrics[metric] or 0.0)),
        )
        for cell in chosen
    ]


def _drawn(cells: Sequence[CellRecord], metric: str, higher: bool, count: int, seed: int) -> list[int]:
    rng = derived_rng(seed, "rerun")
    first = rng.permutation(len(cells))[: (count + 1) // 2]
    surprise = _surprise(cells, metric, higher)
    surprise[first] = 0.0
    rest = np.setdiff1d(np.arange(len(cells)), first)
    weights = surprise[rest] + 0.1 * surprise[rest].mean() + 1e-12  # nobody is safe
    second = rng.choice(rest, size=count - len(first), replace=False, p=weights / weights.sum())
    return [int(place) for place in np.concatenate([first, second])]


def _surprise(cells: Sequence[CellRecord], metric: str, higher: bool) -> FloatArray:
    """By how much each value is better than its algorithm and dataset explain, squared; 0 where it is not better."""
    values = np.log(np.maximum([float(cell.metrics[metric] or 0.0) for cell in cells], 1e-12))
    rows = np.unique([cell.algorithm for cell in cells], return_inverse=True)[1]
    columns = np.unique([cell.dataset for cell in cells], return_inverse=True)[1]
    left = values.copy()
    for _ in range(20):  # alternating medians: one altered cell does not move what explains the others
        for group in (rows, columns):
            left -= np.array([np.median(left[group == place]) for place in range(group.max() + 1)])[group]
    return np.asarray(np.maximum(left if higher else -left, 0.0) ** 2)


def _noise(cells: Sequence[CellRecord], metric: str) -> dict[str, float]:
    """By algorithm, the relative difference that other seeds explain, where the study has several."""
    groups: dict[tuple[Any, ...], list[float]] = {}
    for cell in cells:
        groups.setdefault((cell.algorithm, cell.dataset, cell.fold), []).append(float(cell.metrics[metric] or 0.0))
    spread: dict[str, list[float]] = {}
    for (algorithm, *_), values in groups.items():
        if len(values) > 1 and np.mean(values):
            spread.setdefault(algorithm, []).append(float(np.var(values, ddof=1) / np.mean(values) ** 2))
    return {name: max(NOISE, DEVIATIONS * float(np.sqrt(np.mean(found)))) for name, found in spread.items()}
