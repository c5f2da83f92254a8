"""Layers of self-attention over windows of items."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recassay.algorithms.kernels.device import torch
from recassay.algorithms.neural.chance import Chance
from recassay.algorithms.neural.network import Dense, Weights, learned, rows

NOT_SEEN = -30_000.0
"""The score of a place that attention leaves out: far below all others, and a number in every precision."""

Drop = Callable[[Any], Any]


class Norm(Weights):
    """Layer normalisation."""

    def __init__(self, size: int, chance: Chance) -> None:
        self.scale = learned(torch.ones(size, device=chance.device))
        self.shift = learned(torch.zeros(size, device=chance.device))

    def __call__(self, x: Any) -> Any:
        """Mean 0 and variance 1 in the last dimension, scaled and shifted."""
        return torch.nn.functional.layer_norm(x, self.scale.shape, self.scale, self.shift)


class Filled:
    """The places of windows at which something stands, of which a processor computes these `alone`; on a GPU, where
    all steps have one shape, all places are taken."""

    def __init__(self, filled: Any, *, alone: bool) -> None:
        self.shape = filled.shape
        self._kept = torch.nonzero(filled.flatten()).flatten() if alone else None

    def among(self, x: Any) -> Any:
        """The rows of `x`, one for each place, that are filled."""
        return x if self._kept is None else x.index_select(0, self._kept)

    def spread(self, x: Any) -> Any:
        """Windows x places x size, 0 where nothing stands."""
        if self._kept is not None:
            x = x.new_zeros(self.shape.numel(), x.shape[1]).index_copy(0, self._kept, x)
        return x.view(*self.shape, -1)

    def dropout(self, chance: Chance, rate: float) -> Drop:
        """Dropout at filled places as if there were all; entries of other tensors are all drawn for."""

        def drop(x: Any) -> Any:
            kept = self._kept if x.dim() == 2 else None
            return chance.dropout(x, rate, kept, self.shape.numel())

        return drop


class Layer(Weights):
    """Attention and two dense layers, each added to what went in, which is normalised first.

    Where `gated` (LiGR), a gate decides how much of each is added, and the dense layers are a SwiGLU.
    """

    def __init__(self, size: int, inner: int, chance: Chance, *, gated: bool) -> None:
        self.gated = gated
        self.first, self.second = Norm(size, chance), Norm(size, chance)
        self.asked, self.answered = Dense(size, 3 * size, chance), Dense(size, size, chance)
        self.up, self.down = Dense(size, inner * (2 if gated else 1), chance), Dense(inner, size, chance)
        self.gates = [Dense(size, size, chance) for _ in range(2 if gated else 0)]

    def __call__(self, x: Any, hidden: Any, heads: int, drop: Drop, filled: Filled) -> Any:
        """Filled places x size; `hidden` says which places are left out, windows x 1 x places x places."""
        around = self._attention(self.first(x), hidden, heads, drop, filled)
        x = x + (torch.sigmoid(self.gates[0](x)) * around if self.gated else around)
        inner = self.up(self.second(x))
        if self.gated:
            value, gate = inner.chunk(2, dim=-1)
            return x + torch.sigmoid(self.gates[1](x)) * drop(self.down(value * torch.nn.functional.silu(gate)))
        return x + drop(self.down(torch.nn.functional.gelu(inner)))

    def _attention(self, x: Any, hidden: Any, heads: int, drop: Drop, filled: Filled) -> Any:
        (windows, places), size = filled.shape, x.shape[1]
        parts = filled.spread(self.asked(x)).view(windows, places, 3, heads, size // heads).permute(2, 0, 3, 1, 4)
        query, key, value = parts.unbind(0)
        likeness = (query @ key.transpose(-1, -2)) * (size // heads) ** -0.5
        weights = drop(torch.softmax(likeness.masked_fill(hidden, NOT_SEEN), dim=-1)).to(value.dtype)
        return drop(self.answered(filled.among((weights @ value).transpose(1, 2).reshape(windows * places, size))))


class Transformer(Weights):
    """From the vectors of items to what is known at each place of a window, with vectors of the places."""

    def __init__(
        self, size: int, places: int, chance: Chance, *, layers: int, heads: int, inner: int, gated: bool, causal: bool
    ) -> None:
        self.heads, self.chance = heads, chance
        self.places = learned(chance.normal(places, size) * (2 / (places + size)) ** 0.5)
        self.layers = [Layer(size, inner, chance, gated=gated) for _ in range(layers)]
        self.last = Norm(size, chance)
        later = torch.ones(places, places, dtype=torch.bool, device=chance.device)
        self.later = later.triu(1) if causal else torch.zeros_like(later)

    def __call__(self, items: Any, tokens: Any, none: int, dropout: float, *, alone: bool) -> Any:
        """What is known at each place of windows of `tokens`, which are rows of `items`; `none` stands for no item."""
        filled = Filled(tokens != none, alone=alone)
        drop = filled.dropout(self.chance, dropout)
        place = torch.arange(tokens.shape[1], device=tokens.device).expand(tokens.shape)
        token, place = (filled.among(part.flatten()) for part in (tokens, place))
        x = drop(rows(items, token) * items.shape[1] ** 0.5 + rows(self.places, place))
        hidden = (tokens == none)[:, None, None, :] | self.later
        for layer in self.layers:
            x = layer(x, hidden, self.heads, drop, filled)
        return filled.spread(self.last(x))


def transformer_numbers(size: int, layers: int, inner: int, heads: int, length: int, places: int) -> tuple[int, int]:
    """(numbers learned, numbers that a step holds) of a transformer on `places` places in windows of `length`."""
    learned_in_all = layers * (6 * size**2 + 3 * inner * size + 12 * size) + length * size
    return learned_in_all, layers * places * (24 * size + 8 * inner + 6 * heads * length)
