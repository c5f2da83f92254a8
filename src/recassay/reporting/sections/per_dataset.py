"""Every algorithm on every dataset."""

from __future__ import annotations

from recassay.analysis.per_dataset import PerDatasetResult
from recassay.reporting.section import Figure, Section


def sentences(result: PerDatasetResult) -> list[str]:
    """On how many datasets the best is not clear of the second; where there are users, the tests over them say more."""
    if result.source != "repeats":
        return []
    open_ones = result.unsettled()
    return [
        f"Taken one by one, on {len(open_ones)} of {len(result.datasets)} datasets the intervals (over repeated runs) "
        "of the two best algorithms overlap."
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
