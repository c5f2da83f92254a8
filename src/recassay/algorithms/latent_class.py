"""PLSA and the aspect model: people and items as mixtures of latent classes, fitted by expectation maximisation."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from recassay.algorithms.kernels.compiled import compiled
from recassay.algorithms.kernels.products import SparseRows
from recassay.algorithms.kernels.scoring import FactorRecommender
from recassay.algorithms.kernels.stages import Iterated
from recassay.core.errors import InputError
from recassay.core.specs.search import real, whole
from recassay.core.types import Float32Array, Interactions

EVENT_BYTES = 48
"""An upper estimate of the bytes per event at the peak of making the matrix of counts."""


class _LatentClasses(Iterated[FactorRecommender]):
    """Parameters that models of latent classes have in common."""

    folds_in: ClassVar[bool] = False

    classes: int = whole(5, 200, default=64, log=True)
    iterations: int = whole(10, 100, default=50)
    beta: float = real(0.7, 1.0, default=0.8)
    use_ratings: bool = False

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """The probabilities, tempered and untempered, their sums and one copy, and the counts."""
        return 4 * 4 * self.classes * (n_users + n_items) + EVENT_BYTES * n_interactions


class PLSA(_LatentClasses):
    """Probabilistic latent semantic analysis for collaborative filtering (Hofmann 2004).

    P(i | u) = sum_z P(z | u) P(i | z), fitted to the counts n(u, i) by tempered EM. E-step: the posterior P(z | u, i)
    is in proportion to (P(z | u) P(i | z))^beta. M-step: P(z | u) and P(i | z) are in proportion to the sums of
    n(u, i) P(z | u, i) over the items and over the users. With `beta` = 1 this is EM and the likelihood never falls;
    below 1 it is damped, Hofmann's guard against overfitting, down to where all classes become one (on film ratings
    near 0.75). He lowers beta as long as held-out data gain by it; here tuning chooses it on held-out data.

    n(u, i) is 1 for a pair that occurs, or the sum of its ratings with `use_ratings`. A user without events gets the
    classes of the whole data, P(z), and so a list by popularity. The posteriors are never stored.
    """

    name: ClassVar[str] = "PLSA"
    source: ClassVar[str] = "Hofmann 2004, Latent Semantic Models for Collaborative Filtering, ACM TOIS 22(1)"

    def training(self, train: Interactions, rng: np.random.Generator) -> _ConditionalTraining:
        """Random P(z | u) and P(i | z)."""
        return _ConditionalTraining(self, train, rng)


class AspectModel(_LatentClasses):
    """The aspect model for collaborative filtering (Hofmann & Puzicha 1999).

    P(u, i) = sum_z P(z) P(u | z) P(i | z), fitted to the counts n(u, i) by tempered EM. E-step: P(z | u, i) is in
    proportion to P(z) (P(u | z) P(i | z))^beta. M-step, with n(u, i, z) = n(u, i) P(z | u, i): P(z) is in proportion to
    the sum of n(u, i, z) over all pairs, P(u | z) to its sum over the items plus `smoothing`, P(i | z) to its sum over
    the users plus `smoothing` (the mode under a symmetric Dirichlet prior). Lists are by P(u, i), which for one user is
    the order of P(i | u). With `beta` = 1 and no smoothing this is EM and the likelihood never falls.

    n(u, i) is 1 for a pair that occurs, or the sum of its ratings with `use_ratings`. A user without events is scored
    by sum_z P(z) P(i | z), popularity.
    """

    name: ClassVar[str] = "AspectModel"
    source: ClassVar[str] = "Hofmann & Puzicha 1999, Latent Class Models for Collaborative Filtering, IJCAI"

    classes: int = whole(5, 200, default=40, log=True)
    beta: float = real(0.7, 1.0, default=0.9)
    smoothing: float = real(1e-4, 1.0, default=0.1, log=True)

    def training(self, train: Interactions, rng: np.random.Generator) -> _JointTraining:
        """Random P(u | z) and P(i | z), and equal P(z)."""
        return _JointTraining(self, train, rng)


class _ClassTraining:
    """The counts, and `users` and `items` with one column per class, all of them shares of random masses."""

    users_axis: ClassVar[int]
    """Along which axis the shares of `users` add up to 1; those of `items` do along each column."""

    def __init__(self, algorithm: _LatentClasses, train: Interactions, rng: np.random.Generator) -> None:
        self._counts = counts_of(train, use_ratings=algorithm.use_ratings)
        self._beta, self._rng = np.float32(algorithm.beta), rng
        self.users = _shares(_random_masses(train.n_users, algorithm.classes, rng), axis=self.users_axis)
        self.items = _shares(_random_masses(train.n_items, algorithm.classes, rng), axis=0)


class _ConditionalTraining(_ClassTraining):
    """PLSA: `users` holds P(z | u), one row per user, and `items` P(i | z), one column per class."""

    users_axis = 1

    def advance(self, iterations: int) -> None:
        for _ in range(iterations):
            user_mass, item_mass = expected_masses(self._counts, self.users**self._beta, self.items**self._beta)
            empty = ~user_mass.any(axis=1)
            user_mass[empty] = user_mass.sum(axis=0)
            self.users, self.items = _shares(user_mass, axis=1), _shares(item_mass, axis=0)

    def model(self) -> FactorRecommender:
        return FactorRecommender(self.users, self.items, rng=self._rng)


class _JointTraining(_ClassTraining):
    """The aspect model: `users` holds P(u | z) and `items` P(i | z), one column per class, and `classes` P(z)."""

    users_axis = 0

    def __init__(self, algorithm: AspectModel, train: Interactions, rng: np.random.Generator) -> None:
        super().__init__(algorithm, train, rng)
        self._smoothing = np.float32(algorithm.smoothing)
        self.classes = np.full(algorithm.classes, 1 / algorithm.classes, dtype=np.float32)

    def advance(self, iterations: int) -> None:
        for _ in range(iterations):
            user_mass, item_mass = expected_masses(
                self._counts, self.classes * self.users**self._beta, self.items**self._beta
            )
            self.classes = _shares(user_mass.sum(axis=0, keepdims=True), axis=1)[0]
            self.users = _shares(user_mass + self._smoothing, axis=0)
            self.items = _shares(item_mass + self._smoothing, axis=0)

    def model(self) -> FactorRecommender:
        weights = self.users * self.classes
        weights[np.diff(self._counts.indptr) == 0] = self.classes
        return FactorRecommender(weights, self.items, rng=self._rng)


def counts_of(train: Interactions, *, use_ratings: bool) -> csr_array:
    """n(u, i): ones, or the summed ratings, which must not be negative."""
    counts = train.csr(binary=not use_ratings)
    if len(counts.data) and counts.data.min() < 0:
        raise InputError(
            "ratings below zero cannot be counts of a latent class model", fix="leave use_ratings off, or shift them"
        )
    return counts


def expected_masses(counts: csr_array, users: Float32Array, items: Float32Array) -> tuple[Float32Array, Float32Array]:
    """The E-step, summed: n(u, i) P(z | u, i) over the items of each user, and over the users of each item.

    P(z | u, i) is in proportion to `users[u, z] * items[i, z]`; where the product is 0 for all z, the pair is left out.
    """
    user_mass, item_mass = np.zeros_like(users), np.zeros_like(items)
    _add_posteriors(SparseRows.of(counts), users, items, user_mass, item_mass)
    return user_mass, item_mass


def _random_masses(rows: int, classes: int, rng: np.random.Generator) -> Float32Array:
    return rng.random((rows, classes), dtype=np.float32) + np.float32(0.5)


def _shares(masses: Float32Array, *, axis: int) -> Float32Array:
    """The masses over their sum along `axis`; equal shares where the sum is zero."""
    total = masses.sum(axis=axis, keepdims=True, dtype=np.float64).astype(np.float32)
    equal = 1 / masses.shape[axis] if masses.shape[axis] else 0.0
    shares = np.full_like(masses, equal)
    np.divide(masses, total, out=shares, where=total > 0)
    return shares


@compiled
def _add_posteriors(
    counts: SparseRows, users: Float32Array, items: Float32Array, user_mass: Float32Array, item_mass: Float32Array
) -> None:
    first, item, count = counts.start, counts.column, counts.value
    classes = users.shape[1]
    joint = np.empty(classes, np.float32)
    for user in range(len(users)):
        mine, mass = users[user], user_mass[user]
        for event in range(first[user], first[user + 1]):
            theirs, their_mass = items[item[event]], item_mass[item[event]]
            total = np.float32(0)
            for z in range(classes):
                joint[z] = mine[z] * theirs[z]
                total += joint[z]
            if total <= 0:
                continue
            share = count[event] / total
            for z in range(classes):
                mass[z] += share * joint[z]
            for z in range(classes):
                their_mass[z] += share * joint[z]
