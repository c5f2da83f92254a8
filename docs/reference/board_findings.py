"""What the boards support, in sentences, each with its grade and with what would change it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from reference.board_table import METRIC, Board, is_neural, is_sequential

import recassay
from recassay.analysis.verdict.fit import judge
from recassay.analysis.verdict.result import Verdict
from recassay.core.tables.results import Results
from recassay.core.words import count_of, listing
from recassay.reporting.words.verdict import GRADES

OTHER_NAMES = {"Pop": "MostPop", "NCEPLRec": "NCE-PLRec"}
"""Names that other tables have for algorithms of ours."""


@dataclass(frozen=True)
class Finding:
    """A sentence, the grade of what it states, and `claim`, what must not change for it to stand."""

    board: str
    sentence: str
    grade: str
    claim: Any = None
    change: str = ""
    """What would change it, where the tool can say so."""
    rho: float | None = None
    """How two orders correlate."""


Rule = Callable[[Board], Finding | None]


def _of_verdict(board: Board, metric: str, opening: str, only: Sequence[str] | None = None) -> Finding:
    verdict = board.verdict(metric, only)
    claim = [verdict.grade, verdict.algorithms[0] if verdict.grade == "clear_winner" else ""]
    change = "" if metric != METRIC or not verdict.what_would_change else verdict.what_would_change[0]
    return Finding(board.benchmark.name, f"{opening}: {verdict.headline}", GRADES[verdict.grade], claim, change)


def _overall(board: Board) -> Finding:
    return _of_verdict(board, METRIC, f"{len(board.placed)} algorithms on {board.of_datasets}")


def _by_recall(board: Board) -> Finding:
    kept = [name for name in board.placed if name != "Random"]
    return _of_verdict(board, "recall@20", f"By recall@20 on {board.of_datasets}", kept)


def _by_coverage(board: Board) -> Finding:
    kept = [name for name in board.placed if name != "Random"]
    return _of_verdict(board, "coverage@10", f"By coverage@10 on {board.of_datasets}, without Random", kept)


def _pair(board: Board, chosen: Callable[[str], bool], what: tuple[str, str]) -> Finding | None:
    """The best algorithm of a kind against the best of the others, named on the whole board."""
    whole = Board(board.benchmark).overall if board.without else board.overall
    these = [name for name in whole.algorithms if chosen(name)]
    others = [name for name in whole.algorithms if not chosen(name)]
    if not these or not others:
        return None
    ahead, behind = sorted((these[0], others[0]), key=whole.algorithms.index)
    verdict = board.overall
    pair = verdict.pair(ahead, behind)
    wins, losses = (pair.wins, pair.losses) if pair.a == ahead else (pair.losses, pair.wins)
    status = verdict.status_of(ahead, behind)
    grade = {"better": "Shown", "worse": "Shown", "equivalent": "Equivalent"}.get(status, "Not decided")
    kinds = dict(zip((these[0], others[0]), what, strict=True))
    sentence = (
        f"On {board.of_datasets}, {ahead}, the best {kinds[ahead]}, is better than {behind}, the best {kinds[behind]}, "
        f"on {wins} and worse on {losses} (corrected p = {pair.p:.2g})."
    )
    return Finding(board.benchmark.name, sentence, grade, [grade, ahead])


def _networks(board: Board) -> Finding | None:
    return _pair(board, is_neural, ("network", "algorithm without a network"))


def _sequences(board: Board) -> Finding | None:
    return _pair(board, is_sequential, ("sequential algorithm", "general algorithm"))


def _popularity(board: Board) -> Finding | None:
    verdict = board.overall
    names = list(verdict.algorithms)
    if "MostPop" not in names:
        return None
    better = [name for name in names if name != "MostPop" and verdict.status_of(name, "MostPop") == "better"]
    sentence = (
        f"{len(better)} of {len(names) - 1} algorithms are shown to beat popularity on {board.of_datasets} (MostPop: "
        f"place {names.index('MostPop') + 1})."
    )
    return Finding(board.benchmark.name, sentence, "Shown" if better else "Not decided", sorted(better))


def _cheapest(board: Board) -> Finding | None:
    seconds = board.median_cost("seconds_fit")
    could = [name for name in board.overall.could_be_best if name in seconds]
    if not could:
        return None
    cheap, slow = min(could, key=seconds.__getitem__), max(could, key=seconds.__getitem__)
    on = {name: " on a shared GPU" if board.device(name) == "gpu" else " on one core" for name in (cheap, slow)}
    more = f"; {slow} takes {seconds[slow]:.2g} s{on[slow]}" if slow != cheap else ""
    sentence = (
        f"Of the {len(could)} algorithms that could be best on {board.of_datasets}, {cheap} is the cheapest: "
        f"{seconds[cheap]:.2g} s{on[cheap]} to train on a median dataset{more}."
    )
    return Finding(board.benchmark.name, sentence, "Measured", [cheap])


def _traits(board: Board) -> Finding | None:
    if not board.traits:
        return None
    by = sorted(board.traits, key=lambda name: board.traits[name]["discrimination"])
    hard = sorted(board.traits, key=lambda name: board.traits[name]["difficulty"])
    sentence = (
        f"Of {board.of_datasets}, {by[-1]} separates algorithms best and {by[0]} least; {hard[-1]} is the hardest and "
        f"{hard[0]} the easiest (beta-IRT)."
    )
    return Finding(board.benchmark.name, sentence, "Estimate")


RULES: dict[str, Rule] = {
    "overall": _overall,
    "popularity": _popularity,
    "networks": _networks,
    "sequences": _sequences,
    "cheapest": _cheapest,
    "recall": _by_recall,
    "coverage": _by_coverage,
}
"""Findings about one board that are tried with every dataset left out."""


def agreement(one: Board, other: Board) -> Finding:
    """Whether two boards agree, on the algorithms with a place on both."""
    shared = [name for name in one.placed if name in other.placed]
    verdicts = [board.verdict(METRIC, shared) for board in (one, other)]
    orders = [[verdict.algorithms.index(name) for name in shared] for verdict in verdicts]
    rho = float(np.corrcoef(*orders)[0, 1])
    decided = [_decided(verdict) for verdict in verdicts]
    alike = len(decided[0] & decided[1])
    opposed = sum(pair[::-1] in decided[1] for pair in decided[0])
    says = "contradicts" if opposed else "confirms" if alike > len(decided[0]) / 2 else "can neither confirm nor refute"
    moved = max(shared, key=lambda name: abs(orders[0][shared.index(name)] - orders[1][shared.index(name)]))
    at = shared.index(moved)
    pairs = count_of(len(decided[0]), "pair")
    sentence = (
        f"The board by time {says} the order on random splits: of {pairs} that random splits decide, its "
        f"{len(other.datasets)} datasets decide {alike} the same way and {opposed} the other way. The orders of the "
        f"{len(shared)} algorithms on both correlate by {rho:.2f} (Spearman); {moved} moves most, from place "
        f"{orders[0][at] + 1} on random splits to {orders[1][at] + 1} by time."
    )
    grade = "Shown" if opposed or says == "confirms" else "Not decided"
    return Finding("both", sentence, grade, [says], rho=rho)


def _decided(verdict: Verdict) -> set[tuple[str, str]]:
    """The pairs of which the first is shown to be better."""
    names = verdict.algorithms
    return {(a, b) for a in names for b in names if a != b and verdict.status_of(a, b) == "better"}


def _against(board: Board, table: str) -> Finding | None:
    """How the order of the algorithms that a published table shares with ours has changed."""
    frame = recassay.load_results(f"published:{table}").frame.with_columns(pl.col("algorithm").replace(OTHER_NAMES))
    shared = sorted(set(frame["algorithm"]) & set(board.placed))
    if len(shared) < 4:
        return None
    matrix = Results.from_frame(frame.filter(pl.col("algorithm").is_in(shared))).matrix(METRIC, missing="drop-datasets")
    verdict = judge(matrix)
    ours = [name for name in board.overall.algorithms if name in shared]
    theirs = list(verdict.algorithms)
    rho = float(np.corrcoef([theirs.index(x) for x in shared], [ours.index(x) for x in shared])[0, 1])
    moved = max(shared, key=lambda x: abs(theirs.index(x) - ours.index(x)))
    first = f"both put {ours[0]} first" if theirs[0] == ours[0] else f"it puts {theirs[0]} first, we put {ours[0]}"
    name = {"kdd24": "KDD'24", "bi-reirt": "Bi-ReIRT"}[table]
    sentence = (
        f"Against {name} ({len(shared)} algorithms in both), the orders by mean rank correlate by {rho:.2f}: {first}; "
        f"{moved} moves most, from place {theirs.index(moved) + 1} to {ours.index(moved) + 1}."
    )
    return Finding(board.benchmark.name, sentence, "Description")


def findings(boards: Sequence[Board], tried: dict[str, Any] | None = None) -> list[Finding]:
    """What the boards support; `tried` is what `fragile` found."""
    found: list[Finding] = []
    falls = None if not tried else tried["falls"]
    if len(boards) == 2:
        both = _told("both", agreement(*boards), falls, sum(len(board.datasets) for board in boards))
        if tried:
            low, high = tried["rho"]
            more = f"{both.change} The correlation is then between {low:.2f} and {high:.2f}."
            both = replace(both, change=more)
        found.append(both)
    for board in boards:
        for name, rule in RULES.items():
            one = rule(board)
            if one is not None:
                found.append(_told(f"{board.benchmark.name} {name}", one, falls, len(board.datasets)))
        traits = _traits(board)
        found += [traits] if traits is not None else []
    found += [one for table in ("kdd24", "bi-reirt") if (one := _against(boards[0], table)) is not None]
    return found


def _told(key: str, finding: Finding, falls: dict[str, list[str]] | None, number: int) -> Finding:
    """The finding, and whether it falls when one dataset is left out."""
    if falls is None or key not in falls:
        return finding
    without = falls[key]
    stands = (
        f"It falls without {listing(without, last='or')}."
        if 0 < len(without) <= 4
        else f"It falls without any one of {len(without)} of the {number} datasets."
        if without
        else "It stands without any one dataset."
    )
    return replace(finding, change=f"{stands} {finding.change}".strip())


def fragile(boards: Sequence[Board]) -> dict[str, Any]:
    """Every finding again with one dataset left out: by finding those without which it falls; and the orders."""
    claims = {f"{board.benchmark.name} {name}": one.claim for board in boards for name, rule in RULES.items()
              if (one := rule(board)) is not None}  # fmt: skip
    falls: dict[str, list[str]] = {key: [] for key in claims}
    orders: dict[str, dict[str, list[str]]] = {}
    whole = agreement(*boards).claim if len(boards) == 2 else None
    rhos: list[float] = []
    if whole is not None:
        falls["both"] = []
    for number, board in enumerate(boards):
        key = board.benchmark.name
        orders[key] = {"": list(board.overall.algorithms)}
        for dataset in board.datasets:
            less = Board(board.benchmark, (dataset,))
            orders[key][dataset] = list(less.overall.algorithms)
            for name, rule in RULES.items():
                one = rule(less)
                if f"{key} {name}" in claims and (one is None or not _stands(claims[f"{key} {name}"], one.claim, name)):
                    falls[f"{key} {name}"].append(dataset)
            if whole is not None:
                pair = [less, boards[1]] if number == 0 else [boards[0], less]
                again = agreement(*pair)
                rhos.append(round(float(again.rho or 0.0), 3))
                if again.claim != whole:
                    falls["both"].append(f"{dataset} ({board.title})")
    return {"falls": falls, "orders": orders, "rho": [min(rhos), max(rhos)] if rhos else []}


def _stands(before: Any, after: Any, name: str) -> bool:
    """Whether a claim is still made: of those that beat popularity, all still do."""
    return set(before) <= set(after) if name == "popularity" else bool(before == after)
