"""The first thing that the command does, before anything is imported that opens files."""

from __future__ import annotations

from recassay.core.system.descriptors import hold_descriptors


def main() -> None:
    """Hold the numbers of the standard streams, then run the command line."""
    hold_descriptors()
    from recassay.cli.main import main as command

    command()
