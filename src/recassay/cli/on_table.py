"""Commands on a results table: the options by which it is read, declared once, and how such a command ends."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, get_type_hints

from recassay.cli import options as o
from recassay.cli.table import finish, load_table, said_direction
from recassay.core.choices import MissingPolicy

if TYPE_CHECKING:
    from recassay.core.tables.results import Results

FIRST: dict[str, tuple[Any, Any]] = {"files": (o.Files, inspect.Parameter.empty), "metric": (o.Metric, None)}
READING: dict[str, tuple[Any, Any]] = {
    "wide": (o.Wide, False),
    "transpose": (o.Transpose, False),
    "column": (o.Column, None),
    "dataset": (o.Dataset, None),
    "format_": (o.Format, None),
    "prefer": (o.Prefer, "error"),
    "missing": (o.Missing, "error"),
    "higher": (o.Higher, False),
    "lower": (o.Lower, False),
}
ENDING: dict[str, tuple[Any, Any]] = {
    "as_json": (o.Json, False),
    "out": (o.Out, None),
    "formats": (o.Formats, None),
}
LAST = ("seed", "as_json", "out", "formats")
"""Options that the help shows after those of reading."""


@dataclass(frozen=True)
class Asked:
    """What the shared options say: the table as it was read, the metric, what becomes of gaps, and the direction."""

    results: Results
    metric: str | None
    missing: MissingPolicy
    higher_is_better: bool | None


def on_table(
    name: str | None = None, *, saved_as: str | None = None, without: Collection[str] = ()
) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """A command whose first argument is `Asked`, and whose options are its own and those of reading but `without`.

    With a `name` the command returns a result, which is printed (or its JSON) and saved with `--out` under `saved_as`
    (the name, unless said); without one it shows and saves by itself.
    """
    shared = {option: said for option, said in (FIRST | READING).items() if option not in without}

    def decorate(command: Callable[..., Any]) -> Callable[..., None]:
        hints = get_type_hints(command, include_extras=True)
        own = {
            option: (hints[option], parameter.default)
            for option, parameter in list(inspect.signature(command).parameters.items())[1:]
        }
        offered = (own | ENDING) if name else own

        @wraps(command)
        def run(**given: Any) -> None:
            ending = {option: given.pop(option) for option in ENDING} if name else {}
            if ending:
                o.refuse_formats(ending["formats"], ending["out"])
            asked = _asked(**{option: given.pop(option) for option in shared})
            answer = command(asked, **given)
            if name:
                finish(name, saved_as or name, answer, asked.results, **ending)

        order = [
            *(option for option in FIRST if option in shared),
            *(option for option in offered if option not in LAST),
            *(option for option in READING if option in shared),
            *(option for option in LAST if option in offered),
        ]
        kinds = shared | offered
        run.__annotations__ = {option: kinds[option][0] for option in order}
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [
                inspect.Parameter(
                    option, inspect.Parameter.KEYWORD_ONLY, annotation=kinds[option][0], default=kinds[option][1]
                )
                for option in order
            ]
        )
        return run

    return decorate


def _asked(
    files: list[str],
    metric: str | None = None,
    wide: bool = False,
    transpose: bool = False,
    column: list[str] | None = None,
    dataset: str | None = None,
    format_: str | None = None,
    prefer: str = "error",
    missing: MissingPolicy = "error",
    higher: bool = False,
    lower: bool = False,
) -> Asked:
    results = load_table(files, metric, wide, transpose, column, dataset, format_, prefer)
    return Asked(results, metric, missing, said_direction(higher, lower))
