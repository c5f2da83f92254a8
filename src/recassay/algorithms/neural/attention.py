"""What SASRec and BERT4Rec have in common: layers of attention over a window, their parameters and their memory."""

from __future__ import annotations

from typing import Any, TypeVar

from recassay.algorithms.neural.network import learned
from recassay.algorithms.neural.sequences import SequenceAlgorithm, SequenceNetwork, Sequences
from recassay.algorithms.neural.transformer import Transformer, transformer_numbers
from recassay.core.specs.search import fixed, real, whole


class AttentionAlgorithm(SequenceAlgorithm):
    """An algorithm whose windows go through layers of attention."""

    embedding: int = whole(64, 256, default=64, step=64)
    layers: int = whole(1, 3, default=2, least=1)
    heads: int = fixed(1, least=1)
    dropout: float = real(0.1, 0.5, default=0.1, least=0, most=0.99)
    rate: float = real(3e-4, 3e-3, default=1e-3, log=True)
    inner: int = fixed(4, least=1)
    batch: int = 128

    def layer_numbers(self, n_users: int, n_interactions: int) -> tuple[int, int]:
        """(numbers learned, numbers that a batch holds) in the layers."""
        sizes = (self.embedding, self.layers, self.inner * self.embedding, self.heads)
        return transformer_numbers(*sizes, min(self.length, n_interactions), self.places(n_users, n_interactions))


Attending = TypeVar("Attending", bound=AttentionAlgorithm)


class AttentionNetwork(SequenceNetwork[Attending]):
    """Vectors of items and layers of attention; `causal`: a place sees those before it alone."""

    half_precision = True
    recordable = True
    layers: Transformer

    def make(self, events: Sequences, tokens: int, *, gated: bool, causal: bool) -> None:
        """Vectors for so many tokens, and the layers."""
        algorithm, size = self.algorithm, self.algorithm.embedding
        self.items = learned(self.chance.normal(tokens, size) * (2 / (events.n_items + size)) ** 0.5)
        self.layers = Transformer(
            size,
            self.length,
            self.chance,
            layers=algorithm.layers,
            heads=algorithm.heads,
            inner=algorithm.inner * size,
            gated=gated,
            causal=causal,
        )

    def read(self, tokens: Any, dropout: float) -> Any:
        """What is known at each place."""
        return self.layers(self.items, tokens, self.events.n_items, dropout, alone=self.events.device == "cpu")
