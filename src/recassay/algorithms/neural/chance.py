"""All randomness of a training, from one counter-based generator: the same numbers on every processor and every GPU.

torch's own generators differ by device, and on processors by vector width. Here the i-th 64 bits are SplitMix64 of a
counter (Steele, Lea & Flood 2014, Fast Splittable Pseudorandom Number Generators, OOPSLA), in whole-number operations
that every device does alike.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from recassay.algorithms.kernels.device import torch

STEP, FIRST_FACTOR, SECOND_FACTOR = (
    int(np.uint64(factor).astype(np.int64)) for factor in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)

HOST_BLOCK = 1 << 15
"""Numbers that a processor makes at a time: as many as its cache holds through all operations."""


class Chance:
    """Random tensors on one device, determined by the state of `rng` when this is made."""

    def __init__(self, rng: np.random.Generator, device: str) -> None:
        self.device = device
        self._key = int(rng.integers(2**62))
        # On the device, so that a recorded step moves it on when it is replayed.
        self._drawn = torch.zeros((), dtype=torch.int64, device=device)

    def _bits(self, n: int, only: Any = None) -> Any:
        """n whole numbers of 64 random bits (int64), or `only` those at some places among them."""
        bits = torch.arange(n, device=self.device) if only is None else only
        for part in bits.split(HOST_BLOCK) if self.device == "cpu" else [bits]:
            part.add_(self._drawn).mul_(STEP).add_(self._key)
            part.bitwise_xor_(_shifted(part, 30)).mul_(FIRST_FACTOR)
            part.bitwise_xor_(_shifted(part, 27)).mul_(SECOND_FACTOR)
            part.bitwise_xor_(_shifted(part, 31))
        self._drawn += n
        return bits

    def uniform(self, *shape: int) -> Any:
        """Even numbers from 0 to 1, itself left out: multiples of 2^-24."""
        size = math.prod(shape)
        halves = self._bits((size + 1) // 2).view(torch.int32)[:size]
        return _unit(halves).view(shape)

    def normal(self, *shape: int) -> Any:
        """Standard normal numbers, by Box and Muller: sqrt(-2 ln u) times the cosine and the sine of 2 pi v."""
        size = math.prod(shape)
        first, second = self.uniform(2, (size + 1) // 2)
        length, angle = (1 - first).log_().mul_(-2).sqrt_(), second.mul_(2 * math.pi)
        return torch.cat([length * angle.cos(), length * angle.sin()])[:size].view(shape)

    def below(self, bounds: Any) -> Any:
        """For each entry of the int64 tensor `bounds`, an even whole number from 0 to it, itself left out."""
        return _shifted(self._bits(bounds.numel()), 1).view(bounds.shape) % bounds

    def permutation(self, n: int) -> Any:
        """The numbers 0 to n - 1 in a random order."""
        return torch.argsort(self._bits(n), stable=True)

    def dropout(self, x: Any, rate: float, kept: Any = None, n_rows: int = 0) -> Any:
        """Entries of `x` set to 0 with probability `rate`, the others divided by 1 - `rate`.

        Where `x` has the rows `kept` alone of `n_rows`, they are treated as they would be among all.
        """
        if rate <= 0:
            return x
        if kept is None:
            drawn = self.uniform(*x.shape)
        elif x.shape[1] % 2:
            drawn = self.uniform(n_rows, x.shape[1])[kept]
        else:
            half = x.shape[1] // 2
            only = (kept[:, None] * half + torch.arange(half, device=self.device)).flatten()
            drawn = _unit(self._bits(n_rows * half, only).view(torch.int32)).view(x.shape)
        return x * (drawn >= rate) / (1 - rate)


def _unit(halves: Any) -> Any:
    """Numbers from 0 to 1 of 32 random bits each."""
    return _shifted(halves, 8, width=32).float().mul_(2.0**-24)


def _shifted(bits: Any, places: int, *, width: int = 64) -> Any:
    """The bits moved down, with zeros above them: a signed number is else filled up with its sign."""
    return (bits >> places).bitwise_and_((1 << (width - places)) - 1)
