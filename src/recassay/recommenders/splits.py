"""Splits are made once and shared: one folder per split in the study folder, memory-mapped by every cell."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recassay.core.errors import UsageError
from recassay.core.interactions import RepeatRule
from recassay.core.specs.specs import ProtocolSpec
from recassay.core.specs.study import DatasetSpec
from recassay.core.system.files import appearing_folder
from recassay.core.system.plain import plain
from recassay.core.types import Interactions, Split
from recassay.data.sources import count_events, is_path, open_dataset, path_of
from recassay.protocol.apply import apply_protocol
from recassay.recommenders.order import audit_order
from recassay.recommenders.plan import SplitSpec
from recassay.recommenders.split_folder import open_split_folder
from recassay.runner.jobs import JobFailure
from recassay.store.files import write_array, write_parquet
from recassay.store.sealed import check_files, files_state, is_usable, read_sealed, seal_folder, split_folder

_COLUMNS = ("user", "item", "weight", "time")
_PARTS = ("train", "valid", "test", "unjudged_valid")
_KEPT = ("fingerprint", "final_fit", "task", "overlapping", "counts", "audit")
"""What of a split is kept as it is."""
_META, _WHAT = "split.json", "the prepared split"
_IDS = {"users": "users.parquet", "items": "items.parquet"}


@dataclass(frozen=True, slots=True)
class SplitRecord:
    """What is known of a prepared split: `n_interactions` and the tables' sizes are those of the final training."""

    id: str
    fingerprint: str
    n_users: int
    n_items: int
    n_interactions: int
    counts: dict[str, int]
    audit: dict[str, Any]

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Users, items and interactions, as algorithms are asked for their memory."""
        return self.n_users, self.n_items, self.n_interactions


def is_prepared(folder: Path, split_id: str) -> bool:
    """Whether the split is there; it appears whole or not at all."""
    return (split_folder(folder, split_id) / _META).is_file()


def prepare_split(folder: Path, spec: SplitSpec, dataset: DatasetSpec, base: str) -> SplitRecord:
    """Make the split unless it is there: read, filter, divide, audit, and write it under a temporary name first.

    One that was damaged on the disk is made again.
    """
    target = split_folder(folder, spec.id)
    if not is_usable(folder, spec.id):
        split = make_split(dataset, spec.protocol, base)
        with appearing_folder(target, replace=True) as made:
            write_split(split, made)
    return split_record(folder, spec.id)


def preparation_bytes(events: int) -> int:
    """The peak memory of reading and splitting so many events: measured (`benchmarks/scale.py`), rounded up."""
    return 300_000_000 + 36 * events


def refuse_too_many_events(dataset: DatasetSpec, base: str, limit: int | None, limit_in_words: str) -> None:
    """Raise where the dataset's size is known without reading it, and reading it would exceed the limit in bytes."""
    events = count_events(dataset.reference, base)
    needed = 0 if events is None else preparation_bytes(events)
    if limit is not None and needed > limit:
        raise JobFailure(
            "over_budget",
            f"{events:,} events of {dataset.name} would need about {needed / 1e9:.3g} GB to be read and split, and "
            f"{limit_in_words} {limit / 1e9:.3g}",
        )


def make_split(dataset: DatasetSpec, protocol: ProtocolSpec, base: str) -> Split:
    """The split of a dataset under a protocol: of its interactions, or of a folder of parts made elsewhere."""
    if protocol.split == "given":
        if not is_path(dataset.reference):
            raise UsageError(
                f"split = 'given' takes a folder of parts, and {dataset.reference!r} is a dataset",
                fix="name a folder that holds train, valid and test files, or choose another split",
            )
        return with_order(open_split_folder(path_of(dataset.reference, base), protocol, dataset.read), protocol)
    opened = open_dataset(dataset.reference, dataset.read, base=base)
    opened.refuse_positions(protocol.split)
    return with_order(apply_protocol(opened.interactions, protocol, overwrite=True), protocol)


def with_order(split: Split, protocol: ProtocolSpec, *, trained: bool = False) -> Split:
    """The split whose audit says, where targets come after histories, how much order there is: for rules (`order`),
    and, where `trained`, for SASRec (`order_trained`)."""
    audits = {"order": False, **({"order_trained": True} if trained else {})} if protocol.target != "all" else {}
    orders = {name: audit_order(split, protocol, trained=of_network) for name, of_network in audits.items()}
    return replace(split, audit=split.audit | {name: order.to_dict() for name, order in orders.items() if order})


def split_record(folder: Path, split_id: str) -> SplitRecord:
    """The record of a prepared split."""
    stored = read_sealed(split_folder(folder, split_id), _META, _WHAT)
    sizes = {f"n_{what}": size for what, size in stored["sizes"].items()}
    return SplitRecord(split_id, **sizes, **{key: stored[key] for key in ("fingerprint", "counts", "audit")})


def load_split(
    folder: Path,
    split_id: str,
    *,
    checked: Mapping[str, str] | None = None,
    note: Callable[[dict[str, str]], None] = lambda _: None,
) -> Split:
    """A prepared split; its arrays are read-only maps of the files, so that all cells share one copy in memory.

    A file that is not what was written raises `InputError` with its name. Files are not read for that again where
    `checked` has, for this host, the state in which they were found sound; `note` gets one that is new.
    """
    source = split_folder(folder, split_id)
    stored = read_sealed(source, _META, _WHAT)
    host, state = socket.gethostname(), files_state(source, stored)
    if (checked or {}).get(host) != state:
        check_files(source, stored, _WHAT)
        note({host: state})
    tables: dict[str, Any] = {
        name: pl.read_parquet(source / file, glob=False).to_series() for name, file in _IDS.items()
    }
    rule = RepeatRule(stored["repeated"]["name"], tuple(stored["repeated"]["levels"]))
    parts: dict[str, Any] = {}
    for name, columns in stored["parts"].items():
        files = {column: source / f"{name}.{column}.npy" for column in columns}
        mapped: dict[str, Any] = {
            column: np.asarray(np.load(file, mmap_mode="r", allow_pickle=False)) for column, file in files.items()
        }
        parts[name] = Interactions(**mapped, **tables, repeated=rule)
    return Split(**parts, **{key: stored[key] for key in _KEPT})


def write_split(split: Split, folder: Path) -> None:
    """Write a split into an empty folder, which `load_split` maps."""
    parts: dict[str, list[str]] = {}
    for name in _PARTS:
        part: Interactions | None = getattr(split, name)
        if part is None:
            continue
        parts[name] = [c for c in _COLUMNS if getattr(part, c) is not None]
        for column in parts[name]:
            write_array(folder / f"{name}.{column}.npy", getattr(part, column))
    for name, file_name in _IDS.items():
        write_parquet(folder / file_name, getattr(split.train, name).to_frame())
    meta = {
        **{key: getattr(split, key) for key in _KEPT},
        "repeated": asdict(split.train.repeated),
        "parts": parts,
        "sizes": {
            "users": split.train.n_users,
            "items": split.train.n_items,
            "interactions": sum(len(part) for part in split.refit_parts()),
        },
    }
    seal_folder(folder, _META, plain(meta))
