"""The known datasets: where each comes from, under which licence, and how its file is read.

The entries are data, in `catalog.toml`. None of their addresses could be reached while this was written, so
none was ever tried: `CatalogEntry.tried` says so for each, and stays False until somebody has fetched it. The
addresses and file layouts were compared with public code that uses them; where that left a doubt there is no
address but a sentence, `how`, on obtaining the file. A licence that is not known for certain is "unknown".

The threshold tau follows the KDD'24 study (appendix A.1 and its published configuration): 3.5 for ratings up
to 5, 0.3 for shares from 0 to 1, none for implicit feedback. For other scales, which that study does not use,
tau is the same 70 % of the highest rating, and `threshold_source` says "scale".
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Annotated, Literal
from urllib.parse import unquote, urlsplit

from pydantic import Field, StringConstraints, ValidationError, model_validator

from recassay.core.errors import RecAssayError, UsageError
from recassay.core.names import canonical, did_you_mean
from recassay.core.registry import datasets
from recassay.core.specs.specs import ReadSpec, Spec

Domain = Literal[
    "Movies and clips",
    "Food and beverage",
    "Social networks",
    "Books",
    "Location-based SN",
    "Music",
    "E-commerce",
    "News",
    "Games",
    "Humour",
    "Articles",
    "Images",
    "Web pages",
]
"""The first seven are those of KDD'24, Table 1."""
Paper = Literal["kdd24", "bi-reirt", "comper", "popularity-stratified"]
Address = Annotated[str, StringConstraints(pattern=r"^https?://[^\s/]+/\S*$")]


class CatalogEntry(Spec):
    """One dataset: its names, its source and how the file is read.

    `addresses` are mirrors of the same bytes, tried in order. Where there is none, `how` says what to do: a
    registration, a Kaggle login, a form. `size`, `md5` and `sha256` are there only where the publisher gives
    them; otherwise the first fetch pins them.
    """

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
    aliases: tuple[str, ...] = ()
    title: str
    domain: Domain
    licence: str = "unknown"
    home: Address
    addresses: tuple[Address, ...] = ()
    how: str | None = None
    file_name: str | None = None
    """The file's name in the cache; None: the last part of the first address."""
    member: str | None = None
    """The file to read in the archive, compared from the right; None: the file itself, or its only member."""
    convert: str | None = None
    """What must be done by hand before our readers can read the file; None: nothing."""
    read: ReadSpec = ReadSpec()
    feedback: Literal["explicit", "implicit"]
    threshold: float | None = None
    threshold_source: Literal["kdd24", "scale"] | None = None
    min_interactions: Annotated[int, Field(ge=1)] = 5
    """Fewest interactions of a user and of an item; 50 for Zvuk and MegaMarket (KDD'24, footnote 3)."""
    size: Annotated[int, Field(gt=0)] | None = None
    md5: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")] | None = None
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None = None
    papers: tuple[Paper, ...] = ()
    tried: bool = False
    """Whether an address was ever fetched from; False for every entry of this release."""
    note: str | None = None

    @model_validator(mode="after")
    def _check(self) -> CatalogEntry:
        if not self.addresses and not self.how:
            raise ValueError(f"{self.name}: an entry without an address must say how to obtain the file")
        if (self.threshold is None) != (self.threshold_source is None):
            raise ValueError(f"{self.name}: a threshold and its source come together")
        if self.feedback == "explicit" and self.threshold is None:
            raise ValueError(f"{self.name}: explicit feedback needs a threshold")
        if self.stored_name in ("", ".", "..") or set(self.stored_name) & set("/\\\0"):
            raise ValueError(f"{self.name}: {self.stored_name!r} is not a plain file name")
        return self

    @property
    def stored_name(self) -> str:
        """The name of the downloaded file in the cache."""
        if self.file_name is not None:
            return self.file_name
        return unquote(PurePosixPath(urlsplit(self.addresses[0]).path).name) if self.addresses else f"{self.name}.csv"

    @property
    def names(self) -> tuple[str, ...]:
        """The name and the aliases."""
        return (self.name, *self.aliases)


class Catalog:
    """A set of entries, found by name or alias; names are compared by `core.names.canonical`."""

    def __init__(self, entries: tuple[CatalogEntry, ...]) -> None:
        self._by_name: dict[str, CatalogEntry] = {}
        for entry in entries:
            for name in entry.names:
                other = self._by_name.setdefault(canonical(name), entry)
                if other is not entry:
                    raise RecAssayError(f"the datasets {other.name} and {entry.name} both claim the name {name!r}")
        self.entries = tuple(sorted(entries, key=lambda entry: entry.name))

    def __iter__(self) -> Iterator[CatalogEntry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def aliases(self) -> tuple[str, ...]:
        """Every name within, so that the registry of datasets finds the catalog that holds one."""
        return tuple(name for entry in self.entries for name in entry.names)

    def find(self, name: str) -> CatalogEntry | None:
        """The entry of that name or alias, or None."""
        return self._by_name.get(canonical(name))


def read_catalog(text: str) -> Catalog:
    """A catalog from TOML: one `[[dataset]]` table an entry, its keys the fields of `CatalogEntry`."""
    try:
        tables = tomllib.loads(text).get("dataset", [])
        return Catalog(tuple(CatalogEntry.model_validate(table) for table in tables))
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise RecAssayError(f"the catalog of datasets cannot be read: {error}") from error


CATALOG = read_catalog(files("recassay.data.catalog").joinpath("catalog.toml").read_text("utf-8"))


def all_datasets() -> list[CatalogEntry]:
    """Every entry of ours and of the plugins, by name; two that claim one name are refused."""
    return list(_everything())


def find_dataset(name: str) -> CatalogEntry:
    """The entry of that name or alias, ours or a plugin's; an unknown one is a `UsageError` with near ones.

    A plugin announces, in the entry-point group `recassay.datasets`, a `CatalogEntry`, a `Catalog`, or
    a loader: a callable that returns interactions, which has nothing to download and is not found here.
    """
    everything = _everything()
    entry = everything.find(name)
    if entry is None:
        fix = did_you_mean(name, everything.aliases, else_see="`recassay.list_data(everything=True)`")
        raise UsageError(f"unknown dataset {name!r}", fix=fix)
    return entry


def _everything() -> Catalog:
    entries = list(CATALOG)
    for _, part in datasets:
        if isinstance(part, CatalogEntry):
            entries.append(part)
        elif isinstance(part, Catalog) and part is not CATALOG:
            entries.extend(part)
    return Catalog(tuple(entries))
