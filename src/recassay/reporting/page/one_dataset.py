"""The first screen of a page about one dataset: who is best, by how much, at what cost, and who gains and who loses."""

from __future__ import annotations

from collections.abc import Sequence

from recassay.analysis.users.result import DatasetUsers, Gain, UsersResult
from recassay.core import columns as c
from recassay.core.tables.labels import metric_name
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.reporting.content import ReportContent
from recassay.reporting.markup import Child, Markup, tag
from recassay.reporting.numbers import even, even_uplifts
from recassay.reporting.page.cautions import cautions
from recassay.reporting.page.intervals import Axis, folded_table, heading_row, legend_of_dots, unbroken
from recassay.reporting.page.scatter import Point, scatter
from recassay.reporting.words import users as user_words

MOST_ROWS = 12
"""Algorithms on the first screen; further ones are folded."""

MOST_POINTS = 24
"""Algorithms in the small pictures of cost."""


def users_card(content: ReportContent, result: UsersResult) -> Markup:
    """The first screen: what is known on the left, the means with their intervals on the right, and cost below."""
    users, words = result.datasets[0], content.words
    *lines, scope = user_words.lines(users, result, words)
    caution = next((f"{title}: {text}" for title, text in cautions(content)), None)
    statement = tag(
        "div",
        tag("h2", unbroken(user_words.headline(users, result, words)), id="verdict-title", class_="headline"),
        [tag("p", unbroken(line), class_="lead") for line in lines],
        tag("p", unbroken(scope), class_="scope"),
        tag("p", tag("strong", "Caution. "), unbroken(caution), class_="caution") if caution else None,
        class_="statement",
    )
    return tag(
        "section",
        tag("div", statement, means_picture(users, result, words), class_="first"),
        _costs(content, users, result),
        _gains(users, result, words),
        id="verdict",
        aria_labelledby="verdict-title",
    )


def means_picture(users: DatasetUsers, result: UsersResult, words: Vocabulary = USUAL) -> Markup:
    """One row per algorithm: its mean, drawn with its interval, and its uplift over the reference, which is marked."""
    axis = Axis.around([*users.low, *users.high])
    reference = None if users.reference is None else users.algorithms.index(users.reference.name)
    base = None if reference is None else users.means[reference]
    metric = metric_name(result.metric)
    heads = {"name": words.algorithm.capitalize(), "mean": metric, "plot": axis.labels()}
    columns: list[list[Child]] = [
        list(even(users.means)),
        [
            axis.interval(low, mean, high, _interval_text(metric, mean, low, high), base)
            for low, mean, high in zip(users.low, users.means, users.high, strict=True)
        ],
    ]
    if users.reference is not None and any(uplift is not None for uplift in users.uplifts):
        heads |= {"uplift": f"Over {users.reference.name}", "limits": "Interval, %"}
        shares, ends = even_uplifts(None if u is None else (u.share, u.low, u.high) for u in users.uplifts)
        # On a narrow screen the interval stands below its uplift, and has no column.
        columns.append([[share, tag("small", limits)] for share, limits in zip(shares, ends, strict=True)])
        columns[2][users.algorithms.index(users.reference.name)] = "reference"
        columns.append(list(ends))
    best, kinds = users.could_be_best(), [kind for kind in heads if kind != "name"]
    rows = [
        tag("tr", tag("th", name, scope="row", class_="name", title=name),
            [tag("td", column[place], class_=kind) for kind, column in zip(kinds, columns, strict=True)],
            class_=f"{'possible' if name in best else 'behind'}{' reference' if place == reference else ''}",
            data_name=name)
        for place, name in enumerate(users.algorithms)
    ]  # fmt: skip
    shown = [*range(min(MOST_ROWS, len(rows)))]
    shown += [reference] if reference is not None and reference >= MOST_ROWS else []
    look = "forest means" if "uplift" in heads else "forest means plain"
    dashed = f"; the dashed line is the reference, {users.reference.name}" if users.reference is not None else ""
    legend = legend_of_dots(
        len(best),
        len(rows),
        f"significantly worse than another. Lines are {100 * result.confidence:g} % intervals over "
        f"{users.users:,} {words.users}, each by itself{dashed}.",
    )
    return folded_table(heads, rows, shown, look=look, what=words.algorithms, legend=legend)


def _interval_text(what: str, value: float, low: float, high: float) -> str:
    return f"{what} {value:.4g}, interval {low:.4g} to {high:.4g}"


COSTS = (
    ("seconds_fit", "seconds to train", False),
    ("seconds_predict", "users served per second", True),
    ("memory", "memory, MB", False),
)
"""By metric of cost, the title of its panel, and whether it is a speed: lists per second of what it took."""


def _costs(content: ReportContent, users: DatasetUsers, result: UsersResult) -> Markup | None:
    """Accuracy against cost: a small panel for each kind of cost that the table has."""
    best, panels = users.could_be_best(), []
    names = users.algorithms[:MOST_POINTS]
    for metric, title, speed in COSTS:
        label = next((label for label in content.results.metrics if label.partition("@")[0] == metric), None)
        if label is None:
            continue
        taken = dict(content.results.cells(label).select(c.ALGORITHM, c.VALUE).iter_rows())
        judged = users.users + users.left_out
        points = [
            Point(name, judged / spent if speed else spent, mean, name in best)
            for name, mean in zip(names, users.means, strict=False)
            if (spent := taken.get(name)) is not None and spent > 0
        ]
        if len(points) > 1:
            panels.append(scatter(points, across=title, up=metric_name(result.metric), right_is_better=speed))
    if not panels:
        return None
    caption = "Accuracy against cost: the best of both lies where the arrow points. Scales of cost are logarithmic."
    return tag(
        "figure",
        tag("div", panels, class_="panels"),
        tag("figcaption", tag("p", caption, class_="note")),
        class_="cost",
    )


def _gains(users: DatasetUsers, result: UsersResult, words: Vocabulary) -> Markup | None:
    """Who gains and who loses: a small table of differences by activity, and one by popularity."""
    panels = []
    for by, title, of, value in (
        ("activity", f"By activity of {words.users}", "training events", metric_name(result.metric)),
        ("popularity", "By popularity of items", "training users", "share of held-out events found"),
    ):
        of_kind = [gain for gain in users.gains if gain.by == by]
        if of_kind:
            panels.append(_gains_table(of_kind, title, of, value))
    if not panels:
        return None
    first = users.gains[0]
    sentences = tag("ul", [tag("li", unbroken(line)) for line in user_words.gains(users, result, words)])
    caption = (
        f"{first.algorithm} minus {first.reference} in tenths of {words.users} and of held-out events, with "
        f"{100 * result.confidence:g} % intervals over {words.users}. Each stands by itself: by chance, "
        f"{100 * result.alpha:g} % of them exclude 0."
    )
    return tag(
        "figure",
        tag("h3", f"Who gains and who loses: {first.algorithm} against {first.reference}"),
        sentences,
        tag("div", panels, class_="panels"),
        tag("figcaption", tag("p", unbroken(caption), class_="note")),
        class_="gains",
    )


def _gains_table(gains: Sequence[Gain], title: str, of: str, value: str) -> Markup:
    axis = Axis.around([0.0, *(g.interval_low for g in gains), *(g.interval_high for g in gains)])
    heads = {"name": of.capitalize(), "plot": axis.labels(), "mean": "Difference"}
    signed = [f"+{text}" if g.difference > 0 else text for g, text in
              zip(gains, even(g.difference for g in gains), strict=True)]  # fmt: skip
    rows = [
        tag("tr", tag("th", user_words.span(gain), scope="row", class_="name"),
            tag("td", axis.interval(gain.interval_low, gain.difference, gain.interval_high, _interval_text(
                "difference", gain.difference, gain.interval_low, gain.interval_high), 0.0), class_="plot"),
            tag("td", text, class_="mean"),
            class_="possible" if gain.shown > 0 else "lost" if gain.shown < 0 else "behind")
        for gain, text in zip(gains, signed, strict=True)
    ]  # fmt: skip
    caption = tag("caption", tag("strong", title), f": {value}")
    return tag("table", caption, heading_row(heads), tag("tbody", rows), class_="forest gain")
