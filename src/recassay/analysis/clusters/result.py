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
        """One row a dataset: cluster, whether it was an outlier, whether it is the central one, its coordinates."""
        axes = {f"component_{j + 1}": self.space.points[:, j] for j in range(self.space.points.shape[1])}
        return pl.DataFrame(
            {
                c.DATASET: list(self.space.datasets),
                "cluster": self.labels,
                "outlier": self.space.outlier,
                "central": [name in self.central for name in self.space.datasets],
                **axes,
            }
        )

    def frames(self) -> dict[str, pl.DataFrame]:
        """The clusters, the ranks in each, the choice of their number, and the components."""
        ranks = [
            {
                c.ALGORITHM: name,
                "cluster": k + 1,
                "datasets": int(self.sizes[k]),
                "mean_rank": float(self.mean_rank[a, k]),
                "geometric_mean": None if self.geometric_mean is None else float(self.geometric_mean[a, k]),
                "overall_mean_rank": float(self.overall_rank[a]),
            }
            for a, name in enumerate(self.algorithms)
            for k in range(len(self.sizes))
        ]
        loadings = {
            "characteristic": list(self.space.characteristics),
            **{f"component_{j + 1}": row for j, row in enumerate(self.space.loadings)},
        }
        return {
            "clusters": self.to_frame(),
            "cluster_ranks": pl.DataFrame(ranks, schema_overrides={"geometric_mean": pl.Float64}),
            "cluster_numbers": self.number.to_frame(),
            "cluster_components": pl.DataFrame(loadings),
        }

    def to_dict(self) -> dict[str, Any]:
        """`clusters` by number with members and central dataset, `ranks`, and how firm the grouping is."""
        return {
            "metric": self.metric,
            "clusters": {
                str(k): {"datasets": self.members(k), "central": self.central[k - 1]}
                for k in range(1, len(self.sizes) + 1)
            },
            "outliers": [n for n, out in zip(self.space.datasets, self.space.outlier, strict=True) if out],
            "mean_rank": {
                name: {str(k + 1): float(r) for k, r in enumerate(self.mean_rank[a])}
                for a, name in enumerate(self.algorithms)
            },
            "geometric_mean": None if self.geometric_mean is None else {
                name: {str(k + 1): float(g) for k, g in enumerate(self.geometric_mean[a])}
                for a, name in enumerate(self.algorithms)
            },
            "number": self.number.to_dict(),
            "stability": self.stability,
            "p_ranks_differ": self.p_differ,
            "explained": self.space.explained.tolist(),
            "dropped": self.space.dropped,
        }  # fmt: skip
