"""BPR: matrix factorisation that learns to rank an item the user has above one the user has not."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from recassay.algorithms.kernels.compiled import compiled
from recassay.algorithms.kernels.pairwise import Blocks, Factors, PairTraining, draws, pairs_bytes, shuffled_visits
from recassay.algorithms.kernels.positives import Positives, draw, holds
from recassay.algorithms.kernels.scoring import FactorRecommender
from recassay.algorithms.kernels.stages import Iterated
from recassay.core.specs.search import fixed, real, whole
from recassay.core.types import Interactions


class BPR(Iterated[FactorRecommender]):
    """Bayesian personalised ranking (Rendle et al. 2009), matrix factorisation with an item bias.

    Maximises sum over (u, i, j) of ln s(x_uij) - reg / 2 (|p_u|^2 + |q_i|^2 + |q_j|^2 + b_i^2 + b_j^2), where u has i
    and not j, x_uij = p_u . (q_i - q_j) + b_i - b_j and s is the logistic function. Stochastic gradient ascent: an
    iteration meets every event (u, i) once, in a random order. j is, of some items drawn evenly from the catalogue, the
    one with the highest score among those that u lacks (dynamic negative sampling, Zhang et al. 2013). Drawn are
    `hardest_of` items from a catalogue of at most 4,000, and up to 1 + 4 (`hardest_of` - 1) from larger ones, where
    most items are ranked low already and teach nothing; 1 is the draw of Rendle et al. `iterations` is the most that is
    tried: in a study the validation part decides.

    Threads learn from blocks of events that share neither users nor items (Gemulla et al. 2011), so the numbers do not
    depend on how many threads there are. In large data j is drawn from the block's items, a random part of the
    catalogue that changes every iteration; see `pairwise`.
    """

    name: ClassVar[str] = "BPR"
    folds_in: ClassVar[bool] = False
    stopped_by: ClassVar[str] = "iterations"
    most_stages: ClassVar[int] = 15
    source: ClassVar[str] = (
        "Rendle, Freudenthaler, Gantner & Schmidt-Thieme 2009, BPR, UAI; "
        "Zhang, Chen, Wang & Yu 2013, Optimizing Top-N CF via Dynamic Negative Item Sampling, SIGIR"
    )

    factors: int = whole(64, 256, default=128, step=64)
    reg: float = real(5e-3, 0.1, default=0.02, log=True)
    rate: float = real(0.02, 0.2, default=0.05, log=True)
    hardest_of: int = whole(1, 8, default=4, log=True, least=1)
    iterations: int = fixed(150, least=1)

    def training(self, train: Interactions, rng: np.random.Generator) -> PairTraining:
        """Factors near zero."""
        return _PairwiseTraining(self, train, rng)

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """Factors and bias twice (training and model), the pairs, and the order in which they are visited."""
        return pairs_bytes(self.factors, 2, n_users, n_items, n_interactions)


class _PairwiseTraining(PairTraining):
    def __init__(self, algorithm: BPR, train: Interactions, rng: np.random.Generator) -> None:
        super().__init__(train, algorithm.factors, rng)
        self._rate, self._reg = np.float32(algorithm.rate), np.float32(algorithm.reg)
        self._draws = draws(algorithm.hardest_of, train.n_items)

    def learn(self, row: int, column: int) -> None:
        (learned,), blocks = self.learned, self.visits.blocks
        _learn_pairs(self.positives, blocks, row, column, learned, self._rate, self._reg, self._draws)


@compiled
def _learn_pairs(
    positives: Positives,
    blocks: Blocks,
    row: int,
    column: int,
    learned: Factors,
    rate: np.float32,
    reg: np.float32,
    draws: int,
) -> None:
    """A step for every event of a block."""
    users, factors, offset = learned.users, learned.users.shape[1], column * blocks.size
    part = slice(offset, offset + blocks.size)
    catalogue, items, bias = blocks.catalogue[part], learned.items[part], learned.bias[part]
    # A copy: threads that write next to each other in memory wait for each other.
    state, end = blocks.states[row, column : column + 1].copy(), blocks.bounds[row, column + 1]
    decay = np.float32(1) - rate * reg
    mine = np.empty(factors, np.float32)
    difference = np.empty(factors, np.float32)
    for start in shuffled_visits(blocks, blocks.bounds[row, column], end, state):
        user = blocks.users[start]
        held = positives.items[positives.first[user] : positives.first[user + 1]]
        home = users[user]
        for f in range(factors):
            mine[f] = home[f]
        for event in range(start, min(start + blocks.length, end)):
            if blocks.users[event] != user:
                break
            liked = blocks.places[event] - offset
            # The wrong item: the one that scores highest of those drawn that the user lacks.
            other, highest = np.int64(-1), np.float32(0)
            for _ in range(draws):
                drawn = draw(state, len(catalogue))
                score = bias[drawn]
                if draws > 1:
                    rival = items[drawn]
                    for f in range(factors):
                        score += mine[f] * rival[f]
                if (score > highest or other < 0) and not holds(held, catalogue[drawn]):
                    other, highest = drawn, score
            if other < 0:
                continue
            # A step up the gradient of ln s(margin) for both items and the user.
            better, worse = items[liked], items[other]
            margin = bias[liked] - bias[other]
            for f in range(factors):
                difference[f] = better[f] - worse[f]
                margin += mine[f] * difference[f]
            step = rate / (np.float32(1) + math.exp(margin))
            for f in range(factors):
                better[f] = decay * better[f] + step * mine[f]
            for f in range(factors):
                worse[f] = decay * worse[f] - step * mine[f]
            for f in range(factors):
                mine[f] = decay * mine[f] + step * difference[f]
            bias[liked] = decay * bias[liked] + step
            bias[other] = decay * bias[other] - step
        for f in range(factors):
            home[f] = mine[f]
