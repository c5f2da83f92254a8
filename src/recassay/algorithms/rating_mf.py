"""RatingMF: matrix factorisation that predicts ratings, and ranks by the prediction."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from recassay.algorithms.kernels.compiled import compiled
from recassay.algorithms.kernels.pairwise import EVENTS_A_VISIT, centred_factors, visit_starts
from recassay.algorithms.kernels.scoring import FactorRecommender
from recassay.algorithms.kernels.stages import Iterated
from recassay.core.errors import NotApplicableError, RecAssayError
from recassay.core.specs.search import real, whole
from recassay.core.types import Float32Array, IdArray, IntArray, Interactions


class RatingMF(Iterated[FactorRecommender]):
    """Biased matrix factorisation for ratings (Koren, Bell & Volinsky 2009, equations 4 and 5).

    r_ui is predicted as mean + b_u + b_i + p_u . q_i. Minimises the sum over the events of the squared error +
    reg (b_u^2 + b_i^2 + |p_u|^2 + |q_i|^2) by stochastic gradient descent in a random order of the events; pairs
    without a rating play no part, which is why it ranks worse than methods that learn from what a user left out. A
    pair rated twice counts twice. Users and items without ratings keep a bias of zero. Lists are by predicted rating.
    """

    name: ClassVar[str] = "RatingMF"
    folds_in: ClassVar[bool] = False
    source: ClassVar[str] = (
        "Koren, Bell & Volinsky 2009, Matrix Factorization Techniques for Recommender Systems, Computer 42(8)"
    )

    factors: int = whole(10, 200, default=50)
    iterations: int = whole(10, 100, default=30)
    reg: float = real(1e-3, 1.0, default=0.05, log=True)
    rate: float = real(0.001, 0.05, default=0.01, log=True)

    def training(self, train: Interactions, rng: np.random.Generator) -> _RatingTraining:
        """Factors near zero; events without ratings (a threshold drops them, too) are refused."""
        return _RatingTraining(self, train, rng)

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """Factors and biases three times (training, joined, model), the events sorted, and the order of visits."""
        return 3 * 4 * (self.factors + 1) * (n_users + n_items) + 52 * n_interactions


class _Ratings(NamedTuple):
    """The events of user u are `first[u]` to `first[u + 1]`."""

    first: IntArray
    user: IdArray
    item: IdArray
    rating: Float32Array


class _Biased(NamedTuple):
    """What is learned."""

    users: Float32Array
    items: Float32Array
    user_bias: Float32Array
    item_bias: Float32Array


class _RatingTraining:
    def __init__(self, algorithm: RatingMF, train: Interactions, rng: np.random.Generator) -> None:
        if train.weight is None:
            raise NotApplicableError(
                "RatingMF needs ratings, and these events carry none: the data has no column of ratings, or "
                "positive_threshold made plain events of them",
                fix="leave it out, or study it without positive_threshold on data with ratings",
            )
        self._rng, self._rate, self._reg = rng, np.float32(algorithm.rate), np.float32(algorithm.reg)
        order = np.lexsort((rng.random(len(train), dtype=np.float32), train.user))
        user, item, rating = train.user[order], train.item[order], train.weight[order]
        self._mean = float(rating.mean(dtype=np.float64)) if len(rating) else 0.0
        self._range = float(rating.min(initial=np.inf)), float(rating.max(initial=-np.inf))
        first = np.concatenate([[0], np.cumsum(np.bincount(user, minlength=train.n_users))])
        self._events = _Ratings(first, user, item, (rating - self._mean).astype(np.float32))
        self._starts = visit_starts(first)
        sides = (train.n_users, train.n_items)
        factors = [centred_factors(size, algorithm.factors, rng) for size in sides]
        self._learned = _Biased(*factors, *(np.zeros(size, dtype=np.float32) for size in sides))

    def advance(self, iterations: int) -> None:
        for _ in range(iterations):
            starts = self._rng.permutation(self._starts)
            _learn_ratings(self._events, starts, self._learned, self._rate, self._reg)

    def model(self) -> FactorRecommender:
        users, items, user_bias, item_bias = self._learned
        if not all(np.isfinite(part).all() for part in self._learned):
            least, most = self._range
            raise RecAssayError(
                f"RatingMF diverged: its steps are too long for ratings from {least:.4g} to {most:.4g}",
                fix="lower `rate`, or bring the ratings to a smaller range, such as 1 to 5",
            )
        return FactorRecommender(
            np.column_stack([users, np.float32(self._mean) + user_bias]),
            np.column_stack([items, np.ones(len(items), dtype=np.float32)]),
            item_bias.copy(),
            rng=self._rng,
        )


@compiled
def _learn_ratings(events: _Ratings, starts: IntArray, learned: _Biased, rate: np.float32, reg: np.float32) -> None:
    first, event_user, event_item, event_rating = events
    users, items, user_bias, item_bias = learned
    factors = users.shape[1]
    decay = np.float32(1) - rate * reg
    for start in starts:
        user = event_user[start]
        mine = users[user]
        for event in range(start, min(start + EVENTS_A_VISIT, first[user + 1])):
            item = event_item[event]
            theirs = items[item]
            error = event_rating[event] - user_bias[user] - item_bias[item]
            for f in range(factors):
                error -= mine[f] * theirs[f]
            step = rate * error
            user_bias[user] = decay * user_bias[user] + step
            item_bias[item] = decay * item_bias[item] + step
            for f in range(factors):
                kept = mine[f]
                mine[f] = decay * kept + step * theirs[f]
                theirs[f] = decay * theirs[f] + step * kept
