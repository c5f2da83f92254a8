"""Does the order of the algorithms survive without the popular items? Performance on T_P for a sweep of P.

Source: Jadidinejad, Macdonald and Ounis, How Sensitive is Recommendation Systems' Offline Evaluation to Popularity?
(REVEAL 2019).
"""

from __future__ import annotations

import numpy as np

from recassay.analysis.inference.bootstrap import dataset_weights, intervals, refuse_few
from recassay.analysis.strata.pairs import find_crossings, paired_tests
from recassay.analysis.strata.result import DatasetStrata, StrataResult
from recassay.analysis.strata.sensitivity import sensitivity, study_sensitivity
from recassay.core import ties
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.blocks import number_blocks
from recassay.core.choices import refuse_level
from recassay.core.errors import UsageError
from recassay.core.seeds import derived_rng
from recassay.core.tables.results import Results
from recassay.core.tables.scores import StrataEvidence, StrataScores
from recassay.core.types import FloatArray, IntArray

REPLICATES = 2000
HALVINGS = 500
"""Random halvings of the users behind what chance alone puts between two orders."""


def sweep_strata(
    evidence: StrataEvidence,
    *,
    alpha: float = 0.05,
    confidence: float = 0.95,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> StrataResult:
    """Every algorithm on every T_P: means with bootstrap bands, paired tests, crossings and sensitivity.

    The value of an algorithm at P is the mean of its per-user scores over the users with an event in T_P. Bands are
    expanded percentile intervals over `replicates` draws of users, the same draws for every algorithm and threshold.
    At each P every two algorithms are compared by the paired t-test over users with Holm's correction over the pairs;
    a crossing is where the sign of a difference changes with P. The popularity sensitivity of a ranking is the Kendall
    distance between the orders at the lowest and the highest P, for each dataset and over all, beside the distance
    between the orders on random halves of the users at one P.
    """
    refuse_level(alpha)
    if not 0.5 <= confidence < 1:
        raise UsageError(f"confidence is {confidence}", fix="give a level from 0.5 to below 1")
    refuse_few(replicates)
    upward = evidence.higher_is_better
    swept, ends = [], []
    for scores in evidence.datasets:
        rng = derived_rng(seed, "popularity strata", str(scores.scores.shape[2]))
        draws = user_replicates(scores.scores, replicates=replicates, rng=rng)
        halves = user_halves(scores.scores[[0, -1]], HALVINGS, rng)
        strata = _sweep(scores, draws, halves, upward, alpha=alpha, confidence=confidence)
        swept.append(strata)
        ends.append((strata.value[[0, -1]], halves))
    shared = sorted(set.intersection(*(set(strata.algorithms) for strata in swept)))
    return StrataResult(
        metric=evidence.metric,
        higher_is_better=upward,
        datasets=tuple(swept),
        study=study_sensitivity(
            ends,
            [[strata.algorithms.index(name) for name in shared] for strata in swept],
            higher_is_better=upward,
            confidence=confidence,
            proven=sum(strata.sensitivity.proven for strata in swept),
        ),
        others=evidence.others,
        alpha=alpha,
        confidence=confidence,
        replicates=replicates,
        left_out=evidence.left_out,
    )


def _sweep(
    scores: StrataScores, draws: FloatArray, halves: FloatArray, higher_is_better: bool, alpha: float, confidence: float
) -> DatasetStrata:
    users: IntArray = np.isfinite(scores.scores[:, 0]).sum(axis=1)
    value = np.nanmean(scores.scores, axis=2)
    tests = paired_tests(scores.scores, higher_is_better=higher_is_better)
    sign = 1.0 if higher_is_better else -1.0
    drawn = list(zip(draws.swapaxes(0, 1), users, strict=True))
    bands = np.stack([intervals(means, n, confidence) for means, n in drawn])
    gaps = np.stack(
        [intervals(sign * (means[:, tests.left] - means[:, tests.right]), n, confidence) for means, n in drawn]
    )
    return DatasetStrata(
        dataset=scores.dataset,
        higher_is_better=higher_is_better,
        algorithms=scores.algorithms,
        thresholds=scores.thresholds,
        value=value,
        interval=bands,
        rank=ties.ranks(value, higher_is_better=higher_is_better),
        users=users,
        shares=scores.shares,
        curve=scores.curve,
        tests=tests,
        difference_interval=gaps,
        crossings=find_crossings(tests, scores.thresholds, scores.algorithms, alpha=alpha),
        sensitivity=sensitivity(value, halves, tests, alpha=alpha, confidence=confidence),
        shortened=scores.shortened,
        whole=scores.whole,
    )


GROUPS = 2000
"""More users than this are gathered at random into so many groups, and the groups are drawn."""

ROWS_AT_ONCE = 500


def user_replicates(scores: FloatArray, replicates: int, rng: np.random.Generator) -> FloatArray:
    """Means over users drawn with replacement: replicates x thresholds x algorithms.

    `scores` is thresholds x algorithms x users, NaN for users outside a stratum. One draw of users serves every
    algorithm and every threshold, so that differences between algorithms are paired and the orders at two thresholds
    belong together. A mean is the sum over the drawn users of T_P divided by their number; a replicate that draws no
    user of some stratum is left out. Beyond `GROUPS` users, random groups of users are drawn in place of single ones:
    sums of independent users vary as the users do, so the spread is the same in expectation and the cost is bounded.
    """
    table = _sums(scores, rng)
    n_groups = table.shape[1]
    means = np.empty((replicates, *scores.shape[:2]))
    for rows in number_blocks(replicates, 1, ROWS_AT_ONCE):
        weights = dataset_weights(n_groups, replicates=rows.stop - rows.start, rng=rng)
        means[rows] = _means(weights @ table.T, *scores.shape[:2])
    return means[np.isfinite(means).all(axis=(1, 2))]


def user_halves(scores: FloatArray, halvings: int, rng: np.random.Generator) -> FloatArray:
    """Means over the two halves of the users of each random halving: halvings x 2 x thresholds x algorithms.

    NaN where a half has no user of some stratum. What lies between the two halves is chance alone.
    """
    table = _sums(scores, rng)
    n_groups = table.shape[1]
    half = (np.argsort(rng.random((halvings, n_groups)), axis=1) < n_groups // 2).astype(np.float64)
    drawn = half @ table.T
    both = np.stack([drawn, table.sum(axis=1) - drawn], axis=1)
    return _means(both, *scores.shape[:2])


def _sums(scores: FloatArray, rng: np.random.Generator) -> FloatArray:
    """By user (or one of `GROUPS` groups of equal size, one more or less): the scores of every threshold and algorithm,
    then whether T_P has the user."""
    n_users = scores.shape[2]
    known = np.isfinite(scores[:, 0, :])
    table = np.concatenate([np.where(known[:, None], scores, 0.0).reshape(-1, n_users), known.astype(np.float64)])
    if n_users <= GROUPS:
        return table
    bounds = np.linspace(0, n_users, GROUPS + 1).astype(np.int64)[:-1]
    gathered: FloatArray = np.add.reduceat(table[:, rng.permutation(n_users)], bounds, axis=1)
    return gathered


def _means(sums: FloatArray, n_thresholds: int, n_algorithms: int) -> FloatArray:
    """From sums over users (last axis as in `_sums`) to means: ... x thresholds x algorithms; NaN without a user."""
    shape = (*sums.shape[:-1], n_thresholds, n_algorithms)
    with np.errstate(invalid="ignore", divide="ignore"):
        means: FloatArray = sums[..., :-n_thresholds].reshape(shape) / sums[..., -n_thresholds:, None]
    return means


def _run(results: Results, spec: AnalysisSpec) -> StrataResult:
    evidence: StrataEvidence = spec.required("strata")(spec.metric, seed=spec.seed)
    confidence, replicates = 1 - spec.alpha, min(spec.draws, REPLICATES)
    return sweep_strata(evidence, alpha=spec.alpha, confidence=confidence, replicates=replicates, seed=spec.seed)


ANALYSIS = Analysis(
    name="strata",
    question="Does the order of the {algorithms} hold on the less popular items?",
    source="Jadidinejad, Macdonald and Ounis, REVEAL 2019",
    run=_run,
)
