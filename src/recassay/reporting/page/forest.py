"""The verdict on the page: grade, headline, and a table that is a forest plot of the mean ranks."""

from __future__ import annotations

from collections.abc import Sequence

from recassay.analysis.verdict.result import Verdict
from recassay.core.tables.labels import metric_name
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.reporting.headline import metric_row
from recassay.reporting.markup import Child, Markup, fold, tag
from recassay.reporting.numbers import even
from recassay.reporting.page.intervals import RankAxis, folded_table, legend_of_dots, unbroken
from recassay.reporting.words import verdict as verdict_words

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
        headline, leads = verdict_words.headline(verdict, words), verdict_words.first_lines(verdict, words)
        others = verdict_words.pair_lines(verdict, words)
    caution, next_step = verdict_words.caution(verdict, words), None if own else verdict_words.next_step(verdict, words)
    statement = tag(
        "div",
        None if own else tag("p", tag("span", verdict_words.GRADES[verdict.grade], class_="grade"), class_="grades"),
        tag("h2", unbroken(headline), id="verdict-title", class_="headline"),
        [tag("p", unbroken(lead), class_="lead") for lead in leads],
        _grades(verdict) if verdict.peers and not own else None,
        tag("p", tag("strong", "Caution. "), caution, class_="caution") if caution else None,
        tag("p", tag("strong", "Next. "), next_step, class_="next") if next_step else None,
        class_="statement",
    )
    parts = {
        "Why": [*others, *verdict_words.why(verdict, words)],
        "How sure": verdict_words.how_sure(verdict, words),
        "What would change it": verdict_words.what_would_change(verdict, words),
    }
    folds = [
        fold(title, tag("ul", [tag("li", unbroken(sentence)) for sentence in sentences]))
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
    unjudged = f", or not judged for missing cells ({len(verdict.not_judged)})" if verdict.not_judged else ""
    tinted = f" Tinted: {verdict.control}." if control else ""
    letters = f"{words.algorithms.capitalize()} with a common letter are not shown to differ.{tinted}"
    if verdict.interval is not None:
        drawn = f"lines are {100 * (1 - verdict.alpha):g} % intervals"
        legend = legend_of_dots(possible, count, f"shown to be behind{unjudged}; {drawn}. {letters}")
    else:
        few, none = f"Too few {words.datasets} for intervals", f"no {words.algorithm} is shown to be behind"
        behind = f"{count - possible} of {count} (not bold) are shown to be behind{unjudged}"
        legend = tag("p", f"{few}; {none if possible == count else behind}. {letters}", class_="note")
    heads = {"name": words.algorithm.capitalize(), **{kind: title for kind, (title, _) in columns.items()}}
    return folded_table(heads, rows, shown, look="forest", what=words.algorithms, legend=legend)


def _standing(verdict: Verdict, name: str) -> str:
    """The classes of a row."""
    control = " control" if name == verdict.control else ""
    if name in verdict.could_be_best:
        return f"possible{control}"
    return f"behind unjudged{control}" if name in verdict.not_judged else f"behind{control}"


def _columns(verdict: Verdict) -> dict[str, tuple[Child, list[Child]]]:
    """By the class of its cells, the heading of each column behind the names, and the cells."""
    columns: dict[str, tuple[Child, list[Child]]] = {}
    columns["mean"] = metric_name(verdict.metric), [*even(verdict.mean.tolist())]
    if verdict.interval is not None:
        axis = RankAxis(len(verdict.algorithms))
        ends = zip(verdict.mean_rank.tolist(), verdict.interval.tolist(), strict=True)
        columns["plot"] = (
            axis.labels(),
            [
                axis.interval(low, rank, high, f"mean rank {rank:.1f}, interval {low:.1f} to {high:.1f}")
                for rank, (low, high) in ends
            ],
        )
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
