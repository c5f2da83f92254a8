"""What the page of boards is made of: shipped tables, what others have handed in, and what both support."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recassay.analysis.board.fit import Board, find, fragile
from recassay.analysis.board.result import COSTS, METRIC, BoardTable, Finding
from recassay.core import columns as c
from recassay.core.choices import BENCHMARK
from recassay.core.registry import algorithms
from recassay.core.system.printable import one_line
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.results import Results
from recassay.data.published.benchmark import CHARACTERISTICS, RESULTS, Benchmark, rounded
from recassay.data.published.tables import FOLDER, PREFIX, published_results
from recassay.recommenders.bench import windows_of
from recassay.recommenders.bundle.check import records
from recassay.recommenders.bundle.form import Bundle
from recassay.recommenders.plan import CellSpec
from recassay.reporting.board.page import AlgorithmCard, BoardCards, board_page
from recassay.reporting.words.board import failed, handed_in, seeds_line

NOT_THERE = "not handed in"
BOARDS = (BENCHMARK, f"{BENCHMARK}-time")
TRIED = FOLDER / "boards.json"
"""What of the shipped boards' findings changes without single datasets; `dev.py docs --board` makes it."""
FEWEST = 2
"""On so few datasets nothing is tried again with one left out."""
_KINDS = {
    "baseline": "baselines",
    "neighbours": "neighbours random_walks",
    "linear": "linear slim sparse_linear nce_plrec graph_filters svd",
    "factors": "als bpr warp rating_mf nmf latent_class",
    "sequential": "rules session_knn",
    "sequential network": "sasrec gru4rec bert4rec",
}
_KIND_OF = {module: kind for kind, modules in _KINDS.items() for module in modules.split()}
_OTHER_NAMES = {"Pop": "MostPop", "NCEPLRec": "NCE-PLRec"}
"""Names that other tables have for algorithms of ours."""


def items_of(shipped: Benchmark) -> dict[str, int]:
    """By dataset in one piece the number of its items, where that is known."""
    file = shipped.folder / CHARACTERISTICS
    if not file.is_file():
        return {}
    frame = pl.read_csv(file)
    whole = [name for name, one in shipped.datasets.items() if one.windows is None]
    known = frame.filter(pl.col(c.DATASET).is_in(whole) & pl.col("Ni").is_not_null())
    return {str(name): int(items) for name, items in known.select(c.DATASET, "Ni").iter_rows()}


@dataclass(frozen=True, slots=True)
class Submission:
    """The rows that a checked bundle adds to a board."""

    name: str
    frame: pl.DataFrame
    """One row per seed: algorithm, dataset, metric and value."""
    gaps: Mapping[str, str]
    card: AlgorithmCard
    trials: float

    @classmethod
    def of(cls, bundle: Bundle, specs: Mapping[int, CellSpec], shipped: Benchmark, taken: set[str]) -> Submission:
        """Under a name of its own: that of the bundle, with a part of its hash where another one has the name."""
        told = bundle.content
        known = {*taken, *pl.read_csv(shipped.folder / RESULTS)[c.ALGORITHM].unique().to_list()}
        name = told.algorithm if told.algorithm not in known else f"{told.algorithm} ({told.sha256[:6]})"
        taken.add(name)
        cells = {cell.id: cell for cell in told.cells}
        rows, gaps = [], {}
        parameters: dict[str, str] = {}
        groups = windows_of(records(bundle, specs))
        for dataset, one in shipped.datasets.items():
            ran_here = [group for (found, _), group in groups.items() if found == dataset]
            whole = [g for g in ran_here if len(g) == len(one.windows or (1,)) and all(x.status == "done" for x in g)]
            if not whole:
                gaps[dataset] = next(
                    (one_line(str(x.reason), 80) for g in ran_here for x in g if x.status != "done"), NOT_THERE
                )
                continue
            for group in whole:
                ran = [cells[record.id] for record in group]
                values: dict[str, list[float | None]] = {
                    label: [cell.metrics.get(label) for cell in ran] for label in shipped.metrics
                }
                values |= {cost: [getattr(cell, cost) for cell in ran] for cost in COSTS}
                values["memory"] = [None if memory is None else memory / 1e6 for memory in values["memory"]]
                rows += [
                    (name, dataset, label, rounded(sum(numbers) / len(numbers)))
                    for label, found in values.items()
                    if len(numbers := [value for value in found if value is not None]) == len(found)
                ]
                parameters.setdefault(dataset, _in_brief(ran[-1].parameters))
        schema = {c.ALGORITHM: pl.String, c.DATASET: pl.String, c.METRIC: pl.String, c.VALUE: pl.Float64}
        card = AlgorithmCard(parameters=parameters, handed_in=handed_in(told.sha256, _record_beside(Path(bundle.file))))
        trials = float(np.median([len(cell.trials) for cell in told.cells]))
        return cls(name, pl.DataFrame(rows, schema=schema, orient="row"), gaps, card, trials)


def _record_beside(file: Path) -> Mapping[str, Any]:
    """What `add_bundle` noted of a bundle; nothing where there is no such note."""
    note = file.with_name(f"{file.stem}.checked.json")
    try:
        known = json.loads(note.read_text(encoding="utf-8")) if note.stat().st_size < 1 << 20 else {}
        return known if isinstance(known, dict) else {}
    except (OSError, ValueError, RecursionError):
        return {}


def board_of(shipped: Benchmark, submitted: Sequence[Submission] = ()) -> tuple[Board, BoardCards]:
    """A benchmark as a board, with what others have handed in."""
    key = [c.METRIC, c.DATASET, c.ALGORITHM]
    rows = [pl.read_csv(shipped.folder / RESULTS), *(one.frame for one in submitted)]
    value = pl.col(c.VALUE).sort()  # so that the order of the seeds does not matter
    over_seeds = (
        pl.concat([frame.select(*key, c.VALUE) for frame in rows])
        .group_by(key)
        .agg(value.mean(), value.std().alias(c.DEVIATION), pl.len().alias("seeds"))
        .sort(key)
    )
    cells = shipped.cells().sort(c.SEED, maintain_order=True)
    unstated = {"device": pl.lit("cpu"), "trials": pl.lit(None, dtype=pl.Int64)}
    cells = cells.with_columns(**{name: value for name, value in unstated.items() if name not in cells.columns})
    devices = dict(cells.select(c.ALGORITHM, "device").unique(c.ALGORITHM, keep="first").iter_rows())
    searches = cells.filter(pl.col(c.SEED) == pl.col(c.SEED).min())
    trials = dict(searches.group_by(c.ALGORITHM).agg(pl.col("trials").median()).iter_rows())
    gaps: dict[str, dict[str, str]] = {}
    for gap in shipped.not_run:
        gaps.setdefault(gap[c.ALGORITHM], {})[gap[c.DATASET]] = gap["reason"]
    gaps |= {one.name: dict(one.gaps) for one in submitted if one.gaps}
    entries = {one.name: one for one in submitted}
    names = sorted({*over_seeds[c.ALGORITHM].unique(), *gaps} - set(entries))
    table = BoardTable(
        shipped.name,
        any(str(one.protocol.get("split")) in ("global_time", "rolling") for one in shipped.datasets.values()),
        tuple(shipped.datasets),
        tuple(dict.fromkeys((METRIC, *shipped.metrics))),
        over_seeds.select(c.ALGORITHM, c.DATASET, c.METRIC, c.VALUE),
        {name: kind_of(name) for name in names} | dict.fromkeys(entries, "submitted"),
        devices | dict.fromkeys(entries, "own"),
        trials | {one.name: one.trials for one in submitted},
        dict(sorted(gaps.items(), key=lambda one: (len(one[1]), one[0]))),
        over_seeds.filter(pl.col("seeds") > 1).drop(c.VALUE),
    )
    parameters: dict[str, dict[str, str]] = {}
    for name, dataset, text in searches.select(c.ALGORITHM, c.DATASET, "parameters").iter_rows():
        parameters.setdefault(name, {})[dataset] = _in_brief(json.loads(text))
    cards = {
        name: entries[name].card if name in entries else AlgorithmCard(
            algorithms.get(name).source if name in algorithms else "", f"algorithms.html#{name.lower()}",
            {key: value for key, value in parameters.get(name, {}).items() if value},
        )
        for name in [*names, *entries]
    }  # fmt: skip
    seconds = cells.group_by("device").agg(pl.col("seconds").sum() / 3600)
    about = BoardCards(
        cards, {name: _dataset(shipped, name) for name in shipped.datasets}, shipped.notes, shipped.left_out,
        counted(shipped), dict(seconds.iter_rows()),
        seeds_line(_cells_by_seeds(cells), shared=shipped.tuning.get("seed") is not None),
    )  # fmt: skip
    return Board(table), about


def counted(shipped: Benchmark) -> dict[str, int]:
    """How many cells of a benchmark are done, refused by a rule, failed, and were not run.

    A cell is an algorithm on a dataset, whatever its windows and seeds.
    """
    done = shipped.cells().select(c.ALGORITHM, c.DATASET).unique().height
    counts = {"done": done, "refused by a rule": 0, "failed": 0, "not run": 0}
    for gap in shipped.not_run:
        reason = gap["reason"]
        late = reason.startswith("not started")
        counts["not run" if late else "failed" if failed(reason) else "refused by a rule"] += 1
    return counts


def _cells_by_seeds(cells: pl.DataFrame) -> dict[int, int]:
    """By number of seeds how many cells have so many, the most seeds first."""
    seeds = cells.group_by(c.ALGORITHM, c.DATASET).agg(pl.col(c.SEED).n_unique())
    return dict(seeds[c.SEED].value_counts().sort(c.SEED, descending=True).iter_rows())


def page_of(boards: Sequence[tuple[Board, BoardCards]], *, documentation: bool = False) -> tuple[str, list[Finding]]:
    """The page of these boards, and its findings: with what would change them where that was tried."""
    findings = findings_of([board for board, _ in boards])
    page = board_page([(board.result(), cards) for board, cards in boards], findings, documentation=documentation)
    return page, findings


def findings_of(boards: Sequence[Board]) -> list[Finding]:
    """What the boards support, compared with the papers' tables too; what would change it is known or tried now."""
    known = json.loads(TRIED.read_text(encoding="utf-8")) if TRIED.is_file() else {}
    enough = all(len(board.datasets) > FEWEST for board in boards)
    tried = known if known.get("tables") == fingerprint(boards) else fragile(boards) if enough else None
    return find(boards, {name: _paper(name) for name in ("kdd24", "bi-reirt")}, tried)


def fingerprint(boards: Sequence[Board]) -> str:
    """The hash of what findings rest on: the values of the algorithms with a place."""
    frames = [board.table.frame.filter(pl.col(c.ALGORITHM).is_in(board.placed)) for board in boards]
    text = "".join(frame.sort(c.METRIC, c.DATASET, c.ALGORITHM).write_csv() for frame in frames)
    return hashlib.sha256(text.encode()).hexdigest()


def _paper(name: str) -> Matrix:
    frame = published_results(f"{PREFIX}{name}").frame.with_columns(pl.col(c.ALGORITHM).replace(_OTHER_NAMES))
    return Results.from_frame(frame).matrix(METRIC, missing="drop-datasets")


def _dataset(shipped: Benchmark, name: str) -> dict[str, Any]:
    """What a dataset is, and where it comes from."""
    about = shipped.datasets[name]
    place = re.search(r"read from ([\w.-]+/[\w.-]+) ", f"{about.source} ")
    windows = f", {len(about.windows)} windows" if about.windows else ""
    target = ", next event" if about.protocol.get("target", "all") != "all" else ""
    split = str(about.protocol["split"]).replace("_", " ")
    return {
        "family": about.family, "licence": about.licence, "source": about.source,
        "link": f"https://github.com/{place[1]}" if place and not place[1].startswith("omnirec") else "",
        "split": f"{split}{windows}{target}", "hash": about.split[:12], "users": about.judged,
    }  # fmt: skip


def _in_brief(parameters: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}"
                     for key, value in parameters.items() if key != "device")  # fmt: skip


def kind_of(name: str) -> str:
    """What kind of algorithm a registered one is."""
    if name not in algorithms:
        return "other"
    module = algorithms.get(name).__module__
    return _KIND_OF.get(module.rpartition(".")[2], "network" if ".neural." in module else "other")
