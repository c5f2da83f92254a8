"""How a choice of datasets is judged: on all algorithms, on algorithms and metrics it did not see, and by size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from recassay.analysis.aggregation.rules import RULES, Rule, applicable
from recassay.analysis.dataset_space.space import DatasetSpace
from recassay.analysis.inference.bootstrap import random_subsets, subset_weights
from recassay.analysis.select.methods import Criterion, SubsetAgreement, best_subset, simulate
from recassay.analysis.select.result import PRESERVING, CurvePoint, DatasetChoice, Spread
from recassay.core.seeds import derived_rng
from recassay.core.tables.matrix import Matrix
from recassay.core.ties import ROUNDING
from recassay.core.types import FloatArray, IntArray

FEWEST_ALGORITHMS = 6
"""Below, a half of the algorithms has no ranking worth the name."""

_CURVE_SIMULATIONS = 200
_SHUFFLES = 999


Halves: TypeAlias = Sequence[tuple[IntArray, IntArray]]
"""Algorithms split in two: pairs of those that are chosen on and those that judge."""


def draw_halves(n_algorithms: int, splits: int, rng: np.random.Generator) -> Halves:
    """`splits` random halvings, each half once in either part; none with fewer than `FEWEST_ALGORITHMS`."""
    pairs: list[tuple[IntArray, IntArray]] = []
    for _ in range(splits if n_algorithms >= FEWEST_ALGORITHMS else 0):
        order = rng.permutation(n_algorithms)
        first, second = np.sort(order[: n_algorithms // 2]), np.sort(order[n_algorithms // 2 :])
        pairs += [(first, second), (second, first)]
    return pairs


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What every choice is judged on."""

    matrix: Matrix
    rule: Rule
    others: Mapping[str, Matrix]
    space: DatasetSpace | None
    seed: int

    def judge(
        self, names: Sequence[str], k: int, halves: Halves, subsets: Mapping[str, FloatArray]
    ) -> dict[str, DatasetChoice]:
        """The choice of every method with all its numbers; `subsets` are what each method gives, and `random`."""
        whole = self._agreement(self.matrix)
        elsewhere = {name: self._agreement(other) for name, other in self.others.items()}
        inner = [self._agreement(self.matrix, judges) for _, judges in halves]
        both = [[self._agreement(other, judges) for other in self.others.values()] for _, judges in halves]
        by_chance = subsets["random"]
        chance, chance_inner = whole.rho(by_chance), [each.left_out(by_chance) for each in inner]
        choices = {}
        for name in names:
            looked = name == PRESERVING
            weights = subsets[name]
            unseen = self._unseen(name, k, halves, weights)
            rho = whole.rho(weights)
            metrics = {other: each.rho(weights) for other, each in elsewhere.items()}
            held = [each.left_out(chosen) for each, chosen in zip(inner, unseen, strict=True)]
            crossed = [
                np.mean([each.left_out(chosen) for each in row], axis=0)
                for row, chosen in zip(both, unseen, strict=True)
                if row
            ]
            against = [_above(each, random) for each, random in zip(held, chance_inner, strict=True)]
            choices[name] = DatasetChoice(
                method=name,
                datasets=()
                if name == "random"
                else tuple(sorted(self.matrix.datasets[d] for d in np.flatnonzero(weights[0]))),
                rho=_of_choice(name, rho),
                better_than_random=0.5 if name == "random" else _above(rho[:1], chance),
                simulated=None if looked else Spread.of(rho),
                left_out=Spread.of(whole.left_out(weights)),
                by_metric={other: _of_choice(name, r) for other, r in metrics.items()},
                simulated_by_metric=None if looked else {other: Spread.of(r) for other, r in metrics.items()},
                held_out_algorithms=Spread.of(np.concatenate(held)) if held else None,
                held_out_better_than_random=float(np.mean(against)) if against else None,
                held_out_p=self._luck(inner, unseen, held) if looked and held else None,
                held_out_both=Spread.of(np.concatenate(crossed)) if crossed else None,
            )
        return choices

    def by_rule(self, subsets: Mapping[str, FloatArray]) -> dict[str, dict[str, float]]:
        """The rho of every method's choice under every aggregation that the values allow."""
        allowed, _ = applicable(RULES.values(), self.matrix)
        agreements = {rule.name: replace(self, rule=rule)._agreement(self.matrix) for rule in allowed}
        by_rule = {}
        for name, weights in subsets.items():
            few = weights[: 100 if name == "random" else 1]
            by_rule[name] = {rule: float(agreement.rho(few).mean()) for rule, agreement in agreements.items()}
        return by_rule

    def _names(self, chosen: FloatArray) -> tuple[str, ...]:
        return tuple(sorted(self.matrix.datasets[d] for d in np.flatnonzero(chosen)))

    def curve(self, names: Sequence[str], k: int, halves: Halves) -> Iterator[CurvePoint]:
        """Agreement at this k: on all algorithms, and on those held out."""
        whole = self._agreement(self.matrix)
        inner = [self._agreement(self.matrix, judges) for _, judges in halves]
        for name in names:
            weights = self.subsets(name, k, _CURVE_SIMULATIONS)
            yield CurvePoint(name, k, False, Spread.of(whole.rho(weights)))
            if inner:
                unseen = self._unseen(name, k, halves, weights)
                held = [each.left_out(chosen) for each, chosen in zip(inner, unseen, strict=True)]
                yield CurvePoint(name, k, True, Spread.of(np.concatenate(held)))

    def _agreement(self, matrix: Matrix, algorithms: IntArray | None = None) -> SubsetAgreement:
        values = matrix.values if algorithms is None else matrix.values[algorithms]
        return SubsetAgreement(values, self.rule, higher_is_better=matrix.higher_is_better)

    def subsets(self, name: str, k: int, runs: int) -> FloatArray:
        """The subsets that a method gives, as rows of weights, its choice first."""
        if name == PRESERVING:
            return self._preserving(k)
        n = len(self.matrix.datasets)
        rng = derived_rng(self.seed, "selection", name, str(k))
        return subset_weights(simulate(name, self.space, n, k, runs, rng), n)

    def _unseen(self, name: str, k: int, halves: Halves, weights: FloatArray) -> list[FloatArray]:
        """For each pair of halves, the subsets that a method gives without the algorithms that judge.

        Only `preserving` looks at results: it chooses on the first half. `weights` are those of the others.
        """
        if name != PRESERVING:
            return [weights] * len(halves)
        return [self._preserving(k, on, str(i)) for i, (on, _) in enumerate(halves)]

    def _preserving(self, k: int, algorithms: IntArray | None = None, *half: str) -> FloatArray:
        """The subset that preserves the ranking of these algorithms best (None: of all), as one row of weights."""
        rng = derived_rng(self.seed, "preserving", str(k), *half)
        agreement = self._agreement(self.matrix, algorithms)
        return subset_weights(best_subset(Criterion(agreement, rng), k, rng)[None], agreement.n_datasets)

    def _luck(
        self, inner: Sequence[SubsetAgreement], unseen: Sequence[FloatArray], held: Sequence[FloatArray]
    ) -> float:
        """How often random subsets do as well: the same for every half, with the datasets' names shuffled.

        The halves share algorithms and their subsets share datasets, so that their mean varies more than they do; a
        shuffle applied to all of them alike keeps that dependence. On noise the p-value is uniform.
        """
        n = len(self.matrix.datasets)
        order = random_subsets(n, n, _SHUFFLES, derived_rng(self.seed, "selection shuffles"))
        shuffled = np.mean([each.left_out(mine[0][order]) for each, mine in zip(inner, unseen, strict=True)], axis=0)
        reached = float(np.mean([rho[0] for rho in held]))
        return float((1 + (shuffled >= reached - ROUNDING).sum()) / (1 + _SHUFFLES))


def _of_choice(name: str, rho: FloatArray) -> float:
    """The rho of a method's choice; `random` makes none, so its mean stands for it."""
    return float(rho.mean() if name == "random" else rho[0])


def _above(values: FloatArray, reference: FloatArray) -> float:
    """The probability that a random one of `values` exceeds a random one of `reference`, ties by half."""
    ascending = np.sort(reference)
    below = np.searchsorted(ascending, values - ROUNDING, side="left")
    not_above = np.searchsorted(ascending, values + ROUNDING, side="right")
    return float((below + not_above).mean() / (2 * len(reference)))
