"""The verb `beta_irt`: beta-IRT in two directions on a results table."""

from __future__ import annotations

from typing import Annotated

from recassay.analysis.beta_irt import fit
from recassay.analysis.beta_irt.result import BetaIRTResult
from recassay.api.arguments import checked
from recassay.api.inputs import ResultsLike
from recassay.api.tables import read_metric
from recassay.core.choices import Advanced, BetaEstimator, GapPolicy, Level, PosteriorForm


@checked
def beta_irt(
    results: ResultsLike,
    metric: str | None = None,
    *,
    missing: GapPolicy = "keep",
    higher_is_better: bool | None = None,
    sigma: Annotated[float, Advanced] = 1.0,
    estimator: Annotated[BetaEstimator | None, Advanced] = None,
    posterior: Annotated[PosteriorForm, Advanced] = "normal",
    confidence: Level = 0.95,
    seed: Annotated[int, Advanced] = 0,
    wide: bool = False,
    transpose: bool = False,
) -> BetaIRTResult:
    """How able are the algorithms, how hard and how telling the datasets: beta-IRT in both directions.

    `seed` matters for `posterior="samples"` alone: all else is computed without chance.

    Args:
        results: a results table (file or frame), several of them, the folder of a study, or loaded results.
        metric: label such as `ndcg@10`; by default `ndcg@10` or `accuracy` where present, else the only metric.
        missing: how to treat missing cells: fit without them (`keep`), or as elsewhere.
        higher_is_better: direction of a metric that RecAssay does not know.
        sigma: prior standard deviation of the discriminations.
        estimator: noise: the model's density (`beta`), one with a precision of its own (`precision`), the likelier
            (`auto`), or squared error (`bi-reirt`).
        posterior: a normal approximation, or samples (HMC).
        confidence: level of the intervals.
        seed: matters for `posterior="samples"` alone.
        wide: the rows of the table are algorithms and its columns datasets, where the table does not say it.
        transpose: the rows of the table are datasets and its columns algorithms.
    """
    table, label = read_metric(results, metric, wide=wide, transpose=transpose)
    return fit.fit_on_results(
        table, label, missing=missing, higher_is_better=higher_is_better, estimator=estimator or fit.DEFAULT_ESTIMATOR,
        sigma=sigma, posterior=posterior, confidence=confidence, seed=seed,
    )  # fmt: skip
