"""The verb `profiles`: Dolan-Moré performance profiles."""

from __future__ import annotations

from typing import Annotated

from recassay.analysis.profiles import ProfilesResult, fit_profiles
from recassay.api.arguments import checked
from recassay.api.inputs import ResultsLike
from recassay.api.tables import read_matrix
from recassay.core.choices import Advanced, MissingPolicy


@checked
def profiles(
    results: ResultsLike,
    metric: str | None = None,
    *,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    beta_max: Annotated[float, Advanced] = 3.0,
    wide: bool = False,
    transpose: bool = False,
) -> ProfilesResult:
    """Dolan-Moré performance profiles and the areas under them.

    Args:
        results: a results table (file or frame), several of them, the folder of a study, or loaded results.
        metric: label such as `ndcg@10`; by default `ndcg@10` or `accuracy` where present, else the only metric.
        missing: how to treat missing cells: refuse them, drop their datasets or algorithms, or take the worst value.
        higher_is_better: direction of a metric that RecAssay does not know.
        beta_max: largest ratio of the performance profiles.
        wide: the rows of the table are algorithms and its columns datasets, where the table does not say it.
        transpose: the rows of the table are datasets and its columns algorithms.
    """
    _, matrix = read_matrix(
        results, metric, missing=missing, higher_is_better=higher_is_better, wide=wide, transpose=transpose
    )
    return fit_profiles(matrix, beta_max=beta_max)
