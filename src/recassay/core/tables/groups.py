"""What analyses of groups read: scores by group of users, exposure by group of items, how even weights are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from recassay.core.tables.scores import UserScores

LEAST_SHARE, LEAST_EFFECTIVE, MOST_OF_ONE = 0.2, 100.0, 0.05
"""Below the first two, an effective share and number of test events, weights are too uneven to trust an estimate; and
above the third, the share of the total weight that one event has."""


@dataclass(frozen=True, slots=True)
class WeightFacts:
    """How uneven the weights of test events are, and how exact the number that comes from them is."""

    events: int
    """Test events."""
    effective: float
    """Kish's effective number of them: (sum w)^2 / sum w^2."""
    largest: float
    """The largest weight, in multiples of the mean."""
    standard_error: float
    """That of the weighted metric: the deviation of its values over users, divided by the root of their number."""

    @property
    def wild(self) -> bool:
        """Whether the weights are so uneven that the weighted number cannot be trusted."""
        few = self.effective < max(LEAST_SHARE * self.events, LEAST_EFFECTIVE)
        return few or self.largest > MOST_OF_ONE * self.events


@dataclass(frozen=True, slots=True, eq=False)
class GroupedScores:
    """The scores of a dataset's users by an attribute (sex, age): one `UserScores` per group, named as the group."""

    dataset: str
    attribute: str
    whole: UserScores
    """All users, those too whose group is not known."""
    groups: tuple[UserScores, ...]


@dataclass(frozen=True, slots=True, eq=False)
class WeightedScores:
    """The scores of users by a weighted convention of the metric, beside the plain ones."""

    label: str
    plain: UserScores
    weighted: UserScores
    facts: WeightFacts | None
    """None where the test events are not known."""


@dataclass(frozen=True, slots=True)
class GroupsEvidence:
    """Everything about one metric that is known by group, and what is left out and why."""

    grouped: tuple[GroupedScores, ...] = ()
    exposure: tuple[dict[str, Any], ...] = ()
    """One row per dataset, attribute of items, algorithm and group: its `share` of the first k places (the mean over
    users, with its standard `error`), its share of training `events`, their `deviation` and `ratio`, and how unequal
    the chances of groups to be listed are (`rsp`; `reo`: those of relevant items)."""
    weighted: tuple[WeightedScores, ...] = ()
    left_out: tuple[str, ...] = ()
