"""The sentences of a paper: of its abstract, its text and its captions. Names of authors are not among them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from recassay.core.tables.printed import Passage
from recassay.data.papers.cells import plain_text
from recassay.data.papers.source import Budget, without
from recassay.data.tables.latex import arguments

MOST_SENTENCES = 4_000
_ABSTRACT = re.compile(r"\\begin\{abstract\}|\\abstract\s*(?=\{)")
_END = re.compile(r"\\(?:bibliography|printbibliography|begin\{thebibliography\}|section\*?\{Acknowledg)")
_ENVIRONMENTS = re.compile(
    r"\\begin\{((?:table|figure|tabular|equation|align|gather|algorithm|algorithmic|array|tikzpicture|eqnarray|"
    r"displaymath)[a-zA-Z]*\*?)\}|\\\[|\$\$"
)
_ABOUT = re.compile(
    r"\\(?:author|affiliation|email|institution|thanks|title|date|address|keywords|ccsdesc|orcid)\*?(?:\[[^\]]*\])?\s*\{(?:[^{}]|\{[^{}]*\})*\}"
)
_HEADING = re.compile(
    r"\\(?:sub)*section\*?\{[^{}]*\}|\\paragraph\*?\{[^{}]*\}|\\(?:begin|end)\{[^{}]*\}(?:\[[^\]]*\])?|\\item\b(?:\[[^\]]*\])?|\n\s*\n"
)
_SENTENCE = re.compile(
    r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bet al\.)(?<!\bvs\.)(?<!\bTab\.)(?<!\bFig\.)(?<!\bresp\.)\s+(?=[A-Z\"(])"
)


def passages(text: str, captions: Sequence[tuple[int, str]], budget: Budget) -> Iterator[Passage]:
    """The sentences in the order abstract, captions, text; at most so many."""
    begun = text.partition(r"\begin{document}")
    body = begun[2] or begun[0]
    parts = [(f"caption of table {number}", caption) for number, caption in captions]
    found = _ABSTRACT.search(text)
    if found is not None:
        end = text.find(r"\end{abstract}", found.end())
        groups = [text[found.end() : end]] if end >= 0 else arguments(text[found.end() :], 0, most=1)[0]
        parts[:0] = [("abstract", group) for group in groups]
        body = body.replace(groups[0], " ") if groups and groups[0] else body
    ending = _END.search(body)
    parts.append(("text", body[: ending.start()] if ending else body))
    count = 0
    for place, part in parts:
        if place == "text":
            part = without(part, _ENVIRONMENTS, lambda m: f"\\end{{{m[1]}}}" if m[1] else m[0].replace("[", "]"))
        for piece in _HEADING.split(_ABOUT.sub(" ", part)):
            budget.take(0)
            for sentence in _SENTENCE.split(plain_text(piece)) if piece.strip() else ():
                if len(sentence) > 15 and count < MOST_SENTENCES:
                    count += 1
                    yield Passage(sentence[:1000], place)
