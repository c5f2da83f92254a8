"""What a trial tells of its training, stage by stage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Stage:
    """The objective after a stage of training.

    `settled` is what makes this stage a model of its own: the parameters (a number of epochs) with which a training
    from the start would end here. Empty where only the last stage is a model that can be asked for again.

    `on_all`, where it is given, computes the objective on all users: `value` is then an estimate on a sample of them,
    enough to see when training should stop.
    """

    value: float
    settled: Mapping[str, Any] = field(default_factory=dict)
    on_all: Callable[[], float] | None = None
