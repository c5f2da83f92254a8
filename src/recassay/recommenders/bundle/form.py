"""A bundle: what one algorithm came to on a benchmark, in one file to hand in.

A zip of `bundle.json` and raw arrays beside it, the same bytes for the same content. The JSON has the cells (values,
parameters, trials, costs), the versions, the seal, and hashes of splits, code and files. For every finished cell there
are the values of all judged users (`users`, 32-bit floats, a row per metric) and the lists of a sample of them
(`lists`, 32-bit whole numbers, a row per user). Users and items are known by their place among the sorted ids, which a
verified split fixes. No interaction, no id, no path and no name of a machine is in it.

A bundle comes from a stranger: it is unpacked under limits, and what does not fit is one refusal.
"""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import ConfigDict, Field, StringConstraints

from recassay.core.errors import InputError
from recassay.core.seeds import derived_rng
from recassay.core.system.files import refuse_special
from recassay.core.system.printable import one_line
from recassay.core.system.shapes import Shape, shaped
from recassay.core.types import FloatArray, IntArray
from recassay.data.download.unpack import archive_kind, unpack
from recassay.recommenders.seal import digest, without_checksum
from recassay.store.records import Status, TrialState

FORMAT, CONTENT = 1, "bundle.json"
SAMPLED_LISTS = 50
"""Users per cell whose lists are kept."""
MOST_PACKED, MOST_BYTES, MOST_FILES, MOST_RATIO = 64 << 20, 256 << 20, 4_000, 2_000.0
MOST_JSON = 32 << 20
FIX = "make it again: recassay bench ... --bundle FILE"

Hash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Text = Annotated[str, StringConstraints(max_length=300)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Positive = Annotated[float, Field(ge=0, le=1e15)]
Small = Annotated[dict[Name, bool | int | float | Text | None], Field(max_length=200)]


class _Closed(Shape):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class BundleTrial(_Closed):
    """One trial of a search."""

    state: TrialState
    parameters: Small
    value: float | None
    seconds: Positive


class BundleCell(_Closed):
    """One cell: the algorithm on a dataset (or one of its windows) with a seed."""

    id: Text
    spec: Annotated[dict[str, Any], Field(max_length=50)]
    """All that its numbers depend on: its hash is the id."""
    split: Hash | None
    """The fingerprint of its split."""
    status: Status
    reason: Text | None
    finished: Text
    judged: Annotated[int, Field(ge=0, le=2**31)]
    parameters: Small
    validation: float | None
    seconds: Positive | None
    seconds_fit: Positive | None
    seconds_predict: Positive | None
    memory: Positive | None
    joules: Positive | None
    metrics: Annotated[dict[Name, float | None], Field(max_length=200)]
    trials: Annotated[list[BundleTrial], Field(max_length=10_000)]


class BundleContent(_Closed):
    """What `bundle.json` says."""

    recassay_bundle: Literal[1]
    benchmark: Name
    benchmark_sha256: Hash
    algorithm: Annotated[str, StringConstraints(pattern=r"^[\w][\w .+()-]{0,79}$")]
    reference: Name | None
    """The registered name; None for an algorithm in a file of one's own."""
    versions: Annotated[dict[Name, Text], Field(max_length=100)]
    machine: Small
    seal: dict[str, Any]
    cells: Annotated[list[BundleCell], Field(min_length=1, max_length=10_000)]
    files: Annotated[dict[Name, Hash], Field(max_length=MOST_FILES)]
    sha256: Hash


@dataclass(frozen=True, slots=True, eq=False)
class Bundle:
    """A bundle that was read: its form and its hashes hold, and nothing else is known."""

    file: str
    content: BundleContent
    arrays: Mapping[str, bytes]

    def users(self, place: int) -> FloatArray:
        """The values of all judged users in the cell at this place, a row per metric with such values."""
        values = np.frombuffer(self._array("users", place, "<f4"), dtype="<f4").astype(np.float64)
        rows, left = divmod(len(values), max(self.content.cells[place].judged, 1))
        if left:
            raise self.unsound(f"{array_name('users', place)} does not have a value per judged user and metric")
        return values.reshape(rows, -1)

    def lists(self, place: int) -> IntArray:
        """The lists of the sampled users in the cell at this place, best first, -1 where a list is shorter."""
        items = np.frombuffer(self._array("lists", place, "<i4"), dtype="<i4")
        sampled = len(sampled_places(self.content.cells[place].judged))
        if not sampled or len(items) % sampled:
            raise self.unsound(f"{array_name('lists', place)} does not have a list per sampled user")
        return items.reshape(sampled, -1)

    def unsound(self, what: str) -> InputError:
        """What is wrong, as an error that names the file."""
        return InputError(one_line(what, 300), where=self.file, fix=FIX)

    def _array(self, kind: str, place: int, form: str) -> bytes:
        name = array_name(kind, place)
        if name not in self.arrays or len(self.arrays[name]) % np.dtype(form).itemsize:
            raise self.unsound(f"{name} is missing or cut short")
        return self.arrays[name]


def array_name(kind: str, place: int) -> str:
    """The member with the users' values or the lists of the cell at this place."""
    return f"{kind}/{place:04d}"


def sampled_places(judged: int) -> IntArray:
    """The places, among the sorted ids of the judged users, of those whose lists are kept."""
    if judged <= SAMPLED_LISTS:
        return np.arange(judged, dtype=np.int32)
    drawn = derived_rng(0, "lists of a bundle", str(judged)).choice(judged, SAMPLED_LISTS, replace=False)
    return np.sort(drawn).astype(np.int32)


def pack(content: Mapping[str, Any], arrays: Mapping[str, bytes]) -> bytes:
    """The bytes of a bundle; hashes are added here."""
    files = {name: hashlib.sha256(data).hexdigest() for name, data in sorted(arrays.items())}
    whole = {"recassay_bundle": FORMAT, **content, "files": files}
    whole |= {"sha256": digest(whole)}
    text = json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in {CONTENT: text.encode(), **dict(sorted(arrays.items()))}.items():
            member = zipfile.ZipInfo(name)  # of 1980, so that the same content is the same bytes
            member.create_system, member.external_attr = 3, 0o644 << 16
            archive.writestr(member, data, zipfile.ZIP_DEFLATED, 9)
    return packed.getvalue()


def read_bundle(path: str | Path) -> Bundle:
    """The bundle in a file; `InputError` in one line for whatever is not whole, of the right form and as it was."""
    source, where = Path(path), str(path)
    refuse_special(source)
    if not source.is_file() or archive_kind(source) != "zip":
        raise InputError("is not a bundle", where=where, fix="name the file that `bench` wrote as a bundle")
    if source.stat().st_size > MOST_PACKED:
        raise InputError(f"is larger than a bundle may be ({MOST_PACKED >> 20} MiB)", where=where, fix=FIX)
    with tempfile.TemporaryDirectory(prefix="recassay-bundle-") as place:
        folder = Path(place, "content")
        unpack(source, folder, max_bytes=MOST_BYTES, max_files=MOST_FILES, max_ratio=MOST_RATIO)
        arrays = {
            file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()
        }
    text = arrays.pop(CONTENT, b"")
    try:
        stated = (
            json.loads(text, object_pairs_hook=_once, parse_constant=_no_number) if len(text) <= MOST_JSON else None
        )
        json.dumps(stated, ensure_ascii=False).encode()  # halves of characters have no bytes
    except (ValueError, RecursionError):
        stated = None
    if (
        isinstance(stated, dict)
        and isinstance(stated.get("recassay_bundle"), int)
        and stated["recassay_bundle"] > FORMAT
    ):
        raise InputError("was made by a newer version of RecAssay", where=where, fix="update RecAssay")
    content = shaped(BundleContent, stated, "is not a bundle", where=where, fix=FIX)
    bundle = Bundle(where, content, arrays)
    if content.sha256 != digest(without_checksum(stated or {})):
        raise bundle.unsound("it was changed after it was made: the checksum of its content differs")
    more = sorted(set(arrays) ^ set(content.files))
    if more:
        state = "is not part of it" if more[0] in arrays else "is missing"
        raise bundle.unsound(f"the file {more[0]} {state}")
    for name, data in arrays.items():
        if hashlib.sha256(data).hexdigest() != content.files[name]:
            raise bundle.unsound(f"{name} was changed after it was made: its checksum differs")
    return bundle


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is not a number of JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys stand once: of two, readers would take different ones."""
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)
