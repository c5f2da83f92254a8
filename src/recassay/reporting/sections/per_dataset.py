"""Every algorithm on every dataset."""

from __future__ import annotations

from recassay.analysis.per_dataset import PerDatasetResult
from recassay.reporting.section import Figure, Section


def sentences(result: PerDatasetResult) -> list[str]:
    """On how many datasets the best is ahead in every repeat; where there are users, the tests over them say more."""
    several = [one for one in result.ahead if one.repeats > 1]
    if not several:
        return []
    always = sum(one.share == 1 for one in several)
    repeats = sorted({one.repeats for one in several})
    many = f"{repeats[0]}" if len(repeats) == 1 else f"{repeats[0]} to {repeats[-1]}"
    return [
        f"Taken one by one, on {always} of {len(several)} datasets the best algorithm is ahead of the second in every "
        f"repeat ({many} seeds or folds each; a count, no test)."
    ]


def figures(result: PerDatasetResult) -> list[Figure]:
    """The map of values, and the intervals where there are any."""
    from recassay.plots.per_dataset import plot_intervals, plot_values

    whole = f"{result.metric} of every algorithm on every dataset; colour is the share of the dataset's best."
    shown = [Figure("per_dataset", whole, plot_values(result), "per_dataset")]
    if result.source != "none":
        over = {"users": "over the users of its test part", "stated": "from the deviations that the table states"}
        how = over.get(result.source, "over seeds or folds")
        caption = f"Each dataset's values with {100 * result.confidence:g} % intervals {how}."
        shown.append(Figure("per_dataset_intervals", caption, plot_intervals(result), "per_dataset"))
    return shown


SECTION = Section(PerDatasetResult, "Dataset by dataset", "datasets", "report", figures, sentences, order=10)
