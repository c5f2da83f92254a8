"""Advice for a new dataset."""

from __future__ import annotations

from recassay.analysis.advise.result import AdviseResult
from recassay.reporting.section import Figure, Section


def sentences(result: AdviseResult) -> list[str]:
    """What weakens the advice, and whether characteristics helped."""
    return [*result.warnings(), result.verdict()]


def figures(result: AdviseResult) -> list[Figure]:
    """The ranks to expect."""
    from recassay.plots.advise import plot_advice

    caption = (
        f"Rank of each algorithm in {result.metric} over the whole benchmark, as a model on characteristics predicts "
        f"it for {result.title}, and on its {len(result.nearest)} nearest datasets."
    )
    return [Figure("advice", caption, plot_advice(result), "advice")]


SECTION = Section(AdviseResult, "Advice for a new dataset", "datasets", "select", figures, sentences)
