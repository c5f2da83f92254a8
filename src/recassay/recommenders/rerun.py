"""Cells of a finished study run again, drawn at random: do their numbers come out as they were reported?"""

from __future__ import annotations

import platform
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import lgamma
from pathlib import Path
from typing import Any, Literal

import numpy as np

from recassay.core.errors import InputError
from recassay.core.seeds import derived_rng
from recassay.core.specs.study import StudySpec
from recassay.core.types import FloatArray, IntArray
from recassay.metrics.make import make_metric
from recassay.recommenders.plan import plan
from recassay.recommenders.references import load_algorithm
from recassay.recommenders.study import Progress, run_study
from recassay.store.records import CellRecord
from recassay.store.sealed import manifest_study
from recassay.store.store import Store

SAME = 1e-6
"""Relative difference up to which two numbers are the same: other processors round differently."""

NOISE = 0.01
"""Relative difference that chance may explain where nothing says how much the numbers move."""

ELSEWHERE = 0.03
"""The same for an iterative algorithm in a study from another kind of processor: roundings grow from step to step."""

DEVIATIONS = 4.0
"""Standard deviations of noise that chance may explain."""


SHARE, GAIN, LEVEL = 0.02, 0.10, 0.95
"""What a rerun should catch: this share of the cells improved by this much, with this probability."""


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
        if _same(self.again, self.reported):
            return "same"
        return "within noise" if abs(self.again - self.reported) <= self.allowed else "differs"


@dataclass(frozen=True, slots=True)
class Drawing:
    """The order in which the cells of a study are run again: by turns one at random and the most surprising one left.

    Surprising is what is better than its algorithm and its dataset explain. Whatever the number of cells that are run
    again, at least half of them are drawn at random, so no choice of cells to alter is safe.
    """

    logs: FloatArray
    """Logarithms of the values, signed so that higher is better."""
    algorithm: IntArray
    dataset: IntArray
    """For each cell, the number of its algorithm and of its dataset."""

    @classmethod
    def of(cls, cells: Sequence[CellRecord], metric: str) -> Drawing:
        """The drawing of these cells, judged by this metric."""
        logs = np.log(np.maximum([float(cell.metrics[metric] or 0.0) for cell in cells], 1e-12))
        return cls(
            logs if make_metric(metric).higher_is_better else -logs,
            np.unique([cell.algorithm for cell in cells], return_inverse=True)[1],
            np.unique([cell.dataset for cell in cells], return_inverse=True)[1],
        )

    def order(self, seed: int) -> IntArray:
        """All cells in the order in which they are run again; a longer rerun begins with the cells of a shorter one."""
        return np.argsort(self._places(self.logs[None], derived_rng(seed, "rerun"))[0])

    def reruns_until_met(self, share: float, gain: float, tolerance: FloatArray | float = 0.0) -> IntArray:
        """For simulated studies, how many cells are run again until one that was improved is found, ascending.

        Each is this study with other cells improved: a `share` of them, drawn at random, by `gain`. A cell is found
        where the difference exceeds its `tolerance`, relative to what was reported; one more than all: none is found.
        """
        count, replicates = len(self.logs), int(np.clip(400_000 // len(self.logs), 200, 1000))
        rng = derived_rng(0, "altered")
        altered = np.argsort(rng.random((replicates, count)), axis=1)[:, : altered_cells(count, share)]
        values = np.repeat(self.logs[None], replicates, axis=0)
        np.put_along_axis(values, altered, np.take_along_axis(values, altered, 1) + np.log1p(gain), 1)
        noticed = np.broadcast_to(gain / (1 + gain) > np.asarray(tolerance), count)[altered]
        places = np.take_along_axis(self._places(values, rng), altered, 1)
        return np.sort(np.where(noticed, places, count).min(axis=1) + 1)

    def _places(self, values: FloatArray, rng: np.random.Generator) -> IntArray:
        """For each study (a row of values), the place of each cell in the order of its reruns."""
        surprise = self._surprise(values) + 1e-9 * rng.random(values.shape)  # ties in random order
        by_chance, by_surprise = _ranks(rng.random(values.shape)), _ranks(-surprise)
        return _ranks(np.minimum(2 * by_chance, 2 * by_surprise + 1))

    def _surprise(self, values: FloatArray) -> FloatArray:
        """What medians by algorithm and by dataset leave of each value, in units of how much is usually left there."""
        order = np.lexsort((self.dataset, self.algorithm))
        pair = self.algorithm[order] * (self.dataset.max() + 1) + self.dataset[order]
        repeat = np.empty_like(order)  # seeds and folds: the number of a cell within its algorithm and dataset
        repeat[order] = np.arange(len(order)) - np.searchsorted(pair, pair)
        place = (self.algorithm, self.dataset, repeat)
        left = np.full((len(values), *(int(part.max()) + 1 for part in place)), np.nan)
        left[:, *place] = values
        axes, median = ((2, 3), (1, 3)), np.nanmedian if np.isnan(left[0]).any() else np.median
        for _ in range(5):  # alternating medians: one altered cell does not move what explains the others
            for axis in axes:
                left -= median(left, axis=axis, keepdims=True)
        size = np.abs(left)
        least = 0.1 * median(size, axis=(1, 2, 3), keepdims=True) + 1e-12
        for axis in axes:
            left /= np.sqrt(np.maximum(median(size, axis=axis, keepdims=True), least))
        return np.asarray(left[:, *place])


def _ranks(values: FloatArray | IntArray) -> IntArray:
    return np.argsort(np.argsort(values, axis=1, kind="stable"), axis=1)


def altered_cells(cells: int, share: float) -> int:
    """How many cells a share of them is: at least one."""
    return max(1, round(share * cells))


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


def reruns_for(met: IntArray, level: float) -> int:
    """The reruns that catch at this level, from simulated ones; two standard errors of the simulation are added."""
    safe = level + 2 * np.sqrt(level * (1 - level) / len(met))
    return int(met[min(len(met) - 1, int(np.ceil(safe * len(met))) - 1)])


@dataclass(frozen=True, slots=True)
class Chances:
    """What reruns would catch, were a share of the cells improved."""

    share: float
    """The share of the cells that are improved."""
    gain: float
    """By how much, relative to what was measured."""
    level: float
    """The chance that is wanted."""
    needed: int | None
    """Reruns that catch it at that level, where the cells are improved at random. None: no number does."""
    needed_hidden: int
    """Reruns that catch it at that level, whichever cells are improved."""
    caught: float | None = None
    """The chance of the rerun that was made, where the cells are improved at random."""
    caught_hidden: float | None = None
    """The chance of the rerun that was made, whichever cells are improved."""


def chances(cells: Sequence[CellRecord], metric: str, rerun: Sequence[RerunCell] = ()) -> Chances:
    """How many of these done cells to run again, and what the `rerun` that was made would have caught."""
    cells = with_value(cells, metric)
    tolerance = {cell.algorithm: cell.allowed / abs(cell.reported) for cell in rerun if cell.reported}
    drawing = Drawing.of(cells, metric)
    met = drawing.reruns_until_met(SHARE, GAIN, np.array([tolerance.get(cell.algorithm, NOISE) for cell in cells]))
    count, altered = len(cells), altered_cells(len(cells), SHARE)
    needed = reruns_for(met, LEVEL)
    hidden = next(
        n for n in range(1, count + 1) if n == count or chance_of_catching(count, altered, (n + 1) // 2) >= LEVEL
    )
    return Chances(
        SHARE,
        GAIN,
        LEVEL,
        needed if needed <= count else None,
        hidden,
        float(np.mean(met <= len(rerun))) if rerun else None,
        (chance_of_catching(count, altered, (len(rerun) + 1) // 2) if len(rerun) < count else 1.0) if rerun else None,
    )


def with_value(cells: Sequence[CellRecord], metric: str) -> list[CellRecord]:
    """The done cells that have a value of this metric."""
    return [cell for cell in cells if cell.status == "done" and cell.metrics.get(metric) is not None]


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

    `Drawing` says which ones.
    """
    with Store.open(folder) as store:
        manifest, cells = store.manifest(), with_value(store.cells(damaged=True), metric)
    spec = manifest_study(manifest, folder).model_copy(update={"base": base})
    try:
        known = {cell.id for cell in plan(spec).cells}
    except InputError as error:
        fix = "name the folder that the paths of the study start from as `base`"
        raise InputError(f"cells cannot be run again: {error.what}", where=error.where, fix=fix) from error
    others = [cell for cell in cells if cell.id not in known]
    if others:
        raise InputError(
            f"{len(others)} cells cannot be run again: data or code are no longer those of the study "
            f"(first: {others[0].algorithm} on {others[0].dataset})",
            where=str(folder),
            fix="check out the version and the data that the study was run with",
        )
    chosen = [cells[place] for place in Drawing.of(cells, metric).order(seed)[:count]]
    with tempfile.TemporaryDirectory(prefix="recassay-rerun-") as place:
        run_study(spec, place, only={cell.id for cell in chosen}, workers=workers, progress=progress)
        with Store.open(place) as store:
            again = {cell.id: cell.metrics.get(metric) for cell in store.cells() if cell.status == "done"}
    return compared(chosen, again, cells, metric, spec, manifest.get("machine", {}).get("processor"))


def compared(
    chosen: Sequence[CellRecord],
    again: Mapping[str, float | None],
    cells: Sequence[CellRecord],
    metric: str,
    spec: StudySpec,
    processor: str | None,
) -> list[RerunCell]:
    """The `chosen` ones of the `cells` of a study beside the values that came out `again`, by their ids."""
    differences = [(cell.algorithm, float(cell.metrics[metric] or 0.0), again.get(cell.id)) for cell in chosen]
    noise = _noise(cells, metric, differences)
    if processor != platform.machine():
        noise |= {name: max(noise.get(name, 0.0), ELSEWHERE) for name in _iterative(spec)}
    return [
        RerunCell(
            cell.algorithm,
            cell.dataset,
            seed=cell.seed,
            reported=value,
            again=now,
            allowed=noise.get(cell.algorithm, NOISE) * abs(value),
        )
        for cell, (_, value, now) in zip(chosen, differences, strict=True)
    ]


def _iterative(spec: StudySpec) -> list[str]:
    """The algorithms of a study whose training counts its iterations."""
    kinds = {algorithm.name: load_algorithm(algorithm.reference, spec.base) for algorithm in spec.algorithms}
    return [name for name, kind in kinds.items() if getattr(kind, "stopped_by", None)]


def _noise(
    cells: Sequence[CellRecord], metric: str, reruns: Sequence[tuple[str, float, float | None]]
) -> dict[str, float]:
    """By algorithm, the relative difference that chance explains, where that is more than `NOISE`.

    An algorithm that repeats one of its numbers is expected to repeat all. The noise of others is that of the study's
    seeds, or of their reruns that came out better than reported: chance goes both ways, improving goes one way.
    """
    groups: dict[tuple[Any, ...], list[float]] = {}
    for cell in cells:
        groups.setdefault((cell.algorithm, cell.dataset, cell.fold), []).append(float(cell.metrics[metric] or 0.0))
    spread: dict[str, list[float]] = {}
    for (algorithm, *_), values in groups.items():
        if len(values) > 1 and np.mean(values):
            spread.setdefault(algorithm, []).append(float(np.var(values, ddof=1) / np.mean(values) ** 2))
    deviation = {name: float(np.sqrt(np.mean(variances))) for name, variances in spread.items()}
    sign = 1 if make_metric(metric).higher_is_better else -1
    for name in {name for name, *_ in reruns}:
        pairs = [(value, again) for other, value, again in reruns if other == name and again is not None and value]
        if any(_same(*pair) for pair in pairs):
            deviation.pop(name, None)
            continue
        better = [change for value, again in pairs if (change := sign * (again - value) / abs(value)) > 0]
        if len(better) > 1:
            deviation[name] = max(deviation.get(name, 0.0), 1.4826 * float(np.median(better)))
    return {name: max(NOISE, DEVIATIONS * value) for name, value in deviation.items()}


def _same(a: float, b: float) -> bool:
    return abs(a - b) <= SAME * max(abs(a), abs(b))
