"""The body of a report: sections by part, each with pictures, one sentence, and the numbers behind a fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recassay.reporting.content import ReportContent
from recassay.reporting.figures import Told
from recassay.reporting.files import safe_stem
from recassay.reporting.markup import Child, Markup, joined, tag
from recassay.reporting.page.definitions import anchor, documentation
from recassay.reporting.page.svg import inline_svg
from recassay.reporting.section import Figure
from recassay.reporting.tables import MOST_ROWS, heading, html_table


class Body:
    """Sections of one report; remembers which tables the page already has."""

    def __init__(
        self, content: ReportContent, parts: Sequence[Told], drawings: Mapping[str, str], *, beside: bool
    ) -> None:
        self.content, self.told, self.drawings, self.beside = content, parts, drawings, beside
        self.names = [*content.results.algorithms, *content.results.datasets]
        self._shown: set[str] = set()

    def pages(self) -> list[str]:
        """The pages of the documentation that the sections rest on, each once."""
        return list(dict.fromkeys(part.section.page for part in self.told))

    def sections(self, part: str) -> list[Markup]:
        """The sections of a part, in reading order."""
        return [self._section(one) for one in self.told if one.section.part == part]

    def untold(self) -> list[Markup]:
        """Results of analyses that no section tells (a plugin's): their tables."""
        known = {one.analysis for one in self.told}
        parts = []
        for name, result in self.content.analyses.items():
            if name not in known:
                question, _ = self.content.questions.get(name, ("", ""))
                tables = [self._table(key, frame) for key, frame in result.frames().items()]
                parts.append(tag("section", tag("h3", heading(name)), tag("p", question), tables))
        return parts

    def _section(self, one: Told) -> Markup:
        question, source = self.content.questions.get(one.analysis, ("", ""))
        drawn = {figure.table for figure in one.figures}
        frames = one.result.frames()
        further = [self._table(name, frame) for name, frame in frames.items() if name not in drawn]
        return tag(
            "section",
            tag("h3", one.section.title),
            tag("p", question, class_="question") if question else None,
            [self._figure(figure, one) for figure in one.figures],
            joined(further),
            tag("p", f"Source: {source}", class_="note") if source else None,
            id=f"section-{safe_stem(one.analysis)}",
            class_="told",
        )

    def _figure(self, figure: Figure, one: Told) -> Markup:
        stem = safe_stem(figure.name)
        picture = inline_svg(self.drawings[figure.name], stem, figure.caption, self.names)
        links: list[Child] = []
        if documentation(one.section.page) is not None:
            links.append(tag("a", "Definition", href=f"#{anchor(one.section.page)}"))
        if self.beside:
            links += [tag("a", form.upper(), href=f"figures/{stem}.{form}") for form in ("pdf", "svg", "png")]
        frame = one.result.frames()[figure.table]
        numbers: Child
        if figure.table in self._shown:
            links.append(tag("a", "Numbers", href=f"#table-{safe_stem(figure.table)}"))
            numbers = None
        else:
            numbers = self._table(figure.table, frame, summary="Numbers", caption=figure.caption)
        return tag(
            "figure",
            tag("div", picture, class_="picture", tabindex="0", role="group", aria_label=f"Picture: {figure.caption}"),
            tag("figcaption", figure.caption, tag("span", links, class_="links")),
            numbers,
            id=f"figure-{stem}",
        )

    def _table(self, name: str, frame: object, *, summary: str | None = None, caption: str | None = None) -> Markup:
        import polars as pl

        assert isinstance(frame, pl.DataFrame)
        self._shown.add(name)
        file = f"tables/{safe_stem(name)}.csv"
        if self.beside:
            rest: Child = ["All are in ", tag("a", file, href=file), "."]
        else:
            rest = f"All are in {file} of the folder that recassay analyze --out writes."
        title = summary or f"Table: {heading(name)}"
        return tag(
            "details",
            tag("summary", f"{title} ({frame.height:,} rows)" if frame.height > MOST_ROWS else title),
            html_table(frame, caption or heading(name), rest=rest),
            id=f"table-{safe_stem(name)}",
        )
