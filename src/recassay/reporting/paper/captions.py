"""What stands above the tables of a paper: metric, split, users, test and level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recassay.analysis.verdict.result import Verdict
from recassay.core.tables.labels import metric_name
from recassay.core.words import listing
from recassay.reporting.numbers import better, sized
from recassay.reporting.paper.content import MetricFindings, PaperContent
from recassay.reporting.paper.grid import Grid
from recassay.reporting.paper.main_table import TableStyle, against, first_two_tested, in_percent
from recassay.reporting.words.verdict import TESTS, reservation

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
    """By which tests a best value is marked; where none is, of the cells that were tested that none differs."""
    ways, nobody = [], []
    on_users = {
        dataset.dataset for findings in metrics if findings.users is not None for dataset in findings.users.datasets
    }
    if on_users:
        way = "on a dataset a sign-flip test over its users, Holm-corrected"
        ways.append(way)
        where = (
            "no dataset" if len(on_users) == len(content.datasets) else f"none of the {len(on_users)} tested datasets"
        )
        nobody.append(
            f"On {where} is the best value significantly better than the second ({way}; α = {content.alpha:g})."
        )
    if any(findings.seeds is not None for findings in metrics):
        way = "on a dataset Welch's test over its seeds, Holm-corrected: other seeds there, not other datasets"
        ways.append(way)
        nobody.append(
            f"On no dataset is the best value significantly better than the second ({way}; α = {content.alpha:g})."
        )
    over = [findings.tested for findings in metrics if findings.tested is not None and first_two_tested(findings)]
    if over:
        control = over[0].control
        test = (
            "of all pairs over datasets" if control is None else f"of {control.name} against every other over datasets"
        )
        court = over[0].judgement.test
        by = f"{TESTS[court]} {test}"
        ways.append(f"for mean columns {'a ' if court == 'sign-flips' else ''}{by}")
        nobody.append(f"The best mean rank is not significantly better than the second ({by}; α = {content.alpha:g}).")
    if marked:
        return [f"*: significantly better than the second ({'; '.join(ways)}; α = {content.alpha:g})."]
    return nobody


def rank_caption(content: PaperContent, findings: MetricFindings) -> str:
    """The caption of the table of mean ranks."""
    assert findings.rank is not None
    n = len(findings.rank.datasets)
    sentences = [f"Mean ranks in {metric_name(findings.metric)} over {n} datasets (1 is best)."]
    if findings.rank.probability_best is not None:
        level = f"{100 * findings.rank.confidence:g} %"
        sentences.append(
            f"Interval: {level}. P(first): probability of the best mean rank in a new benchmark of this kind and size."
        )
    if findings.tested is not None:
        pairs = "all pairs" if findings.tested.control is None else "its comparisons with the others"
        name = against(findings.tested)[0]
        sentences.append(f"p: {TESTS[findings.tested.judgement.test]} against {name}, adjusted for {pairs}.")
        sentences += _reservations(findings.tested.judgement, name)
    return " ".join(sentences)


def _reservations(verdict: Verdict, name: str) -> Iterator[str]:
    """Where p alone would mislead: a difference below the margin, and a p below the level that decides nothing."""
    for pair in verdict.against(name):
        if pair.status in ("better", "worse") and verdict.close(pair):
            yield f"{name} is {pair.status} than {pair.b} by less than {100 * verdict.within:g} %."
        elif pair.status == "undecided" and (why := reservation(verdict, pair)):
            small = f"p is below {verdict.alpha:g}{why}" if pair.p < verdict.alpha else why.removeprefix("; ")
            yield f"Between {name} and {pair.b} nothing is decided: {small}."
