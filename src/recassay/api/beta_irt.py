"""The verb `fit_beta_irt`: beta-IRT in two directions on a results table."""

from __future__ import annotations

from typing import Any

from recassay.analysis.beta_irt import fit as beta_irt
from recassay.analysis.beta_irt.result import BetaIRTResult
from recassay.api.tables import default_metric, load_results
from recassay.core.choices import BetaEstimator, GapPolicy, PosteriorForm


def fit_beta_irt(
    results: Any,
    metric: str | None = None,
    *,
    missing: GapPolicy = "keep",
    higher_is_better: bool | None = None,
    sigma: float = 1.0,
    estimator: BetaEstimator | None = None,
    posterior: PosteriorForm = "normal",
    confidence: float = 0.95,
    seed: int = 0,
) -> BetaIRTResult:
    """How able are the algorithms, how hard and how telling the datasets: beta-IRT in both directions.

    `seed` matters for `posterior="samples"` alone: all else is computed without chance.
    """
    table = load_results(results, metric=metric)
    values, algorithms, datasets, label, upward = beta_irt.response_table(
        table, metric or default_metric(table), missing, higher_is_better
    )
    return beta_irt.fit_beta_irt(
        values,
        algorithms,
        datasets,
        metric=label,
        higher_is_better=upward,
        estimator=estimator or beta_irt.DEFAULT_ESTIMATOR,
        sigma=sigma,
        posterior=posterior,
        confidence=confidence,
        seed=seed,
    )
