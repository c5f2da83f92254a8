"""What a study's names of algorithms mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from recassay.algorithms.external.recommendations_file import RecommendationsFile
from recassay.core import columns as c
from recassay.core.errors import InputError, listing
from recassay.core.registry import algorithms
from recassay.core.system.plugin_file import plugin_path
from recassay.core.types import Interactions
from recassay.data.lists.read import ReadLists, is_list_file, read_lists
from recassay.runner.references import is_part_file


def load_algorithm(reference: str, base: str) -> type[Any]:
    """The class of an algorithm: registered, from a Python file (which is executed), or lists made elsewhere."""
    if is_part_file(reference):
        if ".py:" not in reference and is_list_file(reference):
            return listed_algorithm(plugin_path(reference, base))
        from recassay.algorithms.external.plugins import load_plugin

        return load_plugin(reference, Path(base))
    kind: type[Any] = algorithms.get(reference)
    return kind


class ListedAlgorithm(RecommendationsFile):
    """Lists of a file as an algorithm; only subclasses of this class are treated as lists."""

    lists: ClassVar[ReadLists]


def listed_algorithm(path: Path) -> type[ListedAlgorithm]:
    """An algorithm class for the lists of one file, named after it."""
    lists = read_lists(path)
    if len(lists) > 1:
        raise InputError(
            f"holds the lists of {len(lists)} algorithms ({listing(named.name for named in lists)})",
            where=str(path),
            fix="give each algorithm a file of its own, or judge them with recassay evaluate",
        )
    described = {
        "name": path.stem,
        "table": lists[0].frame,
        "where": path.name,
        "lists": lists[0],
        "source": f"Lists of {path.name}",
        "__doc__": f"Lists of {path.name}.",
    }
    return type("FileLists", (ListedAlgorithm,), described)


MOST_UNKNOWN = 0.5
"""Lists of known users of which a larger share of rows has an unknown item were made for other data."""


def refuse_other_data(kind: type[Any], train: Interactions) -> None:
    """Raise where `kind` are lists whose items are mostly none of the training data's."""
    if not issubclass(kind, ListedAlgorithm):
        return
    lists = kind.lists
    known = lists.frame.filter(pl.col(c.USER).cast(pl.String).is_in(train.users.cast(pl.String).implode()))
    strange = known.height - known.get_column(c.ITEM).cast(pl.String).is_in(train.items.cast(pl.String).implode()).sum()
    refuse_strange_items(int(strange), known.height, train, lists.where)


def refuse_strange_items(strange: int, rows: int, train: Interactions, where: str) -> None:
    """Raise `InputError` where so many `strange` of the rows of known users name an item that `train` does not know."""
    if strange > MOST_UNKNOWN * rows:
        raise InputError(
            f"{strange:,} of the {rows:,} rows of known users name an item that the data lacks",
            where=where,
            fix=f"these lists were made for other data; its items are called like {train.items[0]!r}",
        )


def refuse_other_split(kind: type[Any], fingerprint: str, dataset: str) -> None:
    """Raise where `kind` are lists that name another split than the one with this fingerprint."""
    if issubclass(kind, ListedAlgorithm):
        refuse_lists_of_another_split(kind.lists, fingerprint, f"that of {dataset}")


def refuse_lists_of_another_split(lists: ReadLists, fingerprint: str, which: str) -> None:
    """Raise `InputError` where the lists name a split, and it is not the one with this fingerprint."""
    if lists.split is not None and not fingerprint.startswith(lists.split):
        raise InputError(
            f"the lists were made for the split {lists.split[:12]} (named in {lists.named_in}), and {which} here is "
            f"{fingerprint[:12]}: another dataset, or another protocol",
            where=lists.where,
            fix="evaluate them on their own split, or make them again for this one",
        )
