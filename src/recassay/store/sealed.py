"""Descriptions that know their own checksum, and in folders of prepared data that of every file beside them.

What was flipped, cut, emptied or swapped on the disk since is named, and never used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from recassay.core.errors import InputError
from recassay.core.specs.study import StudySpec
from recassay.core.system.failures import LeftOut
from recassay.core.system.files import file_checksum, refuse_special
from recassay.core.system.shapes import Shape, shaped
from recassay.store.files import write_json

_EMPTY_LIST: Any = Field(default_factory=list)
_EMPTY_MAP: Any = Field(default_factory=dict)


class _Part(Shape):
    """A dataset, an algorithm or a classifier of a study."""

    name: str
    reference: str
    settings: dict[str, Any] = _EMPTY_MAP
    protocol: dict[str, Any] | None = None


class _Study(Shape):
    name: str = ""
    seeds: list[int] = _EMPTY_LIST
    datasets: list[_Part] = _EMPTY_LIST
    algorithms: list[_Part] = _EMPTY_LIST
    classifiers: list[_Part] = _EMPTY_LIST
    metrics: list[str] = _EMPTY_LIST
    protocol: dict[str, Any] = _EMPTY_MAP
    tuning: dict[str, Any] = _EMPTY_MAP
    budget: dict[str, Any] = _EMPTY_MAP
    comper: dict[str, Any] | None = None
    multiverse: dict[str, Any] | None = None


class _Machine(Shape):
    cores: int | None = None
    memory_bytes: int | None = None
    gpu: str | None = None
    workers: int | None = None


class Manifest(Shape):
    """What of a manifest is read again. A key that an earlier version did not write may be missing; None is a value
    where the type says so.
    """

    study: _Study = _Study()
    seeds: list[int] = _EMPTY_LIST
    versions: dict[str, str] = _EMPTY_MAP
    machine: _Machine = _Machine()
    datasets: dict[str, Any] = _EMPTY_MAP
    algorithms: dict[str, Any] = _EMPTY_MAP
    classifiers: dict[str, Any] = _EMPTY_MAP
    metrics: dict[str, Any] = _EMPTY_MAP
    cells: list[str] = _EMPTY_LIST
    left_out: list[dict[str, str]] = _EMPTY_LIST


def manifest_left_out(manifest: Mapping[str, Any]) -> tuple[LeftOut, ...]:
    """What was not part of the plan, and why."""
    return tuple(LeftOut(one["algorithm"], one["dataset"], one["reason"]) for one in manifest.get("left_out", ()))


def manifest_study(manifest: Mapping[str, Any], folder: Path) -> StudySpec:
    """What the study in `folder` was asked for, as its manifest says; `InputError` where that is damaged."""
    place, fix = str(Path(folder, "manifest.json")), "run the study again: it makes this part again"
    return shaped(StudySpec, manifest.get("study"), "the manifest is damaged", where=place, fix=fix)


_FILES, _SEAL = "checksums", "seal"
SPLITS = "splits"
"""The folder, in a study's, of the data that its cells share."""


def split_folder(folder: Path, split_id: str) -> Path:
    """Where a prepared split or table lies in a study folder."""
    return folder / SPLITS / split_id


def is_usable(folder: Path, split_id: str) -> bool:
    """Whether a prepared split or table is there (it appears whole or not at all), and its files are as written."""
    return folder_state(split_folder(folder, split_id)) != "damaged"


def seal_folder(folder: Path, description: str, content: Mapping[str, Any]) -> None:
    """Write `content` as the JSON file `description` into a folder whose other files are there already."""
    checksums = {path.name: file_checksum(path) for path in sorted(folder.iterdir()) if path.is_file()}
    write_sealed(folder / description, {**content, _FILES: checksums})


def write_sealed(path: Path, content: Mapping[str, Any]) -> None:
    """Write `content` as JSON with its own checksum."""
    write_json(path, {**content, _SEAL: _content_checksum(content)})


def read_sealed(folder: Path, description: str, what: str) -> dict[str, Any]:
    """What a sealed file says; `InputError` where it is gone or is not what was written.

    A file without a seal is one of an older version, and is taken as it is.
    """
    path = folder / description
    refuse_special(path)
    try:
        stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        seal = stored.pop(_SEAL, None)
        sound = seal in (None, _content_checksum(stored))
    except (OSError, ValueError, AttributeError, TypeError, RecursionError):
        raise _damaged(f"{what} is missing or damaged", path) from None
    if not sound:
        raise _damaged(f"{what} is not what was written (its checksum differs)", path)
    return stored


def has_seal(path: Path) -> bool:
    """Whether a description says its own checksum; one of an older version does not, nor one that lost it since."""
    try:
        return _SEAL in json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError, RecursionError):
        return False


def check_files(folder: Path, stored: Mapping[str, Any], what: str) -> None:
    """Raise `InputError` with the name of the first file of the description that is not what was written."""
    for name, checksum in stored.get(_FILES, {}).items():
        path = folder / name
        if not path.is_file():
            raise _damaged(f"a file of {what} is missing", path)
        if file_checksum(path) != checksum:
            raise _damaged(f"a file of {what} is not what was written (its checksum differs)", path)


def files_state(folder: Path, stored: Mapping[str, Any]) -> str:
    """What the system says about the files of a description: another one when any of them was written or swapped since.

    Of size, times of writing and of change, and inode; a file that is gone has none.
    """
    states: list[tuple[Any, ...]] = []
    for name in sorted(stored.get(_FILES, {})):
        try:
            status = (folder / name).stat()
        except OSError:
            states.append((name,))
        else:
            states.append((name, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev))
    return hashlib.sha256(repr(states).encode()).hexdigest()


def folder_state(folder: Path) -> Literal["sound", "damaged", "unsealed"]:
    """How a folder of prepared data stands to the checksums in its description; `unsealed` where it has none."""
    try:
        stored = [read_sealed(folder, path.name, "") for path in folder.glob("*.json")]
        for content in stored:
            check_files(folder, content, "")
    except (InputError, OSError):
        return "damaged"
    if not stored:
        return "damaged"
    whole = all(_FILES in content for content in stored) and all(map(has_seal, folder.glob("*.json")))
    return "sound" if whole else "unsealed"


def _content_checksum(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _damaged(what: str, path: Path) -> InputError:
    return InputError(what, where=str(path), fix="run the study again: it makes this part again")
