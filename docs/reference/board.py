"""The boards in the documentation: the page `boards.html` of the site, and the part of docs/benchmark.md.

python3 dev.py docs --board

writes the part of docs/benchmark.md that follows from the tables, after it has tried every finding with each dataset
left out (minutes; the outcome is kept beside the tables, for the page).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from recassay.analysis.board.fit import Board, fragile
from recassay.analysis.board.result import METRIC, BoardResult
from recassay.api.publish.boards import BOARDS, TRIED, board_of, findings_of, fingerprint, page_of
from recassay.core.tables.labels import metric_name
from recassay.data.published.benchmark import open_benchmark
from recassay.reporting.board.page import BoardCards
from recassay.reporting.words.board import change, cost_line, grade, left_out_lines, reasons, sentence

PAGE = Path(__file__).resolve().parents[1] / "benchmark.md"
BEGIN, END = "<!-- board: written by dev.py docs --board -->", "<!-- end of the board -->"


def open_boards(sources: Sequence[str | Path] = BOARDS) -> list[tuple[Board, BoardCards]]:
    """The boards that these names or folders mean."""
    return [board_of(open_benchmark(source)) for source in sources]


def board_page() -> str:
    """The page of the site: the numbers to sort, filter and open as cards; it needs no network."""
    return page_of(open_boards(), documentation=True)[0]


def markdown(boards: Sequence[tuple[Board, BoardCards]]) -> str:
    """The part of docs/benchmark.md that follows from the tables."""
    lines = ["## Findings", "", "| | finding | grade | what would change it |", "|---|---|---|---|"]
    for number, one in enumerate(findings_of([board for board, _ in boards]), 1):
        lines.append(f"| {number} | {sentence(one)} | {grade(one)} | {change(one)} |")
    both = [note for note in boards[0][1].notes if all(note in cards.notes for _, cards in boards)]
    lines += ["", "How every cell was run:", "", *(f"- {note}" for note in both), ""]
    for board, cards in boards:
        lines += _board_part(board.result(), cards, [note for note in cards.notes if note not in both])
    return "\n".join(lines)


def _board_part(board: BoardResult, cards: BoardCards, notes: Sequence[str] = ()) -> list[str]:
    verdict, table = board.verdicts[METRIC], board.table
    again, interval = verdict.leads_again, verdict.interval
    rows = [
        f"| {verdict.place_of(name)} | {name} | {table.kinds[name]} | {verdict.mean_rank[n - 1]:.1f}"
        f"{'' if interval is None else f' ({interval[n - 1][0]:.1f} to {interval[n - 1][1]:.1f})'} | "
        f"{'yes' if name in verdict.could_be_best else ''} | {'' if again is None else f'{again[n - 1]:.2f}'} | "
        f"{100 * board.of_best[name]:.0f} % | {'≤ ' if table.devices.get(name) == 'gpu' else ''}"
        f"{_brief(board.seconds.get(name))} | {_brief(table.trials.get(name))} |"
        for n, name in enumerate(verdict.algorithms, 1)
    ]
    lacking = [f"| {name} | {'; '.join(reasons(of, len(table.datasets)))} |" for name, of in table.gaps.items()]
    best = _best(board)
    return [
        f"## {'Split by time' if table.by_time else 'Split at random'}: {len(table.datasets)} datasets", "",
        f"The {len(verdict.algorithms)} algorithms that ran on all {len(table.datasets)} datasets, by mean rank of "
        f"{metric_name(METRIC)} with its interval:",
        "",
        "| place | algorithm | kind | mean rank | could be best | leads again | of the best | seconds | trials |",
        "|---|---|---|---|---|---|---|---|---|", *rows, "",
        *(["Without a place, because values are missing:", "", "| algorithm | what is missing |", "|---|---|", *lacking,
           ""] if lacking else ["Every algorithm has a place.", ""]),
        *(f"- {line}" for line in (cards.seeds, cost_line(cards.cells, cards.hours), *notes,
                                   *left_out_lines(cards.left_out))), "",
        f"### The datasets that are split {'by time' if table.by_time else 'at random'}", "",
        "| dataset | kind | split | judged users | difficulty | discrimination | best |",
        "|---|---|---|---|---|---|---|",
        *(f"| {dataset} | {one['family']} | {one['split']} | {one['users']:,} | {_traits(board, dataset)} | "
          f"{best[dataset]} |" for dataset, one in cards.datasets.items()), "",
    ]  # fmt: skip


def _traits(board: BoardResult, dataset: str) -> str:
    return " | ".join(_brief(board.traits.get(dataset, {}).get(trait)) for trait in ("difficulty", "discrimination"))


def _best(board: BoardResult) -> dict[str, str]:
    """By dataset, the best algorithm and its value."""
    rows = board.table.values(METRIC).sort("value", "algorithm", descending=[True, False])
    best = rows.group_by("dataset", maintain_order=True).first()
    return {row["dataset"]: f"{row['algorithm']} ({row['value']:.4f})" for row in best.iter_rows(named=True)}


def _brief(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def written(text: str, part: str) -> str:
    """The page with the part between the marks replaced."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{part}\n{END}{rest.partition(END)[2]}"


def tried(boards: Sequence[Board]) -> bool:
    """Whether the findings of these very tables were tried without each dataset."""
    return TRIED.is_file() and json.loads(TRIED.read_text(encoding="utf-8"))["tables"] == fingerprint(boards)


def write_board() -> None:
    """Try every finding without each dataset, and write the part of docs/benchmark.md."""
    opened = open_boards()
    boards = [board for board, _ in opened]
    if not tried(boards):
        known = {"tables": fingerprint(boards), **fragile(boards)}
        TRIED.write_text(json.dumps(known, separators=(",", ":")).replace('],"', '],\n"') + "\n", encoding="utf-8")
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), markdown(opened)), encoding="utf-8")
