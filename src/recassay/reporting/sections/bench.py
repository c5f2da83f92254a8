"""One algorithm among the shipped baselines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recassay.analysis.bench.result import BenchResult
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.plots.forms import names_down
from recassay.plots.grammar import Chart, channel, layer, marks
from recassay.plots.theme import COLOURS, FAINT, themed
from recassay.reporting.numbers import between, number
from recassay.reporting.section import Plots, Section, Table, plot
from recassay.reporting.words.bench import sentences


def tables(result: BenchResult, words: Vocabulary = USUAL) -> Iterator[Table]:
    """The algorithm on every dataset, and its neighbours in the order of mean ranks."""
    verdict = result.judgement
    subject = verdict.algorithms.index(result.algorithm)
    k, interval = len(verdict.algorithms), verdict.interval
    shown = [a for a in range(k) if k <= 12 or a < 3 or abs(a - subject) <= 3]
    standing = [
        [verdict.place_of(verdict.algorithms[a]), verdict.algorithms[a], number(verdict.mean_rank[a], 1),
         *([] if interval is None else [between(interval[a, 0], interval[a, 1], 1)]),
         "" if a == subject else verdict.status_of(result.algorithm, verdict.algorithms[a])]
        for a in shown
    ]  # fmt: skip
    yield Table(
        f"{result.algorithm} among {k - 1} baselines by mean rank of {verdict.metric} "
        f"(status: of your {words.algorithm} against that one)",
        ["place", words.algorithm, "mean rank", *([] if interval is None else ["95 % interval"]), "status"],
        standing,
        important=["mean rank", "status"],
    )
    yield Table(
        f"{words.dataset.capitalize()} by {words.dataset}, with the test over {words.users} against the best baseline "
        "there",
        {words.dataset: "{dataset}", verdict.metric: "{value:.4f}", "place": "{place} of {of}",
         "best baseline": "{best}", "its value": "{best_value:.4f}",
         f"difference over {words.users}": "{difference:+.4f} ({low:+.4f} to {high:+.4f})",
         "p (Holm)": "{p:p}"},
        result.rows,
        important=["place", "best baseline", "p (Holm)"],
    )  # fmt: skip


@plot("bench", "Each {dataset}: value over that of the best baseline.")
def plot_bench(result: BenchResult, words: Vocabulary = USUAL) -> Any:
    """By dataset, the algorithm's value as a share of the best baseline's."""
    rows = [
        {"dataset": row.dataset, "share": row.value / row.best_value, "place": row.place, "best": row.best}
        for row in result.rows
        if row.best_value > 0
    ]
    base = Chart(rows).encode(y=names_down("dataset", [str(row["dataset"]) for row in rows]))
    return themed(
        layer(
            marks([{"one": 1.0}], "rule", color=FAINT).encode(x=channel("one:Q")),
            base.mark("circle", color=COLOURS[0], size=70, opacity=1).encode(
                x=channel("share:Q", title="value / value of the best baseline"),
                tooltip=["dataset:N", "share:Q", "place:Q", "best:N"],
            ),
        ).properties(width=420, height=20 * max(len(rows), 1)),
        f"{result.algorithm} against the best baseline",
        "Right of the line it is better than every baseline",
    )


FIGURES = Plots([plot_bench])
SECTION = Section(BenchResult, "Among the shipped baselines", "leaderboard", "benchmark", FIGURES, sentences, tables)
