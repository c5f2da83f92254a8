"""One run at a time in a study folder."""

from __future__ import annotations

import contextlib
import datetime
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

from recassay.core.errors import UsageError

LOCK_FILE = "run.lock"


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the study folder, or raise `UsageError` that names who holds it.

    The lock is the operating system's on an open file, so that it ends with its process, however that ends: a file
    left behind by a killed run is simply taken over. What stands in the file is only for people.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / LOCK_FILE
    with path.open("a+", encoding="utf-8") as file:
        if not _take(file.fileno()):
            file.seek(0)
            raise UsageError(
                f"another run is at work in this folder ({file.read(200).strip() or 'unknown'})",
                where=str(folder),
                fix="wait for it, stop it, or choose another folder",
            )
        file.truncate(0)
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        file.write(f"process {os.getpid()} on {socket.gethostname()} since {now}\n")
        file.flush()
        yield


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
