"""One self-contained page: results, pictures, appendix and script in a single file, without network or server."""

from __future__ import annotations

import json
from collections.abc import Sequence

import polars as pl

from recassay.core.system.failures import causes
from recassay.core.tables.facts import StudyFacts
from recassay.core.tables.labels import metric_name
from recassay.core.version import __version__
from recassay.core.vocabulary import Vocabulary
from recassay.core.words import count_of, listing
from recassay.reporting.content import ReportContent
from recassay.reporting.figures import FilledSection
from recassay.reporting.markup import Child, Markup, answered, data_block, escaped, fold, joined, tag
from recassay.reporting.numbers import better
from recassay.reporting.page.board import board_data, one_dataset
from recassay.reporting.page.document import document, template
from recassay.reporting.page.parts import Body, definitions
from recassay.reporting.page.top import top
from recassay.reporting.section import PARTS
from recassay.reporting.tables import html_table
from recassay.reporting.words.sequences import order_words

SCRIPTS = (
    "theme.js",
    "ties.js",
    "rules.js",
    "diagrams.js",
    "leaderboard.js",
    "charts.js",
    "start.js",
)
"""In this order they make the one script of the page."""


def build_page(content: ReportContent, filled: Sequence[FilledSection], *, beside: Sequence[str] | None = None) -> str:
    """The report as HTML; the pictures of the filled sections are drawn as SVG.

    With `beside`, the page links to the tables and figures in the folders next to it, to figures in these formats.
    """
    body, words = Body(content, filled, beside=beside), content.words
    blocks: list[tuple[str, str, Child]] = []
    for part in PARTS:
        sections: list[Child] = list(body.sections(part))
        if part == "leaderboard":
            several = len(content.results.datasets) > 1
            sections.insert(0, Markup(words.filled(template("leaderboard.html"))) if several else one_dataset(content))
        if part == "cost":
            sections.append(failures(content.facts, content.words))
        if any(section for section in sections):
            title = {"traits": "Latent traits", "datasets": words.datasets.capitalize()}.get(part, part.capitalize())
            blocks.append((part.replace(" ", "-"), title, sections))
    others = body.without_section()
    if others:
        blocks.append(("further", "Further analyses", others))
    blocks.append(("appendix", "Appendix", appendix(content, body.pages())))
    script = "\n".join(template(name) for name in SCRIPTS)
    return document(
        "page.html",
        title=f"{content.title}: {metric_name(content.metric)}",
        styles=["page.css"],
        script=script,
        heading=escaped(content.title),
        meta=joined(tag("span", text) for text in _meta(content)),
        data=data_block("board-data", board_data(content)),
        navigation=joined(tag("a", title, href=f"#{name}") for name, title, _ in blocks),
        top=top(content, filled),
        parts=joined(
            tag("section", tag("h2", title, id=f"{name}-title"), inside, id=name, class_="part",
                aria_labelledby=f"{name}-title")
            for name, title, inside in blocks
        ),
    )  # fmt: skip


def _meta(content: ReportContent) -> list[str]:
    """What the page is about: metric, algorithms, datasets, day."""
    return [
        f"{metric_name(content.metric)}, {better(content.higher_is_better)}",
        f"{len(content.results.algorithms)} {content.words.algorithms}",
        count_of(len(content.results.datasets), content.words.dataset),
        f"{content.day.day} {content.day:%B %Y}",
    ]


CITATION = (
    "The RecAssay contributors. RecAssay: a fair benchmark of recommender algorithms, and what its numbers prove. "
    f"Version {__version__}."
)


def failures(facts: StudyFacts | None, words: Vocabulary) -> Markup | None:
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
    caption = f"Why {count_of(len(facts.failed), 'cell')} failed, each cause once"
    return tag("section", tag("h3", "Failures"), html_table(frame, caption, words, most=500), id="failures")


def appendix(content: ReportContent, pages: list[str]) -> Markup:
    """Everything that a reader needs to judge or repeat what stands above."""
    parts: list[Child] = []
    defined = definitions(pages)
    if defined:
        line = answered(tag("h3", "Definitions"), "what every number on this page means")
        parts.append(fold(line, defined, class_="section"))
    if content.formulas:
        stated = ("formula", "convention", "source")
        rows = [{"metric": m, **{key: str(known[key]) for key in stated}} for m, known in content.formulas.items()]
        table = html_table(pl.DataFrame(rows), "Formula and convention of each metric")
        parts.append([tag("h3", "Metrics"), fold("Formulas and conventions", table)])
    if content.facts is not None:
        parts.append(_study(content.facts, content.words))
    sources = sorted({source for name, (_, source) in content.questions.items() if name in content.analyses and source})
    cite = answered(tag("h3", "How to cite"), CITATION)
    works = tag("ul", [tag("li", source) for source in sources])
    parts.append(fold(cite, tag("p", "Cite the work behind the analyses, too:"), works, class_="section"))
    return joined(parts)


def _study(facts: StudyFacts, words: Vocabulary) -> Markup:
    chosen = "The parameters that tuning chose, and their value on the validation part"
    frames = [
        ("Splits", facts.splits, f"What each {words.dataset}'s split held, and how many {words.users} were judged"),
        ("Order", facts.order, "Targets in the history, or its last item, and what shuffling the histories changes"),
        ("Histories", facts.histories, "Milliseconds for the lists after one history, with their judgement"),
        ("Search spaces", facts.spaces, "What tuning could vary"),
        ("Best parameters", facts.parameters, chosen),
    ]
    worth = [order_words(row["dataset"], row) for row in facts.order.iter_rows(named=True) if row["algorithm"]]
    sentences = {"Order": tag("ul", [tag("li", sentence) for sentence in worth]) if worth else None}
    tables = [
        fold(title, [sentences.get(title), html_table(frame, caption, words, most=1000)])
        for title, frame, caption in frames
        if frame.height
    ]
    text = json.dumps(dict(facts.manifest), indent=1, ensure_ascii=False)
    return joined([tag("h3", "The study"), tables, fold("Manifest", tag("pre", text, tabindex="0"))])
