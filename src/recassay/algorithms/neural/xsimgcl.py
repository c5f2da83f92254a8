"""XSimGCL: LightGCN whose layers are blurred by noise, each to agree with the whole."""

from __future__ import annotations

from typing import Any, ClassVar

from recassay.algorithms.neural.events import Events
from recassay.algorithms.neural.lightgcn import GraphAlgorithm, GraphNetwork, contrast
from recassay.core.specs.search import real, whole


class XSimGCL(GraphAlgorithm):
    """Extremely simple graph contrastive learning.

    As LightGCN, but the final vectors are the mean of layers 1 to `layers` (without layer 0), and in training every
    layer gets noise of length `noise` in a random direction of the same orthant (section 3.2). Minimises LightGCN's
    loss plus `contrast` times the InfoNCE loss, at `temperature`, between the final vectors and those of layer
    `contrasted`, within the batch (equation 9).
    """

    name: ClassVar[str] = "XSimGCL"
    source: ClassVar[str] = "Yu, Xia, Chen, Cui, Hung & Yin 2024, XSimGCL, TKDE 36"
    graphs: ClassVar[int] = 1

    embedding: int = whole(32, 256, default=128, step=32)
    layers: int = whole(1, 4, default=2)
    contrast: float = real(1e-2, 0.3, default=0.05, log=True)
    temperature: float = real(0.1, 0.4, default=0.2, log=True)
    noise: float = real(0.05, 0.5, default=0.2, log=True)
    reg: float = real(1e-5, 1e-3, default=1e-4, log=True)
    rate: float = real(1e-3, 2e-2, default=5e-3, log=True)
    contrasted: int = 1
    batch: int = 4096

    def network(self, events: Events) -> NoisyLayers:
        """Layer 0 and the links."""
        return NoisyLayers(self, events)

    def numbers(self, n_users: int, n_items: int, n_interactions: int) -> tuple[int, int]:
        """As LightGCN with the noise of every layer, and the similarities within a batch."""
        learned, step = super().numbers(n_users, n_items, n_interactions)
        return learned, 2 * step + 6 * min(self.batch, n_interactions) ** 2


class NoisyLayers(GraphNetwork[XSimGCL]):
    """The network of `XSimGCL`."""

    recordable = True

    def embeddings(self) -> tuple[Any, Any]:
        """The mean of the layers, without noise."""
        return self._mean_and_layer(0.0)[0]

    def loss(self, batch: Any) -> Any:
        """Ranking, contrast and penalty of a batch."""
        user, item, other = self.drawn(batch)
        final, layer = self._mean_and_layer(self.algorithm.noise)
        temperature = self.algorithm.temperature
        contrasted = contrast(final[0], layer[0], user, temperature, in_batch=True)
        contrasted = contrasted + contrast(final[1], layer[1], item, temperature, in_batch=True)
        return self.pair_loss(user, item, other, *final) + self.algorithm.contrast * contrasted

    def _mean_and_layer(self, noise: float) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
        layers = [(self.users, self.items)]
        for _ in range(self.algorithm.layers):
            users, items = layers[-1]
            after = (self.links.of_items(items), self.links.of_users(users))
            layers.append((self._blurred(after[0], noise), self._blurred(after[1], noise)))
        users, items = (sum(side) / self.algorithm.layers for side in zip(*layers[1:], strict=True))
        return (users, items), layers[min(self.algorithm.contrasted, self.algorithm.layers)]

    def _blurred(self, vectors: Any, noise: float) -> Any:
        return self.chance.blurred(vectors, noise) if noise else vectors
