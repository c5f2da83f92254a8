"""The words of a table in everything that is told of it: models on the instances of tasks where it says so.

Sentences are written about algorithms, datasets and users. Here, once, they get the words of the table.
Names are never changed, even those that contain one of the words.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import replace

from recassay.core.tables.results import Results
from recassay.reporting.section import Brief, Table
from recassay.reporting.telling import Answer

USUAL = ("algorithm", "dataset")
_WORD = re.compile(r"(?<![-\w`/.=])(an? )?(algorithm|dataset|user)(s?)(?![-\w=`])", re.IGNORECASE)
_KEPT = re.compile(r"(<(?:script|style)\b.*?</(?:script|style)>|<[^>]*>)", re.DOTALL)


def speaker(results: Results) -> Callable[[str], str]:
    """A function that says a text in the words of the table."""
    if results.words == USUAL:
        return lambda text: text
    words = dict(zip(USUAL, results.words, strict=True)) | {"user": "instance"}
    names = {name for kind in (results.algorithms, results.datasets, results.metrics) for name in kind}
    odd = sorted({form for name in names if _WORD.search(name) for form in (name, html.escape(name))}, key=len)
    parts = [re.escape(name) for name in reversed(odd)]
    pattern = re.compile("|".join([*(f"(?:{part})" for part in parts), f"(?P<word>{_WORD.pattern})"]), re.IGNORECASE)

    def spoken(match: re.Match[str]) -> str:
        if match["word"] is None:
            return match[0]
        article, word, plural = _WORD.fullmatch(match["word"]).groups()  # type: ignore[union-attr]
        new = words[word.lower()]
        noun = f"{new}{plural}" if word.islower() else f"{new.capitalize()}{plural}"
        return f"{article[0]}{'n' if new[0] in 'aei' else ''} {noun}" if article else noun

    return lambda text: pattern.sub(spoken, text)


def spoken_answer(answer: Answer, results: Results) -> Answer:
    """An answer in the words of the table."""
    say = speaker(results)
    brief = answer.brief and spoken_brief(answer.brief, results)
    tables = tuple(_table(table, say) for table in answer.tables)
    return Answer(tuple(map(say, answer.sentences)), tables, tuple(map(say, answer.not_done)), brief)


def spoken_brief(brief: Brief, results: Results) -> Brief:
    """The same of what a reader sees first."""
    say = speaker(results)
    return replace(
        brief,
        headline=say(brief.headline),
        table=brief.table and _table(brief.table, say),
        sentences=tuple(map(say, brief.sentences)),
        caution=brief.caution and say(brief.caution),
        next_step=brief.next_step and say(brief.next_step),
    )


def spoken_page(page: str, results: Results) -> str:
    """The same of a page: what stands between its tags."""
    if results.words == USUAL:
        return page
    say = speaker(results)
    return "".join(piece if at % 2 else say(piece) for at, piece in enumerate(_KEPT.split(page)))


def _table(table: Table, say: Callable[[str], str]) -> Table:
    return Table(
        say(table.title), map(say, table.header), table.rows, names=table.names,
        important=map(say, table.important), notes=map(say, table.notes), most=table.most,
    )  # fmt: skip
