"""The first thing that the command does, before anything is imported that opens files."""

from __future__ import annotations

import signal
import sys
import warnings

from recassay.core.system.descriptors import hold_descriptors

INTERRUPTED = 130


def main() -> None:
    """Hold the numbers of the standard streams, then run the command line; Ctrl-C while it is loaded is one line."""
    try:
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # see `recassay/__init__.py`
            signal.signal(signal.SIGINT, signal.default_int_handler)
        hold_descriptors()
        # numpy's, on values that answers speak of
        warnings.filterwarnings("ignore", r"(overflow|invalid value|divide by zero) encountered", RuntimeWarning)
        from recassay.cli.main import main as command

        command()
    except KeyboardInterrupt:
        sys.stderr.write("recassay: interrupted\n")
        sys.exit(INTERRUPTED)
