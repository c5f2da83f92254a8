"""The data of the interactive leaderboard: the whole table, the rules, and what only Python computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recassay.analysis.compare.result import CompareResult
from recassay.analysis.per_dataset import PerDatasetResult
from recassay.analysis.rank.result import BETA_MAX, RankResult, rule_notes
from recassay.analysis.users.result import UsersResult
from recassay.analysis.verdict.result import Verdict
from recassay.core import columns as c
from recassay.core.choices import FEWEST_DATASETS, MANY_ALGORITHMS, SHOWN_OF_MANY
from recassay.core.system.plain import plain
from recassay.core.tables.labels import known_direction, metric_name
from recassay.core.tabular import stated
from recassay.core.vocabulary import USUAL
from recassay.plots.theme import colour_scale, colours_of, dash_scale
from recassay.reporting.content import ReportContent
from recassay.reporting.headline import judgement
from recassay.reporting.markup import Markup, tag
from recassay.reporting.numbers import even
from recassay.reporting.section import Table
from recassay.reporting.tables import html_section_table, html_table


def board_data(content: ReportContent) -> dict[str, Any]:
    """What the page's script needs to rank and draw any choice of datasets and algorithms.

    Metrics of unknown direction are left out, except the one that was analysed. Tests are made here: a metric has the
    verdict on all of its datasets where there is one, and the script makes none for another choice.
    """
    algorithms, datasets, words = content.results.algorithms, content.results.datasets, content.words
    ranked = content.result(RankResult)
    with colours_of(() if ranked is None else ranked.algorithms):  # as in the charts
        colours, dashes = colour_scale(algorithms)["range"], dash_scale(algorithms)["range"]
    looks = zip(algorithms, colours, dashes, strict=True)
    judged, metrics = judgement(content.analyses), []
    for label in content.results.metrics:
        upward = content.higher_is_better if label == content.metric else known_direction(label)
        if upward is not None:
            verdict = judged if label == content.metric else content.verdicts.get(label)
            tested = {} if verdict is None else {"verdict": _tested(verdict)}
            metrics.append({"label": label, "up": upward, "values": plain(content.results.table(label)), **tested})
    return {
        "algorithms": [{"name": name, "colour": colour, "dash": dash} for name, colour, dash in looks],
        "datasets": datasets,
        "metrics": metrics,
        "metric": content.metric,
        "missing": "drop-datasets" if content.missing == "error" else content.missing,
        "alpha": content.alpha,
        "fewest": FEWEST_DATASETS,
        **({"about": algorithms.index(judged.control)} if content.own and judged and judged.control else {}),
        "many": {"from": MANY_ALGORITHMS, "shown": SHOWN_OF_MANY},
        "betaMax": BETA_MAX,
        "rules": rule_notes(),
        "computed": _computed(content),
        **({} if words is USUAL else {"words": {"algorithm": words.algorithm, "dataset": words.dataset}}),
    }


def _tested(verdict: Verdict) -> dict[str, Any]:
    """Of the algorithms by mean rank: letters, who could be best, p against the first, and bars from place to place."""
    enough = verdict.grade not in ("too_little_data", "not_comparable")
    first, *others = verdict.algorithms
    place = {name: i for i, name in enumerate(verdict.algorithms)}
    return {
        **stated(verdict, "algorithms", "datasets", "groups"),
        "enough": enough,
        "could": [name in verdict.could_be_best for name in verdict.algorithms],
        "p": [None, *(verdict.pair(first, other).p for other in others)],
        "bars": [[place[run[0]], place[run[-1]]] for run in verdict.runs] if enough else [],
    }


def one_dataset(content: ReportContent) -> Markup | None:
    """The leaderboard of a table with a single dataset: every metric, or the means with intervals over repeated runs.

    There are no datasets to choose from, and no ranks to aggregate; the first screen has the means over users.
    """
    words = content.words
    over, alone = content.result(UsersResult), content.result(PerDatasetResult)
    title = tag("h3", f"On this {words.dataset}")
    if over is not None and len(over.datasets) == 1:
        return tag("section", title, html_section_table(all_metrics(content, over.algorithms)), id="one-dataset")
    if alone is None:
        return None
    repeats = f"{100 * alone.confidence:g} % intervals over repeated runs"
    share = repeats if alone.source == "repeats" else "no interval: each was measured once"
    rows = alone.to_frame().select(c.ALGORITHM, c.VALUE, "low", "high")
    frame = rows.sort(c.VALUE, descending=content.higher_is_better)
    caption = f"{content.metric} on {content.results.datasets[0]}, the only {words.dataset}; {share}"
    return tag("section", title, html_table(frame, caption, words, most=500), id="one-dataset")


def all_metrics(content: ReportContent, order: Sequence[str]) -> Table:
    """The only dataset: one row per algorithm in this order, one column per metric, each with its own decimals."""
    results, words = content.results, content.words
    labels = [content.metric, *(label for label in results.metrics if label != content.metric)]
    columns = {words.algorithm: list(order)}
    for label in labels:
        value = dict(zip(results.algorithms, results.table(label)[:, 0].tolist(), strict=True))
        columns[metric_name(label)] = even(value.get(name, float("nan")) for name in order)
    title = f"Every metric on {results.datasets[0]}, the only {words.dataset}"
    return Table(title, list(columns), zip(*columns.values(), strict=True))


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
        "friedman": None if compared is None or len(compared.datasets) < FEWEST_DATASETS else compared.friedman.p,
        "rules": sure,
    }
