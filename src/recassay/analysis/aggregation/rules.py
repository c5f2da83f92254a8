"""The ways to make one score per algorithm out of a metric on many datasets.

Each rule takes a `Contest` and dataset weights (replicates x datasets, each row summing to the number of datasets) and
returns scores (replicates x algorithms). With weights of one it is the aggregation itself; with bootstrap counts it is
all replicates at once. Sources: KDD'24 section 4.2.1 (mean ranks, means, Dolan-Moré, Copeland, Minimax) and
Vote'n'Rank (Rofin et al. 2023: Borda, Plurality, Dowdall).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from recassay.analysis.aggregation.contest import Contest, ratio_to_best
from recassay.analysis.aggregation.removal import FEW_SETS, ranks_by_sets, removal_ranks
from recassay.core import ties
from recassay.core.errors import UsageError
from recassay.core.names import did_you_mean
from recassay.core.tables.matrix import Matrix
from recassay.core.types import FloatArray

BETA_MAX = 3.0


def contributions(ratios: FloatArray, beta_max: float, step: float | None) -> FloatArray:
    """What a dataset adds to the area under each profile.

    The profile of algorithm i is p_i(beta) = share of datasets with ratio <= beta, a sum of steps, so the area on
    [1, beta_max] is the mean over datasets of max(0, beta_max - ratio): exact. With `step`, the integral is the
    trapezoid rule on the grid 1, 1 + step, ..., beta_max, as the authors computed it (step 0.1).
    """
    if step is None:
        # A ratio that ties with beta_max adds nothing: what rounding leaves of it would count as more than nothing.
        return np.where(ties.beats(beta_max, ratios), beta_max - ratios, 0.0)
    grid, beyond = _grid(beta_max, step)
    return beyond[np.searchsorted(grid, ratios, side="left")]


def _grid(beta_max: float, step: float | None) -> tuple[FloatArray, FloatArray]:
    """The grid, and by place on it the area from there on; empty without a step."""
    if step is None:
        return np.empty(0), np.empty(0)
    grid = np.linspace(1.0, beta_max, round((beta_max - 1) / step) + 1)
    weight = np.full(len(grid), grid[1] - grid[0])
    weight[[0, -1]] /= 2
    return grid, np.concatenate([np.cumsum(weight[::-1])[::-1], [0.0]])


LARGEST_BETA, MOST_STEPS = 1e6, 100_000


@dataclass(frozen=True, slots=True)
class DolanMore:
    """Options of the Dolan-Moré rules: the largest ratio that counts, and a grid step (None: exact integral)."""

    beta_max: float = BETA_MAX
    """The largest ratio that counts."""
    step: float | None = None
    """The step of a grid; None: the exact integral."""

    def __post_init__(self) -> None:
        if not 1 < self.beta_max <= LARGEST_BETA:
            raise UsageError(f"beta_max is {self.beta_max}", fix=f"give a ratio above 1 and up to {LARGEST_BETA:,.0f}")
        if self.step is not None and not (self.beta_max - 1) / MOST_STEPS <= self.step <= self.beta_max - 1:
            raise UsageError(
                f"beta_step is {self.step}", fix=f"give a step that parts 1 to beta_max into 1 to {MOST_STEPS:,} pieces"
            )


Scorer = Callable[[Contest, FloatArray, DolanMore], FloatArray]


@dataclass(frozen=True, slots=True)
class Rule:
    """An aggregation: its scorer, which end of the score is good, and what it needs.

    `best` is `highest` or `lowest`, or `metric`: the score is in the metric's own units and shares its direction.
    `same_as` names the rule that orders the algorithms alike, always: the two are one opinion, and count once.
    """

    name: str
    title: str
    best: Literal["highest", "lowest", "metric"]
    score: Scorer
    """The function that scores."""
    definition: str
    """What it computes, in words."""
    nonnegative: bool = False
    """Whether it needs values of at least 0."""
    same_as: str | None = None

    @property
    def short(self) -> str:
        """A title for a narrow column."""
        return self.title.replace("Geometric", "Geom.").replace("Harmonic", "Harm.")

    def higher_is_better(self, metric_higher_is_better: bool) -> bool:
        """Whether a higher score is better, for a metric of that direction."""
        return metric_higher_is_better if self.best == "metric" else self.best == "highest"


def _weighted(parts: FloatArray, weights: FloatArray) -> FloatArray:
    """Sum over datasets of weight x part: one table of parts, or one for each row of weights."""
    if len(parts) == 1:
        return weights @ parts[0].T
    total: FloatArray = np.matmul(parts, weights[:, :, None])[:, :, 0]
    return total


def _mean_rank(contest: Contest, weights: FloatArray, _: DolanMore) -> FloatArray:
    return _weighted(contest.ranks, weights) / weights.sum(axis=1, keepdims=True)


def _mean(contest: Contest, weights: FloatArray, _: DolanMore) -> FloatArray:
    return _weighted(contest.values, weights) / weights.sum(axis=1, keepdims=True)


def _zero_where_any_zero(contest: Contest, weights: FloatArray, score: FloatArray) -> FloatArray:
    return np.where(_weighted((contest.values == 0).astype(np.float64), weights) > 0, 0.0, score)


def _geometric_mean(contest: Contest, weights: FloatArray, _: DolanMore) -> FloatArray:
    logs = np.log(np.where(contest.values > 0, contest.values, 1.0))
    mean = np.exp(_weighted(logs, weights) / weights.sum(axis=1, keepdims=True))
    return _zero_where_any_zero(contest, weights, mean)


def _harmonic_mean(contest: Contest, weights: FloatArray, _: DolanMore) -> FloatArray:
    inverse = 1.0 / np.where(contest.values > 0, contest.values, np.inf)
    total = _weighted(inverse, weights)
    mean = weights.sum(axis=1, keepdims=True) / np.where(total > 0, total, np.inf)
    return _zero_where_any_zero(contest, weights, mean)


def _dm_auc(contest: Contest, weights: FloatArray, options: DolanMore) -> FloatArray:
    area = _weighted(contributions(contest.ratios, options.beta_max, options.step), weights)
    return area / area.sum(axis=1, keepdims=True)


def _dm_lbo(contest: Contest, weights: FloatArray, options: DolanMore) -> FloatArray:
    """Ranks by repeated removal of the algorithm with the largest area; those whose areas tie leave together and share
    the mean of their ranks."""
    upward, grid = contest.higher_is_better, _grid(options.beta_max, options.step)
    columns = np.ascontiguousarray(contest.values.transpose(0, 2, 1))
    ladder = np.argsort(-columns if upward else columns, axis=2, kind="stable")
    if len(columns) == 1 and contest.n_algorithms <= FEW_SETS:
        ratios = ratio_to_best(columns[0, :, None, :], columns[0, :, :, None], higher_is_better=upward)
        return ranks_by_sets(contributions(ratios, options.beta_max, options.step), ladder[0], weights)
    ranks = np.empty((len(weights), contest.n_algorithms))
    removal_ranks(ladder, columns, np.ascontiguousarray(weights), upward, options.beta_max, *grid, ranks)
    return ranks


def _copeland(contest: Contest, weights: FloatArray, _: DolanMore) -> FloatArray:
    return contest.outcomes(weights).balance


def _minimax(contest: Contest, weights: FloatArray, _: DolanMore) -> FloatArray:
    return 0.0 - contest.outcomes(weights).worst


def _borda(contest: Contest, weights: FloatArray, _: DolanMore) -> FloatArray:
    return _weighted(contest.points(np.arange(contest.n_algorithms - 1, -1, -1, dtype=np.float64)), weights)


def _plurality(contest: Contest, weights: FloatArray, _: DolanMore) -> FloatArray:
    first = np.zeros(contest.n_algorithms)
    first[0] = 1.0
    return _weighted(contest.points(first), weights)


def _dowdall(contest: Contest, weights: FloatArray, _: DolanMore) -> FloatArray:
    return _weighted(contest.points(1.0 / np.arange(1, contest.n_algorithms + 1)), weights)


RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        Rule("dm_auc", "DM AUC", "highest", _dm_auc,
             "share of the area under the Dolan-Moré profiles up to beta_max", nonnegative=True),
        Rule("dm_lbo", "DM LBO", "lowest", _dm_lbo,
             "round in which the algorithm leaves when the largest DM AUC is removed again and again",
             nonnegative=True),
        Rule("mean_rank", "Mean rank", "lowest", _mean_rank,
             "mean over datasets of the rank, 1 the best; ties share ranks"),
        Rule("mean", "Mean", "metric", _mean, "arithmetic mean over datasets"),
        Rule("geometric_mean", "Geometric mean", "metric", _geometric_mean,
             "exp of the mean log; 0 where any value is 0", nonnegative=True),
        Rule("harmonic_mean", "Harmonic mean", "metric", _harmonic_mean,
             "inverse of the mean inverse; 0 where any value is 0", nonnegative=True),
        Rule("copeland", "Copeland", "highest", _copeland,
             "algorithms beaten on more datasets than lost to, minus those that do so to it"),
        Rule("minimax", "Minimax", "highest", _minimax,
             "minus the most datasets lost to any algorithm that wins the duel; 0 when unbeaten"),
        Rule("borda", "Borda", "highest", _borda,
             "sum over datasets of the number of algorithms ranked below",
             same_as="mean_rank"),
        Rule("plurality", "Plurality", "highest", _plurality, "datasets on which it is best; ties share"),
        Rule("dowdall", "Dowdall", "highest", _dowdall, "sum over datasets of 1 / rank; ties share"),
    )
}  # fmt: skip


def distinct(rules: Iterable[Rule]) -> list[Rule]:
    """These rules without those that order the algorithms as another of them does (Borda is the mean rank)."""
    kept = list(rules)
    names = {rule.name for rule in kept}
    return [rule for rule in kept if rule.same_as not in names]


def first_shares(ranks: FloatArray) -> FloatArray:
    """Each row's win, shared by those that hold its best rank; the mean over rows is the probability of being first."""
    first = ranks == ranks.min(axis=1, keepdims=True)
    return first / first.sum(axis=1, keepdims=True)


def choose_rules(names: Sequence[str] | None) -> list[Rule]:
    """The rules of these names, in the order of `RULES`; an unknown one raises with the nearest."""
    if names is None:
        return list(RULES.values())
    for name in names:
        if name not in RULES:
            raise UsageError(f"unknown aggregation {name!r}", fix=did_you_mean(name, RULES))
    if len(set(names)) < len(names):
        raise UsageError("an aggregation is asked for twice", fix="name each once")
    return [rule for name, rule in RULES.items() if name in names]


def applicable(rules: Collection[Rule], matrix: Matrix) -> tuple[list[Rule], dict[str, str]]:
    """Those of the rules that the values of a matrix allow, and by name why the others do not apply."""
    negative = bool((matrix.values < 0).any())
    why = f"needs values of at least 0, and {matrix.metric} has negative ones"
    skipped = {rule.name: why for rule in rules if rule.nonnegative and negative}
    return [rule for rule in rules if rule.name not in skipped], skipped
