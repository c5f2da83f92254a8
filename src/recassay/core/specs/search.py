"""What tuning may vary: the parameters of an algorithm, their ranges and defaults."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Mapping
from dataclasses import Field, dataclass, field
from typing import Any, ClassVar, TypeAlias, TypeVar, dataclass_transform

from recassay.core.errors import UsageError
from recassay.core.names import did_you_mean
from recassay.core.words import listing


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


@dataclass(frozen=True, slots=True)
class Limits:
    """The values that a parameter can have at all, which are more than tuning tries; None of them all: any."""

    above: float | None = None
    least: float | None = None
    most: float | None = None
    among: tuple[str | int, ...] | None = None

    def check(self, value: Any, parameter: str, algorithm: str) -> None:
        """Raise `UsageError` for a value outside; a parameter that is None is not set."""
        if value is None:
            return
        if self.among is not None and value not in self.among:
            known = [str(option) for option in self.among]
            raise UsageError(f"{algorithm} has no {parameter} {value!r}", fix=did_you_mean(str(value), known))
        bounds = {
            "above": (operator.gt, self.above),
            "at least": (operator.ge, self.least),
            "at most": (operator.le, self.most),
        }
        stated = {word: (keeps, bound) for word, (keeps, bound) in bounds.items() if bound is not None}
        number = isinstance(value, numbers.Real)
        if stated and not (number and all(keeps(value, bound) for keeps, bound in stated.values())):
            within = " and ".join(f"{word} {bound:g}" for word, (_, bound) in stated.items())
            raise UsageError(
                f"{algorithm} cannot work with {parameter} = {value}", fix=f"give a number that is {within}"
            )


def real(low: float, high: float, *, default: float, log: bool = False, **limits: float) -> Any:
    """A field of a `Tunable` that tuning varies as `Real`; `limits` are those of `Limits`."""
    return field(default=default, metadata={"range": Real(low, high, default, log), "limits": limits})


def whole(low: int, high: int, *, default: int, log: bool = False, step: int = 1, **limits: float) -> Any:
    """A field of a `Tunable` that tuning varies as `Whole`; `limits` are those of `Limits`.

    A range that begins above 1 is one of counts (factors, neighbours, rounds), of which there must be one.
    """
    if low > 1:
        limits = {"least": 1, **limits}
    return field(default=default, metadata={"range": Whole(low, high, default, log, step), "limits": limits})


def choice(options: tuple[Option, ...], *, default: Option, **limits: Any) -> Any:
    """A field of a `Tunable` that tuning varies as `Choice`; `limits` are those of `Limits`."""
    return field(default=default, metadata={"range": Choice(options, default), "limits": limits})


def fixed(default: Any, **limits: Any) -> Any:
    """A field of a `Tunable` that tuning leaves alone; `limits` are those of `Limits`."""
    return field(default=default, metadata={"limits": limits})


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(real, whole, choice, fixed))
class Tunable:
    """A base whose subclasses declare each parameter once: its name, type, default and, where it is tuned, its range.

    `factors: int = whole(16, 512, default=64)` is a keyword argument of the constructor, an attribute and an entry of
    `space`; a field with a plain default is not tuned. Values beyond the limits of a field are refused; a field that
    states none is at least 0 if its range is. A subclass that declares a field again changes its range or default, not
    its place; limits that it does not state stay.
    """

    name: ClassVar[str]
    space: ClassVar[SearchSpace] = {}
    limits: ClassVar[Mapping[str, Limits]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        declared = {name: made.metadata for name, made in vars(cls).items() if isinstance(made, Field)}
        # In the order of this class: tuning draws the parameters in the order of `space`.
        cls.space = {**cls.space, **{name: given["range"] for name, given in declared.items() if "range" in given}}
        stated = {name: Limits(**given["limits"]) for name, given in declared.items() if given.get("limits")}
        # Rates, weights, shares and numbers of layers are never below 0; what may be says so.
        ranges = {name: made for name, made in cls.space.items() if not isinstance(made, Choice)}
        natural = {name: Limits(least=0) for name, made in ranges.items() if made.low >= 0}
        cls.limits = {**natural, **cls.limits, **stated}
        dataclass(kw_only=True, eq=False, repr=False)(cls)

    def __post_init__(self) -> None:
        for parameter, limits in self.limits.items():
            limits.check(getattr(self, parameter), parameter, self.name)


def defaults(space: SearchSpace) -> dict[str, object]:
    """Every parameter at its default: the first trial of every tuning."""
    return {name: parameter.default for name, parameter in space.items()}


def in_words(parameter: Parameter) -> str:
    """What tuning may choose: `1 to 1000, log scale`, `32 to 256 in steps of 32`, `0, 1 or 2`."""
    if isinstance(parameter, Choice):
        words = (str(option) if isinstance(option, (str, bool)) else f"{option:g}" for option in parameter.options)
        return listing(words, most=None, last="or")
    step = f" in steps of {parameter.step}" if isinstance(parameter, Whole) and parameter.step > 1 else ""
    scale = ", log scale" if parameter.log else ""
    return f"{parameter.low:g} to {parameter.high:g}{step}{scale}"
