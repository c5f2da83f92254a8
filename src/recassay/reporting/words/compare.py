"""Significance: which differences are more than luck."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from recassay.analysis.compare.result import CompareResult, PowerStatement
from recassay.analysis.verdict.result import Verdict
from recassay.core.choices import FEWEST_DATASETS
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import listing
from recassay.reporting.numbers import p_text, percent
from recassay.reporting.words.verdict import headline, why


def sentences(result: CompareResult, words: Vocabulary = USUAL) -> list[str]:
    """The headline, the decided pairs, whether the algorithms differ at all, and where Wilcoxon-Holm differs.

    Below the fewest datasets no test is told: nothing could be significant, and nothing follows from that.
    """
    verdict = result.judgement
    if verdict.grade == "not_comparable":
        return [headline(verdict, words)]
    if len(result.datasets) < FEWEST_DATASETS:
        return [
            headline(verdict, words),
            f"No test is reported on {len(result.datasets)} {words.datasets}: so few cannot show a difference.",
        ]
    control = [_control(result.judgement, words)] if verdict.control is not None else []
    return [
        headline(verdict, words),
        *control,
        *why(verdict, words),
        _differ(result, words),
        *_other_test(result, words),
        *_holes(result, words),
    ]


def _other_test(result: CompareResult, words: Vocabulary) -> list[str]:
    """Wilcoxon-Holm, the standard of papers, where it decides other pairs than the verdict."""
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
            f"Wilcoxon-Holm, the standard of papers, cannot be significant with {units(result, words)} and {size}: its "
            f"smallest corrected p is {least:.3g}."
        ]
    differ = int((decided != tested).sum())
    disagree = f" Against the order of the mean ranks it favours {listing(against, most=4)}." if against else ""
    return [
        f"Wilcoxon-Holm, the standard of papers, finds {tested.sum()} of {size} significant and disagrees on {differ}: "
        f"it weighs differences by rank and corrects without the dependence between pairs.{disagree}"
    ]


def _differ(result: CompareResult, words: Vocabulary) -> str:
    """Friedman's test alone."""
    shown = (
        f"The {words.algorithms} differ"
        if result.friedman.p < result.alpha
        else f"No difference between {words.algorithms} is shown"
    )
    over = "" if result.judgement.families is None else f" over {units(result, words)}"
    return f"{shown} as a whole (Friedman{over}, {p_text(result.friedman.p)})."


def units(result: CompareResult, words: Vocabulary) -> str:
    """What counts as one piece of evidence, with its number."""
    families = result.judgement.families
    return (
        f"{len(result.datasets)} {words.datasets}" if families is None else f"{families} families of {words.datasets}"
    )


def _control(verdict: Verdict, words: Vocabulary) -> str:
    """The algorithm that was named beforehand against every other."""
    name = str(verdict.control)
    others = {other: verdict.status_of(name, other) for other in verdict.algorithms if other != name}
    parts = []
    for status, phrase in (("better", "better than"), ("worse", "worse than"), ("equivalent", "equivalent to")):
        members = [other for other, known in others.items() if known == status]
        if members:
            parts.append(f"{phrase} {listing(members, most=8)}")
    open_ones = [other for other, known in others.items() if known in ("undecided", "undecidable")]
    shown = " and ".join(parts) or "neither better nor worse than any other"
    rest = f"; against {listing(open_ones, most=8)} the data do not decide" if open_ones and parts else ""
    return (
        f"{name}, the control, is shown to be {shown}{rest} (adjusted for its {len(others)} comparisons; valid if it "
        "was named before the results were seen)."
    )


def _holes(result: CompareResult, words: Vocabulary) -> Iterator[str]:
    """The test that takes the table with its missing cells."""
    test = result.skillings_mack
    if test is None:
        return
    related = "" if result.judgement.families is None else f", and the {words.datasets} of a family as independent"
    cells = "missing cell" if test.missing == 1 else f"{test.missing} missing cells"
    shown = "a difference is shown" if test.p < result.alpha else "no difference is shown"
    yield (
        f"With the {cells} kept, {shown} as a whole (Skillings and Mack, {p_text(test.p)}). That takes cells as "
        f"missing for reasons that have nothing to do with the scores{related}."
    )
    unseen = test.unseen
    if unseen is not None and not unseen.possible:
        yield f"No values of the missing cells of a single {words.algorithm} would change who beats most others."
    elif unseen is not None:
        cells = "its missing cell" if unseen.cells == 1 else f"its {unseen.cells} missing cells"
        side = "at most" if unseen.needed < unseen.beaten else "at least"
        yield (
            f"{unseen.leader} would lead if {unseen.algorithm} beat {side} {percent(unseen.needed)} of the others on "
            f"{cells} (where it was run: {percent(unseen.beaten)})."
        )


def iman_davenport(result: CompareResult, words: Vocabulary = USUAL) -> str:
    """The F of Iman and Davenport with its p-value, or that it is undefined."""
    friedman = result.friedman
    if not np.isfinite(friedman.f):
        return f"undefined (all {words.datasets} agree)"
    return f"{friedman.f:.4g} (p = {friedman.f_p_value:.3g})"


def power(statement: PowerStatement, words: Vocabulary = USUAL) -> str:
    """What so many datasets cannot show; empty where differences can be shown, and below five datasets."""
    if statement.datasets < FEWEST_DATASETS:
        return ""
    size = f"With {statement.datasets} {words.datasets} and {statement.algorithms} {words.algorithms}"
    if statement.smallest_p < statement.alpha:
        return ""
    return f"{size}, no difference can be significant: the smallest p is {statement.smallest_p:.3g}."
