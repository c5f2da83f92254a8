"""Per-user scores of several algorithms on one dataset: what tests over users read."""

from __future__ import annotations

from dataclasses import dataclass

from recassay.core.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class UserScores:
    """`values[a, u]`: the metric of algorithm `a` for user `u`, the same users for every algorithm, all finite.

    Where a study repeats its cells (seeds, folds), a user's value is the mean over the repetitions in which the user is
    judged. `left_out` counts users whose value some algorithm lacks.
    """

    dataset: str
    algorithms: tuple[str, ...]
    values: FloatArray
    left_out: int = 0

    @property
    def users(self) -> int:
        """How many users are compared."""
        return int(self.values.shape[1])
