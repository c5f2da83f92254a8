"""Significance: which differences are more than luck."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from recassay.analysis.compare.result import CompareResult
from recassay.analysis.verdict.result import Verdict
from recassay.core.choices import FEWEST_DATASETS
from recassay.core.words import listing
from recassay.plots.compare import plot_critical_difference, plot_pairwise
from recassay.reporting.headline import verdict_brief
from recassay.reporting.numbers import p_text, percent, sized, starred
from recassay.reporting.section import Plot, Plots, Section, Table


def sentences(result: CompareResult) -> list[str]:
    """The headline, the decided pairs, whether the algorithms differ at all, and where Wilcoxon-Holm differs.

    Below the fewest datasets no test is told: nothing could be significant, and nothing follows from that.
    """
    verdict = result.judgement
    if verdict.grade == "not_comparable":
        return [verdict.headline]
    if len(result.datasets) < FEWEST_DATASETS:
        return [
            verdict.headline,
            f"No test is reported on {len(result.datasets)} datasets: so few cannot show a difference; "
            f"{FEWEST_DATASETS} are the minimum.",
        ]
    control = [_control(result.judgement)] if verdict.control is not None else []
    return [verdict.headline, *control, *verdict.why, _differ(result), *_other_test(result), *_holes(result)]


def _other_test(result: CompareResult) -> list[str]:
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
            f"Wilcoxon-Holm, the standard of papers, cannot be significant with {_units(result)} and "
            f"{size}: its smallest corrected p is {least:.3g}."
        ]
    differ = int((decided != tested).sum())
    disagree = f" Against the order of the mean ranks it favours {listing(against, most=4)}." if against else ""
    return [
        f"Wilcoxon-Holm, the standard of papers, finds {tested.sum()} of {size} significant and disagrees on {differ}: "
        f"it weighs differences by rank and corrects without the dependence between pairs.{disagree}"
    ]


def _differ(result: CompareResult) -> str:
    """Friedman's test alone."""
    shown = "The algorithms differ" if result.friedman.p < result.alpha else "No difference between algorithms is shown"
    over = "" if result.judgement.families is None else f" over {_units(result)}"
    return f"{shown} as a whole (Friedman{over}, {p_text(result.friedman.p)})."


def _units(result: CompareResult) -> str:
    """What counts as one piece of evidence, with its number."""
    families = result.judgement.families
    return f"{len(result.datasets)} datasets" if families is None else f"{families} families of datasets"


def _control(verdict: Verdict) -> str:
    """The algorithm that was named beforehand against every other."""
    name = str(verdict.control)
    others = {other: verdict.status_of(name, other) for other in verdict.algorithms if other != name}
    parts = []
    for status, words in (("better", "better than"), ("worse", "worse than"), ("equivalent", "equivalent to")):
        members = [other for other, known in others.items() if known == status]
        if members:
            parts.append(f"{words} {listing(members, most=8)}")
    open_ones = [other for other, known in others.items() if known in ("undecided", "undecidable")]
    shown = " and ".join(parts) or "neither better nor worse than any other"
    rest = f"; against {listing(open_ones, most=8)} the data do not decide" if open_ones and parts else ""
    return (
        f"{name}, the control, is shown to be {shown}{rest} (adjusted for its {len(others)} comparisons; valid if it "
        "was named before the results were seen)."
    )


def _holes(result: CompareResult) -> Iterator[str]:
    """The test that takes the table with its missing cells."""
    test = result.skillings_mack
    if test is None:
        return
    related = "" if result.judgement.families is None else ", and the datasets of a family as independent"
    cells = "missing cell" if test.missing == 1 else f"{test.missing} missing cells"
    shown = "a difference is shown" if test.p < result.alpha else "no difference is shown"
    yield (
        f"With the {cells} kept, {shown} as a whole (Skillings and Mack, {p_text(test.p)}). That "
        f"takes cells as missing for reasons that have nothing to do with the scores{related}."
    )
    unseen = test.unseen
    if unseen is not None and not unseen.possible:
        yield "No values of the missing cells of a single algorithm would change who beats most others."
    elif unseen is not None:
        cells = "its missing cell" if unseen.cells == 1 else f"its {unseen.cells} missing cells"
        side = "at most" if unseen.needed < unseen.beaten else "at least"
        yield (
            f"{unseen.leader} would lead if {unseen.algorithm} beat {side} {percent(unseen.needed)} of the others on "
            f"{cells} (where it was run: {percent(unseen.beaten)})."
        )


BARS = {
    "sign-flips": "the test of all pairs (flipped signs) does not decide at the {alpha:g} level",
    "wilcoxon-holm": "the Wilcoxon-Holm tests cannot tell apart at the {alpha:g} level",
    "nemenyi": "are nearer than Nemenyi's critical difference of {cd:.2f} at the {alpha:g} level",
    "bayesian": "the Bayesian signed-rank test cannot tell apart with probability {credibility:g}, each pair by "
    "itself: it is not corrected for the number of pairs",
}


def tables(result: CompareResult) -> Iterator[Table]:
    """Mean ranks with the tests of the whole and the groups, then every pair."""
    f = result.friedman
    notes = [
        f"Friedman {f.p_text()} ({f.way}); as papers quote it: chi-square {f.chi_square:.4g} (p = {f.p_value:.3g}), "
        f"Iman-Davenport F {f.f_text()}, corrected for ties {f.chi_square_ties:.4g} "
        f"(p = {f.p_value_ties:.3g}).",
        f"Nemenyi critical difference {result.nemenyi_cd:.4g} at {result.alpha:g}.",
    ]
    for rule, groups in result.groups.items():
        shown = "; ".join(listing(group, most=None) for group in groups) or "none: every pair of neighbours differs"
        notes.append(f"No significant difference by {rule.replace('_', '-')}: {shown}.")
    if result.judgement.families is not None:
        notes.append(
            f"Every test counts {_units(result)}: mean differences and mean ranks within a family are one observation."
        )
    if result.missing.sentence():
        notes.append(f"{result.missing.sentence()}.")
    ranks = [[name, f"{rank:.3f}"] for name, rank in zip(result.algorithms, result.mean_ranks, strict=True)]
    pairs = [
        [p.left, p.right, f"{p.wins}-{p.ties}-{p.losses}", f"{p.p:.3g}",
         starred(p), f"{p.rank_biserial:+.2f}", f"{b.p_left:.3f}", f"{b.p_rope:.3f}", f"{b.p_right:.3f}", status]
        for p, b, status in zip(result.pairs, result.bayesian, result.judgement.pairs.columns["status"], strict=True)
    ]  # fmt: skip
    yield from _control_table(result)
    size = sized(result.algorithms, result.datasets)
    yield Table(f"Mean ranks: {result.metric}, {size}", ["algorithm", "mean rank"], ranks, notes=notes)
    yield Table(
        "Pairs (left has the better mean rank)",
        ["left", "right", "won-tied-lost", "p", "p (Holm)", "effect", "P(left)", "P(rope)", "P(right)", "status"],
        pairs,
        names=2,
        important=["right", "p (Holm)", "won-tied-lost", "P(left)", "effect", "P(right)"],
        notes=[
            f"*: significant at {result.alpha:g} after Holm's correction. status: of left against right, by the "
            f"all-pairs test (flipped signs); equivalent means within {100 * result.within:g} %."
        ],
    )


def _control_table(result: CompareResult) -> Iterator[Table]:
    if result.control is None:
        return
    yield Table(
        f"{result.control.name} (the control) against every other: {result.metric}",
        {"other": "{other}", "won-tied-lost": "{wins}-{ties}-{losses}", "p": "{p:.3g}", "p (Holm)": starred,
         "better": lambda pair: pair.favours if pair.significant else "", "z": "{z:+.2f}",
         "p (Bonferroni-Dunn)": "{p_dunn:.3g}"},
        result.control.pairs,
        important=["p (Holm)", "won-tied-lost", "better"],
        notes=[
            f"*: significant at {result.alpha:g} after Holm's correction over {len(result.control.pairs)} comparisons. "
            f"Bonferroni and Dunn's critical difference in mean rank is {result.control.dunn_cd:.3f}."
        ],
    )  # fmt: skip


def _diagram_caption(result: CompareResult) -> str:
    if len(result.datasets) < FEWEST_DATASETS:
        return f"Mean ranks (further left is better) on {len(result.datasets)} datasets, too few for a test."
    joined = BARS[result.bars].format(alpha=result.alpha, cd=result.nemenyi_cd, credibility=result.credibility)
    caption = f"Mean ranks (further left is better); a bar joins algorithms that {joined}."
    if result.control is not None:
        caption += f" {result.control.name} is the control: a star marks those that are shown to differ from it."
    return caption


FIGURES = Plots([
    Plot("critical_difference", _diagram_caption, plot_critical_difference, "mean_ranks"),
    Plot("pairs", "Every pair. Above the diagonal the adjusted p of the all-pairs test: blue where the row is better, "
         "green where the two are equivalent, grey where the data do not decide. Below it, uncoloured, the posterior "
         "probability that the row is better, not corrected for the number of pairs.", plot_pairwise,
         when=lambda result: len(result.datasets) >= FEWEST_DATASETS),
])  # fmt: skip
SECTION = Section(
    CompareResult, "Differences over datasets", "significance", "compare", FIGURES, sentences, tables, order=10,
    brief=lambda result: verdict_brief(result.judgement),
)  # fmt: skip
