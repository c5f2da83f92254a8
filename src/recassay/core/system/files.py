"""Files and folders that appear whole or not at all, and a lock that ends with its process.

What is written gets a temporary name beside its own first, so that a reader sees the old content or the new, never a
part. Permissions are those that the user's umask gives to any new file.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import secrets
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from recassay.core.errors import InputError, UsageError, from_os

UNFINISHED = ".unfinished-"
"""How temporary names begin."""

LONGEST_NAME = 255
"""Bytes of the name of a file or a folder, on every usual system."""

SPARE = 1 << 17
"""Free bytes below which a disk counts as full: SQLite needs about a quarter of this for its log."""

_STREAMS = ("-", "/dev/stdout", "/dev/null")


def refuse_special(path: Path) -> None:
    """Raise `InputError` for what is not a file to be read to its end: a pipe, a socket, a device.

    A folder passes, and so does what is not there: the reader says what it makes of them.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        if re.match(r"(https?|ftp|s3|gs|file):/", str(path)):
            raise InputError("is an address, not a file", where=str(path), fix="download it first") from None
        return
    except (OSError, ValueError) as error:
        raise (
            from_os(error) if isinstance(error, OSError) else InputError("is not a path", where=repr(path))
        ) from None
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise InputError("is a pipe or a device, not a file", where=str(path), fix="save its content to a file first")


def refuse_no_folder(path: Path) -> None:
    """Raise where no folder can be at `path`: something else stands there or above, or the place may not be written.

    Asked before long work, so that it is not done for nothing.
    """
    place = path.absolute()
    try:
        if any(len(os.fsencode(part)) > LONGEST_NAME for part in place.parts):
            raise OSError(errno.ENAMETOOLONG, "", str(path))
        while not os.path.lexists(place):
            place = place.parent
        state = place.stat()
    except (OSError, ValueError) as error:
        raise (
            from_os(error) if isinstance(error, OSError) else InputError("is not a path", where=repr(path))
        ) from None
    if not stat.S_ISDIR(state.st_mode):
        what = "is a file, not a folder" if place == path.absolute() else f"{place} is a file, not a folder"
        raise UsageError(what, where=str(path), fix="choose another place")
    if not os.access(place, os.W_OK | os.X_OK):
        raise UsageError(f"{place} may not be written", where=str(path), fix="choose another place")


def refuse_no_file(path: Path) -> None:
    """Raise where no regular file can be written at `path`; the streams of `is_stream` pass.

    Asked before long work, so that it is not done for nothing.
    """
    if not is_stream(path):
        refuse_no_folder(path.parent)
        _regular(path)


def is_full(folder: Path) -> bool:
    """Whether the disk of `folder` has no room left: what failed there may have failed for that."""
    try:
        return shutil.disk_usage(folder).free < SPARE
    except OSError:
        return False


def is_stream(path: Path) -> bool:
    """Whether a path stands for the standard output or for nowhere: `-`, `/dev/stdout`, `/dev/null`."""
    return str(path) in _STREAMS


def _regular(path: Path) -> Path:
    """The file that `path` leads to, a link followed; raise where something else than a regular file stands there.

    Renaming a file onto a device replaces the device, for the whole system if the user is its administrator.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return path
    except OSError as error:
        raise from_os(error) from None
    if stat.S_ISDIR(mode):
        raise UsageError("is a folder, not a file", where=str(path), fix="name a file in it")
    if not stat.S_ISREG(mode):
        raise UsageError(
            "is a device, a pipe or a socket, not a file",
            where=str(path),
            fix="name a file, or - for the standard output",
        )
    return path.resolve() if path.is_symlink() else path


def temporary_name(target: Path) -> Path:
    """A name beside `target` that nothing else uses; `remove_unfinished` recognises it."""
    return target.with_name(f"{UNFINISHED}{target.name[:50]}-{secrets.token_hex(6)}")


def write_whole(target: Path, content: bytes | Callable[[IO[bytes]], Any], *, sync: bool = True) -> None:
    """Write bytes, or what `content` writes, to a file that gets its name `target` only when it is whole.

    With `sync` it is on the disk by then. Without, a power cut may lose it, a crash of the process never does: that is
    for what can be made again. The streams of `is_stream` are written to; any other device is refused.
    """
    if is_stream(target):
        nowhere = str(target) == "/dev/null"
        with Path(os.devnull).open("wb") if nowhere else contextlib.nullcontext(sys.stdout.buffer) as stream:
            sys.stdout.flush()
            stream.write(content) if isinstance(content, bytes) else content(stream)
            stream.flush()
        return
    target = _regular(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_name(target)
    try:
        with temporary.open("wb") as file:
            file.write(content) if isinstance(content, bytes) else content(file)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if sync:
        sync_folder(target.parent)


def write_all(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write files (by their paths within `folder`, with `/`) so that all of them are there, or none; their places.

    They are written beside their places first, and renamed when the last one is whole: a full disk is met before
    anything of the folder has changed. Files of other names stay as they are.
    """
    places = [folder / name for name in files]
    targets = [place if is_stream(place) else _regular(place) for place in places]
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    staging = temporary_name(folder / "files")
    try:
        staged = [staging / str(number) for number in range(len(files))]
        for target, stage, content in zip(targets, staged, files.values(), strict=True):
            write_whole(target if is_stream(target) else stage, content, sync=False)
        for target, stage in zip(targets, staged, strict=True):
            if not is_stream(target):
                target.parent.mkdir(parents=True, exist_ok=True)
                stage.replace(target)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        for place in made:
            with contextlib.suppress(OSError):
                place.rmdir()
        raise
    shutil.rmtree(staging, ignore_errors=True)
    return places


@contextlib.contextmanager
def appearing_folder(target: Path, *, replace: bool = False) -> Iterator[Path]:
    """A temporary folder to be filled; it takes the name `target` when the block ends well and its files are on disk.

    If the block raises, it is removed and `target` is as before. A folder that is there already (or appears meanwhile,
    from another process) gives way where `replace`, else it raises `FileExistsError`; an empty one gives way always.
    """
    unfinished = temporary_name(target)
    unfinished.mkdir(parents=True)
    try:
        yield unfinished
        for place in sorted(unfinished.rglob("*")):
            sync_folder(place) if place.is_dir() else sync_file(place)
        sync_folder(unfinished)
        _take_place(unfinished, target, replace)
        sync_folder(target.parent)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def remove_folder(folder: Path) -> None:
    """Remove a folder so that it is gone from its name at once, even if deleting its files takes a while."""
    doomed = temporary_name(folder)
    folder.replace(doomed)
    shutil.rmtree(doomed, ignore_errors=True)


def remove_unfinished(folder: Path, *, older_than: float = 0.0) -> None:
    """Delete what a killed process left half-written in `folder` and its subfolders, and last changed so many seconds
    ago: those of today may still be at work, unless a lock says that nobody is.
    """
    for left in [*folder.glob(f"{UNFINISHED}*"), *folder.glob(f"*/{UNFINISHED}*")]:
        with contextlib.suppress(OSError):
            if older_than and time.time() - left.stat().st_mtime <= older_than:
                continue
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)


def file_checksum(path: Path) -> str:
    """The SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sync_file(file: Path) -> None:
    """Bring a file's content to the disk."""
    with file.open("rb+") as stream:
        os.fsync(stream.fileno())


def sync_folder(folder: Path) -> None:
    """Bring a folder's names to the disk, where the system knows how."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def locked(path: Path, refusal: Callable[[str], Exception]) -> Iterator[IO[bytes]]:
    """Hold the file `path` (made where there is none, its content kept) and give it, open; one holder at a time.

    Where another process holds it, what `refusal` makes of the first 200 bytes in it is raised. The lock is the
    operating system's on the open file, so that it ends with its process, however that ends: a file that a killed
    process left behind is simply taken over.
    """
    with path.open("a+b") as file:
        if not _take(file.fileno()):
            file.seek(0)
            raise refusal(file.read(200).decode(errors="replace").strip())
        yield file


def _take_place(unfinished: Path, target: Path, replace: bool) -> None:
    if replace and target.exists():
        former = temporary_name(target)
        target.replace(former)
        try:
            unfinished.rename(target)
        except OSError:
            former.replace(target)
            raise
        shutil.rmtree(former, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        target.rmdir()
    try:
        unfinished.rename(target)
    except OSError as error:
        if target.is_dir():
            raise FileExistsError(error.errno, "appeared meanwhile", str(target)) from None
        raise


if sys.platform == "win32":
    import msvcrt

    def _take(descriptor: int) -> bool:
        try:
            os.lseek(descriptor, 1 << 30, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _take(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
