"""LightGCN: embeddings smoothed over the graph of users and items; and the contrastive loss of models on that graph."""

from __future__ import annotations

from typing import Any, ClassVar

from recassay.algorithms.kernels.device import torch
from recassay.algorithms.kernels.pairwise import draws
from recassay.algorithms.neural.algorithm import NeuralAlgorithm
from recassay.algorithms.neural.events import Events
from recassay.algorithms.neural.links import Links, balanced
from recassay.algorithms.neural.network import EmbeddingNetwork, half_squares, ranking_loss, rows, xavier
from recassay.core.specs.search import real, whole


class LightGCN(NeuralAlgorithm):
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

    def network(self, events: Events) -> GraphNetwork:
        """Layer 0 and the links."""
        return LightGraph(events, self.embedding, self.layers, self.reg, draws(self.hardest_of, events.n_items))

    def numbers(self, n_users: int, n_items: int, n_interactions: int) -> tuple[int, int]:
        """A vector for each id; the layers, their gradients, the batch with the items drawn, and the links."""
        learned, step = graph_numbers(self.embedding, self.layers, self.batch, n_users, n_items, n_interactions)
        drawn = draws(self.hardest_of, n_items) * min(self.batch, n_interactions)
        return learned, step + self.embedding * drawn


class GraphNetwork(EmbeddingNetwork):
    """Layer-0 vectors of users and items, and the balanced links between them."""

    def __init__(self, events: Events, size: int) -> None:
        super().__init__(events)
        self.users = xavier(events.n_users, size, self.chance)
        self.items = xavier(events.n_items, size, self.chance)
        self.links = Links(events).weighted(balanced(events))

    def smoothed(self, links: Links, layers: int) -> tuple[Any, Any]:
        """The mean of layers 0 to `layers` over these links."""
        users, items = self.users, self.items
        all_users, all_items = users, items
        for _ in range(layers):
            users, items = links.of_items(items), links.of_users(users)
            all_users, all_items = all_users + users, all_items + items
        return all_users / (layers + 1), all_items / (layers + 1)

    def drawn(self, batch: Any) -> tuple[Any, Any, Any]:
        """(users, their items, one negative each) of a batch of events."""
        user = self.events.user[batch]
        return user, self.events.item[batch], self.events.negatives(user, 1)[:, 0]

    def pair_loss(self, user: Any, item: Any, other: Any, users: Any, items: Any, reg: float) -> Any:
        """BPR on the final vectors and the penalty on those of layer 0."""
        mine, mine_0 = rows(torch.cat([users, self.users], 1), user).chunk(2, dim=1)
        theirs, theirs_0 = rows(torch.cat([items, self.items], 1), torch.cat([item, other])).chunk(2, dim=1)
        loss = ranking_loss(mine, *theirs.chunk(2))
        return loss + reg * half_squares(mine_0, *theirs_0.chunk(2))


class LightGraph(GraphNetwork):
    """The network of `LightGCN`."""

    recordable = True

    def __init__(self, events: Events, size: int, layers: int, reg: float, draws: int = 1) -> None:
        super().__init__(events, size)
        self.layers, self.reg, self.draws = layers, reg, draws

    def loss(self, batch: Any) -> Any:
        """BPR and penalty of a batch."""
        user, item = self.events.user[batch], self.events.item[batch]
        users, items = self.embeddings()
        others = self.events.negatives(user, self.draws)
        with torch.no_grad():
            hardest = (items[others] @ users[user][:, :, None]).argmax(1)
        return self.pair_loss(user, item, others.gather(1, hardest)[:, 0], users, items, self.reg)

    def embeddings(self) -> tuple[Any, Any]:
        """The mean of the layers."""
        return self.smoothed(self.links, self.layers)


def graph_numbers(
    size: int, layers: int, batch: int, n_users: int, n_items: int, n_interactions: int
) -> tuple[int, int]:
    """(numbers learned, numbers of a step) of a network on the graph with vectors of `size` in `layers` layers."""
    learned = size * (n_users + n_items)
    return learned, (2 * layers + 4) * learned + 12 * size * min(batch, n_interactions) + 10 * n_interactions


MOST_CONTRASTED = 1 << 16
"""Nodes of one kind up to which a node is set against all of them; beyond, against those of its batch."""


def contrast(first: Any, second: Any, chosen: Any, temperature: float, *, in_batch: bool = False) -> Any:
    """InfoNCE: the mean over `chosen` of - ln exp(s(a_v, b_v) / T) / sum_w exp(s(a_v, b_w) / T), s the cosine.

    a and b are the rows of `first` and `second`; w runs over all rows, or over those that are chosen (`in_batch`).
    """
    normalize = torch.nn.functional.normalize
    if in_batch or len(second) > MOST_CONTRASTED:
        # Each node counts once. Repetitions are masked, not removed: the shapes stay the same for every batch.
        chosen = chosen.sort().values
        once = torch.nn.functional.pad(chosen[1:] != chosen[:-1], (1, 0), value=True)
        a, b = normalize(rows(first, chosen), dim=1), normalize(rows(second, chosen), dim=1)
        nearness = (a @ b.T / temperature).masked_fill(~once, -torch.inf)
        losses = torch.logsumexp(nearness, dim=1) - (a * b).sum(1) / temperature
        return (losses * once).sum() / once.sum()
    a, b = normalize(rows(first, chosen), dim=1), normalize(second, dim=1)
    same = (a * rows(b, chosen)).sum(1)
    return (torch.logsumexp(a @ b.T / temperature, dim=1) - same / temperature).mean()
