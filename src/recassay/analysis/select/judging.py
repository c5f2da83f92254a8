"""How a choice of datasets is judged: on all algorithms, on algorithms and metrics it did not see, and by size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from recassay.analysis.aggregation.rules import RULES, Rule
from recassay.analysis.dataset_space.space import DatasetSpace
from recassay.analysis.inference.bootstrap import random_subsets, subset_weights
from recassay.analysis.select.methods import preserving, simulate
from recassay.analysis.select.result import PRESERVING, CurvePoint, DatasetChoice, Spread
from recassay.analysis.select.subsets import SubsetAgreement
from recassay.core.seeds import derived_rng
from recassay.core.tables.matrix import Matrix
from recassay.core.ties import ROUNDING
from recassay.core.types import FloatArray, IntArray

FEWEST_ALGORITHMS = 6
"""Below, a half of the algorithms has no ranking worth the name."""

_CURVE_SIMULATIONS = 200
_SHUFFLES = 999


@dataclass(frozen=True, slots=True, eq=False)
class Halves:
    """Algorithms split in two: pairs (those that are chosen on, those that judge), each half once in either part."""

    pairs: tuple[tuple[IntArray, IntArray], ...]

    @classmethod
    def draw(cls, n_algorithms: int, splits: int, rng: np.random.Generator) -> Halves:
        """`splits` random halvings; none where there are fewer than `FEWEST_ALGORITHMS`."""
        pairs: list[tuple[IntArray, IntArray]] = []
        for _ in range(splits if n_algorithms >= FEWEST_ALGORITHMS else 0):
            order = rng.permutation(n_algorithms)
            first, second = np.sort(order[: n_algorithms // 2]), np.sort(order[n_algorithms // 2 :])
            pairs += [(first, second), (second, first)]
        return cls(tuple(pairs))


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What every choice is judged on."""

    matrix: Matrix
    rule: Rule
    others: Mapping[str, Matrix]
    space: DatasetSpace | None
    seed: int
    known: dict[tuple[str, int, int], FloatArray] = field(default_factory=dict)
    """Subsets by method, size and number of simulations: what was chosen once is not chosen again."""

    def judge(self, names: Sequence[str], k: int, halves: Halves, simulations: int) -> dict[str, DatasetChoice]:
        """The choice of every method with all its numbers."""
        whole = self._agreement(self.matrix)
        inner = [self._agreement(self.matrix, judges) for _, judges in halves.pairs]
        both = [[self._agreement(other, judges) for other in self.others.values()] for _, judges in halves.pairs]
        by_chance = self._weights("random", k, simulations)
        chance, chance_inner = whole.rho(by_chance), [each.apart(by_chance) for each in inner]
        elsewhere = {name: self._agreement(other) for name, other in self.others.items()}
        nested = self._nested(k, halves) if PRESERVING in names else []
        choices = {}
        for name in names:
            looked = name == PRESERVING
            weights = self._weights(name, k, simulations)
            rho = whole.rho(weights)
            metrics = {other: each.rho(weights) for other, each in elsewhere.items()}
            held = [each.apart(nested[i] if looked else weights) for i, each in enumerate(inner)]
            crossed = [
                np.mean([each.apart(nested[i] if looked else weights) for each in row], axis=0)
                for i, row in enumerate(both)
                if row
            ]
            against = [_above(each, random) for each, random in zip(held, chance_inner, strict=True)]
            choices[name] = DatasetChoice(
                method=name,
                datasets=() if name == "random" else self._names(weights[0]),
                rho=_of_choice(name, rho),
                better_than_random=0.5 if name == "random" else _above(rho[:1], chance),
                simulated=None if looked else Spread.of(rho),
                left_out=Spread.of(whole.apart(weights)),
                by_metric={other: _of_choice(name, r) for other, r in metrics.items()},
                simulated_by_metric=None if looked else {other: Spread.of(r) for other, r in metrics.items()},
                held_out_algorithms=Spread.of(np.concatenate(held)) if held else None,
                held_out_better_than_random=float(np.mean(against)) if against else None,
                held_out_p=self._luck(inner, nested, held) if looked and held else None,
                held_out_both=Spread.of(np.concatenate(crossed)) if crossed else None,
            )
        return choices

    def by_rule(self, names: Sequence[str], k: int, simulations: int) -> dict[str, dict[str, float]]:
        """The rho of every method's choice under every aggregation that the values allow."""
        negative = bool((self.matrix.values < 0).any())
        rules = [rule for rule in RULES.values() if not (rule.nonnegative and negative)]
        weights = {name: self._weights(name, k, simulations) for name in names}
        found: dict[str, dict[str, float]] = {name: {} for name in names}
        for rule in rules:
            agreement = SubsetAgreement(self.matrix.values, rule, higher_is_better=self.matrix.higher_is_better)
            for name in names:
                few = weights[name][:100] if name == "random" else weights[name][:1]
                found[name][rule.name] = float(agreement.rho(few).mean())
        return found

    def curve(self, names: Sequence[str], k: int, halves: Halves) -> list[CurvePoint]:
        """Agreement at this k: on all algorithms, and on those held out."""
        whole = self._agreement(self.matrix)
        inner = [self._agreement(self.matrix, judges) for _, judges in halves.pairs]
        nested = self._nested(k, halves) if PRESERVING in names else []
        points = []
        for name in names:
            weights = self._weights(name, k, _CURVE_SIMULATIONS)
            points.append(CurvePoint(name, k, False, Spread.of(whole.rho(weights))))
            if inner:
                held = [each.apart(nested[i] if name == PRESERVING else weights) for i, each in enumerate(inner)]
                points.append(CurvePoint(name, k, True, Spread.of(np.concatenate(held))))
        return points

    def _agreement(self, matrix: Matrix, algorithms: IntArray | None = None) -> SubsetAgreement:
        values = matrix.values if algorithms is None else matrix.values[algorithms]
        return SubsetAgreement(values, self.rule, higher_is_better=matrix.higher_is_better)

    def _names(self, weights: FloatArray) -> tuple[str, ...]:
        return tuple(self.matrix.datasets[d] for d in np.flatnonzero(weights))

    def _chosen(self, k: int, algorithms: IntArray | None, *names: str) -> FloatArray:
        """The subset that preserves the ranking of these algorithms best, as one row of weights."""
        values = self.matrix.values if algorithms is None else self.matrix.values[algorithms]
        rng = derived_rng(self.seed, "preserving", str(k), *names)
        best = preserving(values, self.rule, k, rng, higher_is_better=self.matrix.higher_is_better)
        return subset_weights(best[None], values.shape[1])

    def _weights(self, name: str, k: int, runs: int) -> FloatArray:
        """The subsets that a method gives, its choice in the first row."""
        key = (name, k, runs)
        if key not in self.known:
            self.known[key] = self._chosen(k, None) if name == PRESERVING else self._simulated(name, k, runs)
        return self.known[key]

    def _simulated(self, name: str, k: int, runs: int) -> FloatArray:
        rng = derived_rng(self.seed, "selection", name, str(k))
        n = len(self.matrix.datasets)
        return subset_weights(simulate(name, self.space, n, k, runs, rng), n)

    def _luck(
        self, inner: Sequence[SubsetAgreement], nested: Sequence[FloatArray], held: Sequence[FloatArray]
    ) -> float:
        """How often subsets that know nothing do as well: the same for every half, with the datasets' names shuffled.

        The halves share algorithms and their subsets share datasets, so that their mean varies more than they do; a
        shuffle applied to all of them alike keeps that dependence. On noise the p-value is uniform.
        """
        n = len(self.matrix.datasets)
        order = random_subsets(n, n, _SHUFFLES, derived_rng(self.seed, "selection shuffles"))
        shuffled = np.mean([each.apart(mine[0][order]) for each, mine in zip(inner, nested, strict=True)], axis=0)
        reached = float(np.mean([rho[0] for rho in held]))
        return float((1 + (shuffled >= reached - ROUNDING).sum()) / (1 + _SHUFFLES))

    def _nested(self, k: int, halves: Halves) -> list[FloatArray]:
        """For each pair of halves, the subset chosen on its first."""
        return [self._chosen(k, on, str(i)) for i, (on, _) in enumerate(halves.pairs)]


def _of_choice(name: str, rho: FloatArray) -> float:
    """The rho of a method's choice; `random` makes none, so its mean stands for it."""
    return float(rho.mean() if name == "random" else rho[0])


def _above(values: FloatArray, reference: FloatArray) -> float:
    """The probability that a random one of `values` exceeds a random one of `reference`, ties by half."""
    ascending = np.sort(reference)
    below = np.searchsorted(ascending, values - ROUNDING, side="left")
    not_above = np.searchsorted(ascending, values + ROUNDING, side="right")
    return float((below + not_above).mean() / (2 * len(reference)))
