"""`stress`: how the rankings of a results table bear perturbation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.render import print_lines, print_table
from recassay.cli.table import finish, load_table, said_direction

if TYPE_CHECKING:
    from recassay.analysis.stress.result import StressResult
    from recassay.core.types import FloatArray


def stress(
    files: o.Files,
    metric: o.Metric = None,
    methods: Annotated[
        str | None,
        typer.Option("--methods", help="Aggregations, separated by commas. [default: all]", show_default=False),
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option("--draws", help="Random subsets at each size. [default: 1000]", show_default=False),
    ] = None,
    wide: o.Wide = False,
    transpose: o.Transpose = False,
    column: o.Column = None,
    dataset: o.Dataset = None,
    format_: o.Format = None,
    prefer: o.Prefer = "error",
    missing: o.Missing = "error",
    higher: o.Higher = False,
    lower: o.Lower = False,
    beta_max: Annotated[float, typer.Option("--beta-max", help="Largest ratio of the Dolan-Moré profiles.")] = 3.0,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the draws.")] = 0,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Which conclusions survive fewer datasets, other algorithms."""
    results = load_table(files, metric, wide, transpose, column, dataset, format_, prefer)
    result = recassay.stress(
        results,
        metric,
        methods=[m.strip() for m in methods.split(",")] if methods else None,
        draws=draws,
        missing=missing,
        higher_is_better=said_direction(higher, lower),
        beta_max=beta_max,
        seed=seed,
    )
    finish("stress", {"stress": result}, result.to_dict(), results, as_json, out, lambda: show_stress(result))


def show_stress(result: StressResult) -> None:
    """The properties of each aggregation with their signs, rho under fewer datasets, what survives, and the verdict."""
    size = f"{len(result.algorithms)} algorithms on {len(result.datasets)} datasets"
    print_table(
        f"Properties of the aggregations: {result.metric}, {size}",
        ["aggregation", *(row.title for row in result.signs)],
        [
            [title, *(_signed(row.numbers[r], row.signs[r]) for row in result.signs)]
            for r, title in enumerate(result.titles)
        ],
    )
    header = ["aggregation"]
    columns: list[FloatArray] = []
    for subset in result.subsets:
        header.append(f"{subset.size} datasets")
        columns.append(subset.numbers["full"])
        if "disjoint" in subset.numbers:
            header.append(f"two of {subset.size}, disjoint")
            columns.append(subset.numbers["disjoint"])
    curve = result.curves["drop_datasets"]
    half = len(result.datasets) // 2
    header.append(f"without {half} datasets")
    columns.append(curve.numbers[:, curve.x.tolist().index(half)])
    print_table(
        f"Spearman's rho with the ranking on all datasets (mean, middle 95 % of {result.draws} draws)",
        header,
        [[title, *(_span(column[r]) for column in columns)] for r, title in enumerate(result.titles)],
    )
    print_table(
        "What survives: under how many aggregations a statement is kept by at least 95 % of the changed tables",
        ["conclusion", "when", "holds under", "verdict"],
        [
            [found.statement, found.when, f"{found.holds_under} of {len(result.rules)}", found.verdict]
            for found in result.conclusions
            if found.change == result.main.name
        ],
        names=2,
    )
    print_lines(result.verdict())
    if result.missing.sentence():
        print_lines([result.missing.sentence()])
    print_lines(f"{name} was left out: it {reason}" for name, reason in result.skipped.items())


def _signed(number: float, sign: str) -> str:
    return sign if sign == "NA" else f"{number:.3f} {sign}"


def _span(numbers: FloatArray) -> str:
    mean, low, high = (float(value) for value in numbers[:3])
    return f"{mean:.3f} [{low:.2f}, {high:.2f}]"
