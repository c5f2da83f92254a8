"""What tuning may vary: the parameters of an algorithm, their ranges and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field
from typing import Any, ClassVar, TypeAlias, TypeGuard, TypeVar, dataclass_transform


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
Option = TypeVar("Option", str, int, float, bool)


def real(low: float, high: float, *, default: float, log: bool = False) -> Any:
    """A field of a `Tunable` that tuning varies as `Real`."""
    return field(default=default, metadata={"range": Real(low, high, default, log)})


def whole(low: int, high: int, *, default: int, log: bool = False, step: int = 1) -> Any:
    """A field of a `Tunable` that tuning varies as `Whole`."""
    return field(default=default, metadata={"range": Whole(low, high, default, log, step)})


def choice(options: tuple[Option, ...], *, default: Option) -> Any:
    """A field of a `Tunable` that tuning varies as `Choice`."""
    return field(default=default, metadata={"range": Choice(options, default)})


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(real, whole, choice))
class Tunable:
    """A base whose subclasses declare each parameter once: its name, type, default and, where it is tuned, its range.

    `factors: int = whole(16, 512, default=64)` is a keyword argument of the constructor, an attribute and an entry of
    `space`; a field with a plain default is not tuned. `__post_init__` may refuse values. A subclass that declares a
    field again changes its range or default, not its place.
    """

    space: ClassVar[SearchSpace] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # In the order of this class: tuning draws the parameters in the order of `space`.
        declared = {
            name: made for name, made in vars(cls).items() if isinstance(made, Field) and "range" in made.metadata
        }
        cls.space = {**cls.space, **{name: made.metadata["range"] for name, made in declared.items()}}
        dataclass(kw_only=True, eq=False, repr=False)(cls)


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
