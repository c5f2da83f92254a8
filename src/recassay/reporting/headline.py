"""The verdict as people see it first: a headline, and one table with the intervals of the mean ranks drawn in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from recassay.analysis.verdict.result import MetricGrade, Verdict
from recassay.core.tables.labels import metric_name
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import count_of, listing
from recassay.reporting.numbers import better, even, number
from recassay.reporting.section import Brief, Table
from recassay.reporting.words import verdict as verdict_words

BAR = 18
"""Characters of a drawn interval."""

WORTH_NAMING = "could be best"


def judgement(results: Mapping[str, Any]) -> Verdict | None:
    """The verdict that these results share; that of the ranking knows the other rules, too."""
    carried = {name: getattr(result, "judgement", None) for name, result in results.items()}
    first = (carried.get("rank"), carried.get("compare"), *carried.values())
    return next((verdict for verdict in first if isinstance(verdict, Verdict)), None)


def verdict_brief(verdict: Verdict, words: Vocabulary = USUAL) -> Brief:
    """Headline, table, sentences, caution and next step of a verdict."""
    return Brief(
        verdict_words.headline(verdict, words),
        verdict_table(verdict, words) if verdict.grade != "not_comparable" else None,
        frozenset(verdict.could_be_best),
        tuple(verdict_words.sentences(verdict, words)),
        verdict_words.caution(verdict, words),
        verdict_words.next_step(verdict, words),
    )


def verdict_table(verdict: Verdict, words: Vocabulary = USUAL) -> Table:
    """One row per algorithm, the best mean rank first."""
    metric, level = metric_name(verdict.metric), f"{100 * (1 - verdict.alpha):g} %"
    axis = drawn_axis(len(verdict.algorithms), level)
    columns: dict[str, list[str]] = {
        words.algorithm: list(verdict.algorithms),
        metric: even(verdict.mean.tolist()),
        "mean rank": [f"{rank:.1f}" for rank in verdict.mean_rank],
    }
    if verdict.interval is not None:
        columns[axis] = [
            drawn_interval(low, float(rank), high, len(verdict.algorithms))
            for rank, (low, high) in zip(verdict.mean_rank, verdict.interval.tolist(), strict=True)
        ]
    columns["groups"] = list(verdict.groups)
    columns[WORTH_NAMING] = [could(verdict, name) for name in verdict.algorithms]
    if verdict.leads_again is not None:
        columns["leads again"] = [number(float(chance)) for chance in verdict.leads_again]
    return Table(
        f"{metric} ({better(verdict.higher_is_better)}), {count_of(len(verdict.datasets), words.dataset)}",
        list(columns),
        zip(*columns.values(), strict=True),
        important=["mean rank", axis, "leads again", WORTH_NAMING, metric],
    )


def could(verdict: Verdict, name: str) -> str:
    """Whether an algorithm could be best: `yes`, `no`, or `not judged` where its missing cells were filled."""
    return "yes" if name in verdict.could_be_best else "not judged" if name in verdict.not_judged else "no"


def metrics_table(verdict: Verdict, words: Vocabulary = USUAL) -> Table:
    """One row per metric: what it supports, who leads, and who could be best."""
    rows = [metric_row(each) for each in verdict.graded()]
    title = f"Grades by metric, {count_of(len(verdict.datasets), words.dataset)}"
    return Table(title, ["metric", "grade", "leader", WORTH_NAMING], rows, names=4, important=["grade", "leader"])


def metric_row(each: MetricGrade) -> tuple[str, str, str, str]:
    """A metric, its grade, who leads by mean rank, and who could be best."""
    metric, leader = metric_name(each.metric), listing(each.leaders, most=3)
    if each.grade is None:
        return metric, "Not judged", "", each.reason
    if each.grade in ("too_little_data", "not_comparable"):
        return metric, verdict_words.GRADES[each.grade], leader if each.grade == "too_little_data" else "", ""
    named = listing(each.could_be_best, most=3)
    best = named if len(each.could_be_best) <= 3 else f"{len(each.could_be_best)} of {each.algorithms}: {named}"
    return metric, verdict_words.GRADES[each.grade], leader, best


def drawn_interval(low: float, value: float, high: float, count: int, width: int = BAR) -> str:
    """A mean rank and its interval on an axis from 1 to `count`: `  ├──●───┤      `."""
    left, point, right = (round((end - 1) / max(count - 1, 1) * (width - 1)) for end in (low, value, high))
    cells = [" "] * width
    cells[left : right + 1] = "─" * (right + 1 - left)
    cells[left], cells[right], cells[point] = "├", "┤", "●"
    return "".join(cells)


def drawn_points(values: Iterable[float], count: int, width: int = BAR) -> str:
    """Mean ranks on an axis from 1 to `count`, joined by a line: `  ●──●─●        `."""
    places = sorted(round((value - 1) / max(count - 1, 1) * (width - 1)) for value in values)
    line = ["●" if place in places else "─" if places[0] < place < places[-1] else " " for place in range(width)]
    return "".join(line)


def drawn_axis(count: int, title: str, width: int = BAR) -> str:
    """The heading of the drawn intervals: the best rank on the left, the worst on the right."""
    return f"1{title:^{width - 1 - len(str(count))}}{count}"
