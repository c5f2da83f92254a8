"""Whether properties of datasets go with the difficulty, discrimination and guessing of their instances (Figure 11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from recassay.analysis.decodirt.traits import DatasetTraits
from recassay.analysis.inference.distributions import normal_quantile, t_sf
from recassay.analysis.inference.significance import holm
from recassay.core import ties
from recassay.core.types import FloatArray, IntArray

METADATA = (
    "NumberOfClasses",
    "NumberOfInstances",
    "NumberOfFeatures",
    "ClassEntropy",
    "Dimensionality",
    "PercentageOfInstancesWithMissingValues",
    "MajorityClassPercentage",
    "MinorityClassPercentage",
)
"""The properties of section 5.1 under their OpenML names."""

STATISTICS = tuple(
    f"{before}{name}{after}"
    for name in ("difficulty", "discrimination", "guessing")
    for before, after in (("mean_", ""), ("median_", ""), ("", "_deviation"))
)
"""The statistics of the items of a dataset that are correlated with them."""

FEWEST = 4
"""Datasets that a correlation needs: with three its interval is everything."""


@dataclass(frozen=True, slots=True, eq=False)
class MetadataCorrelations:
    """Correlations over datasets between `variables`: known properties first, then the statistics of the items.

    `pearson[i, j]` with its 95 % interval (Fisher's z), two-sided p-value (t test), `holm` (adjusted over all pairs of
    a property and a statistic; NaN elsewhere), Spearman's rho, and the number of datasets that know both.
    """

    variables: tuple[str, ...]
    properties: int
    """How many of `variables` are properties."""
    pearson: FloatArray
    low: FloatArray
    """The lower ends of the intervals."""
    high: FloatArray
    """The upper ends."""
    p: FloatArray
    """The two-sided p-values."""
    holm: FloatArray
    spearman: FloatArray
    """Spearman's rho of each two."""
    count: IntArray
    """How many datasets know both."""

    @property
    def statistics(self) -> tuple[str, ...]:
        """The statistics of the items: the variables behind the properties."""
        return self.variables[self.properties :]

    def pairs(self) -> list[tuple[int, int]]:
        """Every pair once, a property before a statistic."""
        n = len(self.variables)
        return [(i, j) for i in range(n) for j in range(i + 1, n)]

    def kind(self, i: int, j: int) -> str:
        """What a pair correlates: `property and items`, `properties` or `items`."""
        if i < self.properties <= j:
            return "property and items"
        return "properties" if j < self.properties else "items"

    def to_frame(self) -> pl.DataFrame:
        """One row per pair, what correlates most strongly first within its kind."""
        i, j = np.array(self.pairs()).T
        values = {"pearson": self.pearson, "low": self.low, "high": self.high, "p": self.p, "p_holm": self.holm,
                  "spearman": self.spearman, "datasets": self.count}  # fmt: skip
        frame = pl.DataFrame({
            "kind": [self.kind(*pair) for pair in self.pairs()],
            "left": [self.variables[at] for at in i],
            "right": [self.variables[at] for at in j],
            **{name: value[i, j] for name, value in values.items()},
        }).fill_nan(None)  # fmt: skip
        kinds = ["property and items", "items", "properties"]
        place = pl.col("kind").replace_strict(kinds, [0, 1, 2])
        return frame.sort(place, pl.col("pearson").abs(), descending=[False, True], nulls_last=True)

    def telling(self, alpha: float = 0.05) -> list[tuple[int, int]]:
        """The pairs of a property and a statistic whose adjusted p-value is below `alpha`, the smallest first."""
        pairs = [(i, j) for i, j in self.pairs() if self.holm[i, j] < alpha]
        return sorted(pairs, key=lambda pair: self.holm[pair])


def properties(traits: Sequence[DatasetTraits]) -> dict[str, FloatArray]:
    """By property of `METADATA`, its value on each dataset; NaN where it is not known."""
    return {name: np.array([float(dataset.metadata.get(name, np.nan)) for dataset in traits]) for name in METADATA}


def correlate_metadata(traits: Sequence[DatasetTraits], confidence: float = 0.95) -> MetadataCorrelations:
    """Pearson's correlation (as the paper's figures) of the properties and the item statistics of the datasets.

    A property that is known of fewer than `FEWEST` datasets is left out; a pair needs as many datasets that know both,
    and neither constant, or stays NaN.
    """
    columns = {name: values for name, values in properties(traits).items() if np.isfinite(values).sum() >= FEWEST}
    first = len(columns)
    statistics = [dataset.statistics() for dataset in traits]
    for name in STATISTICS:
        columns[name] = np.array([summary[name] for summary in statistics])
    table = np.stack(list(columns.values()), axis=1)
    n = table.shape[1]
    pearson, low, high, p, corrected, spearman = (np.full((n, n), np.nan) for _ in range(6))
    count = np.zeros((n, n), dtype=np.int64)
    width = float(normal_quantile(0.5 + confidence / 2))
    for i in range(n):
        for j in range(i + 1, n):
            both = np.isfinite(table[:, i]) & np.isfinite(table[:, j])
            x, y, size = table[both, i], table[both, j], int(both.sum())
            count[i, j] = count[j, i] = size
            if size < FEWEST or np.ptp(x) == 0 or np.ptp(y) == 0:
                continue
            r, tail = _pearson(x, y)
            z, half = np.arctanh(np.clip(r, -1 + 1e-12, 1 - 1e-12)), width / np.sqrt(size - 3)
            rho = _pearson(ties.ranks(x, higher_is_better=False), ties.ranks(y, higher_is_better=False))[0]
            for a, b in ((i, j), (j, i)):
                pearson[a, b], p[a, b], spearman[a, b] = r, tail, rho
                low[a, b], high[a, b] = np.tanh(z - half), np.tanh(z + half)
    block = p[:first, first:]
    known = np.isfinite(block)
    adjusted = np.full(block.shape, np.nan)
    adjusted[known] = holm(block[known])
    corrected[:first, first:], corrected[first:, :first] = adjusted, adjusted.T
    return MetadataCorrelations(tuple(columns), first, pearson, low, high, p, corrected, spearman, count)


def _pearson(x: FloatArray, y: FloatArray) -> tuple[float, float]:
    """Pearson's r and its two-sided p-value: t = r sqrt((n - 2) / (1 - r^2)) has n - 2 degrees of freedom."""
    r, degrees = float(np.clip(np.corrcoef(x, y)[0, 1], -1, 1)), len(x) - 2
    t = np.inf if abs(r) == 1 else abs(r) * np.sqrt(degrees / (1 - r * r))
    return r, float(2 * t_sf(t, degrees))
