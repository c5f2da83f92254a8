"""What a Glicko-2 tournament found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from recassay.analysis.glicko.system import CALMER, SETTLED, START, TAU
from recassay.core import columns as c
from recassay.core.system.display import worded
from recassay.core.system.plain import plain
from recassay.core.tables.matrix import MatrixResult, MissingCells
from recassay.core.tabular import by_name, by_pair, estimates, long_frame, stated
from recassay.core.types import FloatArray

__all__ = ["CALMER", "SETTLED", "STATE", "TAU", "GlickoResult"]

STATE = ("rating", "deviation", "volatility")
"""What Glicko-2 keeps of each algorithm."""


@dataclass(frozen=True, slots=True, eq=False)
class GlickoResult(MatrixResult):
    """Glicko-2 ratings after a tournament over the datasets, and how they came about."""

    datasets: tuple[str, ...]
    """Names of the datasets in the order of play."""
    order_name: str
    """What the datasets are ordered by, or `listed`."""
    history: FloatArray
    """States x 3 x algorithms: rating, deviation and volatility after t datasets (0: the start)."""
    bounds: FloatArray | None
    """Algorithms x 2: the 95 % interval of the final rating by a bootstrap over datasets and orders; None below five
    datasets."""
    wins: FloatArray
    """Algorithms x algorithms: the probability that the row beats the column, by the final ratings."""
    spread: FloatArray
    """3 x algorithms: the 2.5 %, 50 % and 97.5 % quantile of the final rating over random orders of the datasets."""
    rank_spread: FloatArray
    """3 x algorithms: the same quantiles of the rank by final rating."""
    tau: float
    """The constant of Glicko-2 that holds volatility down."""
    tie: float
    """The difference in the metric up to which a game is a draw."""
    n_orders: int
    """How many random orders of the datasets were played."""
    settled: bool
    """Whether no volatility ran away; where it did the ratings mean nothing."""
    missing: MissingCells

    @property
    def ratings(self) -> FloatArray:
        """Final rating, deviation and volatility: 3 x algorithms."""
        return self.history[-1]

    @property
    def notes(self) -> list[str]:
        """What a reader must know before reading the ratings."""
        return list(worded("glicko", "notes", self))

    def order(self) -> list[int]:
        """Positions of the algorithms, highest rating first."""
        return sorted(range(len(self.algorithms)), key=lambda a: (-self.ratings[0, a], self.algorithms[a]))

    def intervals(self) -> FloatArray:
        """95 % intervals of the ratings, algorithms x 2; NaN below five datasets.

        The papers' own, rating +- 2 deviations, follow from `ratings`; they are too narrow (see `rate_algorithms`).
        """
        return np.full((len(self.algorithms), 2), np.nan) if self.bounds is None else self.bounds

    def ranks(self) -> FloatArray:
        """Rank by rating after every dataset, 1 the highest: datasets x algorithms; ties by position."""
        keys = -self.history[1:, 0]
        places = np.argsort(np.argsort(keys, axis=1, kind="stable"), axis=1, kind="stable")
        return places.astype(np.float64) + 1.0

    def to_frame(self) -> pl.DataFrame:
        """One row per algorithm, highest rating first."""
        return long_frame(
            {c.ALGORITHM: self.algorithms},
            {
                STATE: self.ratings.T,
                ("low", "high"): self.bounds,
                ("order_low", "order_median", "order_high"): self.spread.T,
                ("order_rank_low", "order_rank_high"): self.rank_spread[[0, 2]].T,
            },
            order=self.order(),
        )

    def history_frame(self) -> pl.DataFrame:
        """One row per dataset and algorithm, in the order of play: rating, deviation, volatility and rank after it."""
        period = np.arange(1, len(self.datasets) + 1)[:, None]
        ranks = self.ranks().astype(np.int64)
        return long_frame(
            {c.DATASET: self.datasets, c.ALGORITHM: self.algorithms},
            {"period": period, STATE: self.history[1:].transpose(0, 2, 1), c.RANK: ranks},
            order=self.order(),
        ).select("period", pl.exclude("period"))

    def frames(self) -> dict[str, pl.DataFrame]:
        """Ratings, their history, and the probability of winning for each pair."""
        order = self.order()
        names = [self.algorithms[a] for a in order]
        wins = long_frame({c.ALGORITHM: names, "opponent": names}, {"probability": self.wins[np.ix_(order, order)]})
        return {
            "glicko_ratings": self.to_frame(),
            "glicko_history": self.history_frame(),
            "glicko_wins": wins.filter(pl.col(c.ALGORITHM) != pl.col("opponent")),
        }

    def to_dict(self) -> dict[str, Any]:
        """`ratings` by name, `history` by dataset in the order of play, `win_probability`, the spread over orders."""
        order = self.order()
        names = [self.algorithms[a] for a in order]
        history: list[dict[str, Any]] = [by_name(state.T[order], names, STATE) for state in self.history]
        interval = by_name(None if self.bounds is None else self.bounds[order], names) or dict.fromkeys(names)

        def over_orders(spread: FloatArray) -> dict[str, Any]:
            return estimates(names, spread[1, order], spread[[0, 2]].T[order])

        return {
            **stated(self, "metric", "higher_is_better", "datasets"),
            "order": self.order_name,
            "ratings": {name: {**state, "interval": interval[name]} for name, state in history[-1].items()},
            "history": [
                {c.DATASET: dataset, "ratings": state}
                for dataset, state in zip(self.datasets, history[1:], strict=True)
            ],
            "win_probability": by_pair(self.wins[np.ix_(order, order)], names),
            "random_orders": {
                "orders": self.n_orders,
                "rating": over_orders(self.spread),
                "rank": over_orders(self.rank_spread),
            },
            "missing": plain(self.missing),
            "settings": {"tau": self.tau, "tie": self.tie, "start": list(START)},
            **stated(self, "settled", "notes"),
        }
