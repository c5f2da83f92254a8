"""LINE: vectors of the nodes of a network, by who is linked and who has the same links."""

from __future__ import annotations

from typing import Any, ClassVar

from recassay.algorithms.kernels.device import torch
from recassay.algorithms.neural.algorithm import NeuralAlgorithm
from recassay.algorithms.neural.events import Events
from recassay.algorithms.neural.network import EmbeddingNetwork, learned, rows
from recassay.core.specs.search import choice, real, whole


class LINE(NeuralAlgorithm):
    """Large-scale information network embedding, on the network of users and items.

    First order: linked nodes have a large inner product. Second order: a node's vector predicts the context vectors of
    those it is linked to. Both by negative sampling (equation 7): - ln s(x_uj) - sum over `negatives` of
    ln s(- x_uk), s the logistic function, once with other items for the user and once with other users for the item,
    drawn in proportion to their links to the power `noise_power` (3/4 in the paper), never one that is linked. `order`
    1, 2 or 0 (both, with vectors of their own). A user and an item are scored by what is modelled of their link: the
    first-order product plus both second-order ones.
    """

    name: ClassVar[str] = "LINE"
    folds_in: ClassVar[bool] = False
    source: ClassVar[str] = "Tang, Qu, Wang, Zhang, Yan & Mei 2015, LINE, WWW"

    embedding: int = whole(32, 256, default=192, step=32)
    order: int = choice((0, 1, 2), default=0, among=(0, 1, 2))
    negatives: int = whole(1, 10, default=5)
    noise_power: float = choice((0.0, 0.75), default=0.0)
    rate: float = real(1e-4, 1e-2, default=1e-3, log=True)
    batch: int = 2048

    def network(self, events: Events) -> Proximities:
        """Vectors and contexts."""
        return Proximities(self, events)

    def numbers(self, n_users: int, n_items: int, n_interactions: int) -> tuple[int, int]:
        """Up to three vectors for each id; those of a batch and its negatives, with their gradients."""
        batch = min(self.batch, n_interactions) * (2 + 2 * self.negatives)
        return 3 * self.embedding * (n_users + n_items), 9 * self.embedding * batch + 8 * n_interactions


class Proximities(EmbeddingNetwork[LINE]):
    """The network of `LINE`: pairs of tables whose inner products model a link."""

    recordable = True

    def __init__(self, algorithm: LINE, events: Events) -> None:
        super().__init__(algorithm, events)
        self.by_item = events.transposed()
        self.item_shares, self.user_shares = (side.shares(algorithm.noise_power) for side in (events, self.by_item))
        tables = {0: 3, 1: 1, 2: 2}[algorithm.order]
        size = algorithm.embedding
        self.of_users, self.of_items = (
            [learned((self.chance.uniform(n, size) - 0.5) / size**0.5) for _ in range(tables)]
            for n in (events.n_users, events.n_items)
        )
        # Only events whose user lacks an item and whose item lacks a user have negatives on both sides.
        open_user, open_item = events.count < events.n_items, self.by_item.count < events.n_users
        self.among = torch.nonzero(open_user[events.user] & open_item[events.item]).flatten()

    def loss(self, batch: Any) -> Any:
        """Negative sampling in both directions, per event and table."""
        user, item, n = self.events.user[batch], self.events.item[batch], self.algorithm.negatives
        items = self.events.common_negatives(user, n, self.item_shares)
        users = self.by_item.common_negatives(item, n, self.user_shares)
        total = 0.0
        for of_users, of_items in zip(self.of_users, self.of_items, strict=True):
            mine, its = rows(of_users, user), rows(of_items, item)
            linked = torch.nn.functional.softplus(-(mine * its).sum(1))
            for vector, others in ((mine, rows(of_items, items)), (its, rows(of_users, users))):
                unlinked = torch.nn.functional.softplus((others @ vector[:, :, None])[:, :, 0]).sum(1)
                total = total + (linked + unlinked).mean()
        return total

    def embeddings(self) -> tuple[Any, Any]:
        """All tables side by side."""
        return torch.cat(self.of_users, dim=1), torch.cat(self.of_items, dim=1)
