"""The model behind synthetic interactions: its parameters, and the truth that they are drawn from.

The model is a mixture over the catalogue. At time t (0 to 1 over the span) user u meets item i with
probability

    P(i | u, t) = (1 - noise) * [ s * sum_k theta_uk(t) * phi_k(i, t) + (1 - s) * pi(i, t) ] + noise / n(t)

with s the taste strength, theta_u(t) the user's tastes (they sum to 1), phi_k(i, t) ~ pi(i, t) * q_ik the
items of taste k, pi(i, t) the popularity (a power law over the items born by t), q_i the item's factors
and n(t) the number of items born. Under a taste drift d, theta_u(t) = (1 - d t^2) * start + d t^2 * end
with independent start and end, and pi likewise under a popularity drift: what moves starts slowly, as
trends do, and is in full swing at the end. A user meets an item once (draws without replacement in the
order of time), so P is also the best possible ranking.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from recassay.core.specs.specs import Spec
from recassay.core.types import FloatArray, IdArray
from recassay.data.synthetic.draws import MixtureSampler

Share = Annotated[float, Field(ge=0, le=1)]
Exponent = Annotated[float, Field(ge=0, le=3)]
Breadth = Annotated[float, Field(gt=0, le=1000)]
EPOCHS = 20
"""What changes over time changes at the start of each of so many equal stretches of the span."""
RATING_NOISE = 0.5
"""Standard deviation of a rating around the expected one."""
_MOST_OF_CATALOGUE = 0.6


class SyntheticSpec(Spec):
    """What a synthetic dataset is to look like; equal specs give equal data."""

    n_users: Annotated[int, Field(ge=1)]
    n_items: Annotated[int, Field(ge=2)]
    n_interactions: Annotated[int, Field(ge=1)]
    n_factors: Annotated[int, Field(ge=1, le=256)] = 12
    """How many tastes there are."""
    taste_strength: Share = 0.8
    """The share of the interactions not left to chance that follow tastes; the others follow popularity."""
    taste_breadth: Breadth = 1.0
    """Total Dirichlet concentration of a user's tastes: 0.1 is one taste, 1 two or so, 100 all alike."""
    item_breadth: Breadth = 0.3
    """The same for an item's factors: how many tastes an item serves."""
    popularity_exponent: Exponent = 0.8
    """Popularity of the r-th item ~ r^-exponent."""
    activity_exponent: Exponent = 0.5
    """Interactions above the minimum of the r-th user ~ r^-exponent."""
    min_user_interactions: Annotated[int, Field(ge=1)] = 8
    popularity_drift: Share = 0.0
    """How far the popularity of items has moved to a new, independent one by the end of the span."""
    taste_drift: Share = 0.0
    """How far the tastes of users have moved to new, independent ones by the end of the span."""
    new_items: Annotated[float, Field(ge=0, le=0.95)] = 0.0
    """The share of the catalogue that is born during the span, evenly over time."""
    user_turnover: Share = 0.2
    """0: every user is active over the whole span; 1: for a stretch of it of random length and place."""
    noise: Share = 0.05
    """The share of interactions with an item at random."""
    ratings: bool = False
    """Whether interactions carry a rating from 1 to 5."""
    start_time: int = 1_577_836_800
    """Seconds since 1970 of the first possible event."""
    days: Annotated[float, Field(gt=0)] = 365.0
    id_kind: Literal["integer", "string"] = "integer"
    seed: int = 0

    @model_validator(mode="after")
    def _check(self) -> SyntheticSpec:
        if self.n_interactions < self.n_users * self.min_user_interactions:
            raise ValueError(
                f"{self.n_interactions} interactions are too few for {self.n_users} users with at least "
                f"{self.min_user_interactions} each"
            )
        if self.n_interactions > self.n_users * self.most_per_user:
            raise ValueError(
                f"{self.n_interactions} interactions are too many for {self.n_users} users with at most "
                f"{self.most_per_user} each ({100 * _MOST_OF_CATALOGUE:.0f} % of the items there at the start)"
            )
        return self

    @property
    def most_per_user(self) -> int:
        """The most items one user may have: so many that even the earliest user still has a choice."""
        return max(1, int(_MOST_OF_CATALOGUE * (self.n_items - int(self.new_items * self.n_items))))


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticTruth:
    """What decided the interactions. Rows are positions in the id tables of the interactions."""

    spec: SyntheticSpec
    tastes_start: FloatArray
    """users x factors, rows sum to 1."""
    tastes_end: FloatArray
    """What the tastes drift to; equal to the start without drift."""
    item_factors: FloatArray
    """items x factors, rows sum to 1."""
    popularity_start: FloatArray
    """Over items, sums to 1; of an item that is not born yet, what it will be."""
    popularity_end: FloatArray
    birth: FloatArray
    """When each item is born, as a share of the span (the start of an epoch); 0: there from the start."""
    user_bias: FloatArray
    item_bias: FloatArray

    @property
    def n_epochs(self) -> int:
        """The number of equal stretches of the span within which the truth stands still."""
        spec = self.spec
        return EPOCHS if max(spec.popularity_drift, spec.taste_drift, spec.new_items) > 0 else 1

    def sampler(self, epoch: int) -> MixtureSampler:
        """The mixture of one epoch: the tastes, then popularity, then chance."""
        spec, progress = self.spec, ((epoch + 0.5) / self.n_epochs) ** 2
        born = self.birth <= epoch / self.n_epochs
        moved = spec.popularity_drift * progress
        popularity = _blend(self.popularity_start, self.popularity_end, moved) * born
        components: FloatArray = np.vstack((popularity * self.item_factors.T, popularity, born.astype(np.float64)))
        components /= components.sum(axis=1, keepdims=True)
        tastes = _blend(self.tastes_start, self.tastes_end, spec.taste_drift * progress)
        weights = np.empty((len(tastes), len(components)))
        weights[:, :-2] = (1 - spec.noise) * spec.taste_strength * tastes
        weights[:, -2] = (1 - spec.noise) * (1 - spec.taste_strength)
        weights[:, -1] = spec.noise
        return MixtureSampler(weights, components)

    def affinity(self, users: IdArray, *, at: float = 1.0, positive_threshold: float | None = None) -> FloatArray:
        """users x items: P(i | u, t) of the module, at a time `at` given as a share of the span (0 to 1).

        Ranking by it (without what the user has) is the oracle that no algorithm beats on average; under
        drift, choose `at` within the test period. Where only interactions rated at least
        `positive_threshold` count, the probability of such a rating is multiplied in.
        """
        block = self.sampler(min(int(at * self.n_epochs), self.n_epochs - 1)).probabilities(users)
        if positive_threshold is not None:
            from scipy.special import ndtr

            catalogue = np.arange(self.spec.n_items, dtype=np.int32)
            expected = self.expected_rating(users[:, None], catalogue[None, :])
            block *= ndtr((expected - (np.ceil(positive_threshold) - 0.5)) / RATING_NOISE)
        return block

    def expected_rating(self, users: IdArray, items: IdArray) -> FloatArray:
        """The rating before noise and rounding: 3.5 + user bias + item bias + 0.8 * match; arrays broadcast.

        The match is sum_k theta_uk * q_ik at the start of the span, standardised over all users and items.
        """
        tastes, factors = self.tastes_start, self.item_factors
        mean = float((tastes.mean(axis=0) * factors.mean(axis=0)).sum())
        second_moments = np.einsum("uk,ul->kl", tastes, tastes) * np.einsum("ik,il->kl", factors, factors)
        variance = float(second_moments.sum()) / (len(tastes) * len(factors)) - mean**2
        agreement = np.einsum("...k,...k->...", tastes[users], factors[items])
        match = (agreement - mean) / max(variance, 1e-12) ** 0.5
        return 3.5 + self.user_bias[users] + self.item_bias[items] + 0.8 * match


def _blend(start: FloatArray, end: FloatArray, moved: float) -> FloatArray:
    return (1 - moved) * start + moved * end
