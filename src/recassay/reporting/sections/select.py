"""The choice of a few datasets: how well each way keeps the ranking, honestly judged."""

from __future__ import annotations

from recassay.analysis.select.result import PRESERVING, SelectResult, Spread
from recassay.core.errors import listing
from recassay.reporting.numbers import between, number, percent
from recassay.reporting.section import Figure, Section, Table


def sentences(result: SelectResult) -> list[str]:
    """What a random choice keeps, and whether the best choice keeps more on what it did not see."""
    said = []
    random, best = result.choices.get("random"), result.choices.get(PRESERVING)
    if random is not None and random.simulated is not None:
        apart = random.left_out
        said.append(
            f"{result.k} of the {len(result.datasets)} datasets, taken at random, rank in {result.metric} as the other "
            f"{len(result.datasets) - result.k} do with a Spearman correlation of {apart.mean:.2f} on average (middle "
            f"95 %: {apart.low:.2f} to {apart.high:.2f}; with all {len(result.datasets)}, which contain them, "
            f"{random.simulated.mean:.2f})."
        )
    if best is None:
        return said
    named = ", ".join(best.datasets)
    held = best.held_out_algorithms
    if held is None or random is None or random.held_out_algorithms is None:
        said.append(
            f"The choice that best preserves it ({named}) reaches {best.rho:.2f} on the numbers it was made on, which "
            "flatters it."
        )
        return said
    p = 1.0 if best.held_out_p is None else best.held_out_p
    verdict = (
        f"more than luck (p = {p:.3f})"
        if p < 0.05
        else f"no more than subsets that know nothing may reach (p = {p:.2f})"
    )
    said.append(
        f"The choice that best preserves it ({named}) reaches {best.rho:.2f} on the numbers it was made on; chosen on "
        f"one half of the algorithms and judged by the other on the datasets left out, such a choice reaches "
        f"{held.mean:.2f}, a random one {random.held_out_algorithms.mean:.2f}: {verdict}."
    )
    return said


def tables(result: SelectResult) -> list[Table]:
    """The methods with their numbers, then the datasets that each chose."""
    rows = [
        [name, _spread(choice.left_out), _spread(choice.simulated),
         number(None if name == "random" else choice.rho, 3, missing="-"),
         "-" if name == "random" else percent(choice.better_than_random), _spread(choice.held_out_algorithms),
         number(sum(choice.by_metric.values()) / len(choice.by_metric) if choice.by_metric else None, 3, missing="-"),
         number(None if choice.held_out_both is None else choice.held_out_both.mean, 3, missing="-")]
        for name, choice in result.choices.items()
    ]  # fmt: skip
    preserving = result.choices.get(PRESERVING)
    p = None if preserving is None else preserving.held_out_p
    luck = "" if p is None else f" Subsets that know nothing reach as much on other algorithms with p = {p:.3f}."
    note = (
        "'with those left out', 'over its chance' and 'other algorithms': mean (middle 95 %). All datasets contain the "
        "chosen ones; 'with those left out', 'other algorithms' and 'both other' are judged on the others alone. Where "
        "a way looks at the results (preserving), 'its choice' flatters it, as it was made on the same numbers: "
        f"compare 'other algorithms' and 'both other', which the choice did not see.{luck}"
    )
    chosen = [[name, listing(choice.datasets, most=None)] for name, choice in result.choices.items() if choice.datasets]
    return [
        Table(
            f"Spearman's rho between the ranking on {result.k} datasets and on all {len(result.datasets)} "
            f"({result.metric}, {result.rule})",
            ["method", "with those left out", "over its chance", "its choice", "random below", "other algorithms",
             "other metrics", "both other"],
            rows,
            important=["other algorithms", "with those left out", "its choice", "both other", "other metrics"],
            notes=[note],
        ),
        Table(
            "The datasets that each chose",
            ["method", "datasets"],
            chosen,
            names=2,
            notes=[f"{name} was left out: it {reason}." for name, reason in result.skipped.items()],
        ),
    ]  # fmt: skip


def _spread(spread: Spread | None) -> str:
    if spread is None:
        return "-"
    return f"{spread.mean:.3f} ({between(spread.low, spread.high)})".replace("-0.00", "0.00")


def figures(result: SelectResult) -> list[Figure]:
    """Agreement by method at one size, and by the number of datasets."""
    from recassay.plots.select import plot_selection, plot_selection_curve

    drawn = [
        Figure(
            "dataset_selection",
            f"How well the ranking on {result.k} datasets agrees with that on all {len(result.datasets)}, by how the "
            "datasets were chosen.",
            plot_selection(result),
            "selection",
        )
    ]
    if result.curve:
        drawn.append(
            Figure(
                "dataset_selection_curve",
                "Agreement with the ranking on all datasets against the number of datasets, by how they were chosen.",
                plot_selection_curve(result),
                "selection_curve",
            )
        )
    return drawn


SECTION = Section(
    SelectResult, "How few datasets are enough?", "datasets", "select", figures, sentences, tables, order=40
)
