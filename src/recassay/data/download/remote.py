"""What a fetch must know of a file."""

from __future__ import annotations

from typing import Protocol


class RemoteFile(Protocol):
    """What a fetch must know of a file: an entry of the catalog, or anything with the same marks.

    `addresses` are mirrors of the same bytes; `size`, `md5` and `sha256` are what the publisher says, None: nothing.
    """

    @property
    def name(self) -> str:
        """What messages and pins call it."""

    @property
    def stored_name(self) -> str:
        """The file's name in the cache."""

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where it lies."""

    @property
    def how(self) -> str | None:
        """How to obtain it without an address."""

    @property
    def home(self) -> str:
        """The page that tells more."""

    @property
    def size(self) -> int | None:
        """Bytes."""

    @property
    def md5(self) -> str | None:
        """In hexadecimal."""

    @property
    def sha256(self) -> str | None:
        """In hexadecimal."""
