"""What a trial tells of its training, stage by stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Stage:
    """The objective after a stage of training.

    `settled` is what makes this stage a model of its own: the parameters (a number of epochs) with which a training
    from the start would end here. Empty where only the last stage is a model that can be asked for again.
    """

    value: float
    settled: Mapping[str, Any] = field(default_factory=dict)
