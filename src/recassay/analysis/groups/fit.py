"""Is the best algorithm the best for every group of users, which items are shown, does weighting change who leads?"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from recassay.analysis.groups.result import Gap, GroupsResult, GroupUsers, Weighted, Worse
from recassay.analysis.inference.distributions import t_quantile, t_sf
from recassay.analysis.inference.significance import holm
from recassay.analysis.users.fit import dataset_users
from recassay.analysis.users.result import DatasetUsers
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.tables.groups import GroupedScores, GroupsEvidence, WeightedScores
from recassay.core.tables.results import Results
from recassay.core.types import FloatArray

REPLICATES = 2000


def compare_groups(
    evidence: GroupsEvidence,
    metric: str,
    *,
    higher_is_better: bool,
    alpha: float = 0.05,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> GroupsResult:
    """Every attribute of users and of items, and every weighted convention of the metric.

    Within a group, algorithms are compared as `compare_users` does over all users: sign-flip tests, Holm over the pairs
    of the group. That another algorithm beats the best one in a group is adjusted by Holm over all groups of the
    attribute and all other algorithms. The gap of an algorithm is between the groups with its best and worst mean, with
    Welch's interval and test, corrected (Bonferroni) for the choice among all pairs of groups.
    """
    sign = 1.0 if higher_is_better else -1.0
    users = tuple(
        _attribute(scores, sign, alpha=alpha, replicates=replicates, seed=seed) for scores in evidence.grouped
    )
    weighted = tuple(
        _weighted(scores, sign, alpha=alpha, replicates=replicates, seed=seed) for scores in evidence.weighted
    )
    margin = float(t_quantile(1 - alpha / 2, np.inf))
    exposure = tuple(
        row | {"low": row["share"] - margin * row["error"], "high": row["share"] + margin * row["error"]}
        for row in evidence.exposure
    )
    return GroupsResult(
        metric,
        higher_is_better,
        users,
        exposure,
        weighted,
        alpha=alpha,
        confidence=1 - alpha,
        left_out=evidence.left_out,
    )


def _attribute(grouped: GroupedScores, sign: float, alpha: float, replicates: int, seed: int) -> GroupUsers:
    groups = tuple(
        dataset_users(scores, sign, alpha=alpha, replicates=replicates, seed=seed) for scores in grouped.groups
    )
    names = grouped.whole.algorithms
    leader = _best(grouped.whole.values, names, sign)
    against = [
        (group.dataset, pair.right if pair.left == leader else pair.left, pair)
        for group in groups
        for pair in group.pairs
        if leader in (pair.left, pair.right)
    ]
    adjusted = holm(np.array([pair.p for _, _, pair in against]))
    worse = tuple(
        Worse(group, other, pair.difference, pair.low, pair.high, float(p))
        for (group, other, pair), p in zip(against, adjusted, strict=True)
        if p < alpha and pair.right == leader  # the better mean stands on the left
    )
    gaps = tuple(_gap(grouped, row, name, sign, alpha=alpha) for row, name in enumerate(names))
    return GroupUsers(grouped.dataset, grouped.attribute, leader, groups, gaps, worse)


def _best(values: FloatArray, names: tuple[str, ...], sign: float) -> str:
    return min(zip(-sign * values.mean(axis=1), names, strict=True))[1]


def _gap(grouped: GroupedScores, row: int, name: str, sign: float, alpha: float) -> Gap:
    """Between the groups that an algorithm serves best and worst."""
    values = [scores.values[row] for scores in grouped.groups]
    means, errors = (np.array(each) for each in zip(*((v.mean(), v.var(ddof=1) / len(v)) for v in values), strict=True))
    best, worst = int(np.argmax(sign * means)), int(np.argmin(sign * means))
    pairs = len(means) * (len(means) - 1) // 2
    difference, variance = abs(float(means[best] - means[worst])), float(errors[best] + errors[worst])
    low, high, p = difference, difference, 1.0
    if variance > 0:
        parts = [(errors[g] ** 2 / (len(values[g]) - 1)) for g in (best, worst)]
        degrees, error = variance**2 / sum(parts), np.sqrt(variance)
        margin = float(t_quantile(1 - alpha / (2 * pairs), degrees)) * error
        low, high = difference - margin, difference + margin
        p = min(1.0, pairs * 2 * float(t_sf(difference / error, degrees)))
    differences = [abs(a - b) for a, b in combinations(means.tolist(), 2)]
    named = [scores.dataset for scores in grouped.groups]
    return Gap(
        name, named[best], named[worst], difference, float(low), float(high), p, p < alpha, float(np.mean(differences))
    )


def _weighted(scores: WeightedScores, sign: float, alpha: float, replicates: int, seed: int) -> Weighted:
    plain, weighted = (
        dataset_users(s, sign, alpha=alpha, replicates=replicates, seed=seed) for s in (scores.plain, scores.weighted)
    )
    leader = plain.algorithms[0]
    beaten, still = _beaten(plain, leader), _beaten(weighted, leader)
    return Weighted(scores.label, plain, weighted, tuple(n for n in beaten if n not in still), scores.facts)


def _beaten(users: DatasetUsers, name: str) -> list[str]:
    """The algorithms that are significantly worse than this one."""
    return [pair.right for pair in users.pairs if pair.left == name and pair.significant]


def _run(results: Results, spec: AnalysisSpec) -> GroupsResult:
    evidence: GroupsEvidence = spec.required("groups")(spec.metric)
    return compare_groups(
        evidence,
        spec.metric,
        higher_is_better=results.direction(spec.metric, spec.higher_is_better),
        alpha=spec.alpha,
        replicates=min(spec.draws, REPLICATES),
        seed=spec.seed,
    )


ANALYSIS = Analysis(
    name="groups",
    question="Is the best {algorithm} the best for every group, and does weighting by exposure change who leads?",
    source="Ekstrand et al., All the cool kids, FAT* 2018; Yang et al., RecSys 2018; Welch 1947; Holm 1979",
    run=_run,
)
