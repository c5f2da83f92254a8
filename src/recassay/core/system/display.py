"""How results show themselves: on a terminal, in a notebook, in a program."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import polars as pl

from recassay.core import registry
from recassay.core.errors import UsageError, listing

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
    """A result that says its answer: on a terminal, in a notebook, and in a program by `verdict`, `figures` and `plot`.

    Sentences, tables and figures are those of its sections. It has a `to_frame()`, and a docstring that names it.
    """

    __slots__ = ()

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "__repr__" not in cls.__dict__:  # before a dataclass writes one of all fields
            cls.__repr__ = Displayed.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        said = self.verdict()
        name = type(self).__name__
        return f"{said[0]} [{name}]" if said else f"{summary_line(self)} [{name}]"

    def verdict(self) -> list[str]:
        """The answer in plain sentences, the most important first: those that a command ends with."""
        return [sentence for section in self._sections() for sentence in _asked(section.sentences, self)]

    @property
    def figures(self) -> dict[str, Any]:
        """The figures by name, each with its `caption`, its Altair `chart` and `save("name.pdf")`."""
        return {figure.name: figure for section in self._sections() for figure in section.figures(self)}

    def to_pandas(self) -> Any:
        """`to_frame()` as a pandas data frame."""
        try:
            return self.to_frame().to_pandas()  # type: ignore[attr-defined]
        except ModuleNotFoundError as error:
            raise UsageError(
                f"to_pandas() needs {error.name or 'pandas and pyarrow'}, which is not installed",
                fix="pip install pandas pyarrow, or use to_frame(), a polars data frame",
            ) from error

    def plot(self, name: str | None = None) -> Any:
        """The Altair chart of a figure; by default of the first."""
        drawn = self.figures
        if not drawn or (name is not None and name not in drawn):
            what = "it has no figure" if not drawn else f"there is no figure {name!r}"
            raise UsageError(f"{type(self).__name__}: {what}", fix=f"it has {listing(drawn, most=None) or 'none'}")
        return next(iter(drawn.values())).chart if name is None else drawn[name].chart

    def _sections(self) -> list[Any]:
        return [section for section in registry.sections.loadable()[0].values() if isinstance(self, section.of)]

    def _repr_html_(self) -> str:
        sentences: list[str] = []
        tables: list[Any] = []
        for section in self._sections():
            sentences += _asked(section.sentences, self)
            tables += _asked(section.tables, self)
        whole = "" if tables else table_html(self.to_frame(), summary_line(self))  # type: ignore[attr-defined]
        return answer_html(sentences, tables) + whole


def _asked(ask: Callable[[Any], Iterable[Any]], result: object) -> list[Any]:
    """What a section gives of a result; a plugin's that fails gives nothing."""
    try:
        return list(ask(result))
    except Exception:
        return []
