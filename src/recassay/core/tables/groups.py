"""What analyses of groups read: scores by group of users, exposure by group of items, how even weights are."""

from __future__ import annotations

from dataclasses import dataclass

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
