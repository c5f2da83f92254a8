"""The page of boards as one file: the numbers, and a script that sorts, filters and opens cards; it tests nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from recassay.analysis.board.result import COSTS, METRIC, BoardResult, Finding
from recassay.analysis.verdict.result import Verdict
from recassay.core import columns as c
from recassay.core.tables.labels import metric_name
from recassay.reporting.markup import data_block
from recassay.reporting.page.document import document, template
from recassay.reporting.words.board import (
    change,
    cost_line,
    grade,
    left_out_lines,
    reasons,
    second_lines,
    sentence,
    title,
)


@dataclass(frozen=True, slots=True)
class AlgorithmCard:
    """What the card of an algorithm says besides its numbers."""

    source: str = ""
    page: str = ""
    """Where the documentation describes it."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """By dataset, those that won."""
    handed_in: str = ""
    """Of a submitted one, what was checked."""


@dataclass(frozen=True, slots=True)
class BoardCards:
    """What a board's page says besides its numbers."""

    algorithms: Mapping[str, AlgorithmCard]
    datasets: Mapping[str, Mapping[str, Any]]
    """By dataset: family, licence, source, link, split, hash and users."""
    notes: Sequence[str]
    left_out: Mapping[str, str]
    cells: Mapping[str, int]
    """How many cells are done, refused, failed and were not run."""
    hours: Mapping[str, float]
    """What the finished cells took, by device."""
    seeds: str = ""
    """Of how many seeds values are means."""


def board_data(board: BoardResult, cards: BoardCards, findings: Sequence[Finding]) -> dict[str, Any]:
    """What the page shows of one board, as plain data."""
    table, said = board.table, [one for one in findings if one.board == board.table.name]
    headlines = {"overall": METRIC, "recall": "recall@20", "coverage": "coverage@10"}
    names = sorted({*table.frame[c.ALGORITHM].unique(), *table.gaps})
    return {
        "name": table.name,
        "title": title(table.name, by_time=table.by_time),
        "metrics": table.metrics,
        "metricNames": {metric: metric_name(metric) for metric in table.metrics},
        "values": {metric: _compact(board, metric) for metric in (*table.metrics, *COSTS)},
        "spread": {metric: _spread(board, metric) for metric in table.metrics},
        "verdicts": {metric: _verdict(verdict) for metric, verdict in board.verdicts.items()},
        "headlines": {headlines[one.rule]: sentence(one) for one in said if one.rule in headlines},
        "second": second_lines(board),
        "placed": board.placed,
        "ofBest": board.of_best,
        "gaps": {name: reasons(lacking, len(table.datasets)) for name, lacking in table.gaps.items()},
        "algorithms": {
            name: {
                "kind": table.kinds.get(name, "other"), "device": table.devices.get(name, ""),
                "trials": table.trials.get(name),
                **{key: getattr(cards.algorithms[name], key) for key in AlgorithmCard.__dataclass_fields__},
            }
            for name in names
        },
        "datasets": {name: {**cards.datasets[name], **board.traits.get(name, {})} for name in table.datasets},
        "notes": [cards.seeds, *cards.notes, cost_line(cards.cells, cards.hours), *left_out_lines(cards.left_out)],
    }  # fmt: skip


def _compact(board: BoardResult, metric: str) -> dict[str, list[float | None]]:
    """By algorithm its values in the order of the datasets, to four digits."""
    return _by_algorithm(board, board.table.values(metric), 4)


def _spread(board: BoardResult, metric: str) -> dict[str, list[float | None]]:
    """The same of the standard deviations over seeds, to two digits; None where there is one seed."""
    spread = board.table.spread
    if spread is None:
        return {}
    of_metric = spread.filter(pl.col(c.METRIC) == metric).select(c.ALGORITHM, c.DATASET, c.DEVIATION)
    return _by_algorithm(board, of_metric, 2)


def _by_algorithm(board: BoardResult, frame: pl.DataFrame, digits: int) -> dict[str, list[float | None]]:
    rows: dict[str, dict[str, float]] = {}
    for name, dataset, value in frame.iter_rows():
        rows.setdefault(name, {})[dataset] = value
    return {
        name: [None if (v := of.get(dataset)) is None else float(f"{v:.{digits}g}") for dataset in board.table.datasets]
        for name, of in rows.items()
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    """The verdict on the algorithms with a place, best mean rank first."""
    return {
        "order": list(verdict.algorithms),
        "ranks": [round(float(rank), 4) for rank in verdict.mean_rank],
        "interval": None if verdict.interval is None else verdict.interval.round(1).tolist(),
        "could": list(verdict.could_be_best),
        "again": None if verdict.leads_again is None else verdict.leads_again.round(3).tolist(),
    }


def board_page(
    boards: Sequence[tuple[BoardResult, BoardCards]], findings: Sequence[Finding], *, documentation: bool = False
) -> str:
    """The page; in the `documentation` it links to the pages beside it. It needs no network."""
    content = {
        "boards": [board_data(board, cards, findings) for board, cards in boards],
        "findings": [[one.board, sentence(one), grade(one), change(one)] for one in findings],
        "documentation": documentation,
    }
    return document(
        "board.html",
        title="The boards of the open benchmark",
        styles=["board.css"],
        script=template("board.js"),
        data=data_block("board-data", content),
    )
