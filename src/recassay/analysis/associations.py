"""Which characteristics go with performance (KDD'24, section 4.3, Figure 7), and what chance would show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from recassay.analysis.inference.bootstrap import intervals
from recassay.core import columns as c
from recassay.core import ties
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.choices import FEWEST_DATASETS
from recassay.core.errors import NotApplicableError
from recassay.core.names import canonical
from recassay.core.seeds import derived_rng
from recassay.core.system.display import Displayed
from recassay.core.tables.characteristics import CharacteristicsTable
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.results import Results
from recassay.core.tabular import long_frame
from recassay.core.types import FloatArray, IntArray

MEASURES = ("pearson", "spearman", "mutual_information")
AVERAGE = "(mean)"
"""The name of the row that averages the associations over the personalised algorithms."""

NOT_PERSONALISED = frozenset(map(canonical, ("Random", "MostPop", "RecentPop", "Popularity", "Pop", "TopPop")))
"""Left out of the average, as in Figure 7: its numbers follow to 0.011 without Random and MostPop, not with them."""


@dataclass(frozen=True, slots=True, eq=False)
class AssociationsResult(Displayed):
    """Associations between characteristics and each algorithm's performance over datasets.

    Each array by measure (`pearson`, `spearman`, `mutual_information` in nats) is rows x characteristics.
    """

    metric: str
    rows: tuple[str, ...]
    """Names of the algorithms; last `(mean)`, the average over `averaged`."""
    averaged: tuple[str, ...]
    """The algorithms behind the last row: the personalised ones."""
    characteristics: tuple[str, ...]
    """Names of the characteristics that were known of every dataset and differed."""
    n_datasets: int
    values: dict[str, FloatArray]
    """By measure, the associations."""
    interval: dict[str, FloatArray]
    """By measure, their bootstrap intervals over datasets (rows x characteristics x 2); mutual information has none."""
    chance: dict[str, FloatArray]
    """By measure, the mean over random permutations of the datasets: what chance alone shows."""
    p: dict[str, FloatArray]
    """By measure, the share of permutations whose association is at least as large in size."""
    p_adjusted: dict[str, FloatArray]
    """By measure, the same for the largest association of any algorithm and characteristic, so that one of many cannot
    pass by luck."""
    dropped: dict[str, str]
    """Characteristics that were left out, and why."""
    permutations: int
    """How many random permutations there were."""
    alpha: float

    def to_frame(self) -> pl.DataFrame:
        """Long: measure, algorithm, characteristic, value, its interval, chance, p, p_adjusted."""
        return pl.concat(
            long_frame(
                {"measure": [measure], c.ALGORITHM: self.rows, "characteristic": self.characteristics},
                {
                    c.VALUE: self.values[measure],
                    ("low", "high"): self.interval.get(measure),
                    "chance": self.chance[measure],
                    "p": self.p[measure],
                    "p_adjusted": self.p_adjusted[measure],
                },
            )
            for measure in MEASURES
        )

    def frames(self) -> dict[str, pl.DataFrame]:
        """The one table of associations."""
        return {"characteristics_and_performance": self.to_frame()}

    def to_dict(self) -> dict[str, Any]:
        """`associations`: measure -> algorithm -> characteristic -> value, interval, chance, p, p_adjusted."""
        nested: dict[str, Any] = {measure: {row: {} for row in self.rows} for measure in MEASURES}
        for row in self.to_frame().to_dicts():
            interval = None if row["low"] is None else [row["low"], row["high"]]
            nested[row["measure"]][row[c.ALGORITHM]][row["characteristic"]] = {
                "estimate": row[c.VALUE], "interval": interval,
                **{name: row[name] for name in ("chance", "p", "p_adjusted")},
            }  # fmt: skip
        return {
            "metric": self.metric, "datasets": self.n_datasets, "averaged": list(self.averaged),
            "associations": nested, "dropped": self.dropped,
            "settings": {"permutations": self.permutations, "alpha": self.alpha},
        }  # fmt: skip


def correlate_characteristics(
    matrix: Matrix,
    table: CharacteristicsTable,
    *,
    permutations: int = 2000,
    alpha: float = 0.05,
    bins: int | None = None,
    spacing: Literal["frequency", "width"] = "frequency",
    seed: int = 0,
) -> AssociationsResult:
    """Pearson, Spearman and mutual information of every characteristic with every algorithm's values over datasets.

    Values enter as they are, without a transformation, as in Figure 7 of KDD'24 (so that Pearson's is ruled by the
    largest datasets; prefer Spearman's). The last row averages over the personalised algorithms. Intervals are expanded
    percentile intervals of a bootstrap over datasets. P-values permute the datasets of the characteristics, jointly for
    all algorithms; `p_adjusted` compares with the largest absolute value anywhere in the table (Westfall and Young
    1993, single step), which controls the chance of one false finding among all. Mutual information is the plug-in
    estimate (nats) on `bins` classes of equal frequency (default: the cube root of the number of datasets) or width; it
    is far above 0 by chance alone, so read it beside `chance`. Figure 7 must come from many narrow classes: 20 of equal
    width give its pattern, and nearly the same numbers for shuffled datasets.
    """
    if len(matrix.datasets) < FEWEST_DATASETS:
        raise NotApplicableError(
            f"{len(matrix.datasets)} datasets say nothing about their characteristics",
            fix=f"give at least {FEWEST_DATASETS}",
        )
    known, dropped = table.aligned(matrix.datasets).usable()
    x, y = known.values, np.apply_along_axis(ties.level, 0, matrix.values.T)
    personalised = [a for a, name in enumerate(matrix.algorithms) if canonical(name) not in NOT_PERSONALISED]
    personalised = personalised or list(range(len(matrix.algorithms)))
    n = len(matrix.datasets)
    count = bins or round(n ** (1 / 3))  # at least 2 of the fewest datasets
    permuted = derived_rng(seed, "metadata", matrix.metric).permuted(np.tile(np.arange(n), (permutations, 1)), axis=1)
    drawn = derived_rng(seed, "metadata bootstrap", matrix.metric).integers(0, n, (permutations, n))
    codes = [np.apply_along_axis(_classes, 0, part, count, spacing) for part in (x, y)]
    values, interval, chance, p, p_adjusted = {}, {}, {}, {}, {}
    for measure in MEASURES:
        if measure == "mutual_information":
            observed = _with_mean(_mutual_information(codes[0][None], codes[1], count)[0], personalised)
            null = _with_mean(np.concatenate([
                _mutual_information(codes[0][part], codes[1], count) for part in np.array_split(permuted, 20)
            ]), personalised)  # fmt: skip
        else:
            left, right = (_standard(part, ranked=measure == "spearman") for part in (x, y))
            observed = _with_mean(right.T @ left, personalised)
            null = _with_mean(right.T @ left[permuted], personalised)
            left, right = (_standard(part[drawn], ranked=measure == "spearman") for part in (x, y))
            sampled = _with_mean(np.matmul(right.transpose(0, 2, 1), left), personalised)
            flat = intervals(sampled.reshape(permutations, -1), n, 1 - alpha)
            interval[measure] = np.clip(flat, -1, 1).reshape(*observed.shape, 2)
        size, sizes = np.abs(observed), np.abs(null)
        values[measure], chance[measure] = observed, null.mean(axis=0)
        p[measure] = (1 + (sizes >= size - ties.ROUNDING).sum(axis=0)) / (1 + permutations)
        # The average is judged among its own row, the algorithms among theirs.
        largest = np.stack([sizes[:, :-1].max(axis=(1, 2)), sizes[:, -1].max(axis=1)])
        which = np.where(np.arange(len(size)) == len(size) - 1, 1, 0)
        exceed = (largest[which][:, None, :] >= size[:, :, None] - ties.ROUNDING).sum(axis=2)
        p_adjusted[measure] = (1 + exceed) / (1 + permutations)
    return AssociationsResult(
        metric=matrix.metric,
        rows=(*matrix.algorithms, AVERAGE),
        averaged=tuple(matrix.algorithms[a] for a in personalised),
        characteristics=known.names,
        n_datasets=n,
        values=values,
        interval=interval,
        chance=chance,
        p=p,
        p_adjusted=p_adjusted,
        dropped=dropped,
        permutations=permutations,
        alpha=alpha,
    )


def _with_mean(values: FloatArray, averaged: list[int]) -> FloatArray:
    """Algorithms x characteristics (any leading axes) with the mean over `averaged` appended as the last row."""
    return np.concatenate([values, values[..., averaged, :].mean(axis=-2, keepdims=True)], axis=-2)


def _standard(values: FloatArray, *, ranked: bool) -> FloatArray:
    """Columns (axis -2 runs over datasets), or their ranks, centred and of length 1; a constant column becomes 0."""
    if ranked:
        values = ties.ranks(values, higher_is_better=False, axis=-2)
    centred = values - values.mean(axis=-2, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=-2, keepdims=True))
    return centred / np.where(length > ties.ROUNDING * (1 + np.abs(values).max()), length, np.inf)


def _classes(values: FloatArray, count: int, spacing: str) -> IntArray:
    """The class of each value: `count` classes of equal frequency (ties together) or of equal width."""
    if spacing == "frequency":
        return np.minimum((np.searchsorted(np.sort(values), values) * count / len(values)).astype(np.int64), count - 1)
    edges = np.histogram_bin_edges(values, count)[1:-1]
    return np.searchsorted(edges, values, side="right")


def _mutual_information(x: IntArray, y: IntArray, count: int) -> FloatArray:
    """Plug-in mutual information in nats: `x` is tables x datasets x characteristics, `y` datasets x algorithms.

    sum over classes of p(a, b) log(p(a, b) / (p(a) p(b))); returns tables x algorithms x characteristics.
    """
    n = y.shape[0]
    classes = np.arange(count)
    left = (x[..., None] == classes).astype(np.float64)
    right = (y[..., None] == classes).astype(np.float64)
    joint = np.einsum("tnic,nad->taicd", left, right, optimize=True) / n
    expected = joint.sum(axis=-1, keepdims=True) * joint.sum(axis=-2, keepdims=True)
    ratio = np.where(joint > 0, joint, 1.0) / np.where(joint > 0, expected, 1.0)
    total: FloatArray = (joint * np.log(ratio)).sum(axis=(-1, -2))
    return total


def _run(results: Results, spec: AnalysisSpec) -> AssociationsResult:
    table = spec.required("characteristics")
    return correlate_characteristics(spec.matrix(results), table, alpha=spec.alpha, seed=spec.seed)


ANALYSIS = Analysis(
    name="associations",
    aliases=("metadata",),
    question="Which characteristics of the {datasets} go with performance?",
    source="KDD'24 section 4.3, Figure 7",
    run=_run,
    aside=5,
)
