"""What a member of a foreign archive must pass before a byte of it is written: its name, and the limits."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

from recassay.core.errors import InputError, listing

MAX_DEPTH = 32

_CHUNK = 2**20
_RATIO_FLOOR = 2**20  # below this no ratio is suspicious: a small file of zeros is only a small file


@dataclass(slots=True)
class Limits:
    """What may be written in all; every check names the limit so that it can be raised on purpose."""

    source: Path
    max_bytes: int
    max_files: int
    max_ratio: float
    archive_size: int = field(init=False)

    def __post_init__(self) -> None:
        self.archive_size = max(1, self.source.stat().st_size)

    def check_size(self, size: int) -> None:
        """Refuse `size` bytes written, or promised, in all."""
        if size > self.max_bytes:
            raise InputError(
                f"unpacks to more than {self.max_bytes:,} bytes",
                where=str(self.source),
                fix="raise max_bytes",
            )
        self.check_ratio(size)

    def check_ratio(self, size: int) -> None:
        """Refuse `size` bytes of unpacked stream, skipped ones included."""
        if size > max(_RATIO_FLOOR, self.max_ratio * self.archive_size):
            raise InputError(
                f"{self.archive_size:,} bytes that unpack to {size:,} or more look like a decompression bomb",
                where=str(self.source),
                fix=f"if you trust it, raise max_ratio above {self.max_ratio:g}",
            )

    def check_count(self, count: int) -> None:
        """Refuse `count` members, unwanted ones included."""
        if count > self.max_files:
            raise InputError(
                f"holds more than {self.max_files:,} members", where=str(self.source), fix="raise max_files"
            )


@dataclass(slots=True)
class Writer:
    """Writes members below `folder`: checks names, counts bytes, remembers what was written."""

    source: Path
    folder: Path
    limits: Limits
    patterns: tuple[str, ...] | None
    total: int = 0
    written: list[PurePosixPath] = field(default_factory=list)
    offered: list[str] = field(default_factory=list)
    _files: dict[str, str] = field(default_factory=dict)
    _folders: dict[str, str] = field(default_factory=dict)

    def refuse(self, what: str, member: str) -> InputError:
        """The error for a member that no honest archive of data holds."""
        return InputError(
            f"{what}: {_printable(member)}",
            where=str(self.source),
            fix="do not use this archive: nothing was unpacked",
        )

    def admit(self, name: str, *, folder: bool) -> PurePosixPath:
        """The member's safe relative path, after every check on its name and on names seen before."""
        path = self._safe_path(name)
        self.limits.check_count(len(self._files) + len(self._folders) + 1)
        for parent in path.parents[:-1]:
            self._claim_folder(parent, name)
        if folder:
            self._claim_folder(path, name)
            return path
        key = _folded(path)
        if key in self._files or key in self._folders:
            raise self.refuse("two members have one name, or names that differ only in case", name)
        self._files[key] = name
        self.offered.append(str(path))
        return path

    def wanted(self, path: PurePosixPath) -> bool:
        """Whether a pattern asks for it; the resource files that macOS adds are never meant by a pattern."""
        if self.patterns is None:
            return True
        if "__MACOSX" in path.parts or path.name.startswith("._"):
            return False
        return any(path.match(pattern) for pattern in self.patterns)

    def write(self, path: PurePosixPath, stream: IO[bytes]) -> int:
        """Copy `stream` to `path`; the limits see the bytes counted here, never the header's claim."""
        place = self.folder.joinpath(*path.parts)
        place.parent.mkdir(parents=True, exist_ok=True)
        size = 0
        with place.open("xb") as out:
            while chunk := stream.read(_CHUNK):
                size += len(chunk)
                self.limits.check_size(self.total + size)
                out.write(chunk)
        self.total += size
        self.written.append(path)
        return size

    def finish(self) -> list[PurePosixPath]:
        """What was written; a pattern that found nothing is an error that says what the archive holds."""
        for pattern in self.patterns or ():
            if not any(path.match(pattern) for path in self.written):
                raise InputError(
                    f"holds no file {pattern!r}",
                    where=str(self.source),
                    fix=f"it holds {listing(self.offered)}",
                )
        return self.written

    def _claim_folder(self, path: PurePosixPath, name: str) -> None:
        key = _folded(path)
        if key in self._files:
            raise self.refuse("a file is used as a folder", name)
        self._folders[key] = name

    def _safe_path(self, name: str) -> PurePosixPath:
        plain = name.replace("\\", "/")
        if any(unicodedata.category(c) == "Cc" for c in plain):
            raise self.refuse("a member's name holds control characters", name)
        if plain.startswith("/"):
            raise self.refuse("a member's name is absolute", name)
        if re.match(r"[A-Za-z]:", plain):
            raise self.refuse("a member's name has a drive letter", name)
        parts = [part for part in plain.split("/") if part not in ("", ".")]
        if ".." in parts:
            raise self.refuse("a member's name leaves the folder", name)
        if not parts:
            raise self.refuse("a member has no name", name)
        if len(parts) > MAX_DEPTH:
            raise self.refuse(f"a member lies more than {MAX_DEPTH} folders deep", name)
        if max(len(part.encode("utf-8", "surrogateescape")) for part in parts) > 255:
            raise self.refuse("a member's name is longer than 255 bytes", name)
        return PurePosixPath(*parts)


def _folded(path: PurePosixPath) -> str:
    return unicodedata.normalize("NFC", str(path)).casefold()


def _printable(name: str) -> str:
    return repr(name if len(name) <= 120 else name[:117] + "...")
