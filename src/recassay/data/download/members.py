"""What a member of a foreign archive must pass before a byte of it is written: its name, and the limits."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

from recassay.core.errors import InputError
from recassay.core.words import listing

MAX_DEPTH = 32

_CHUNK = 2**20
_RATIO_FLOOR = 2**20  # below this no ratio is suspicious: a small file of zeros is only a small file


@dataclass(slots=True)
class Writer:
    """Writes members below `folder`: checks names and limits, counts bytes, remembers what was written.

    Every check of a limit names it, so that it can be raised on purpose.
    """

    source: Path
    folder: Path
    max_bytes: int
    max_files: int
    max_ratio: float
    patterns: tuple[str, ...] | None
    total: int = 0
    written: list[PurePosixPath] = field(default_factory=list)
    offered: list[str] = field(default_factory=list)
    _files: set[str] = field(default_factory=set)
    _folders: set[str] = field(default_factory=set)

    def refused(self, what: str, *, fix: str | None = None) -> InputError:
        """What is wrong with the archive, as an error that names it."""
        return InputError(what, where=str(self.source), fix=fix)

    def refuse(self, what: str, member: str) -> InputError:
        """The error for a member that no honest archive of data holds."""
        name = repr(member if len(member) <= 120 else member[:117] + "...")
        return self.refused(f"{what}: {name}", fix="do not use this archive: nothing was unpacked")

    def check_size(self, size: int) -> None:
        """Refuse `size` bytes written, or promised, in all."""
        if size > self.max_bytes:
            raise self.refused(f"unpacks to more than {self.max_bytes:,} bytes", fix="raise max_bytes")
        self.check_ratio(size)

    def check_ratio(self, size: int) -> None:
        """Refuse `size` bytes of unpacked stream, skipped ones included."""
        packed = max(1, self.source.stat().st_size)
        if size > max(_RATIO_FLOOR, self.max_ratio * packed):
            what = f"{packed:,} bytes that unpack to {size:,} or more look like a decompression bomb"
            raise self.refused(what, fix=f"if you trust it, raise max_ratio above {self.max_ratio:g}")

    def check_count(self, count: int) -> None:
        """Refuse `count` members, unwanted ones included."""
        if count > self.max_files:
            raise self.refused(f"holds more than {self.max_files:,} members", fix="raise max_files")

    def admit(self, name: str, *, folder: bool) -> PurePosixPath:
        """The member's safe relative path, after every check on its name and on names seen before."""
        path = self._safe_path(name)
        self.check_count(len(self._files) + len(self._folders) + 1)
        for parent in path.parents[:-1]:
            self._claim_folder(parent, name)
        if folder:
            self._claim_folder(path, name)
            return path
        key = _folded(path)
        if key in self._files or key in self._folders:
            raise self.refuse("two members have one name, or names that differ only in case", name)
        self._files.add(key)
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
                self.check_size(self.total + size)
                out.write(chunk)
        self.total += size
        self.written.append(path)
        return size

    def finish(self) -> list[PurePosixPath]:
        """What was written; a pattern that found nothing is an error that says what the archive holds."""
        for pattern in self.patterns or ():
            if not any(path.match(pattern) for path in self.written):
                raise self.refused(f"holds no file {pattern!r}", fix=f"it holds {listing(self.offered)}")
        return self.written

    def _claim_folder(self, path: PurePosixPath, name: str) -> None:
        key = _folded(path)
        if key in self._files:
            raise self.refuse("a file is used as a folder", name)
        self._folders.add(key)

    def _safe_path(self, name: str) -> PurePosixPath:
        plain = name.replace("\\", "/")
        parts = [part for part in plain.split("/") if part not in ("", ".")]
        lengths = [len(part.encode("utf-8", "surrogateescape")) for part in parts]
        faults = {
            "a member's name holds control characters": any(unicodedata.category(c) == "Cc" for c in plain),
            "a member's name is absolute": plain.startswith("/"),
            "a member's name has a drive letter": re.match(r"[A-Za-z]:", plain),
            "a member's name leaves the folder": ".." in parts,
            "a member has no name": not parts,
            f"a member lies more than {MAX_DEPTH} folders deep": len(parts) > MAX_DEPTH,
            "a member's name is longer than 255 bytes": max(lengths, default=0) > 255,
        }
        for what, is_so in faults.items():
            if is_so:
                raise self.refuse(what, name)
        return PurePosixPath(*parts)


def _folded(path: PurePosixPath) -> str:
    return unicodedata.normalize("NFC", str(path)).casefold()
