"""The table of mean ranks: each with its interval, and whether the best is shown to be better."""

from __future__ import annotations

from recassay.analysis.compare.result import CompareResult
from recassay.reporting.numbers import number, p_value
from recassay.reporting.paper.content import MetricFindings
from recassay.reporting.paper.grid import Cell, Grid
from recassay.reporting.paper.main_table import wins


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
        cells = [
            Cell(number(float(rank.mean_ranks[a]))),
            Cell(f"[{number(float(spans[a, 0]))}, {number(float(spans[a, 1]))}]"),
            Cell(number(float(rank.probability_best[a]))),
            Cell(f"{won[name]:.0f}"),
            Cell("–" if name == best else p_value(p[name])),
        ]
        rows.append((name, tuple(cells)))
    return Grid("", ("mean rank", "interval", "P(first)", "wins", "p"), tuple(rows))


def against(compare: CompareResult) -> tuple[str, dict[str, float]]:
    """Whom the p-values of the table compare with, the control or else the best, and the p-value of each other."""
    verdict = compare.judgement
    name = verdict.control or verdict.algorithms[0]
    return name, {other: verdict.pair(name, other).p for other in verdict.algorithms if other != name}
