"""Places and findings of boards, each finding tried again without every dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from recassay.analysis.beta_irt.fit import fit_on_results
from recassay.analysis.board.result import (
    JUDGED,
    METRIC,
    POPULAR,
    RANDOM,
    BoardResult,
    BoardTable,
    Contest,
    Finding,
)
from recassay.analysis.inference.agreement import spearman
from recassay.analysis.verdict.fit import judge
from recassay.analysis.verdict.result import Verdict
from recassay.core import columns as c
from recassay.core.errors import RecAssayError
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.results import Results
from recassay.core.ties import ranks
from recassay.core.types import FloatArray


@dataclass(eq=False)
class Board:
    """A table with what follows from it; `without` leaves datasets out, and those with a place keep it."""

    table: BoardTable
    without: tuple[str, ...] = ()
    _verdicts: dict[tuple[str, ...], Verdict] = field(default_factory=dict, init=False)

    @cached_property
    def placed(self) -> list[str]:
        """The algorithms that ran on every dataset, those left out too."""
        rows = self.table.values(METRIC)
        return (
            rows.filter(pl.len().over(c.ALGORITHM) == len(self.table.datasets))[c.ALGORITHM].unique().sort().to_list()
        )

    @property
    def datasets(self) -> tuple[str, ...]:
        """The datasets, those left out aside."""
        return tuple(name for name in self.table.datasets if name not in self.without)

    def verdict(self, metric: str = METRIC, only: Iterable[str] | None = None) -> Verdict:
        """The verdict on the algorithms with a place, or on some of them."""
        names = sorted(only) if only is not None else self.placed
        if (metric, *names) not in self._verdicts:
            kept = pl.col(c.ALGORITHM).is_in(names) & pl.col(c.DATASET).is_in(self.datasets)
            rows = self.table.values(metric).filter(kept).with_columns(pl.lit(metric).alias(c.METRIC))
            self._verdicts[metric, *names] = judge(Results.from_frame(rows).matrix(metric))
        return self._verdicts[metric, *names]

    def leaders(self, names: Sequence[str]) -> tuple[str, ...]:
        """Of these algorithms those of the lowest mean rank, the one with the highest mean first."""
        verdict, values = self.verdict(), self.table.values(METRIC).filter(pl.col(c.DATASET).is_in(self.datasets))
        of = dict(zip(verdict.algorithms, verdict.mean_rank, strict=True))
        mean = dict(values.group_by(c.ALGORITHM).agg(pl.col(c.VALUE).mean()).iter_rows())
        best = min(of[name] for name in names)
        return tuple(sorted((name for name in names if of[name] == best), key=lambda name: (-mean[name], name)))

    @cached_property
    def seconds(self) -> dict[str, float]:
        """By algorithm with a place the median seconds of training, where it has a value on each dataset."""
        rows = self.table.values("seconds_fit").filter(pl.col(c.DATASET).is_in(self.datasets))
        whole = rows.filter(pl.col(c.ALGORITHM).is_in(self.placed) & (pl.len().over(c.ALGORITHM) == len(self.datasets)))
        return dict(whole.group_by(c.ALGORITHM).agg(pl.col(c.VALUE).median()).iter_rows())

    @cached_property
    def traits(self) -> dict[str, dict[str, float]]:
        """By dataset, difficulty and discrimination by beta-IRT."""
        rows = self.table.values(METRIC).filter(pl.col(c.ALGORITHM).is_in(self.placed))
        try:
            fitted = fit_on_results(
                Results.from_frame(rows.with_columns(pl.lit(METRIC).alias(c.METRIC))), METRIC, missing="keep",
                higher_is_better=None,
            )  # fmt: skip
        except RecAssayError:
            return {}
        pair = fitted.trait("difficulty"), fitted.trait("discrimination")
        return {
            name: {"difficulty": float(pair[0].estimate[n]), "discrimination": float(pair[1].estimate[n])}
            for n, name in enumerate(pair[0].names)
        }

    def result(self) -> BoardResult:
        """The board, judged."""
        shares = self.table.values(METRIC).with_columns(pl.col(c.VALUE) / pl.col(c.VALUE).max().over(c.DATASET))
        return BoardResult(
            self.table,
            {metric: self.verdict(metric) for metric in JUDGED if metric in self.table.metrics},
            dict(shares.group_by(c.ALGORITHM).agg(pl.col(c.VALUE).median()).iter_rows()),
            self.traits,
            self.seconds,
        )


def _graded(board: Board, rule: Any, metric: str, *, random: bool = True) -> Finding | None:
    """The verdict on one metric; without random lists where these win by what the metric counts.

    That floors are behind decides nothing; None where only floors compete with the best.
    """
    if metric not in board.table.metrics:
        return None
    kept = [name for name in board.placed if random or name != RANDOM]
    verdict = board.verdict(metric, kept)
    contest = Contest.of(verdict)
    if len(contest.algorithms) < 2:
        return None
    aside = (*contest.aside, *([RANDOM] if len(kept) < len(board.placed) else []))
    facts = {"verdict": verdict, "contest": contest, "aside": aside}
    winner = contest.could[0] if contest.grade == "clear_winner" else ""
    return _found(board, rule, "shown" if contest.decided else "undecided", facts, (contest.grade, winner))


def _found(board: Board, rule: Any, standing: Any, facts: dict[str, Any], claim: tuple[Any, ...] = ()) -> Finding:
    about = {"by_time": board.table.by_time, "datasets": len(board.datasets)}
    return Finding(board.table.name, rule, standing, about | facts, claim)


def _pair(board: Board, rule: Any, chosen: Callable[[str], bool]) -> Finding | None:
    """The best algorithm of a kind against the best of the others, as they stand on the whole board."""
    whole = replace(board, without=()) if board.without else board
    these = [name for name in whole.placed if chosen(board.table.kinds.get(name, ""))]
    others = [name for name in whole.placed if name not in these]
    if not these or not others:
        return None
    of_kind, other = (whole.leaders(names) for names in (these, others))
    verdict = board.verdict()
    pair = verdict.pair(of_kind[0], other[0])
    standing = "shown" if pair.status in ("better", "equivalent") else "undecided"
    trials = {name: board.table.trials.get(name) for name in (of_kind[0], other[0])}
    facts = {"verdict": verdict, "pair": pair, "of_kind": of_kind, "other": other, "kinds": len(these),
             "trials": trials}  # fmt: skip
    return _found(board, rule, standing, facts, (pair.status, pair.a if pair.status == "better" else ""))


def _popularity(board: Board) -> Finding | None:
    verdict = board.verdict()
    names = list(verdict.algorithms)
    if POPULAR not in names:
        return None
    better = [name for name in names if name != POPULAR and verdict.status_of(name, POPULAR) == "better"]
    facts = {"better": better, "others": len(names) - 1, "place": verdict.place_of(POPULAR)}
    return _found(board, "popularity", "shown" if better else "undecided", facts, tuple(sorted(better)))


def _cheapest(board: Board) -> Finding | None:
    """Of those that share the lead the fastest to train, by device: seconds on a shared GPU are upper bounds."""
    contest = Contest.of(board.verdict())
    could = [name for name in contest.could if name in board.seconds]
    on = {
        device: sorted((board.seconds[name], name) for name in could if board.table.devices.get(name, "") == device)
        for device in ("cpu", "gpu")
    }
    first = on["cpu"] or on["gpu"]
    if len(could) < 2 or contest.grade != "shared_lead" or not first:
        return None
    return _found(board, "cheapest", "measured", {"could": len(could), **on}, (first[0][1],))


RULES: dict[str, Callable[[Board], Finding | None]] = {
    "overall": lambda board: _graded(board, "overall", METRIC),
    "popularity": _popularity,
    "networks": lambda board: _pair(board, "networks", lambda kind: kind.endswith("network")),
    "sequences": lambda board: _pair(board, "sequences", lambda kind: kind.startswith("sequential")),
    "cheapest": _cheapest,
    "recall": lambda board: _graded(board, "recall", "recall@20"),
    "coverage": lambda board: _graded(board, "coverage", "coverage@10", random=False),
}
"""Findings about one board that are tried with every dataset left out."""


def agreement(one: Board, other: Board) -> Finding | None:
    """Whether two boards agree, on the algorithms with a place on both; None where these are fewer than three.

    Random lists are left aside: that all beat them on both boards would look like agreement.
    """
    both = [name for name in one.placed if name in other.placed]
    shared = [name for name in both if name != RANDOM]
    if len(shared) < 3:
        return None
    verdicts = [board.verdict(METRIC, shared) for board in (one, other)]
    places = [_places(board.verdict(), shared) for board in (one, other)]
    decided = [
        {(a, b) for a in verdict.algorithms for b in verdict.algorithms if verdict.status_of(a, b) == "better"}
        for verdict in verdicts
    ]
    alike, opposed = len(decided[0] & decided[1]), sum(pair[::-1] in decided[1] for pair in decided[0])
    says = "contradicts" if opposed else "confirms" if alike > len(decided[0]) / 2 else "neither"
    moved = _moved(*places)
    facts = {
        "shared": len(shared), "datasets": len(other.datasets), "decided": len(decided[0]), "alike": alike,
        "opposed": opposed, "rho": float(spearman(*places)), "moved": shared[moved],
        "places": tuple(_place(order, moved) for order in places),
        "aside": RANDOM if len(shared) < len(both) else "",
    }  # fmt: skip
    return Finding("both", "agreement", "undecided" if says == "neither" else "shown", facts, (says,))


def _places(verdict: Verdict, shared: Sequence[str]) -> FloatArray:
    """By mean rank among these algorithms; equal ones share the mean of their places."""
    mean_rank = dict(zip(verdict.algorithms, verdict.mean_rank, strict=True))
    return ranks(np.array([mean_rank[name] for name in shared]), higher_is_better=False)


def _place(order: FloatArray, at: int) -> tuple[int, bool]:
    """The place of one of them as a table has it, and whether others share it."""
    return 1 + int((order < order[at]).sum()), bool((order == order[at]).sum() > 1)


def _moved(first: FloatArray, second: FloatArray) -> int:
    """Who moves most between two orders; of several the one that is first in the first of them."""
    return min(range(len(first)), key=lambda n: (-abs(first[n] - second[n]), first[n]))


def against(board: Board, name: str, theirs: Matrix) -> Finding | None:
    """How the order of the algorithms that another table shares with the board differs."""
    shared = [algorithm for algorithm in theirs.algorithms if algorithm in board.placed]
    if len(shared) < 4:
        return None
    rows = [theirs.algorithms.index(algorithm) for algorithm in shared]
    verdicts = (judge(replace(theirs, values=theirs.values[rows], algorithms=tuple(shared))), board.verdict())
    first, second = (_places(verdict, shared) for verdict in verdicts)
    moved = _moved(first, second)
    facts = {
        "table": name, "shared": len(shared), "rho": float(spearman(first, second)), "moved": shared[moved],
        "first": tuple(tuple(shared[at] for at in np.flatnonzero(of == of.min())) for of in (first, second)),
        "places": (_place(first, moved), _place(second, moved)),
    }  # fmt: skip
    return _found(board, "against", "described", facts)


def find(
    boards: Sequence[Board], others: Mapping[str, Matrix], tried: Mapping[str, Any] | None = None
) -> list[Finding]:
    """What the boards support; `tried` is what `fragile` found, `others` are tables to compare the first board with."""
    both = agreement(*boards) if len(boards) == 2 else None
    found = [] if both is None else [both]
    for board in boards:
        found += [one for rule in RULES.values() if (one := rule(board)) is not None]
        if board.traits:
            found.append(_found(board, "traits", "estimated", {"traits": board.traits}))
    found += [one for name, matrix in others.items() if (one := against(boards[0], name, matrix)) is not None]
    if not tried:
        return found
    total = {"both": sum(len(board.datasets) for board in boards)}
    total |= {board.table.name: len(board.datasets) for board in boards}
    return [
        replace(
            one, without=tuple(tried["changes"][_key(one)]), of_datasets=total[one.board],
            range=tuple(tried["rho"]) if one.rule == "agreement" else None,
            joining=tuple(tried["joining"].get(_key(one), ())),
            leaving=tuple(tried["leaving"].get(_key(one), ())),
        )
        if _key(one) in tried["changes"]
        else one
        for one in found
    ]  # fmt: skip


def _key(finding: Finding) -> str:
    return f"{finding.board} {finding.rule}"


def fragile(boards: Sequence[Board]) -> dict[str, Any]:
    """Every finding again with one dataset left out: by finding those without which it changes; and the orders."""
    whole = [one for board in boards for rule in RULES.values() if (one := rule(board)) is not None]
    both = agreement(*boards) if len(boards) == 2 else None
    whole += [] if both is None else [both]
    changes: dict[str, list[str]] = {_key(one): [] for one in whole}
    joining: dict[str, set[str]] = {}
    leaving: dict[str, set[str]] = {}
    orders: dict[str, dict[str, list[str]]] = {}
    rhos: list[float] = []
    for number, board in enumerate(boards):
        orders[board.table.name] = {"": list(board.verdict().algorithms)}
        for dataset in board.datasets:
            less = replace(board, without=(dataset,))
            orders[board.table.name][dataset] = list(less.verdict().algorithms)
            again = [one for rule in RULES.values() if (one := rule(less)) is not None]
            pair = [less if n == number else other for n, other in enumerate(boards)]
            other = None if both is None else agreement(*pair)
            if other is not None:
                again.append(other)
                rhos.append(round(other.facts["rho"], 3))
            found = {_key(one): one for one in again}
            for one in whole:
                if one.board not in (board.table.name, "both"):
                    continue
                now = found.get(_key(one))
                if now is None or not _stands(one, now.claim):
                    changes[_key(one)].append(dataset)
                elif one.rule in ("overall", "recall", "coverage"):
                    could, before = (set(of.facts["verdict"].could_be_best) for of in (now, one))
                    joining.setdefault(_key(one), set()).update(could - before)
                    leaving.setdefault(_key(one), set()).update(before - could)
    rho = [min(rhos), max(rhos)] if rhos else []
    moves = {
        name: {key: sorted(of) for key, of in found.items()}
        for name, found in (("joining", joining), ("leaving", leaving))
    }
    return {"changes": changes, **moves, "orders": orders, "rho": rho}


def _stands(finding: Finding, claim: tuple[Any, ...]) -> bool:
    """Whether a claim is still made: of those that beat popularity, all still do."""
    if finding.rule == "popularity" and finding.claim:
        return set(finding.claim) <= set(claim)
    return finding.claim == claim
