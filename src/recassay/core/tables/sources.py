"""Where results came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Source:
    """A file that results came from, and the SHA-256 of its bytes."""

    file: str
    """Its name."""
    sha256: str
    """The SHA-256 of its bytes."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The files that an answer came from, where nothing else that knows them is at hand."""

    sources: tuple[Source, ...]


class Sourced(Protocol):
    """Whatever knows the files it came from."""

    @property
    def sources(self) -> tuple[Source, ...]:
        """The files, in order."""
