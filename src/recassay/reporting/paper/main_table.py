"""The tables of a paper: every algorithm on every dataset, and mean ranks; which differences are significant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from recassay.analysis.compare.result import CompareResult
from recassay.core import ties
from recassay.core.tables.labels import metric_name
from recassay.core.types import FloatArray
from recassay.reporting.numbers import number, p_value
from recassay.reporting.paper.content import MetricFindings, PaperContent
from recassay.reporting.paper.grid import EMPTY, Cell, Grid


@dataclass(frozen=True, slots=True)
class TableStyle:
    """How numbers are printed: percent or fraction, decimals (None: by size), `±`, and the mean as a column."""

    percent: bool = False
    decimals: int | None = None
    deviations: bool = True
    mean: bool = False


def in_percent(findings: MetricFindings, style: TableStyle) -> bool:
    """Whether a metric is printed in percent: where that was asked for, and its values are shares."""
    values = findings.values[np.isfinite(findings.values)]
    return style.percent and bool(len(values)) and bool((np.abs(values) <= 1).all())


def decimals_of(findings: MetricFindings, style: TableStyle) -> int:
    """The decimals of a metric, the same in all its cells."""
    if style.decimals is not None:
        return style.decimals
    values = np.abs(findings.values[np.isfinite(findings.values)])
    largest = float(values.max()) if len(values) else 0.0
    if largest <= 1:
        return 2 if in_percent(findings, style) else 4
    return 3 if largest < 10 else 2 if largest < 100 else 1 if largest < 1000 else 0


def main_grid(content: PaperContent, metrics: Sequence[MetricFindings], style: TableStyle) -> Grid:
    """One grid with the datasets of each metric side by side, then its mean rank and wins."""
    columns: list[tuple[Cell, ...]] = []
    heads: list[str] = []
    groups: list[tuple[str, int]] = []
    for findings in metrics:
        values = list(_dataset_columns(content, findings, style))
        closing = _closing_columns(content, findings, style)
        heads += [*(dataset.name for dataset in content.datasets), *closing]
        columns += [*values, *closing.values()]
        if len(metrics) == 1:
            groups += [("", len(values)), ("", len(closing))] if closing else []
        else:
            groups.append((metric_name(findings.metric), len(values) + len(closing)))
    rows = tuple((name, tuple(column[a] for column in columns)) for a, name in enumerate(content.algorithms))
    return Grid(tuple(heads), rows, tuple(groups))


def _dataset_columns(content: PaperContent, findings: MetricFindings, style: TableStyle) -> Iterator[tuple[Cell, ...]]:
    scale = 100.0 if in_percent(findings, style) else 1.0
    decimals = decimals_of(findings, style)
    spread = findings.deviations if style.deviations else None
    for d, dataset in enumerate(content.datasets):
        around = None if spread is None else scale * spread[:, d]
        cells = cells_of(
            scale * findings.values[:, d], decimals, higher_is_better=findings.higher_is_better, deviations=around
        )
        yield _mark(cells, content.algorithms, _ahead_on(findings, dataset.name))


def cells_of(
    values: FloatArray, decimals: int, *, higher_is_better: bool, deviations: FloatArray | None = None
) -> list[Cell]:
    """A column: the best value and the second stand out, by what is printed, so that equal numbers look equal."""
    printed = np.round(values, decimals)
    known = np.isfinite(printed)
    places = np.zeros(len(values), dtype=np.int64)
    upward = ties.level(printed[known]) * (1 if higher_is_better else -1)
    better = (upward > upward[:, None]).sum(axis=1)
    if better.any():  # else all are equal, and none stands out; where two are first, nobody is second
        places[known] = np.where(better < 2, better + 1, 0)
    around = ["" for _ in values] if deviations is None else [number(float(d), decimals) for d in deviations]
    return [
        Cell(_printed(value, decimals), around[a], int(places[a])) if known[a] else EMPTY
        for a, value in enumerate(values)
    ]


def _printed(value: float, decimals: int) -> str:
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


def _mark(cells: list[Cell], names: Sequence[str], marked: str | None) -> tuple[Cell, ...]:
    """The cells, the best of them marked where it is the one that a test shows to be ahead, and stands alone."""
    best = [name for name, cell in zip(names, cells, strict=True) if cell.place == 1]
    alone = best == [marked]
    return tuple(replace(cell, marked=alone and name == marked) for name, cell in zip(names, cells, strict=True))


def _ahead_on(findings: MetricFindings, dataset: str) -> str | None:
    """Who is best on a dataset and significantly better than the second, by the test over its users, or without users
    over its seeds; else None."""
    if findings.seeds is not None and dataset in findings.seeds.datasets:
        return findings.seeds.ahead_of_all(dataset)
    for tested in findings.users.datasets if findings.users is not None else ():
        if tested.dataset == dataset:
            first, second = tested.algorithms[:2]
            shown = any(pair.significant for pair in tested.pairs if (pair.left, pair.right) == (first, second))
            return first if shown else None
    return None


def ahead_on_datasets(findings: MetricFindings) -> str | None:
    """Who has the best mean rank and is significantly better than the second over datasets; None where nobody is.

    With a control only its own comparisons are shown: it must be one of the two.
    """
    compare = findings.tested
    if compare is None or not first_two_tested(findings):
        return None
    verdict, (best, second) = compare.judgement, compare.algorithms[:2]
    return best if verdict.status_of(best, second) == "better" else None


def first_two_tested(findings: MetricFindings) -> bool:
    """Whether a test over datasets could decide between the best mean rank and the second, and was asked to."""
    compare = findings.tested
    if compare is None or compare.judgement.grade == "too_little_data":
        return False
    return compare.judgement.control in (None, *compare.algorithms[:2])


def _closing_columns(content: PaperContent, findings: MetricFindings, style: TableStyle) -> dict[str, tuple[Cell, ...]]:
    """Mean, mean rank and wins over datasets; nothing where there is only one dataset."""
    if findings.rank is None:
        return {}
    ranks = dict(zip(findings.rank.algorithms, findings.rank.mean_ranks.tolist(), strict=True))
    ahead = ahead_on_datasets(findings)
    columns = {}
    if style.mean:
        scale = 100.0 if in_percent(findings, style) else 1.0
        means = scale * findings.values.mean(axis=1)
        cells = cells_of(means, decimals_of(findings, style), higher_is_better=findings.higher_is_better)
        columns["mean"] = _mark(cells, content.algorithms, ahead)
    mean_ranks = np.array([ranks.get(name, np.nan) for name in content.algorithms])
    columns["mean rank"] = _mark(cells_of(mean_ranks, 2, higher_is_better=False), content.algorithms, ahead)
    won = cells_of(wins(findings), 0, higher_is_better=True)
    columns["wins"] = tuple(Cell(cell.text, place=int(cell.place == 1)) for cell in won)
    return columns


def wins(findings: MetricFindings) -> FloatArray:
    """On how many datasets each algorithm has the best value; those that tie for it win each."""
    upward = findings.values if findings.higher_is_better else -findings.values
    known = np.isfinite(upward).any(axis=0)
    filled = np.where(np.isfinite(upward), upward, -np.inf)[:, known]
    return (~ties.beats(filled.max(axis=0), filled)).sum(axis=1).astype(np.float64)


def rank_grid(findings: MetricFindings, algorithms: tuple[str, ...]) -> Grid | None:
    """Algorithms from the best mean rank to the worst; None with so few datasets that ranks have no intervals."""
    rank, compare = findings.rank, findings.tested
    if rank is None or compare is None or rank.probability_best is None:
        return None
    spans = rank.rankings["mean_rank"].score_interval
    assert spans is not None
    won = dict(zip(algorithms, wins(findings).tolist(), strict=True))
    best, p = against(compare)
    rows = []
    for a in rank.order():
        name = rank.algorithms[a]
        cells = (
            Cell(number(float(rank.mean_ranks[a]))),
            Cell(f"[{number(float(spans[a, 0]))}, {number(float(spans[a, 1]))}]"),
            Cell(number(float(rank.probability_best[a]))),
            Cell(f"{won[name]:.0f}"),
            Cell("–" if name == best else p_value(p[name])),
        )
        rows.append((name, cells))
    return Grid(("mean rank", "interval", "P(first)", "wins", "p"), tuple(rows))


def against(compare: CompareResult) -> tuple[str, dict[str, float]]:
    """Whom the p-values of the table compare with, the control or else the best, and the p-value of each other."""
    verdict = compare.judgement
    name = verdict.control or verdict.algorithms[0]
    return name, {other: verdict.pair(name, other).p for other in verdict.algorithms if other != name}
