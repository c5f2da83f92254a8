"""The split of a study as files: written out for training elsewhere, and read back as the same split."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, get_args

import polars as pl

from recassay.core import columns as c
from recassay.core.choices import SplitFormat
from recassay.core.errors import InputError, UsageError
from recassay.core.interactions import RepeatRule, RuleName
from recassay.core.specs.specs import FinalFit, ProtocolSpec, ReadSpec
from recassay.core.system.files import appearing_folder, file_checksum
from recassay.core.system.plain import plain
from recassay.core.types import Interactions, Split, joined
from recassay.core.version import __version__
from recassay.data.lists.read import SIDECAR
from recassay.data.parts import find_parts, read_parts
from recassay.protocol.apply import apply_protocol
from recassay.protocol.audit import FINDINGS
from recassay.store.files import write_json

_TYPED = {c.USER: "user_id:token", c.ITEM: "item_id:token", c.RATING: "rating:float", c.TIMESTAMP: "timestamp:float"}
_LENSKIT = {c.USER: "user_id", c.ITEM: "item_id"}


@dataclass(frozen=True, slots=True)
class SplitExport:
    """What was written: the folder, the split's fingerprint, and by part the file, its rows and its checksum."""

    folder: Path
    """Where the files lie."""
    dataset: str
    """The dataset, as it was named."""
    fingerprint: str
    format: SplitFormat
    """The format of the files."""
    files: dict[str, dict[str, Any]]
    """By part (`train`, `valid`, `test`), its `file`, its `rows` and its `sha256`."""
    counts: dict[str, int]
    audit: dict[str, Any]
    final_fit: FinalFit = "train+valid"
    """What a study with this protocol trains its final model on."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self) | {"folder": str(self.folder)}


def export_split(
    split: Split,
    out: Path,
    *,
    form: SplitFormat,
    dataset: str,
    protocol: ProtocolSpec,
    reading: Mapping[str, Any],
    overwrite: bool = False,
) -> SplitExport:
    """Write the parts of `split` into the folder `out`, with `split.json` that names their fingerprint.

    The validation file holds all validation events, those too that judge nothing (`Split.unjudged_valid`): the final
    model of a study is trained on training and validation together, unless `final_fit` says otherwise. The test file
    holds the events that are judged. The folder appears whole or not at all.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        if not overwrite:
            raise UsageError("the folder is not empty", where=str(out), fix="choose another one, or say `replace=True`")
        if not (out / SIDECAR).is_file():
            raise UsageError("the folder holds no split, so it is not replaced", where=str(out), fix="choose another")
    held_back = () if split.unjudged_valid is None else (split.unjudged_valid,)
    parts = {"train": split.train, "valid": joined([split.valid, *held_back]), "test": split.test}
    files: dict[str, dict[str, Any]] = {}

    with appearing_folder(out, replace=True) as folder:
        for part, events in parts.items():
            name = _write_part(events_frame(events), folder, form, part, out.resolve().name)
            files[part] = {"file": name, "rows": len(events), "sha256": file_checksum(folder / name)}
        meta = {
            "recassay": __version__,
            "fingerprint": split.fingerprint,
            "dataset": dataset,
            "format": form,
            "protocol": protocol.model_dump(mode="json"),
            "repeated": asdict(split.train.repeated),
            "files": files,
            "counts": split.counts,
            "audit": split.audit,
            "reading": dict(reading),
        }
        write_json(folder / SIDECAR, plain(meta))
    return SplitExport(out, dataset, split.fingerprint, form, files, split.counts, split.audit, protocol.final_fit)


def open_split_folder(folder: Path, protocol: ProtocolSpec, read: ReadSpec) -> Split:
    """The given split in `folder` under `protocol`.

    Where `split.json` of `recassay split` lies there, its files have their checksums, and the protocol adds nothing (no
    threshold, no filter, the same task and final fit), it is that very split, with its fingerprint and audit.
    """
    meta = read_sidecar(folder)
    parts = read_parts(folder, read)
    if meta is None or not _adds_nothing(protocol, meta["protocol"]):
        return apply_protocol(None, protocol, given=parts)
    for part, file in find_parts(folder).items():
        if file_checksum(file) != meta["files"][part]["sha256"]:
            raise InputError(
                f"{file.name} is not the file that was written (its checksum differs)",
                where=str(folder),
                fix=f"write the split again, or remove {SIDECAR} to make it a split of its own",
            )
    rule = _repeat_rule(meta)
    train, valid, test = (replace(part, repeated=rule) for part in parts)
    # What was found when it was made was accepted then; that audit is kept.
    split = apply_protocol(None, protocol.model_copy(update={"allow_leakage": FINDINGS}), given=(train, valid, test))
    return replace(split, fingerprint=meta["fingerprint"], audit=meta["audit"])


def read_sidecar(folder: Path) -> dict[str, Any] | None:
    """What `recassay split` wrote beside the parts; None where it wrote nothing."""
    path = folder / SIDECAR
    if not path.is_file():
        return None
    try:
        meta: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if not all(isinstance(meta[key], dict) for key in ("protocol", "files", "audit", "repeated")):
            raise ValueError("no protocol, files or audit")
        if not re.fullmatch("[0-9a-f]{64}", meta["fingerprint"]):
            raise ValueError("no fingerprint")
        for part in ("train", "valid", "test"):
            meta["files"][part]["sha256"]
        _repeat_rule(meta)
        exported_protocol(meta)
    except (OSError, ValueError, KeyError, TypeError, RecursionError, UsageError):
        raise InputError("is damaged", where=str(path), fix="write the split again, or remove this file") from None
    return meta


def _repeat_rule(meta: Mapping[str, Any]) -> RepeatRule:
    name, levels = meta["repeated"]["name"], tuple(float(level) for level in meta["repeated"]["levels"])
    if name not in get_args(RuleName):
        raise ValueError("no rule")
    return RepeatRule(name, levels)


def exported_protocol(meta: Mapping[str, Any]) -> ProtocolSpec:
    """The protocol under which a folder of `recassay split` is that very split."""
    protocol = meta["protocol"]
    return ProtocolSpec.checked(split="given", filter="none", task=protocol["task"], final_fit=protocol["final_fit"])


def _adds_nothing(protocol: ProtocolSpec, exported: Mapping[str, Any]) -> bool:
    same = protocol.task == exported.get("task") and protocol.final_fit == exported.get("final_fit")
    same = same and protocol.target == "all"
    return same and protocol.filter == "none" and protocol.positive_threshold is None and protocol.user_share == 1


def events_frame(events: Interactions) -> pl.DataFrame:
    """One row per event: user and item by the ids of the user's own file, rating and timestamp where there are any."""
    columns = {c.USER: events.users.gather(events.user), c.ITEM: events.items.gather(events.item)}
    if events.weight is not None:
        columns[c.RATING] = pl.Series(events.weight)
    if events.time is not None:
        columns[c.TIMESTAMP] = pl.Series(events.time)
    return pl.DataFrame(columns)


def _write_part(frame: pl.DataFrame, folder: Path, form: SplitFormat, part: str, dataset: str) -> str:
    """Write a part in its format; the name of the file that is read back."""
    if form in ("parquet", "lenskit"):
        name = f"{part}.parquet"
        renamed = frame.rename(_LENSKIT) if form == "lenskit" else frame
        renamed.write_parquet(folder / name, compression="zstd")
    elif form == "recbole":
        name = f"{dataset}.{part}.inter"
        frame.rename(_TYPED, strict=False).write_csv(folder / name, separator="\t")
    else:
        name = f"{part}.csv"
        frame.write_csv(folder / name)
        if form == "trec" and part != "train":
            _write_qrels(frame, folder / f"{part}.qrels")
    return name


def _write_qrels(frame: pl.DataFrame, path: Path) -> None:
    text = frame.select(c.USER, pl.lit(0).alias("iteration"), c.ITEM, pl.lit(1).alias("relevance"))
    for side in (c.USER, c.ITEM):
        if text.get_column(side).cast(pl.String).str.contains(r"\s").any():
            raise InputError(
                f"a {side} id has a blank in it, and TREC files are separated by blanks",
                fix="choose another format, as csv or parquet",
            )
    text.write_csv(path, separator=" ", include_header=False)
