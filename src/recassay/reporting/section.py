"""What a report shows of one kind of result: a title, sentences, tables, and pictures with captions."""

from __future__ import annotations

import html
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar, get_args

from recassay.core.choices import FORMATS
from recassay.core.errors import MissingExtraError, UsageError
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.plots.shown import ALL, Shown
from recassay.reporting.numbers import writer

Part = Literal["leaderboard", "significance", "robustness", "traits", "beyond accuracy", "datasets", "cost"]
"""The parts of a report in reading order."""

PARTS: tuple[Part, ...] = get_args(Part)

T = TypeVar("T")
Column: TypeAlias = str | Callable[[Any], object]


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture: its file name, one sentence that says what it shows, the chart, and the table of its numbers.

    `drawn` is what the section drew: an Altair chart, or one of our own (`plots.grammar`), which is quicker to make;
    `table` names one of the result's `frames()`.
    """

    name: str
    caption: str
    drawn: Any
    table: str

    def __init__(self, name: str, caption: str, chart: Any, table: str) -> None:
        for field, value in {"name": name, "caption": caption, "drawn": chart, "table": table}.items():
            object.__setattr__(self, field, value)

    @property
    def chart(self) -> Any:
        """The picture as an Altair chart, to change at will; needs Altair."""
        try:
            import altair as alt
        except ModuleNotFoundError as error:
            raise MissingExtraError("altair", "altair", "an Altair chart of a picture") from error
        return alt.Chart.from_dict(self.spec)

    @property
    def spec(self) -> dict[str, Any]:
        """Its Vega-Lite specification."""
        from recassay.plots.grammar import specification

        return specification(self.drawn)

    def save(self, path: str | Path) -> Path:
        """Write the picture as its ending says: .pdf, .svg, .png, or .json for its Vega-Lite specification."""
        from recassay.core.system.files import write_whole
        from recassay.reporting.drawing import render

        target = Path(path)
        form = target.suffix.removeprefix(".").lower()
        if form not in FORMATS:
            raise UsageError(f"{target.name} has no known ending", fix=f"end it with one of .{', .'.join(FORMATS)}")
        write_whole(target, render(self.drawn, form), sync=False)
        return target

    def _repr_html_(self) -> str:
        from recassay.reporting.drawing import render

        drawn = render(self.drawn, "svg").decode()
        return f"<figure>{drawn}<figcaption>{html.escape(self.caption)}</figcaption></figure>"


@dataclass(frozen=True, slots=True)
class Table:
    """A table as people read it, on a terminal, a page or in a notebook: its cells are text already.

    `header` lists the headings of rows of cells; or it has, under each heading, how a record writes its cell: a
    template over its fields (`numbers.writer`) or a function. Then `rows` are such records.

    A cell that is not text is written by `str`, None as nothing. The first `names` columns hold words: they stand on
    the left and may be wrapped, while numbers never are. On a narrow terminal whole columns are left out: `important`
    names headings, the most important first; the others go before them, the last first, and the first column stays.
    A terminal shows the first `most` rows and counts the others. `notes` stand below.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int = 1
    important: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    most: int | None = None

    def __init__(
        self,
        title: str,
        header: Iterable[str] | Mapping[str, Column],
        rows: Iterable[Any],
        *,
        names: int = 1,
        important: Iterable[str] = (),
        notes: Iterable[str] = (),
        most: int | None = None,
    ) -> None:
        if isinstance(header, Mapping):
            columns = [writer(column) if isinstance(column, str) else column for column in header.values()]
            rows = [[write(record) for write in columns] for record in rows]
        header = tuple(header)
        cells = tuple(tuple("" if cell is None else str(cell) for cell in row) for row in rows)
        if any(len(row) != len(header) for row in cells):
            raise ValueError(f"the table {title!r} has rows that do not fit its {len(header)} columns")
        fields = {"title": title, "header": header, "rows": cells, "names": names, "important": tuple(important)}
        for name, value in {**fields, "notes": tuple(notes), "most": most}.items():
            object.__setattr__(self, name, value)

    def left_out_first(self) -> list[int]:
        """The columns that may be left out, the least important first."""
        rank = {heading: place for place, heading in enumerate(self.important)}
        droppable = range(1, len(self.header))
        return sorted(droppable, key=lambda i: (rank.get(self.header[i], len(rank)), i), reverse=True)


@dataclass(frozen=True, slots=True)
class Brief:
    """What a reader sees first: one headline, one table, a few sentences; everything else is asked for.

    `marked` are the names in the first column of the table that stand out. `sentences` follow the headline, the most
    important first; those that do not fit are shown to readers who ask for everything.
    """

    headline: str
    table: Table | None = None
    marked: frozenset[str] = frozenset()
    sentences: tuple[str, ...] = ()
    caution: str | None = None
    next_step: str | None = None


Worded: TypeAlias = Callable[..., T]
"""What makes texts or pictures of a result.

It takes the result, and where it has a place for them `words`, those of its table, and `shown`, the algorithms that
pictures show.
"""


def takes(maker: Worded[T], name: str) -> bool:
    """Whether a function has a place for an argument."""
    return name in inspect.signature(maker).parameters


def made(maker: Worded[T], result: Any, words: Vocabulary, shown: Shown = ALL) -> T:
    """What a function makes of a result, with those of `words` and `shown` for which it has a place."""
    given = {"words": words, "shown": shown}
    return maker(result, **{name: value for name, value in given.items() if takes(maker, name)})


def always(result: Any) -> bool:
    """For figures that every result has."""
    return True


@dataclass(frozen=True, slots=True)
class Plot:
    """The figure that every result of a kind has, stated before there is one: its name, caption, table and drawing.

    The caption is a text with places for the words of the table (`{datasets}`), or a function that words it for a
    result. The table has the name of the figure unless another is given. The figure is left out where `when` does not
    hold. A drawing that takes `shown` shows those algorithms alone, and its caption says so.
    """

    name: str
    caption: str | Worded[str]
    draw: Worded[Any]
    table: str = ""
    when: Callable[[Any], object] = always

    def __call__(self, result: Any, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
        """The chart alone."""
        return made(self.draw, result, words, shown)

    def figure(self, result: Any, words: Vocabulary = USUAL, shown: Shown = ALL) -> Figure:
        """The figure of a result."""
        caption = words.filled(self.caption) if isinstance(self.caption, str) else made(self.caption, result, words)
        note = shown.note(words) if takes(self.draw, "shown") else ""
        return Figure(self.name, caption + note, self(result, words, shown), self.table or self.name)


def plot(
    name: str,
    caption: str | Worded[str],
    *,
    table: str = "",
    when: Callable[[Any], object] = always,
) -> Callable[[Worded[Any]], Plot]:
    """Make a function that draws a chart the plot of a section: `@plot("ratings", "Ratings with intervals.")`."""
    return lambda draw: Plot(name, caption, draw, table, when)


class Plots(tuple[Plot, ...]):
    """The plots of a section in reading order."""

    __slots__ = ()

    def __call__(self, result: Any, words: Vocabulary = USUAL, shown: Shown = ALL) -> list[Figure]:
        """The figures of a result."""
        return [plot.figure(result, words, shown) for plot in self if plot.when(result)]


def nothing(result: Any) -> list[Any]:
    """For results that have no sentences, no tables or no figures."""
    return []


def nobody(result: Any) -> None:
    """For results that put no algorithm first in the metric, or whose first sentences and table are their brief."""


@dataclass(frozen=True, slots=True)
class Section:
    """How results of the type `of` are shown.

    A section of ours stands in `reporting/sections/` in the file with the word of its analysis; a plugin announces its
    own in the entry-point group `recassay.sections`.

    `sentences` say what they support, `tables` show their numbers, `figures` draw them; `brief` is what a terminal and
    a notebook show first. These take the result and, as `words`, the words of its table; `figures` also takes, as
    `shown`, the algorithms to show. `title` has places for the words (`{datasets}`). `leader` names the algorithm that
    the result puts first in the metric, so that a verdict can say where results disagree. `page` is the page of the
    documentation that defines what is shown. Sections are read by `part`, and within it by rising `order`.
    """

    of: type
    title: str
    part: Part
    page: str
    figures: Worded[Iterable[Figure]] = nothing
    sentences: Worded[Iterable[str]] = nothing
    tables: Worded[Iterable[Table]] = nothing
    order: int = 100
    leader: Callable[[Any], str | None] = nobody
    brief: Worded[Brief | None] = nobody

    def __post_init__(self) -> None:
        if not isinstance(self.of, type):
            raise ValueError(f"the section {self.title!r} tells no type of result: {self.of!r}")
        if self.part not in PARTS:
            raise ValueError(f"the section {self.title!r} names no part of a report: {self.part!r}; use one of {PARTS}")
        if isinstance(self.order, bool) or not isinstance(self.order, int):
            raise ValueError(f"the section {self.title!r} has the order {self.order!r}, which is not a whole number")

    @property
    def plots(self) -> Sequence[Plot]:
        """The figures that its results may have; none are known where a function of its own makes them."""
        return self.figures if isinstance(self.figures, Plots) else ()
