"""Does the order of the algorithms survive without the popular items? Performance on T_P for a sweep of P.

Source: Jadidinejad, Macdonald and Ounis, How Sensitive is Recommendation Systems' Offline Evaluation to Popularity?
(REVEAL 2019).
"""

from __future__ import annotations

import numpy as np

from recassay.analysis.inference.bootstrap import intervals
from recassay.analysis.strata.bootstrap import user_halves, user_replicates
from recassay.analysis.strata.pairs import find_crossings, paired_tests
from recassay.analysis.strata.result import DatasetStrata, StrataResult
from recassay.analysis.strata.sensitivity import sensitivity, study_sensitivity
from recassay.core import ties
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.errors import UsageError
from recassay.core.seeds import derived_rng
from recassay.core.tables.results import Results
from recassay.core.tables.strata import StrataEvidence, StrataScores
from recassay.core.types import FloatArray, IntArray

REPLICATES = 2000
LEAST_REPLICATES = 100
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
    if not 0 < alpha < 1 or not 0.5 <= confidence < 1:
        raise UsageError(f"alpha is {alpha} and confidence {confidence}", fix="give shares such as 0.05 and 0.95")
    if replicates < LEAST_REPLICATES:
        raise UsageError(f"{replicates} bootstrap replicates are too few", fix=f"use at least {LEAST_REPLICATES}")
    upward = evidence.higher_is_better
    swept, ends = [], []
    for scores in evidence.datasets:
        rng = derived_rng(seed, "popularity strata", scores.dataset)
        draws = user_replicates(scores.scores, replicates, rng)
        halves = user_halves(scores.scores[[0, -1]], HALVINGS, rng)
        strata = _sweep(scores, draws, halves, upward, alpha, confidence)
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
    bands = np.stack([intervals(draws[:, row], n, confidence) for row, n in enumerate(users)])
    gaps = np.stack(
        [
            intervals(sign * (draws[:, row][:, tests.left] - draws[:, row][:, tests.right]), n, confidence)
            for row, n in enumerate(users)
        ]
    )
    return DatasetStrata(
        dataset=scores.dataset,
        higher_is_better=higher_is_better,
        algorithms=scores.algorithms,
        thresholds=scores.thresholds,
        value=value,
        low=bands[:, :, 0],
        high=bands[:, :, 1],
        rank=ties.ranks(value, higher_is_better=higher_is_better),
        users=users,
        shares=scores.shares,
        curve=scores.curve,
        tests=tests,
        difference_low=gaps[:, :, 0],
        difference_high=gaps[:, :, 1],
        crossings=find_crossings(tests, scores.thresholds, scores.algorithms, alpha),
        sensitivity=sensitivity(value, halves, tests, alpha=alpha, confidence=confidence),
        shortened=scores.shortened,
        whole=scores.whole,
    )


def _run(results: Results, spec: AnalysisSpec) -> StrataResult:
    load = spec.required("strata")
    evidence: StrataEvidence = load(spec.metric, seed=spec.seed)
    replicates = min(spec.replicates, REPLICATES)
    return sweep_strata(evidence, alpha=spec.alpha, replicates=replicates, seed=spec.seed)


ANALYSIS = Analysis(
    name="strata",
    question="Does the order of the algorithms hold on the less popular items?",
    source="Jadidinejad, Macdonald and Ounis, REVEAL 2019",
    run=_run,
)
