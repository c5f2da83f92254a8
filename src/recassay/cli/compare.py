"""recassay compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.render import print_lines, print_table
from recassay.cli.table import finish, load_table, said_direction
from recassay.core.choices import ZeroMethod

if TYPE_CHECKING:
    from recassay.analysis.compare.result import CompareResult


def compare(
    files: o.Files,
    metric: o.Metric = None,
    wide: o.Wide = False,
    transpose: o.Transpose = False,
    column: o.Column = None,
    dataset: o.Dataset = None,
    format_: o.Format = None,
    prefer: o.Prefer = "error",
    missing: o.Missing = "error",
    higher: o.Higher = False,
    lower: o.Lower = False,
    alpha: Annotated[float, typer.Option("--alpha", help="Level of the tests.")] = 0.05,
    zeros: Annotated[
        ZeroMethod, typer.Option("--zeros", help="Equal values in Wilcoxon's test: dropped (wilcox), or kept.")
    ] = "wilcox",
    rope: Annotated[
        float, typer.Option("--rope", help="Half-width of practical equivalence, in the metric's units.")
    ] = 0.0,
    seed: o.Seed = 0,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Test which differences are more than luck."""
    results = load_table(files, metric, wide, transpose, column, dataset, format_, prefer)
    result = recassay.compare(
        results,
        metric,
        missing=missing,
        higher_is_better=said_direction(higher, lower),
        alpha=alpha,
        zeros=zeros,
        rope=rope,
        seed=seed,
    )
    finish("compare", {"compare": result}, result.to_dict(), results, as_json, out, lambda: show_compare(result))


def show_compare(result: CompareResult) -> None:
    """Mean ranks and groups, then every pair."""
    f = result.friedman
    print_lines(
        [
            f"{result.metric}, {len(result.algorithms)} algorithms on {len(result.datasets)} datasets",
            f"Friedman chi-square {f.chi_square:.4g} (p = {f.p_value:.3g}); Iman-Davenport F {f.f:.4g} "
            f"(p = {f.f_p_value:.3g}); corrected for ties {f.chi_square_ties:.4g} (p = {f.p_value_ties:.3g})",
            f"Nemenyi critical difference {result.nemenyi_cd:.4g} at {result.alpha:g}",
            result.power.sentence(),
        ]
    )
    print_table(
        "Mean ranks",
        ["algorithm", "mean rank"],
        [[n, f"{r:.3f}"] for n, r in zip(result.algorithms, result.mean_ranks, strict=True)],
    )
    for rule, groups in result.groups.items():
        shown = "; ".join(", ".join(group) for group in groups) or "none: every pair of neighbours differs"
        print_lines([f"Not told apart by {rule.replace('_', '-')}: {shown}"])
    bayes = {(b.left, b.right): b for b in result.bayesian}
    print_table(
        "Pairs (left has the better mean rank)",
        ["left", "right", "won-tied-lost", "p", "p (Holm)", "effect", "P(left)", "P(rope)", "P(right)"],
        [
            [
                p.left,
                p.right,
                f"{p.wins}-{p.ties}-{p.losses}",
                f"{p.p:.3g}",
                f"{p.p_holm:.3g}{'*' if p.significant else ' '}",
                f"{p.rank_biserial:+.2f}",
                f"{bayes[p.left, p.right].p_left:.3f}",
                f"{bayes[p.left, p.right].p_rope:.3f}",
                f"{bayes[p.left, p.right].p_right:.3f}",
            ]
            for p in result.pairs
        ],
        names=2,
    )
    if result.missing.sentence():
        print_lines([result.missing.sentence()])
