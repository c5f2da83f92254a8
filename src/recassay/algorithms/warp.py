"""WARP: matrix factorisation that seeks an item ranked too high, and corrects it the more the sooner it is found."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from recassay.algorithms.kernels.compiled import compiled
from recassay.algorithms.kernels.pairwise import Blocks, Factors, PairTraining, pairs_bytes, shuffled_visits
from recassay.algorithms.kernels.positives import Positives, draw, holds
from recassay.algorithms.kernels.scoring import FactorRecommender
from recassay.algorithms.kernels.stages import Iterated
from recassay.core.specs.search import fixed, real, whole
from recassay.core.types import Float32Array, Interactions

LARGEST_LOSS = 10.0
"""The bound on one event's loss, as in LightFM."""


class WARP(Iterated[FactorRecommender]):
    """Weighted approximate-rank pairwise loss (Weston, Bengio & Usunier 2011), as LightFM (Kula 2015) on ids alone.

    score(u, i) = p_u . q_i + b_i. For every event (u, i), items j are drawn evenly until one the user has not scores
    above score(u, i) - 1, at most `max_sampled` times. Found at draw n, i's rank is about (items - 1) / n, and a
    gradient step is taken on L (score(u, j) - score(u, i)) with L = ln floor((items - 1) / n), at most 10. Steps are
    Adagrad's, a number's rate being `rate` / sqrt(1 + its squared gradients so far). An epoch meets every event once,
    in a random order of its own (with visits to several events of a user in a row, as in BPR, nDCG@10 on lastfm-2k was
    5 % lower). Threads share the work as in BPR: in large data j comes from a random part of the catalogue.

    The range of `rate` holds LightFM's own default, 0.05, which needs fewer epochs; that of the KDD'24 study ends at
    0.01, half of the best here.
    """

    name: ClassVar[str] = "WARP"
    folds_in: ClassVar[bool] = False
    stopped_by: ClassVar[str] = "epochs"
    counted_by: ClassVar[str] = "epochs"
    source: ClassVar[str] = "Weston, Bengio & Usunier 2011, WSABIE, IJCAI; Kula 2015, LightFM, CBRecSys"

    components: int = whole(10, 100, default=100)
    max_sampled: int = whole(10, 50, default=20)
    rate: float = real(1e-5, 1e-1, default=2e-2, log=True)
    epochs: int = fixed(50, least=1)

    def training(self, train: Interactions, rng: np.random.Generator) -> PairTraining:
        """Factors near zero."""
        return _RankTraining(self, train, rng)

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """Factors, bias and their squared gradients, the model's copy, the pairs and the order of visits."""
        return pairs_bytes(self.components, 3, n_users, n_items, n_interactions)


class _RankTraining(PairTraining):
    def __init__(self, algorithm: WARP, train: Interactions, rng: np.random.Generator) -> None:
        super().__init__(train, algorithm.components, rng, events_a_visit=1)
        self.learned.append(Factors(*map(np.ones_like, self.learned[0])))
        self._rate = np.float32(algorithm.rate)
        self._losses = rank_losses(train.n_items, algorithm.max_sampled)

    def learn(self, row: int, column: int) -> None:
        (learned, squares), blocks = self.learned, self.visits.blocks
        _learn_ranks(self.positives, blocks, row, column, learned, squares, self._rate, self._losses)


def rank_losses(n_items: int, max_sampled: int) -> Float32Array:
    """L of a violation found at draw 1, 2, ... `max_sampled`: ln max(1, floor((items - 1) / draw)), at most 10."""
    ranks = np.maximum(1, (n_items - 1) // np.arange(1, max_sampled + 1))
    return np.minimum(np.log(ranks), LARGEST_LOSS).astype(np.float32)


@compiled
def _learn_ranks(
    positives: Positives,
    blocks: Blocks,
    row: int,
    column: int,
    learned: Factors,
    squares: Factors,
    rate: np.float32,
    losses: Float32Array,
) -> None:
    """A step for every event of a block that is ranked too low."""
    users, factors, offset = learned.users, learned.users.shape[1], column * blocks.size
    part = slice(offset, offset + blocks.size)
    catalogue, items, bias = blocks.catalogue[part], learned.items[part], learned.bias[part]
    item_squares, bias_squares = squares.items[part], squares.bias[part]
    slope, mine_slope = np.empty(factors, np.float32), np.empty(factors, np.float32)
    # A copy: threads that write next to each other in memory wait for each other.
    state, end = blocks.states[row, column : column + 1].copy(), blocks.bounds[row, column + 1]
    for event in shuffled_visits(blocks, blocks.bounds[row, column], end, state):
        user, liked = blocks.users[event], blocks.places[event] - offset
        held = positives.items[positives.first[user] : positives.first[user + 1]]
        mine, better = users[user], items[liked]
        score = bias[liked]
        for f in range(factors):
            score += mine[f] * better[f]
        for loss in losses:
            other = draw(state, len(catalogue))
            worse = items[other]
            rival = bias[other]
            for f in range(factors):
                rival += mine[f] * worse[f]
            if rival <= score - np.float32(1) or holds(held, catalogue[other]):
                continue
            for f in range(factors):
                slope[f] = loss * mine[f]
                mine_slope[f] = loss * (worse[f] - better[f])
            _step(better, item_squares[liked], slope, rate)
            _step(worse, item_squares[other], slope, -rate)
            _step(mine, squares.users[user], mine_slope, -rate)
            bias[liked] += rate * loss / math.sqrt(bias_squares[liked])
            bias[other] -= rate * loss / math.sqrt(bias_squares[other])
            bias_squares[liked] += loss * loss
            bias_squares[other] += loss * loss
            break


@compiled
def _step(moved: Float32Array, squares: Float32Array, slope: Float32Array, rate: np.float32) -> None:
    """A step of Adagrad along `slope`."""
    for f in range(len(moved)):
        # Python's division asks whether the divisor is 0, which would keep the loop from vector instructions.
        moved[f] += np.divide(rate * slope[f], math.sqrt(squares[f]))
        squares[f] += slope[f] * slope[f]
