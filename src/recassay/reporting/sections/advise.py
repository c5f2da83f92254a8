"""Advice for a new dataset."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from recassay.analysis.advise.result import AdviseResult
from recassay.core import columns as c
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.plots.forms import intervals, names_down
from recassay.plots.grammar import Chart, channel, layer, tips
from recassay.plots.shown import ALL, Shown
from recassay.plots.theme import COLOURS, FAINT, shorten, themed
from recassay.reporting.numbers import between, number, percent
from recassay.reporting.section import Plots, Section, Table, plot
from recassay.reporting.words.advise import sentences


def tables(result: AdviseResult, words: Vocabulary = USUAL) -> Iterator[Table]:
    """The ranks to expect, the nearest datasets, and what such predictions were worth."""
    median, largest = result.usual_distance
    near = f"{len(result.nearest)} nearest"
    ranks = [
        [result.algorithms[a], _ranked(result.overall[a], result.overall_interval[a]),
         _ranked(result.expected[a], result.expected_interval[a]),
         _ranked(result.near_ranks[a], result.near_interval[a]), number(result.near_first[a])]
        for a in result.order()
    ]  # fmt: skip
    titles = {"model": f"model ({result.model})", "baseline": "overall mean rank"}
    worth = [
        [titles.get(name, near), f"{skill.rank_error:.2f}", f"{skill.spearman:.2f}", percent(skill.loss, 1),
         "-" if name == "baseline"
         else f"{skill.gain:+.2f} ({skill.gain_interval[0]:+.2f} to {skill.gain_interval[1]:+.2f})"]
        for name, skill in result.skills.items()
    ]  # fmt: skip
    yield Table(
        f"Ranks (1 is best), in the order advised; {100 * result.confidence:g} % intervals: overall and model of "
        f"the rank on a new {words.dataset}, nearest of the mean rank there",
        [words.algorithm, "overall", "model", f"on the {near}", "share first there"],
        ranks,
        important=["model" if result.trusts_model else "overall", f"on the {near}"],
    )
    yield Table(
        f"Nearest {words.datasets} to {result.dataset} ({result.metric} from {result.n_datasets} {words.datasets}; "
        f"distance in standard deviations, usual among the benchmark's own: {median:.2f}, at most {largest:.2f})",
        {words.dataset: "{dataset}", "distance": "{distance:.2f}"},
        result.nearest,
        notes=[f"{name} was left out of the distance: {reason}." for name, reason in result.left_out.items()],
    )
    yield Table(
        f"What such predictions were worth on {words.datasets} left out",
        ["by", "error of the ranks", "Spearman", "lost by first pick", "gain over overall"],
        worth,
        important=["error of the ranks", "gain over overall"],
    )
    if result.cost:
        yield Table(
            "Seconds to train on data of this size, on the machine of the benchmark; "
            f"{100 * result.confidence:g} % intervals for one {words.dataset}",
            {words.algorithm: "{algorithm}", "seconds": "{seconds:.3g}", "from": "{low:.3g}", "to": "{high:.3g}"},
            sorted(result.cost, key=lambda cost: cost.seconds),
        )


def _ranked(rank: float, interval: Sequence[float]) -> str:
    around = between(interval[0], interval[1], 1)
    return f"{rank:.1f} ({around})" if around else f"{rank:.1f}"


@plot(
    "advice",
    lambda result, words: (
        f"Rank of each {words.algorithm} in {result.metric} over the whole benchmark, as a model on characteristics "
        f"predicts it for {result.title}, and on its {len(result.nearest)} nearest {words.datasets}."
    ),
)
def plot_advice(result: AdviseResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """Algorithms in the order advised: rank overall, by the model, and on the nearest datasets, with intervals."""
    near = f"on the {len(result.nearest)} nearest"
    kinds = {"overall": "overall", "predicted": "model", "nearest": near}
    rows = [
        {c.ALGORITHM: row[c.ALGORITHM], "by": title, **{end: row[f"{kind}_{end}"] for end in ("rank", "low", "high")}}
        for row in shown.rows(result.to_frame().to_dicts())
        for kind, title in kinds.items()
    ]
    order = shown.of(result.algorithms[a] for a in result.order())
    titles = list(kinds.values())
    scale = {"domain": titles, "range": ["#5b6770", COLOURS[0], COLOURS[1]]}
    colour = channel("by:N", scale=scale, sort=titles, legend={"title": None})
    base = Chart(rows).encode(
        y=names_down(c.ALGORITHM, order),
        yOffset=channel("by:N", sort=titles),
        color=colour,
        tooltip=tips(f"{c.ALGORITHM} by", "rank low high"),
    )
    x = {"domain": [1, max(2, len(result.algorithms))], "nice": False}
    axis = {"gridColor": "#eef0f2", "domainColor": FAINT}
    marks = intervals(base, "rank", "low", "high", scale=x, title="rank (1 is best)", axis=axis, line={"opacity": 0.45})
    return themed(
        layer(*marks).properties(width=430, height={"step": 11}),
        f"Ranks to expect on {shorten(result.title, 60)}, {result.metric}",
        f"{100 * result.confidence:g} % intervals (overall, model: of the rank on a new {words.dataset}; nearest: of "
        "the mean rank there); order by "
        f"{'the model' if result.trusts_model else 'the overall mean rank, which the model does not beat'}",
    )


FIGURES = Plots([plot_advice])
SECTION = Section(
    AdviseResult, "Advice for a new {dataset}", "datasets", "select", FIGURES, sentences, tables, order=50
)
