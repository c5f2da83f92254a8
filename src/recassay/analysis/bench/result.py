"""Where one algorithm stands: the verdict, and dataset by dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import polars as pl

from recassay.analysis.verdict.result import Status, Verdict
from recassay.core.system.display import Displayed, worded
from recassay.core.tables.results import Results
from recassay.core.tables.sources import Source
from recassay.core.tabular import stated

NOT_ASKED = "not asked for"
"""Why a dataset was not used that the caller did not name."""


@dataclass(frozen=True, slots=True)
class BenchRow:
    """One dataset: the algorithm's value and place, the best baseline there, and the paired test over users."""

    dataset: str
    value: float
    """Of the algorithm."""
    place: int
    """1 where no baseline is better."""
    of: int
    """How many are placed: the baselines and the algorithm."""
    best: str
    """The best baseline."""
    best_value: float
    """Of the best baseline."""
    users: int | None = None
    """Users that both were judged on; None where their values are not known."""
    difference: float | None = None
    """Mean over those users of the algorithm's value less the best baseline's, with its interval."""
    low: float | None = None
    high: float | None = None
    p: float | None = None
    """Of the sign-flip test over users, adjusted by Holm over the datasets."""


@dataclass(frozen=True, slots=True)
class BenchResult(Displayed):
    """Where one algorithm stands among the shipped baselines."""

    algorithm: str
    benchmark: str
    """Where the baselines come from."""
    judgement: Verdict
    """On the algorithm and all baselines together; the algorithm is the control, named beforehand."""
    rows: tuple[BenchRow, ...]
    """The datasets, where it stands best first."""
    of_datasets: int
    """How many datasets the benchmark has."""
    skipped: Mapping[str, str] = field(default_factory=dict)
    """By dataset that was not used, why."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """By baseline that is not compared, why."""
    seconds: float | None = None
    """What the algorithm took in all, tuning included."""
    joules: float | None = None
    """What that took in energy."""
    folder: str = ""
    """Where its study is."""
    sources: tuple[Source, ...] = ()
    """The shipped values."""
    results: Results | None = field(default=None, repr=False, compare=False)
    """The values of the algorithm and its baselines."""
    notes: tuple[str, ...] = ()
    trial: bool = False
    """Whether this was a trial on embedded datasets, which gives no place."""

    @property
    def mean_rank(self) -> float:
        """The mean rank of the algorithm over the datasets."""
        return float(self.judgement.mean_rank[self.judgement.algorithms.index(self.algorithm)])

    def against(self, *kinds: Status) -> list[str]:
        """The baselines against which the algorithm has one of these statuses, the best mean rank first."""
        others = (name for name in self.judgement.algorithms if name != self.algorithm)
        return [name for name in others if self.judgement.status_of(self.algorithm, name) in kinds]

    def headline(self) -> str:
        """Where it stands, in one sentence."""
        return str(worded("bench", "headline", self))

    def to_frame(self) -> pl.DataFrame:
        """One row per dataset."""
        return pl.DataFrame([asdict(row) for row in self.rows], infer_schema_length=None)

    def frames(self) -> dict[str, pl.DataFrame]:
        """The datasets, and the verdict's table of algorithms."""
        return {"bench": self.to_frame(), "bench_standing": self.judgement.to_frame()}

    def to_dict(self) -> dict[str, Any]:
        """The standing, the verdict, every dataset, and what was left out."""
        return {
            **stated(self, "algorithm", "benchmark"),
            "headline": self.headline(),
            "mean_rank": self.mean_rank,
            "beats": self.against("better"),
            "beaten_by": self.against("worse"),
            "equivalent": self.against("equivalent"),
            "undecided": self.against("undecided", "undecidable"),
            "verdict": self.judgement.to_dict(),
            "datasets": [asdict(row) for row in self.rows],
            **stated(self, "of_datasets", "skipped", "left_out", "seconds", "joules", "folder", "notes", "trial"),
        }
