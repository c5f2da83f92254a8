"""Tables of OpenML by id or suite: descriptions (JSON) and data (ARFF), verified and cached like other data.

scikit-learn's own fetcher is bound to one host; this one reads the address from `RECASSAY_OPENML`, so that a mirror, or
a server in a test, can stand in. What is used of the API: `/api/v1/json/data/ID` (name, target, address and MD5 of the
file), `/api/v1/json/study/ID` (the tables of a suite) and the file itself.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from recassay.core.errors import InputError, UsageError
from recassay.data.classification.table import ClassTable, read_class_table
from recassay.data.download.fetch import fetch
from recassay.data.download.pins import RemoteFile
from recassay.data.folders import home
from recassay.data.sources import path_of

ADDRESS_VARIABLE = "RECASSAY_OPENML"
PUBLIC_ADDRESS = "https://www.openml.org"
TABLE, SUITE = "openml:", "openml-suite:"
_MOST_BYTES = 4 << 30


@dataclass(frozen=True, slots=True)
class OpenmlTable:
    """What OpenML says of a table: `drop` are the columns it marks as identifiers or to be ignored."""

    id: int
    name: str
    target: str | None
    drop: tuple[str, ...]
    address: str
    md5: str


def is_openml(reference: str) -> bool:
    """Whether a reference means a table or a suite of OpenML."""
    return reference.startswith((TABLE, SUITE))


def openml_id(reference: str) -> int:
    """The number in `openml:1049` or `openml-suite:99`."""
    number = reference.partition(":")[2]
    if not number.isascii() or not number.isdigit() or int(number) < 1:
        raise UsageError(f"{reference!r} has no id", fix="write a number, as in openml:1049 or openml-suite:99")
    return int(number)


def suite_tables(suite: int) -> list[int]:
    """The ids of the tables of a suite (a benchmark study), in OpenML's order."""
    answer = _json(f"/api/v1/json/study/{suite}", f"suite-{suite}.json", f"openml-suite:{suite}")
    try:
        ids = answer["study"]["data"]["data_id"]
        return [int(table) for table in (ids if isinstance(ids, list) else [ids])]
    except (KeyError, TypeError, ValueError):
        raise _not_understood(f"openml-suite:{suite}", "a suite without tables") from None


def describe_openml(table: int) -> OpenmlTable:
    """The description of a table."""
    where = f"openml:{table}"
    answer = _json(f"/api/v1/json/data/{table}", f"data-{table}.json", where)
    try:
        described = answer["data_set_description"]
        name, form, md5 = (str(described[key]) for key in ("name", "format", "md5_checksum"))
        address = _here(str(described["url"]))
        target = described.get("default_target_attribute")
    except (KeyError, TypeError, AttributeError):
        raise _not_understood(where, "a description without name, format, url or md5_checksum") from None
    if form.lower() not in {"arff", "sparse_arff"}:
        raise InputError(f"is stored as {form}", where=where, fix="only ARFF tables can be read; save it as CSV")
    if re.fullmatch(r"[0-9a-f]{32}", md5.lower()) is None:
        raise _not_understood(where, f"the checksum {md5[:40]!r}")
    if target is not None and "," in str(target):
        raise InputError(f"has several targets ({target})", where=where, fix="choose one: save it as CSV and name it")
    drop = (*_listed(described.get("row_id_attribute")), *_listed(described.get("ignore_attribute")))
    return OpenmlTable(table, name, None if target is None else str(target), drop, address, md5.lower())


def fetch_openml(table: OpenmlTable) -> Path:
    """The file of a table, downloaded and compared with OpenML's MD5 unless it is there and right."""
    return _fetched(f"{TABLE}{table.id}", f"data-{table.id}.arff", table.address, table.md5)


def open_class_table(
    reference: str,
    *,
    target: str | None = None,
    categorical: Sequence[str] = (),
    drop: Sequence[str] = (),
    base: str | Path = ".",
) -> ClassTable:
    """The table that `reference` names: `openml:ID` (fetched where it is not in the cache), or a file.

    For a table of OpenML, `target` None means its default target, and the columns it marks as identifiers or to be
    ignored are left out.
    """
    if not is_openml(reference):
        return read_class_table(path_of(reference, base), target=target, categorical=categorical, drop=drop)
    described = describe_openml(openml_id(reference))
    path = fetch_openml(described)
    marked = [name for name in described.drop if name != (target or described.target)]
    return read_class_table(path, target=target or described.target, categorical=categorical, drop=[*drop, *marked])


def _json(path: str, stored: str, where: str) -> Any:
    got = _fetched(f"the description of {where}", stored, _address() + path)
    try:
        return json.loads(got.read_text(encoding="utf-8"))
    except ValueError:
        raise InputError("is not JSON", where=str(got), fix="remove the file and try again") from None


def _fetched(name: str, stored: str, address: str, md5: str | None = None) -> Path:
    file = RemoteFile(name, stored, (address,), PUBLIC_ADDRESS, md5)
    return _folder() / fetch(file, _folder(), max_bytes=_MOST_BYTES).file


def _address() -> str:
    return os.environ.get(ADDRESS_VARIABLE, "").rstrip("/") or PUBLIC_ADDRESS


def _here(url: str) -> str:
    """The file's address at the server in use: OpenML's own host is replaced where another stands in for it."""
    parts = urlsplit(url)
    if _address() == PUBLIC_ADDRESS or not (parts.hostname or "").endswith("openml.org"):
        return url
    return f"{_address()}{parts.path}" + (f"?{parts.query}" if parts.query else "")


def _folder() -> Path:
    """One cache for each server, so that a stand-in never vouches for OpenML."""
    host = urlsplit(_address()).netloc or "unknown"
    return home() / "openml" / re.sub(r"[^A-Za-z0-9.-]", "-", host)


def _listed(named: Any) -> tuple[str, ...]:
    if named is None or isinstance(named, Mapping):
        return ()
    names = named if isinstance(named, list) else str(named).split(",")
    return tuple(str(name).strip() for name in names if str(name).strip())


def _not_understood(where: str, what: str) -> InputError:
    return InputError(f"OpenML's answer is not understood: {what}", where=where, fix="is RECASSAY_OPENML right?")
