"""What is known by group of users and of items, and under weights."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from recassay.analysis.users.result import DatasetUsers
from recassay.core import columns as c
from recassay.core.system.display import Displayed
from recassay.core.tables.groups import WeightFacts
from recassay.core.tabular import estimates, stated


@dataclass(frozen=True, slots=True)
class Gap:
    """How much better an algorithm serves one group than another, the best and the worst of an attribute."""

    algorithm: str
    best: str
    """The group that it serves best."""
    worst: str
    """The group that it serves worst."""
    difference: float
    low: float
    high: float
    p: float
    """Of Welch's test, times the number of pairs of groups."""
    significant: bool
    """Whether `p` is below the level."""
    mad: float
    """The mean absolute difference over all pairs of groups (MAD of ranking)."""


@dataclass(frozen=True, slots=True)
class Worse:
    """A group in which another algorithm is significantly better than the one that is best over all users."""

    group: str
    """Name of the group."""
    better: str
    """The algorithm that is better there."""
    difference: float
    low: float
    high: float
    p_holm: float
    """Over all groups of the attribute and all other algorithms."""


@dataclass(frozen=True, slots=True)
class GroupUsers:
    """One attribute of the users of a dataset."""

    dataset: str
    attribute: str
    """What the users are grouped by: sex, age, ..."""
    leader: str
    """The algorithm with the best mean over all users."""
    groups: tuple[DatasetUsers, ...]
    """Each group (its name in `dataset`) with means, intervals and pairs."""
    gaps: tuple[Gap, ...]
    """One per algorithm."""
    worse: tuple[Worse, ...]
    """Where the leader is significantly worse than another."""

    @property
    def best_in(self) -> dict[str, str]:
        """By group, the algorithm with the best mean."""
        return {group.dataset: group.algorithms[0] for group in self.groups}


@dataclass(frozen=True, slots=True)
class Weighted:
    """A weighted convention beside the plain metric on one dataset."""

    label: str
    """The weighted metric, as in `ndcg@10[snips]`."""
    plain: DatasetUsers
    """Means, intervals and pairs by the plain metric."""
    weighted: DatasetUsers
    """The same by the weighted one."""
    lost: tuple[str, ...]
    """The algorithms that the plain leader beats significantly, and under the weights does not."""
    facts: WeightFacts | None
    """How uneven the weights are; None where the test events are not known."""

    @property
    def trusted(self) -> bool:
        """Whether the weights are known not to be too uneven."""
        return self.facts is None or not self.facts.wild

    def rows(self) -> list[dict[str, Any]]:
        """One row per algorithm, the best plain value first."""
        weighted = dict(zip(self.weighted.algorithms, self.weighted.means, strict=True))
        return [
            {c.DATASET: self.plain.dataset, "label": self.label, c.ALGORITHM: name, "plain": value,
             "weighted": weighted.get(name)}
            for name, value in zip(self.plain.algorithms, self.plain.means, strict=True)
        ]  # fmt: skip

    @property
    def vanishes(self) -> bool:
        """Whether the plain leader's lead over the second is significant, and under the weights is not."""
        return self.plain.algorithms[1:2] != () and self.plain.algorithms[1] in self.lost


_ROWS = {c.DATASET: pl.String, "attribute": pl.String, "group": pl.String, "users": pl.Int64, c.ALGORITHM: pl.String,
         c.VALUE: pl.Float64, "low": pl.Float64, "high": pl.Float64, "not_worse_than_best": pl.Boolean}  # fmt: skip


@dataclass(frozen=True, slots=True)
class GroupsResult(Displayed):
    """What is known by group of users and of items, and what weighting by exposure changes."""

    metric: str
    higher_is_better: bool
    users: tuple[GroupUsers, ...]
    """One per dataset and attribute of users."""
    exposure: tuple[dict[str, Any], ...]
    """Rows of `GroupsEvidence.exposure` with `low` and `high`, the ends of the interval of `share` over users."""
    weighted: tuple[Weighted, ...]
    """One per dataset and weighted convention of the metric."""
    alpha: float
    confidence: float
    left_out: tuple[str, ...] = ()
    """Groups, attributes and datasets that are left out, and why."""

    def to_frame(self) -> pl.DataFrame:
        """The metric by group: one row per dataset, attribute, group and algorithm."""
        rows = [
            (each.dataset, each.attribute, group.dataset, group.users, name, mean, low, high, name in group.not_worse())
            for each in self.users
            for group in each.groups
            for name, mean, low, high in zip(group.algorithms, group.means, group.low, group.high, strict=True)
        ]
        return pl.DataFrame(rows, schema=_ROWS, orient="row")

    def frames(self) -> dict[str, pl.DataFrame]:
        """Values by group, then those there are of gaps, exposure by group of items, and values under weights."""
        gaps = [{c.DATASET: u.dataset, "attribute": u.attribute, **asdict(gap)} for u in self.users for gap in u.gaps]
        weighted = [row for each in self.weighted for row in each.rows()]
        named = {"groups_gaps": gaps, "groups_exposure": list(self.exposure), "groups_weighted": weighted}
        return {"groups": self.to_frame(), **{name: pl.DataFrame(rows) for name, rows in named.items() if rows}}

    def to_dict(self) -> dict[str, Any]:
        """`users` by attribute, `exposure` of groups of items, `weighted` conventions, and the settings."""
        return {
            **stated(self, "metric", "higher_is_better", "exposure", "left_out"),
            "users": [
                {**stated(each, "dataset", "attribute", "leader", "best_in", "gaps", "worse"),
                 "groups": {group.dataset: {"users": group.users, "means": estimates(
                     group.algorithms, group.means, list(zip(group.low, group.high, strict=True)))}
                     for group in each.groups}}
                for each in self.users
            ],
            "weighted": [
                {**stated(each, "label", "lost", "vanishes", "trusted", "facts"), "dataset": each.plain.dataset,
                 "values": each.rows()}
                for each in self.weighted
            ],
            "settings": stated(self, "alpha", "confidence"),
        }  # fmt: skip
