"""All randomness of a training, from one counter-based generator: the same numbers on every processor and every GPU.

torch's own generators differ by device, and on processors by vector width. Here the i-th 64 bits are SplitMix64 of a
counter (Steele, Lea & Flood 2014, Fast Splittable Pseudorandom Number Generators, OOPSLA), in whole-number operations
that every device does alike.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from recassay.algorithms.kernels.device import torch
from recassay.algorithms.kernels.device_code import runs_triton
from recassay.core.system.compiled import compiled_exactly
from recassay.core.types import IntArray

STEP, FIRST_FACTOR, SECOND_FACTOR = (
    int(np.uint64(factor).astype(np.int64)) for factor in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


class Chance:
    """Random tensors on one device, determined by the state of `rng` when this is made."""

    def __init__(self, rng: np.random.Generator, device: str) -> None:
        self.device = device
        self._key = int(rng.integers(2**62))
        # On the device, so that a recorded step moves it on when it is replayed.
        self._drawn = torch.zeros((), dtype=torch.int64, device=device)

    def _bits(self, n: int) -> Any:
        """n whole numbers of 64 random bits (int64)."""
        if self.device == "cpu":
            bits = torch.empty(n, dtype=torch.int64)
            _fill(bits.numpy(), int(self._drawn), self._key)
        elif runs_triton(self.device):
            from recassay.algorithms.kernels.random_bits import random_bits

            bits = random_bits(self._drawn, self._key, n)
        else:
            bits = torch.arange(n, device=self.device).add_(self._drawn).mul_(STEP).add_(self._key)
            bits.bitwise_xor_(_shifted(bits, 30)).mul_(FIRST_FACTOR)
            bits.bitwise_xor_(_shifted(bits, 27)).mul_(SECOND_FACTOR)
            bits.bitwise_xor_(_shifted(bits, 31))
        self._drawn += n
        return bits

    def uniform(self, *shape: int) -> Any:
        """Even numbers from 0 to 1, itself left out: multiples of 2^-24."""
        size = math.prod(shape)
        if runs_triton(self.device):
            from recassay.algorithms.kernels.random_bits import even_numbers

            numbers = even_numbers(self._drawn, self._key, size)
            self._drawn += (size + 1) // 2
            return numbers.view(shape)
        halves = self._bits((size + 1) // 2).view(torch.int32)[:size]
        return _shifted(halves, 8, width=32).float().mul_(2.0**-24).view(shape)

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

    def blurred(self, vectors: Any, length: float) -> Any:
        """`vectors` (n x d), each moved by `length` in a random direction of its orthant; slopes pass unchanged."""
        if not runs_triton(self.device):
            direction = torch.nn.functional.normalize(self.uniform(*vectors.shape), dim=1)
            return vectors + torch.sign(vectors) * direction * length
        blurred = _blur().apply(vectors, length, self._drawn, self._key)
        self._drawn += (vectors.numel() + 1) // 2
        return blurred

    def dropout(self, x: Any, rate: float, kept: Any = None, n_rows: int = 0) -> Any:
        """Entries of `x` set to 0 with probability `rate`, the others divided by 1 - `rate`.

        Where `x` has the rows `kept` alone of `n_rows`, they are treated as they would be among all.
        """
        if rate <= 0:
            return x
        if self.device != "cpu":
            return x * ((self.uniform(*x.shape) >= rate) / (1 - rate))
        rows, width = np.zeros(1, dtype=np.int64), x.numel()
        if kept is not None:
            rows, width = kept.numpy(), x.shape[1]
        factors = torch.empty(len(rows), width)
        _keep(factors.numpy(), rows, int(self._drawn), self._key, np.float32(rate), np.float32(1 / (1 - rate)))
        self._drawn += (width * (1 if kept is None else n_rows) + 1) // 2
        return x * factors.view(x.shape)


@cache
def _blur() -> Any:
    """The differentiable blur of a GPU; the class is made when torch is there."""
    from recassay.algorithms.kernels.random_bits import blurred

    class Blur(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(context: Any, vectors: Any, length: float, drawn: Any, key: int) -> Any:
            return blurred(vectors, length, drawn, key)

        @staticmethod
        def backward(context: Any, slope: Any) -> Any:
            return slope, None, None, None

    return Blur


@compiled_exactly
def _mixed(counter: int, key: int) -> np.uint64:
    """The 64 bits of a number of the counter."""
    x = np.uint64(counter) * np.uint64(STEP) + np.uint64(key)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(FIRST_FACTOR)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(SECOND_FACTOR)
    return np.uint64(x ^ (x >> np.uint64(31)))


@compiled_exactly
def _fill(bits: IntArray, start: int, key: int) -> None:
    for i in range(len(bits)):
        bits[i] = np.int64(_mixed(start + i, key))


@compiled_exactly
def _keep(factors: Any, rows: IntArray, start: int, key: int, rate: np.float32, factor: np.float32) -> None:
    """0 or `factor`, by the numbers of `uniform` at these rows."""
    width = factors.shape[1]
    for row in range(len(rows)):
        for column in range(width):
            place = rows[row] * width + column
            bits = _mixed(start + (place >> 1), key) >> np.uint64(32 * (place & 1))
            drawn = np.float32(np.uint32(bits) >> np.uint32(8)) * np.float32(2.0**-24)
            factors[row, column] = factor if drawn >= rate else np.float32(0)


def _shifted(bits: Any, places: int, *, width: int = 64) -> Any:
    """The bits moved down, with zeros above them: a signed number is else filled up with its sign."""
    return (bits >> places).bitwise_and_((1 << (width - places)) - 1)
