"""Where RecAssay keeps data on this machine, and how a folder appears there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from recassay.core.errors import InputError, UsageError, from_os
from recassay.core.system.files import appearing_folder, remove_unfinished

HOME_VARIABLE = "RECASSAY_HOME"
LONGEST_NAME = 64
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
    not end with a dot, and is not one of the names Windows keeps for devices (CON, NUL, COM1, also with an
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
        what = f"the name {name[:80]!r} {rule}"
        raise UsageError(what, fix="use letters, digits, dots, hyphens and underscores, such as ml-100k")
    return name


@contextlib.contextmanager
def appearing_dataset(target: Path, *, replace: bool) -> Iterator[Path]:
    """`appearing_folder` for a folder of the cache, which is first cleared of what was left there over a day ago."""
    refused = InputError(
        f"a dataset {target.name!r} appeared meanwhile", where=str(target), fix="use replace to overwrite it"
    )
    try:
        with contextlib.ExitStack() as stack:
            try:
                remove_unfinished(target.parent, older_than=_ABANDONED_SECONDS)
                folder = stack.enter_context(appearing_folder(target, replace=replace))
            except OSError as error:
                what = f"the folder cannot be written ({from_os(error).what})"
                raise InputError(what, where=str(target.parent), fix=f"set {HOME_VARIABLE}") from None
            yield folder
    except FileExistsError:
        raise refused from None
