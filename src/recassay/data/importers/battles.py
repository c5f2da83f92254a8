"""Pairwise battles, as of Chatbot Arena: columns model_a, model_b and winner, or winner and loser; for `ratings`.

A battle is an instance in which two models meet: `won` is 1 for the winner, 0 for the loser and 0.5 for both in a tie.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from recassay.core.errors import InputError
from recassay.core.words import listing
from recassay.data.importers.contract import Imported, Importer, Kind
from recassay.data.importers.instances import Answer, instance_results, json_lines
from recassay.data.importers.opened import OpenedFile

_TWO = ("model_a", "model_b", "winner")
_ONE = ("winner", "loser")
_FIRST, _SECOND = {"model_a", "a", "left", "1"}, {"model_b", "b", "right", "2"}
_TIES = {"tie", "tie (bothbad)", "bothbad", "both_bad", "draw", "equal", "0.5", "tie (both bad)"}
_ENDINGS = {".csv", ".tsv", ".parquet", ".pq", ".json", ".jsonl", ".ndjson"}


def recognise(file: OpenedFile) -> Kind | None:
    """The columns, or the keys of the first record, are those of battles."""
    return "user results" if _columns(file) else None


def read(file: OpenedFile) -> Imported:
    """Two rows per battle; the columns beside those of the battle are not read."""
    columns = _columns(file)

    def answers() -> Iterator[Answer]:
        for place, record in enumerate(_records(file, columns), start=1):
            first, second, result = _battle([record.get(name) for name in columns], f"{file.name}, row {place}")
            for model, won in ((first, result), (second, 1 - result)):
                yield Answer(model, "battles", f"b{place}", "won", won, True)

    return instance_results(answers(), file, "battles")


def _battle(cells: Sequence[Any], where: str) -> tuple[str, str, float]:
    """The two models, and what the first made: 1, 0.5 or 0."""
    names = [str(cell).strip() if cell is not None else "" for cell in cells]
    first, second, winner = names if len(names) == 3 else (*names, "model_a")
    if not first or not second:
        raise InputError("a battle lacks a model", where=where, fix="name both models in every row")
    if first == second:
        raise InputError(f"{first!r} meets itself", where=where, fix="leave that row out")
    word = winner.lower()
    if word in _FIRST or (winner == first and word not in _SECOND):
        return first, second, 1.0
    if word in _SECOND or winner == second:
        return first, second, 0.0
    if word in _TIES or word.startswith("tie"):
        return first, second, 0.5
    fix = "write model_a, model_b, tie, or the name of the winner"
    raise InputError(f"the winner {winner!r} is neither of {listing([first, second])}", where=where, fix=fix)


def _columns(file: OpenedFile) -> list[str]:
    """Of the columns of a table, or the keys of the first record, those of battles; empty for other files."""
    if file.suffix not in _ENDINGS:
        return []
    names: Sequence[Any] = file.header if not file.head.lstrip().startswith(("{", "[")) else []
    if isinstance(file.json, list) and file.json and isinstance(file.json[0], dict):
        names = list(file.json[0])
    elif file.lines and file.lines[0].startswith("{"):
        names = list(next(json_lines(file), {})) if '"model_a"' in file.lines[0] or '"loser"' in file.lines[0] else []
    keys = {str(name).strip().lower(): str(name) for name in names}
    return next(([keys[name] for name in wanted] for wanted in (_TWO, _ONE) if set(wanted) <= keys.keys()), [])


def _records(file: OpenedFile, columns: list[str]) -> Iterator[dict[str, Any]]:
    if isinstance(file.json, list):
        yield from file.json
    elif not file.is_parquet and file.head.lstrip().startswith("{"):
        yield from json_lines(file)
    else:
        yield from file.frame.select(columns).iter_rows(named=True)


IMPORTER = Importer(
    "battles",
    "Pairwise battles",
    "tables with model_a, model_b and winner, or winner and loser (CSV, Parquet, JSON)",
    recognise,
    read,
    aliases=("arena",),
)
