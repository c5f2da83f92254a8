"""`recassay users`: paired tests over the users of each dataset of a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.render import print_lines, print_table
from recassay.cli.table import finish

if TYPE_CHECKING:
    from recassay.analysis.users.result import DatasetUsers, UsersResult


def users(
    folder: Annotated[Path, typer.Argument(help="The folder of a study.", show_default=False)],
    metric: o.Metric = None,
    alpha: Annotated[float, typer.Option("--alpha", help="Level of the tests.")] = 0.05,
    replicates: Annotated[int, typer.Option("--replicates", help="Bootstrap replicates over users.")] = 10_000,
    seed: o.Seed = 0,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Test over the users of each dataset; one dataset is enough."""
    result = recassay.users(folder, metric, alpha=alpha, replicates=replicates, seed=seed)
    table = recassay.load_results(folder)
    finish("users", {"users": result}, result.to_dict(), table, as_json, out, lambda: show_users(result))


def show_users(result: UsersResult) -> None:
    """Each dataset's means and pairs, then the pairs over all datasets."""
    share = f"{100 * result.confidence:g} %"
    for one in result.datasets:
        _show_dataset(one, result.metric, share)
    if result.summary:
        effects = any(pair.effects is not None for pair in result.summary)
        rows = [
            [pair.left, pair.right, f"{pair.wins}-{pair.ties}-{pair.losses}",
             *([] if pair.effects is None else [
                 f"{pair.effects.estimate:+.5f}", f"{pair.effects.low:+.5f} to {pair.effects.high:+.5f}",
                 "" if pair.p_holm is None else f"{pair.p_holm:.3g}{'*' if pair.significant else ' '}",
                 f"{pair.effects.tau:.4f}"])]
            for pair in result.summary
        ]  # fmt: skip
        header = ["left", "right", "won-open-lost"]
        header += ["difference", f"{share} interval", "p (Holm)", "tau"] if effects else []
        print_table(f"Over {len(result.datasets)} datasets (random effects)", header,
                    [row + [""] * (len(header) - len(row)) for row in rows], names=2)  # fmt: skip
    print_lines(f"{name} is left out: {why}" for name, why in result.skipped.items())


def _show_dataset(one: DatasetUsers, metric: str, share: str) -> None:
    left_out = f"; {one.left_out:,} without a score left out" if one.left_out else ""
    best = one.not_worse()
    print_table(
        f"{one.dataset}: {metric} over {one.users:,} users{left_out}",
        ["algorithm", "mean", f"{share} interval", "shown to be worse than the best"],
        [
            [name, f"{mean:.5f}", f"{low:.5f} to {high:.5f}", "no" if name in best else "yes"]
            for name, mean, low, high in zip(one.algorithms, one.means, one.low, one.high, strict=True)
        ],
    )
    print_table(
        f"{one.dataset}: pairs (left has the better mean)",
        ["left", "right", "difference", f"{share} interval", "p", "p (Holm)", "users better-equal-worse"],
        [
            [p.left, p.right, f"{p.difference:+.5f}", f"{p.low:+.5f} to {p.high:+.5f}", f"{p.p:.3g}",
             f"{p.p_holm:.3g}{'*' if p.significant else ' '}", f"{p.better}-{p.equal}-{p.worse}"]
            for p in one.pairs
        ],
        names=2,
    )  # fmt: skip
