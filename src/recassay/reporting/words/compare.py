"""Significance: which differences are more than luck."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from recassay.analysis.compare.result import CompareResult, PowerStatement
from recassay.analysis.verdict.result import Verdict
from recassay.core.choices import FEWEST_DATASETS
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import listing
from recassay.reporting.numbers import p_text, percent, smallest
from recassay.reporting.words.control import STANDINGS
from recassay.reporting.words.pairs import control_headline, control_scope, neighbours, pairs_headline, units
from recassay.reporting.words.verdict import why


def sentences(result: CompareResult, words: Vocabulary = USUAL) -> list[str]:
    """The pairs by the verdict; then, each by its name, what Friedman's test and Wilcoxon-Holm say.

    Below the fewest datasets no test is shown: nothing could be significant, and nothing follows from that.
    """
    verdict = result.judgement
    if verdict.grade == "not_comparable":
        return [pairs_headline(verdict, words)]
    first = [pairs_headline(verdict, words)]
    if verdict.control is not None:
        first = [control_headline(verdict, words), _control(verdict, words), *first]
    elif len(verdict.algorithms) > 2:
        first.append(neighbours(verdict, words))
    if len(result.datasets) < FEWEST_DATASETS:
        return first
    return [
        *first,
        *why(verdict, words)[1:],
        _differ(result, words),
        *_other_test(result, words),
        *_holes(result, words),
    ]


def _other_test(result: CompareResult, words: Vocabulary) -> list[str]:
    """Wilcoxon-Holm, common in papers, where it decides other pairs than the verdict."""
    decided, columns = result.judgement.better, result.pairs.columns
    tested = columns["significant"] & (columns["favours"] == columns["left"])
    turned = result.pairs.take(np.flatnonzero(columns["significant"] & (columns["favours"] == columns["right"])))
    against = [f"{pair.right} over {pair.left}" for pair in turned]
    if (decided == tested).all() and not against:
        return []
    size = f"{len(result.pairs)} pairs"
    if not result.power.wilcoxon_can_decide:
        least = min(result.power.smallest_p_holm, 1)
        return [
            f"Wilcoxon-Holm, common in papers, cannot be significant with {units(result.judgement, words)} and {size}: "
            f"its smallest corrected p is {smallest(least)}."
        ]
    differ = int((decided != tested).sum())
    disagree = (
        f" Against the order of the mean ranks, Wilcoxon-Holm favours {listing(against, most=4)}." if against else ""
    )
    return [
        f"Wilcoxon-Holm, common in papers, finds {tested.sum()} of {size} significant; it differs from the verdict on "
        f"{differ}. It weighs differences by rank and corrects without the dependence between pairs.{disagree}"
    ]


def _differ(result: CompareResult, words: Vocabulary) -> str:
    """Friedman's test alone: whether the algorithms differ at all, which says nothing of any pair."""
    rejects = "rejects" if result.friedman.p < result.alpha else "does not reject"
    over = "" if result.judgement.families is None else f" over {units(result.judgement, words)}"
    return (
        f"Friedman's test{over} {rejects} that all {words.algorithms} perform alike ({p_text(result.friedman.p)}); it "
        "says nothing of single pairs."
    )


def _control(verdict: Verdict, words: Vocabulary) -> str:
    """By name, how the control stands against every other; it follows `control_headline`."""
    pairs = verdict.against(str(verdict.control))
    parts = []
    for phrase, statuses in STANDINGS.items():
        names = [pair.b for pair in pairs if pair.status in statuses]
        if names:
            parts.append(f"{phrase} {listing(names, most=8)}")
    return f"It is {'; '.join(parts)}. {control_scope(verdict, words)}"


def _holes(result: CompareResult, words: Vocabulary) -> Iterator[str]:
    """The test that takes the table with its missing cells."""
    test = result.skillings_mack
    if test is None:
        return
    related = "" if result.judgement.families is None else f", and the {words.datasets} of a family as independent"
    cells = "missing cell" if test.missing == 1 else f"{test.missing} missing cells"
    rejects = "rejects" if test.p < result.alpha else "does not reject"
    yield (
        f"With the {cells} kept, Skillings and Mack's test {rejects} that all {words.algorithms} perform alike "
        f"({p_text(test.p)}). It takes cells as missing for reasons that have nothing to do with the scores{related}."
    )
    unseen = test.unseen
    if unseen is not None and not unseen.possible:
        yield (
            f"By Skillings and Mack's scores, no values of the missing cells of a single {words.algorithm} would "
            "change who is first."
        )
    elif unseen is not None:
        cells = "its missing cell" if unseen.cells == 1 else f"its {unseen.cells} missing cells"
        side = "at most" if unseen.needed < unseen.beaten else "at least"
        yield (
            f"By Skillings and Mack's scores, {unseen.leader} would be first if {unseen.algorithm} had better values "
            f"than {side} {percent(unseen.needed)} of the others on {cells} (where it was run: "
            f"{percent(unseen.beaten)})."
        )


def iman_davenport(result: CompareResult, words: Vocabulary = USUAL) -> str:
    """The F of Iman and Davenport with its p-value, or that it is undefined."""
    friedman = result.friedman
    if not np.isfinite(friedman.f):
        return f"undefined (all {words.datasets} agree)"
    return f"{friedman.f:.4g} ({p_text(friedman.f_p_value)})"


def power(statement: PowerStatement, words: Vocabulary = USUAL) -> str:
    """What so many datasets cannot show; empty where differences can be shown, and below five datasets."""
    if statement.datasets < FEWEST_DATASETS:
        return ""
    size = f"With {statement.datasets} {words.datasets} and {statement.algorithms} {words.algorithms}"
    if statement.smallest_p < statement.alpha:
        return ""
    return f"{size}, no difference can be significant: the smallest p is {smallest(statement.smallest_p)}."
