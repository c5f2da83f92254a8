"""What an importer is: it knows the files of one framework by what stands in them, and reads results from them.

Importers are announced in the entry-point group `recassay.importers`, ours like a plugin's:

    [project.entry-points."recassay.importers"]
    mine = "my_package.reader:IMPORTER"
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl

from recassay.core import columns as c
from recassay.data.importers.opened import OpenedFile
from recassay.data.tables.join import Imported

__all__ = ["KIND_WORDS", "RESULTS", "Imported", "Importer", "Kind", "long_frame", "melted", "shortened"]

Kind = Literal["results", "user results", "lists", "judgements", "other"]
"""What a file holds: numbers of a table, or one for each user; recommendation lists; what users liked; something else
(settings, tests) that is known and is not a table of results."""

RESULTS: tuple[Kind, ...] = ("results", "user results")
KIND_WORDS: Mapping[str, str] = {
    "lists": "recommendation lists",
    "judgements": "relevance judgements",
    "other": "settings or tests",
}


@dataclass(frozen=True, slots=True)
class Importer:
    """The files of one framework.

    `recognise` looks at a file and says what it holds, or None where it is not of this framework; it never raises.
    `read` is called for files that hold results. `files` says in a line which files those are.
    """

    name: str
    title: str
    files: str
    recognise: Callable[[OpenedFile], Kind | None]
    read: Callable[[OpenedFile], Imported]
    aliases: tuple[str, ...] = field(default=())


def melted(frame: pl.DataFrame, keys: Mapping[str, str], metrics: Sequence[str] | None = None) -> pl.DataFrame:
    """One row per row of `frame` and column of a metric (by default all but the keys); what is not a number is null.

    `keys` are the columns that name something: their name to ours.
    """
    chosen = frame if metrics is None else frame.select(*keys, *metrics)
    long = chosen.unpivot(index=list(keys), variable_name=c.METRIC, value_name=c.VALUE).rename(dict(keys))
    return long.with_columns(pl.col(c.VALUE).cast(pl.Float64, strict=False))


def shortened(names: Iterable[str], short: Callable[[str], str]) -> dict[str, str]:
    """Each name without its settings or its hash, unless two would become one."""
    made = {name: short(name) for name in names}
    return made if len(set(made.values())) == len(made) else {name: name for name in made}


def long_frame(rows: Iterable[Mapping[str, Any]], **same: object) -> pl.DataFrame:
    """Rows of names and numbers as a frame; absent keys are null. `same`: columns with one value for all rows."""
    names = (c.ALGORITHM, c.DATASET, c.METRIC, c.VALUE, c.SEED, c.FOLD, c.USER, *c.RESULT_DETAILS)
    types = dict.fromkeys(names, pl.String) | {
        c.VALUE: pl.Float64, c.DEVIATION: pl.Float64, c.RUNS: pl.Int64, c.HIGHER_IS_BETTER: pl.Boolean
    }  # fmt: skip
    listed = [{**row, **same} for row in rows]
    used = [name for name in names if any(row.get(name) is not None for row in listed)]
    keys = list(dict.fromkeys([c.ALGORITHM, c.METRIC, c.VALUE, *used]))
    data = {name: [row.get(name) for row in listed] for name in keys}
    texts = [name for name in keys if types[name] == pl.String]
    data |= {name: [None if value is None else str(value) for value in data[name]] for name in texts}
    return pl.DataFrame(data, schema={name: types[name] for name in keys}, strict=False)
