"""Groups of alike datasets, and how the algorithms rank in each (KDD'24, section 4.4, Figure 8, Table 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from recassay.analysis.cluster_fit import NumberOfClusters, number_of_clusters, ordered_labels, stability
from recassay.analysis.contest import Contest
from recassay.analysis.dataset_space import COMPONENTS, OUTLIER_SHARE, DatasetSpace, place_datasets
from recassay.analysis.metadata import NEEDS
from recassay.core import columns as c
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.characteristics import CharacteristicsTable
from recassay.core.display import Displayed
from recassay.core.errors import InputError, NotApplicableError
from recassay.core.results import Matrix, Results
from recassay.core.seeds import derived_rng
from recassay.core.types import FloatArray, IntArray

FEWEST = 6
_PERMUTATIONS = 2000


@dataclass(frozen=True, slots=True, eq=False)
class ClustersResult(Displayed):
    """Clusters 1..k of the datasets (the largest first), with mean ranks and geometric means inside each.

    `mean_rank` and `geometric_mean` are algorithms x clusters. `p_differ` is the share of random groupings of the same
    sizes whose mean ranks differ as much between groups.
    """

    metric: str
    algorithms: tuple[str, ...]
    space: DatasetSpace
    labels: IntArray
    central: tuple[str, ...]
    number: NumberOfClusters
    stability: float
    mean_rank: FloatArray
    overall_rank: FloatArray
    geometric_mean: FloatArray | None
    p_differ: float

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


def cluster_datasets(
    matrix: Matrix,
    table: CharacteristicsTable,
    *,
    clusters: int | None = None,
    components: int = COMPONENTS,
    outlier_share: float = OUTLIER_SHARE,
    log_skewed: bool = False,
    seed: int = 0,
) -> ClustersResult:
    """Cluster the datasets by their characteristics and aggregate a metric within each cluster.

    Appendix C of KDD'24: standardise, principal components, an isolation forest that sets outliers aside, k-means on
    the rest; the number of clusters is that with the best sum of ranks by silhouette (higher) and Davies-Bouldin
    (lower). Outliers then join the cluster with the nearest centre, as in Table 5. Beside that: the silhouette that
    points of a single normal cloud reach in the same way (`number`), the mean adjusted Rand index between the
    clustering and those of nine tenths of the datasets (`stability`), and a permutation test of whether the mean ranks
    differ between clusters more than between random groups of the same sizes.
    """
    n = len(matrix.datasets)
    if n < FEWEST:
        raise NotApplicableError(f"{n} datasets are too few to cluster", fix=f"give at least {FEWEST}")
    rng = derived_rng(seed, "clusters")
    space = place_datasets(
        table.aligned(matrix.datasets),
        components=components,
        outlier_share=outlier_share,
        log_skewed=log_skewed,
        rng=derived_rng(seed, "outliers"),
    )
    inner = space.points[~space.outlier]
    if clusters is not None and not 2 <= clusters < len(inner):
        raise InputError(
            f"{clusters} clusters of {len(inner)} datasets (outliers set aside) were asked for",
            fix=f"ask for 2 to {len(inner) - 1}",
        )
    number = number_of_clusters(inner, rng, wanted=clusters)
    fitted, centres = ordered_labels(inner, number.chosen, rng)
    distance = np.linalg.norm(space.points[:, None] - centres, axis=2)
    labels = np.where(space.outlier, distance.argmin(axis=1), 0)
    labels[~space.outlier] = fitted
    own = np.where((labels[:, None] == np.arange(number.chosen)) & ~space.outlier[:, None], distance, np.inf)
    contest = Contest(matrix.values[None], higher_is_better=matrix.higher_is_better)
    inside = (labels == np.arange(number.chosen)[:, None]).astype(np.float64)
    share = inside / inside.sum(axis=1, keepdims=True)
    ranks = contest.ranks[0]
    return ClustersResult(
        metric=matrix.metric,
        algorithms=matrix.algorithms,
        space=space,
        labels=labels + 1,
        central=tuple(space.datasets[d] for d in own.argmin(axis=0)),
        number=number,
        stability=stability(inner, fitted, number.chosen, rng),
        mean_rank=ranks @ share.T,
        overall_rank=ranks.mean(axis=1),
        geometric_mean=_geometric_means(matrix.values, share),
        p_differ=_difference(ranks, labels, rng),
    )


def _geometric_means(values: FloatArray, share: FloatArray) -> FloatArray | None:
    """exp of the mean log within each cluster, 0 where any value is 0; None where a value is negative."""
    if (values < 0).any():
        return None
    with np.errstate(divide="ignore"):
        logs = np.log(values)
    finite = np.where(np.isfinite(logs), logs, 0.0) @ share.T
    zero = (values == 0).astype(np.float64) @ share.T > 0
    return np.where(zero, 0.0, np.exp(finite))


def _difference(ranks: FloatArray, labels: IntArray, rng: np.random.Generator) -> float:
    """P-value of the between-group sum of squares of the ranks, datasets permuted over the groups."""
    centred = ranks - ranks.mean(axis=1, keepdims=True)
    order = np.concatenate([labels[None], rng.permuted(np.tile(labels, (_PERMUTATIONS, 1)), axis=1)])
    inside = (order[:, None, :] == np.arange(labels.max() + 1)[:, None]).astype(np.float64)
    between = ((inside @ centred.T) ** 2 / inside.sum(axis=2)[..., None]).sum(axis=(1, 2))
    return float((between >= between[0] - 1e-9).mean())


def _run(results: Results, spec: AnalysisSpec) -> ClustersResult:
    table = spec.need("characteristics", NEEDS)
    matrix = results.matrix(spec.metric, missing=spec.missing, higher_is_better=spec.higher_is_better)
    return cluster_datasets(matrix, table, seed=spec.seed)


ANALYSIS = Analysis(
    name="clusters",
    question="Which datasets are alike, and do the algorithms rank differently in each group?",
    source="KDD'24 section 4.4, Figure 8, Table 5, appendix C",
    run=_run,
)
