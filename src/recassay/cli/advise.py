"""recassay advise."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.render import print_lines, print_table
from recassay.cli.table import finish, load_table, said_direction

if TYPE_CHECKING:
    from recassay.analysis.advise.result import AdviseResult


def advise(
    dataset: Annotated[str, typer.Argument(help="Your dataset: a file, a stored name, or synthetic:PRESET.")],
    files: Annotated[
        list[str] | None,
        typer.Option("--results", help="A finished benchmark: a table or a study folder. [default: published:kdd24]",
                     show_default=False),
    ] = None,
    characteristics: o.Characteristics = None,
    metric: o.Metric = None,
    k: Annotated[int, typer.Option("-k", help="How many nearest datasets to rank on.")] = 5,
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", help="Lowest positive rating (tau). [default: the study's, else none]",
                     show_default=False),
    ] = None,
    filter_: Annotated[
        str | None,
        typer.Option("--filter", help="once, core or none. [default: the study's, else once]", show_default=False),
    ] = None,
    min_items: Annotated[
        int | None, typer.Option("--min-item-interactions", help="[default: the study's, else 5]", show_default=False)
    ] = None,
    min_users: Annotated[
        int | None, typer.Option("--min-user-interactions", help="[default: the study's, else 5]", show_default=False)
    ] = None,
    wide: o.Wide = False,
    transpose: o.Transpose = False,
    column: o.Column = None,
    format_: o.Format = None,
    prefer: o.Prefer = "error",
    missing: o.Missing = "error",
    higher: o.Higher = False,
    lower: o.Lower = False,
    seed: o.Seed = 0,
    study: Annotated[
        Path | None, typer.Option("--study", help="Write the study to run next into this file.", show_default=False)
    ] = None,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:  # fmt: skip
    """Which algorithms to try first on a dataset of one's own."""
    results = load_table(files or [o.DEFAULT_BENCHMARK], metric, wide, transpose, column, None, format_, prefer)
    said: dict[str, Any] = {
        "positive_threshold": threshold, "filter": filter_, "min_item_interactions": min_items,
        "min_user_interactions": min_users,
    }  # fmt: skip
    result = recassay.advise(
        dataset,
        results,
        metric,
        characteristics=characteristics,
        k=k,
        protocol={name: value for name, value in said.items() if value is not None},
        missing=missing,
        higher_is_better=said_direction(higher, lower),
        seed=seed,
    )
    if study is not None:
        recassay.save_text(study, result.study)
        sys.stderr.write(f"wrote {study}: run it with recassay run {study}\n")
    finish("advise", {"advice": result}, result.to_dict(), results, as_json, out, lambda: show_advice(result))


def show_advice(result: AdviseResult) -> None:
    """Warnings, the nearest datasets, the ranks, and what they are worth."""
    told = [f"Evidence: {result.evidence}"] if result.evidence else []
    print_lines([f"{result.dataset}: {result.metric} from {result.n_datasets} datasets", *told, *result.warnings()])
    print_table(
        f"Nearest datasets (distance in standard deviations; usual among the benchmark's own: "
        f"{result.usual_distance[0]:.2f}, at most {result.usual_distance[1]:.2f})",
        ["dataset", "distance"],
        [[near.dataset, f"{near.distance:.2f}"] for near in result.nearest],
    )
    print_table(
        f"Ranks (1 is best), in the order advised; {100 * result.confidence:g} % intervals: overall and model of the "
        "rank on a new dataset, nearest of the mean rank there",
        ["algorithm", "overall", "model", f"on the {len(result.nearest)} nearest", "P(first) there"],
        [
            [
                result.algorithms[a],
                _ranked(result.overall[a], result.overall_interval[a]),
                _ranked(result.expected[a], result.expected_interval[a]),
                _ranked(result.near_ranks[a], result.near_interval[a]),
                f"{result.near_first[a]:.2f}",
            ]
            for a in result.order()
        ],
    )
    print_table(
        "What such predictions were worth on datasets left out",
        ["by", "error of the ranks", "Spearman", "lost by first pick", "gain over overall"],
        [
            [
                {"model": f"model ({result.model})", "baseline": "overall mean rank"}.get(
                    name, f"{len(result.nearest)} nearest"
                ),
                f"{skill.rank_error:.2f}",
                f"{skill.spearman:.2f}",
                f"{100 * skill.loss:.1f} %",
                "-" if name == "baseline"
                else f"{skill.gain:+.2f} ({skill.gain_interval[0]:+.2f} to {skill.gain_interval[1]:+.2f})",
            ]
            for name, skill in result.skills.items()
        ],
    )  # fmt: skip
    print_lines([result.verdict()])
    if result.cost:
        print_table(
            f"Seconds to train on data of this size, on the machine of the benchmark; {100 * result.confidence:g} % "
            "intervals for one dataset",
            ["algorithm", "seconds", "from", "to"],
            [
                [one.algorithm, *(f"{seconds:.3g}" for seconds in (one.seconds, one.low, one.high))]
                for one in sorted(result.cost, key=lambda one: one.seconds)
            ],
        )
    print_lines(["", "A study to run next (--study FILE writes it):", "", *result.study.rstrip().splitlines(), ""])
    print_lines(f"{name} was left out of the distance: {reason}." for name, reason in result.left_out.items())


def _ranked(rank: float, interval: Any) -> str:
    return f"{rank:.1f} ({interval[0]:.1f} to {interval[1]:.1f})"
