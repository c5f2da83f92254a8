"""A grid as Typst, Markdown and HTML, for those who do not write LaTeX."""

from __future__ import annotations

import re

from recassay.reporting.markup import POLICY, Markup, joined, tag
from recassay.reporting.paper.grid import Cell, Grid
from recassay.reporting.tables import markdown_text, pipe_table

FEW_COLUMNS = 7
"""Up to so many columns a page has room for headings beside each other."""


def typst_text(text: str) -> str:
    """Text for Typst: every character that it would read as markup is escaped."""
    escaped = re.sub(r"([\\#$*_`<>@\[\]~\"'/+=-])", r"\\\1", " ".join(text.split()))
    return re.sub(r"^(\d+)\.", r"\1\\.", escaped)


def typst_table(grid: Grid, caption: str, label: str) -> str:
    """A figure with a table between three rules; numbers are on the right, all with the same decimals.

    A table of many columns has smaller letters and upright headings.
    """
    many = len(grid.heads) > FEW_COLUMNS
    lines = [
        "#[",
        "#set figure.caption(position: top)",
        "#set figure(placement: auto)",
        f"#show table: set text(size: {'0.7em' if many else '0.85em'})",
        "#figure(",
        f"  caption: [{typst_text(caption)}],",
        "  table(",
        f"    columns: {len(grid.heads) + 1}, stroke: none, inset: (x: {'2pt' if many else '4pt'}, y: 3pt),",
        "    align: (x, y) => if x == 0 { left } else { right },",
        "    table.hline(),",
    ]
    if any(title for title, _ in grid.groups):
        spans = ", ".join(
            f"table.cell(colspan: {span}, align: center)[{typst_text(title)}]" for title, span in grid.groups
        )
        lines.append(f"    [], {spans},")
    heads = [f"[{typst_text(head)}]" for head in grid.heads]
    if many:
        heads = [f"rotate(-90deg, reflow: true){head}" for head in heads]
    lines += [f"    table.header({', '.join(['[]', *heads])}),", "    table.hline(stroke: 0.5pt),"]
    for place, (name, cells) in enumerate(grid.rows):
        if grid.closing and place == len(grid.rows) - grid.closing:
            lines.append("    table.hline(stroke: 0.5pt),")
        lines.append(f"    {', '.join(f'[{part}]' for part in (typst_text(name), *map(_typst_cell, cells)))},")
    return "\n".join([*lines, "    table.hline(),", "  ),", f") <{label}>", "]", ""])


def _typst_cell(cell: Cell) -> str:
    text = typst_text(cell.text)
    shown = {1: f"#strong[{text}]", 2: f"#underline[{text}]"}.get(cell.place, text)
    around = f"#text(size: 0.75em)[ ± {typst_text(cell.deviation)}]" if cell.deviation else ""
    return shown + around + (r"#super[\*]" if cell.marked else "")


def markdown_table(grid: Grid, caption: str) -> str:
    """A pipe table below its caption; underlining is HTML, which Markdown knows as no other way."""
    titles = [title for title, span in grid.groups for _ in range(span)] or [""] * len(grid.heads)
    heads = ["", *(f"{title} {name}".strip() for title, name in zip(titles, grid.heads, strict=True))]
    rows = [[markdown_text(name), *map(_markdown_cell, cells)] for name, cells in grid.rows]
    table = pipe_table([map(markdown_text, heads), ["---", *["---:"] * len(grid.heads)], *rows])
    return f"{markdown_text(caption)}\n\n{table}"


def _markdown_cell(cell: Cell) -> str:
    text = markdown_text(cell.text)
    shown = {1: f"**{text}**", 2: f"<u>{text}</u>"}.get(cell.place, text)
    around = f" ± {markdown_text(cell.deviation)}" if cell.deviation else ""
    return shown + around + (r"\*" if cell.marked else "")


def html_grid(grid: Grid, caption: str) -> Markup:
    """A table that Word takes over by copy and paste: bold, underlined and superscript are elements, not classes."""
    head = tag("tr", tag("th", scope="col"), [tag("th", name, scope="col") for name in grid.heads])
    groups = None
    if any(title for title, _ in grid.groups):
        groups = tag("tr", tag("td"), [tag("th", title, colspan=span, scope="colgroup") for title, span in grid.groups])
    body = [
        tag("tr", tag("th", name, scope="row"), [tag("td", _html_cell(cell), align="right") for cell in cells])
        for name, cells in grid.rows
    ]
    table = tag(
        "table", tag("caption", caption), tag("thead", groups, head), tag("tbody", body), border="1",
        style="border-collapse: collapse",
    )  # fmt: skip
    policy = tag("meta", http_equiv="Content-Security-Policy", content=POLICY)
    return Markup(f'<!doctype html>\n<meta charset="utf-8">\n{policy}\n<title>Main table</title>\n{table}\n')


def _html_cell(cell: Cell) -> Markup:
    shown = {1: tag("b", cell.text), 2: tag("u", cell.text)}.get(cell.place, joined([cell.text]))
    around = tag("small", f" ± {cell.deviation}") if cell.deviation else None
    return joined([shown, around, tag("sup", "*") if cell.marked else None])
