"""The verb `clusters`: groups of alike datasets."""

from __future__ import annotations

from typing import Annotated

from recassay.analysis.clusters.fit import cluster_datasets
from recassay.analysis.clusters.result import ClustersResult
from recassay.api.arguments import checked
from recassay.api.inputs import CharacteristicsLike, ResultsLike
from recassay.api.tables import read_matrix, required_characteristics
from recassay.core.choices import Advanced, MissingPolicy


@checked
def clusters(
    results: ResultsLike,
    metric: str | None = None,
    *,
    characteristics: CharacteristicsLike | None = None,
    number: int | None = None,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    log_skewed: Annotated[bool, Advanced] = False,
    seed: Annotated[int, Advanced] = 0,
    wide: bool = False,
    transpose: bool = False,
) -> ClustersResult:
    """Groups of alike datasets and how the algorithms rank in each (KDD'24, Figure 8 and Table 5).

    Args:
        results: a results table (file or frame), several of them, the folder of a study, or loaded results.
        metric: label such as `ndcg@10`; by default `ndcg@10` or `accuracy` where present, else the only metric.
        characteristics: characteristics of the datasets (file or frame); a study knows its own.
        number: how many groups; by default the number that fits best.
        missing: how to treat missing cells: refuse them, drop their datasets or algorithms, or take the worst value.
        higher_is_better: direction of a metric that RecAssay does not know.
        log_skewed: take logarithms of skewed characteristics first.
        seed: the same seed gives the same numbers.
        wide: the rows of the table are algorithms and its columns datasets, where the table does not say it.
        transpose: the rows of the table are datasets and its columns algorithms.
    """
    table, matrix = read_matrix(
        results, metric, missing=missing, higher_is_better=higher_is_better, wide=wide, transpose=transpose
    )
    known = required_characteristics(results, table, characteristics)
    return cluster_datasets(matrix, known, clusters=number, log_skewed=log_skewed, seed=seed)
