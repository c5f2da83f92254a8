"""What the open benchmark supports, in sentences, each with the grade of the verdict behind it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from reference.board_table import METRIC, Board, is_neural

import recassay
from recassay.analysis.verdict.fit import judge
from recassay.analysis.verdict.result import Verdict
from recassay.core.tables.results import Results
from recassay.reporting.words.verdict import GRADES

OTHER_NAMES = {"Pop": "MostPop", "NCEPLRec": "NCE-PLRec"}
"""Names that other tables have for algorithms of ours."""


@dataclass(frozen=True)
class Finding:
    """A sentence, and the grade of the verdict that it states."""

    sentence: str
    grade: str


def _graded(verdict: Verdict, before: str) -> Finding:
    return Finding(f"{before}{verdict.headline}", GRADES[verdict.grade])


def _pair(verdict: Verdict, left: str, right: str, opening: str) -> Finding:
    """What a pair of algorithms shows: significant, or not."""
    pair = verdict.pair(left, right)
    wins = pair.wins if pair.a == left else pair.losses
    status = verdict.status_of(left, right)
    grade = {"better": "Shown", "worse": "Shown", "equivalent": "Equivalent"}.get(status, "Not decided")
    evidence = f"{wins} of {len(verdict.datasets)} datasets (corrected p = {pair.p:.2g})"
    return Finding(f"{opening} {left} is better than {right} on {evidence}.", grade)


def findings(board: Board) -> list[Finding]:
    """At most twelve sentences that the table supports, each with its grade."""
    overall, long = board.overall, board.long
    names = list(overall.algorithms)
    sentences = [_graded(overall, f"{len(names)} algorithms on {len(overall.datasets)} datasets: ")]
    if set(long.datasets) != set(overall.datasets):
        sentences.append(_graded(long, f"{len(long.algorithms)} algorithms on {len(long.datasets)} datasets: "))
    timed, untimed = board.clocked()
    for datasets, what in ((timed, "split by time"), (untimed, "split at random")):
        kept = [name for name in long.datasets if name in datasets]
        if len(kept) >= 2:
            verdict = board.verdict(datasets=kept, only=long.algorithms)
            sentences.append(
                _graded(verdict, f"{len(long.algorithms)} algorithms on the {len(kept)} datasets {what}: ")
            )
    neural, classic = [x for x in names if is_neural(x)], [x for x in names if not is_neural(x)]
    if neural and classic:
        sentences.append(
            _pair(overall, classic[0], neural[0], "The best algorithm without a network against the best with one:")
        )
    if "MostPop" in long.algorithms:
        names = list(long.algorithms)
        better = [x for x in names if x != "MostPop" and long.status_of(x, "MostPop") == "better"]
        sentence = f"{len(better)} of {len(names) - 1} algorithms are shown to beat popularity on {len(long.datasets)}"
        sentence += f" datasets (MostPop: place {names.index('MostPop') + 1})."
        sentences.append(Finding(sentence, "Shown" if better else "Not decided"))
    sentences += _cost_findings(board)
    for metric in ("recall@20", "recall@10", "coverage@10"):
        if metric in board.metrics:
            kept = [name for name in overall.algorithms if name != "Random"]
            sentences.append(
                _graded(board.verdict(metric, only=kept), f"The {len(kept)} algorithms but Random by {metric}: ")
            )
    if board.traits:
        by = sorted(board.traits, key=lambda name: board.traits[name]["discrimination"])
        hard = sorted(board.traits, key=lambda name: board.traits[name]["difficulty"])
        sentences.append(Finding(
            f"{by[-1]} separates algorithms best and {by[0]} least; {hard[-1]} is the hardest dataset and {hard[0]} "
            "the easiest (beta-IRT).", "Estimate"))  # fmt: skip
    sentences += _seed_finding(board)
    sentences += [change for table in ("kdd24", "bi-reirt") if (change := _against(board, table)) is not None]
    return sentences


def _cost_findings(board: Board) -> list[Finding]:
    """The cheapest algorithm that could be best, and what a point of nDCG costs."""
    overall = board.overall
    seconds, joules = (board.median_cost(cost, overall.datasets) for cost in ("seconds_fit", "joules"))
    could = [name for name in overall.could_be_best if name in seconds]
    sentences = []
    if could:
        cheap = min(could, key=lambda name: seconds[name])
        slowest = max(could, key=lambda name: seconds[name])
        more = f"; {slowest} takes {seconds[slowest]:.2g} s" if slowest != cheap else ""
        sentences.append(Finding(
            f"Of the {len(could)} algorithms that could be best, {cheap} is the cheapest: {seconds[cheap]:.2g} s to "
            f"train on a median dataset{more}.", "Measured"))  # fmt: skip
    means = dict(zip(overall.algorithms, overall.mean, strict=True))
    points = {name: joules[name] / (100 * means[name]) for name in means if joules.get(name) and name != "Random"}
    if points and points.keys() >= set(overall.could_be_best) - {"Random"}:  # a part of them compares nothing
        least, most = min(points, key=points.__getitem__), max(points, key=points.__getitem__)
        sentences.append(Finding(
            f"A point of nDCG@10 (0.01) costs from {points[least]:.2g} J ({least}) to {points[most]:.2g} J ({most}) of "
            "training on a median dataset.", _energy_grade(board)))  # fmt: skip
    return sentences


def _energy_grade(board: Board) -> str:
    """Whether energy was measured or estimated."""
    ways = board.benchmark.cells()["energy"].drop_nulls().unique().to_list()
    return "Measured" if ways and all(str(way).startswith("measured") for way in ways) else "Estimate"


def _seed_finding(board: Board) -> list[Finding]:
    spread = board.frame.filter((pl.col("metric") == METRIC) & (pl.col("seeds") > 1) & (pl.col("value") > 0))
    spread = spread.filter(pl.col("spread") > 0)
    if not spread.height:
        return []
    share = (spread["spread"] / spread["value"]).median()
    return [Finding(f"Another seed changes nDCG@10 of an algorithm with chance by {100 * share:.1f} % (median standard "
                    f"deviation over {spread.height} cells).", "Measured")]  # fmt: skip


def _against(board: Board, table: str) -> Finding | None:
    """How the order of the algorithms that a published table shares with ours has changed."""
    theirs = recassay.load_results(f"published:{table}")
    frame = theirs.frame.with_columns(pl.col("algorithm").replace(OTHER_NAMES))
    shared = sorted(set(frame["algorithm"]) & set(board.overall.algorithms))
    if len(shared) < 4:
        return None
    verdict = judge(
        Results.from_frame(frame.filter(pl.col("algorithm").is_in(shared))).matrix(METRIC, missing="drop-datasets")
    )
    ours = [name for name in board.overall.algorithms if name in shared]
    rho = float(np.corrcoef([verdict.algorithms.index(x) for x in shared], [ours.index(x) for x in shared])[0, 1])
    moved = max(shared, key=lambda x: abs(verdict.algorithms.index(x) - ours.index(x)))
    names = {"kdd24": "KDD'24", "bi-reirt": "Bi-ReIRT"}
    theirs = verdict.algorithms[0]
    first = f"both put {theirs} first" if theirs == ours[0] else f"it puts {theirs} first, we put {ours[0]}"
    return Finding(
        f"Against {names[table]} ({len(shared)} algorithms in both), the orders by mean rank correlate by {rho:.2f}: "
        f"{first}; {moved} moves most, from place "
        f"{verdict.algorithms.index(moved) + 1} to {ours.index(moved) + 1}.", "Description")  # fmt: skip
