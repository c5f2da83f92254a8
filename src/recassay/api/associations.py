"""The verb `associations`: which characteristics of datasets go with performance."""

from __future__ import annotations

from typing import Annotated

from recassay.analysis.associations import AssociationsResult, correlate_characteristics
from recassay.api.arguments import checked
from recassay.api.inputs import CharacteristicsLike, ResultsLike
from recassay.api.tables import read_matrix, required_characteristics
from recassay.core.choices import Advanced, Alpha, MissingPolicy


@checked
def associations(
    results: ResultsLike,
    metric: str | None = None,
    *,
    characteristics: CharacteristicsLike | None = None,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    alpha: Alpha = 0.05,
    permutations: Annotated[int, Advanced] = 2000,
    seed: Annotated[int, Advanced] = 0,
    wide: bool = False,
    transpose: bool = False,
) -> AssociationsResult:
    """Which characteristics of the datasets go with each algorithm's performance (KDD'24, Figure 7).

    Args:
        results: a results table (file or frame), several of them, the folder of a study, or loaded results.
        metric: label such as `ndcg@10`; by default `ndcg@10` or `accuracy` where present, else the only metric.
        characteristics: characteristics of the datasets (file or frame); a study knows its own.
        missing: how to treat missing cells: refuse them, drop their datasets or algorithms, or take the worst value.
        higher_is_better: direction of a metric that RecAssay does not know.
        alpha: level of the corrected tests.
        permutations: random permutations of the datasets behind each p-value.
        seed: the same seed gives the same numbers.
        wide: the rows of the table are algorithms and its columns datasets, where the table does not say it.
        transpose: the rows of the table are datasets and its columns algorithms.
    """
    table, matrix = read_matrix(
        results, metric, missing=missing, higher_is_better=higher_is_better, wide=wide, transpose=transpose
    )
    known = required_characteristics(results, table, characteristics)
    return correlate_characteristics(matrix, known, alpha=alpha, permutations=permutations, seed=seed)
