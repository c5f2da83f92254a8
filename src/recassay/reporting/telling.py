"""What results say: each is asked through its sections, in reading order.

A result of ours from `analysis/WORD` is presented by the sections of `sections/WORD.py`; a plugin announces its
sections by entry points. Where a plugin's section fails, the others are shown, and the failure with them.
"""

from __future__ import annotations

import html
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Literal

from recassay.analysis.rank.result import RankResult
from recassay.core import registry
from recassay.core.analysis import AnalysisResult
from recassay.core.system.display import rows_html, summary_line, table_html
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import listing
from recassay.plots.shown import ALL, Shown
from recassay.reporting import sections as own_rooms
from recassay.reporting import words as own_words
from recassay.reporting.section import PARTS, Brief, Figure, Section, Table, made
from recassay.reporting.tables import shown

OURS = "recassay.analysis."

MOST_SENTENCES = 4
"""Sentences of a brief, the headline among them."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What results say: first `brief`, and everything in sentences and tables; `not_done` is what failed, and why."""

    sentences: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    not_done: tuple[str, ...] = ()
    brief: Brief | None = None

    def _repr_html_(self) -> str:
        return answer_html([*self.sentences, *(f"Not done: {reason}" for reason in self.not_done)], self.tables)


def answer_html(sentences: Iterable[str], tables: Iterable[Table]) -> str:
    """Sentences as a list, and tables with their notes below; everything is escaped."""
    items = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in sentences)
    below = "".join(
        rows_html(table.title, table.header, table.rows)
        + "".join(f"<p>{html.escape(note)}</p>" for note in table.notes)
        for table in tables
    )
    return (f"<ul>{items}</ul>" if items else "") + below


@cache
def _sections_of_word(word: str) -> dict[str, Section]:
    """The sections in the file of that word: `SECTION` has the word as its name, any other its own word behind it."""
    stated = vars(import_module(f"{own_rooms.__name__}.{word}"))
    return {
        word if name == "SECTION" else f"{word}_{name.lower()}": section
        for name, section in stated.items()
        if isinstance(section, Section)
    }


@cache
def _own_words() -> frozenset[str]:
    return frozenset(module.name for module in pkgutil.iter_modules(own_rooms.__path__))


def own_sections() -> dict[str, Section]:
    """Every section of ours by name."""
    return {name: section for word in sorted(_own_words()) for name, section in _sections_of_word(word).items()}


def figures_by_analysis(words: Iterable[str]) -> dict[str, list[str]]:
    """By the word of an analysis of ours, the names of the figures that its results may have."""
    return {
        word: [plot.name for section in _sections_of_word(word).values() for plot in section.plots]
        for word in words
        if word in _own_words()
    }


def plugin_sections() -> tuple[dict[str, Section], dict[str, str]]:
    """The announced sections by name, and by name why some cannot be used."""
    loaded, problems = registry.sections.loadable()
    for name in registry.sections.names():  # the metadata of an editable installation may be older than its code
        entry = registry.sections.announcement(name)
        if entry is not None and entry.value.startswith(f"{own_rooms.__name__}."):
            loaded.pop(name, None)
            problems.pop(name, None)
    usable = {name: section for name, section in loaded.items() if isinstance(section, Section)}
    return usable, problems | {name: "what it announces is not a Section" for name in loaded.keys() - usable.keys()}


def sections() -> tuple[list[Section], dict[str, str]]:
    """Every section, ours and plugins', in reading order; and by name why some cannot be used."""
    announced, problems = plugin_sections()
    return sorted([*own_sections().values(), *announced.values()], key=_place), problems


def _place(section: Section) -> tuple[int, int, str]:
    return PARTS.index(section.part), section.order, section.title


def _words(result: Any) -> set[str]:
    """The words of the analyses in which the type of a result and its bases stand."""
    modules = (base.__module__ for base in type(result).__mro__)
    return {module.removeprefix(OURS).partition(".")[0] for module in modules if module.startswith(OURS)}


def sections_of(result: Any) -> list[Section]:
    """The sections that tell a result, in reading order."""
    candidates = [section for word in _words(result) & _own_words() for section in _sections_of_word(word).values()]
    candidates += plugin_sections()[0].values()
    return sorted((section for section in candidates if isinstance(result, section.of)), key=_place)


def with_sections(results: Mapping[str, AnalysisResult]) -> Iterator[tuple[Section, str, AnalysisResult]]:
    """Each result with its name and a section that tells it, in reading order; one without a section is left out."""
    pairs = [(section, name) for name, result in results.items() for section in sections_of(result)]
    for section, name in sorted(pairs, key=lambda pair: _place(pair[0])):
        yield section, name, results[name]


Asked = Literal["sentences", "tables", "figures", "brief", "leader"]


def ask(
    section: Section,
    what: Asked,
    result: Any,
    not_done: list[str],
    words: Vocabulary = USUAL,
    shown: Shown = ALL,
) -> Any:
    """What a section gives of a result; where a plugin's function raises, nothing, and `not_done` gets the reason."""
    try:
        given = made(getattr(section, what), result, words, shown)
        return given if what in ("brief", "leader") else list(given)
    except (Exception, SystemExit) as error:
        if section in own_sections().values():  # a bug of ours must not look like a result without words
            raise
        not_done.append(failure(f"the {what} of the section {section.title!r}", error))
        return []


def failure(what: str, error: BaseException) -> str:
    """What failed and why, in one line."""
    return " ".join(f"{what} failed with {type(error).__name__}: {error}".split())


def answer(results: Mapping[str, AnalysisResult], words: Vocabulary = USUAL) -> Answer:
    """The sentences and tables of these results in reading order; one without a section shows its main table."""
    sentences: list[str] = []
    tables: list[Table] = []
    not_done: list[str] = []
    with_section = set()
    briefs: list[Brief | None] = []
    for section, name, result in with_sections(results):
        sentences += ask(section, "sentences", result, not_done, words)
        tables += ask(section, "tables", result, not_done, words)
        briefs.append(ask(section, "brief", result, not_done, words))
        with_section.add(name)
    tables += [main_table(result, words) for name, result in results.items() if name not in with_section]
    brief = next(filter(None, briefs), None) or _brief(sentences, tables)
    return Answer(tuple(sentences), tuple(tables), tuple(not_done), brief)


def _brief(sentences: Sequence[str], tables: Sequence[Table]) -> Brief | None:
    """The first sentence as the headline, the first table, and the sentences that follow."""
    if not sentences and not tables:
        return None
    headline = sentences[0] if sentences else tables[0].title
    return Brief(headline, tables[0] if tables else None, sentences=tuple(sentences[1:MOST_SENTENCES]))


def main_table(result: AnalysisResult, words: Vocabulary = USUAL) -> Table:
    """The main frame of a result that no section tells, for people."""
    frame = result.to_frame()
    rows = [[shown(value) for value in row] for row in frame.iter_rows()]
    return Table(summary_line(result), map(words.heading, frame.columns), rows, most=50)


def wording(word: str, text: str) -> Callable[[Any], Any]:
    """What makes a text of the results of `analysis/WORD`: the function of that name in `words/WORD.py`."""
    maker: Callable[[Any], Any] = getattr(import_module(f"{own_words.__name__}.{word}"), text)
    return maker


def result_headline(result: Any) -> str:
    """The headline of one result, where its sections give one."""
    whole = answer({"result": result}) if sections_of(result) else Answer()
    return whole.brief.headline if whole.brief is not None and whole.sentences else ""


def result_sentences(result: Any) -> list[str]:
    """The sentences of one result, and what a plugin's section failed with."""
    not_done: list[str] = []
    sentences = [line for section in sections_of(result) for line in ask(section, "sentences", result, not_done)]
    return [*sentences, *(f"Not done: {reason}." for reason in not_done)]


def result_figures(result: Any) -> dict[str, Figure]:
    """The figures of one result by name."""
    return {figure.name: figure for section in sections_of(result) for figure in made(section.figures, result, USUAL)}


def result_html(result: Any) -> str:
    """One result in a notebook: the headline, the table, the first picture as SVG, and what follows."""
    if not sections_of(result):
        return table_html(result.to_frame(), summary_line(result))
    whole = answer({"result": result})
    figures = [figure for section in sections_of(result) for figure in ask(section, "figures", result, [])]
    brief = whole.brief
    failed = [f"Not done: {reason}" for reason in whole.not_done]
    picture = figures[0]._repr_html_() if figures else ""
    if brief is None:
        return answer_html(failed, ()) + table_html(result.to_frame(), summary_line(result)) + picture
    following = [brief.caution and f"Caution: {brief.caution}", brief.next_step and f"Next: {brief.next_step}"]
    sentences = [*brief.sentences, *filter(None, following), *failed]
    return (
        f"<p><strong>{html.escape(brief.headline)}</strong></p>"
        + answer_html((), [_undrawn(brief.table)] if brief.table is not None else [])
        + picture
        + answer_html(sentences, ())
    )


def _undrawn(table: Table) -> Table:
    """A table without the columns that are drawn in characters: a page has a picture, and other letters."""
    kept = [i for i in range(len(table.header)) if not any("●" in row[i] for row in table.rows)]
    rows = [[row[i] for i in kept] for row in table.rows]
    return Table(table.title, [table.header[i] for i in kept], rows, names=table.names, notes=table.notes)


def verdict(
    results: Mapping[str, AnalysisResult], not_done: dict[str, str] | None = None, words: Vocabulary = USUAL
) -> list[str]:
    """The sentences of every result that has any, in reading order; none is said twice.

    Every sentence about the winner speaks of the algorithm with the best mean rank; where another result puts another
    one first, a sentence after the verdict says so. `not_done` gets, by the name of a section or an analysis, why it
    says nothing where it fails.
    """
    failed: dict[str, str] = {} if not_done is None else not_done
    failed |= plugin_sections()[1]
    lines: list[str] = []
    for section, name, result in with_sections(results):
        problems: list[str] = []
        sentences = [line for line in ask(section, "sentences", result, problems, words) if line not in lines]
        lines += sentences
        if sentences and isinstance(result, RankResult):
            first = _leaders(results)
            leader_by_rank = next(leader for other, _, leader in first if other.of is RankResult)
            others = [
                f"{leader} ({words.filled(other.title).lower()})"
                for other, _, leader in first
                if leader != leader_by_rank
            ]
            if others:
                named = listing(others, most=None)
                lines.append(f"Not every way to judge puts {leader_by_rank} first; others put there: {named}.")
        if problems:
            failed[name] = problems[0]
    return lines


def leaders(results: Mapping[str, AnalysisResult]) -> dict[str, str]:
    """By the name of an analysis, the algorithm that it puts first in the metric."""
    return {name: leader for _, name, leader in _leaders(results)}


def _leaders(results: Mapping[str, AnalysisResult]) -> list[tuple[Section, str, str]]:
    """A plugin's that fails is left out: its sentences fail likewise, and that is reported."""
    first = [(section, name, ask(section, "leader", result, [])) for section, name, result in with_sections(results)]
    return [(section, name, leader) for section, name, leader in first if leader]
