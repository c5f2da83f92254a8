"""Whether a GPU runs kernels in Triton, which comes with torch on Linux and needs a compiler of C."""

from __future__ import annotations

from functools import cache
from subprocess import CalledProcessError
from typing import Any

from recassay.algorithms.kernels.device import torch


def runs_triton(device: Any) -> bool:
    """Whether kernels in Triton run on this device; elsewhere operations of torch do the same work."""
    return torch.device(device).type == "cuda" and _works()


@cache
def _works() -> bool:
    try:
        from recassay.algorithms.kernels.random_bits import random_bits

        random_bits(torch.zeros((), dtype=torch.int64, device="cuda"), key=1, n=1)
    except (ImportError, OSError, RuntimeError, CalledProcessError):
        return False
    return True
