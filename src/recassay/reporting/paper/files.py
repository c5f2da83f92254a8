"""Every file of a paper: tables in all formats, figures, setup, references, and a document around them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from string import Template

import polars as pl

from recassay.core import columns as c
from recassay.reporting.latex import latex_label, latex_text, unprintable
from recassay.reporting.paper.arrange import PAGE_HEIGHT, PlacedTable, Room, main_tables, placed
from recassay.reporting.paper.captions import rank_caption
from recassay.reporting.paper.content import PaperContent
from recassay.reporting.paper.figures import PaperFigure
from recassay.reporting.paper.main_table import TableStyle, main_grid, rank_grid
from recassay.reporting.paper.other_formats import html_grid, markdown_table, typst_table
from recassay.reporting.paper.paragraph import latex_paragraph
from recassay.reporting.paper.setup import bibliography, dataset_caption, dataset_citations, dataset_grid, setup_text


def paper_files(
    content: PaperContent,
    figures: Sequence[PaperFigure],
    sentences: Sequence[str],
    *,
    title: str,
    style: TableStyle,
    room: Room,
    analyses: Sequence[str],
) -> dict[str, bytes]:
    """By path within the folder of the paper: what `recassay paper` writes."""
    plain = Room(room.column, room.page)
    main, ranks = main_tables(content, style, room), list(_rank_tables(content, plain))
    grid = dataset_grid(content.datasets)
    datasets: dict[str, str] = {}
    if grid is not None:
        captioned = [(grid, dataset_caption(content.datasets))]
        datasets = _tex_files(placed("datasets", captioned, plain, dataset_citations(content.datasets)))
    texts: dict[str, str] = {}
    for table in main:
        texts |= _formats(table)
    texts["tables/main.csv"] = main_frame(content, style).write_csv()
    for table in ranks:
        texts |= _formats(table)
    written: dict[str, str] = {}
    for table in (*main, *ranks):
        written |= _tex_files(table)
    texts |= written | datasets | {"setup.tex": setup_text(content, analyses)}
    conclusions = latex_text(" ".join(sentences))
    tested = content.findings[0].tested
    if tested is not None:
        texts["paragraph.tex"] = latex_paragraph(tested)
        conclusions = r"\input{paragraph}"
    inputs = [name.removesuffix(".tex") for name in (*datasets, *written)]
    texts["main.tex"] = document(title, inputs, figures, conclusions, column=room.column, page=room.page)
    texts["references.bib"] = bibliography("\n".join(texts.values()))
    drawn = {f"figures/{figure.name}.{form}": data for figure in figures for form, data in figure.files.items()}
    order = [name for name in ("main.tex", "setup.tex", "paragraph.tex", "references.bib") if name in texts]
    rest = {name: text.encode() for name, text in texts.items() if name not in order}
    return {name: texts[name].encode() for name in order} | rest | drawn


def _formats(table: PlacedTable) -> dict[str, str]:
    """A table for those who do not write LaTeX."""
    stem = f"tables/{table.name}"
    return {
        f"{stem}.typ": typst_table(table.grid, table.caption, latex_label("tab", table.name)),
        f"{stem}.md": markdown_table(table.grid, table.caption),
        f"{stem}.html": html_grid(table.grid, table.caption),
    }


def _tex_files(table: PlacedTable) -> dict[str, str]:
    """The pieces of a table by file; those after the first are numbered."""
    return {f"tables/{table.name}{f'_{n}' if n > 1 else ''}.tex": text for n, text in enumerate(table.latex, start=1)}


def _rank_tables(content: PaperContent, room: Room) -> Iterator[PlacedTable]:
    for findings in content.findings:
        grid = rank_grid(findings, content.algorithms)
        if grid is not None:
            name = "ranks" if len(content.findings) == 1 else f"ranks_{latex_label(findings.metric)}"
            yield placed(name, [(grid, rank_caption(content, findings))], room)


def main_frame(content: PaperContent, style: TableStyle) -> pl.DataFrame:
    """The main table as data: one row per metric, algorithm and dataset, with every digit and how it stands out."""
    rows = []
    for findings in content.findings:
        grid = main_grid(content, [findings], style)
        for a, (name, cells) in enumerate(grid.rows):
            for d, dataset in enumerate(content.datasets):
                deviation = None if findings.deviations is None else float(findings.deviations[a, d])
                rows.append(
                    {c.METRIC: findings.metric, c.ALGORITHM: name, c.DATASET: dataset.name,
                     c.VALUE: float(findings.values[a, d]), c.DEVIATION: deviation, "printed": cells[d].text,
                     "place": cells[d].place or None, "significant": cells[d].marked}
                )  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={c.DEVIATION: pl.Float64, "place": pl.Int64}).fill_nan(None)


def paper_notes(content: PaperContent, figures: Iterable[PaperFigure], letters: float) -> Iterator[str]:
    """What a writer should know of the files: names that pdflatex cannot print, figures that did not fit."""
    names = [*content.algorithms, *(dataset.name for dataset in content.datasets)]
    strange = sorted({letter for name in names for letter in unprintable(name)})
    if strange:
        yield (
            f"pdflatex has no letter for {' '.join(strange)}: it is written as its code, such as [U+4E2D]; rename, or "
            "use XeLaTeX with the Markdown, Typst or HTML table"
        )
    for figure in figures:
        if figure.letters < letters - 0.05:
            yield (
                f"the figure {figure.name} does not fit the page with letters of {letters:g} pt: they are "
                f"{figure.letters:.1f} pt"
            )
        elif figure.wide:
            yield f"the figure {figure.name} does not fit one column: it goes over both"


GAP = 0.34
"""Inches between two columns."""


def figure_text(figure: PaperFigure) -> str:
    """A floating figure around the file of a picture, at the width that it was drawn for."""
    floating = "figure*" if figure.wide else "figure"
    return "\n".join(
        [
            rf"\begin{{{floating}}}[t]",
            r"\centering",
            rf"\includegraphics[width={figure.width:.3f}in]{{figures/{figure.name}.pdf}}",
            rf"\caption{{{latex_text(figure.caption)}}}",
            rf"\label{{{latex_label('fig', figure.name)}}}",
            rf"\end{{{floating}}}",
            "",
        ]
    )


def document(
    title: str, inputs: Sequence[str], figures: Sequence[PaperFigure], results: str, *, column: float, page: float
) -> str:
    """The document: two columns where they fit the page beside each other, else one; `results` is LaTeX."""
    two = 2 * column + GAP <= page + 0.01
    template = Template(files("recassay.reporting.paper").joinpath("main.tex").read_text(encoding="utf-8"))
    return template.substitute(
        options="10pt,twocolumn" if two else "10pt",
        width=f"{page if two else column:g}",
        height=f"{PAGE_HEIGHT:g}",
        gap=GAP,
        title=latex_text(title),
        results="\n".join([results, *(rf"\input{{{name}}}" for name in inputs), *map(figure_text, figures)]),
    )
