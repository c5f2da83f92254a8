"""The data of the interactive leaderboard: the whole table, the rules, and what only Python computes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl

from recassay.analysis.compare.result import critical_differences
from recassay.analysis.per_dataset import PerDatasetResult
from recassay.analysis.rank.result import BETA_MAX, RankResult, rule_notes
from recassay.analysis.users.result import UsersResult
from recassay.core import columns as c
from recassay.core.labels import known_direction
from recassay.plots.theme import COLOURS, DASHES
from recassay.reporting.content import ReportContent
from recassay.reporting.markup import Markup, tag
from recassay.reporting.tables import html_table


def board_data(content: ReportContent) -> dict[str, Any]:
    """What the page's script needs to rank, test and draw any choice of datasets and algorithms.

    Metrics of unknown direction are left out, except the one that was analysed. `nemenyi` holds, from two algorithms
    on, the critical difference of one dataset; over n datasets it is that divided by sqrt(n).
    """
    algorithms, datasets = content.results.algorithms, content.results.datasets
    metrics = []
    for label in content.results.metrics:
        upward = content.higher_is_better if label == content.metric else known_direction(label)
        if upward is not None:
            values = _values(content, label, algorithms, datasets)
            metrics.append({"label": label, "up": upward, "values": values})
    return {
        "algorithms": _looks(content, algorithms),
        "datasets": datasets,
        "metrics": metrics,
        "metric": content.metric,
        "missing": "drop-datasets" if content.missing == "error" else content.missing,
        "alpha": content.alpha,
        "betaMax": BETA_MAX,
        "nemenyi": critical_differences(len(algorithms), content.alpha),
        "rules": rule_notes(),
        "computed": _computed(content),
    }


def one_dataset(content: ReportContent) -> Markup | None:
    """The leaderboard of a table with a single dataset: means with their intervals over users, or over repeated runs.

    There are no datasets to choose from, and no ranks to aggregate.
    """
    over = next((r for r in content.analyses.values() if isinstance(r, UsersResult)), None)
    alone = next((r for r in content.analyses.values() if isinstance(r, PerDatasetResult)), None)
    if over is not None:
        share = f"{100 * over.confidence:g} % intervals over users"
        frame = over.means_frame().select(c.ALGORITHM, c.VALUE, "low", "high", "not_worse_than_best")
    elif alone is not None:
        repeats = f"{100 * alone.confidence:g} % intervals over repeated runs"
        share = repeats if alone.source == "repeats" else "no interval: each was measured once"
        frame = (
            alone.to_frame()
            .select(c.ALGORITHM, c.VALUE, "low", "high")
            .sort(c.VALUE, descending=content.higher_is_better)
        )
    else:
        return None
    caption = f"{content.metric} on {content.results.datasets[0]}, the only dataset; {share}"
    return tag("section", tag("h3", "On this dataset"), html_table(frame, caption, most=500), id="one-dataset")


def _looks(content: ReportContent, algorithms: list[str]) -> list[dict[str, Any]]:
    """Each algorithm with the colour and pattern that it has in the charts; those that no chart shows come last."""
    ranked = next((r.algorithms for r in content.analyses.values() if isinstance(r, RankResult)), ())
    place = {name: i for i, name in enumerate([*ranked, *(a for a in algorithms if a not in ranked)])}
    return [
        {
            "name": name,
            "colour": COLOURS[place[name] % len(COLOURS)],
            "dash": DASHES[place[name] // len(COLOURS) % len(DASHES)],
        }
        for name in algorithms
    ]


def _values(content: ReportContent, label: str, algorithms: list[str], datasets: list[str]) -> list[list[float | None]]:
    """Algorithms x datasets, None where missing; repeated measurements are averaged as `Results.matrix` does."""
    rows = content.results.frame.filter(pl.col(c.METRIC) == label)
    whole = pl.when(pl.col(c.VALUE).null_count() == 0).then(pl.col(c.VALUE).mean()).alias(c.VALUE)
    if c.FOLD in rows.columns:
        rows = rows.group_by(c.ALGORITHM, c.DATASET, c.FOLD).agg(whole)
    cells = rows.group_by(c.ALGORITHM, c.DATASET).agg(whole).drop_nulls(c.VALUE)
    table = np.full((len(algorithms), len(datasets)), np.nan)
    places = [
        cells.get_column(key).replace_strict(names, range(len(names)), return_dtype=pl.Int64).to_numpy()
        for key, names in ((c.ALGORITHM, algorithms), (c.DATASET, datasets))
    ]
    table[places[0], places[1]] = cells.get_column(c.VALUE).to_numpy()
    return [[None if math.isnan(v) else v for v in row] for row in table.tolist()]


def _computed(content: ReportContent) -> dict[str, Any] | None:
    """Intervals and probabilities of the analysed metric on its whole selection."""
    ranked = next((r for r in content.analyses.values() if isinstance(r, RankResult)), None)
    if ranked is None:
        return None
    return {
        "algorithms": list(ranked.algorithms),
        "datasets": list(ranked.datasets),
        "confidence": ranked.confidence,
        "resampled": ranked.resampled,
        "rules": {
            name: {
                "interval": r.score_interval.tolist(),
                "ranks": r.rank_interval.tolist(),
                "first": r.probability_best.tolist(),
            }
            for name, r in ranked.rankings.items()
        },
    }
