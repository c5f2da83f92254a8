"""What is known of a file to fetch: what its publisher says, and what it was when it was first fetched (its pin).

Most publishers give no checksum. The first fetch then writes one down, as JSON beside the files, and a later download
that differs is refused, so that a study repeated in a year either uses the same bytes or says that it does not.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from recassay.core.errors import InputError
from recassay.core.system.files import write_whole


class Pin(BaseModel):
    """A file as it was when it was fetched, the first time in the file of pins."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str
    size: int
    sha256: str
    md5: str
    address: str | None
    """Where it came from; None for a file that was put there by hand."""


_PINS = TypeAdapter(dict[str, Pin])


def pin_of(content: Path, file: str, address: str | None) -> Pin:
    """The bytes at `content` as the file that they are to be called."""
    with content.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
        stream.seek(0)
        md5 = hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    return Pin(file=file, size=content.stat().st_size, sha256=sha256, md5=md5, address=address)


def read_pins(path: Path) -> dict[str, Pin]:
    """The pins by dataset; none where there is no file yet."""
    if not path.exists():
        return {}
    try:
        return _PINS.validate_json(path.read_bytes())
    except ValidationError as error:
        raise InputError(
            f"is not a file of pins ({error.errors()[0]['msg']})", where=str(path), fix="repair or remove it"
        ) from error


def write_pin(path: Path, name: str, pin: Pin) -> None:
    """Add or replace one pin; the file is replaced whole: a crash leaves the old one or the new one."""
    pins = {**read_pins(path), name: pin}
    write_whole(path, _PINS.dump_json(dict(sorted(pins.items())), indent=2) + b"\n")


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file to fetch that is not an entry of the catalog; `size`, `md5` and `sha256` where its publisher says them."""

    name: str
    """What messages and pins call it."""
    stored_name: str
    """The file's name in the cache."""
    addresses: tuple[str, ...]
    """Mirrors of the same bytes."""
    home: str
    """The page that tells more."""
    md5: str | None = None
    size: int | None = None
    sha256: str | None = None
    how: str | None = None
    """How to obtain it without an address."""
