"""recassay compare."""

from __future__ import annotations

from typing import Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.table import finish, load_table, said_direction
from recassay.core.choices import BarsRule, ZeroMethod


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
    bars: Annotated[BarsRule, typer.Option("--bars", help="Whose bars the diagram draws.")] = "wilcoxon-holm",
    control: o.Control = None,
    within: o.Within = "2%",
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
        bars=bars,
        control=control,
        within=o.share("--within", within),
        seed=seed,
    )
    finish("compare", "compare", result, results, as_json, out)
