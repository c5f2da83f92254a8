"""Steps of the optimiser: one at a time, or on a GPU recorded once and replayed.

A step of a model on the graph is some hundred small operations, and starting one from Python costs several times what
it computes. A CUDA graph starts them all at once; it computes what the single operations would, to the bit.

On a GPU the products of a step are mixed precision: factors of 10 bits (of 7 in networks that say `half_precision`),
sums and weights in float32. Scores are computed in float32.
"""

from __future__ import annotations

from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

from recassay.algorithms.kernels.device import tensor_cores
from recassay.algorithms.kernels.torch_when_used import torch
from recassay.algorithms.neural.network import Network, Pass

WARM = 3
"""Steps that are taken one operation at a time before one is recorded: they set up what recording must not."""


class Steps:
    """Moves the weights of a network, each group of them by an optimiser of its own."""

    def __init__(self, network: Network, *, rate: float, batch: int, device: str) -> None:
        self._network, self._batch, self._device = network, batch, device
        self._recordable = network.recordable and device == "cuda"
        self._optimisers = {
            name: _optimiser(network.optimiser, parameters, rate * share, self._recordable)
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

    def take(self, one: Pass, batch: Any) -> Any:
        """One step on a batch of a pass; its loss, which the next step may overwrite."""
        self._taken[one.weights] += 1
        if not self._recordable or len(batch) != self._batch or self._taken[one.weights] <= WARM:
            return self._step(one, batch)
        if one.weights not in self._recorded:
            self._recorded[one.weights] = self._record(one, batch)
        graph, place, loss = self._recorded[one.weights]
        place.copy_(batch)
        graph.replay()
        return loss

    def _step(self, one: Pass, batch: Any) -> Any:
        network, optimiser = self._network, self._optimisers[one.weights]
        half = network.half_precision and self._device == "cuda"
        with tensor_cores(allowed=True):
            with torch.autocast(self._device, dtype=torch.bfloat16, enabled=half):
                loss = one.loss(batch)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
        optimiser.step()
        return loss.detach()

    def _record(self, one: Pass, batch: Any) -> tuple[Any, Any, Any]:
        """(the graph, where it reads the batch, where it writes the loss)."""
        place, graph = batch.clone(), torch.cuda.CUDAGraph()
        graph.register_generator_state(self._network.chance.generator)
        with torch.cuda.graph(graph, stream=self._stream):
            loss = self._step(one, place)
        return graph, place, loss


@cache
def _recording_stream() -> Any:
    """The one stream of this process on which steps are recorded: cuBLAS keeps memory for every stream it has seen."""
    return torch.cuda.Stream()


def _optimiser(kind: str, parameters: list[Any], rate: float, recordable: bool) -> Any:
    """An optimiser, in its form that moves all parameters by one kernel where there is one."""
    settings = {"fused": True} if kind in ("Adam", "AdamW") else {}
    return getattr(torch.optim, kind)(parameters, lr=rate, **settings, **({"capturable": True} if recordable else {}))
