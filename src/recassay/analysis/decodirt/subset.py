"""Half of the datasets that ranks classifiers as all of them do, and how well it does (sections 5.2 and 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recassay.analysis.decodirt.ratings import Baselines, BenchmarkSet, SetRatings, baselines, score_table
from recassay.analysis.decodirt.traits import DatasetTraits
from recassay.analysis.glicko.result import GlickoResult
from recassay.analysis.glicko.system import round_robin, tournament
from recassay.core.seeds import derived_rng
from recassay.core.system.display import worded
from recassay.core.ties import ROUNDING
from recassay.core.types import FloatArray, IntArray

DRAWS = 500
"""Random orders of a subset, and random subsets of the same size."""

FEWEST_REAL = 3
"""With fewer real classifiers their order says nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class SubsetCandidate:
    """A half of the datasets: where the artificial bounds end, how far apart it rates, how it agrees with the whole.

    `separated` is the share of the pairs of real classifiers whose 95 % intervals of the rating do not overlap; `tau`
    as in `Recommendation`. Both are None where fewer than three real classifiers are rated.
    """

    set: BenchmarkSet
    """The datasets of the half."""
    baselines: Baselines
    """Where the artificial bounds ended."""
    separated: float | None
    tau: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Recommendation:
    """The recommended datasets, the candidates they were chosen from, and what chance reaches.

    `tau` is Kendall's tau between the ratings of the real classifiers on the subset and on all datasets: the median
    over random orders of the subset, the ratings on all datasets being medians over random orders too. `random_tau` is
    the 2.5 %, 50 % and 97.5 % quantile of it for random subsets of the same size, `beaten` the share of these that
    agree no better. `left_out` are datasets of the chosen half whose mean discrimination is negative; `overlap` is the
    share of datasets that the two halves of least variation have in common.
    """

    set: BenchmarkSet
    """The half that was chosen."""
    datasets: tuple[str, ...]
    """The recommended datasets of it."""
    left_out: tuple[str, ...]
    candidates: tuple[SubsetCandidate, ...]
    """The halves that it was chosen from."""
    tau: float | None
    random_tau: tuple[float, float, float] | None
    beaten: float | None
    overlap: float

    @property
    def rule(self) -> str:
        """How it was chosen, in words."""
        return str(worded("decodirt", "rule", self))


def recommend(
    traits: Sequence[DatasetTraits], ratings: Sequence[SetRatings], real: Sequence[str], *, seed: int = 0
) -> Recommendation | None:
    """Choose a half by the `rule`, which puts the paper's reasons in order; None where there are no halves.

    The paper asks that the artificial classifiers end where they must and that ratings lie far apart, and advises
    against datasets with negative discrimination; it ends with the half whose difficulty varies least. A half shares
    its datasets with the whole, so it agrees better than new datasets would: compare with random halves.
    """
    halves = [rated for rated in ratings if rated.set.half]
    if not halves:
        return None
    whole = next(rated for rated in ratings if not rated.set.half).all
    scores = round_robin(score_table(traits, whole.datasets, whole.algorithms, negative=True), higher_is_better=True)
    at = [whole.algorithms.index(name) for name in real]
    left, right = np.triu_indices(len(at), 1)
    order_on_all = np.sign(whole.spread[1, at][left] - whole.spread[1, at][right])

    def taus(orders: IntArray) -> FloatArray:
        """Kendall's tau with the ratings on all datasets, of the tournament in each of these orders."""
        final = tournament(scores, orders, tau=whole.tau)[:, -1, 0][:, at]
        return np.asarray((np.sign(final[:, left] - final[:, right]) * order_on_all).mean(axis=1))

    def agreement(datasets: Sequence[str]) -> float | None:
        """The median over random orders of these datasets."""
        if len(real) < FEWEST_REAL:
            return None
        rng = derived_rng(seed, "orders of a subset", *datasets)
        chosen = np.array([whole.datasets.index(name) for name in datasets], dtype=np.int64)
        return float(np.median(taus(chosen[np.argsort(rng.random((DRAWS, len(chosen))), axis=1)])))

    candidates = tuple(
        SubsetCandidate(rated.set, baselines(rated.all), _separated(rated.all, real), agreement(rated.set.datasets))
        for rated in halves
    )
    chosen = min(
        candidates,
        key=lambda half: (half.baselines.faults, not half.set.name.startswith("least"), -(half.separated or 0.0)),
    )
    means = {dataset.dataset: dataset.statistics()["mean_discrimination"] for dataset in traits}
    datasets = tuple(name for name in chosen.set.datasets if means[name] >= 0) or chosen.set.datasets
    tau, random_tau, beaten = agreement(datasets), None, None
    if tau is not None:
        draws = derived_rng(seed, "random subsets").random((DRAWS, len(whole.datasets)))
        drawn = taus(np.argsort(draws, axis=1)[:, : len(datasets)])
        random_tau = tuple(np.quantile(drawn, [0.025, 0.5, 0.975]).tolist())
        beaten = float(np.mean(drawn <= tau + ROUNDING))
    least = [set(rated.set.datasets) for rated in halves if rated.set.name.startswith("least")]
    return Recommendation(
        set=chosen.set,
        datasets=datasets,
        left_out=tuple(name for name in chosen.set.datasets if name not in datasets),
        candidates=candidates,
        tau=tau,
        random_tau=random_tau,
        beaten=beaten,
        overlap=len(least[0] & least[1]) / len(least[0]),
    )


def _separated(result: GlickoResult, real: Sequence[str]) -> float | None:
    if len(real) < FEWEST_REAL or result.bounds is None:
        return None
    ends = result.intervals()[[result.algorithms.index(name) for name in real]]
    separated = ends[:, None, 0] > ends[None, :, 1]
    return float(separated.sum() / (len(real) * (len(real) - 1) / 2))
