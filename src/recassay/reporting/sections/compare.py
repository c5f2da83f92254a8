"""Significance: which differences are more than luck."""

from __future__ import annotations

from collections.abc import Iterator

from recassay.analysis.compare.result import CompareResult
from recassay.core.choices import FEWEST_DATASETS
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import listing
from recassay.plots.compare import plot_critical_difference, plot_pairwise
from recassay.reporting.headline import verdict_brief
from recassay.reporting.numbers import sized, starred
from recassay.reporting.section import Plot, Plots, Section, Table
from recassay.reporting.words.compare import iman_davenport, sentences, units
from recassay.reporting.words.missing import missing_cells

BARS = {
    "sign-flips": "the test of all pairs (flipped signs) does not decide at the {alpha:g} level",
    "wilcoxon-holm": "the Wilcoxon-Holm tests cannot tell apart at the {alpha:g} level",
    "nemenyi": "are nearer than Nemenyi's critical difference of {cd:.2f} at the {alpha:g} level",
    "bayesian": "the Bayesian signed-rank test cannot tell apart with probability {credibility:g}, each pair by "
    "itself: it is not corrected for the number of pairs",
}


def tables(result: CompareResult, words: Vocabulary = USUAL) -> Iterator[Table]:
    """Mean ranks with the tests of the whole and the groups, then every pair."""
    f = result.friedman
    notes = [
        f"Friedman {f.p_text()} ({f.way}); as papers quote it: chi-square {f.chi_square:.4g} (p = {f.p_value:.3g}), "
        f"Iman-Davenport F {iman_davenport(result, words)}, corrected for ties {f.chi_square_ties:.4g} (p = "
        f"{f.p_value_ties:.3g}).",
        f"Nemenyi critical difference {result.nemenyi_cd:.4g} at {result.alpha:g}.",
    ]
    for rule, groups in result.groups.items():
        shown = "; ".join(listing(group, most=None) for group in groups) or "none: every pair of neighbours differs"
        notes.append(f"No significant difference by {rule.replace('_', '-')}: {shown}.")
    if result.judgement.families is not None:
        notes.append(
            f"Every test counts {units(result, words)}: mean differences and mean ranks within a family are one "
            "observation."
        )
    if result.missing.cells:
        notes.append(missing_cells(result.missing, words))
    ranks = [[name, f"{rank:.3f}"] for name, rank in zip(result.algorithms, result.mean_ranks, strict=True)]
    pairs = [
        [p.left, p.right, f"{p.wins}-{p.ties}-{p.losses}", f"{p.p:.3g}",
         starred(p), f"{p.rank_biserial:+.2f}", f"{b.p_left:.3f}", f"{b.p_rope:.3f}", f"{b.p_right:.3f}", status]
        for p, b, status in zip(result.pairs, result.bayesian, result.judgement.pairs.columns["status"], strict=True)
    ]  # fmt: skip
    yield from _control_table(result)
    size = sized(result.algorithms, result.datasets, words)
    yield Table(f"Mean ranks: {result.metric}, {size}", [words.algorithm, "mean rank"], ranks, notes=notes)
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


def _diagram_caption(result: CompareResult, words: Vocabulary) -> str:
    if len(result.datasets) < FEWEST_DATASETS:
        return f"Mean ranks (further left is better) on {len(result.datasets)} {words.datasets}, too few for a test."
    joined = BARS[result.bars].format(alpha=result.alpha, cd=result.nemenyi_cd, credibility=result.credibility)
    caption = f"Mean ranks (further left is better); a bar joins {words.algorithms} that {joined}."
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
    CompareResult, "Differences over {datasets}", "significance", "compare", FIGURES, sentences, tables, order=10,
    brief=lambda result, words: verdict_brief(result.judgement, words),
)  # fmt: skip
