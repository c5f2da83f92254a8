"""Unpack an archive that came from somewhere else, without trusting a word of it.

The names, sizes, modes and links inside an archive are the sender's claims. Here a name must stay within the
target folder, links and devices are refused, sizes are counted on the bytes actually written, and all lands
in a temporary sibling folder that takes the target's name only when the last byte is on disk. An archive with
one bad member is refused whole, and nothing of it remains.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import shutil
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Literal, cast

from recassay.core.errors import InputError, RecAssayError, UsageError
from recassay.core.system.files import appearing_folder
from recassay.data.download.members import Writer

Kind = Literal["zip", "tar", "gz", "bz2", "xz"]

MAX_BYTES = 64 * 2**30
MAX_FILES = 10_000
MAX_RATIO = 200.0

_LARGEST_READ = 16 * 2**20  # a tar header of a huge declared length would be read into memory at once
_MAGIC: tuple[tuple[bytes, Kind], ...] = (
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"\x1f\x8b", "gz"),
    (b"BZh", "bz2"),
    (b"\xfd7zXZ\x00", "xz"),
)
_STREAMS: dict[str, Callable[[Path], object]] = {
    "gz": gzip.GzipFile,
    "bz2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
    "tar": io.FileIO,
}
_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    gzip.BadGzipFile,
    EOFError,
    ValueError,
    struct.error,
    NotImplementedError,
)


def archive_kind(path: Path) -> Kind | None:
    """What the first bytes say the file is, whatever its name; None for what is not an archive (CSV, Parquet)."""
    with path.open("rb") as stream:
        head = stream.read(512)
    known = (kind for magic, kind in _MAGIC if head.startswith(magic))
    return next(known, "tar" if _is_tar_header(head) else None)


def unpack(
    archive: Path | str,
    target_dir: Path | str,
    *,
    members: Sequence[str] | None = None,
    max_bytes: int = MAX_BYTES,
    max_files: int = MAX_FILES,
    max_ratio: float = MAX_RATIO,
) -> list[Path]:
    """Unpack a zip, a tar (plain, gz, bz2, xz) or a single gz, bz2 or xz file; the files it wrote.

    `members` are patterns compared from the right (`ratings.csv` finds `ml-25m/ratings.csv`, `*.inter` any
    such file); each must find at least one. None takes everything. A single compressed file is its own
    member. `target_dir` must not exist, or be empty.

    Refused, each with a line that names the member: absolute names, `..`, drive letters, control characters,
    more than 32 folders deep, links of any kind, devices and pipes, two names that are one on some file
    system, encrypted members, more than `max_files` members, more than `max_bytes` written, more than
    `max_ratio` times the archive's own size, and data that ends early or fails its checksum. Modes are not
    taken over: files and folders get the permissions of any new one.
    """
    source, target = Path(archive), Path(target_dir)
    if not source.is_file():
        raise InputError("there is no such file", where=str(source))
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError("the folder to unpack into is already there and not empty", where=str(target), fix="remove it")
    kind = archive_kind(source)
    if kind is None:
        what = "is not an archive that can be unpacked"
        raise InputError(what, where=str(source), fix="expected zip, tar, tar.gz, tar.bz2, tar.xz, gz, bz2 or xz")
    patterns = tuple(members) if members is not None else None
    with appearing_folder(target) as folder:
        writer = Writer(source, folder, max_bytes, max_files, max_ratio, patterns)
        try:
            _unpack_zip(source, writer) if kind == "zip" else _unpack_stream(source, kind, writer)
        except _BROKEN as error:
            reason = str(error) or type(error).__name__
            what = f"the archive is damaged, cut short or of an unknown kind ({reason})"
            raise writer.refused(what, fix="download it again") from error
        except OSError as error:
            if error.errno in (None, errno.EINVAL):  # a place before the file begins
                raise writer.refused(f"the archive is damaged ({error})", fix="download it again") from error
            raise RecAssayError(f"cannot unpack: {error.strerror}", where=error.filename or str(source)) from error
        names = writer.finish()
    return [target / name for name in names]


def _unpack_zip(source: Path, writer: Writer) -> None:
    with zipfile.ZipFile(source) as archive:
        infos = archive.infolist()
        writer.check_count(len(infos))
        chosen = []
        for info in infos:
            name = info.orig_filename
            mode = stat.S_IFMT(info.external_attr >> 16)
            if mode == stat.S_IFLNK:
                raise writer.refuse("a member is a link", name)
            if mode not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise writer.refuse("a member is a device, pipe or socket", name)
            folder = name.endswith(("/", "\\")) or mode == stat.S_IFDIR
            if folder and not name.strip("/\\.") and ".." not in name:
                continue
            path = writer.admit(name, folder=folder)
            if not folder and writer.wanted(path):
                if info.flag_bits & 1:
                    fix = "unpack it yourself and import the file"
                    raise writer.refused(f"the member {path} is encrypted", fix=fix)
                chosen.append((info, path))
        needed, free = sum(info.file_size for info, _ in chosen), shutil.disk_usage(writer.folder).free
        writer.check_size(needed)
        if needed > free:
            what = f"needs {needed:,} bytes and the disk has {free:,} free"
            raise RecAssayError(what, where=str(source), fix="free some space")
        for info, path in chosen:
            with archive.open(info) as stream:
                size = writer.write(path, stream)
            if size != info.file_size:
                raise writer.refused(f"the member {path} has {size:,} bytes where {info.file_size:,} were promised")


def _unpack_stream(source: Path, kind: Kind, writer: Writer) -> None:
    with cast("IO[bytes]", _STREAMS[kind](source)) as stream:
        if kind != "tar" and not _is_tar_header(stream.read(512)):
            stream.seek(0)
            name = source.stem if source.suffix.lower() == f".{kind}" else f"{source.name}.unpacked"
            path = writer.admit(name, folder=False)
            writer.patterns = None  # a single compressed file is the member, whatever it was called inside
            writer.write(path, stream)
            return
        stream.seek(0)
        _unpack_tar(stream, kind, writer)


def _unpack_tar(stream: IO[bytes], kind: Kind, writer: Writer) -> None:
    bounded = _BoundedReader(stream, writer)
    with tarfile.open(fileobj=cast("IO[bytes]", bounded), mode="r:", errorlevel=2) as archive:
        for count, member in enumerate(archive, start=1):
            writer.check_count(count)
            if member.issym() or member.islnk():
                raise writer.refuse("a member is a link", member.name)
            if not (member.isreg() or member.isdir()):
                raise writer.refuse("a member is a device, pipe or of an unknown kind", member.name)
            if member.isdir() and not member.name.strip("/."):
                continue
            path = writer.admit(member.name, folder=member.isdir())
            if member.isdir() or not writer.wanted(path):
                continue
            writer.check_size(writer.total + member.size)
            content = archive.extractfile(member)
            assert content is not None
            with content:
                if writer.write(path, content) != member.size:
                    raise tarfile.ReadError(f"{member.name} ends early")
        if kind == "tar":
            stream.seek(archive.offset)
            if stream.read(512).strip(b"\0") or stream.tell() - archive.offset < 512:
                raise tarfile.ReadError("no end-of-archive mark")


class _BoundedReader:
    """A seekable stream for `tarfile` that stops at the limits, also where `tarfile` itself reads on."""

    def __init__(self, stream: IO[bytes], writer: Writer) -> None:
        self._stream, self._writer = stream, writer

    def read(self, size: int = -1) -> bytes:
        if size < 0 or size > _LARGEST_READ:
            raise self._writer.refused("a header claims an absurd length")
        data = self._stream.read(size)
        self._writer.check_ratio(self._stream.tell())
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        self._writer.check_ratio(offset)
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()


def _is_tar_header(block: bytes) -> bool:
    try:
        tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.TarError:
        return False
    return True
