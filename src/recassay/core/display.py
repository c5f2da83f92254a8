"""How results show themselves in a notebook."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from recassay.core import registry

MOST_ROWS = 50


def table_html(frame: pl.DataFrame, caption: str, *, most: int = MOST_ROWS) -> str:
    """A frame as an HTML table with everything escaped; numbers to four significant digits, the rest counted."""
    rows = [[_shown(value) for value in row] for row in frame.head(most).iter_rows()]
    more = f"<p>and {frame.height - most} more rows in <code>to_frame()</code></p>" if frame.height > most else ""
    return _table(caption, frame.columns, rows) + more


def answer_html(sentences: Iterable[str], tables: Iterable[Any]) -> str:
    """Sentences as a list, and tables (`reporting.section.Table`) with their notes below; everything is escaped."""
    said = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in sentences)
    shown = "".join(
        _table(table.title, table.header, table.rows) + "".join(f"<p>{html.escape(note)}</p>" for note in table.notes)
        for table in tables
    )
    return (f"<ul>{said}</ul>" if said else "") + shown


def _table(caption: str, header: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in header)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f"<table><caption>{html.escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def summary_line(result: object) -> str:
    """The first line of the docstring of a result's type, which names it."""
    return (type(result).__doc__ or type(result).__name__).strip().partition("\n")[0]


class Displayed:
    """A result that shows itself in a notebook: the sentences and tables of its sections, else its main table.

    It has a `to_frame()`, and a docstring that names it.
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        sentences: list[str] = []
        tables: list[Any] = []
        for section in registry.sections.loadable()[0].values():
            try:
                if isinstance(self, section.of):
                    said, shown = list(section.sentences(self)), list(section.tables(self))
                    sentences += said
                    tables += shown
            except Exception:  # a plugin's section that fails says nothing; the main table is left
                continue
        whole = "" if tables else table_html(self.to_frame(), summary_line(self))  # type: ignore[attr-defined]
        return answer_html(sentences, tables) + whole
