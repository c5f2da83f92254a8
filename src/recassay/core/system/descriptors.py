"""The numbers of the standard streams: no file that is opened later may take the place of one that is closed.

The system gives the lowest free number. With standard error closed (`2>&-`) a file, a socket or a lock that is opened
would be number 2, and whatever a library writes to standard error would be written into it.
"""

from __future__ import annotations

import os

_STANDARD = (0, 1, 2)


def hold_descriptors() -> None:
    """Make of closed standard input, output and error the null device, here and in what is started."""
    while (number := os.open(os.devnull, os.O_RDWR)) in _STANDARD:
        os.set_inheritable(number, True)
    os.close(number)
