"""What clustering the datasets found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from recassay.analysis.clusters.number import NumberOfClusters
from recassay.analysis.dataset_space.space import DatasetSpace
from recassay.core import columns as c
from recassay.core.system.display import Displayed
from recassay.core.tabular import by_name, long_frame, stated
from recassay.core.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class ClustersResult(Displayed):
    """Clusters 1..k of the datasets (the largest first), with mean ranks and geometric means inside each."""

    metric: str
    algorithms: tuple[str, ...]
    space: DatasetSpace
    """The datasets as points on the principal components of their characteristics; `space.datasets` names them."""
    labels: IntArray
    """The cluster of each dataset, from 1 on, in the order of `space.datasets`; an outlier has the nearest."""
    central: tuple[str, ...]
    """For each cluster, the dataset nearest to its centre."""
    number: NumberOfClusters
    """How the number of clusters was chosen."""
    stability: float
    """The mean adjusted Rand index with clusterings of random nine tenths of the datasets: 1 is the same clusters every
    time, 0 is chance."""
    mean_rank: FloatArray
    """Algorithms x clusters: the mean rank within each."""
    overall_rank: FloatArray
    """The mean rank of each algorithm over all datasets."""
    geometric_mean: FloatArray | None
    """Algorithms x clusters: the geometric mean of the values; None where a value is negative."""
    p_differ: float
    """The share of random groupings of the same sizes whose mean ranks differ as much between groups."""

    @property
    def sizes(self) -> IntArray:
        """How many datasets each cluster holds."""
        return np.bincount(self.labels)[1:]

    def members(self, cluster: int) -> list[str]:
        """The datasets of a cluster, sorted."""
        return sorted(name for name, label in zip(self.space.datasets, self.labels, strict=True) if label == cluster)

    def to_frame(self) -> pl.DataFrame:
        """One row per dataset: cluster, whether it was an outlier, whether it is the central one, its coordinates."""
        axes = tuple(f"component_{j + 1}" for j in range(self.space.points.shape[1]))
        central = [name in self.central for name in self.space.datasets]
        return long_frame(
            {c.DATASET: self.space.datasets},
            {"cluster": self.labels, "outlier": self.space.outlier, "central": central, axes: self.space.points},
        )

    def frames(self) -> dict[str, pl.DataFrame]:
        """The clusters, the ranks in each, the choice of their number, and the components."""
        ranks = long_frame(
            {c.ALGORITHM: self.algorithms, "cluster": range(1, len(self.sizes) + 1)},
            {
                "datasets": self.sizes,
                "mean_rank": self.mean_rank,
                "geometric_mean": self.geometric_mean,
                "overall_mean_rank": self.overall_rank[:, None],
            },
        )
        components = tuple(f"component_{j + 1}" for j in range(len(self.space.loadings)))
        return {
            "clusters": self.to_frame(),
            "cluster_ranks": ranks,
            "cluster_numbers": self.number.to_frame(),
            "cluster_components": long_frame(
                {"characteristic": self.space.characteristics}, {components: self.space.loadings.T}
            ),
        }

    def to_dict(self) -> dict[str, Any]:
        """`clusters` by number with members and central dataset, `ranks`, and how firm the grouping is."""
        numbers = [str(k + 1) for k in range(len(self.sizes))]
        return {
            "metric": self.metric,
            "clusters": {
                number: {"datasets": self.members(int(number)), "central": central}
                for number, central in zip(numbers, self.central, strict=True)
            },
            "outliers": [n for n, out in zip(self.space.datasets, self.space.outlier, strict=True) if out],
            "mean_rank": by_name(self.mean_rank, self.algorithms, numbers),
            "geometric_mean": by_name(self.geometric_mean, self.algorithms, numbers),
            **stated(self, "number", "stability"),
            "p_ranks_differ": self.p_differ,
            **stated(self.space, "explained", "dropped"),
        }
