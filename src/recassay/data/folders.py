"""Where RecAssay keeps data on this machine, and how a folder appears there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from recassay.core.errors import InputError, UsageError

HOME_VARIABLE = "RECASSAY_HOME"
LONGEST_NAME = 64
_UNFINISHED = ".unfinished-"
_ABANDONED_SECONDS = 86_400
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}


def home() -> Path:
    """The folder named by `RECASSAY_HOME`, else `recassay` in the user's cache folder of this platform."""
    asked = os.environ.get(HOME_VARIABLE)
    if asked:
        return Path(asked).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
        return (Path(base) if base else Path.home() / "AppData" / "Local") / "recassay" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "recassay"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "recassay"


def checked_name(name: str) -> str:
    """`name` if it can be a folder on every platform, else `UsageError`.

    Letters, digits, dot, hyphen and underscore, at most 64 of them; it starts with a letter or digit, does
    not end with a dot, and is none of the names Windows keeps for devices (CON, NUL, COM1, also with an
    ending).
    """
    rule = None
    if not name:
        rule = "is empty"
    elif len(name) > LONGEST_NAME:
        rule = f"is longer than {LONGEST_NAME} characters"
    elif not set(name) <= _LETTERS:
        odd = sorted(set(name) - _LETTERS)[0]
        rule = f"holds {odd!r}"
    elif not name[0].isalnum() or name.endswith("."):
        rule = "starts with a mark or ends with a dot"
    elif name.partition(".")[0].lower() in _RESERVED:
        rule = "is kept by Windows for a device"
    if rule is not None:
        raise UsageError(
            f"the name {name[:80]!r} {rule}",
            fix="use letters, digits, dots, hyphens and underscores, such as ml-100k",
        )
    return name


@contextlib.contextmanager
def appearing(target: Path, *, replace: bool) -> Iterator[Path]:
    """A temporary folder beside `target` to be filled; it takes the target's name when the block ends well.

    If the block raises, the temporary folder is removed and the target is as before. Temporary folders that a
    killed process left more than a day ago are cleared away.
    """
    parent = target.parent
    try:
        parent.mkdir(parents=True, exist_ok=True)
        clear_abandoned(parent)
        unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=parent))
    except OSError as error:
        raise InputError(
            f"the folder cannot be written ({error.strerror})", where=str(parent), fix=f"set {HOME_VARIABLE}"
        ) from None
    try:
        yield unfinished
        _take_place(unfinished, target, replace=replace)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def clear_abandoned(parent: Path) -> None:
    """Remove temporary folders older than a day."""
    for left in parent.glob(f"{_UNFINISHED}*"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > _ABANDONED_SECONDS:
                shutil.rmtree(left, ignore_errors=True)


def remove_folder(folder: Path) -> None:
    """Remove a folder so that it is gone from its name at once, even if deleting its files takes a while."""
    doomed = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=folder.parent))
    try:
        os.replace(folder, doomed / folder.name)
    finally:
        shutil.rmtree(doomed, ignore_errors=True)


def _take_place(unfinished: Path, target: Path, *, replace: bool) -> None:
    if replace and target.exists():
        former = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=target.parent))
        try:
            os.replace(target, former / target.name)
            try:
                os.replace(unfinished, target)
            except OSError:
                os.replace(former / target.name, target)
                raise
        finally:
            shutil.rmtree(former, ignore_errors=True)
        return
    try:
        os.rename(unfinished, target)
    except OSError:
        raise InputError(
            f"a dataset {target.name!r} appeared meanwhile",
            where=str(target),
            fix="use replace to overwrite it",
        ) from None
