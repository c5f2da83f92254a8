"""The body of a report: sections by part, each folded behind its title and its answer.

The pages of the documentation that define what it shows are carried inside it: no link leads off the page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import polars as pl

from recassay.reporting.content import ReportContent
from recassay.reporting.drawing import MARKED
from recassay.reporting.figures import FilledSection
from recassay.reporting.files import safe_stem
from recassay.reporting.headline import judgement
from recassay.reporting.markup import Child, Markup, answered, fold, tag
from recassay.reporting.page.svg import inline_svg
from recassay.reporting.section import Figure
from recassay.reporting.tables import MOST_ROWS, html_section_table, html_table
from recassay.reporting.telling import failure
from recassay.reporting.words.verdict import headline

LIVE = ("forest", "critical_difference", "performance_profiles")
"""Pictures that the verdict and the leaderboard draw themselves: they do not appear a second time."""


class Body:
    """Sections of one report; remembers which tables the page already has."""

    def __init__(
        self, content: ReportContent, filled: Sequence[FilledSection], *, beside: Sequence[str] | None
    ) -> None:
        self.content, self.filled, self.beside, self.words = content, filled, beside, content.words
        self.names = [*content.results.algorithms, *content.results.datasets]
        self.live = len(content.results.datasets) > 1
        verdict = judgement(content.analyses)
        stated = () if verdict is None else content.own or (headline(verdict, self.words),)
        self.headline = next(iter(stated), "")
        self._shown: set[str] = set()

    def pages(self) -> list[str]:
        """The pages of the documentation that the sections rest on, each once."""
        return list(dict.fromkeys(filled.section.page for filled in self.filled))

    def sections(self, part: str) -> list[Markup]:
        """The sections of a part, in reading order."""
        return [self._section(filled) for filled in self.filled if filled.section.part == part]

    def without_section(self) -> list[Markup]:
        """Results of analyses that no section tells (a plugin's): their tables."""
        known = {filled.analysis for filled in self.filled}
        parts = []
        for name, result in self.content.analyses.items():
            if name not in known:
                question, _ = self.content.questions.get(name, ("", ""))
                tables = [self._table(key, frame) for key, frame in result.frames().items()]
                asked = tag("p", self.words.filled(question))
                parts.append(tag("section", tag("h3", self.words.heading(name)), asked, tables))
        return parts

    def _section(self, part: FilledSection) -> Markup:
        question, source = self.content.questions.get(part.analysis, ("", ""))
        question = self.words.filled(question)
        not_done = list(part.not_done)
        drawn_above = LIVE if self.live else ()
        pictures = [self._figure(figure, part, not_done) for figure in part.figures if figure.name not in drawn_above]
        answer, *more = [line for line in part.sentences if line != self.headline] or [question]
        further = [self._table(name, frame) for name, frame in part.result.frames().items() if name not in self._shown]
        return fold(
            answered(tag("h3", self.words.filled(part.section.title)), answer),
            tag("p", question, class_="question") if question and part.sentences else None,
            tag("ul", [tag("li", sentence) for sentence in more]) if more else None,
            pictures,
            fold("Tables", map(html_section_table, part.tables)) if part.tables else None,
            further,
            [tag("p", f"Not done: {reason}.", class_="note") for reason in not_done],
            tag("p", f"Source: {source}", class_="note") if source else None,
            id=self._section_id(part),
            class_="section",
        )

    def _section_id(self, part: FilledSection) -> str:
        """Named after the analysis; a further section of the same one adds its own title."""
        first = next(other for other in self.filled if other.analysis == part.analysis)
        name = part.analysis if first is part else f"{part.analysis}-{part.section.title}"
        return f"section-{safe_stem(name)}"

    def _figure(self, figure: Figure, part: FilledSection, not_done: list[str]) -> Markup | None:
        stem = safe_stem(figure.name)
        try:
            picture = inline_svg(part.files[figure.name].result()[MARKED].decode(), stem, figure.caption, self.names)
        except Exception as error:  # the chart of another package need not be what ours are
            not_done.append(failure(f"the picture {figure.name!r}", error))
            return None
        links: list[Child] = []
        if documentation(part.section.page) is not None:
            links.append(tag("a", "Definition", href=f"#{anchor(part.section.page)}"))
        formats = [form for form in ("pdf", "svg", "png") if form in (self.beside or ())]
        links += [tag("a", form.upper(), href=f"figures/{stem}.{form}") for form in formats]
        numbers = None
        if figure.table in self._shown:
            links.append(tag("a", "Numbers", href=f"#table-{safe_stem(figure.table)}"))
        else:
            frame = part.result.frames()[figure.table]
            numbers = self._table(figure.table, frame, summary="Numbers", caption=figure.caption)
        return tag(
            "figure",
            tag("div", picture, class_="picture", tabindex="0", role="group", aria_label=f"Picture: {figure.caption}"),
            tag("figcaption", figure.caption, tag("span", links, class_="links")),
            numbers,
            id=f"figure-{stem}",
        )

    def _table(
        self, name: str, frame: pl.DataFrame, *, summary: str | None = None, caption: str | None = None
    ) -> Markup:
        self._shown.add(name)
        file = f"tables/{safe_stem(name)}.csv"
        rest: Child = f"All are in {file} of the folder that recassay analyze --out writes."
        if self.beside is not None:
            rest = ["All are in ", tag("a", file, href=file), "."]
        title = summary or f"Table: {self.words.heading(name)}"
        return fold(
            f"{title} ({frame.height:,} rows)" if frame.height > MOST_ROWS else title,
            html_table(frame, caption or self.words.heading(name), self.words, rest=rest),
            id=f"table-{safe_stem(name)}",
        )


_PICTURE = re.compile(r"^!\[[^\]]*\]\([^)]*\)\s*$", re.M)
_LINK = re.compile(r'<a href="([^"#]*)(#[^"]*)?">(.*?)</a>', re.S)
_HEADING = re.compile(r"<(/?)h([1-4])>")


def documentation(page: str) -> Traversable | None:
    """The page's file: in the installed package, or in the source tree that the package runs from."""
    source = Path(__file__).resolve().parents[4] / "docs"
    folder: Traversable = source if (source / "index.md").is_file() else resources.files("recassay") / "docs"
    file = folder / f"{page}.md"
    return file if re.fullmatch(r"[a-z0-9-]+", page) and file.is_file() else None


def anchor(page: str) -> str:
    """Where the page stands inside the report."""
    return f"definition-{page}"


def definitions(pages: list[str]) -> Markup:
    """The pages as foldable HTML; pictures are left out, links between these pages stay inside the report."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    parts = []
    for page in pages:
        file = documentation(page)
        if file is None:
            continue
        text = _PICTURE.sub("", file.read_text(encoding="utf-8"))
        title = text.lstrip("# ").splitlines()[0]
        body = reader.render(text.split("\n", 1)[1])
        body = _LINK.sub(lambda match: _inside(match, pages), body)
        body = _HEADING.sub(lambda match: f"<{match[1]}h{min(int(match[2]) + 2, 6)}>", body)
        body = body.replace("<table>", '<div class="scroll"><table>').replace("</table>", "</table></div>")
        parts.append(fold(title, Markup(body), id=anchor(page), class_="definition"))
    return Markup("".join(parts))


def _inside(match: re.Match[str], pages: list[str]) -> str:
    target, text = match[1], match[3]
    page = target.removesuffix(".md")
    return f'<a href="#{anchor(page)}">{text}</a>' if target.endswith(".md") and page in pages else text
