"""What networks that end in embeddings share: pairs of items for a user, and scores by the inner product."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from recassay.algorithms.kernels.device_lists import Score
from recassay.algorithms.kernels.torch_when_used import torch
from recassay.algorithms.neural.chance import Chance
from recassay.algorithms.neural.network import Network, Pass, learned


class EmbeddingNetwork(Network):
    """A network whose answer is one vector for every user and item; an epoch goes once through the events."""

    def passes(self) -> Sequence[Pass]:
        """All events once whose user lacks an item."""
        return (Pass(self.loss, self.events.pairs),)

    @abstractmethod
    def loss(self, batch: Any) -> Any:
        """The loss of a batch of events (positions in `Events`)."""

    @abstractmethod
    def embeddings(self) -> tuple[Any, Any]:
        """The vectors of all users and of all items by which a fitted model scores."""

    def scorer(self) -> Score:
        """Inner products of the embeddings as they are now."""
        users, items = (vectors.detach().clone() for vectors in self.embeddings())
        return lambda asked: users[asked] @ items.T


def rows(vectors: Any, chosen: Any) -> Any:
    """`vectors[chosen]`, with a gradient that is summed in a fixed order on every device."""
    return torch.nn.functional.embedding(chosen, vectors)


def xavier(n: int, size: int, chance: Chance) -> Any:
    """Learned vectors, even numbers in +- sqrt(6 / (n + size))."""
    return learned((2 * chance.uniform(n, size) - 1) * (6 / max(n + size, 1)) ** 0.5)


def ranking_loss(users: Any, better: Any, worse: Any) -> Any:
    """BPR: the mean of - ln sigmoid(u . i - u . j) over the rows."""
    return torch.nn.functional.softplus((users * (worse - better)).sum(1)).mean()


def half_squares(*vectors: Any) -> Any:
    """Half the sum of squares, per row."""
    return sum(v.square().sum() for v in vectors) / (2 * max(len(vectors[0]), 1))
