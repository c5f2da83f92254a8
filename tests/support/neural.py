"""Every neural algorithm at a size that trains in milliseconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recassay.core.registry import algorithms

TINY: dict[str, dict[str, Any]] = {
    "MultiVAE": {"hidden": 24, "latent": 12},
    "MultiDAE": {"latent": 12},
    "LightGCN": {"embedding": 12, "layers": 2},
}
"""Parameters that keep an algorithm small."""


def tiny(name: str, **more: Any) -> Callable[[], Any]:
    """Makes the algorithm small, on the processor, trained for three epochs of a few batches unless told otherwise."""
    kind = algorithms.get(name)
    return lambda: kind(**{"epochs": 3, "batch": 512, "device": "cpu", **TINY[name], **more})
