"""Whether properties of datasets go with the difficulty, discrimination and guessing of their instances (Figure 11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from recassay.analysis.decodirt.bins import STATISTICS
from recassay.analysis.decodirt.traits import DatasetTraits
from recassay.analysis.inference.distributions import normal_quantile, t_sf
from recassay.analysis.inference.significance import holm
from recassay.core import ties
from recassay.core.types import FloatArray

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

FEWEST = 4
"""Datasets that a correlation needs: with three its interval is everything."""


CROSSED = "property and items"
"""The kind of a pair of a property and a statistic; the others correlate two `items` statistics or two `properties`."""

_SCHEMA = {"kind": pl.String, "left": pl.String, "right": pl.String, "pearson": pl.Float64, "low": pl.Float64,
           "high": pl.Float64, "p": pl.Float64, "p_holm": pl.Float64, "spearman": pl.Float64,
           "datasets": pl.Int64}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class MetadataCorrelations:
    """Correlations over datasets between `variables`: known properties first, then the statistics of the items."""

    variables: tuple[str, ...]
    properties: int
    """How many of `variables` are properties."""
    pairs: pl.DataFrame
    """One row per pair, a property before a statistic: Pearson's r with its interval (`low`, `high`: Fisher's z) and
    two-sided p-value (t test), `p_holm` (adjusted over all pairs of a property and a statistic; null elsewhere),
    Spearman's rho, and the number of datasets that know both."""

    @property
    def statistics(self) -> tuple[str, ...]:
        """The statistics of the items: the variables behind the properties."""
        return self.variables[self.properties :]

    def to_frame(self) -> pl.DataFrame:
        """The pairs, what correlates most strongly first within its kind."""
        place = pl.col("kind").replace_strict([CROSSED, "items", "properties"], [0, 1, 2])
        size = pl.col("pearson").abs().round(9)  # equal correlations stay in the order of the variables
        return self.pairs.sort(place, size, descending=[False, True], nulls_last=True, maintain_order=True)

    def telling(self, alpha: float = 0.05) -> pl.DataFrame:
        """The pairs of a property and a statistic whose adjusted p-value is below `alpha`, the smallest first."""
        return self.pairs.filter(pl.col("p_holm") < alpha).sort("p_holm", maintain_order=True)


def properties(traits: Sequence[DatasetTraits]) -> dict[str, FloatArray]:
    """By property of `METADATA`, its value on each dataset; NaN where it is not known."""
    return {name: np.array([float(dataset.metadata.get(name, np.nan)) for dataset in traits]) for name in METADATA}


def correlate_metadata(traits: Sequence[DatasetTraits], confidence: float = 0.95) -> MetadataCorrelations:
    """Pearson's correlation (as the paper's figures) of the properties and the item statistics of the datasets.

    A property that is known of fewer than `FEWEST` datasets is left out; a pair needs as many datasets that know both,
    and neither constant, or has no correlation.
    """
    known = {name: values for name, values in properties(traits).items() if np.isfinite(values).sum() >= FEWEST}
    statistics = [dataset.statistics() for dataset in traits]
    columns = known | {name: np.array([summary[name] for summary in statistics]) for name in STATISTICS}
    width = float(normal_quantile(0.5 + confidence / 2))
    pairs: list[dict[str, Any]] = []
    for left, right in combinations(columns, 2):
        both = np.isfinite(columns[left]) & np.isfinite(columns[right])
        x, y, size = columns[left][both], columns[right][both], int(both.sum())
        kind = "items" if left not in known else "properties" if right in known else CROSSED
        pair: dict[str, Any] = {"kind": kind, "left": left, "right": right, "datasets": size}
        if size >= FEWEST and np.ptp(x) > 0 and np.ptp(y) > 0:
            pair["pearson"], pair["p"] = _pearson(x, y)
            z, half = np.arctanh(np.clip(pair["pearson"], -1 + 1e-12, 1 - 1e-12)), width / np.sqrt(size - 3)
            pair["low"], pair["high"] = np.tanh(z - half), np.tanh(z + half)
            pair["spearman"], _ = _pearson(*(ties.ranks(values, higher_is_better=False) for values in (x, y)))
        pairs.append(pair)
    tested = [pair for pair in pairs if pair["kind"] == CROSSED and "p" in pair]
    for pair, adjusted in zip(tested, holm(np.array([pair["p"] for pair in tested])), strict=True):
        pair["p_holm"] = adjusted
    return MetadataCorrelations(tuple(columns), len(known), pl.DataFrame(pairs, schema=_SCHEMA))


def _pearson(x: FloatArray, y: FloatArray) -> tuple[float, float]:
    """Pearson's r and its two-sided p-value: t = r sqrt((n - 2) / (1 - r^2)) has n - 2 degrees of freedom."""
    r, degrees = float(np.clip(np.corrcoef(x, y)[0, 1], -1, 1)), len(x) - 2
    t = np.inf if abs(r) == 1 else abs(r) * np.sqrt(degrees / (1 - r * r))
    return r, float(2 * t_sf(t, degrees))
