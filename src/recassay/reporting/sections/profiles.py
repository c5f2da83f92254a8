"""Performance profiles: how far each algorithm stays behind the best."""

from __future__ import annotations

from typing import Any

from recassay.analysis.profiles import ProfilesResult
from recassay.core import columns as c
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.plots.forms import line_legend, line_looks, renamed
from recassay.plots.grammar import channel, marks, tips
from recassay.plots.shown import ALL, Shown
from recassay.plots.theme import themed
from recassay.reporting.section import Plots, Section, plot


@plot(
    "performance_profiles",
    lambda result, words: (
        f"Share of the {result.n_datasets} {words.datasets} on which {words.an_algorithm} is within a factor of the "
        "best: the curve that is higher and further left is better."
    ),
    table="profiles",
)
def plot_profiles(result: ProfilesResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """Share of datasets on which each algorithm is within a factor beta of the best; the legend carries the areas."""
    order = shown.of(result.algorithms[a] for a in result.order())
    auc = {name: result.auc[a] for a, name in enumerate(result.algorithms)}
    rows = [{**row, "auc": round(float(auc[row[c.ALGORITHM]]), 4)} for row in shown.rows(result.to_frame().to_dicts())]
    areas = renamed({name: f"{auc[name]:.3f}" for name in order})
    legend = line_legend(
        order, title=f"area share, {words.algorithm}", labelExpr=f"{areas} + '  ' + datum.label", symbolStrokeWidth=3,
        strokes=False,
    )  # fmt: skip
    chart = marks(rows, "line", interpolate="step-after", strokeWidth=2).encode(
        x=channel("beta:Q", title="factor beta from the best", scale={"domain": [1, result.beta_max]}),
        y=channel("share:Q", title=f"share of {words.datasets} within it", scale={"domain": [0, 1]}),
        **line_looks(c.ALGORITHM, order, legend),
        tooltip=tips(c.ALGORITHM, "beta share auc"),
    )
    return themed(
        chart.properties(width=480, height=max(320, 11 * len(order))),
        f"Performance profiles, {result.metric}",
        f"{result.n_datasets} {words.datasets}; higher and further left is better",
    )


SECTION = Section(ProfilesResult, "Performance profiles", "leaderboard", "rank", Plots([plot_profiles]), order=20)
