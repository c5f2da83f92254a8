"""All randomness of a training, from one generator on its device; torch's global generator is never touched."""

from __future__ import annotations

from typing import Any

import numpy as np

from recassay.algorithms.kernels.device import torch


class Chance:
    """Random tensors on one device, determined by the state of `rng` when this is made."""

    def __init__(self, rng: np.random.Generator, device: str) -> None:
        self.device = device
        self.generator = torch.Generator(device).manual_seed(int(rng.integers(2**62)))

    def uniform(self, *shape: int) -> Any:
        """Even numbers from 0 to 1."""
        return torch.rand(shape, generator=self.generator, device=self.device)

    def normal(self, *shape: int) -> Any:
        """Standard normal numbers."""
        return torch.randn(shape, generator=self.generator, device=self.device)

    def below(self, bounds: Any) -> Any:
        """For each entry of the int64 tensor `bounds`, an even whole number from 0 to it, itself left out."""
        drawn = torch.randint(2**62, bounds.shape, generator=self.generator, device=self.device)
        return drawn % bounds

    def permutation(self, n: int) -> Any:
        """The numbers 0 to n - 1 in a random order."""
        return torch.randperm(n, generator=self.generator, device=self.device)

    def dropout(self, x: Any, rate: float) -> Any:
        """Entries of `x` set to 0 with probability `rate`, the others divided by 1 - `rate`."""
        if rate <= 0:
            return x
        return x * (self.uniform(*x.shape) >= rate) / (1 - rate)
