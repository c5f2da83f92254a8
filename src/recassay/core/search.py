"""What tuning may vary: the parameters of an algorithm, their ranges and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Real:
    """A number between `low` and `high`, searched on a log scale where `log`."""

    low: float
    high: float
    default: float
    log: bool = False


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number from `low` to `high`, both included, in steps of `step` from `low` (not on a log scale)."""

    low: int
    high: int
    default: int
    log: bool = False
    step: int = 1


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few values."""

    options: tuple[str | int | float | bool, ...]
    default: str | int | float | bool


Parameter: TypeAlias = Real | Whole | Choice
SearchSpace: TypeAlias = Mapping[str, Parameter]


def defaults(space: SearchSpace) -> dict[str, object]:
    """Every parameter at its default: the first trial of every tuning."""
    return {name: parameter.default for name, parameter in space.items()}
