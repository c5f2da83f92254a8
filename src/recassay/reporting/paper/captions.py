"""What stands above the tables of a paper: metric, split, users, test and level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recassay.core.tables.labels import metric_name
from recassay.core.words import listing
from recassay.reporting.numbers import better, sized
from recassay.reporting.paper.content import MetricFindings, PaperContent
from recassay.reporting.paper.fit import Grid
from recassay.reporting.paper.main_table import TableStyle, against, in_percent

SPLITS = {
    "global_time": "a split at one point in time for all users",
    "rolling": "windows of time that move on",
    "user_time": "a split in time within each user",
    "leave_last_out": "a leave-last-out split",
    "random": "a random split of all interactions",
    "random_per_user": "a random split within each user",
    "kfold": "cross-validation",
    "given": "the given split",
}


def split_words(protocol: Mapping[str, Any]) -> str:
    """The split of a protocol in words: `a split at one point in time for all users (80/10/10 %)`."""
    name = str(protocol.get("split", ""))
    if not name:
        return ""
    if name == "kfold":
        return f"{protocol.get('folds')}-fold cross-validation"
    words = SPLITS.get(name, f"the split {name}")
    if name in ("leave_last_out", "given"):
        return words
    return f"{words} ({'/'.join(f'{100 * float(share):g}' for share in protocol.get('ratios', ()))} %)"


def main_caption(content: PaperContent, metrics: Sequence[MetricFindings], style: TableStyle, grid: Grid) -> str:
    """The caption of the main table: everything that a reader must know to read it."""
    shown = [cell for _, cells in grid.rows for cell in cells]
    sentences = [_what(content, metrics, style), *_where(content)]
    if any(cell.place for cell in shown):
        sentences.append("The best value is bold, the second is underlined.")
    if any(cell.deviation for cell in shown):
        sentences.append(f"± is the standard deviation over {listing(dict.fromkeys(m.repeats for m in metrics))}.")
    sentences += _tests(content, metrics, marked=any(cell.marked for cell in shown))
    if "wins" in (*grid.heads, *(name for name, _ in grid.rows)):
        sentences.append("Wins: on how many datasets the algorithm has the best value, ties included.")
    if any(cell.text == "–" for cell in shown):
        sentences.append("–: no value.")
    return " ".join(sentences)


def _what(content: PaperContent, metrics: Sequence[MetricFindings], style: TableStyle) -> str:
    names = [
        f"{metric_name(m.metric)}{' in %' if in_percent(m, style) else ''} ({better(m.higher_is_better)})"
        for m in metrics
    ]
    return f"{listing(names, most=None, last='and')} of {sized(content.algorithms, content.datasets)}."


def _where(content: PaperContent) -> list[str]:
    protocols = content.facts.protocols if content.facts is not None else {}
    splits = list(dict.fromkeys(filter(None, map(split_words, protocols.values()))))
    judged = [dataset.judged for dataset in content.datasets]
    users = "" if None in judged else f", {sum(filter(None, judged)):,} users"
    if len(splits) == 1:
        return [f"Test part of {splits[0]}{users}."]
    return [f"Test parts of {listing(splits, most=None, last='and')}{users}."] if splits else []


def _tests(content: PaperContent, metrics: Sequence[MetricFindings], *, marked: bool) -> list[str]:
    """By which test a best value is marked, or why none is."""
    ways = []
    if any(findings.users is not None for findings in metrics):
        ways.append("on a dataset a sign-flip test over its users, Holm-corrected")
    if any(findings.seeds is not None for findings in metrics):
        ways.append("on a dataset Welch's test over its seeds, Holm-corrected: other seeds there, not other datasets")
    if any(findings.tested is not None for findings in metrics):
        ways.append("for mean columns a sign-flip test of all pairs over datasets")
    if not ways:
        return []
    test = f"{'; '.join(ways)}; α = {content.alpha:g}"
    if marked:
        return [f"*: significantly better than the second ({test})."]
    return [f"No best value is significantly better than the second ({test})."]


def rank_caption(content: PaperContent, findings: MetricFindings) -> str:
    """The caption of the table of mean ranks."""
    assert findings.rank is not None
    n = len(findings.rank.datasets)
    sentences = [f"Mean ranks in {metric_name(findings.metric)} over {n} datasets (1 is best)."]
    if findings.rank.probability_best is not None:
        level = f"{100 * findings.rank.confidence:g} %"
        sentences.append(
            f"Interval: {level} bootstrap over datasets. P(first): probability of the best mean rank in a new "
            "benchmark of this kind and size."
        )
    if findings.tested is not None:
        pairs = "all pairs" if findings.tested.control is None else "its comparisons with the others"
        sentences.append(f"p: sign-flip test against {against(findings.tested)[0]}, adjusted for {pairs}.")
    return " ".join(sentences)
