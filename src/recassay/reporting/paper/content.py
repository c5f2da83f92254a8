"""What a paper is made of: the findings of each metric, and what is known of the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from recassay.analysis.compare.result import CompareResult
from recassay.analysis.rank.result import RankResult
from recassay.analysis.users.result import UsersResult
from recassay.analysis.verdict.result import SeedTests
from recassay.core.choices import FEWEST_DATASETS
from recassay.core.tables.facts import StudyFacts
from recassay.core.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class MetricFindings:
    """One metric: its value in every cell, and what the tests say of it.

    `values[a, d]` follows the algorithms and datasets of the content, NaN where a cell has no value; so does
    `deviations`, the standard deviation over `repeats` (such as "5 seeds"). `rank` and `compare` are None where there
    are too few datasets, `users` where no scores of users are known.
    """

    metric: str
    higher_is_better: bool
    values: FloatArray
    deviations: FloatArray | None = None
    repeats: str = ""
    rank: RankResult | None = None
    compare: CompareResult | None = None
    users: UsersResult | None = None
    seeds: SeedTests | None = None
    """The tests over the seeds of each dataset, where no scores of users are known."""

    @property
    def tested(self) -> CompareResult | None:
        """The tests over datasets, where there are enough datasets for them to show anything."""
        compare = self.compare
        return compare if compare is not None and len(compare.datasets) >= FEWEST_DATASETS else None


@dataclass(frozen=True, slots=True)
class DatasetFacts:
    """What a paper says of a dataset; None where it is not known.

    `interactions` are all of them, or those that train where `tested` says how many others test, on `judged` users.
    `catalogued` is its name in the catalogue, `home` the address that the catalogue knows it by.
    """

    name: str
    catalogued: str = ""
    home: str = ""
    users: int | None = None
    items: int | None = None
    interactions: int | None = None
    tested: int | None = None
    judged: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PaperContent:
    """Everything that the files of a paper are written from.

    `algorithms` run in the order of the rows. `references` name, by algorithm, what it is an instance of; `origin` says
    where a table comes from that is not a study: a sentence, and the name of a published table or nothing.
    """

    algorithms: tuple[str, ...]
    datasets: tuple[DatasetFacts, ...]
    findings: tuple[MetricFindings, ...]
    alpha: float = 0.05
    facts: StudyFacts | None = None
    references: Mapping[str, str] = field(default_factory=dict)
    origin: tuple[str, str] = ("", "")
