"""A grid as LaTeX: booktabs, numbers aligned at the decimal point, the best in bold, the second underlined."""

from __future__ import annotations

from collections.abc import Mapping

from recassay.reporting.latex import latex_text
from recassay.reporting.paper.fit import BETWEEN_GROUPS, Fit
from recassay.reporting.paper.grid import Cell, Grid

NEEDS = r"% needs \usepackage{booktabs}"


def latex_table(
    grid: Grid,
    caption: str,
    label: str,
    fit: Fit,
    *,
    wide: bool = False,
    rotated: bool = False,
    after: Mapping[str, str] | None = None,
) -> str:
    """A floating table: `table`, `table*` over two columns (`wide`), or turned (`rotated`, needs `rotating`).

    `caption` is LaTeX already. A number is two columns that meet at its decimal point; a mark takes no room, so that it
    moves nothing. `after` is LaTeX that follows the name of a row: a citation.
    """
    floating = ("sidewaystable" if rotated else "table") + ("*" if wide else "")
    needs = NEEDS + (r" \usepackage{rotating}" if rotated else "") + (r" \usepackage{graphicx}" if fit.upright else "")
    return "\n".join(
        [
            needs,
            rf"\begin{{{floating}}}" + ("" if rotated else "[t]"),
            r"\centering",
            rf"\caption{{{caption}}}",
            rf"\label{{{label}}}",
            rf"\{fit.size}",
            rf"\setlength{{\tabcolsep}}{{{fit.gap:g}pt}}",
            rf"\begin{{tabular}}{{l{_columns(grid, fit)}}}",
            r"\toprule",
            *_groups(grid),
            " & ".join([latex_text(grid.corner), *(_head(head, fit) for head in grid.heads)]) + r" \\",
            r"\midrule",
            *_rows(grid, after or {}),
            r"\bottomrule",
            r"\end{tabular}",
            rf"\end{{{floating}}}",
            "",
        ]
    )


def _columns(grid: Grid, fit: Fit) -> str:
    """Two columns for each number, and a wider gap before every group but the first."""
    spans = [span for _, span in grid.groups] or [len(grid.heads)]
    gap = f"@{{\\hspace{{{2 * fit.gap + BETWEEN_GROUPS:g}pt}}}}"
    return gap.join("r@{}l" * span for span in spans)


def _groups(grid: Grid) -> list[str]:
    """The headings over several columns, each with a rule below; none where no group has a title."""
    if not any(title for title, _ in grid.groups):
        return []
    cells, rules, place = [""], [], 2
    for title, span in grid.groups:
        cells.append(rf"\multicolumn{{{2 * span}}}{{c}}{{{latex_text(title)}}}")
        rules.append(rf"\cmidrule(lr){{{place}-{place + 2 * span - 1}}}")
        place += 2 * span
    return [" & ".join(cells) + r" \\", " ".join(rules)]


def _head(text: str, fit: Fit) -> str:
    inner = latex_text(text)
    if fit.upright:
        inner = rf"\rotatebox{{90}}{{{inner}}}"
    return rf"\multicolumn{{2}}{{c}}{{{inner}}}"


def _rows(grid: Grid, after: Mapping[str, str]) -> list[str]:
    first_closing = len(grid.rows) - grid.closing
    lines = []
    for place, (name, cells) in enumerate(grid.rows):
        if grid.closing and place == first_closing and place:
            lines.append(r"\midrule")
        lines.append(" & ".join([latex_text(name) + after.get(name, ""), *map(_cell, cells)]) + r" \\")
    return lines


def _cell(cell: Cell) -> str:
    """The two halves of a number, each set as its place asks for, and what follows it."""
    if not cell.text or cell.text == "–":
        return rf"\multicolumn{{2}}{{c}}{{{latex_text(cell.text)}}}"
    whole, rest = map(latex_text, cell.halves())
    command = {1: r"\textbf", 2: r"\underline"}.get(cell.place)
    if command:
        whole = rf"{command}{{{whole}}}"
        rest = rf"{command}{{{rest}}}" if rest else ""
    if cell.deviation:
        rest += rf"{{\tiny\,$\pm$\,{latex_text(cell.deviation)}}}"
    if cell.marked:
        rest += r"\rlap{$^{*}$}"
    return f"{whole} & {rest}"
