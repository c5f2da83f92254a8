"""What more would have to be run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from recassay.analysis.plan.look import Look
from recassay.core.system.display import Displayed
from recassay.core.tabular import stated

MOST = 1000
"""Beyond this many datasets a difference is called out of reach."""


@dataclass(frozen=True, slots=True)
class PairPlan:
    """Two algorithms, the better level first: the estimated relative difference of their levels, and the datasets that
    would show it (None: more than the largest number that was tried).

    `alone`: as a comparison named before the study; `among_all`: as one of all pairs; `without_repeats` and
    `without_users`: alone, if endless seeds or users removed that noise.
    """

    left: str
    """The one with the better level."""
    right: str
    gap: float
    """The relative difference of their levels: 0.02 is 2 % (in the metric's units where the model is on the values as
    they are)."""
    alone: int | None
    among_all: int | None
    without_repeats: int | None
    without_users: int | None


@dataclass(frozen=True, slots=True, eq=False)
class PlanResult(Displayed):
    """For every pair the datasets needed, and how few of these decide who wins."""

    metric: str
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    difference: float | None
    """The relative difference that is to be shown (0.02 is 2 %); None: what the model estimates of each pair."""
    power: float
    """The probability with which a difference is to be shown."""
    alpha: float
    pairs: tuple[PairPlan, ...]
    """Every pair, and the number of datasets that would show its difference."""
    challenger: str | None
    """Who would have the best mean rank without the datasets in `removed`; None where no removal changes the winner, or
    fewer than two datasets have every cell."""
    removed: tuple[str, ...]
    """The fewest datasets without which the winner changes."""
    shares: dict[str, float]
    """Where the variance of the mean difference between two algorithms comes from: shares (they sum to 1) of
    `datasets`, `repeats` (seeds or folds) and `users`."""
    look: Look | None
    """What may be said while the study still grows, however often one looks; None where fewer than two datasets have
    every cell."""

    def out_of_reach(self) -> tuple[PairPlan, ...]:
        """Pairs that no number of datasets that was tried would show."""
        return tuple(pair for pair in self.pairs if pair.alone is None)

    def to_frame(self) -> pl.DataFrame:
        """One row per pair."""
        schema = {name: pl.Int64 for name in ("alone", "among_all", "without_repeats", "without_users")}
        return pl.DataFrame([asdict(pair) for pair in self.pairs], schema_overrides=schema)

    def frames(self) -> dict[str, pl.DataFrame]:
        """The pairs."""
        return {"plan": self.to_frame()}

    def to_dict(self) -> dict[str, Any]:
        """`pairs`, `removal`, `variance_shares` and the settings."""
        return {
            **stated(self, "metric", "algorithms", "datasets", "pairs"),
            "removal": {"challenger": self.challenger, "datasets": list(self.removed)},
            "variance_shares": self.shares,
            "anytime": None if self.look is None else {**asdict(self.look), "statement": self.look.sentence()},
            "settings": stated(self, "difference", "power", "alpha"),
        }
