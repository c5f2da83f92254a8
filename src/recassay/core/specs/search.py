"""What tuning may vary: the parameters of an algorithm, their ranges and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeGuard


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


def in_words(parameter: Parameter) -> str:
    """What tuning may choose: `1 to 1000, log scale`, `32 to 256 in steps of 32`, `0, 1 or 2`."""
    if isinstance(parameter, Choice):
        *most, last = (f"{option:g}" if _is_number(option) else str(option) for option in parameter.options)
        return f"{', '.join(most)} or {last}" if most else last
    step = f" in steps of {parameter.step}" if isinstance(parameter, Whole) and parameter.step > 1 else ""
    scale = ", log scale" if parameter.log else ""
    return f"{parameter.low:g} to {parameter.high:g}{step}{scale}"


def _is_number(option: str | int | float | bool) -> TypeGuard[int | float]:
    return isinstance(option, (int, float)) and not isinstance(option, bool)
