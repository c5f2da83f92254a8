"""What failed or was left out, by cause: one cause is named once, not once for each cell that it stopped."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Protocol

from recassay.core.words import listing


class Failed(Protocol):
    """A cell that failed, or that cannot run."""

    @property
    def algorithm(self) -> str:
        """Its algorithm."""

    @property
    def dataset(self) -> str:
        """Its dataset."""

    @property
    def status(self) -> str:
        """What happened, in a word."""

    @property
    def reason(self) -> str | None:
        """Why, in a line."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An algorithm that is not part of the plan on a dataset, by a rule that is known before anything is fitted."""

    status: ClassVar[str] = "left out"
    algorithm: str
    dataset: str
    reason: str


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason, and the cells that it stopped."""

    status: str
    reason: str
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    cells: int

    def sentence(self) -> str:
        """`failed: EASE on films: why`; of many algorithms or datasets the first ones are named."""
        who, where = listing(self.algorithms, most=3), listing(self.datasets, most=3)
        return f"{self.status}: {who} on {where}: {self.reason}"


def causes(failed: Iterable[Failed]) -> tuple[Cause, ...]:
    """The causes of failures, or of what was left out, in the order of the first cell of each."""
    groups: dict[tuple[str, str], list[Failed]] = {}
    for cell in failed:
        groups.setdefault((cell.status, cell.reason or "no reason was kept"), []).append(cell)
    return tuple(
        Cause(
            status,
            reason,
            tuple(dict.fromkeys(cell.algorithm for cell in cells)),
            tuple(dict.fromkeys(cell.dataset for cell in cells)),
            len(cells),
        )
        for (status, reason), cells in groups.items()
    )
