"""`comper` and `comper-matrix`: one score out of five dimensions, and where its weights come from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.render import print_lines, print_table
from recassay.cli.table import finish, load_table
from recassay.core.choices import ComPerTimeUnit, Normalisation

if TYPE_CHECKING:
    from recassay.analysis.comper.matrix import Derivation
    from recassay.analysis.comper.result import ComPerResult

MOST_SETTINGS = 8
"""Settings that get a column of their own on the terminal."""


def comper(
    files: o.Files,
    correctness: Annotated[
        str | None,
        typer.Option("--correctness", help="Metric of accuracy. [default: correctness, else auc]", show_default=False),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option("-k", min=1, help="Cut-off of coverage and diversity. [default: 10]", show_default=False),
    ] = None,
    matrix: Annotated[
        str | None,
        typer.Option(
            "--matrix",
            help="CSV: a row a dimension, a column an objective; or `printed`. [default: Table 8]",
            show_default=False,
        ),
    ] = None,
    normalisation: Annotated[
        Normalisation, typer.Option("--normalisation", help="Equation 4 (ratio), or another.")
    ] = "ratio",
    time_unit: Annotated[
        ComPerTimeUnit, typer.Option("--time-unit", help="Unit in which time enters the score.")
    ] = "seconds",
    draws: Annotated[int, typer.Option("--draws", min=1, help="Random matrices of the sensitivity analysis.")] = 10_000,
    column: o.Column = None,
    dataset: o.Dataset = None,
    format_: o.Format = None,
    prefer: o.Prefer = "error",
    missing: o.Missing = "error",
    seed: Annotated[int, typer.Option("--seed", help="Seed of the random matrices.")] = 0,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """One score: accuracy, coverage, diversity, robustness, time."""
    results = load_table(files, correctness, False, False, column, dataset, format_, prefer)
    result = recassay.comper(
        results,
        correctness=correctness,
        k=k,
        matrix=matrix,
        normalisation=normalisation,
        time_unit=time_unit,
        missing=missing,
        draws=draws,
        seed=seed,
    )
    finish("comper", {"comper": result}, result.to_dict(), results, as_json, out, lambda: show_comper(result))


def comper_matrix(
    experts: Annotated[
        list[Path] | None,
        typer.Option("--experts", help="Labels N, P, S: merged, or repeated for three experts.", show_default=False),
    ] = None,
    similarities: Annotated[
        Path | None, typer.Option("--similarities", help="Dice similarities of the definitions.", show_default=False)
    ] = None,
    definitions: Annotated[
        Path | None,
        typer.Option("--definitions", help="name,definition: compute the similarities.", show_default=False),
    ] = None,
    fourth: Annotated[
        Path | None,
        typer.Option("--fourth", help="Labels, or ratings 1 to 5, of the open pairs.", show_default=False),
    ] = None,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """ComPer's matrix, derived step by step."""
    derived = recassay.comper_matrix(experts=experts, similarities=similarities, definitions=definitions, fourth=fourth)
    finish(
        "comper-matrix",
        {"comper-matrix": derived},
        derived.to_dict(),
        derived,
        as_json,
        out,
        lambda: show_derivation(derived),
    )


def show_comper(result: ComPerResult) -> None:
    """Scores, what each dimension adds to them (means over settings), and what can be concluded."""
    table, order = result.table, result.order()
    mean, parts = result.scores.mean(axis=1), result.by_dimension.mean(axis=1)
    dimensions = list(result.to_dict()["weights"])
    print_table(
        f"ComPer over {len(table.datasets)} settings: score, and what each dimension adds to it "
        f"({result.normalisation}, {result.matrix.name})",
        ["algorithm", "score", *dimensions],
        [[table.algorithms[a], f"{mean[a]:.3f}", *(f"{part:.3f}" for part in parts[a])] for a in order],
    )
    if 1 < len(table.datasets) <= MOST_SETTINGS:
        print_table(
            "Score in each setting",
            ["algorithm", *table.datasets],
            [[table.algorithms[a], *(f"{value:.3f}" for value in result.scores[a])] for a in order],
        )
    if result.agreements:
        print_table(
            "Does the order hold over settings? (reversed: pairs against the majority of settings)",
            ["measure", "scope", "settings", "Kendall's tau", "most often first", "share", "reversed"],
            [
                [row["measure"], row["scope"], row["settings"], *_shares(row)]
                for row in result.agreement_frame().to_dicts()
                if row["scope"] == "all" or row["measure"] == "comper"
            ],
            names=2,
        )
    print_lines(result.conclusions())


def show_derivation(derived: Derivation) -> None:
    """The label of every step, and the matrix."""
    frames = derived.frames()
    matrix = frames.pop("comper_matrix")
    titles = {name: name.removeprefix("comper_").replace("_", " ").capitalize() for name in frames}
    for name, frame in frames.items():
        rows = [[value if isinstance(value, str) else f"{value:.3f}" for value in row] for row in frame.iter_rows()]
        print_table(titles[name], frame.columns, rows)
    print_table(
        "Matrix (Table 8), and the weight of each dimension, the sum of its row",
        [*matrix.columns, "weight"],
        [[name, *(f"{value:.4f}" for value in row), f"{sum(row):.4f}"] for name, *row in matrix.iter_rows()],
    )
    found = derived.to_dict()
    print_lines(
        [
            f"{found['agree_after_matching_1']} pairs agree after matching 1, {found['agree_after_matching_2']} after "
            "matching 2; the others take the mean similarity of their mean label."
        ]
    )


def _shares(row: dict[str, object]) -> list[str]:
    tau, same, reversed_share = row["tau"], row["same_first"], row["reversed_share"]
    shown = [("-" if value is None else f"{value:.2f}") for value in (tau, same, reversed_share)]
    return [shown[0], str(row["first"]), shown[1], shown[2]]
