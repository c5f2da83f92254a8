"""How results show themselves in a notebook."""

from __future__ import annotations

import html
from typing import Any

import polars as pl

MOST_ROWS = 50


def table_html(frame: pl.DataFrame, caption: str, *, most: int = MOST_ROWS) -> str:
    """A frame as an HTML table with everything escaped; numbers to four significant digits, the rest counted."""
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in frame.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_shown(value))}</td>" for value in row) + "</tr>"
        for row in frame.head(most).iter_rows()
    )
    more = f"<p>and {frame.height - most} more rows in <code>to_frame()</code></p>" if frame.height > most else ""
    return (
        f"<table><caption>{html.escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table>{more}"
    )


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


class Displayed:
    """A result that shows its main table in a notebook. It has a `to_frame()`, and a docstring that names it."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        title = (type(self).__doc__ or type(self).__name__).strip().partition("\n")[0]
        return table_html(self.to_frame(), title)  # type: ignore[attr-defined]
