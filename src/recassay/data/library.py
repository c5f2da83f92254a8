"""The user's datasets: one folder per dataset in the cache, with the interactions in Parquet and a manifest beside
them.
"""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import BaseModel, ConfigDict, ValidationError

from recassay.core import blocks
from recassay.core.columns import ITEM, RATING, TIMESTAMP, USER
from recassay.core.errors import InputError
from recassay.core.interactions import RepeatRule
from recassay.core.names import did_you_mean
from recassay.core.specs.specs import ReadSpec
from recassay.core.system.files import file_checksum, remove_folder
from recassay.core.types import Interactions
from recassay.core.version import __version__
from recassay.data.folders import appearing_dataset, checked_name, home
from recassay.data.readers import read_interactions
from recassay.data.reading.events import bounded_rule
from recassay.data.reading.frames import damaged_parquet
from recassay.data.reading.gather import gather

SCHEMA_VERSION = 2
"""1: events of one user and item were made one before they were stored. 2: events with times are all kept."""

TABLE_FILE = "interactions.parquet"
MANIFEST_FILE = "manifest.json"
_DEFAULT = ReadSpec()


class DatasetManifest(BaseModel):
    """What is known of a stored dataset."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    schema_version: int
    """The version of this record's own form."""
    recassay_version: str
    """The version of RecAssay that stored it."""
    name: str
    """The name that it is stored under."""
    created: str
    """When, in UTC (ISO 8601)."""
    source: str
    """Where it was read from."""
    source_sha256: str | None
    """SHA-256 of the file it was read from; None for an object in memory."""
    licence: str | None
    """Its licence, where known."""
    note: str | None
    """What was noted of it, or its title in the catalogue."""
    interactions: int
    """How many events it has."""
    users: int
    """How many users have one."""
    items: int
    """How many items have one."""
    has_ratings: bool
    """Whether events have a rating or another weight."""
    time_unit: str | None
    """The unit of their times; None where they have none."""
    sha256: str
    """SHA-256 of its Parquet file."""
    bytes: int
    """The size of that file."""
    options: dict[str, Any]
    """The `ReadSpec` that it was read with, as plain values."""
    record: dict[str, Any]
    """The `ReadRecord` of that reading: what was found and left out."""

    def to_dict(self) -> dict[str, Any]:
        """The manifest as plain values."""
        return self.model_dump(mode="json")


def datasets_folder() -> Path:
    """The folder that holds one folder per dataset."""
    return home() / "datasets"


def import_dataset(
    source: Any,
    name: str,
    spec: ReadSpec = _DEFAULT,
    *,
    licence: str | None = None,
    note: str | None = None,
    replace: bool = False,
) -> DatasetManifest:
    """Read `source` (see `read_interactions`) and keep it under `name`; an error leaves nothing behind.

    The Parquet file holds the columns user, item, rating and timestamp with the ids in their own type, so
    that other tools can read it. Ids without an interaction are not kept. An existing name is refused unless
    `replace`.
    """
    target = datasets_folder() / checked_name(name)
    same = [known for known in _names() if known.lower() == name.lower()]
    if same and not (replace and same == [name]):
        what = f"a dataset {same[0]!r} exists already"
        raise InputError(what, fix="choose another name, remove it, or replace it (replace=True)")
    result = read_interactions(source, spec)
    events, record = result.interactions, result.record
    with appearing_dataset(target, replace=replace) as folder:
        table = folder / TABLE_FILE
        lazy = _lazy(events)
        if len(events) <= blocks.ROWS:
            lazy = lazy.collect().lazy()
        lazy.sink_parquet(table, compression="zstd", engine="streaming")
        manifest = DatasetManifest(
            schema_version=SCHEMA_VERSION,
            recassay_version=__version__,
            name=name,
            created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            source=record.source,
            source_sha256=record.sha256,
            licence=licence,
            note=note,
            interactions=len(events),
            users=events.n_users,
            items=events.n_items,
            has_ratings=events.weight is not None,
            time_unit=record.time_unit,
            sha256=file_checksum(table),
            bytes=table.stat().st_size,
            options=spec.model_dump(mode="json"),
            record=record.to_dict(),
        )
        text = json.dumps(manifest.to_dict(), indent=2, ensure_ascii=False)
        (folder / MANIFEST_FILE).write_text(text + "\n", encoding="utf-8")
    return manifest


def list_datasets() -> list[DatasetManifest]:
    """The manifests of all stored datasets, by name; one that cannot be read raises with its file."""
    return [read_manifest(name) for name in _names()]


def read_manifest(name: str) -> DatasetManifest:
    """The manifest of one dataset."""
    path = _existing(name) / MANIFEST_FILE
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        version = int(stored["schema_version"])
        if version > SCHEMA_VERSION:
            what = f"dataset {name!r} was stored by a newer RecAssay ({stored.get('recassay_version')})"
            raise InputError(what, where=str(path), fix="update RecAssay, or import the dataset again")
        return DatasetManifest.model_validate(stored)
    except (OSError, ValueError, KeyError, TypeError, ValidationError):
        fix = f"remove dataset {name!r} and import it again"
        raise InputError("the manifest is missing or damaged", where=str(path), fix=fix) from None


def load_dataset(name: str) -> Interactions:
    """The interactions of a stored dataset, as they were when it was imported.

    The Parquet file must have the checksum that the manifest names. A dataset whose repeated events an older version
    merged when it was imported is refused: no split could part them any more.
    """
    manifest = read_manifest(name)
    if manifest.schema_version < SCHEMA_VERSION and manifest.record["repeated"] and manifest.time_unit is not None:
        repeated = manifest.record["repeated"]
        events, repeat, were = ("event", "repeats", "was") if repeated == 1 else ("events", "repeat", "were")
        raise InputError(
            f"{repeated:,} {events} of dataset {name!r} that {repeat} a user and item {were} merged by an older "
            "RecAssay before any split: events of the test period took training events away",
            where=str(_existing(name)),
            fix=f"import it again: `recassay.import_data({manifest.source}, name={name!r}, replace=True)`",
        )
    table = _existing(name) / TABLE_FILE
    if not table.is_file() or file_checksum(table) != manifest.sha256:
        raise InputError(
            "the stored interactions are missing or not those that were imported (their checksum differs)",
            where=str(table),
            fix=f"remove dataset {name!r} and import it again from {manifest.source}",
        )
    try:
        columns = gather(pl.scan_parquet(table, glob=False), manifest.interactions, {})
    except pl.exceptions.PolarsError as error:
        raise damaged_parquet(table, error) from None
    return Interactions(
        user=columns.codes[USER],
        item=columns.codes[ITEM],
        users=columns.tables[USER],
        items=columns.tables[ITEM],
        weight=columns.rating,
        time=None if columns.times is None else columns.times.values,
        repeated=stored_rule(manifest),
    )


def stored_rule(manifest: DatasetManifest) -> RepeatRule:
    """What several events of one user and item of a stored dataset mean."""
    if manifest.record["repeated_rule"] in ("bounded", "inverse_frequency"):
        return bounded_rule(manifest.record["event_weights"])
    return RepeatRule(manifest.record["repeated_rule"])


def remove_dataset(name: str) -> None:
    """Forget a stored dataset and delete its folder."""
    remove_folder(_existing(name))


def _lazy(interactions: Interactions) -> pl.LazyFrame:
    """The events with the ids of their source, of which a few blocks are made at a time."""
    columns = {USER: pl.Series(interactions.user), ITEM: pl.Series(interactions.item)}
    if interactions.weight is not None:
        columns[RATING] = pl.Series(interactions.weight)
    if interactions.time is not None:
        columns[TIMESTAMP] = pl.Series(interactions.time)
    tables = {USER: interactions.users, ITEM: interactions.items}
    return pl.LazyFrame(columns).with_columns(
        pl.col(name).map_batches(table.gather, return_dtype=table.dtype, is_elementwise=True)
        for name, table in tables.items()
    )


def _names() -> list[str]:
    folder = datasets_folder()
    if not folder.is_dir():
        return []
    return sorted(entry.name for entry in folder.iterdir() if entry.is_dir() and not entry.name.startswith("."))


def _existing(name: str) -> Path:
    folder = datasets_folder() / checked_name(name)
    if not folder.is_dir():
        raise InputError(f"no dataset {name!r} was imported", fix=did_you_mean(name, _names()))
    return folder
