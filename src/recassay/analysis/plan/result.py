"""What more would have to be run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from recassay.analysis.plan.look import Look
from recassay.core.system.display import Displayed

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
    right: str
    gap: float
    alone: int | None
    among_all: int | None
    without_repeats: int | None
    without_users: int | None


@dataclass(frozen=True, slots=True, eq=False)
class PlanResult(Displayed):
    """For every pair the datasets needed, and how few of these decide who wins.

    Without the datasets `removed`, the fewest that do it, `challenger` would have the best mean rank (None where no
    removal does). `shares` says where the variance of a difference comes from, `look` what may be said while the
    study still grows.
    """

    metric: str
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    difference: float | None
    power: float
    alpha: float
    pairs: tuple[PairPlan, ...]
    challenger: str | None
    removed: tuple[str, ...]
    shares: dict[str, float]
    look: Look | None

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
            "metric": self.metric,
            "algorithms": list(self.algorithms),
            "datasets": list(self.datasets),
            "pairs": [asdict(pair) for pair in self.pairs],
            "removal": {"challenger": self.challenger, "datasets": list(self.removed)},
            "variance_shares": self.shares,
            "anytime": None if self.look is None else {**asdict(self.look), "statement": self.look.sentence()},
            "settings": {"difference": self.difference, "power": self.power, "alpha": self.alpha},
        }
