"""`main.tex`: a document around the parts, to look at them and to copy from."""

from __future__ import annotations

from collections.abc import Sequence

from recassay.reporting.latex import latex_label, latex_text
from recassay.reporting.paper.figures import PaperFigure
from recassay.reporting.paper.fit import PAGE_HEIGHT

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
    title: str,
    inputs: Sequence[str],
    figures: Sequence[PaperFigure],
    sentences: Sequence[str],
    *,
    column: float,
    page: float,
) -> str:
    """The document: two columns where they fit the page beside each other, else one; `sentences` tell the results."""
    two = 2 * column + GAP <= page + 0.01
    width = page if two else column
    options = "10pt,twocolumn" if two else "10pt"
    return "\n".join(
        [
            "% Everything that recassay paper wrote, set once: copy from it what you need.",
            "% pdflatex main && bibtex main && pdflatex main && pdflatex main",
            rf"\documentclass[{options}]{{article}}",
            rf"\usepackage[letterpaper,textwidth={width:g}in,textheight={PAGE_HEIGHT:g}in,columnsep={GAP}in]{{geometry}}",
            r"\usepackage{booktabs,graphicx,rotating}",
            r"\usepackage[hyphens]{url}",
            r"\emergencystretch=2em",
            r"\setlength{\abovecaptionskip}{5pt}",
            r"\setlength{\belowcaptionskip}{5pt}",
            rf"\title{{{latex_text(title)}}}",
            r"\author{}",
            r"\date{}",
            r"\begin{document}",
            r"\maketitle",
            r"\section{Experimental setup}",
            r"\input{setup}",
            r"\section{Results}",
            latex_text(" ".join(sentences)),
            *(rf"\input{{{name}}}" for name in inputs),
            *map(figure_text, figures),
            r"\bibliographystyle{plain}",
            r"\bibliography{references}",
            r"\end{document}",
            "",
        ]
    )
