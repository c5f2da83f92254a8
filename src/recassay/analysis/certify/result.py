"""The shares of universes that are known well enough, and the choice that decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from recassay.core.system.display import Displayed
from recassay.core.system.plain import plain
from recassay.core.tables.sources import Source
from recassay.core.tabular import stated


@dataclass(frozen=True, slots=True)
class Certified:
    """The share of universes in which a claim is seen, and whether it is known well enough."""

    statement: str
    """Such as `EASE is best` (first, ties included) or `EASE > ALS`."""
    share: float
    """The estimate over all universes."""
    interval: tuple[float, float]
    """The 95 % interval."""
    certified: bool
    """Whether the share is within 5 points of the estimate with the confidence that was asked for."""


@dataclass(frozen=True, slots=True, eq=False)
class CertificateResult(Displayed):
    """What the blocks that were run settle about the whole multiverse."""

    universes: int
    """Universes of the whole multiverse."""
    blocks: int
    """Blocks: combinations of paid choices x datasets."""
    run: int
    """How many of them were run."""
    cost: float
    """Share of the price of the whole multiverse that they took."""
    claims: tuple[Certified, ...]
    """The claims, `A is best` first."""
    axis: str
    """The choice that explains most of the differences between the rankings, by the estimate."""
    axis_share: float
    """Its share."""
    axis_certified: bool
    """Whether no other choice explains 5 points more, with the confidence that was asked for."""
    confidence: float
    """With which a statement must hold to be certified."""
    next: tuple[tuple[int, int], ...] = ()
    """The blocks to run next: positions of the combination of paid choices and of the dataset."""
    path: tuple[tuple[int, float, int], ...] = ()
    """Of a replay, at every look: blocks run, share of the price, claims that were certified."""
    sources: tuple[Source, ...] = ()
    """The files that the results came from."""

    @property
    def complete(self) -> bool:
        """Whether everything is certified."""
        return self.axis_certified and all(claim.certified for claim in self.claims)

    def to_frame(self) -> pl.DataFrame:
        """One row per claim."""
        rows = [(claim.statement, claim.share, *claim.interval, claim.certified) for claim in self.claims]
        return pl.DataFrame(rows, schema=["claim", "share", "low", "high", "certified"], orient="row")

    def frames(self) -> dict[str, pl.DataFrame]:
        """The claims."""
        return {"certificate": self.to_frame()}

    def to_dict(self) -> dict[str, Any]:
        """Plain data: sizes, cost, claims and the deciding axis."""
        names = ("universes", "blocks", "run", "cost", "axis", "axis_share", "axis_certified", "confidence", "path")
        return {**stated(self, *names), "claims": plain(self.claims), "complete": self.complete}
