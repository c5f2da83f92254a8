"""Beta-IRT in two directions (Bi-ReIRT): how able are the algorithms, how hard and how telling are the datasets?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recassay.analysis.beta_irt.choice import find, find_likelier
from recassay.analysis.beta_irt.direction import fit_direction
from recassay.analysis.beta_irt.result import BetaIRTResult
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.choices import BetaEstimator, GapPolicy, PosteriorForm
from recassay.core.errors import InputError, NotApplicableError, UsageError
from recassay.core.seeds import derived_rng
from recassay.core.system.blas import one_blas_thread
from recassay.core.tables.labels import find_label
from recassay.core.tables.matrix import single_dataset
from recassay.core.tables.results import Results
from recassay.core.types import FloatArray
from recassay.core.words import listing

DEFAULT_ESTIMATOR: BetaEstimator = "auto"
SIGMA = 1.0


def fit_beta_irt(
    values: FloatArray,
    algorithms: Sequence[str],
    datasets: Sequence[str],
    *,
    metric: str = "response",
    higher_is_better: bool = True,
    estimator: BetaEstimator = DEFAULT_ESTIMATOR,
    sigma: float = SIGMA,
    posterior: PosteriorForm = "normal",
    confidence: float = 0.95,
    seed: int = 0,
) -> BetaIRTResult:
    """Fit beta-IRT in both directions to `values` (algorithms x datasets, NaN where missing).

    Direction 1 takes algorithms as respondents and datasets as items; direction 2 the other way round (Bi-ReIRT,
    equations 3 and 4, Table 1). In direction 2 the latent trait of a dataset is its easiness theta; challenge is
    1 - theta, and the difficulty limit of an algorithm is 1 - delta, the challenge at which its ICC is 1/2.

    `estimator`: `beta` takes the responses to follow the Beta density of equation 1; `precision` a Beta density with
    the same ICC and a precision of its own (`beta_irt_precision`); `auto` whichever of the two is likelier, over both
    directions; `bi-reirt` fits the ICC by the paper's squared error. All have the paper's priors (theta, delta ~
    Beta(1, 1), a ~ Normal(1, sigma^2)), which fix shift and scale.

    The estimate is the posterior median, the interval the central `confidence` share of the posterior, and the mode
    of the joint posterior (the MAP) stands beside them in the tables. `posterior` says how it is described: by a
    `normal` density on the scale (logit, logit, identity), found without chance, so that `seed` changes nothing; or by
    `samples` (HMC from there, with `seed`; r-hat is reported).

    A metric of which lower is better enters as 1 - value. Values outside [0, 1] raise `NotApplicableError`.
    """
    if not (np.isfinite(sigma) and sigma > 0):
        raise UsageError(f"sigma is {sigma}", fix="give a positive standard deviation")
    _check(values, algorithms, datasets, metric, higher_is_better)
    upward = values if higher_is_better else 1 - values
    tables, names = (upward, upward.T), ((algorithms, datasets), (datasets, algorithms))
    log_posteriors: dict[str, float] = {}
    with one_blas_thread():
        if estimator == "auto":
            modes, log_posteriors = find_likelier(tables, sigma)
        else:
            modes = tuple(find(table, sigma, estimator) for table in tables)
        first, second = (
            fit_direction(
                number,
                table,
                tuple(rows),
                tuple(columns),
                mode,
                confidence=confidence,
                rng=derived_rng(seed, "beta-irt", str(number)) if posterior == "samples" else None,
            )
            for number, table, mode, (rows, columns) in zip((1, 2), tables, modes, names, strict=True)
        )
    return BetaIRTResult(
        metric=metric,
        higher_is_better=higher_is_better,
        algorithms=tuple(algorithms),
        datasets=tuple(datasets),
        values=upward,
        directions=(first, second),
        estimator=modes[0].density,
        log_posteriors=log_posteriors,
        posterior=posterior,
        sigma=sigma,
        confidence=confidence,
    )


def _check(values: FloatArray, algorithms: Sequence[str], datasets: Sequence[str], metric: str, upward: bool) -> None:
    if values.shape != (len(algorithms), len(datasets)):
        raise ValueError(f"values {values.shape} do not fit the names")
    for axis, names, what in ((1, algorithms, "algorithm"), (0, datasets, "dataset")):
        if what == "dataset" and len(names) == 1:
            raise single_dataset(metric)
        if len(names) < 3:
            raise NotApplicableError(
                f"{len(names)} {what}{'s' if len(names) > 1 else ''}", fix=f"beta-IRT needs at least 3 {what}s"
            )
        empty = np.asarray(np.isnan(values).all(axis=axis))
        if empty.any():
            which = listing(n for n, none in zip(names, empty, strict=True) if none)
            raise InputError(f"no value of {metric} for {what} {which}", fix="leave it out")
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if low < 0 or high > 1:
        fix = "beta-IRT needs a metric between 0 and 1"
        if upward and low >= 0 and high <= 100:
            fix += "; divide percentages by 100"
        raise NotApplicableError(f"{metric} runs from {low:g} to {high:g}", fix=fix)


def fit_on_results(
    results: Results,
    metric: str,
    *,
    missing: GapPolicy,
    higher_is_better: bool | None,
    estimator: BetaEstimator = DEFAULT_ESTIMATOR,
    sigma: float = SIGMA,
    posterior: PosteriorForm = "normal",
    confidence: float = 0.95,
    seed: int = 0,
) -> BetaIRTResult:
    """The same for a metric of a results table.

    Under the policy `keep` missing cells stay missing, since the model needs no complete table; an algorithm or a
    dataset without any value is left out. The other policies act as in `Results.matrix`.
    """
    label = find_label(metric, results.metrics)
    upward = results.direction(label, higher_is_better)
    algorithms: Sequence[str]
    datasets: Sequence[str]
    if missing != "keep":
        matrix = results.matrix(label, missing=missing, higher_is_better=upward)
        values, algorithms, datasets = matrix.values, matrix.algorithms, matrix.datasets
    else:
        table = results.table(label)
        rows, columns = (np.flatnonzero(np.isfinite(table).any(axis=axis)) for axis in (1, 0))
        algorithms, datasets = [results.algorithms[a] for a in rows], [results.datasets[d] for d in columns]
        values = table[np.ix_(rows, columns)]
    return fit_beta_irt(
        values, algorithms, datasets, metric=label, higher_is_better=upward, estimator=estimator, sigma=sigma,
        posterior=posterior, confidence=confidence, seed=seed,
    )  # fmt: skip


def _run(results: Results, spec: AnalysisSpec) -> BetaIRTResult:
    missing: GapPolicy = "keep" if spec.missing == "error" else spec.missing
    return fit_on_results(
        results, spec.metric, missing=missing, higher_is_better=spec.higher_is_better, confidence=1 - spec.alpha
    )


ANALYSIS = Analysis(
    name="beta_irt",
    aliases=("irt",),
    question="How able are the {algorithms}, and how hard and how telling are the {datasets}?",
    source="Xu et al. 2025 (Bi-ReIRT); Chen et al. 2019 (beta-IRT)",
    run=_run,
    aside=6,
)
