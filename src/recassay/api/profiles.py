"""The verb `profiles`: Dolan-Moré performance profiles."""

from __future__ import annotations

from recassay.analysis.profiles import ProfilesResult, fit_profiles
from recassay.api.arguments import checked
from recassay.api.tables import on_matrix
from recassay.core.choices import MissingPolicy
from recassay.core.inputs import ResultsLike


@checked
def profiles(
    results: ResultsLike,
    metric: str | None = None,
    *,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    beta_max: float = 3.0,
) -> ProfilesResult:
    """Dolan-Moré performance profiles and the areas under them.

    Args:
        results: results table (file, frame or several files), the folder of a study, or loaded results.
        metric: label such as `ndcg@10`; by default `ndcg@10` or `accuracy` where present, else the only metric.
        missing: what becomes of missing cells: see `Results.matrix`.
        higher_is_better: direction of a metric that RecAssay does not know.
        beta_max: ratio to which the areas under performance profiles reach.
    """
    return on_matrix(fit_profiles, locals())
