"""Paired tests over users: permutation on each dataset, Holm within it, and a random-effects summary over datasets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TypeAlias

import numpy as np

from recassay.analysis.inference.bootstrap import expanded_tail, refuse_few
from recassay.analysis.inference.distributions import t_quantile
from recassay.analysis.inference.significance import holm
from recassay.analysis.users.gains import find_gains
from recassay.analysis.users.random_effects import random_effects
from recassay.analysis.users.result import (
    LEAST_DATASETS,
    DatasetUsers,
    PairSummary,
    Uplift,
    UserPair,
    UsersResult,
    Window,
)
from recassay.analysis.users.sign_flip import sign_flip_p
from recassay.analysis.users.uplift import choose_reference, uplifts
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.blocks import number_blocks
from recassay.core.choices import refuse_level
from recassay.core.errors import NotApplicableError, UsageError
from recassay.core.names import canonical, did_you_mean
from recassay.core.seeds import derived_rng
from recassay.core.tables.results import Results
from recassay.core.tables.scores import GainScores, UserScores
from recassay.core.types import FloatArray, IntArray

GainsOf: TypeAlias = Callable[[str, str, Sequence[str]], GainScores]
"""From a dataset, a metric and two algorithms to their scores by user and held-out event."""

WindowsOf: TypeAlias = Callable[[str, str], Mapping[str, Mapping[str, float]]]
"""From a dataset and a metric to the mean of each algorithm in each window of time."""

LEAST_USERS = 2
_BLOCK = 1 << 23


def compare_users(
    scores: Sequence[UserScores],
    metric: str,
    *,
    higher_is_better: bool,
    alpha: float = 0.05,
    replicates: int = 10_000,
    seed: int = 0,
    skipped: Mapping[str, str] | None = None,
    control: str | None = None,
    own_lists: Collection[str] = (),
    gains: GainsOf | None = None,
    windows: WindowsOf | None = None,
) -> UsersResult:
    """On each dataset every pair of algorithms, and over the datasets what the pairs add up to.

    A user is the unit: the differences of two algorithms are paired by user. Their mean is tested by flipping signs
    (`sign_flip`), p-values are adjusted by Holm's step-down over the pairs of a dataset, and the intervals of means and
    differences come from a bootstrap over users (`user_intervals`), at level 1 - alpha. Over
    datasets a pair has wins, ties and losses (significant on the dataset or not), and from three datasets on a
    random-effects summary of its mean differences (`random_effects`), whose p-values are adjusted over all pairs.
    `skipped` says, by name, which datasets have no scores to compare.

    Every algorithm has its uplift over a reference in percent (`uplift.choose_reference`, `uplift.uplifts`): `control`,
    else the first of `own_lists`, else the most popular items. Of a single dataset, `gains` gives the scores of two
    algorithms by user and held-out event (`gains.find_gains`), and `windows` the means in windows of time.
    """
    refuse_level(alpha)
    refuse_few(replicates)
    left_out = dict(skipped or {})
    usable = []
    for table in scores:
        names = table.algorithms
        if len(names) < 2:
            left_out[table.dataset] = f"only {names[0]} has scores" if names else "nothing has scores"
        elif table.users < LEAST_USERS:
            left_out[table.dataset] = f"{table.users} users have a score for every algorithm"
        else:
            usable.append(table)
    if not usable:
        reasons = "; ".join(f"{name}: {why}" for name, why in left_out.items()) or "no dataset has per-user scores"
        raise NotApplicableError(f"no two algorithms can be compared on users by {metric} ({reasons})")
    if control is not None and canonical(control) not in {canonical(n) for table in usable for n in table.algorithms}:
        known = sorted({name for table in usable for name in table.algorithms})
        raise UsageError(f"the control {control!r} is not one of the algorithms", fix=did_you_mean(control, known))
    sign = 1.0 if higher_is_better else -1.0
    datasets = tuple(
        _against_reference(
            dataset_users(table, sign, alpha=alpha, replicates=replicates, seed=seed),
            table,
            sign,
            alpha=alpha,
            control=control,
            own_lists=own_lists,
        )
        for table in usable
    )
    if len(datasets) == 1:
        datasets = (_with_groups(datasets[0], metric, sign, alpha=alpha, gains=gains, windows=windows),)
    algorithms = _overall_order(datasets)
    return UsersResult(
        metric=metric,
        higher_is_better=higher_is_better,
        algorithms=algorithms,
        datasets=datasets,
        summary=_summary(datasets, usable, algorithms, sign, alpha=alpha) if len(datasets) > 1 else (),
        alpha=alpha,
        confidence=1 - alpha,
        replicates=replicates,
        skipped=left_out,
    )


def dataset_users(scores: UserScores, sign: float, alpha: float, replicates: int, seed: int) -> DatasetUsers:
    """The means, intervals and pairs of one dataset; `sign` is -1 where lower is better."""
    means = scores.values.mean(axis=1)
    order = sorted(range(len(means)), key=lambda a: (-sign * means[a], scores.algorithms[a]))
    values, names = scores.values[order], [scores.algorithms[a] for a in order]
    left, right = np.triu_indices(len(names), k=1)
    # By the number of users alone: an interval does not change with names, or with who else is in the table.
    rng = derived_rng(seed, "users", str(scores.users))
    spans, gap_spans = user_intervals(values, left, right, confidence=1 - alpha, replicates=replicates, rng=rng)
    if sign < 0:
        gap_spans = -gap_spans[:, ::-1]
    difference, spread, p = (np.empty(len(left)) for _ in range(3))
    tally = np.empty((3, len(left)), dtype=np.int64)
    for part in number_blocks(len(left), scores.users, _BLOCK):
        gaps = sign * (values[left[part]] - values[right[part]]).T
        difference[part], spread[part] = gaps.mean(axis=0), gaps.std(axis=0, ddof=1)
        p[part] = sign_flip_p(gaps, derived_rng(seed, "signs of users", str(scores.users)))
        tally[:, part] = (gaps > 0).sum(axis=0), (gaps == 0).sum(axis=0), (gaps < 0).sum(axis=0)
    adjusted = holm(p)
    ordered = means[order]
    pairs = tuple(
        UserPair(
            left=names[a],
            right=names[b],
            difference=float(difference[i]),
            low=float(gap_spans[i, 0]),
            high=float(gap_spans[i, 1]),
            relative=float(difference[i] / abs(ordered[b])) if ordered[b] != 0 else None,
            effect=float(difference[i] / spread[i]) if spread[i] > 0 else 0.0,
            p=float(p[i]),
            p_holm=float(adjusted[i]),
            significant=bool(adjusted[i] < alpha),
            better=int(tally[0, i]),
            equal=int(tally[1, i]),
            worse=int(tally[2, i]),
        )
        for i, (a, b) in enumerate(zip(left.tolist(), right.tolist(), strict=True))
    )
    return DatasetUsers(
        dataset=scores.dataset,
        users=scores.users,
        left_out=scores.left_out,
        algorithms=tuple(names),
        means=tuple(ordered.tolist()),
        low=tuple(spans[:, 0].tolist()),
        high=tuple(spans[:, 1].tolist()),
        pairs=pairs,
    )


def _against_reference(
    users: DatasetUsers, scores: UserScores, sign: float, alpha: float, control: str | None, own_lists: Collection[str]
) -> DatasetUsers:
    """With the reference, and by what share each other algorithm is better than it."""
    reference = choose_reference(users.algorithms, control=control, own_lists=own_lists)
    if reference is None:
        return users
    row = {name: values for name, values in zip(scores.algorithms, scores.values, strict=True)}
    shares = uplifts(np.stack([row[name] for name in users.algorithms]), row[reference.name], confidence=1 - alpha)
    found = [
        None if name == reference.name or np.isnan(share) else Uplift(*_upward(share, low, high, sign))
        for name, (share, low, high) in zip(users.algorithms, shares.tolist(), strict=True)
    ]
    return replace(users, reference=reference, uplifts=tuple(found))


def _upward(share: float, low: float, high: float, sign: float) -> tuple[float, float, float]:
    """An uplift of which more is better: of an error, how much of the reference's it saves."""
    return (share, low, high) if sign > 0 else (-share, -high, -low)


def _with_groups(
    users: DatasetUsers, metric: str, sign: float, alpha: float, gains: GainsOf | None, windows: WindowsOf | None
) -> DatasetUsers:
    """With the best algorithm (of the others, where it is the reference) against the reference by group; and with the
    windows of time."""
    if gains is not None and users.reference is not None:
        base = users.reference.name
        best = next(name for name in users.algorithms if name != base)

        def interval(gaps: FloatArray) -> tuple[float, float]:
            low, high = difference_intervals(gaps[None], confidence=1 - alpha)[0].tolist()
            return low, high

        try:
            scores = gains(users.dataset, metric, (best, base))
        except NotApplicableError:  # what a study no longer keeps
            return users
        found = find_gains(scores, best, base, higher_is_better=sign > 0, intervals=interval)
        users = replace(users, gains=tuple(found))
    if windows is not None:
        means = windows(users.dataset, metric)
        whole = {
            name: by_algorithm for name, by_algorithm in means.items() if set(users.algorithms) <= by_algorithm.keys()
        }
        if len(whole) > 1:
            shown = (
                Window(name, tuple(by_algorithm[a] for a in users.algorithms)) for name, by_algorithm in whole.items()
            )
            users = replace(users, windows=tuple(shown))
    return users


def _overall_order(datasets: Sequence[DatasetUsers]) -> tuple[str, ...]:
    """By the mean rank over the datasets that an algorithm has, as a share of those ranked there."""
    places: dict[str, list[float]] = {}
    for dataset in datasets:
        for rank, name in enumerate(dataset.algorithms, start=1):
            places.setdefault(name, []).append(rank / len(dataset.algorithms))
    return tuple(sorted(places, key=lambda name: (np.mean(places[name]), name)))


def _summary(
    datasets: Sequence[DatasetUsers],
    scores: Sequence[UserScores],
    algorithms: tuple[str, ...],
    sign: float,
    alpha: float,
) -> tuple[PairSummary, ...]:
    position = [{name: i for i, name in enumerate(score.algorithms)} for score in scores]
    shown = [{(pair.left, pair.right): pair.significant for pair in dataset.pairs} for dataset in datasets]
    summaries = []
    for left, right in combinations(algorithms, 2):
        having = [d for d, names in enumerate(position) if left in names and right in names]
        if not having:
            continue
        wins = sum(shown[d].get((left, right), False) for d in having)
        losses = sum(shown[d].get((right, left), False) for d in having)
        effects = None
        if len(having) >= LEAST_DATASETS:
            gaps = [sign * (scores[d].values[position[d][left]] - scores[d].values[position[d][right]]) for d in having]
            effects = random_effects(
                np.array([gap.mean() for gap in gaps]),
                np.array([gap.var(ddof=1) / len(gap) for gap in gaps]),
                confidence=1 - alpha,
            )
        summaries.append(PairSummary(left, right, wins, len(having) - wins - losses, losses, effects))
    p = np.array([np.nan if pair.effects is None else pair.effects.p for pair in summaries])
    known = np.flatnonzero(np.isfinite(p))
    for i, adjusted in zip(known, holm(p[known]).tolist(), strict=True):
        summaries[i] = replace(summaries[i], p_holm=adjusted, significant=adjusted < alpha)
    return tuple(summaries)


def _run(results: Results, spec: AnalysisSpec) -> UsersResult:
    scores, skipped = spec.required("users")(spec.metric)
    return compare_users(
        scores,
        spec.metric,
        higher_is_better=results.direction(spec.metric, spec.higher_is_better),
        alpha=spec.alpha,
        replicates=spec.draws,
        seed=spec.seed,
        skipped=skipped,
        control=spec.control,
        own_lists=spec.known("own_lists") or (),
        gains=spec.known("gains"),
        windows=spec.known("windows"),
    )


ANALYSIS = Analysis(
    name="users",
    question="On the {users} of each {dataset}, which differences are more than luck, and what do they add up to?",
    source="Fisher 1935 (sign-flip test); Holm 1979; DerSimonian and Laird 1986; Hartung and Knapp 2001",
    run=_run,
)


MOST_DRAWS = 10_000_000
"""Users times replicates; with more users there are fewer replicates, at least `KEPT_REPLICATES`."""

KEPT_REPLICATES = 1000
_DRAWN_AT_ONCE = 1 << 18


def user_intervals(
    values: FloatArray, left: IntArray, right: IntArray, *, confidence: float, replicates: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Intervals of the mean of each algorithm (algorithms x 2) and of each mean difference (pairs x 2).

    Means: percentile intervals of a bootstrap over users with the tail expanded for n users (`expanded_tail`).
    Differences: Student's t with Hall's correction for skewness (`skewed_intervals`). Scores of users are sparse: with
    few users hit, a sample shows too little of what can happen, and plain intervals hold the truth in far fewer cases
    than they say. So two users are added: with differences +m and -m, and for a mean with scores m and 0, m being the
    root mean square of those that are not 0 (1 where all are). For hits that is the interval of Bonett and Price (2012)
    for paired proportions; with thousands of users it changes nothing.
    """
    n = values.shape[1] + 2
    height = max(min(replicates, MOST_DRAWS // n), min(replicates, KEPT_REPLICATES))
    typical = _root_mean_square(values.T)
    means = np.empty((height, len(values)))
    for part in number_blocks(height, n, _DRAWN_AT_ONCE):
        weight = _draws(n, replicates=part.stop - part.start, rng=rng)
        means[part] = (weight[:, :-2] @ values.T + np.outer(weight[:, -1], typical)) / n
    tail = expanded_tail(confidence, n)
    spans = np.empty((len(left), 2))
    for part in number_blocks(len(left), n, _DRAWN_AT_ONCE):
        spans[part] = difference_intervals(values[left[part]] - values[right[part]], confidence=confidence)
    return np.quantile(means, [tail, 1 - tail], axis=0).T, spans


def difference_intervals(gaps: FloatArray, confidence: float) -> FloatArray:
    """Intervals of the mean of each row of differences (rows x 2), with the two added users of `user_intervals`."""
    added = _root_mean_square(gaps.T)[:, None]
    return skewed_intervals(np.hstack([gaps, added, -added]), confidence=confidence)


def skewed_intervals(values: FloatArray, confidence: float) -> FloatArray:
    """Intervals of the mean of each row (rows x 2) that allow for skewness (Hall 1992, *JRSS B* 54, 221-228).

    With T = sqrt(n) (mean - truth) / s and a = skewness / sqrt(n), g(T) = T + a T^2 / 3 + a^2 T^3 / 27 + a / 6 is
    nearer to Student's t than T is; g is turned round at both ends of t.
    """
    n = values.shape[1]
    mean, error = values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(n)
    centred = values - mean[:, None]
    deviation = np.sqrt((centred**2).mean(axis=1))
    a = (centred**3).mean(axis=1) / np.maximum(deviation, 1e-300) ** 3 / np.sqrt(n)
    straight = np.abs(a) < 1e-6
    safe = np.where(straight, 1.0, a)
    t = float(t_quantile(0.5 + confidence / 2, n - 1))
    ends = [
        mean - error * np.where(straight, at, 3 / safe * (np.cbrt(1 + safe * (at - safe / 6)) - 1)) for at in (t, -t)
    ]
    return np.stack(ends, axis=1)


def _draws(n: int, replicates: int, rng: np.random.Generator) -> FloatArray:
    """How often each of n users was drawn in each replicate."""
    drawn = rng.integers(0, n, size=(replicates, n))
    drawn += (np.arange(replicates) * n)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=replicates * n)
    return counts.reshape(replicates, n).astype(np.float64)


def _root_mean_square(columns: FloatArray) -> FloatArray:
    nonzero = np.count_nonzero(columns, axis=0)
    squares = (columns**2).sum(axis=0)
    return np.where(nonzero > 0, np.sqrt(squares / np.maximum(nonzero, 1)), 1.0)
