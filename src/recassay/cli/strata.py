"""`recassay strata`: the algorithms of a study on held-out items below a popularity threshold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.render import print_lines, print_table
from recassay.cli.table import finish
from recassay.core.choices import OtherItems

if TYPE_CHECKING:
    from recassay.analysis.strata.result import DatasetStrata, StrataResult

MOST_CROSSINGS = 20


def strata(
    folder: Annotated[Path, typer.Argument(help="The folder of a study.", show_default=False)],
    metric: Annotated[str, typer.Option("--metric", "-m", help="An accuracy metric with a cut-off.")] = "ndcg@20",
    thresholds: Annotated[
        str | None,
        typer.Option(
            "--thresholds",
            help="Popularity thresholds P, separated by commas. [default: ten, each letting in as many test events]",
            show_default=False,
        ),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            "--size",
            help="Events in every T_P, or all of those below P. [default: as many as the smallest has]",
            show_default=False,
        ),
    ] = None,
    others: Annotated[
        OtherItems,
        typer.Option("--others", help="A user's held-out items outside T_P: keep (as no hits) or remove from lists."),
    ] = "keep",
    alpha: Annotated[float, typer.Option("--alpha", help="Level of the tests.")] = 0.05,
    replicates: Annotated[int, typer.Option("--replicates", help="Bootstrap replicates over users.")] = 2000,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the sets T_P and of the bootstrap.")] = 0,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Does the order hold on less popular items?"""
    if not folder.is_dir():
        raise recassay.UsageError(f"there is no folder {str(folder)!r}", fix="name the folder of a study")
    result = recassay.strata(
        folder,
        metric,
        thresholds=_thresholds(thresholds),
        size=_size(size),
        others=others,
        alpha=alpha,
        replicates=replicates,
        seed=seed,
    )
    table = recassay.load_results(folder)
    finish("strata", {"strata": result}, result.to_dict(), table, as_json, out, lambda: show_strata(result))


def _thresholds(text: str | None) -> list[int] | None:
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise recassay.UsageError(f"--thresholds {text!r} are no whole numbers", fix="write them as in 5,10,50,200")
    return [int(part) for part in parts]


def _size(text: str | None) -> int | Literal["all"] | None:
    if text is None:
        return None
    if text == "all":
        return "all"
    if not text.isdecimal() or int(text) < 1:
        raise recassay.UsageError(f"--size {text!r} is no number of events", fix="use a whole number from 1, or all")
    return int(text)


def show_strata(result: StrataResult) -> None:
    """For each dataset the values by threshold and the crossings, then the sensitivity of the ranking."""
    for dataset in result.datasets:
        _show_dataset(result, dataset)
    print_table(
        "Popularity sensitivity: Kendall distance between the orders at the lowest and the highest P",
        ["over", "distance", "by chance", f"{100 * result.confidence:g} %", "pairs", "observed", "flipped", "proven"],
        [
            [
                row["dataset"],
                "undefined" if row["distance"] != row["distance"] else f"{row['distance']:.2f}",
                "" if row["chance"] != row["chance"] else f"{row['chance']:.2f}",
                "" if row["chance"] != row["chance"] else f"{row['chance_low']:.2f} to {row['chance_high']:.2f}",
                *("" if row[name] is None else row[name] for name in ("pairs", "observed", "flipped", "proven")),
            ]
            for row in result.sensitivity_frame().to_dicts()
        ],
    )
    print_lines(
        [
            "distance: the share of the observed pairs (with an order at both ends) that turn round; by chance: between "
            "random halves of the users at one P.",
            "proven: pairs in opposite order at both ends, each significantly.",
        ]
    )
    print_lines(f"Left out: {reason}." for reason in result.left_out)


def _show_dataset(result: StrataResult, dataset: DatasetStrata) -> None:
    told = dataset.told_from_best(result.alpha)
    best = dataset.rank == dataset.rank.min(axis=1, keepdims=True)
    print_table(
        f"{dataset.dataset}: {result.metric} on T_P (columns: P)",
        ["algorithm", *map(str, dataset.thresholds)],
        [
            [
                name,
                *(
                    f"{dataset.value[row, a]:.4f}{'*' if best[row, a] else ' ' if told[row, a] else '~'}"
                    for row in range(len(dataset.thresholds))
                ),
            ]
            for name in dataset.order(len(dataset.thresholds) - 1)
            for a in [dataset.algorithms.index(name)]
        ]
        + [
            ["(users)", *(f"{users:,} " for users in dataset.users)],
            ["(% of items)", *(f"{100 * share:.1f} " for share in dataset.shares["share_of_items"])],
            ["(% of training events)", *(f"{100 * share:.1f} " for share in dataset.shares["share_of_train"])],
        ],
    )
    drawn = dataset.shares["events"]
    size = f"{drawn[0]:,.0f}" if drawn.n_unique() == 1 else f"{drawn[0]:,.0f} to {drawn[-1]:,.0f}"
    print_lines([f"Every T_P has {size} events with items that fewer than P users have in training."])
    print_lines(["* the best at this P; ~ not told from it (paired t-test, Holm over the pairs at this P)"])
    if dataset.shortened:
        print_lines(
            [f"{dataset.shortened:,} lists had too few items left after removal: their values are lower bounds"]
        )
    for crossing in dataset.crossings[:MOST_CROSSINGS]:
        sides = {
            (True, True): "both sides significant",
            (True, False): "only the side below significant",
            (False, True): "only the side above significant",
            (False, False): "neither side significant",
        }[crossing.significant_below, crossing.significant_above]
        print_lines(
            [f"{crossing.first} leads {crossing.second} below P = {crossing.threshold:.0f}, and trails above ({sides})"]
        )
    if len(dataset.crossings) > MOST_CROSSINGS:
        print_lines([f"and {len(dataset.crossings) - MOST_CROSSINGS} more crossings (--json or --out DIR has all)"])
    print_lines([""])
