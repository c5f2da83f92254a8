"""The description of an algorithm that lives in an environment of its own: a TOML file beside its script."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from recassay.core.errors import InputError, RecAssayError
from recassay.core.specs.search import Choice, Parameter, Real, SearchSpace, Whole
from recassay.core.specs.specs import Spec

MOST_BYTES = 1 << 20


class ParameterSpec(Spec):
    """What tuning may vary: a range (`low`, `high`) or `options`, with a default."""

    default: bool | int | float | str
    low: int | float | None = None
    high: int | float | None = None
    log: bool = False
    options: tuple[bool | int | float | str, ...] | None = None

    def parameter(self, where: str) -> Parameter:
        """The range or choice."""
        if self.options is not None:
            if self.default not in self.options:
                raise InputError(f"default {self.default!r} is not among the options", where=where)
            return Choice(self.options, self.default)
        low, high, default = self.low, self.high, self.default
        if low is None or high is None or isinstance(default, (bool, str)):
            raise InputError("has neither options nor a range", where=where, fix="give low, high and a default number")
        if not low <= default <= high or (self.log and low <= 0):
            raise InputError(f"{low} to {high} with the default {default} is not a range", where=where)
        if all(isinstance(number, int) for number in (low, high, default)):
            return Whole(int(low), int(high), int(default), self.log)
        return Real(float(low), float(high), float(default), self.log)


class ExternalSpec(Spec):
    """An interpreter, a script, and what may be tuned. Relative paths start from the folder of the description."""

    name: Annotated[str, Field(min_length=1)]
    source: Annotated[str, Field(min_length=1)]
    python: Annotated[str, Field(min_length=1)]
    """The interpreter of the environment, such as `envs/implicit/bin/python`."""
    script: Annotated[str, Field(min_length=1)]
    requires: tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]+==[A-Za-z0-9.+!_-]+$")], ...] = ()
    """What the environment must have, such as `implicit==0.7.3`: checked before every run, part of the identity."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Values that the script is given besides."""
    space: dict[str, ParameterSpec] = Field(default_factory=dict)
    folder: str = "."

    @classmethod
    def read(cls, path: Path) -> ExternalSpec:
        """The description in a file."""
        try:
            if path.stat().st_size > MOST_BYTES:
                raise InputError("is too large for a description", where=str(path))
            described = tomllib.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"cannot be read as TOML: {error}", where=str(path)) from error
        try:
            spec = cls.checked(**{**described, "folder": str(path.resolve().parent)})
            spec.search_space()
        except RecAssayError as error:
            where = f"{path.name}: {error.where}" if error.where else path.name
            raise InputError(error.what, where=where, fix=error.fix) from error
        if not spec.script_path.is_file():
            raise InputError(f"there is no script {spec.script!r} beside it", where=str(path), fix="correct `script`")
        return spec

    @property
    def interpreter(self) -> Path:
        """Where the interpreter lies; a link to it stays a link, by which it finds its environment."""
        return Path(self.folder) / self.python

    @property
    def script_path(self) -> Path:
        """Where the script lies."""
        return Path(self.folder) / self.script

    def search_space(self) -> SearchSpace:
        """What tuning may vary."""
        return {name: parameter.parameter(f"space.{name}") for name, parameter in self.space.items()}
