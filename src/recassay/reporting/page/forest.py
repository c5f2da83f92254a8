"""The verdict on the page: grade, headline, and a table that is a forest plot of the mean ranks."""

from __future__ import annotations

from collections.abc import Sequence

from recassay.analysis.verdict.result import Verdict
from recassay.core.tables.labels import metric_name
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.reporting.headline import metric_row
from recassay.reporting.markup import Child, Markup, fold, tag
from recassay.reporting.numbers import even
from recassay.reporting.words import verdict as told

MOST_ROWS = 12
"""Algorithms on the first screen; further ones are folded, unless they could be best."""

MOST_LETTERS = 6
"""Letters of groups that a cell shows."""


def verdict_card(verdict: Verdict, words: Vocabulary = USUAL, own: Sequence[str] = ()) -> Markup:
    """The first screen: what is known on the left, the mean ranks with their intervals on the right.

    The grade speaks of the whole field; a page about one algorithm shows its `own` headline and sentences instead.
    """
    if own:
        headline, leads, others = own[0], list(own[1:2]), list(own[2:])
    else:
        headline, leads = told.headline(verdict, words), told.first_lines(verdict, words)
        others = told.pair_lines(verdict, words)
    caution, next_step = told.caution(verdict, words), None if own else told.next_step(verdict, words)
    statement = tag(
        "div",
        tag("p", tag("span", told.GRADES[verdict.grade], class_="grade"), class_="grades") if not own else None,
        tag("h2", _together(headline), id="verdict-title", class_="headline"),
        [tag("p", _together(lead), class_="lead") for lead in leads],
        _grades(verdict) if verdict.peers and not own else None,
        tag("p", tag("strong", "Caution. "), caution, class_="caution") if caution else None,
        tag("p", tag("strong", "Next. "), next_step, class_="next") if next_step else None,
        class_="statement",
    )
    parts = {
        "Why": [*others, *told.why(verdict, words)],
        "How sure": told.how_sure(verdict, words),
        "What would change it": told.what_would_change(verdict, words),
    }
    folds = [
        fold(title, tag("ul", [tag("li", _together(sentence)) for sentence in sentences]))
        for title, sentences in parts.items()
        if sentences
    ]
    return tag(
        "section",
        tag("div", statement, forest(verdict, words) if verdict.grade != "not_comparable" else None, class_="first"),
        tag("div", folds, class_="folds") if folds else None,
        id="verdict",
        class_=verdict.grade.replace("_", "-"),
        aria_labelledby="verdict-title",
    )


def _grades(verdict: Verdict) -> Markup:
    """One row per metric: its grade, who leads, and who could be best."""
    heads = tag("tr", [tag("th", title, scope="col") for title in ("Metric", "Grade", "Leader", "Could be best")])
    rows = [
        tag("tr", tag("th", metric, scope="row"), [tag("td", cell) for cell in cells])
        for metric, *cells in map(metric_row, verdict.graded())
    ]
    return tag("table", tag("thead", heads), tag("tbody", rows), class_="by-metric")


def _together(text: str) -> str:
    """A number and its sign of percent on one line."""
    return text.replace(" %", "\u00a0%")


def forest(verdict: Verdict, words: Vocabulary = USUAL) -> Markup:
    """One row per algorithm, the best mean rank first; those that could be best stand out by weight and filled dot."""
    last = max((verdict.algorithms.index(name) for name in verdict.could_be_best), default=0) + 1
    first = max(MOST_ROWS, last if last <= MOST_ROWS + 4 else MOST_ROWS)
    columns = _columns(verdict)
    rows = [
        tag("tr", tag("th", name, scope="row", class_="name", title=name),
            [_cell(kind, cells[place]) for kind, (_, cells) in columns.items()],
            class_=_standing(verdict, name), data_name=name)
        for place, name in enumerate(verdict.algorithms)
    ]  # fmt: skip
    control = [] if verdict.control is None else [verdict.algorithms.index(verdict.control)]
    shown = [*range(min(first, len(rows))), *(place for place in control if place >= first)]
    count, possible = len(rows), len(verdict.could_be_best)
    level = f"{100 * (1 - verdict.alpha):g} %"
    drawn = (
        f"lines are {level} intervals" if verdict.interval is not None else f"too few {words.datasets} for intervals"
    )
    unjudged = f", or not judged for missing cells ({len(verdict.not_judged)})" if verdict.not_judged else ""
    legend = tag(
        "p",
        tag("span", "●", class_="possible", aria_hidden="true"),
        f" could be best ({possible} of {count}) ",
        tag("span", "○", class_="behind", aria_hidden="true"),
        f" shown to be behind{unjudged}; {drawn}. "
        f"{words.algorithms.capitalize()} with a common letter are not shown to differ.",
        class_="note",
    )
    heads = {"name": words.algorithm.capitalize(), **{kind: title for kind, (title, _) in columns.items()}}
    head = tag("thead", tag("tr", [tag("th", title, scope="col", class_=kind) for kind, title in heads.items()]))
    table = tag("table", head, tag("tbody", [rows[place] for place in shown]), class_="forest")
    others = [row for place, row in enumerate(rows) if place not in shown]
    further = tag("table", head, tag("tbody", others), class_="forest")
    rest = fold(f"{len(others)} more {words.algorithms}", further) if others else None
    return tag("figure", table, rest, tag("figcaption", legend), class_="forest-plot")


def _standing(verdict: Verdict, name: str) -> str:
    """The classes of a row."""
    if name in verdict.could_be_best:
        return "possible"
    return "behind unjudged" if name in verdict.not_judged else "behind"


def _columns(verdict: Verdict) -> dict[str, tuple[Child, list[Child]]]:
    """By the class of its cells, the heading of each column behind the names, and the cells."""
    count = len(verdict.algorithms)
    columns: dict[str, tuple[Child, list[Child]]] = {}
    columns["mean"] = metric_name(verdict.metric), [*even(verdict.mean.tolist())]
    if verdict.interval is not None:
        labels = [tag("span", str(rank), style=f"left:{_place(rank, count)}") for rank in _ticks(count)]
        ends = zip(verdict.mean_rank.tolist(), verdict.interval.tolist(), strict=True)
        bars: list[Child] = [_bar(low, rank, high, count) for rank, (low, high) in ends]
        columns["plot"] = tag("span", labels, class_="axis", aria_hidden="true"), bars
    columns["rank"] = "Mean rank", [f"{rank:.1f}" for rank in verdict.mean_rank]
    letters = zip(verdict.algorithms, verdict.groups, strict=True)
    columns["groups"] = "Groups", ["not judged" if name in verdict.not_judged else letter for name, letter in letters]
    if verdict.leads_again is not None:
        columns["again"] = "Leads again", [f"{chance:.2f}" for chance in verdict.leads_again]
    return columns


def _cell(kind: str, content: Child) -> Markup:
    """A cell; many letters of groups are cut, and stand whole in the tip."""
    if kind == "groups" and isinstance(content, str) and len(content) > MOST_LETTERS and " " not in content:
        return tag("td", f"{content[: MOST_LETTERS - 1]}…", class_=kind, title=content)
    return tag("td", content, class_=kind)


def _place(rank: float, count: int) -> str:
    """Where a rank lies on the axis from 1 to `count`, with room for half a dot at both ends."""
    return f"{2 + 96 * (rank - 1) / max(count - 1, 1):.2f}%"


def _ticks(count: int) -> list[int]:
    """The ranks that the axis names: both ends and at most two between them."""
    step = max(1, -(-(count - 1) // 3))
    inner = [rank for rank in range(1 + step, count, step) if count - rank >= 0.7 * step]
    return [1, *inner, count] if count > 1 else [1]


def _bar(low: float, value: float, high: float, count: int) -> Markup:
    left, point, right = (_place(end, count) for end in (low, value, high))
    grid = [
        tag("line", x1=_place(r, count), x2=_place(r, count), y1="0", y2="100%", class_="grid") for r in _ticks(count)
    ]
    label = f"mean rank {value:.1f}, interval {low:.1f} to {high:.1f}"
    marks = [
        tag("line", x1=left, x2=right, y1="50%", y2="50%", class_="span"),
        tag("circle", cx=point, cy="50%", r="5", class_="dot"),
    ]
    return tag("svg", tag("title", label), grid, marks, role="img", aria_label=label, class_="interval")
