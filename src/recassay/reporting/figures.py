"""The pictures of results: built by their sections, drawn as files, shown in a notebook."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from recassay.analysis.rank.result import RankResult
from recassay.core.analysis import AnalysisResult
from recassay.core.choices import MANY_ALGORITHMS, SHOWN_OF_MANY
from recassay.core.errors import UsageError
from recassay.core.names import did_you_mean
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.plots.shown import ALL, Shown
from recassay.reporting.drawing import Drawers
from recassay.reporting.files import safe_stem
from recassay.reporting.section import Figure, Section, Table
from recassay.reporting.telling import ask, failure, with_sections


class Figures(list[Figure]):
    """Pictures that a notebook shows one below the other, each with its caption; `[name]` is the one of that name."""

    @property
    def names(self) -> list[str]:
        """What the pictures are called."""
        return [figure.name for figure in self]

    def __getitem__(self, place: Any) -> Any:
        if not isinstance(place, str):
            return super().__getitem__(place)
        for figure in self:
            if figure.name == place:
                return figure
        raise UsageError(f"there is no figure {place!r}", fix=did_you_mean(place, self.names))

    def _repr_html_(self) -> str:
        return "".join(figure._repr_html_() for figure in self)


@dataclass(frozen=True, slots=True)
class FilledSection:
    """A section filled with one result: the name of its analysis, its sentences, tables and pictures.

    `files` has by name the files of a picture by format, which may still be in the making, and `not_done` what could
    not be described or drawn and why.
    """

    section: Section
    analysis: str
    result: AnalysisResult
    sentences: list[str]
    tables: list[Table]
    figures: list[Figure]
    files: Mapping[str, Future[dict[str, bytes]]]
    not_done: list[str]


def begin_drawing(
    built: Iterable[FilledSection], formats: Sequence[str], drawers: Drawers, *, without: Collection[str] = ()
) -> list[FilledSection]:
    """These sections with their pictures being drawn; one that cannot be drawn raises when its result is asked for."""
    begun = []
    for filled in built:
        figures, drawings = [], {}
        for figure in filled.figures:
            if figure.name in without:
                continue
            try:
                drawings[figure.name] = drawers.submit(figure.spec, formats)
                figures.append(figure)
            except Exception as error:
                filled.not_done.append(failure(f"the picture {figure.name!r}", error))
        begun.append(replace(filled, figures=figures, files=drawings))
    return begun


def draw_ahead(
    results: Mapping[str, AnalysisResult],
    words: Vocabulary,
    formats: Sequence[str],
    drawers: Drawers,
    *,
    without: Collection[str] = (),
) -> None:
    """Let the pictures of the last of these results be drawn while other analyses run; who asks again has them at once.

    What cannot be drawn is reported then, too.
    """
    with suppress(Exception):
        begin_drawing(build_sections(results, words, only=list(results)[-1]), formats, drawers, without=without)


def build_sections(
    results: Mapping[str, AnalysisResult], words: Vocabulary = USUAL, *, only: str | None = None
) -> Iterator[FilledSection]:
    """These results (or the one of the name `only`) in reading order with their tables and charts, none drawn yet.

    All of it is in these words; pictures of more than 60 algorithms show the first 30 and the control.
    """
    from recassay.plots.theme import colours_of

    shown = shown_of(results)
    ranked = next((result.algorithms for result in results.values() if isinstance(result, RankResult)), ())
    taken: set[str] = set()
    for section, name, result in with_sections(results if only is None else {only: results[only]}):
        not_done: list[str] = []
        sentences = ask(section, "sentences", result, not_done, words)
        tables = ask(section, "tables", result, not_done, words)
        with colours_of(ranked):
            built = ask(section, "figures", result, not_done, words, shown)
        frames = set(result.frames()) if built else set()
        figures = [figure for figure in built if _fits(figure, frames, taken, not_done)]
        yield FilledSection(section, name, result, sentences, tables, figures, {}, not_done)


def _fits(figure: Figure, frames: set[str], taken: set[str], not_done: list[str]) -> bool:
    """Whether a picture has a name of its own and names a table of its result."""
    if not isinstance(figure, Figure):
        not_done.append(f"what should be a Figure is {type(figure).__name__}")
    elif safe_stem(figure.name) in taken:
        not_done.append(f"the picture {figure.name!r} has the name of another one")
    elif figure.table not in frames:
        not_done.append(f"the picture {figure.name!r} names a table that its result does not have: {figure.table!r}")
    else:
        taken.add(safe_stem(figure.name))
        return True
    return False


def figures(results: Mapping[str, AnalysisResult], words: Vocabulary = USUAL) -> Figures:
    """The pictures of these results in reading order; a result without a section has none."""
    return Figures(figure for filled in build_sections(results, words) for figure in filled.figures)


def shown_of(results: Mapping[str, AnalysisResult]) -> Shown:
    """The algorithms that pictures of these results show: of more than 60 the first 30 and the control."""
    ranked = _best_first(results)
    if len(ranked) <= MANY_ALGORITHMS:
        return ALL
    controls = {getattr(getattr(result, "judgement", None), "control", None) for result in results.values()}
    return Shown(frozenset(ranked[SHOWN_OF_MANY:]) - controls, len(ranked))


def _best_first(results: Mapping[str, Any]) -> list[str]:
    """The algorithms by the verdict where one is among the results, else by the own order of the first that has one."""
    for result in results.values():
        verdict = getattr(result, "judgement", None)
        if verdict is not None:
            return list(verdict.algorithms)
    for result in results.values():
        order, names = getattr(result, "order", None), getattr(result, "algorithms", None)
        places = order() if callable(order) else order
        if names is not None and isinstance(places, list) and len(places) == len(names):
            return [names[place] for place in places]
    return []
