"""The boards: what their tables say, as numbers and sentences.

python3 dev.py docs --board

writes the part of docs/benchmark.md that follows from the tables, after it has tried every finding with each dataset
left out (minutes; the outcome is kept in `board_stability.json`). `python3 dev.py docs` makes the page `board.html` of
the site from the same numbers.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
from reference.board_findings import Finding, findings, fragile
from reference.board_table import COSTS, JUDGED, METRIC, Board, kind_of

from recassay.core.registry import algorithms
from recassay.core.words import listing
from recassay.data.published.benchmark import RESULTS, open_benchmark
from recassay.reporting.words.verdict import GRADES

BOARDS = ("published:board", "published:board-time")
PAGE = Path(__file__).resolve().parents[1] / "benchmark.md"
TEMPLATE = Path(__file__).with_name("board.html")
STABILITY = Path(__file__).with_name("board_stability.json")
BEGIN, END = "<!-- board: written by dev.py docs --board -->", "<!-- end of the board -->"


def open_boards(sources: Sequence[str | Path] = BOARDS) -> list[Board]:
    """The boards that these names or folders mean."""
    return [Board(open_benchmark(source)) for source in sources]


def fingerprint(boards: Sequence[Board]) -> str:
    """The hash of the tables."""
    whole = b"".join((board.benchmark.folder / RESULTS).read_bytes() for board in boards)
    return hashlib.sha256(whole).hexdigest()


def stability(boards: Sequence[Board]) -> dict[str, Any]:
    """What is known of the boards without one dataset at a time; nothing where other tables were tried."""
    known = json.loads(STABILITY.read_text(encoding="utf-8")) if STABILITY.is_file() else {}
    return known if known.get("tables") == fingerprint(boards) else {}


def told(boards: Sequence[Board]) -> list[Finding]:
    """The findings, with those that fall without one dataset, where that is known."""
    return findings(boards, stability(boards))


def board_data(board: Board) -> dict[str, Any]:
    """What the page shows of one board, as plain data."""
    names = board.frame["algorithm"].unique().sort().to_list()
    values = {metric: _by_name(board, metric) for metric in (*board.metrics, *COSTS)}
    cells = board.benchmark.cells()
    trials = cells.group_by("algorithm").agg(pl.col("trials").median()) if "trials" in cells.columns else None
    return {
        "name": board.benchmark.name,
        "title": board.title,
        "metrics": board.metrics,
        "values": {metric: _compact(board, rows) for metric, rows in values.items()},
        "verdicts": {metric: _verdict(board, metric) for metric in JUDGED if metric in board.metrics},
        "placed": board.placed,
        "ofBest": board.of_best,
        "trials": {} if trials is None else dict(trials.iter_rows()),
        "gaps": {name: _reasons(lacking, len(board.datasets)) for name, lacking in board.gaps.items()},
        "algorithms": {name: _algorithm(board, name) for name in sorted({*names, *board.gaps})},
        "datasets": {name: _dataset(board, name) for name in board.datasets},
        "leftOut": dict(board.benchmark.left_out),
        "notes": list(board.benchmark.notes),
    }


def _by_name(board: Board, metric: str) -> dict[str, dict[str, float]]:
    rows: dict[str, dict[str, float]] = {}
    for name, dataset, value in board.values(metric).iter_rows():
        rows.setdefault(name, {})[dataset] = value
    return rows


def _compact(board: Board, rows: dict[str, dict[str, float]]) -> dict[str, list[float | None]]:
    """By algorithm its values in the order of the datasets, to four digits."""
    return {
        name: [None if (v := of.get(dataset)) is None else float(f"{v:.4g}") for dataset in board.datasets]
        for name, of in rows.items()
    }


def _verdict(board: Board, metric: str) -> dict[str, Any]:
    """The verdict on the algorithms with a place, best mean rank first."""
    verdict = board.verdict(metric)
    return {
        "headline": verdict.headline,
        "grade": GRADES[verdict.grade],
        "order": list(verdict.algorithms),
        "ranks": [round(float(rank), 4) for rank in verdict.mean_rank],
        "interval": None if verdict.interval is None else verdict.interval.round(1).tolist(),
        "could": list(verdict.could_be_best),
        "again": None if verdict.leads_again is None else verdict.leads_again.round(3).tolist(),
        "groups": list(verdict.groups),
    }


def _algorithm(board: Board, name: str) -> dict[str, Any]:
    """What an algorithm is, and the parameters that won, by dataset."""
    own = board.benchmark.cells().filter(pl.col("algorithm") == name)
    found = {row["dataset"]: _parameters(row["parameters"]) for row in own.iter_rows(named=True)}
    return {
        "kind": kind_of(name),
        "device": board.device(name),
        "source": algorithms.get(name).source if name in algorithms else "",
        "parameters": {key: value for key, value in found.items() if value},
    }


def _parameters(text: str) -> str:
    return ", ".join(f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}"
                     for key, value in json.loads(text).items() if key != "device")  # fmt: skip


def _dataset(board: Board, name: str) -> dict[str, Any]:
    """What a dataset is, how hard it is, and how well it separates algorithms."""
    about = board.benchmark.datasets[name]
    place = re.search(r"read from ([\w.-]+/[\w.-]+) ", f"{about.source} ")
    split = str(about.protocol["split"])
    windows = f", {len(about.windows)} windows" if about.windows else ""
    target = ", next event" if about.protocol.get("target", "all") != "all" else ""
    return {
        "family": about.family,
        "licence": about.licence,
        "source": about.source,
        "link": f"https://github.com/{place[1]}" if place and not place[1].startswith("omnirec") else "",
        "split": f"{split}{windows}{target}",
        "hash": about.split[:12],
        "users": about.judged,
        **board.traits.get(name, {}),
    }


def _reasons(lacking: dict[str, str], total: int) -> list[str]:
    """Which datasets are missing, one line per reason."""
    by: dict[str, list[str]] = {}
    for dataset, reason in lacking.items():
        by.setdefault(_rule(reason), []).append(dataset)
    return [
        f"{reason}: {listing(sets) if len(sets) <= 3 else f'{len(sets)} of {total} datasets'}"
        for reason, sets in sorted(by.items(), key=lambda one: -len(one[1]))
    ]


def _rule(reason: str) -> str:
    """The rule by which a cell has no value, in few words."""
    if "would need about" in reason or "out of memory" in reason:
        return "over the memory limit"
    if "cannot be asked with a history" in reason:
        return "cannot answer after a history"
    if reason.startswith(("AcceleratorError", "its process ended")):
        return "failed with the GPU's process"
    if reason.startswith("no value after"):
        return "no value within the time of a cell"
    short = re.split(r"[;:] | \(", reason)[0]
    return short.split(" needs ", 1)[-1].join(("needs ", "")) if " needs " in short else short


def page_data(boards: Sequence[Board]) -> dict[str, Any]:
    """Everything that the page shows."""
    return {
        "boards": [board_data(board) for board in boards],
        "findings": [[one.board, one.sentence, one.grade, one.change] for one in told(boards)],
    }


def board_page(boards: Sequence[Board] | None = None) -> str:
    """The page of the site: the same numbers to sort, filter and open as cards; it needs no network."""
    content = json.dumps(page_data(boards or open_boards()), allow_nan=False, separators=(",", ":"))
    return TEMPLATE.read_text(encoding="utf-8").replace("DATA", content.replace("<", "\\u003c"), 1)


def markdown(boards: Sequence[Board]) -> str:
    """The part of docs/benchmark.md that follows from the tables."""
    lines = ["## What it says", "", "| | finding | grade | what would change it |", "|---|---|---|---|"]
    lines += [f"| {n} | {one.sentence} | {one.grade} | {one.change} |" for n, one in enumerate(told(boards), 1)]
    both = [note for note in boards[0].benchmark.notes if all(note in board.benchmark.notes for board in boards)]
    lines += ["", "What to know of every cell:", "", *(f"- {note}" for note in both), ""]
    for board in boards:
        lines += _board_part(board, [note for note in board.benchmark.notes if note not in both])
    return "\n".join(lines)


def _board_part(board: Board, notes: Sequence[str] = ()) -> list[str]:
    verdict, seconds = board.overall, board.median_cost("seconds_fit")
    again, interval = verdict.leads_again, verdict.interval
    rows = [
        f"| {n} | {name} | {kind_of(name)} | {verdict.mean_rank[n - 1]:.1f}"
        f"{'' if interval is None else f' ({interval[n - 1][0]:.1f} to {interval[n - 1][1]:.1f})'} | "
        f"{'yes' if name in verdict.could_be_best else ''} | {'' if again is None else f'{again[n - 1]:.2f}'} | "
        f"{100 * board.of_best[name]:.0f} % | {_brief(seconds.get(name))} |"
        for n, name in enumerate(verdict.algorithms, 1)
    ]
    lacking = [f"| {name} | {'; '.join(_reasons(of, len(board.datasets)))} |" for name, of in board.gaps.items()]
    best = _best(board)
    return [
        f"## The board {board.title}", "",
        f"The {len(verdict.algorithms)} algorithms that ran on all {len(verdict.datasets)} datasets, by mean rank of "
        "nDCG@10 with its interval. Could be best: no other is shown to be better. Leads again: the probability of the "
        "best mean rank on another such set of datasets. Of the best: the median over the datasets of nDCG@10 as a "
        "share of the best algorithm's. Seconds of training are medians.", "",
        "| place | algorithm | kind | mean rank | could be best | leads again | of the best | seconds |",
        "|---|---|---|---|---|---|---|---|", *rows, "",
        *(["Without a place, because values are missing:", "", "| algorithm | what is missing |", "|---|---|", *lacking,
           ""] if lacking else ["Every algorithm has a place.", ""]),
        *(f"- {note}" for note in notes), "",
        f"### The datasets {board.title.replace('of random splits', 'with random splits')}", "",
        "Difficulty and discrimination come from [beta-IRT](beta-irt.md). A dataset with a discrimination near 0 does "
        "not separate algorithms.", "",
        "| dataset | family | split | judged users | difficulty | discrimination | best |",
        "|---|---|---|---|---|---|---|",
        *(f"| {name} | {one['family']} | {one['split']} | {one['users']:,} | {_brief(one.get('difficulty'))} | "
          f"{_brief(one.get('discrimination'))} | {best[name]} |"
          for name in board.datasets if (one := _dataset(board, name))), "",
        *(f"- The dataset {name} is not part of it: {why}" for name, why in board.benchmark.left_out.items()), "",
    ]  # fmt: skip


def _best(board: Board) -> dict[str, str]:
    """By dataset, the best algorithm and its value."""
    best = board.values(METRIC).sort("value", descending=True).group_by("dataset", maintain_order=True).first()
    return {row["dataset"]: f"{row['algorithm']} ({row['value']:.4f})" for row in best.iter_rows(named=True)}


def _brief(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def written(text: str, part: str) -> str:
    """The page with the part between the marks replaced."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{part}\n{END}{rest.partition(END)[2]}"


def write_board() -> None:
    """Try every finding without each dataset, and write the part of docs/benchmark.md."""
    boards = open_boards()
    if not stability(boards):
        tried = {"tables": fingerprint(boards), **fragile(boards)}
        STABILITY.write_text(json.dumps(tried, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), markdown(boards)), encoding="utf-8")
