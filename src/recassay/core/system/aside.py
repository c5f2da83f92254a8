"""Processes of ours beside this one, which they serve by their standard input and output."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[3]
"""The folder that holds the package."""


def start(module: str) -> subprocess.Popen[bytes]:
    """A process that runs a module of ours, with the code that runs here."""
    paths = [str(SOURCE), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
    )
