"""LightGCN: embeddings smoothed over the graph of users and items; and the contrastive loss of models on that graph."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

from recassay.algorithms.kernels.device import torch
from recassay.algorithms.kernels.pairwise import draws
from recassay.algorithms.neural.algorithm import NeuralAlgorithm
from recassay.algorithms.neural.events import Events
from recassay.algorithms.neural.links import Links, balanced
from recassay.algorithms.neural.network import EmbeddingNetwork, half_squares, ranking_loss, rows, unit_length, xavier
from recassay.core.specs.search import real, whole


class GraphAlgorithm(NeuralAlgorithm):
    """What algorithms on the graph of users and items have in common."""

    folds_in: ClassVar[bool] = False

    embedding: int
    layers: int
    reg: float

    def numbers(self, n_users: int, n_items: int, n_interactions: int) -> tuple[int, int]:
        """A vector for each id; the layers, their gradients, the batch, and the links."""
        learned = self.embedding * (n_users + n_items)
        batch = 12 * self.embedding * min(self.batch, n_interactions)
        return learned, (2 * self.layers + 4) * learned + batch + 10 * n_interactions


class LightGCN(GraphAlgorithm):
    """Light graph convolution.

    Layer 0 is learned; layer k + 1 of a node is the sum of layer k of its neighbours, each divided by
    sqrt(|N_u| |N_i|) (equation 3); the final vectors are the mean of layers 0 to `layers`. Minimises the BPR loss over
    events with one negative each, plus `reg` times half the squared length of the layer-0 vectors of the batch, per
    event (equation 15: the penalty is on layer 0 alone). The negative is the one with the highest score of some items
    that the user lacks, as many as `BPR` draws for the same `hardest_of`; 1 is the draw of the paper.
    """

    name: ClassVar[str] = "LightGCN"
    source: ClassVar[str] = "He, Deng, Wang, Li, Zhang & Wang 2020, LightGCN, SIGIR"
    graphs: ClassVar[int] = 1

    embedding: int = whole(32, 256, default=64, step=32)
    layers: int = whole(1, 4, default=3)
    reg: float = real(1e-4, 1e-2, default=3e-3, log=True)
    rate: float = real(1e-3, 3e-2, default=5e-3, log=True)
    hardest_of: int = whole(1, 8, default=4, log=True, least=1)
    epochs: int = 300
    batch: int = 8192

    def network(self, events: Events) -> LightGraph:
        """Layer 0 and the links."""
        return LightGraph(self, events)

    def numbers(self, n_users: int, n_items: int, n_interactions: int) -> tuple[int, int]:
        """As every algorithm on the graph, and the items drawn for a batch."""
        learned, step = super().numbers(n_users, n_items, n_interactions)
        drawn = draws(self.hardest_of, n_items) * min(self.batch, n_interactions)
        return learned, step + self.embedding * drawn


Graph = TypeVar("Graph", bound=GraphAlgorithm)


class GraphNetwork(EmbeddingNetwork[Graph]):
    """Layer-0 vectors of users and items, and the balanced links between them."""

    def __init__(self, algorithm: Graph, events: Events) -> None:
        super().__init__(algorithm, events)
        self.users = xavier(events.n_users, algorithm.embedding, self.chance)
        self.items = xavier(events.n_items, algorithm.embedding, self.chance)
        self.links = Links(events).weighted(balanced(events))

    def embeddings(self) -> tuple[Any, Any]:
        """The mean of the layers."""
        return self.smoothed(self.links)

    def smoothed(self, links: Links) -> tuple[Any, Any]:
        """The mean of all layers over these links."""
        return links.smoothed(self.users, self.items, self.algorithm.layers)

    def drawn(self, batch: Any) -> tuple[Any, Any, Any]:
        """(users, their items, one negative each) of a batch of events."""
        user = self.events.user[batch]
        return user, self.events.item[batch], self.events.negatives(user, 1)[:, 0]

    def pair_loss(self, user: Any, item: Any, other: Any, users: Any, items: Any) -> Any:
        """BPR on the final vectors and the penalty on those of layer 0."""
        both = torch.cat([item, other])
        loss = ranking_loss(rows(users, user), *rows(items, both).chunk(2))
        layer_0 = rows(self.users, user), *rows(self.items, both).chunk(2)
        return loss + self.algorithm.reg * half_squares(*layer_0)


class LightGraph(GraphNetwork[LightGCN]):
    """The network of `LightGCN`."""

    recordable = True

    def loss(self, batch: Any) -> Any:
        """BPR and penalty of a batch."""
        user, item = self.events.user[batch], self.events.item[batch]
        users, items = self.embeddings()
        others = self.events.negatives(user, draws(self.algorithm.hardest_of, self.events.n_items))
        with torch.no_grad():
            hardest = (items[others] @ users[user][:, :, None]).argmax(1)
        return self.pair_loss(user, item, others.gather(1, hardest)[:, 0], users, items)


MOST_CONTRASTED = 1 << 16
"""Nodes of one kind up to which a node is set against all of them; beyond, against those of its batch."""


def contrast(first: Any, second: Any, chosen: Any, temperature: float, *, in_batch: bool = False) -> Any:
    """InfoNCE: the mean over `chosen` of - ln exp(s(a_v, b_v) / T) / sum_w exp(s(a_v, b_w) / T), s the cosine.

    a and b are the rows of `first` and `second`; w runs over all rows, or over those that are chosen (`in_batch`).
    """
    if in_batch or len(second) > MOST_CONTRASTED:
        # Each node counts once. Repetitions are masked, not removed: the shapes stay the same for every batch.
        chosen = chosen.sort().values
        once = torch.nn.functional.pad(chosen[1:] != chosen[:-1], (1, 0), value=True)
        a, b = unit_length(rows(first, chosen)), unit_length(rows(second, chosen))
        a = a / temperature
        nearness = (a @ b.T).masked_fill(~once, -torch.inf)
        losses = torch.logsumexp(nearness, dim=1) - (a * b).sum(1)
        return (losses * once).sum() / once.sum()
    a, b = unit_length(rows(first, chosen)) / temperature, unit_length(second)
    return (torch.logsumexp(a @ b.T, dim=1) - (a * rows(b, chosen)).sum(1)).mean()
