"""`select` and `advise`: which few datasets are enough, and what a benchmark says about a new one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.render import print_lines, print_table
from recassay.cli.table import finish, load_table, said_direction

if TYPE_CHECKING:
    from recassay.analysis.select.result import SelectResult, Spread


def select(
    files: o.Files,
    metric: o.Metric = None,
    k: Annotated[int, typer.Option("-k", help="How many datasets to choose.")] = 6,
    characteristics: o.Characteristics = None,
    method: Annotated[
        str,
        typer.Option("--method", help="all, or some of random, kmeans, d_optimal, a_optimal, preserving (commas)."),
    ] = "all",
    aggregation: Annotated[
        str | None,
        typer.Option("--aggregation", help="How rankings are made: see recassay rank. [default: dm_auc]",
                     show_default=False),
    ] = None,
    simulations: Annotated[int, typer.Option("--simulations", help="Random subsets, and starts of each way.")] = 500,
    wide: o.Wide = False,
    transpose: o.Transpose = False,
    column: o.Column = None,
    dataset: o.Dataset = None,
    format_: o.Format = None,
    prefer: o.Prefer = "error",
    missing: o.Missing = "error",
    higher: o.Higher = False,
    lower: o.Lower = False,
    seed: o.Seed = 0,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:  # fmt: skip
    """Choose few datasets that keep the ranking of all."""
    results = load_table(files, metric, wide, transpose, column, dataset, format_, prefer)
    result = recassay.select(
        results,
        metric,
        k=k,
        characteristics=characteristics,
        methods=[name.strip() for name in method.split(",")],
        aggregation=aggregation,
        missing=missing,
        higher_is_better=said_direction(higher, lower),
        simulations=simulations,
        seed=seed,
    )
    finish("select", {"selection": result}, result.to_dict(), results, as_json, out, lambda: show_selection(result))


def show_selection(result: SelectResult) -> None:
    """The methods with their numbers, then the datasets that each chose."""
    rows = [
        [
            name,
            "-" if choice.simulated is None else _spread(choice.simulated),
            "-" if name == "random" else f"{choice.rho:.3f}",
            "-" if name == "random" else f"{100 * choice.better_than_random:.0f} %",
            _spread(choice.held_out_algorithms),
            "-" if not choice.by_metric else f"{sum(choice.by_metric.values()) / len(choice.by_metric):.3f}",
            "-" if choice.held_out_both is None else f"{choice.held_out_both.mean:.3f}",
        ]
        for name, choice in result.choices.items()
    ]
    print_table(
        f"Spearman's rho between the ranking on {result.k} datasets and on all {len(result.datasets)} "
        f"({result.metric}, {result.rule})",
        ["method", "over its chance", "its choice", "random below", "other algorithms", "other metrics", "both other"],
        rows,
    )
    print_lines(
        [
            "'over its chance' and 'other algorithms': mean (middle 95 %). Where a way looks at the results "
            "(preserving), 'its choice' flatters it, as it was made on the same numbers: compare 'other algorithms' "
            "and 'both other', which the choice did not see." + _luck(result),
            "",
            *(f"{name}: {', '.join(choice.datasets)}" for name, choice in result.choices.items() if choice.datasets),
            *(f"{name} was left out: it {reason}" for name, reason in result.skipped.items()),
        ]
    )


def _luck(result: SelectResult) -> str:
    p = result.choices["preserving"].held_out_p if "preserving" in result.choices else None
    return "" if p is None else f" Subsets that know nothing reach as much on other algorithms with p = {p:.3f}."


def _spread(spread: Spread | None) -> str:
    if spread is None:
        return "-"
    return f"{spread.mean:.3f} ({spread.low:.2f} to {spread.high:.2f})".replace("-0.00", "0.00")
