"""Faster fixed points: Anderson's acceleration of a slowly converging iteration."""

from __future__ import annotations

import numpy as np

from recassay.core.types import BoolArray, FloatArray

DEPTH = 4


class Extrapolation:
    """Guesses the limit of x <- F(x) from the last steps (Anderson 1965; Walker and Ni 2011).

    With residuals f = F(x) - x, the next x is F(x) minus the combination of past differences of F whose differences of
    f come nearest to f: exact for a linear F with at most `depth` slow directions. The least squares are ridged, so
    that differences of pure rounding do not count.
    """

    def __init__(self, depth: int = DEPTH) -> None:
        self.depth = depth
        self._values: list[FloatArray] = []
        self._residuals: list[FloatArray] = []

    @property
    def steps(self) -> int:
        """How many steps the next guess would rest on."""
        return len(self._values)

    def forget(self) -> None:
        """Start again: the iteration has changed, or a guess was bad."""
        self._values.clear()
        self._residuals.clear()

    def ahead(self, before: FloatArray, after: FloatArray, calm: BoolArray | None = None) -> FloatArray:
        """The next point after a step from `before` to `after` = F(before).

        Coordinates that are not `calm` (they jump) are not looked at, and are taken from `after`.
        """
        self._values.append(after)
        self._residuals.append(after - before)
        del self._values[: -self.depth - 1], self._residuals[: -self.depth - 1]
        if len(self._values) < 2:
            return after
        change, moved = np.diff(self._residuals, axis=0), np.diff(self._values, axis=0)
        last = self._residuals[-1]
        if calm is not None:
            change, moved, last = change * calm, moved * calm, last * calm
        gram = change @ change.T
        gram[np.diag_indices(len(gram))] *= 1 + 1e-8
        try:
            share = np.linalg.solve(gram, change @ last)
        except np.linalg.LinAlgError:
            return after
        return np.asarray(after - share @ moved)
