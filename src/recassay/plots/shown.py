"""Which algorithms a picture shows: all of them, or of many the best and the control."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from recassay.core import columns as c
from recassay.core.vocabulary import Vocabulary
from recassay.plots.grammar import Row


@dataclass(frozen=True, slots=True)
class Shown:
    """All of `total` algorithms but the `hidden`; names that are not algorithms of the table are always shown."""

    hidden: frozenset[str] = frozenset()
    total: int = 0

    def of(self, names: Iterable[str]) -> list[str]:
        """Those of these names that are shown, in their order."""
        return [name for name in names if name not in self.hidden]

    def rows(self, rows: Iterable[Row], *columns: str) -> list[Row]:
        """The rows that name none of the hidden in these columns, by default in that of the algorithm."""
        return [row for row in rows if not any(row[column] in self.hidden for column in columns or (c.ALGORITHM,))]

    def note(self, words: Vocabulary) -> str:
        """What a caption adds where some are hidden."""
        if not self.hidden:
            return ""
        shown = self.total - len(self.hidden)
        return f" Shown are {shown} of {self.total} {words.algorithms}, the best by mean rank."


ALL = Shown()
