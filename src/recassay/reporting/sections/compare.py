"""Significance: which differences are more than luck."""

from __future__ import annotations

from recassay.analysis.compare.result import FEWEST_DATASETS, CompareResult, ControlResult
from recassay.core.errors import listing
from recassay.reporting.numbers import probability
from recassay.reporting.section import Figure, Section, Table


def p_text(p: float) -> str:
    """A p-value as people write it."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def sentences(result: CompareResult) -> list[str]:
    """Whether a difference is shown at all, what separates the best, and what could have been seen.

    Below five datasets no test is told: nothing could be significant, and nothing be made of that.
    """
    if len(result.datasets) < FEWEST_DATASETS:
        return [
            f"No test is reported on {len(result.datasets)} datasets: whatever the values, so few prove nothing about "
            f"others. {FEWEST_DATASETS} are the least."
        ]
    if result.control is not None:
        return [_control(result, result.control), _differ(result), *_holes(result)]
    power = result.power.sentence()
    more = [*_equal(result), *_against(result), *_holes(result), *([power] if power else [])]
    return [_lead(result), _whole(result), *more]


def _differ(result: CompareResult) -> str:
    """Friedman's test alone."""
    shown = "The algorithms differ" if result.friedman.p < result.alpha else "No difference between algorithms is shown"
    return f"{shown} as a whole (Friedman, {p_text(result.friedman.p)})."


def _control(result: CompareResult, control: ControlResult) -> str:
    """The algorithm that was named beforehand against every other; the lead over all pairs is then not told."""
    better = [p.other for p in control.pairs if p.significant and p.favours == control.name]
    worse = [p.other for p in control.pairs if p.significant and p.favours == p.other]
    open_ones = [p.other for p in control.pairs if not p.significant]
    parts = [
        f"better than {listing(better, most=8)}" if better else "",
        f"worse than {listing(worse, most=8)}" if worse else "",
    ]
    told = " and ".join(part for part in parts if part) or "better or worse than none"
    no = f"; from {listing(open_ones, most=8)} no difference is shown" if open_ones else ""
    return (
        f"{control.name}, as the control, is shown to be {told}{no} (Wilcoxon, Holm over {len(control.pairs)} "
        f"comparisons, {result.alpha:g} level; valid if it was named before the results were seen)."
    )


def _equal(result: CompareResult) -> list[str]:
    """Which pairs are shown to be practically equal; one sentence for the lead where nothing can be told."""
    equal = [f"{pair.a} and {pair.b}" for pair in result.judgement.pairs if pair.status == "equivalent"]
    by = f"within {100 * result.within:g} % of each other on a typical dataset"
    if equal:
        count = "1 pair is" if len(equal) == 1 else f"{len(equal)} pairs are"
        return [f"{count} shown to be practically equal, {by}: {listing(equal, most=4)} (two one-sided tests, Holm)."]
    if result.equivalence and result.judgement.pairs[0].status in ("undecided", "undecidable"):
        one = result.equivalence[0]
        return [
            f"Whether {one.left} and {one.right} are practically equal, {by}, cannot be told either "
            f"(p = {one.p_equal:.2g} alone): no difference shown is not equality shown."
        ]
    return []


def _holes(result: CompareResult) -> list[str]:
    """The test that takes the table with its missing cells."""
    test = result.skillings_mack
    if test is None:
        return []
    shown = "a difference is shown" if test.p < result.alpha else "no difference is shown"
    return [f"With the {test.missing} missing cells kept, {shown} as a whole (Skillings and Mack, {p_text(test.p)})."]


def _lead(result: CompareResult) -> str:
    """The two best mean ranks: what the test says of them, alone and corrected, and the posterior, which is not."""
    pair, bayes = result.lead()
    best, second = pair.left, pair.right
    ranks = f"{result.mean_ranks[0]:.2f} against {result.mean_ranks[1]:.2f}"
    won = f"{best} is better on {pair.wins} of {len(result.datasets)} datasets" + (
        f", equal on {pair.ties}" if pair.ties else ""
    )
    numbers = (
        f"Wilcoxon {p_text(pair.p)} alone, {p_text(pair.p_holm)} corrected for {len(result.pairs)} "
        f"pair{'s' if len(result.pairs) > 1 else ''} (Holm); posterior probability of being better "
        f"{probability(bayes.p_left)}, not corrected; {won}"
    )
    if result.mean_ranks[0] == result.mean_ranks[1]:
        return f"{best} and {second} share the best mean rank ({result.mean_ranks[0]:.2f}): {numbers}."
    if pair.significant and pair.favours == second:
        return (
            f"Two summaries of {best} and {second} disagree: {best} has the better mean rank ({ranks}), and the test, "
            f"which weighs the differences, finds {second} better: {numbers}."
        )
    shown = "is more than luck" if pair.significant else "is not shown to be more than luck"
    return f"The lead of {best} over {second} in mean rank ({ranks}) {shown}: {numbers}."


def _whole(result: CompareResult) -> str:
    """Friedman's test, and whom the best is shown to be better than."""
    best = result.algorithms[0]
    test = f"Friedman, {p_text(result.friedman.p)}"
    if result.friedman.p >= result.alpha:
        return f"As a whole no difference between the algorithms is shown ({test}): read no order into the ranks."
    own = [pair for pair in result.pairs if pair.left == best]
    better = [pair.right for pair in own if pair.significant and pair.favours == best]
    open_ones = [pair.right for pair in own if not pair.significant]
    level = f"at the {result.alpha:g} level (Wilcoxon-Holm)"
    if len(better) == len(own):
        return f"The algorithms differ as a whole ({test}), and {best} is shown to be better than every other {level}."
    told = f"; it is shown to be better than {listing(better, most=8)}" if better else ""
    if not open_ones:
        return f"The algorithms differ as a whole ({test}){told} {level}."
    return (
        f"The algorithms differ as a whole ({test}), but between {best} and {listing(open_ones, most=8)} no difference "
        f"is shown {level}{told}."
    )


def _against(result: CompareResult) -> list[str]:
    """Further pairs in which the one that the test favours has the worse mean rank."""
    odd = [f"{p.right} over {p.left}" for p in result.pairs[1:] if p.significant and p.favours == p.right]
    if not odd:
        return []
    return [f"Against the order of the mean ranks, the test favours {listing(odd, most=4)} (Wilcoxon-Holm)."]


BARS = {
    "wilcoxon-holm": "the Wilcoxon-Holm tests cannot tell apart at the {alpha:g} level",
    "nemenyi": "are nearer than Nemenyi's critical difference of {cd:.2f} at the {alpha:g} level",
    "bayesian": "the Bayesian signed-rank test cannot tell apart with probability {credibility:g}, each pair by "
    "itself: it is not corrected for the number of pairs",
}


def tables(result: CompareResult) -> list[Table]:
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
        notes.append(f"Not told apart by {rule.replace('_', '-')}: {shown}.")
    if result.missing.sentence():
        notes.append(f"{result.missing.sentence()}.")
    ranks = [[name, f"{rank:.3f}"] for name, rank in zip(result.algorithms, result.mean_ranks, strict=True)]
    size = f"{len(result.algorithms)} algorithms on {len(result.datasets)} datasets"
    bayes = {(b.left, b.right): b for b in result.bayesian}
    pairs = [
        [p.left, p.right, f"{p.wins}-{p.ties}-{p.losses}", f"{p.p:.3g}",
         f"{p.p_holm:.3g}{'*' if p.significant else ' '}", f"{p.rank_biserial:+.2f}",
         *(f"{chance:.3f}" for chance in (b.p_left, b.p_rope, b.p_right))]
        for p in result.pairs
        for b in [bayes[p.left, p.right]]
    ]  # fmt: skip
    pairs = [[*row, pair.status] for row, pair in zip(pairs, result.judgement.pairs, strict=True)]
    return [
        *_control_table(result),
        Table(f"Mean ranks: {result.metric}, {size}", ["algorithm", "mean rank"], ranks, notes=notes),
        Table(
            "Pairs (left has the better mean rank)",
            ["left", "right", "won-tied-lost", "p", "p (Holm)", "effect", "P(left)", "P(rope)", "P(right)", "status"],
            pairs,
            names=2,
            important=["right", "p (Holm)", "won-tied-lost", "P(left)", "effect", "P(right)"],
            notes=[
                f"*: significant at {result.alpha:g} after Holm's correction. status: of left against right, by the "
                f"all-pairs test (flipped signs); equivalent means within {100 * result.within:g} %."
            ],
        ),
    ]


def _control_table(result: CompareResult) -> list[Table]:
    if result.control is None:
        return []
    rows = [
        [p.other, f"{p.wins}-{p.ties}-{p.losses}", f"{p.p:.3g}", f"{p.p_holm:.3g}{'*' if p.significant else ' '}",
         p.favours if p.significant else "", f"{p.z:+.2f}", f"{p.p_dunn:.3g}"]
        for p in result.control.pairs
    ]  # fmt: skip
    return [
        Table(
            f"{result.control.name} (the control) against every other: {result.metric}",
            ["other", "won-tied-lost", "p", "p (Holm)", "better", "z", "p (Bonferroni-Dunn)"],
            rows,
            important=["p (Holm)", "won-tied-lost", "better"],
            notes=[
                f"*: significant at {result.alpha:g} after Holm's correction over {len(rows)} comparisons. Bonferroni "
                f"and Dunn's critical difference in mean rank is {result.control.dunn_cd:.3f}."
            ],
        )
    ]


def figures(result: CompareResult) -> list[Figure]:
    """The critical difference diagram and the matrix of pairs."""
    from recassay.plots.compare import plot_critical_difference, plot_pairwise

    if len(result.datasets) < FEWEST_DATASETS:
        caption = f"Mean ranks (further left is better) on {len(result.datasets)} datasets, too few for a test."
        return [Figure("critical_difference", caption, plot_critical_difference(result), "mean_ranks")]
    joined = BARS[result.bars].format(alpha=result.alpha, cd=result.nemenyi_cd, credibility=result.credibility)
    caption = f"Mean ranks (further left is better); a bar joins algorithms that {joined}."
    if result.control is not None:
        caption += f" {result.control.name} is the control: a star marks those that are shown to differ from it."
    matrix = (
        "Every pair. Above the diagonal Wilcoxon-Holm: blue where the row is better, orange where it is worse, grey "
        "where no difference is shown. Below it, uncoloured, the posterior probability that the row is better, not "
        "corrected for the number of pairs."
    )
    return [
        Figure("critical_difference", caption, plot_critical_difference(result), "mean_ranks"),
        Figure("pairs", matrix, plot_pairwise(result), "pairs"),
    ]


SECTION = Section(
    CompareResult, "Differences over datasets", "significance", "compare", figures, sentences, tables, order=10
)
