"""Datasets as points: characteristics standardised, on principal components, with the outliers marked (KDD'24, C)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recassay.analysis.dataset_space.isolation import isolation_scores
from recassay.core.errors import UsageError
from recassay.core.tables.characteristics import CharacteristicsTable
from recassay.core.types import BoolArray, FloatArray

COMPONENTS = 3
"""Principal components kept: with three, the clusters of Table 5 of KDD'24 come out (and its 1/3 in appendix C)."""

OUTLIER_SHARE = 1 / 6
"""Of the datasets, taken for outliers: 5 of the paper's 30."""


TREES = 1000
"""Of the isolation forest: with as many, the outliers among the paper's datasets do not depend on the seed."""


@dataclass(frozen=True, slots=True, eq=False)
class DatasetSpace:
    """`points[d]`: dataset d on the principal components; `loadings` are components x characteristics."""

    points: FloatArray
    explained: FloatArray
    """By component, its share of the variance."""
    loadings: FloatArray
    datasets: tuple[str, ...]
    characteristics: tuple[str, ...]
    """Names of the characteristics that were used."""
    dropped: dict[str, str]
    outlier: BoolArray
    """For each dataset, whether it was set aside as an outlier."""


@dataclass(frozen=True, slots=True, eq=False)
class Standardisation:
    """How characteristics are brought to one scale: logarithm where `logged`, less `centre`, over `scale`."""

    logged: BoolArray
    centre: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, values: FloatArray, *, log_skewed: bool = False) -> Standardisation:
        """From the rows of `values`; with `log_skewed`, positive columns with a skewness above 1 are logged first."""
        logged = np.zeros(values.shape[1], dtype=np.bool_)
        if log_skewed and len(values) > 2:
            logged = (values.min(axis=0) > 0) & (_skewness(values) > 1)
        spread = np.where(logged, np.log(np.where(logged, values, 1.0)), values)
        scale = spread.std(axis=0)
        return cls(logged, spread.mean(axis=0), np.where(scale > 0, scale, 1.0))

    def __call__(self, values: FloatArray) -> FloatArray:
        """Rows in standard deviations from the centre; a logged value that is not positive stands at -inf."""
        with np.errstate(divide="ignore"):
            spread = np.where(self.logged, np.log(np.where(self.logged, np.maximum(values, 0.0), 1.0)), values)
        return (spread - self.centre) / self.scale


def _skewness(values: FloatArray) -> FloatArray:
    """The third standardised moment of each column; 0 for a constant one."""
    centred = values - values.mean(axis=0)
    scale = values.std(axis=0)
    moments: FloatArray = ((centred / np.where(scale > 0, scale, np.inf)) ** 3).mean(axis=0)
    return moments


def place_datasets(
    table: CharacteristicsTable,
    *,
    components: int = COMPONENTS,
    outlier_share: float = OUTLIER_SHARE,
    log_skewed: bool = False,
    rng: np.random.Generator,
) -> DatasetSpace:
    """Standardise (population standard deviation), project on `components` principal components, mark outliers.

    Outliers are the `round(outlier_share * n)` datasets that an isolation forest (Liu et al. 2008) isolates most
    easily. The sign of a component is chosen so that its largest loading is positive.
    """
    if components < 1:
        raise UsageError(f"{components} components were asked for", fix="ask for at least one")
    if not 0 <= outlier_share < 0.5:
        raise UsageError(f"the share of outliers is {outlier_share:g}", fix="give a share from 0 to below 0.5")
    told, dropped = table.usable()
    scaled = Standardisation.of(told.values, log_skewed=log_skewed)(told.values)
    left, size, right = np.linalg.svd(scaled, full_matrices=False)
    kept = min(components, int((size > 1e-9 * size[0]).sum()))
    sign = np.sign(right[np.arange(kept), np.abs(right[:kept]).argmax(axis=1)])
    points = left[:, :kept] * size[:kept] * sign
    return DatasetSpace(
        points=points,
        explained=size[:kept] ** 2 / (size**2).sum(),
        loadings=right[:kept] * sign[:, None],
        datasets=told.datasets,
        characteristics=told.names,
        dropped=dropped,
        outlier=_outliers(points, round(outlier_share * len(points)), rng),
    )


def _outliers(points: FloatArray, count: int, rng: np.random.Generator) -> BoolArray:
    found = np.zeros(len(points), dtype=np.bool_)
    if count == 0:
        return found
    scores = isolation_scores(points, rng, trees=TREES)
    found[np.argsort(-scores, kind="stable")[:count]] = True
    return found
