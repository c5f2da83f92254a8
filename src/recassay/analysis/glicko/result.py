"""What a Glicko-2 tournament found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from recassay.analysis.glicko.system import CALMER, SETTLED, START, TAU
from recassay.core import columns as c
from recassay.core.system.display import Displayed
from recassay.core.tables.matrix import MissingCells
from recassay.core.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class GlickoResult(Displayed):
    """Glicko-2 ratings after a tournament over the datasets, and how they came about."""

    metric: str
    higher_is_better: bool
    algorithms: tuple[str, ...]
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
        if not self.settled:
            return [f"The ratings ran away (a volatility above {SETTLED:g}) and mean nothing: use a smaller tau."]
        if self.tau in CALMER:
            return [f"tau is {self.tau:g}: with {TAU:g} the volatility of some algorithm may run away on this table."]
        return []

    def order(self) -> list[int]:
        """Positions of the algorithms, highest rating first."""
        return sorted(range(len(self.algorithms)), key=lambda a: (-self.ratings[0, a], self.algorithms[a]))

    def intervals(self) -> FloatArray:
        """95 % intervals of the ratings, algorithms x 2; NaN below five datasets.

        The papers' own, rating +- 2 deviations, follow from `ratings`; they are too narrow (see `rate_algorithms`).
        """
        return np.full((len(self.algorithms), 2), np.nan) if self.bounds is None else self.bounds

    def ranks(self) -> FloatArray:
        """Rank by rating after every dataset, 1 the highest: datasets x algorithms; ties by name."""
        keys = -self.history[1:, 0]
        places = np.argsort(np.argsort(keys, axis=1, kind="stable"), axis=1, kind="stable")
        return places.astype(np.float64) + 1.0

    def to_frame(self) -> pl.DataFrame:
        """One row an algorithm, highest rating first."""
        order, ends = self.order(), self.intervals()
        return pl.DataFrame(
            {
                c.ALGORITHM: [self.algorithms[a] for a in order],
                "rating": self.ratings[0, order],
                "deviation": self.ratings[1, order],
                "volatility": self.ratings[2, order],
                "low": ends[order, 0],
                "high": ends[order, 1],
                "order_low": self.spread[0, order],
                "order_median": self.spread[1, order],
                "order_high": self.spread[2, order],
                "order_rank_low": self.rank_spread[0, order],
                "order_rank_high": self.rank_spread[2, order],
            }
        ).fill_nan(None)

    def history_frame(self) -> pl.DataFrame:
        """One row a dataset and algorithm, in the order of play: rating, deviation, volatility and rank after it."""
        ranks = self.ranks()
        rows = [
            (t + 1, dataset, self.algorithms[a], *self.history[t + 1, :, a].tolist(), int(ranks[t, a]))
            for t, dataset in enumerate(self.datasets)
            for a in self.order()
        ]
        names = ["period", c.DATASET, c.ALGORITHM, "rating", "deviation", "volatility", c.RANK]
        return pl.DataFrame(rows, schema=names, orient="row")

    def frames(self) -> dict[str, pl.DataFrame]:
        """Ratings, their history, and the probability of winning for each pair."""
        order = self.order()
        pairs = [
            (self.algorithms[i], self.algorithms[j], float(self.wins[i, j])) for i in order for j in order if i != j
        ]
        schema = {c.ALGORITHM: pl.String, "opponent": pl.String, "probability": pl.Float64}
        return {
            "glicko_ratings": self.to_frame(),
            "glicko_history": self.history_frame(),
            "glicko_wins": pl.DataFrame(pairs, schema=schema, orient="row"),
        }

    def to_dict(self) -> dict[str, Any]:
        """`ratings` by name, `history` by dataset in the order of play, `win_probability`, the spread over orders."""
        order, ends = self.order(), self.intervals()
        names = ("rating", "deviation", "volatility")

        def state(t: int, a: int) -> dict[str, float]:
            return dict(zip(names, self.history[t, :, a].tolist(), strict=True))

        return {
            "metric": self.metric,
            "higher_is_better": self.higher_is_better,
            "datasets": list(self.datasets),
            "order": self.order_name,
            "ratings": {
                self.algorithms[a]: {**state(-1, a), "interval": None if self.bounds is None else ends[a].tolist()}
                for a in order
            },
            "history": [
                {c.DATASET: dataset, "ratings": {self.algorithms[a]: state(t + 1, a) for a in order}}
                for t, dataset in enumerate(self.datasets)
            ],
            "win_probability": {
                self.algorithms[i]: {self.algorithms[j]: float(self.wins[i, j]) for j in order if i != j} for i in order
            },
            "random_orders": {
                "orders": self.n_orders,
                "rating": {self.algorithms[a]: {"estimate": float(self.spread[1, a]),
                                                "interval": [float(self.spread[0, a]), float(self.spread[2, a])]}
                           for a in order},
                "rank": {self.algorithms[a]: {"estimate": float(self.rank_spread[1, a]),
                                              "interval": [float(self.rank_spread[0, a]),
                                                           float(self.rank_spread[2, a])]} for a in order},
            },
            "missing": {"policy": self.missing.policy, "cells": [list(cell) for cell in self.missing.cells],
                        "dropped": list(self.missing.dropped)},
            "settings": {"tau": self.tau, "tie": self.tie, "start": list(START)},
            "settled": self.settled,
            "notes": self.notes,
        }  # fmt: skip
