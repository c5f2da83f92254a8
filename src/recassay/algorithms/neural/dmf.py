"""DMF: two towers that read a user's row and an item's column of the matrix."""

from __future__ import annotations

from typing import Any, ClassVar

from recassay.algorithms.kernels.device import torch
from recassay.algorithms.neural.algorithm import NeuralAlgorithm
from recassay.algorithms.neural.events import Events
from recassay.algorithms.neural.links import Links
from recassay.algorithms.neural.network import Dense, EmbeddingNetwork, rows, unit_length
from recassay.core.specs.search import choice, real, whole

LOWEST = 1e-6
"""The least similarity, so that it has a logarithm."""


class DMF(NeuralAlgorithm):
    """Deep matrix factorisation on the binary matrix Y.

    p_u = relu(W2 relu(W1 Y_u)) and q_i likewise from the column Y_i (equation 7); the score is their cosine, at least
    1e-6 (equations 8 and 13). Minimises the cross entropy of events against `negatives` others each (equation 11,
    where every rating counts as the highest).
    """

    name: ClassVar[str] = "DMF"
    folds_in: ClassVar[bool] = False
    source: ClassVar[str] = "Xue, Dai, Zhang, Huang & Chen 2017, Deep Matrix Factorization Models, IJCAI"
    graphs: ClassVar[int] = 1

    hidden: int = choice((64, 128, 256, 512), default=256)
    embedding: int = whole(32, 256, default=192, step=32)
    negatives: int = whole(1, 10, default=7)
    rate: float = real(1e-5, 1e-2, default=1e-3, log=True)
    batch: int = 2048

    def network(self, events: Events) -> TwoTowers:
        """Both towers."""
        return TwoTowers(self, events)

    def numbers(self, n_users: int, n_items: int, n_interactions: int) -> tuple[int, int]:
        """A layer as wide as each side; both sides' answers and their gradients, the batch, the links."""
        sides = n_users + n_items
        batch = min(self.batch, n_interactions) * (2 + self.negatives) * self.embedding
        return self.hidden * (sides + 2 * self.embedding), 4 * sides * self.hidden + 4 * batch + 10 * n_interactions


class TwoTowers(EmbeddingNetwork[DMF]):
    """The network of `DMF`; the first layers are products with the sparse matrix, for all users and items at once."""

    recordable = True

    def __init__(self, algorithm: DMF, events: Events) -> None:
        super().__init__(algorithm, events)
        self.links = Links(events).weighted(torch.ones(len(events), device=events.device))
        hidden, size = algorithm.hidden, algorithm.embedding
        self.of_items, self.of_users = (Dense(n, hidden, self.chance) for n in (events.n_items, events.n_users))
        self.user_top, self.item_top = Dense(hidden, size, self.chance), Dense(hidden, size, self.chance)

    def loss(self, batch: Any) -> Any:
        """Cross entropy of a batch of events and their negatives, per event."""
        user, item = self.events.user[batch], self.events.item[batch]
        others = self.events.negatives(user, self.algorithm.negatives)
        users, items = self.embeddings()
        mine = rows(users, user)
        liked = (mine * rows(items, item)).sum(1).clamp(LOWEST, 1 - LOWEST)
        unliked = (rows(items, others) @ mine[:, :, None])[:, :, 0].clamp(LOWEST, 1 - LOWEST)
        return -(liked.log() + torch.log1p(-unliked).sum(1)).mean()

    def embeddings(self) -> tuple[Any, Any]:
        """The towers' answers, of length 1."""
        users = self.user_top(torch.relu(self.links.of_items(self.of_items.weight.T) + self.of_items.bias))
        items = self.item_top(torch.relu(self.links.of_users(self.of_users.weight.T) + self.of_users.bias))
        return unit_length(torch.relu(users)), unit_length(torch.relu(items))
