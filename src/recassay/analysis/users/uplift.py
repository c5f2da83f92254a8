"""By what share an algorithm is better than a reference on the users of a dataset, with an interval over users."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from recassay.analysis.inference.distributions import t_quantile
from recassay.analysis.users.result import Reference
from recassay.core.names import canonical
from recassay.core.types import FloatArray

MOST_POPULAR = frozenset(map(canonical, ("MostPop", "MostPopular", "Popularity", "Pop", "TopPop", "ItemPop")))
"""What frameworks call the recommender of the most popular items."""

MOST_RATIO = 1e4
"""A ratio of means that may be larger than this has no upper limit."""

_HALVINGS = 60
_NOTHING = 1e-12
"""A variance that is a smaller share of the squares is rounding."""


def choose_reference(
    algorithms: Sequence[str], *, control: str | None = None, own_lists: Collection[str] = ()
) -> Reference | None:
    """The control, else the first whose lists were made elsewhere, else the most popular items; None without these."""
    named = {canonical(name): name for name in algorithms}
    if control is not None:
        return Reference(named[canonical(control)], "control") if canonical(control) in named else None
    listed = next((name for name in algorithms if name in own_lists), None)
    if listed is not None:
        return Reference(listed, "own lists")
    popular = next((name for key, name in named.items() if key in MOST_POPULAR), None)
    return None if popular is None else Reference(popular, "most popular")


def uplifts(values: FloatArray, reference: FloatArray, *, confidence: float) -> FloatArray:
    """By row of `values` (algorithms x users), mean / mean of the reference - 1, and its interval: rows x 3.

    The interval has all ratios r for which the interval of the mean of `values - r * reference` contains 0 (Fieller
    1954), that interval being the one of differences, Student's t with Hall's correction for skewness and two added
    users (`user_intervals`). So an interval in percent excludes 0 where that of the difference does. The upper limit is
    infinite where the reference may be 0. NaN where a score is negative, or the mean of the reference is 0: a share of
    it means nothing.
    """
    result = np.full((len(values), 3), np.nan)
    base = float(reference.mean())
    if base <= 0 or reference.min() < 0 or values.min() < 0:
        return result
    result[:, 0] = values.mean(axis=1) / base - 1
    for row, row_values in enumerate(values):
        gap = _Gap(row_values, reference, confidence=confidence)
        result[row, 1:] = gap.crossing(0) - 1, gap.crossing(1) - 1
    return result


class _Gap:
    """The interval of the mean of values - r * reference, as a function of r: sums over users are taken once."""

    def __init__(self, values: FloatArray, reference: FloatArray, confidence: float) -> None:
        self.users = len(values)
        a, b = values - values.mean(), reference - reference.mean()
        self.means = float(values.mean()), float(reference.mean())
        self.squares = (float(values @ values), float(values @ reference), float(reference @ reference))
        self.second = (float(a @ a), float(a @ b), float(b @ b))
        self.third = tuple(float(part) for part in ((a * a) @ a, (a * a) @ b, (b * b) @ a, (b * b) @ b))
        differ = int(np.count_nonzero(values != reference))
        self.nonzero = differ or int(np.count_nonzero((values != 0) | (reference != 0)))
        self.t = float(t_quantile(0.5 + confidence / 2, self.users + 1))

    def ends(self, r: float) -> tuple[float, float]:
        """The lower and the upper end at r."""
        n = self.users + 2
        added = max(self.squares[0] - 2 * r * self.squares[1] + r * r * self.squares[2], 0.0) / max(self.nonzero, 1)
        own_mean = self.means[0] - r * self.means[1]
        mean = own_mean * self.users / n
        # Moments about the new mean, of the users and of the two added ones at +sqrt(added) and -sqrt(added).
        shift = own_mean - mean
        second = self.second[0] - 2 * r * self.second[1] + r * r * self.second[2]
        third = self.third[0] - 3 * r * self.third[1] + 3 * r * r * self.third[2] - r**3 * self.third[3]
        third += 3 * shift * second + self.users * shift**3 - 2 * mean * (3 * added + mean * mean)
        second += self.users * shift * shift + 2 * (added + mean * mean)
        if second <= _NOTHING * (self.squares[0] + r * r * self.squares[2]):
            return float(mean), float(mean)
        error = np.sqrt(second / (n - 1) / n)
        a = third / n / (second / n) ** 1.5 / np.sqrt(n)
        if abs(a) < 1e-6:
            return float(mean - error * self.t), float(mean + error * self.t)
        low, high = (mean - error * 3 / a * (np.cbrt(1 + a * (at - a / 6)) - 1) for at in (self.t, -self.t))
        return float(low), float(high)

    def crossing(self, end: int) -> float:
        """The r at which the lower (0) or the upper (1) end is 0."""
        low, high = 0.0, 1.0
        if self.ends(low)[end] <= 0:
            return low
        while self.ends(high)[end] > 0:
            low, high = high, 2 * high
            if high > MOST_RATIO:
                return float("inf")
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.ends(middle)[end] > 0 else (low, middle)
        return (low + high) / 2
