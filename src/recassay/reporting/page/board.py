"""The data of the interactive leaderboard: the whole table, the rules, and what only Python computes."""

from __future__ import annotations

from typing import Any

from recassay.analysis.compare.result import CompareResult, critical_differences
from recassay.analysis.per_dataset import PerDatasetResult
from recassay.analysis.rank.result import BETA_MAX, RankResult, rule_notes
from recassay.analysis.users.result import UsersResult
from recassay.core import columns as c
from recassay.core.choices import FEWEST_DATASETS, MANY_ALGORITHMS, SHOWN_OF_MANY
from recassay.core.system.plain import plain
from recassay.core.tables.labels import known_direction
from recassay.core.tabular import stated
from recassay.core.vocabulary import USUAL
from recassay.plots.theme import colour_scale, colours_of, dash_scale
from recassay.reporting.content import ReportContent
from recassay.reporting.markup import Markup, tag
from recassay.reporting.tables import html_table


def board_data(content: ReportContent) -> dict[str, Any]:
    """What the page's script needs to rank, test and draw any choice of datasets and algorithms.

    Metrics of unknown direction are left out, except the one that was analysed. `nemenyi` holds, from two algorithms
    on, the critical difference of one dataset; over n datasets it is that divided by sqrt(n).
    """
    algorithms, datasets, words = content.results.algorithms, content.results.datasets, content.words
    ranked = content.result(RankResult)
    with colours_of(() if ranked is None else ranked.algorithms):  # as in the charts
        colours, dashes = colour_scale(algorithms)["range"], dash_scale(algorithms)["range"]
    looks = zip(algorithms, colours, dashes, strict=True)
    metrics = []
    for label in content.results.metrics:
        upward = content.higher_is_better if label == content.metric else known_direction(label)
        if upward is not None:
            metrics.append({"label": label, "up": upward, "values": plain(content.results.table(label))})
    return {
        "algorithms": [{"name": name, "colour": colour, "dash": dash} for name, colour, dash in looks],
        "datasets": datasets,
        "metrics": metrics,
        "metric": content.metric,
        "missing": "drop-datasets" if content.missing == "error" else content.missing,
        "alpha": content.alpha,
        "fewest": FEWEST_DATASETS,
        "many": {"from": MANY_ALGORITHMS, "shown": SHOWN_OF_MANY},
        "betaMax": BETA_MAX,
        "nemenyi": critical_differences(len(algorithms), content.alpha),
        "rules": rule_notes(),
        "computed": _computed(content),
        **({} if words is USUAL else {"words": {"algorithm": words.algorithm, "dataset": words.dataset}}),
    }


def one_dataset(content: ReportContent) -> Markup | None:
    """The leaderboard of a table with a single dataset: means with their intervals over users, or over repeated runs.

    There are no datasets to choose from, and no ranks to aggregate.
    """
    words = content.words
    over, alone = content.result(UsersResult), content.result(PerDatasetResult)
    if over is not None:
        share = f"{100 * over.confidence:g} % intervals over {words.users}"
        frame = over.means_frame().select(c.ALGORITHM, c.VALUE, "low", "high", "not_worse_than_best")
    elif alone is not None:
        repeats = f"{100 * alone.confidence:g} % intervals over repeated runs"
        share = repeats if alone.source == "repeats" else "no interval: each was measured once"
        rows = alone.to_frame().select(c.ALGORITHM, c.VALUE, "low", "high")
        frame = rows.sort(c.VALUE, descending=content.higher_is_better)
    else:
        return None
    caption = f"{content.metric} on {content.results.datasets[0]}, the only {words.dataset}; {share}"
    return tag(
        "section", tag("h3", f"On this {words.dataset}"), html_table(frame, caption, words, most=500), id="one-dataset"
    )


def _computed(content: ReportContent) -> dict[str, Any] | None:
    """Intervals, probabilities and Friedman's p of the analysed metric on its whole selection; null where too few."""
    ranked, compared = content.result(RankResult), content.result(CompareResult)
    if ranked is None:
        return None
    sure = {
        name: {
            "interval": r.score_interval.tolist(),
            "ranks": r.rank_interval.tolist(),
            "share": r.resampling_share.tolist(),
        }
        for name, r in ranked.rankings.items()
        if r.score_interval is not None and r.rank_interval is not None and r.resampling_share is not None
    }
    return {
        **stated(ranked, "algorithms", "datasets", "confidence"),
        "again": None if ranked.probability_best is None else ranked.probability_best.tolist(),
        "could": [name in ranked.judgement.could_be_best for name in ranked.algorithms],
        "bars": _verdict_bars(compared),
        "friedman": None if compared is None or len(compared.datasets) < FEWEST_DATASETS else compared.friedman.p,
        "rules": sure,
    }


def _verdict_bars(compared: CompareResult | None) -> dict[str, Any] | None:
    """The neighbours by mean rank of which the verdict separates no pair, and whether it could separate any."""
    if compared is None:
        return None
    decidable = compared.judgement.grade != "too_little_data"
    return {"decidable": decidable, "groups": plain(compared.groups["sign_flips"]) if decidable else []}
