"""Every neural algorithm at a size that trains in milliseconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recassay.core.registry import algorithms

TINY: dict[str, dict[str, Any]] = {
    "MultiVAE": {"hidden": 24, "latent": 12},
    "MultiDAE": {"latent": 12},
    "RecVAE": {"hidden": 24, "latent": 12},
    "RaCT": {"hidden": 24, "latent": 12, "actor_epochs": 1, "critic_epochs": 1},
    "CDAE": {"latent": 12},
    "DiffRec": {"hidden": 24},
    "ELSA": {"rank": 12},
    "LightGCN": {"embedding": 12, "layers": 2},
    "SGL": {"embedding": 12, "layers": 2, "batch": 1024},
    "LightGCL": {"embedding": 12, "batch": 1024},
    "XSimGCL": {"embedding": 12, "batch": 1024},
    "DMF": {"embedding": 12, "hidden": 16, "negatives": 3},
    "NNCF": {"embedding": 12, "kernels": 8, "neighbour_embedding": 8, "neighbours": 10, "negatives": 2, "batch": 1024},
    "ENMF": {"embedding": 12},
    "LINE": {"embedding": 12, "noise_power": 0.75, "negatives": 2},
    "SimpleX": {"embedding": 12, "negatives": 50},
    "UltraGCN": {"embedding": 12, "negatives": 50, "fewest_steps": 8},
    "SASRec": {"embedding": 12, "length": 12},
    "eSASRec": {"embedding": 12, "length": 12, "negatives": 20},
    "BERT4Rec": {"embedding": 12, "length": 12},
    "GRU4Rec": {"embedding": 12, "length": 12, "negatives": 20},
}
"""Parameters that keep an algorithm small."""


def tiny(name: str, **more: Any) -> Callable[[], Any]:
    """Makes the algorithm small, on the processor, trained for two epochs of a few batches unless told otherwise."""
    kind = algorithms.get(name)
    return lambda: kind(**{"epochs": 2, "batch": 512, "device": "cpu", **TINY[name], **more})
