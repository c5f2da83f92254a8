"""`rank`, `compare`, `analyze` and `demo`: commands on a results table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recassay import api
from recassay.cli import options as o
from recassay.cli.progress import show_progress
from recassay.cli.render import print_json, print_lines, print_saved, print_table
from recassay.cli.table import finish, load_table, said_direction

if TYPE_CHECKING:
    from recassay.analysis.aggregate import RankResult
    from recassay.analysis.compare import CompareResult


def rank(
    files: o.Files,
    metric: o.Metric = None,
    methods: Annotated[
        str | None,
        typer.Option("--methods", help="Aggregations, separated by commas. [default: all]", show_default=False),
    ] = None,
    wide: o.Wide = False,
    transpose: o.Transpose = False,
    column: o.Column = None,
    missing: o.Missing = "error",
    higher: o.Higher = False,
    lower: o.Lower = False,
    replicates: Annotated[int, typer.Option("--replicates", help="Bootstrap replicates over datasets.")] = 10_000,
    confidence: Annotated[float, typer.Option("--confidence", min=0.5, max=0.999)] = 0.95,
    beta_max: Annotated[float, typer.Option("--beta-max", help="Largest ratio of the Dolan-Moré profiles.")] = 3.0,
    beta_step: Annotated[
        float | None,
        typer.Option(
            "--beta-step",
            help="Integrate the profiles on a grid (the KDD'24 authors: 0.1). [default: exact]",
            show_default=False,
        ),
    ] = None,
    seed: o.Seed = 0,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Rank algorithms under every aggregation."""
    results = load_table(files, metric, wide, transpose, column)
    result = api.rank(
        results,
        metric,
        methods=[m.strip() for m in methods.split(",")] if methods else None,
        missing=missing,  # type: ignore[arg-type]
        higher_is_better=said_direction(higher, lower),
        replicates=replicates,
        confidence=confidence,
        seed=seed,
        beta_max=beta_max,
        beta_step=beta_step,
    )
    finish("rank", {"rank": result}, result.to_dict(), results, as_json, out, lambda: show_rank(result))


def compare(
    files: o.Files,
    metric: o.Metric = None,
    wide: o.Wide = False,
    transpose: o.Transpose = False,
    column: o.Column = None,
    missing: o.Missing = "error",
    higher: o.Higher = False,
    lower: o.Lower = False,
    alpha: Annotated[float, typer.Option("--alpha", help="Level of the tests.")] = 0.05,
    zeros: Annotated[
        str, typer.Option("--zeros", help="Equal values in Wilcoxon's test: wilcox (dropped), pratt or zsplit.")
    ] = "wilcox",
    rope: Annotated[
        float, typer.Option("--rope", help="Half-width of practical equivalence, in the metric's units.")
    ] = 0.0,
    seed: o.Seed = 0,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Test which differences are more than luck."""
    if zeros not in {"wilcox", "pratt", "zsplit"}:
        raise api.UsageError(f"--zeros {zeros!r} is no rule", fix="use wilcox, pratt or zsplit")
    results = load_table(files, metric, wide, transpose, column)
    result = api.compare(
        results,
        metric,
        missing=missing,  # type: ignore[arg-type]
        higher_is_better=said_direction(higher, lower),
        alpha=alpha,
        zeros=zeros,  # type: ignore[arg-type]
        rope=rope,
        seed=seed,
    )
    finish("compare", {"compare": result}, result.to_dict(), results, as_json, out, lambda: show_compare(result))


def analyze(
    files: o.Files,
    metric: o.Metric = None,
    wide: o.Wide = False,
    transpose: o.Transpose = False,
    column: o.Column = None,
    missing: o.Missing = "error",
    higher: o.Higher = False,
    lower: o.Lower = False,
    alpha: Annotated[float, typer.Option("--alpha", help="Level of the tests.")] = 0.05,
    characteristics: o.Characteristics = None,
    seed: o.Seed = 0,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Every analysis; --out saves the report, tables and figures."""
    results = load_table(files, metric, wide, transpose, column)
    report = api.analyze(
        results,
        metric,
        missing=missing,  # type: ignore[arg-type]
        higher_is_better=said_direction(higher, lower),
        alpha=alpha,
        seed=seed,
        out=out,
        characteristics=characteristics,
    )
    _show_report(report, as_json, out)


def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for the study, the report, tables and figures.")
    ] = Path("recassay-demo"),
    trials: Annotated[int, typer.Option("--trials", help="Tuning trials of each algorithm on each dataset.")] = 3,
    workers: Annotated[
        int | None, typer.Option("--workers", "-j", help="Processes. [default: one a core]", show_default=False)
    ] = None,
    as_json: o.Json = False,
) -> None:
    """The main job on embedded data, with no network."""
    report = api.demo(out, trials=trials, workers=workers, progress=show_progress())
    _show_report(report, as_json, out)


def _show_report(report: api.AnalysisReport, as_json: bool, out: Path | None) -> None:
    if as_json:
        print_json(api.document("analyze", report.to_dict(), report.results))
    else:
        if "rank" in report.analyses:
            show_rank(report.analyses["rank"])  # type: ignore[arg-type]
        print_lines(["", *report.verdict])
        print_lines(f"Not done: {name}: {reason}." for name, reason in report.skipped.items())
        if out is None:
            print_lines(["", "With --out DIR the report (one HTML page), the tables and the figures are saved."])
        else:
            print_lines(["", f"Open {out / 'report.html'} first; figures and tables lie beside it."])
    if out is not None:
        print_saved(report.files, out)


def show_rank(result: RankResult) -> None:
    """Ranks of every algorithm under every aggregation with the chance of being first, then the scores."""
    titles = [r.rule.short for r in result.rankings.values()]
    order = result.order()
    arrow = "higher" if result.higher_is_better else "lower"
    ranks, scores = [], []
    for a in order:
        chances = [float(r.probability_best[a]) for r in result.rankings.values()]
        name = result.algorithms[a]
        span = f"{min(chances):.2f}-{max(chances):.2f}"
        ranks.append([name, *(f"{r.ranks[a]:g}" for r in result.rankings.values()), span])
        scores.append([name, *(f"{r.scores[a]:.4g}" for r in result.rankings.values())])
    title = f"{result.metric} ({arrow} is better) on {len(result.datasets)} datasets"
    print_table(f"Ranks: {title}", ["algorithm", *titles, "P(first)"], ranks)
    print_table("Scores", ["algorithm", *titles], scores)
    if result.missing.sentence():
        print_lines([result.missing.sentence()])
    print_lines(f"{name} was left out: it {reason}" for name, reason in result.skipped.items())


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
