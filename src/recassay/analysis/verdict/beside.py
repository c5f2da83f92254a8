"""What stands beside the verdict on one metric: the other metrics of the table, and the seeds of its datasets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from recassay.analysis.inference.distributions import t_sf
from recassay.analysis.inference.families import family_numbers
from recassay.analysis.inference.significance import holm
from recassay.analysis.verdict.fit import asked_of, decision_on
from recassay.analysis.verdict.result import COMPARED, MetricGrade, SeedTests, Verdict
from recassay.core import columns as c
from recassay.core import ties
from recassay.core.choices import MANY_ALGORITHMS, MissingPolicy
from recassay.core.errors import RecAssayError
from recassay.core.metric_facts import MetricKind
from recassay.core.tables.labels import facts_of, find_label
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.results import Results

ALL = "all"
"""In place of labels: every metric of the table."""

FEWEST_SEEDS = 3
"""Of both algorithms of a pair on a dataset; two say too little of how values vary."""


def with_table(
    verdict: Verdict,
    matrix: Matrix,
    results: Results,
    *,
    metrics: str | Sequence[str] | None = None,
    missing: MissingPolicy = "error",
    families: str | Mapping[str, str] | None = None,
    seed: int = 0,
) -> Verdict:
    """The verdict on a matrix of these results, with what other metrics support and what the seeds show.

    `metrics` are labels or `all`; by default those that measure the same (accuracy, or errors), and none with more than
    60 algorithms, where each takes minutes. Each is judged by the same rules as if it had been asked for alone.
    """
    graded = tuple(
        _graded(verdict, results, label, missing, families, seed=seed) for label in _wanted(verdict, results, metrics)
    )
    seeds = None if c.FOLD in results.frame.columns else seed_tests(matrix, alpha=verdict.alpha)
    return replace(verdict, metrics=graded, seeds=seeds)


def kind_of(label: str) -> MetricKind | None:
    """What a metric measures; None where it is not known."""
    facts = facts_of(label)
    return None if facts is None else facts.kind


def _wanted(verdict: Verdict, results: Results, metrics: str | Sequence[str] | None) -> Iterator[str]:
    """The labels of the other metrics, in the order of the table."""
    named = [metrics] if isinstance(metrics, str) else list(metrics or ())
    asked = set(results.metrics) if named == [ALL] else {find_label(name, results.metrics) for name in named}
    if not asked - {verdict.metric} and verdict.kind in COMPARED and len(verdict.algorithms) <= MANY_ALGORITHMS:
        asked = {label for label in results.metrics if kind_of(label) == verdict.kind}
    return (label for label in results.metrics if label in asked and label != verdict.metric)


def _graded(
    verdict: Verdict,
    results: Results,
    label: str,
    missing: MissingPolicy,
    families: str | Mapping[str, str] | None,
    seed: int,
) -> MetricGrade:
    try:
        matrix = results.matrix(label, missing=missing)
        numbers = None if families is None else family_numbers(matrix.datasets, families)
        control = verdict.control if verdict.control in matrix.algorithms else None
        asked = asked_of(matrix, numbers)
        decision = decision_on(asked, control, verdict.within, alpha=verdict.alpha, test=verdict.test, seed=seed)
    except RecAssayError as error:
        return MetricGrade(label, kind_of(label), None, reason=str(error))
    names = [matrix.algorithms[a] for a in decision.order]
    mean_rank, could = decision.ranks.mean(axis=1), (decision.p_best >= verdict.alpha) & decision.judged
    return MetricGrade(
        metric=matrix.metric,
        kind=kind_of(matrix.metric),
        grade=decision.grade,
        leaders=tuple(n for n, rank in zip(names, mean_rank, strict=True) if not ties.beats(rank, mean_rank[0])),
        could_be_best=tuple(name for name, yes in zip(names, could, strict=True) if yes),
        algorithms=int(decision.judged.sum()),
    )


def seed_tests(matrix: Matrix, alpha: float = 0.05) -> SeedTests | None:
    """Welch's t-test of every pair on every dataset, Holm-corrected over the pairs of a dataset.

    Welch's test does not need equal variances, and three seeds each are enough for it. Exact permutation is not: with
    five seeds each its smallest p is 0.008, which no correction for ten pairs survives. Seeds count as independent;
    where the same seed makes the same luck for all algorithms, the test is careful. None where no pair has seeds
    enough, where repeats are folds (they share their data), and with more than 60 algorithms.
    """
    if matrix.replicates is None or matrix.paired or len(matrix.algorithms) > MANY_ALGORITHMS:
        return None
    count = np.isfinite(matrix.replicates).sum(axis=2)
    enough = count >= FEWEST_SEEDS
    safe = np.where(enough, count, FEWEST_SEEDS)
    mean = np.nansum(matrix.replicates, axis=2) / safe
    centred = np.where(np.isfinite(matrix.replicates), matrix.replicates - mean[:, :, None], 0.0)
    error = (centred**2).sum(axis=2) / (safe - 1) / safe  # squared standard errors of the means
    # Rounding alone makes a mean of equal values differ from them.
    error = np.where(error <= (1e-12 * np.abs(mean)) ** 2, 0.0, error)
    k, n = mean.shape
    first, second = np.triu_indices(k, 1)
    tested = enough[first] & enough[second]
    if not tested.any():
        return None
    gap, variance = mean[first] - mean[second], error[first] + error[second]
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees = variance**2 / (error[first] ** 2 / (safe[first] - 1) + error[second] ** 2 / (safe[second] - 1))
        t = np.abs(gap) / np.sqrt(variance)
    certain = variance == 0  # without any seed noise a difference is one, and equal values are not
    p = np.where(
        certain, (gap == 0).astype(float), 2 * t_sf(np.where(certain, 0.0, t), np.where(certain, 1.0, degrees))
    )
    square, ahead = np.full((k, k, n), np.nan), np.zeros((k, k, n), dtype=bool)
    better = gap > 0 if matrix.higher_is_better else gap < 0
    ahead[first, second], ahead[second, first] = better, ~better & (gap != 0)
    for d in range(n):
        judged = np.flatnonzero(tested[:, d])
        square[first[judged], second[judged], d] = square[second[judged], first[judged], d] = holm(p[judged, d])
    return SeedTests(matrix.algorithms, matrix.datasets, alpha=alpha, p=square, ahead=ahead)
