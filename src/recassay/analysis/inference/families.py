"""Datasets that belong together: several of one shop, or sizes of one collection, are not independent evidence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from recassay.core.errors import UsageError
from recassay.core.types import FloatArray, IntArray

FEWEST_FAMILIES = 5
"""Below so many families nothing is drawn from them: an interval would be as narrow as they are few."""

COLLECTIONS = {
    "amazon": "amazon", "movielens": "movielens", "ml": "movielens", "goodreads": "goodreads", "lastfm": "lastfm",
    "yelp": "yelp", "douban": "douban", "mind": "mind", "adressa": "adressa", "kuairec": "kuairec", "jester": "jester",
    "hetrec": "hetrec", "steam": "steam", "taobao": "taobao", "tmall": "taobao", "yoochoose": "yoochoose",
}  # fmt: skip
"""Collections that studies take several datasets from, by the start of the names."""


def family_numbers(datasets: Sequence[str], families: str | Mapping[str, str] | None) -> IntArray:
    """The number of each dataset's family: all different for None, by the mapping, or by the start of the names for
    `auto` (up to the first digit, hyphen, underscore or dot). Fewer than `FEWEST_FAMILIES` are refused."""
    if families is None:
        return np.arange(len(datasets))
    if isinstance(families, str):
        if families != "auto":
            raise UsageError(f"families is {families!r}", fix="use auto, or a family for each dataset")
        named = [_start(name) or name for name in datasets]
    else:
        absent = [name for name in datasets if name not in families]
        if absent:
            raise UsageError(f"no family is given for {absent[0]!r}", fix="name the family of every dataset")
        named = [families[name] for name in datasets]
    numbers = np.unique(named, return_inverse=True)[1]
    count = int(numbers.max()) + 1
    if count < FEWEST_FAMILIES:
        raise UsageError(
            f"the datasets form {count} famil{'y' if count == 1 else 'ies'}",
            fix=f"families need at least {FEWEST_FAMILIES}; leave them out, or name finer ones",
        )
    return numbers


def renumbered(families: IntArray, columns: IntArray) -> IntArray:
    """The families of these datasets, numbered as they come."""
    _, start, number = np.unique(families[columns], return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(start))[number])


def obvious_families(datasets: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Well-known collections with two or more of these datasets, and which those are."""
    members: dict[str, list[str]] = {}
    for name in datasets:
        collection = COLLECTIONS.get(_start(name))
        if collection is not None:
            members.setdefault(collection, []).append(name)
    return {collection: tuple(names) for collection, names in members.items() if len(names) > 1}


def family_means(values: FloatArray, numbers: IntArray | None, *, by_size: bool = False) -> FloatArray:
    """The means over the datasets of each family (... x datasets to ... x families); without families the values.

    `by_size` weighs a family by its datasets, so that the mean over families is that over datasets.
    """
    if numbers is None:
        return values
    member = (numbers[:, None] == np.unique(numbers)).astype(np.float64)
    return values @ (member * (member.shape[1] / len(member) if by_size else 1 / member.sum(axis=0)))


def related(datasets: Sequence[str]) -> IntArray:
    """Family numbers with the datasets of each well-known collection as one family, and every other dataset alone."""
    families = obvious_families(datasets).items()
    names = {name: f"\0{collection}" for collection, members in families for name in members}
    return np.unique([names.get(name, name) for name in datasets], return_inverse=True)[1]


def _start(name: str) -> str:
    return re.split(r"[-_.\s\d]", name, maxsplit=1)[0].casefold()
