"""Verbs on interaction data: import, fetch, list, load, describe, remove."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from recassay.api.arguments import checked
from recassay.api.inputs import InteractionsLike
from recassay.core.errors import InputError, RecAssayError, UsageError
from recassay.core.specs.specs import ProtocolSpec, ReadSpec
from recassay.core.system.plain import plain
from recassay.core.tabular import stated
from recassay.core.types import Interactions
from recassay.data.catalog.entries import all_datasets, find_dataset
from recassay.data.characteristics import describe
from recassay.data.download.fetch import obtain
from recassay.data.folders import home
from recassay.data.library import DatasetManifest, import_dataset, list_datasets, remove_dataset
from recassay.data.overview import Overview, overview
from recassay.data.sources import OpenedDataset, open_dataset, told_reading
from recassay.data.synthetic.presets import SUMMARIES
from recassay.protocol.apply import apply_protocol
from recassay.protocol.ordering import used_ids
from recassay.reporting.words.describe import NAMES, advice, size, to_judge
from recassay.reporting.words.sequences import order_words, share_words, target_words


@checked
def import_data(
    source: InteractionsLike,
    name: str,
    read: ReadSpec | Mapping[str, Any] | None = None,
    *,
    licence: str | None = None,
    note: str | None = None,
    replace: bool = False,
) -> DatasetManifest:
    """Read a file (or a frame or sparse matrix) and keep it in the cache under `name`.

    Args:
        source: a file, a frame or a sparse matrix.
        name: the name of the stored dataset.
        read: how files are read: a `ReadSpec` or its fields.
        licence: its licence, kept in the manifest.
        note: a note, kept in the manifest.
        replace: overwrite a stored dataset of that name.
    """
    return import_dataset(source, name, ReadSpec.of(read), licence=licence, note=note, replace=replace)


@checked
def list_data(*, everything: bool = False) -> list[dict[str, Any]]:
    """The stored datasets; with `everything` also the embedded ones and those of the catalogue.

    Of a dataset that must be had by hand `how` says what to do. Of a download `checksum` says whose it is held
    against: that of its `publisher`, or the one that its `first fetch` writes down.

    Args:
        everything: also the embedded datasets and those of the catalogue.
    """
    stored = list_datasets()
    rows = [
        {
            "name": m.name,
            "kind": "stored",
            **stated(m, "interactions", "users", "items"),
            "time": m.time_unit or "none",
            "licence": m.licence or "",
            "what": m.note or m.source,
        }
        for m in stored
    ]
    if not everything:
        return rows
    rows += [{"name": f"synthetic:{name}", "kind": "embedded", "what": text} for name, text in SUMMARIES.items()]
    known = {m.name for m in stored}
    rows += [
        {
            "name": e.name,
            "kind": "fetch" if e.addresses and not e.convert else "by hand",
            **stated(e, "domain", "threshold", "licence"),
            "what": e.title,
            "home": e.home,
            "how": e.how or e.convert,
            "tried": e.tried,
            "checksum": ("publisher" if e.md5 or e.sha256 else "first fetch") if e.addresses else None,
        }
        for e in all_datasets()
        if e.name not in known
    ]
    return rows


@checked
def load_data(source: InteractionsLike, read: ReadSpec | Mapping[str, Any] | None = None) -> Interactions:
    """Interactions from a stored name, `synthetic:PRESET`, a file, or a frame or sparse matrix in memory.

    Args:
        source: name of a stored dataset, `synthetic:PRESET`, file, frame or sparse matrix.
        read: how files are read: a `ReadSpec` or its fields.
    """
    return open_dataset(source, ReadSpec.of(read)).interactions


@checked
def fetch_data(
    name: str, *, progress: Callable[[int, int | None], None] | None = None, accept_change: bool = False
) -> DatasetManifest:
    """Download a dataset of the catalogue, verify, unpack and read it, and keep it under its name.

    Args:
        name: name in the catalogue.
        progress: called with (bytes done, bytes in all or None).
        accept_change: accept a file whose checksum differs from the pinned one.
    """
    entry = find_dataset(name)
    if not entry.addresses:
        raise UsageError(
            f"{entry.name} cannot be fetched by a program: {entry.how}",
            fix=f"then: `recassay.import_data(FILE, name={entry.name!r})`",
        )
    downloads = home() / "downloads"
    downloads.mkdir(parents=True, exist_ok=True)
    path = obtain(entry, downloads, progress=progress, accept_change=accept_change)
    return import_dataset(path, entry.name, entry.read, licence=entry.licence, note=entry.title, replace=True)


@checked
def remove_data(name: str) -> None:
    """Forget a stored dataset.

    Args:
        name: the name of the stored dataset.
    """
    remove_dataset(name)


LAST_EVENT = {"split": "leave_last_out", "filter": "none", "target": "last"}
"""The protocol under which sequences are described, as far as no other is given."""

MOST_TRIED = 20_000_000
"""Events above which no split is made only to say what it would leave."""


@dataclass(frozen=True, slots=True)
class DataDescription:
    """A dataset at a glance, its 18 characteristics, how it was read, and, where asked for, its split and the audit."""

    name: str
    """The dataset, as it was named."""
    characteristics: dict[str, float]
    """The 18 characteristics by name (KDD'24, section 4.3): of all events, or of those that the protocol keeps."""
    reading: dict[str, Any]
    """How the file was read: columns, rows left out, and the like."""
    protocol: dict[str, Any] | None = None
    """The fields of the protocol; None where none was given, and so all that follows."""
    parts: dict[str, dict[str, int]] | None = None
    """For `train`, `valid` and `test`, the numbers of `interactions`, `users` and `items`."""
    counts: dict[str, int] | None = None
    audit: dict[str, Any] | None = None
    """What the audit of the split found; with `sequences` also `targets` and `order`, with `trained` also
    `order_trained`."""
    fingerprint: str | None = None
    overview: Overview | None = None
    """Users, items, events, period, and how events spread over users and items."""
    trial: dict[str, Any] | None = None
    """What the usual split (in time, or at random without times) would leave to judge: `split`, and `users`, their
    `share` and `events`, or why it is `refused`. None where a protocol was given, and above 20 million events."""

    def told_reading(self) -> tuple[str, ...]:
        """Which columns were taken for what, and which rows were left out and why, as lines."""
        return told_reading(self.name, self.reading)

    def told_order(self) -> tuple[str, ...]:
        """How much order there is, what is asked for and what of it repeats, as lines; none without `sequences`."""
        if self.audit is None or self.protocol is None or "targets" not in self.audit:
            return ()
        orders = (self.audit.get(name) for name in ("order", "order_trained"))
        first = [order_words(self.name, order) for order in orders if order]
        # Positions of two users have no common order: nothing comes after the targets of others.
        clock = self.reading.get("time_unit") != "position"
        shares = share_words(self.audit if clock else {"targets": self.audit["targets"]})
        return (*first, shares, *target_words(self.protocol))

    def sentences(self) -> list[str]:
        """How large it is, what a split would leave to judge, and what to think about before a study."""
        if self.overview is None:
            return []
        timed = self.overview.first_day is not None or self.reading.get("time_unit") is not None
        trial = [] if self.trial is None else [to_judge(self.trial)]
        bad = int(self.reading.get("bad") or 0)
        return [size(self.name, self.overview), *trial, *advice(self.overview, self.trial, timed=timed, bad=bad)]

    def characteristics_in_words(self) -> list[tuple[str, str, str]]:
        """The characteristics as rows: the name of the papers, the name in words, the value."""
        shown = {k: f"{v:,}" if isinstance(v, int) else f"{v:.4g}" for k, v in self.characteristics.items()}
        return [(name, NAMES.get(name, name), value) for name, value in shown.items()]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        content = {"dataset": self.name, "characteristics": self.characteristics, "reading": self.reading}
        if self.overview is not None:
            days = {
                name: day and day.isoformat()
                for name, day in (("first_day", self.overview.first_day), ("last_day", self.overview.last_day))
            }
            content["overview"] = plain(asdict(self.overview) | days)
        if self.trial is not None:
            content["trial"] = self.trial
        if self.protocol is None:
            return content
        names = ("protocol", "fingerprint", "parts", "counts", "audit")
        return {**content, "split": {name: getattr(self, name) for name in names}}


@checked
def describe_data(
    source: InteractionsLike,
    read: ReadSpec | Mapping[str, Any] | None = None,
    *,
    protocol: ProtocolSpec | Mapping[str, Any] | None = None,
    sequences: bool = False,
    trained: bool = False,
) -> DataDescription:
    """A dataset at a glance, and its 18 characteristics (KDD'24, section 4.3); with a protocol its split and audit.

    With `sequences` the audit also says how much order the data have: the shares of repeats and ties among the targets,
    and what sequential rules lose when all histories are shuffled. Unless the protocol says otherwise, the target is
    then each user's last event, and nothing is filtered.

    Args:
        source: whatever `load_data` opens.
        read: how files are read: a `ReadSpec` or its fields.
        protocol: a `ProtocolSpec` or its fields: describe the events it keeps, and audit its split.
        sequences: say how much order there is in the histories.
        trained: with `sequences`, also what SASRec loses, on 100,000 events at most; it takes minutes without a GPU.
    """
    if trained and not sequences:
        raise UsageError("`trained` is about the order of histories", fix="set `sequences`, too")
    opened = open_dataset(source, ReadSpec.of(read))
    interactions, reading = opened.interactions, opened.reading
    name = str(source) if isinstance(source, (str, Path)) else type(source).__name__
    if sequences and interactions.time is None:
        raise InputError(
            "these interactions have no timestamps, so the order of histories is not known",
            where=name,
            fix="read the column of timestamps (`position` where it is not a clock)",
        )
    seen = overview(interactions, int(reading.get("repeated") or 0))
    if protocol is None and not sequences:
        characteristics = describe(interactions)
        return DataDescription(name, characteristics, reading, overview=seen, trial=_trial(opened))
    spec = ProtocolSpec.of(protocol)
    if sequences:
        stated = {**LAST_EVENT, **spec.stated()}
        spec = ProtocolSpec.checked(**(stated | ({"target": "last"} if stated["target"] == "all" else {})))
    from recassay.recommenders.splits import with_order  # it loads metrics and rules of order

    opened.refuse_positions(spec.split)
    split = with_order(apply_protocol(interactions, spec, overwrite=True), spec, trained=trained)
    parts = {
        part: {
            "interactions": len(rows),
            "users": int(np.count_nonzero(used_ids(rows.user, rows.n_users))),
            "items": int(np.count_nonzero(used_ids(rows.item, rows.n_items))),
        }
        for part, rows in (("train", split.train), ("valid", split.valid), ("test", split.test))
    }
    return DataDescription(
        name,
        describe(*split.refit_parts(), split.test),
        reading,
        spec.model_dump(mode="json"),
        parts,
        split.counts,
        split.audit,
        split.fingerprint,
        seen,
    )


def _trial(opened: OpenedDataset) -> dict[str, Any] | None:
    """What the usual split would leave to judge; the interactions may be overwritten."""
    interactions = opened.interactions
    if len(interactions) > MOST_TRIED:
        return None
    rule: Literal["global_time", "random"] = "random" if interactions.time is None else "global_time"
    try:
        opened.refuse_positions(rule)
        split = apply_protocol(interactions, ProtocolSpec(split=rule), overwrite=True)
    except RecAssayError as error:
        return {"split": rule, "refused": str(error).partition(";")[0]}
    judged, share = split.audit["users_evaluated"], split.audit["share_of_users_evaluated"]
    return {"split": rule, "users": judged, "share": share, "events": len(split.test)}
