"""Significance: which differences are more than luck."""

from __future__ import annotations

from recassay.analysis.compare.result import CompareResult
from recassay.core.errors import listing
from recassay.reporting.section import Figure, Section, Table


def p_text(p: float) -> str:
    """A p-value as people write it."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def sentences(result: CompareResult) -> list[str]:
    """Whether the algorithms differ at all, what separates the best, and what could have been seen."""
    best, second = result.algorithms[:2]
    pair = next(p for p in result.pairs if (p.left, p.right) == (best, second))
    bayes = next(b for b in result.bayesian if (b.left, b.right) == (best, second))
    not_beaten = [p.right for p in result.pairs if p.left == best and not p.significant]
    lead = (
        f"{best} has the best mean rank ({result.mean_ranks[0]:.2f}); its lead over {second} "
        f"({result.mean_ranks[1]:.2f}) is {'' if pair.significant else 'not '}significant "
        f"(Wilcoxon-Holm {p_text(pair.p_holm)}; Bayesian probability of being better {bayes.p_left:.2f})."
    )
    whole = result.friedman.f_p_value_ties
    test = f"Friedman with Iman-Davenport, {p_text(whole)}"
    if whole >= result.alpha:
        overall = f"The algorithms do not differ as a whole ({test}): read no order into the ranks."
    elif not_beaten:
        overall = (
            f"The algorithms differ as a whole ({test}), but {best} cannot be told from "
            f"{listing(not_beaten, most=6)} at the {result.alpha:g} level."
        )
    else:
        overall = f"The algorithms differ as a whole ({test}), and {best} differs significantly from every other one."
    return [lead, overall, result.power.sentence()]


def tables(result: CompareResult) -> list[Table]:
    """Mean ranks with the tests of the whole and the groups, then every pair."""
    f = result.friedman
    notes = [
        f"Friedman chi-square {f.chi_square:.4g} (p = {f.p_value:.3g}); Iman-Davenport F {f.f:.4g} (p = "
        f"{f.f_p_value:.3g}); corrected for ties {f.chi_square_ties:.4g} (p = {f.p_value_ties:.3g}).",
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
    return [
        Table(f"Mean ranks: {result.metric}, {size}", ["algorithm", "mean rank"], ranks, notes=notes),
        Table(
            "Pairs (left has the better mean rank)",
            ["left", "right", "won-tied-lost", "p", "p (Holm)", "effect", "P(left)", "P(rope)", "P(right)"],
            pairs,
            names=2,
            important=["right", "p (Holm)", "won-tied-lost", "P(left)", "effect", "P(right)"],
            notes=[f"*: significant at {result.alpha:g} after Holm's correction."],
        ),
    ]


def figures(result: CompareResult) -> list[Figure]:
    """The critical difference diagram and the matrix of pairs."""
    from recassay.plots.compare import plot_critical_difference, plot_pairwise

    caption = (
        "Mean ranks (further left is better); a bar joins algorithms that the Wilcoxon-Holm tests cannot tell apart "
        f"at the {result.alpha:g} level."
    )
    matrix = (
        "Every pair: blue where the row is better, orange where it is worse, grey where the test cannot tell; above "
        "the diagonal Wilcoxon-Holm, below it the Bayesian signed-rank test."
    )
    return [
        Figure("critical_difference", caption, plot_critical_difference(result), "mean_ranks"),
        Figure("pairs", matrix, plot_pairwise(result), "pairs"),
    ]


SECTION = Section(CompareResult, "Significance", "significance", "compare", figures, sentences, tables, order=10)
