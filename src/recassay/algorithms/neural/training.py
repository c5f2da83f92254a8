"""The one training loop: epochs of passes of batches, on any device, the same numbers for the same seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import numpy as np

from recassay.algorithms.kernels.device import reproducible, tensor_cores, torch
from recassay.algorithms.kernels.device_lists import Score, torch_recommender
from recassay.algorithms.kernels.fold_in import ProfileRecommender
from recassay.algorithms.neural.chance import Chance
from recassay.algorithms.neural.events import Events
from recassay.algorithms.neural.network import Network, Pass, ProfileScore
from recassay.core.errors import RecAssayError
from recassay.core.histories import Histories
from recassay.core.types import IdArray, Interactions, Recommender, TopK

AVERAGED = 0.8
"""The share of the averaged weights that stays when an epoch ends; the rest is the weights of that epoch."""

WARM = 3
"""Steps that are taken one operation at a time before one is recorded: they set up what recording must not."""


class Steps:
    """Moves the weights of a network, each group of them by an optimiser of its own."""

    def __init__(self, network: Network[Any], *, rate: float, batch: int, device: str) -> None:
        self._network, self._batch, self._device = network, batch, device
        self._recordable = network.recordable and device == "cuda"
        self._optimisers = {
            name: _optimiser(network.optimiser, parameters, rate * share, self._recordable, network.decay)
            for name, (parameters, share) in network.groups().items()
        }
        self._stream = _recording_stream() if self._recordable else None
        self._taken: Counter[str] = Counter()
        self._recorded: dict[str, tuple[Any, Any, Any]] = {}

    def stream(self) -> AbstractContextManager[Any]:
        """The context in which steps are taken: recording needs a stream that is not the default one."""
        if self._stream is None:
            return nullcontext()
        self._stream.wait_stream(torch.cuda.current_stream())
        context: AbstractContextManager[Any] = torch.cuda.stream(self._stream)
        return context

    def take(self, way: Pass, batch: Any) -> Any:
        """One step on a batch of a pass; its loss, which the next step may overwrite."""
        self._taken[way.weights] += 1
        if not self._recordable or len(batch) != self._batch or self._taken[way.weights] <= WARM:
            return self._step(way, batch)
        if way.weights not in self._recorded:
            self._recorded[way.weights] = self._record(way, batch)
        graph, place, loss = self._recorded[way.weights]
        place.copy_(batch)
        graph.replay()
        return loss

    def _step(self, way: Pass, batch: Any) -> Any:
        network, optimiser = self._network, self._optimisers[way.weights]
        half = network.half_precision and self._device == "cuda"
        with tensor_cores(allowed=True):
            with torch.autocast(self._device, dtype=torch.bfloat16, enabled=half):
                loss = way.loss(batch)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
        optimiser.step()
        return loss.detach()

    def _record(self, way: Pass, batch: Any) -> tuple[Any, Any, Any]:
        """(the graph, where it reads the batch, where it writes the loss)."""
        place, graph = batch.clone(), torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=self._stream):
            loss = self._step(way, place)
        return graph, place, loss


@cache
def _recording_stream() -> Any:
    """The one stream of this process on which steps are recorded: cuBLAS keeps memory for every stream it has seen."""
    return torch.cuda.Stream()


def _optimiser(kind: str, parameters: list[Any], rate: float, recordable: bool, decay: float = 0.0) -> Any:
    """An optimiser, in its form that moves all parameters by one kernel where there is one."""
    settings: dict[str, Any] = {"fused": True} if kind in ("Adam", "AdamW") else {}
    if recordable:
        settings["capturable"] = True
    if decay:
        settings["weight_decay"] = decay
    return getattr(torch.optim, kind)(parameters, lr=rate, **settings)


class TrainedRecommender:
    """A recommender that says after how many epochs it stands."""

    def __init__(self, lists: Recommender, iterations: int) -> None:
        self._lists, self.iterations = lists, iterations

    def recommend(self, users: IdArray, k: int, *, exclude: Any) -> TopK:
        """The k best items for each of `users`; see `Recommender`."""
        return self._lists.recommend(users, k, exclude=exclude)


class TrainedOnProfiles(TrainedRecommender):
    """One that may be asked with histories."""

    _lists: ProfileRecommender

    def recommend_from(self, histories: Histories, k: int, *, exclude: Any) -> TopK:
        """The k best items after each history; see `FoldsIn`."""
        return self._lists.recommend_from(histories, k, exclude=exclude)


class NeuralTraining:
    """A network under training; see `stages.Training`.

    The model is that of averaged weights: a moving average over the ends of epochs, of about the last five. Single
    steps jump around the optimum, by more the larger the rate; the average is near it, as after a slow decay of the
    rate, but at any epoch (Polyak & Juditsky 1992; Izmailov et al. 2018). Training itself never sees the average.
    """

    def __init__(
        self,
        make: Callable[[Events], Network[Any]],
        train: Interactions,
        *,
        batch: int,
        rate: float,
        device: str,
        rng: np.random.Generator,
    ) -> None:
        self.rng, self._batch, self.device = rng, batch, device
        with reproducible():
            self.events = self.read(train, Chance(rng, device))
            self.network = make(self.events)
            self._steps = Steps(self.network, rate=rate, batch=batch, device=device)
        self._weights = list(self.network.parameters())
        self._average = [weight.detach().clone() for weight in self._weights]
        self.done = 0

    def read(self, train: Interactions, chance: Chance) -> Events:
        """The events as the network takes them."""
        return Events(train.csr(), chance)

    def advance(self, iterations: int) -> None:
        """So many further epochs; a loss that is no longer finite raises."""
        with reproducible(), self._steps.stream():
            for _ in range(iterations):
                self.network.epoch = self.done
                total = torch.zeros((), device=self.device)
                for way in self.network.passes():
                    for batch in self.events.batches(way.among, self._batch) if len(way.among) else ():
                        total += self._steps.take(way, batch)
                self.done += 1
                # In the average of weights the first epochs weigh less than later ones.
                kept = min(AVERAGED, (self.done - 1) / (self.done + 8))
                with torch.no_grad():
                    for average, weight in zip(self._average, self._weights, strict=True):
                        average.lerp_(weight, 1 - kept)
                if not bool(torch.isfinite(total)):
                    raise RecAssayError(f"the loss is not finite after epoch {self.done}", fix="use a smaller rate")

    def model(self) -> TrainedRecommender:
        """The model of the averaged weights as they are now; training on does not change it."""
        score = self.averaged()
        lists = self._lists(score, self.rng)
        if not isinstance(score, ProfileScore):
            return TrainedRecommender(lists, self.done)
        history = self.events.host()
        return TrainedOnProfiles(
            ProfileRecommender(lambda rows, rng: self._lists(score.of(rows), rng), history, rng=self.rng, known=lists),
            self.done,
        )

    def averaged(self) -> Any:
        """The scores by the averaged weights as they are now."""
        with reproducible(), torch.no_grad():
            kept = [weight.clone() for weight in self._weights]
            self._set(self._average)
            score = self.network.scorer()
            self._set(kept)
        return score

    def _lists(self, score: Score, rng: np.random.Generator) -> Recommender:
        return torch_recommender(score, n_items=self.events.n_items, rng=rng, device=self.device)

    def _set(self, values: list[Any]) -> None:
        for weight, value in zip(self._weights, values, strict=True):
            weight.copy_(value)
