"""SimpleX: a user is the mean of the items, and wrong items only count above a margin."""

from __future__ import annotations

from typing import Any, ClassVar

from recassay.algorithms.kernels.device import torch
from recassay.algorithms.neural.algorithm import NeuralAlgorithm
from recassay.algorithms.neural.events import Events
from recassay.algorithms.neural.links import Links
from recassay.algorithms.neural.network import Dense, EmbeddingNetwork, half_squares, rows, unit_length, xavier
from recassay.core.specs.search import fixed, real, whole


class SimpleX(NeuralAlgorithm):
    """A simple and strong baseline: cosine contrastive loss on a mean of the user's items.

    The user's vector is g e_u + (1 - g) V mean(e_i of the user's items), g = `gamma` (equation 7); the score is its
    cosine with e_i. Minimises, per event (u, i),

        1 - cos(u, i) + w / n sum over n items j that u lacks of max(0, cos(u, j) - `margin`)   (equation 3)

    with w = `negative_weight`. The loss needs hundreds of wrong items (RecBole's default is one): `negatives` items are
    drawn evenly for each batch (all of a smaller catalogue), and j runs over those that u lacks.
    """

    name: ClassVar[str] = "SimpleX"
    folds_in: ClassVar[bool] = False
    source: ClassVar[str] = "Mao, Zhu, Wang, Dai, Dong, Xiao & He 2021, SimpleX, CIKM"
    graphs: ClassVar[int] = 1

    embedding: int = whole(64, 384, default=256, step=64)
    margin: float = real(0.2, 0.9, default=0.4, least=-1, most=1)
    negative_weight: float = real(10.0, 300.0, default=30.0, log=True)
    gamma: float = real(0.4, 1.0, default=0.83, least=0, most=1)
    rate: float = real(2e-4, 5e-3, default=1e-3, log=True)
    negatives: int = 1000
    dropout: float = fixed(0.1, least=0, most=0.99)
    reg: float = fixed(1e-6, least=0)
    batch: int = 2048

    def network(self, events: Events) -> MeanOfItems:
        """Vectors, and the matrix V."""
        return MeanOfItems(self, events)

    def numbers(self, n_users: int, n_items: int, n_interactions: int) -> tuple[int, int]:
        """A vector for each id; the vectors of all users, the cosines of a batch with the items drawn, the links."""
        drawn = min(self.negatives, n_items)
        step = 4 * self.embedding * (n_users + n_items) + 8 * min(self.batch, n_interactions) * drawn
        return self.embedding * (n_users + n_items), step + 10 * n_interactions


class MeanOfItems(EmbeddingNetwork[SimpleX]):
    """The network of `SimpleX`."""

    recordable = True

    def __init__(self, algorithm: SimpleX, events: Events) -> None:
        super().__init__(algorithm, events)
        self.users = xavier(events.n_users, algorithm.embedding, self.chance)
        self.items = xavier(events.n_items, algorithm.embedding, self.chance)
        self.mixing = Dense(algorithm.embedding, algorithm.embedding, self.chance)
        self.links = Links(events).weighted(1 / events.count.float()[events.user])

    def loss(self, batch: Any) -> Any:
        """The loss of a batch of events, and a small penalty."""
        algorithm, user, item = self.algorithm, self.events.user[batch], self.events.item[batch]
        others = self.events.some_items(algorithm.negatives)
        base, chosen = rows(self.users, user), rows(self.items, torch.cat([item, others]))
        users = self._mixed(base, self.links.at_users(user, self.items))
        items, far = unit_length(chosen).split([len(item), len(others)])
        mine = unit_length(self.chance.dropout(users, algorithm.dropout))
        liked = (mine * items).sum(1)
        lacked = ~self.events.holds(user, others)
        above = torch.relu(mine @ far.T - algorithm.margin) * lacked
        wrong = above.sum(1) / lacked.sum(1).clamp(min=1)
        penalty = half_squares(base, chosen[: len(item)])
        return (1 - liked + algorithm.negative_weight * wrong).mean() + algorithm.reg * penalty

    def embeddings(self) -> tuple[Any, Any]:
        """Unit vectors, so that their product is the cosine."""
        return self._mixed(self.users, self.links.of_items(self.items)), unit_length(self.items)

    def _mixed(self, base: Any, of_items: Any) -> Any:
        gamma = self.algorithm.gamma
        return unit_length(gamma * base + (1 - gamma) * self.mixing(of_items))
