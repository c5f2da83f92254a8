"""Which claims hold in how many universes, and which choices decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from recassay.analysis.multiverse.claims import Exceptions, first_places, opponent, overall_ranks
from recassay.analysis.multiverse.remarks import Kind, Remark
from recassay.analysis.multiverse.repeats import Drift, SeedShare
from recassay.analysis.verdict.result import Grade
from recassay.core import columns as c
from recassay.core.system.display import Displayed, worded
from recassay.core.system.plain import plain
from recassay.core.tables.sources import Source
from recassay.core.tabular import by_name, long_frame, stated
from recassay.core.types import BoolArray, FloatArray, IntArray

__all__ = ["Claim", "Counts", "Exceptions", "Kind", "MultiverseResult", "MultiverseSettings", "Remark", "Share"]


@dataclass(frozen=True, slots=True)
class Counts:
    """In how many universes a claim is seen, and in how many it is shown.

    Seen, by the mean ranks over the datasets: `ahead`, `tied`, `behind`. Shown, by the verdict's status of the pairs:
    it `holds`, it is `undecided`, or it is `reversed`.
    """

    universes: int
    """Universes in which the algorithms of the claim occur."""
    ahead: int
    tied: int
    behind: int
    holds: int
    undecided: int
    reversed: int


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """A claim and how it fares over the universes."""

    statement: str
    """Such as `SASRec is best` or `SASRec > GRU4Rec`."""
    algorithm: str
    """The one that is claimed to be better."""
    rival: str | None
    """None where the claim is that `algorithm` is best."""
    named: bool
    """Whether it was named beforehand; others were suggested by the table, and their p is adjusted for that."""
    counts: Counts
    """In the universes that were not marked as leaky."""
    by_dataset: dict[str, tuple[int, int, int]]
    """By dataset, in how many universes the algorithm is ahead, tied and behind there."""
    lead: float
    """The lead in mean rank over the rival (or the best other), averaged over the universes."""
    p: float | None
    """Of the joint test over all universes; None where fewer than two algorithms are in every universe."""
    chance: float | None
    """The share of universes that equal algorithms reach in 5 % of relabelled tables."""
    fails: tuple[Exceptions, ...]
    """Where the claim is not seen; none where it always is, or where nothing describes it."""
    leaky: Counts | None
    """In the leaky universes; None where there are none."""

    @property
    def exceptions(self) -> str:
        """Where the claim is not seen, in words; empty where there is nothing to say."""
        return str(worded("multiverse", "exceptions", self))

    def to_dict(self) -> dict[str, Any]:
        """`claim` with its counts, shares, datasets, lead and test."""
        counts = self.counts
        seen = ("ahead", "tied", "behind")
        return plain({
            "claim": self.statement,
            **stated(self, "algorithm", "rival", "named", "counts"),
            "share": {name: getattr(counts, name) / max(counts.universes, 1)
                      for name in (*seen, "holds", "undecided", "reversed")},
            "by_dataset": {name: dict(zip(seen, numbers, strict=True)) for name, numbers in self.by_dataset.items()},
            **stated(self, "lead", "p", "chance", "exceptions", "leaky"),
        })  # fmt: skip


@dataclass(frozen=True, slots=True)
class Share:
    """The share of the variance between universes that an axis, or a pair of axes, explains."""

    axes: tuple[str, ...]
    """One axis or two; none: the rest."""
    share: float
    """Of the squared distance between the rankings of two universes."""
    interval: tuple[float, float] | None
    """None where every combination of choices occurs: the share is exact."""
    of_leads: dict[str, float]
    """The same by claim of two algorithms: the share of the variance of their lead."""

    @property
    def name(self) -> str:
        """As people read it."""
        return " x ".join(self.axes) or "the rest"


@dataclass(frozen=True, slots=True)
class MultiverseSettings:
    """What was asked for besides axes and claims."""

    alpha: float
    """Level of the verdicts; intervals have level 1 - alpha."""
    permutations: int
    """Relabelled tables of the joint test."""
    seed: int
    """The same seed gives the same numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class MultiverseResult(Displayed):
    """The claims of a multiverse and the choices that decide; arrays are in the order of the universes."""

    axes: dict[str, tuple[str, ...]]
    """By axis, its choices."""
    choices: IntArray
    """Universes x axes: the position of its choice."""
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    mean_ranks: FloatArray
    """Universes x algorithms: the mean rank over the datasets; NaN where an algorithm is absent."""
    n_datasets: IntArray
    """How many datasets count in each universe."""
    grades: tuple[Grade, ...]
    """The verdict's grade of each universe."""
    leaky: BoolArray
    """Which universes were marked as leaky."""
    places: FloatArray
    """Universes x 2: where each stands on a map by the distance of its mean ranks."""
    explained: tuple[float, float]
    """The shares of the squared distances that the two directions of the map show."""
    claims: tuple[Claim, ...]
    """The claims that were named, else those that the table suggests."""
    shares: tuple[Share, ...]
    """Axes from the largest share down, then pairs of axes likewise, then the rest."""
    reading: tuple[str, ...]
    """What the reading of the tables noted."""
    remarks: tuple[Remark, ...]
    """What was done to the tables, and what they do not allow."""
    settings: MultiverseSettings
    """The level, the number of relabelled tables, and the seed."""
    sources: tuple[Source, ...] = ()
    """The files that the table came from."""
    drift: Drift | None = None
    """Whether the order drifts over windows of time; None where there are none."""
    seeds: tuple[SeedShare, ...] = ()
    """How much each kind of seed moves the values; empty where no seed varies."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know: columns that are not choices, missing cells, small universes."""
        return tuple(worded("multiverse", "notes", self))

    @property
    def universes(self) -> int:
        """How many universes count: those not marked as leaky."""
        return int((~self.leaky).sum())

    def firsts(self) -> BoolArray:
        """Universes x algorithms: which have the best mean rank, ties all of them."""
        return first_places(self.mean_ranks)

    def best(self, *, leaky: bool = False) -> dict[str, int]:
        """By algorithm, the clean (or the leaky) universes in which it is first; from the most down, without zeros."""
        counts = self.firsts()[self.leaky == leaky].sum(axis=0)
        order = sorted(range(len(counts)), key=lambda a: (-counts[a], self.algorithms[a]))
        return {self.algorithms[a]: int(counts[a]) for a in order if counts[a]}

    def axis_shares(self) -> list[Share]:
        """Those of single axes, the largest first."""
        return [share for share in self.shares if len(share.axes) == 1]

    def choice_names(self, universe: int) -> dict[str, str]:
        """The choices of a universe by axis."""
        names = self.axes.items()
        return {axis: every[at] for (axis, every), at in zip(names, self.choices[universe], strict=True)}

    def lead_of(self, claim: Claim) -> FloatArray:
        """By universe, the lead in mean rank of a claim's algorithm over its rival, or over the best other."""
        subject = self.algorithms.index(claim.algorithm)
        rival = None if claim.rival is None else self.algorithms.index(claim.rival)
        return opponent(self.mean_ranks, subject, rival) - self.mean_ranks[:, subject]

    def to_frame(self) -> pl.DataFrame:
        """One row per claim: in how many universes it is seen and shown, the mean lead and the joint test."""
        rows = [
            {"claim": claim.statement, **plain(claim.counts), "lead": claim.lead, "p": claim.p,
             "exceptions": claim.exceptions}
            for claim in self.claims
        ]  # fmt: skip
        return pl.DataFrame(rows, schema_overrides={"p": pl.Float64})

    def universes_frame(self) -> pl.DataFrame:
        """One row per universe: its choices, who is first, the grade, its place on the map and every mean rank."""
        names = [", ".join(self.algorithms[a] for a in np.flatnonzero(row)) for row in self.firsts()]
        chosen: dict[str | tuple[str, ...], Any] = {
            axis: [every[at] for at in self.choices[:, i]] for i, (axis, every) in enumerate(self.axes.items())
        }
        ranks = tuple(f"mean_rank {name}" for name in self.algorithms)
        return long_frame(
            {"universe": range(1, len(self.leaky) + 1)},
            {**chosen, "first": names, "grade": self.grades, "datasets": self.n_datasets, "leaky": self.leaky,
             ("x", "y"): self.places, ranks: self.mean_ranks},
        )  # fmt: skip

    def curve_frame(self) -> pl.DataFrame:
        """One row per claim and universe: the lead in mean rank, from the smallest up."""
        frames = [
            pl.DataFrame({"claim": claim.statement, "universe": np.arange(1, len(self.leaky) + 1),
                          "lead": self.lead_of(claim)}).fill_nan(None).drop_nulls().sort("lead", "universe")
            for claim in self.claims
        ]  # fmt: skip
        return pl.concat(frames)

    def datasets_frame(self) -> pl.DataFrame:
        """One row per claim and dataset: in how many universes it is seen there."""
        rows = [
            (claim.statement, dataset, *counts) for claim in self.claims for dataset, counts in claim.by_dataset.items()
        ]
        schema = {"claim": pl.String, c.DATASET: pl.String} | dict.fromkeys(("ahead", "tied", "behind"), pl.Int64)
        return pl.DataFrame(rows, schema=schema, orient="row")

    def axes_frame(self) -> pl.DataFrame:
        """One row per axis and pair of axes, and the rest: its share of the distance between rankings."""
        rows = [(share.name, share.share, *(share.interval or (None, None))) for share in self.shares]
        schema = {"axis": pl.String} | dict.fromkeys(("share", "low", "high"), pl.Float64)
        return pl.DataFrame(rows, schema=schema, orient="row")

    def frames(self) -> dict[str, pl.DataFrame]:
        """Claims, universes, the deciding axes, claims by dataset, and the specification curves."""
        return {
            "multiverse": self.to_frame(),
            "multiverse_universes": self.universes_frame(),
            "multiverse_axes": self.axes_frame(),
            "multiverse_datasets": self.datasets_frame(),
            "multiverse_curves": self.curve_frame(),
        }

    def to_dict(self) -> dict[str, Any]:
        """`universes`, `best`, `claims`, `axes`, and pairs of axes, grades, leaky universes, notes and settings."""
        grades = [grade for grade, leaky in zip(self.grades, self.leaky, strict=True) if not leaky]
        shares = [plain({"axis": s.axes, "share": s.share, "interval": s.interval, "of_leads": s.of_leads})
                  for s in self.shares]  # fmt: skip
        return {
            "universes": self.universes,
            "best": [
                {"algorithm": name, "universes": count, "share": count / max(self.universes, 1)}
                for name, count in self.best().items()
            ],
            "claims": plain(self.claims),
            "axes": [{**s, "axis": s["axis"][0], "choices": list(self.axes[s["axis"][0]])}
                     for s in shares if len(s["axis"]) == 1],
            "axis_pairs": [s for s in shares if len(s["axis"]) == 2],
            "rest": next((s["share"] for s in shares if not s["axis"]), 0.0),
            **stated(self, "algorithms", "datasets"),
            "grades": {grade: grades.count(grade) for grade in dict.fromkeys(grades)},
            "leaky": {"universes": int(self.leaky.sum()), "best": self.best(leaky=True)},
            "mean_rank": by_name(overall_ranks(self.mean_ranks[~self.leaky]), self.algorithms),
            **stated(self, "drift", "seeds", "notes", "settings"),
        }  # fmt: skip
