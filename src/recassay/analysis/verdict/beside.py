"""What stands beside the verdict on one metric: the other metrics of the table, and the seeds of its datasets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from recassay.analysis.inference.families import family_numbers
from recassay.analysis.verdict.decision import decide
from recassay.analysis.verdict.fit import Asked, asked_of
from recassay.analysis.verdict.result import COMPARED, MetricGrade, Verdict
from recassay.analysis.verdict.seeds import seed_tests
from recassay.core import columns as c
from recassay.core import ties
from recassay.core.choices import MANY_ALGORITHMS, MissingPolicy, PairTest
from recassay.core.errors import RecAssayError
from recassay.core.metric_facts import MetricKind
from recassay.core.tables.labels import facts_of, find_label
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.results import Results

ALL = "all"
"""In place of labels: every metric of the table."""


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
        return _decided(
            asked_of(matrix, numbers), control, verdict.within, alpha=verdict.alpha, test=verdict.test, seed=seed
        )
    except RecAssayError as error:
        return MetricGrade(label, kind_of(label), None, reason=str(error))


@lru_cache(maxsize=64)
def _decided(asked: Asked, control: str | None, within: float, alpha: float, test: PairTest, seed: int) -> MetricGrade:
    matrix = asked.matrix
    decision = decide(
        matrix, control=control, within=within, alpha=alpha, seed=seed, test=test, families=asked.families
    )
    names = [matrix.algorithms[a] for a in decision.order]
    mean_rank, could = decision.ranks.mean(axis=1), (decision.p_best >= alpha) & decision.judged
    return MetricGrade(
        metric=matrix.metric,
        kind=kind_of(matrix.metric),
        grade=decision.grade,
        leaders=tuple(n for n, rank in zip(names, mean_rank, strict=True) if not ties.beats(rank, mean_rank[0])),
        could_be_best=tuple(name for name, yes in zip(names, could, strict=True) if yes),
        algorithms=int(decision.judged.sum()),
    )
