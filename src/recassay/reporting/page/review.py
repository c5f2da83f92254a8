"""The page of a review: each table of the paper with its flags at the cells, readable on a phone."""

from __future__ import annotations

from collections.abc import Iterable

from recassay.analysis.review.result import Flag, ReviewResult
from recassay.core.tables.printed import PaperTable
from recassay.core.words import count_of
from recassay.reporting.markup import Child, Markup, joined, tag
from recassay.reporting.page.document import document
from recassay.reporting.words import review as words


def review_page(result: ReviewResult) -> str:
    """One HTML page without scripts and without anything from elsewhere."""
    first, *others = words.sentences(result)
    numbers = {id(flag): place for place, flag in enumerate(result.flags, 1)}
    by_table = {table.number: [flag for flag in result.flags if flag.table == table.number] for table in result.tables}
    claims = [[tag("blockquote", claim.text), tag("p", tag("strong", words.claim_line(claim)), f" ({claim.place})")]
              for claim in result.claims]  # fmt: skip
    parts = (("Claims", claims), ("What the tables support", _list(map(words.verdict_line, result.verdicts))),
             ("Notes", _list(result.notes)))  # fmt: skip
    body = joined([
        tag("h2", first, class_="headline"),
        _list(others),
        [_table(table, by_table[table.number], numbers) for table in result.tables],
        [[tag("h2", title), content] for title, content in parts if content],
    ])  # fmt: skip
    return document("review.html", title="Review of a paper", styles=["page.css", "review.css"], body=body)


def _list(lines: Iterable[str]) -> Markup | None:
    items = [tag("li", line) for line in lines]
    return tag("ul", items) if items else None


def _table(table: PaperTable, flags: list[Flag], numbers: dict[int, int]) -> Child:
    """A table as it was read beside its caption, its flags below it."""
    marked: dict[tuple[int, int], list[int]] = {}
    listed = []
    for flag in flags:
        number = numbers[id(flag)]
        for cell in flag.cells if "alike" in flag.facts else flag.cells[:1]:
            marked.setdefault(cell, []).append(number)
        how = tag("span", words.certainty(flag), class_="how")
        listed.append(tag("li", f"{number}. {words.flag_sentence(flag)}", how, id=f"flag-{number}"))
    rows = [tag("tr", [_cell(table, i, j, marked.get((i, j), [])) for j in range(len(row))])
            for i, row in enumerate(table.cells)]  # fmt: skip
    read = f"; {count_of(len(table.entries), 'result')} read" if table.entries else ""
    kind = tag("span", f"{words.KINDS[table.kind]}: {table.reason}{read}", class_="kind")
    return tag(
        "section",
        tag("h2", f"Table {table.number} ", kind),
        tag("p", table.caption, class_="caption") if table.caption else None,
        tag("div", tag("table", rows), class_="scroll", tabindex="0"),
        tag("ul", listed, class_="flags") if listed else None,
        [tag("p", f"Reading: {note}", class_="caption") for note in table.notes],
        id=f"table-{table.number}",
    )


def _cell(table: PaperTable, i: int, j: int, flags: list[int]) -> Markup:
    cell = table.cells[i][j]
    kinds = {"best": "bold" in cell.marks, "second": "underline" in cell.marks, "at": bool(flags),
             "words": cell.value is None and len(cell.text) > 24}  # fmt: skip
    links = [tag("a", str(flag), href=f"#flag-{flag}") for flag in flags]
    name = " ".join(kind for kind, yes in kinds.items() if yes)
    return tag("th" if i < table.headers else "td", cell.text, links, class_=name or None)
