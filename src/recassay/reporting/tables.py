"""Tables for people: HTML for the page, LaTeX (booktabs) and Markdown for a paper."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from recassay.core.tables.labels import metric_name
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.reporting.latex import latex_label, latex_text
from recassay.reporting.markup import Child, Markup, tag
from recassay.reporting.numbers import even, number, p_value
from recassay.reporting.section import Table

if TYPE_CHECKING:
    from recassay.analysis.users.result import UsersResult

DIGITS = 4
"""Significant digits of a number in a table for people; the CSV has them all."""

P_VALUES = frozenset(
    {"p", "p_holm", "p_value", "p_adjusted", "p_dunn", "p_equal", "p_equal_holm", "held_out_p", "winner_p"}
)
"""Columns that hold p-values; other columns that begin with p hold probabilities."""

MOST_ROWS = 60
"""Rows of a table inside the page; longer ones say where the rest is."""

MOST_SEARCHED = 1000
"""A table of a section with up to so many rows is whole in the page; a longer one is cut at `MOST_ROWS`."""

FEW_ROWS = 30
"""Tables with more rows than this have a search box."""

MOST_PAPER_ROWS = 400
"""Longer tables are data, and are written as CSV alone."""


def shown(value: object) -> str:
    """A cell as people read it: four digits, `yes` and `no`, nothing for a missing value."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if not math.isfinite(value):
            return "" if math.isnan(value) else "∞" if value > 0 else "-∞"
        if value == int(value) and abs(value) < 1e6:
            return str(int(value))
        text = f"{value:.{DIGITS}g}"
        return f"{value:.0f}" if "e+" in text and abs(value) < 1e9 else text
    return str(value)


def column_texts(column: pl.Series) -> list[str]:
    """The cells of a column as a paper prints them: numbers with the same decimals, p-values as `< .001`.

    The largest number of a column has four significant digits; whole numbers, and halves, have as many as they need.
    """
    values = column.to_list()
    if not column.dtype.is_float():
        return [shown(value) for value in values]
    if column.name in P_VALUES:
        return [p_value(value) for value in values]
    finite = [abs(value) for value in values if value is not None and math.isfinite(value)]
    decimals = _decimals(finite)
    return [shown(value) if value is None or not math.isfinite(value) else f"{value:.{decimals}f}" for value in values]


def _page_texts(column: pl.Series) -> list[str]:
    """The cells of a column of the page: with the same decimals, unless a number would keep less than two digits."""
    values = column.to_list()
    sizes = [abs(value) for value in values if value and isinstance(value, float) and math.isfinite(value)]
    small = bool(sizes) and min(sizes) < 10 ** (1 - _decimals(sizes))
    if small and column.name not in P_VALUES:
        return [shown(value) for value in values]
    return column_texts(column)


def _decimals(sizes: Sequence[float]) -> int:
    for decimals, step in ((0, 1), (1, 2)):
        if all(size * step == int(size * step) for size in sizes):
            return decimals
    return min(max(DIGITS - 1 - math.floor(math.log10(max(sizes))), 1), 8)


def html_table(
    frame: pl.DataFrame, caption: str, words: Vocabulary = USUAL, *, rest: Child = None, most: int = MOST_ROWS
) -> Markup:
    """A frame with headers for every column and row; `rest` says where to find the rows beyond `most`."""
    numeric = [dtype.is_numeric() for dtype in frame.dtypes]
    rows = list(zip(*map(_page_texts, frame.head(most)), strict=True))
    table = _html(caption, map(words.heading, frame.columns), rows, numeric)
    if frame.height <= most:
        return table
    return Markup(table + tag("p", f"The first {most} of {frame.height:,} rows. ", rest, class_="note"))


def html_section_table(table: Table) -> Markup:
    """A table of a section with its notes, for the page and for notebooks."""
    numeric = [place >= table.names for place in range(len(table.header))]
    notes = [tag("p", note, class_="note") for note in table.notes]
    rows = table.rows if len(table.rows) <= MOST_SEARCHED else table.rows[:MOST_ROWS]
    if len(rows) < len(table.rows):
        notes.append(tag("p", f"The first {MOST_ROWS} of {len(table.rows):,} rows.", class_="note"))
    return Markup(_html(table.title, table.header, rows, numeric) + "".join(notes))


def _html(caption: str, header: Iterable[str], rows: Iterable[Sequence[str]], numeric: Sequence[bool]) -> Markup:
    heads = zip(header, numeric, strict=True)
    head = tag("tr", [tag("th", name, scope="col", class_="n" if n else None) for name, n in heads])
    body = []
    for first, *others in rows:
        cells = [tag("td", cell, class_="n" if n else None) for cell, n in zip(others, numeric[1:], strict=True)]
        body.append(tag("tr", tag("th", first, scope="row"), cells))
    table = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", body))
    scrolled = tag("div", table, class_="scroll", tabindex="0", role="region", aria_label=caption)
    if len(body) <= FEW_ROWS:
        return scrolled
    box = tag(
        "input", type="search", placeholder="part of a name", autocomplete="off", aria_label=f"Find in: {caption}"
    )
    return tag("div", tag("label", "Find ", box, class_="find", hidden="hidden"), scrolled, class_="searched")


def latex(frame: pl.DataFrame, caption: str, label: str) -> str:
    """A booktabs table: `\\usepackage{booktabs}`, names left, numbers right."""
    columns = "".join("r" if dtype.is_numeric() else "l" for dtype in frame.dtypes)
    rows = zip(*(map(latex_text, column_texts(column)) for column in frame), strict=True)
    head = [latex_text(USUAL.heading(name)) for name in frame.columns]
    return "\n".join(_booktabs(caption, latex_label("tab", label), columns, [head, *rows]))


LETTERS = "abcdefghijklmnopqrstuvwxyz"


def evaluation_table(
    means: Mapping[str, Mapping[str, float]], comparison: Mapping[str, UsersResult], title: str
) -> Table:
    """Lists that were compared: one row per list, one column per metric, the best by the first tested metric first.

    Behind a value stand the letters of the lists that it significantly beats.
    """
    first = next(iter(comparison.values())).datasets[0].algorithms
    letter = dict(zip(first, LETTERS, strict=False)) if len(first) <= len(LETTERS) else {}
    columns: dict[str, Sequence[str]] = {"": [letter.get(name, "") for name in first], "lists": first}
    for label in next(iter(means.values())):
        beaten: dict[str, str] = dict.fromkeys(first, "")
        tested = comparison[label].datasets[0].pairs if label in comparison else ()
        for pair in tested:
            if pair.significant:
                better, worse = (pair.left, pair.right) if pair.difference > 0 else (pair.right, pair.left)
                beaten[better] += letter.get(worse, "")
        width = max(map(len, beaten.values()))
        values = even(means[name][label] for name in first)
        columns[metric_name(label)] = [
            f"{value or 'none'}{'  ' if width else ''}{''.join(sorted(beaten[name])):<{width}}"
            for name, value in zip(first, values, strict=True)
        ]
    note = "A letter behind a value: significantly better than that list (sign-flip test over users, Holm)."
    shown = [] if not letter else [note]
    return Table(title, list(columns), zip(*columns.values(), strict=True), names=2, notes=shown)


def evaluation_latex(
    means: Mapping[str, Mapping[str, float]],
    directions: Mapping[str, bool],
    comparison: Mapping[str, UsersResult],
    *,
    caption: str,
) -> str:
    """Lists that were judged together, as a booktabs table of `means` (by algorithm, by metric).

    The best of a column is bold, and a dagger stands at those that are significantly worse than it by the paired test
    over users.
    """
    metrics = list(next(iter(means.values())))
    tested = {metric: result.datasets[0] for metric, result in comparison.items()}
    worse = {metric: set(users.algorithms) - set(users.not_worse()) for metric, users in tested.items()}
    arrows = {True: r"$\uparrow$", False: r"$\downarrow$"}
    rows = [["algorithm", *(f"{latex_text(metric)} {arrows[directions[metric]]}" for metric in metrics)]]
    for algorithm, values in means.items():
        cells = [latex_text(algorithm)]
        for metric in metrics:
            column = [other[metric] for other in means.values() if other[metric] == other[metric]]
            best = (max(column) if directions[metric] else min(column)) if column else None
            text = number(values[metric], DIGITS, missing="--")
            if values[metric] == best:
                text = rf"\textbf{{{text}}}"
            cells.append(text + (r"$^\dagger$" if algorithm in worse.get(metric, ()) else ""))
        rows.append(cells)
    return "\n".join(_booktabs(caption, "tab:evaluation", f"l{'r' * len(metrics)}", rows))


def _booktabs(caption: str, label: str, columns: str, rows: Iterable[Iterable[str]]) -> list[str]:
    """The lines of a floating table between three rules; the first row is the head, and cells are LaTeX already."""
    head, *body = (" & ".join(cells) + r" \\" for cells in rows)
    above = [r"\begin{table}[t]", r"\centering", rf"\caption{{{latex_text(caption)}}}", rf"\label{{{label}}}"]
    table = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *body, r"\bottomrule"]
    return [*above, *table, r"\end{tabular}", r"\end{table}", ""]


def markdown(frame: pl.DataFrame) -> str:
    """A pipe table; what Markdown or HTML would read as markup is escaped."""
    rule = ["---:" if dtype.is_numeric() else "---" for dtype in frame.dtypes]
    rows = zip(*(map(markdown_text, column_texts(column)) for column in frame), strict=True)
    return pipe_table([[markdown_text(USUAL.heading(name)) for name in frame.columns], rule, *rows])


def pipe_table(rows: Iterable[Iterable[str]]) -> str:
    """Rows of Markdown, the head and the rule first."""
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def markdown_text(text: str) -> str:
    """Text for a cell of a Markdown table: what Markdown or HTML would read as markup is escaped."""
    text = re.sub(r"([\\`*_\[\]|~])", r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;"))
    return text.replace("\n", " ")


def paper_tables(name: str, frame: pl.DataFrame, caption: str) -> dict[str, bytes]:
    """By file name: the table as CSV, and as LaTeX and Markdown where it is short enough to be read."""
    files = {f"{name}.csv": frame.write_csv().encode()}
    if frame.height <= MOST_PAPER_ROWS:
        files[f"{name}.tex"] = latex(frame, caption, name).encode()
        files[f"{name}.md"] = markdown(frame).encode()
    return files
