"""The board of the open benchmark: what its table says, as numbers and sentences.

python3 dev.py docs --board

writes the part of docs/benchmark.md that follows from the table; `python3 dev.py docs` makes the page `board.html` of
the site from the same numbers and `board.html`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from reference.board_findings import findings
from reference.board_table import COSTS, Board, is_neural

from recassay.core.words import listing
from recassay.data.published.benchmark import OPEN, Benchmark, open_benchmark
from recassay.reporting.words.verdict import GRADES

PAGE = Path(__file__).resolve().parents[1] / "benchmark.md"
TEMPLATE = Path(__file__).with_name("board.html")
BEGIN, END = "<!-- board: written by dev.py docs --board -->", "<!-- end of the board -->"


def algorithm_card(board: Board, name: str, ranks: pl.DataFrame) -> dict[str, Any]:
    """Where an algorithm is strong, what it costs, and the parameters that won."""
    own = ranks.filter(pl.col("algorithm") == name).sort("rank", "dataset")
    cells = board.benchmark.cells().filter(pl.col("algorithm") == name)
    found: dict[str, list[Any]] = {}
    for text in cells["parameters"]:
        for key, value in json.loads(text).items():
            found.setdefault(key, []).append(value)
    return {
        "datasets": own.height,
        "firsts": int((own["rank"] <= 1).sum()),
        "strong": [_placed(row) for row in own.head(3).iter_rows(named=True)],
        "weak": [_placed(row) for row in own.tail(2).iter_rows(named=True)] if own.height > 3 else [],
        "costs": {cost: value for cost in COSTS if (value := board.median_cost(cost).get(name)) is not None},
        "tuning_seconds": cells["seconds"].median(),
        "parameters": {key: _range(values) for key, values in sorted(found.items())},
        "neural": is_neural(name),
    }


def _placed(row: dict[str, Any]) -> str:
    return f"{row['dataset']} ({row['rank']:.0f} of {row['of']})"


def _range(values: list[Any]) -> str:
    """The values that won: the middle one with the ends for numbers, those of choices by how often they won."""
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        low, middle, high = np.quantile(values, [0, 0.5, 1])
        return f"{middle:.3g}" if low == high else f"{middle:.3g} ({low:.3g} to {high:.3g})"
    counts = {str(value): sum(str(other) == str(value) for other in values) for value in values}
    return ", ".join(f"{value} ({count})" for value, count in sorted(counts.items(), key=lambda one: -one[1])[:3])


def dataset_card(board: Board, name: str, ranks: pl.DataFrame) -> dict[str, Any]:
    """How hard a dataset is, how well it tells algorithms apart, and what it favours."""
    own = ranks.filter(pl.col("dataset") == name).sort("rank", "algorithm")
    overall = {x: n for n, x in enumerate(board.overall.algorithms)}
    place = {
        row["algorithm"]: n
        for n, row in enumerate(own.filter(pl.col("algorithm").is_in(list(overall))).iter_rows(named=True))
    }
    gains = sorted(place, key=lambda x: place[x] - overall[x])
    about = board.benchmark.datasets[name]
    return {
        "family": about.family,
        "licence": about.licence,
        "source": about.source,
        "split": str(about.protocol["split"]),
        "hash": about.split[:12],
        "users": about.judged,
        **board.traits.get(name, {}),
        "best": [f"{row['algorithm']} ({row['value']:.4f})" for row in own.head(3).iter_rows(named=True)],
        "favours": [f"{x} (+{overall[x] - place[x]})" for x in gains[:3] if overall[x] > place[x]],
        "algorithms": own.height,
    }


def board_data(board: Board) -> dict[str, Any]:
    """Everything that the page shows, as plain data."""
    ranks = board.ranks()
    names = board.frame["algorithm"].unique().sort().to_list()
    verdict = board.overall
    return {
        "title": f"{len(names)} algorithms on {len(board.benchmark.datasets)} datasets",
        "metrics": board.metrics,
        "costs": [cost for cost in COSTS if board.values(cost).height],
        "values": {
            metric: {
                name: dict(
                    board.values(metric).filter(pl.col("algorithm") == name).select("dataset", "value").iter_rows()
                )
                for name in names
            }
            for metric in [*board.metrics, *COSTS]
        },
        "verdict": {
            "headline": verdict.headline,
            "grade": GRADES[verdict.grade],
            "scope": f"{len(verdict.algorithms)} algorithms that ran on all of {len(verdict.datasets)} datasets",
            "groups": dict(zip(verdict.algorithms, verdict.groups, strict=True)),
            "could": list(verdict.could_be_best),
        },
        "algorithms": {name: algorithm_card(board, name, ranks) for name in names},
        "datasets": {name: dataset_card(board, name, ranks) for name in board.benchmark.datasets},
        "findings": [[one.sentence, one.grade] for one in findings(board)],
        "not_run": _not_run(board.benchmark),
        "left_out": dict(board.benchmark.left_out),
        "notes": list(board.benchmark.notes),
    }


def _not_run(benchmark: Benchmark) -> list[str]:
    """What was not run, one line per reason."""
    groups: dict[str, dict[str, list[str]]] = {}
    for cell in benchmark.not_run:
        limit = re.sub(r"ran longer than the \d+ seconds.*", "ran into the time limit", cell["reason"])
        reason = re.split(r"[;:] | \(", re.sub(r"[\d.]+ GB", "... GB", limit))[0]
        groups.setdefault(reason, {}).setdefault(cell["algorithm"], []).append(cell["dataset"])
    total = len(benchmark.datasets)
    return [
        f"{reason[0].upper()}{reason[1:]}: "
        + ", ".join(
            f"{name} ({listing(sets) if len(sets) <= 3 else f'{len(sets)} of {total} datasets'})"
            for name, sets in sorted(algorithms.items())
        )
        + "."
        for reason, algorithms in sorted(groups.items())
    ]


def markdown(board: Board) -> str:
    """The part of docs/benchmark.md that follows from the table."""
    data, verdict = board_data(board), board.overall
    seconds, joules = (board.median_cost(cost, board.overall.datasets) for cost in ("seconds_fit", "joules"))
    lines = [
        "## What it says", "",
        *(f"{n}. {sentence} *{grade}.*" for n, (sentence, grade) in enumerate(data["findings"], 1)), "",
        "## The board", "",
        f"nDCG@10 on the {len(verdict.datasets)} datasets and {len(verdict.algorithms)} algorithms without a missing "
        "value, by mean rank. Two algorithms share a letter where neither is shown to be better. Seconds (of training) "
        "and joules (of training and recommending) are medians over the datasets. `python3 dev.py docs` also makes "
        "`site/board.html`: the whole table to sort and filter, with a card per algorithm and per dataset.", "",
        "| place | algorithm | mean rank | nDCG@10 | groups | seconds | joules |", "|---|---|---|---|---|---|---|",
        *(f"| {n} | {name} | {verdict.mean_rank[n - 1]:.1f} | {verdict.mean[n - 1]:.4f} | {verdict.groups[n - 1]} | "
          f"{_brief(seconds.get(name))} | {_brief(joules.get(name))} |"
          for n, name in enumerate(verdict.algorithms, 1)), "",
        *(f"- {note}" for note in data["notes"]), "",
        "## The datasets", "",
        "Difficulty and discrimination come from [beta-IRT](beta-irt.md). A dataset with a discrimination near 0 does "
        "not separate algorithms.", "",
        "| dataset | family | split | judged users | difficulty | discrimination | best |",
        "|---|---|---|---|---|---|---|",
        *(f"| {name} | {one['family']} | {one['split']} | {one['users']:,} | {_brief(one.get('difficulty'))} | "
          f"{_brief(one.get('discrimination'))} | {one['best'][0] if one['best'] else ''} |"
          for name, one in data["datasets"].items()), "",
        "## What was not run", "",
        *_reasons(data["not_run"]), "",
        *(f"- The dataset {name} is not part of it: {why}" for name, why in data["left_out"].items()), "",
    ]  # fmt: skip
    return "\n".join(lines)


def _reasons(lines: list[str]) -> list[str]:
    """The lines of `_not_run` as a table."""
    rows = [f"| {reason} | {which.rstrip('.')} |" for reason, _, which in (line.partition(": ") for line in lines)]
    return (
        ["| why | algorithms and datasets |", "|---|---|", *rows] if rows else ["Every algorithm ran on every dataset."]
    )


def board_page(source: str | Path = OPEN) -> str:
    """The page of the site: the same numbers to sort, filter and open as cards; it needs no network."""
    content = json.dumps(board_data(Board(open_benchmark(source))), allow_nan=False, separators=(",", ":"))
    return TEMPLATE.read_text(encoding="utf-8").replace("DATA", content.replace("<", "\\u003c"), 1)


def _brief(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def written(text: str, part: str) -> str:
    """The page with the part between the marks replaced."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{part}\n{END}{rest.partition(END)[2]}"


def write_board(source: str | Path = OPEN) -> None:
    """Write the part of docs/benchmark.md."""
    board = Board(open_benchmark(source))
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), markdown(board)), encoding="utf-8")
