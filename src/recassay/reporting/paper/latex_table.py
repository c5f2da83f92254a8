"""A grid as LaTeX: booktabs, numbers aligned at the decimal point by siunitx, the best bold, the second underlined."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from recassay.reporting.latex import latex_label, latex_text
from recassay.reporting.paper.grid import Cell, Grid

PACKAGES = r"\usepackage{booktabs,graphicx,siunitx} \sisetup{detect-all,table-align-text-post=false}"
NEEDS = rf"% needs {PACKAGES}"

COLUMN_GAP, GROUP_GAP = 4, 15
"""Points on either side of a column, and between two groups of columns."""

NUMBER = re.compile(r"([-−]?)(\d+)(?:\.(\d+))?")
"""What siunitx aligns; a column with anything else is set to the right."""


def latex_table(
    grid: Grid, caption: str, label: str, *, upright: bool, wide: bool, rotated: bool, after: Mapping[str, str]
) -> str:
    """A floating table: `table`, `table*` over two columns (`wide`), or turned (`rotated`, needs `rotating`).

    `upright` turns the headings of columns. A mark takes no room, so that it moves nothing. `after` is LaTeX that
    follows the name of a row: a citation.
    """
    floating = ("sidewaystable" if rotated else "table") + ("*" if wide else "")
    needs = NEEDS + (r" \usepackage{rotating}" if rotated else "")
    heads = [rf"\rotatebox{{90}}{{{latex_text(head)}}}" if upright else latex_text(head) for head in grid.heads]
    return "\n".join(
        [
            needs,
            rf"\begin{{{floating}}}" + ("" if rotated else "[t]"),
            r"\centering",
            rf"\caption{{{latex_text(caption)}}}",
            rf"\label{{{latex_label('tab', label)}}}",
            r"\small",
            rf"\setlength{{\tabcolsep}}{{{COLUMN_GAP}pt}}",
            r"\sbox0{%",
            rf"\begin{{tabular}}{{l{_columns(grid)}}}",
            r"\toprule",
            *_groups(grid),
            " & ".join(["", *(f"{{{head}}}" for head in heads)]) + r" \\",
            r"\midrule",
            *_rows(grid, after),
            r"\bottomrule",
            r"\end{tabular}}%",
            *_shrunk(rotated=rotated),
            rf"\end{{{floating}}}",
            "",
        ]
    )


def _shrunk(*, rotated: bool) -> Iterator[str]:
    """The table in box 0 as large as it is, or shrunk to the line and the page where it is larger: LaTeX measures it.

    By `graphicx` alone, which most classes of venues load; the caption keeps an eighth of the page.
    """
    page = r".87\textwidth" if rotated else r".87\textheight"
    yield r"\ifdim\wd0>\linewidth \sbox0{\resizebox{\linewidth}{!}{\usebox0}}\fi"
    yield rf"\ifdim\dimexpr\ht0+\dp0\relax>{page} \resizebox*{{!}}{{{page}}}{{\usebox0}}\else\usebox0\fi"


def _columns(grid: Grid) -> str:
    """A column for each heading, and a wider gap before every group but the first."""
    kinds = [_kind(column) for column in grid.columns()]
    spans = [span for _, span in grid.groups] or [len(grid.heads)]
    gap = f"@{{\\hspace{{{GROUP_GAP}pt}}}}"
    starts = [sum(spans[:i]) for i in range(len(spans))]
    return gap.join("".join(kinds[start : start + span]) for start, span in zip(starts, spans, strict=True))


def _kind(cells: Sequence[Cell]) -> str:
    """`S` with the digits of its numbers and the room of its deviations, or `r` where not all cells are numbers."""
    numbers = [NUMBER.fullmatch(cell.text) for cell in cells if cell.text not in ("", "–")]
    if not numbers or not all(numbers):
        return "r"
    sign = "-" if any(number and number[1] for number in numbers) else ""
    whole = max(len(number[2]) for number in numbers if number)
    decimals = max(len(number[3] or "") for number in numbers if number)
    longest = max((cell.deviation for cell in cells), key=len)
    room = f",table-space-text-post={{{_deviation(longest)}}}" if longest else ""
    return f"S[table-format={sign}{whole}.{decimals}{room}]"


def _groups(grid: Grid) -> list[str]:
    """The headings over several columns, each with a rule below; none where no group has a title."""
    if not any(title for title, _ in grid.groups):
        return []
    cells, rules, place = [""], [], 2
    for title, span in grid.groups:
        cells.append(rf"\multicolumn{{{span}}}{{c}}{{{latex_text(title)}}}")
        rules.append(rf"\cmidrule(lr){{{place}-{place + span - 1}}}")
        place += span
    return [" & ".join(cells) + r" \\", " ".join(rules)]


def _rows(grid: Grid, after: Mapping[str, str]) -> Iterator[str]:
    first_closing = len(grid.rows) - grid.closing
    whole = [max((len(cell.halves()[0]) for cell in column), default=0) for column in grid.columns()]
    for place, (name, cells) in enumerate(grid.rows):
        if grid.closing and place == first_closing and place:
            yield r"\midrule"
        texts = [_cell(cell, digits) for cell, digits in zip(cells, whole, strict=True)]
        yield " & ".join([latex_text(name) + after.get(name, ""), *texts]) + r" \\"


def _cell(cell: Cell, whole: int) -> str:
    """A number as its place asks for, and what follows it; `whole` characters stand before the decimal point."""
    if not NUMBER.fullmatch(cell.text):
        return f"{{{latex_text(cell.text)}}}"
    behind = _deviation(cell.deviation) if cell.deviation else ""
    if cell.marked:
        behind += r"\rlap{$^{*}$}"
    if cell.place == 2:  # siunitx takes no underlined number: as text it is as wide as one
        missing = "0" * (whole - len(cell.halves()[0]))
        padded = rf"\hphantom{{{missing}}}" if missing else ""
        return rf"{{{padded}\underline{{{latex_text(cell.text)}}}{behind}}}"
    bold = r"\bfseries " if cell.place == 1 else ""
    return f"{bold}{cell.text.replace('−', '-')}{f'{{{behind}}}' if behind else ''}"


def _deviation(text: str) -> str:
    return rf"{{\tiny\,$\pm$\,{latex_text(text)}}}"
