"""What more would have to be run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

import polars as pl

from recassay.core.system.display import Displayed, worded
from recassay.core.tabular import stated

MOST = 1000
"""Beyond this many datasets a difference is called out of reach."""


@dataclass(frozen=True, slots=True)
class PairPlan:
    """Two algorithms whose order is not decided, first the one that is likelier to win, and what would decide it.

    Numbers of datasets are those of a new benchmark that shows the lead with the wanted probability, averaged over what
    the difference may be; None where the lead is too uncertain, or more than 1,000 datasets would be needed.
    """

    left: str
    """The one that is likelier to win new datasets, failures included."""
    right: str
    gap: float
    """The difference of their levels: relative (0.02 is 2 %), or in the metric's units where values can be negative."""
    low: float
    high: float
    """The ends of its interval, half of all probability inside."""
    chance: float
    """The probability that the lead is real: that `left` would win in the long run."""
    assurance: float
    """The chance that as many new datasets as there are now would show it."""
    alone: int | None
    """As a comparison named before the study."""
    fewest: int | None
    """Alone, if the difference is as large as the upper end of its interval."""
    most: int | None
    """Alone, if it is as small as the lower end."""
    among_all: int | None
    """As one of all pairs."""
    without_repeats: int | None
    """Alone, if endless seeds or folds removed that noise."""
    without_users: int | None
    """Alone, if endless users removed that noise."""


@dataclass(frozen=True, slots=True)
class Look:
    """The leader by mean rank so far, whom it is shown to beat, and whom not; valid at every look.

    `p` holds, for each other algorithm, the anytime-valid p-value of the leader against it, corrected for all pairs.
    """

    leader: str
    """The best mean rank so far."""
    behind: tuple[str, ...]
    """Those whom it is shown to beat."""
    open: tuple[str, ...]
    """Those whom it is not."""
    datasets: int
    """How many datasets counted."""
    alpha: float
    p: dict[str, float]

    def sentence(self) -> str:
        """One sentence for people who watch the run."""
        return str(worded("plan", "look", self))


@dataclass(frozen=True, slots=True, eq=False)
class PlanResult(Displayed):
    """For every undecided pair the datasets needed, and how few of these decide who wins."""

    metric: str
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    relative: bool
    """Whether differences are relative; else they are in the metric's units."""
    difference: float | None
    """The relative difference that is to be shown (0.02 is 2 %); None: what the model believes of each pair."""
    power: float
    """The probability with which a difference is to be shown."""
    alpha: float
    pairs: tuple[PairPlan, ...]
    """Every undecided pair, and the number of datasets that would show its difference."""
    decided: int
    """How many pairs are decided already: one is better, or both are equivalent."""
    left_out: int
    """How many undecided pairs are not planned for, since there are more than 60 algorithms."""
    challenger: str | None
    """Who would have the best mean rank without the datasets in `removed`; None where no removal changes the winner, or
    fewer than two datasets have every cell."""
    removed: tuple[str, ...]
    """The fewest datasets without which the winner changes."""
    complete: int
    """How many datasets have every cell: removal and tests use these."""
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
        kinds = {"str": pl.String, "float": pl.Float64, "int | None": pl.Int64}
        schema = {field.name: kinds[str(field.type)] for field in fields(PairPlan)}
        return pl.DataFrame([asdict(pair) for pair in self.pairs], schema=schema)

    def frames(self) -> dict[str, pl.DataFrame]:
        """The pairs."""
        return {"plan": self.to_frame()}

    def to_dict(self) -> dict[str, Any]:
        """`pairs`, `removal`, `variance_shares` and the settings."""
        return {
            **stated(self, "metric", "algorithms", "datasets", "relative", "pairs", "decided"),
            **({"left_out": self.left_out} if self.left_out else {}),
            "removal": {"challenger": self.challenger, "datasets": list(self.removed), "of": self.complete},
            "variance_shares": self.shares,
            "anytime": None if self.look is None else {**asdict(self.look), "statement": self.look.sentence()},
            "settings": stated(self, "difference", "power", "alpha"),
        }
