"""How results show themselves: on a terminal, in a notebook, in a program."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from recassay.core.errors import UsageError
from recassay.core.words import listing

if TYPE_CHECKING:
    import polars as pl

MOST_ROWS = 50


def table_html(frame: pl.DataFrame, caption: str, *, most: int = MOST_ROWS) -> str:
    """A frame as an HTML table with everything escaped; numbers to four significant digits, further rows counted."""
    rows = [[_cell(value) for value in row] for row in frame.head(most).iter_rows()]
    more = f"<p>and {frame.height - most} more rows in <code>to_frame()</code></p>" if frame.height > most else ""
    return rows_html(caption, frame.columns, rows) + more


def rows_html(caption: str, header: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows of text as an HTML table, everything escaped."""
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in header)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f"<table><caption>{html.escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def summary_line(result: object) -> str:
    """The first line of the docstring of a result's type, which names it."""
    return (type(result).__doc__ or type(result).__name__).strip().partition("\n")[0]


class Teller(Protocol):
    """What puts results into words and pictures; it stands above `core`, which knows no more of it than this."""

    def result_headline(self, result: Any) -> str:
        """The answer in one sentence; empty where there is none."""

    def result_sentences(self, result: Any) -> list[str]:
        """The answer in plain sentences, the most important first."""

    def result_figures(self, result: Any) -> dict[str, Any]:
        """The figures by name."""

    def result_html(self, result: Any) -> str:
        """What a notebook shows."""

    def wording(self, word: str, text: str) -> Callable[[Any], Any]:
        """What makes one text of the results of an analysis."""


_teller: Callable[[], Teller]


def told_by(teller: Callable[[], Teller]) -> None:
    """State who tells results; the package does so when it is imported, and `teller` is called on first use."""
    global _teller
    _teller = teller


def worded(word: str, text: str, result: Any) -> Any:
    """A text that people read of a result: what the function `text` of `reporting/words/WORD.py` makes of it."""
    return _teller().wording(word, text)(result)


class Displayed:
    """A result that states its answer: on a terminal, in a notebook, and in a program by `verdict`, `figures`, `plot`.

    Sentences, tables and figures are those of its sections. It has a `to_frame()`, and a docstring that names it.
    """

    __slots__ = ()

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "__repr__" not in cls.__dict__:  # before a dataclass writes one of all fields
            cls.__repr__ = Displayed.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        return f"{_teller().result_headline(self) or summary_line(self)} [{type(self).__name__}]"

    def verdict(self) -> list[str]:
        """The answer in plain sentences, the most important first: those that a command ends with."""
        return _teller().result_sentences(self)

    @property
    def figures(self) -> dict[str, Any]:
        """The figures by name, each with its `caption`, its Vega-Lite `spec` and `save("name.pdf")`."""
        return _teller().result_figures(self)

    def to_pandas(self) -> Any:
        """`to_frame()` as a pandas data frame."""
        try:
            import pandas as pd
        except ModuleNotFoundError as error:
            raise UsageError(
                "to_pandas() needs pandas, which is not installed",
                fix="pip install pandas, or use to_frame(), a polars data frame",
            ) from error
        # Column by column: polars' own way needs pyarrow as well.
        columns = self.to_frame().get_columns()  # type: ignore[attr-defined]
        return pd.DataFrame({c.name: c.to_numpy() if c.dtype.is_numeric() else c.to_list() for c in columns})

    def plot(self, name: str | None = None) -> Any:
        """A figure, which a notebook shows; by default the first. `save("name.pdf")` writes it."""
        drawn = self.figures
        if not drawn or (name is not None and name not in drawn):
            what = "it has no figure" if not drawn else f"there is no figure {name!r}"
            raise UsageError(f"{type(self).__name__}: {what}", fix=f"it has {listing(drawn, most=None) or 'none'}")
        return next(iter(drawn.values())) if name is None else drawn[name]

    def _repr_html_(self) -> str:
        return _teller().result_html(self)
