"""The end of a report: failures, and the appendix with definitions, formulas, parameters, manifest and citation."""

from __future__ import annotations

import json

import polars as pl

from recassay.core.errors import listing
from recassay.core.system.failures import causes
from recassay.core.tables.facts import StudyFacts
from recassay.core.version import __version__
from recassay.reporting.content import ReportContent
from recassay.reporting.markup import Child, Markup, joined, tag
from recassay.reporting.page.definitions import definitions
from recassay.reporting.tables import html_table

CITATION = (
    "The RecAssay contributors. RecAssay: a fair benchmark of recommender algorithms, and what its numbers prove. "
    f"Version {__version__}."
)


def failures(facts: StudyFacts | None) -> Markup | None:
    """Why cells failed, each cause once."""
    if facts is None:
        return None
    if not facts.failed:
        return tag("p", f"No cell failed: all {facts.done} that ran are done.", id="failures")
    frame = pl.DataFrame(
        [
            {"status": cause.status, "algorithms": listing(cause.algorithms, most=20),
             "datasets": listing(cause.datasets, most=20), "cells": cause.cells, "reason": cause.reason}
            for cause in causes(facts.failed)
        ]
    )  # fmt: skip
    caption = f"Why {len(facts.failed)} cells failed, each cause once"
    return tag("section", tag("h3", "Failures"), html_table(frame, caption, most=500), id="failures")


def appendix(content: ReportContent, pages: list[str]) -> Markup:
    """Everything that a reader needs to judge or repeat what stands above."""
    parts: list[Child] = []
    defined = definitions(pages)
    if defined:
        fold = tag(
            "summary", tag("h3", "Definitions"), tag("span", "what every number on this page means", class_="answer")
        )
        parts.append(tag("details", fold, defined, class_="section"))
    if content.formulas:
        parts.append([tag("h3", "Metrics"), _formulas(content)])
    if content.facts is not None:
        parts.append(_study(content.facts))
    sources = sorted({source for name, (_, source) in content.questions.items() if name in content.analyses and source})
    parts.append(
        tag(
            "details",
            tag("summary", tag("h3", "How to cite"), tag("span", CITATION, class_="answer")),
            tag("p", "Cite the work behind the analyses, too:"),
            tag("ul", [tag("li", source) for source in sources]),
            class_="section",
        )
    )
    return joined(parts)


def _formulas(content: ReportContent) -> Markup:
    rows = [
        {"metric": label, "formula": str(known["formula"]), "convention": str(known["convention"]),
         "source": str(known["source"])}
        for label, known in content.formulas.items()
    ]  # fmt: skip
    fold = tag("summary", "Formulas and conventions")
    return tag("details", fold, html_table(pl.DataFrame(rows), "Formula and convention of each metric"))


def _study(facts: StudyFacts) -> Markup:
    folds = [
        ("Splits", facts.splits, "What each dataset's split held, and how many users were judged"),
        ("Search spaces", facts.spaces, "What tuning could vary"),
        (
            "Best parameters",
            facts.parameters,
            "The parameters that tuning chose, and their value on the validation part",
        ),
    ]
    tables = [
        tag("details", tag("summary", title), html_table(frame, caption, most=1000))
        for title, frame, caption in folds
        if frame.height
    ]
    text = json.dumps(dict(facts.manifest), indent=1, ensure_ascii=False)
    manifest = tag("details", tag("summary", "Manifest"), tag("pre", text, tabindex="0"))
    return joined([tag("h3", "The study"), tables, manifest])
