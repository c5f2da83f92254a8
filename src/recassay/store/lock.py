"""One run at a time in a study folder."""

from __future__ import annotations

import contextlib
import datetime
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from recassay.core.errors import UsageError
from recassay.core.system.files import locked

LOCK_FILE = "run.lock"


@contextlib.contextmanager
def study_lock(folder: Path) -> Iterator[None]:
    """Hold the study folder, or raise `UsageError` that names who holds it; what stands in the file is for people."""

    def refusal(holder: str) -> UsageError:
        return UsageError(
            f"another run is at work in this folder ({holder or 'unknown'})",
            where=str(folder),
            fix="wait for it, stop it, or choose another folder",
        )

    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / LOCK_FILE, refusal) as file:
        file.truncate(0)
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        file.write(f"process {os.getpid()} on {socket.gethostname()} since {now}\n".encode())
        file.flush()
        try:
            yield
        finally:
            file.truncate(0)  # the folder may be sent to others
