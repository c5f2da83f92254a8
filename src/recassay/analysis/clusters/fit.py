"""Groups of alike datasets, and how the algorithms rank in each (KDD'24, section 4.4, Figure 8, Table 5)."""

from __future__ import annotations

import numpy as np

from recassay.analysis.aggregation.contest import Contest
from recassay.analysis.aggregation.rules import RULES, DolanMore
from recassay.analysis.clusters.number import number_of_clusters, ordered_labels, stability
from recassay.analysis.clusters.result import ClustersResult
from recassay.analysis.dataset_space.kmeans import central_points
from recassay.analysis.dataset_space.space import place_datasets
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.errors import InputError, NotApplicableError
from recassay.core.seeds import derived_rng
from recassay.core.tables.characteristics import CharacteristicsTable
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.results import Results
from recassay.core.ties import beats
from recassay.core.types import FloatArray, IntArray

FEWEST = 6
_PERMUTATIONS = 2000


def cluster_datasets(
    matrix: Matrix,
    table: CharacteristicsTable,
    *,
    clusters: int | None = None,
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
    known = table.aligned(matrix.datasets)
    space = place_datasets(known, log_skewed=log_skewed, rng=derived_rng(seed, "outliers"))
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
    members_of = (labels[:, None] == np.arange(number.chosen)) & ~space.outlier[:, None]
    inside = (labels == np.arange(number.chosen)[:, None]).astype(np.float64)
    contest, options = Contest(matrix.values[None], higher_is_better=matrix.higher_is_better), DolanMore()
    ranks = contest.ranks[0]
    return ClustersResult(
        metric=matrix.metric,
        algorithms=matrix.algorithms,
        space=space,
        labels=labels + 1,
        central=tuple(space.datasets[d] for d in central_points(space.points, centres, members_of)),
        number=number,
        stability=stability(inner, fitted, number.chosen, rng),
        mean_rank=RULES["mean_rank"].score(contest, inside, options).T,
        overall_rank=ranks.mean(axis=1),
        geometric_mean=(
            None if (matrix.values < 0).any() else RULES["geometric_mean"].score(contest, inside, options).T
        ),
        p_differ=_difference(ranks, labels, rng),
    )


def _difference(ranks: FloatArray, labels: IntArray, rng: np.random.Generator) -> float:
    """P-value of the between-group sum of squares of the ranks, datasets permuted over the groups."""
    centred = ranks - ranks.mean(axis=1, keepdims=True)
    order = np.concatenate([labels[None], rng.permuted(np.tile(labels, (_PERMUTATIONS, 1)), axis=1)])
    inside = (order[:, None, :] == np.arange(labels.max() + 1)[:, None]).astype(np.float64)
    between = ((inside @ centred.T) ** 2 / inside.sum(axis=2)[..., None]).sum(axis=(1, 2))
    return float((~beats(between[0], between)).mean())


def _run(results: Results, spec: AnalysisSpec) -> ClustersResult:
    table = spec.required("characteristics")
    return cluster_datasets(spec.matrix(results), table, seed=spec.seed)


ANALYSIS = Analysis(
    name="clusters",
    question="Which {datasets} are alike, and do the {algorithms} rank differently in each group?",
    source="KDD'24 section 4.4, Figure 8, Table 5, appendix C",
    run=_run,
    aside=2,
)
