"""What a study settles of an algorithm's parameters: fixed values, and the space that is left to tune."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from recassay.core.errors import UsageError
from recassay.core.names import did_you_mean
from recassay.core.specs.search import Choice, Parameter, Real, SearchSpace, Whole
from recassay.core.specs.study import OptionsSpec, RangeSpec, Setting


def settle(kind: type[Any], settings: Mapping[str, Setting], name: str) -> tuple[dict[str, Any], dict[str, Parameter]]:
    """(fixed values, space to tune) of the algorithm class `kind` under `settings`; `name` is for messages.

    A setting may name any keyword argument of the constructor. A default outside a narrower range moves to its nearest
    end; one that is not among the options gives way to the first.
    """
    space: dict[str, Parameter] = dict(getattr(kind, "space", {}))
    known = _arguments(kind) | dict.fromkeys(space)
    takes_anything = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(kind).parameters.values())
    fixed: dict[str, Any] = {}
    for key, setting in settings.items():
        if key not in known and not takes_anything:
            raise UsageError(
                f"{name} has no parameter {key!r}", where=f"algorithm.{name}", fix=did_you_mean(key, known)
            )
        declared = space.pop(key, None)
        if isinstance(setting, RangeSpec):
            space[key] = _narrow(declared, setting, f"algorithm.{name}.{key}", known.get(key))
        elif isinstance(setting, OptionsSpec):
            default = declared.default if declared is not None else known.get(key)
            options = setting.options
            space[key] = Choice(options, default if default in options else options[0])
        else:
            fixed[key] = setting
    return fixed, space


def stops_itself(kind: type[Any]) -> bool:
    """Whether the training of an algorithm, followed stage by stage, says when it is enough."""
    return bool(getattr(kind, "stopped_by", None)) and "fit_steps" in dir(kind)


def highest(space: SearchSpace) -> dict[str, Any]:
    """Every number at its upper end: the corner where an algorithm usually needs most memory."""
    return {
        name: parameter.default if isinstance(parameter, Choice) else parameter.high
        for name, parameter in space.items()
    }


def _narrow(declared: Parameter | None, wanted: RangeSpec, where: str, default: Any) -> Parameter:
    whole = isinstance(wanted.low, int) and isinstance(wanted.high, int)
    log = bool(getattr(declared, "log", False)) if wanted.log is None else wanted.log
    if isinstance(declared, Whole) and not whole:
        raise UsageError("low and high must be whole numbers", where=where, fix="write them without a decimal point")
    if log and wanted.low <= 0:
        raise UsageError(f"low = {wanted.low} has no logarithm", where=where, fix="give low above 0, or log = false")
    if declared is not None and not isinstance(declared, Choice):
        default = declared.default
    if not isinstance(default, (int, float)) or isinstance(default, bool):
        default = wanted.low
    nearest = min(max(default, wanted.low), wanted.high)
    if isinstance(declared, Whole) or (declared is None and whole and isinstance(default, int)):
        return Whole(int(wanted.low), int(wanted.high), int(nearest), log)
    return Real(float(wanted.low), float(wanted.high), float(nearest), log)


def _arguments(kind: type[Any]) -> dict[str, Any]:
    """The constructor's keyword arguments and their defaults."""
    parameters = inspect.signature(kind).parameters.values()
    kinds = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return {p.name: None if p.default is p.empty else p.default for p in parameters if p.kind in kinds}
