"""The words of a table: algorithms on the users of datasets, or models on the instances of tasks where it says so."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PLACE = re.compile(r"(?:\b([Aa])n? )?\{([Aa]lgorithm|[Dd]ataset|[Uu]ser)(s?)\}")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a table calls its rows, its columns, and those on whom its rows are judged.

    Every sentence, heading and label is made with it; names and the columns of data are never changed by it.
    """

    algorithm: str = "algorithm"
    dataset: str = "dataset"
    user: str = "user"

    @classmethod
    def of(cls, words: tuple[str, str]) -> Vocabulary:
        """That of a table by its two words (`Results.words`); a table of other words is judged on instances."""
        return USUAL if words == (USUAL.algorithm, USUAL.dataset) else cls(*words, "instance")

    @property
    def algorithms(self) -> str:
        """Several rows."""
        return f"{self.algorithm}s"

    @property
    def datasets(self) -> str:
        """Several columns."""
        return f"{self.dataset}s"

    @property
    def users(self) -> str:
        """Several of those on whom rows are judged."""
        return f"{self.user}s"

    @property
    def an_algorithm(self) -> str:
        """One row, with its article."""
        return _with_article(self.algorithm)

    @property
    def a_dataset(self) -> str:
        """One column, with its article."""
        return _with_article(self.dataset)

    def filled(self, text: str) -> str:
        """A text that is stated before its table is known, with the words for `{algorithm}`, `{Datasets}`, ..."""
        return _PLACE.sub(self._noun, text)

    def heading(self, column: str) -> str:
        """The name of a column of data as people write it."""
        return " ".join(self.filled(f"{{{part}}}").strip("{}") for part in column.split("_"))

    def _noun(self, place: re.Match[str]) -> str:
        article, key, plural = place.groups()
        noun: str = getattr(self, key.lower())
        if article:
            return article + _with_article(noun)[1:]
        return f"{noun if key.islower() else noun.capitalize()}{plural}"


def _with_article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aei' else 'a'} {noun}"


USUAL = Vocabulary()
"""The words of everything that does not know its table."""
