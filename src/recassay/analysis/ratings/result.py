"""Ratings, who beats whom, and what the best leaves to gain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from recassay.core import columns as c
from recassay.core.system.plain import plain
from recassay.core.tables.matrix import MatrixResult
from recassay.core.tabular import by_name, by_pair, estimates, long_frame, stated
from recassay.core.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class RatingsResult(MatrixResult):
    """Bradley-Terry ratings on the Elo scale; arrays are in the order of the algorithms."""

    families: int | None
    """How many families of datasets were drawn in the bootstrap; None: single datasets were."""
    rating: FloatArray
    """The rating of each algorithm in points: 400 more are odds of 10 to 1 in a meeting. The mean is 1500, or
    `anchored` has 1000."""
    interval: FloatArray
    """Algorithms x 2: the ends of the bootstrap interval of each rating. The upper end of one that won every meeting is
    infinite, and so is the lower end of one that lost every meeting (null in JSON)."""
    win_rate: FloatArray
    """Algorithms x algorithms: the share of datasets on which the row beats the column, ties counting half."""
    improvability: FloatArray
    """For each algorithm, the share of the best score that it leaves to gain: 1 - value / best (where lower is better 1
    - best / value), averaged over datasets. NaN with negative values."""
    skill: FloatArray | None
    """For each algorithm, how much better than `baseline` it is, by the geometric mean of the ratios over datasets (0.1
    is 10 % better); None where there is no baseline, NaN with negative values."""
    anchored: str | None
    """The algorithm that was rated 1000; None where none was named."""
    baseline: str | None
    """The algorithm that `skill` compares with: the one named, else the usual one of the table; None where it has
    none."""
    replicates: int
    confidence: float
    seed: int
    battles: int | None = None
    """How many battles of two were played, where the ratings are from those and not from a table of datasets."""

    def order(self) -> list[int]:
        """Positions of the algorithms, highest rating first."""
        return sorted(range(len(self.algorithms)), key=lambda a: (-self.rating[a], self.algorithms[a]))

    def lead(self) -> tuple[float, float]:
        """By how many points the first is ahead of the second, and the share of pairwise comparisons it would win."""
        first, second = self.order()[:2]
        gap = float(self.rating[first] - self.rating[second])
        return gap, 1 / (1 + 10 ** (-gap / 400))

    def least_share(self) -> float:
        """The share of datasets that an algorithm which won on all of them wins at least, at this confidence."""
        rounds = self.battles or (len(self.datasets) if self.families is None else self.families)
        return float(((1 - self.confidence) / 2) ** (1 / rounds))

    def to_frame(self) -> pl.DataFrame:
        """One row per algorithm, highest rating first."""
        return long_frame(
            {c.ALGORITHM: self.algorithms},
            {
                "rating": self.rating,
                ("low", "high"): self.interval,
                "win_rate": self.win_rate.sum(axis=1) / (len(self.algorithms) - 1),
                "improvability": self.improvability,
                "skill": self.skill,
            },
            order=self.order(),
        )

    def frames(self) -> dict[str, pl.DataFrame]:
        """Ratings, and the share of datasets on which each beats each."""
        order = self.order()
        wins = pl.DataFrame({c.ALGORITHM: [self.algorithms[a] for a in order]}).with_columns(
            pl.Series(f"beats {self.algorithms[b]}", [None if a == b else float(self.win_rate[a, b]) for a in order])
            for b in order
        )
        return {"ratings": self.to_frame(), "win_rates": wins}

    def to_dict(self) -> dict[str, Any]:
        """`ratings` with intervals, `win_rate` by pair, `improvability`, `skill` and the settings."""
        names = self.algorithms
        return plain({
            **stated(self, "metric", "higher_is_better", "datasets", "battles"),
            "ratings": estimates(names, self.rating, self.interval),
            "lead": dict(zip(("points", "win_share"), self.lead(), strict=True)),
            "win_rate": by_pair(self.win_rate, names, self.order()),
            "improvability": by_name(self.improvability, names),
            "skill": by_name(self.skill, names),
            **stated(self, "baseline", "anchored"),
            "settings": stated(self, "replicates", "confidence", "families", "seed"),
        })  # fmt: skip
