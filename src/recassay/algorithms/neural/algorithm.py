"""What every neural algorithm has in common: its common parameters, its stages and its memory."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from recassay.algorithms.kernels.device import (
    DEVICES,
    TORCH_BYTES,
    WORKSPACE_BYTES,
    require_gpu_memory,
    settled_device,
)
from recassay.algorithms.kernels.device_lists import gpu_scoring_bytes
from recassay.algorithms.kernels.scoring import scoring_bytes
from recassay.algorithms.kernels.stages import Iterated
from recassay.algorithms.neural.events import Events, held_bytes
from recassay.algorithms.neural.links import dense_bytes
from recassay.algorithms.neural.network import Network
from recassay.algorithms.neural.training import NeuralTraining, TrainedRecommender
from recassay.core.specs.search import fixed
from recassay.core.types import Interactions

EVENT_BYTES = 6 * 8 + 3 * 8
"""Bytes per event: six int64 tensors, and what making them takes."""


class NeuralAlgorithm(Iterated[TrainedRecommender]):
    """An algorithm on the shared training loop. Subclasses declare `name`, `source`, parameters and the network.

    `epochs` is how often training goes through the data. A model after e epochs is the model that `epochs = e` gives,
    so that early stopping can find e on the validation part and the final training repeat it on more data.
    """

    source: ClassVar[str]
    stopped_by: ClassVar[str] = "epochs"
    counted_by: ClassVar[str] = "epochs"
    most_stages: ClassVar[int] = 20
    preload: ClassVar[tuple[str, ...]] = ("torch",)
    graphs: ClassVar[int] = 0
    """How many matrices of the links between users and items are held at a time."""

    epochs: int = fixed(100, least=1)
    batch: int = fixed(500, least=1)
    rate: float = fixed(1e-3, above=0)
    device: str = fixed("auto", among=DEVICES)

    @abstractmethod
    def network(self, events: Events) -> Network[Any]:
        """A fresh network for the events."""

    @abstractmethod
    def numbers(self, n_users: int, n_items: int, n_interactions: int) -> tuple[int, int]:
        """(how many numbers are learned, how many a training step holds besides)."""

    def device_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """The memory of the training on its device: weights, gradients, two moments, an average and two copies;
        a step; the events."""
        learned, step = self.numbers(n_users, n_items, n_interactions)
        return 4 * (7 * learned + step) + EVENT_BYTES * n_interactions + 32 * n_users

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """The memory of torch, the training data in the making, and (without a GPU) the training itself."""
        on_host = settled_device(self.device, self.name) == "cpu"
        training = self.device_bytes(n_users, n_items, n_interactions) if on_host else 0
        return TORCH_BYTES + 24 * n_interactions + 16 * n_users + scoring_bytes(n_items) + training

    def gpu_memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """The memory of a GPU that training and scoring take; a recorded step has memory of its own."""
        step = 4 * self.numbers(n_users, n_items, n_interactions)[1]
        kept = self.graphs * dense_bytes(n_users, n_items, n_interactions) + held_bytes(n_users, n_items)
        kept += WORKSPACE_BYTES
        return self.device_bytes(n_users, n_items, n_interactions) + step + kept + gpu_scoring_bytes(n_items)

    def training(self, train: Interactions, rng: np.random.Generator) -> NeuralTraining:
        """A fresh network on its device, where the device has room for it."""
        device = self.device_for(train)
        batch = self.batch_for(len(train))
        return NeuralTraining(self.network, train, batch=batch, rate=self.rate, device=device, rng=rng)

    def batch_for(self, n_interactions: int) -> int:
        """How many events, or users, a step has."""
        return self.batch

    def device_for(self, train: Interactions) -> str:
        """The device of a training, which must have room for it."""
        device = settled_device(self.device, self.name)
        require_gpu_memory(self.gpu_memory_bytes(train.n_users, train.n_items, len(train)), device, self.name)
        return device
