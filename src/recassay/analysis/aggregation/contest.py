"""What one table of values says dataset by dataset: who beats whom, at which rank, and by which ratio.

All arrays carry a leading axis of stacked tables (length 1 for the table itself, one for each part of its algorithms in
`Parts`), so that an aggregation is written once for both.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from recassay.core.ties import beats, places
from recassay.core.types import FloatArray, IntArray

if TYPE_CHECKING:
    from recassay.analysis.aggregation.duels import Duels, Outcomes


class Contest:
    """Comparisons within each dataset of `values` (tables x algorithms x datasets).

    The direction of the metric is settled here, once for each kind of evidence: comparisons flip, and the ratio to the
    best is `best / value` where higher is better and `value / best` where lower is.
    """

    def __init__(self, values: FloatArray, *, higher_is_better: bool) -> None:
        self.values = values
        self.higher_is_better = higher_is_better

    @property
    def n_algorithms(self) -> int:
        """How many algorithms compete."""
        return int(self.values.shape[1])

    @property
    def upward(self) -> FloatArray:
        """The first table, turned where lower is better."""
        return np.asarray(self.values[0] if self.higher_is_better else -self.values[0])

    @cached_property
    def placed(self) -> tuple[IntArray, IntArray]:
        """For each algorithm and dataset, how many algorithms are better, and how many tie with it, itself included."""
        return places(self.values, higher_is_better=self.higher_is_better, axis=1)

    @cached_property
    def duels(self) -> Duels:
        """All pairs of algorithms of a single table."""
        from recassay.analysis.aggregation.duels import Duels

        return Duels(self.upward)

    def outcomes(self, weights: FloatArray) -> Outcomes:
        """Who wins how many duels under every row of weights, in a single table."""
        return self.duels.outcomes(weights)

    @cached_property
    def ranks(self) -> FloatArray:
        """Rank within each dataset, 1 the best; ties share the mean of their positions."""
        better, tied = self.placed
        return better + (tied + 1) / 2

    def points(self, by_position: FloatArray) -> FloatArray:
        """Points of a positional voting rule; ties share the mean of the positions they occupy."""
        total, (better, tied) = np.concatenate([[0.0], np.cumsum(by_position)]), self.placed
        return (total[better + tied] - total[better]) / tied

    @cached_property
    def ratios(self) -> FloatArray:
        """How many times worse than the best, at least 1 (Dolan and Moré 2002); see `ratio_to_best`."""
        best = self.values.max(axis=1) if self.higher_is_better else self.values.min(axis=1)
        return ratio_to_best(self.values, best[:, None, :], higher_is_better=self.higher_is_better)


class Extended(Contest):
    """A contest of one table with one more algorithm, last: the duels of the others are not fought again."""

    def __init__(self, others: Contest, new: FloatArray) -> None:
        super().__init__(np.vstack([others.values[0], new])[None], higher_is_better=others.higher_is_better)
        self._others = others

    def outcomes(self, weights: FloatArray) -> Outcomes:
        """As of any contest."""
        return self._others.duels.with_another(self.upward, weights)


class Parts(Contest):
    """Parts of the algorithms of one table (positions, tables x size), on all of its datasets."""

    def __init__(self, whole: Contest, chosen: IntArray) -> None:
        super().__init__(whole.values[0][chosen], higher_is_better=whole.higher_is_better)
        self._whole, self._chosen = whole, chosen

    def outcomes(self, weights: FloatArray) -> Outcomes:
        """As of any contest, where every dataset has weight 1."""
        return self._whole.duels.among(self._chosen)


def share_of_best(values: FloatArray, *, higher_is_better: bool) -> FloatArray:
    """`value / best` of the dataset (`best / value` where lower is better), algorithms x datasets: 1 the best.

    What would be divided by 0, or by less, has share 1 where it equals the best and else 0.
    """
    best = np.broadcast_to(values.max(axis=0) if higher_is_better else values.min(axis=0), values.shape)
    above, below = (values, best) if higher_is_better else (best, values)
    share = np.where(above == below, 1.0, 0.0)
    np.divide(above, below, out=share, where=below > 0)
    return share


def ratio_to_best(values: FloatArray, best: FloatArray, *, higher_is_better: bool) -> FloatArray:
    """`best / value` (or `value / best` where lower is better) for values >= 0.

    A value that ties with the best is at ratio 1. A zero that should be large is infinitely far from a positive best;
    where the best itself is zero, zeros are at ratio 1 (they equal the best) and, for lower-is-better, positive values
    are infinitely far.
    """
    above, below = (best, values) if higher_is_better else (values, best)
    shape = np.broadcast_shapes(np.shape(above), np.shape(below))
    ratio = np.where(np.broadcast_to(above, shape) == below, 1.0, np.inf)
    np.divide(above, below, out=ratio, where=np.broadcast_to(below, shape) > 0)
    ratio[~beats(ratio, 1.0)] = 1.0
    return ratio
