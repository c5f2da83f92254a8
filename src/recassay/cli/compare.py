"""recassay compare."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.on_table import Asked, on_table
from recassay.core.choices import BarsRule, ZeroMethod


@on_table("compare")
def compare(
    asked: Asked,
    alpha: o.Alpha = 0.05,
    zeros: Annotated[
        ZeroMethod, typer.Option("--zeros", help="Equal values in Wilcoxon's test: dropped (wilcox), or kept.")
    ] = "wilcox",
    rope: Annotated[
        float, typer.Option("--rope", help="Half-width of practical equivalence, in the metric's units.")
    ] = 0.0,
    bars: Annotated[BarsRule, typer.Option("--bars", help="Whose bars the diagram draws.")] = "sign-flips",
    control: o.Control = None,
    within: o.Within = "2%",
    seed: o.Seed = 0,
) -> Any:
    """Test which differences are more than luck."""
    return recassay.compare(
        asked.results,
        asked.metric,
        missing=asked.missing,
        higher_is_better=asked.higher_is_better,
        alpha=alpha,
        zeros=zeros,
        rope=rope,
        bars=bars,
        control=control,
        within=o.share("--within", within),
        seed=seed,
    )
