"""What more would have to be run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

import polars as pl

from recassay.analysis.verdict.result import Verdict
from recassay.core.system.display import Displayed, worded
from recassay.core.tabular import stated

MOST = 1000
"""Beyond this many datasets a difference is called out of reach."""


@dataclass(frozen=True, slots=True)
class PairPlan:
    """Two algorithms whose order is not decided, first the one with the better mean rank, and what would decide it.

    Numbers of datasets are those of a new benchmark that shows the lead with the wanted probability, averaged over what
    the difference may be; None where the lead is too uncertain, or more than 1,000 datasets would be needed.
    """

    left: str
    """The one with the better mean rank; where no two datasets have every cell, the likelier to win new ones."""
    right: str
    gap: float
    """The effect that the verdict has of the pair, the typical ratio per dataset: relative (0.02: left is 2 % better),
    or in the metric's units where not all values are above 0. Without a verdict, the difference of their levels."""
    low: float | None
    high: float | None
    """The ends of its interval at level 1 - alpha; None where there are too few datasets for one."""
    relative: bool
    """Whether the gap is relative."""
    chance: float
    """The probability that the lead is real, by the hierarchical model: that `left` would win in the long run."""
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

    @property
    def span(self) -> tuple[int | None, int | None]:
        """From the fewest to the most datasets, `alone` included: an average may lie beyond both ends; None as the
        second: more than were tried."""
        known = [number for number in (self.fewest, self.alone, self.most) if number is not None]
        return min(known, default=None), None if None in (self.alone, self.most) else max(known)


@dataclass(frozen=True, slots=True)
class Look:
    """What a sequential test shows of the leader by mean rank so far: against whom, and against whom not.

    `p` holds, for each other algorithm, the anytime-valid p-value of the leader against it, corrected for all pairs.
    """

    leader: str
    """The best mean rank so far."""
    behind: tuple[str, ...]
    """Those against whom the test shows it to win more than half of the datasets."""
    open: tuple[str, ...]
    """Those against whom it does not."""
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
    """The sequential test, which holds however often one looks at a growing study; None where it was not asked for, or
    fewer than two datasets have every cell."""
    judgement: Verdict | None = None
    """The verdict on the datasets that have every cell, to which the pairs belong; None where these are fewer than two.
    """

    def out_of_reach(self) -> tuple[PairPlan, ...]:
        """Pairs that no number of datasets that was tried would show."""
        return tuple(pair for pair in self.pairs if pair.alone is None)

    def to_frame(self) -> pl.DataFrame:
        """One row per pair."""
        kinds = {"str": pl.String, "float": pl.Float64, "float | None": pl.Float64, "int | None": pl.Int64,
                 "bool": pl.Boolean}  # fmt: skip
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
