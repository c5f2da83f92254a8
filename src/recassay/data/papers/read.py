"""A paper's source read: each table with its kind and the reason for it, and the sentences around."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from recassay.core import columns as c
from recassay.core.errors import InputError
from recassay.core.names import canonical
from recassay.core.tables.labels import is_cost, normal_label
from recassay.core.tables.printed import Entry, Kind, Paper, PaperTable
from recassay.core.words import count_of, listing
from recassay.data.papers import labels as names
from recassay.data.papers.body import Body, taken_apart
from recassay.data.papers.meaning import Level, levels_of, results_of
from recassay.data.papers.passages import passages
from recassay.data.papers.source import Budget, read_source
from recassay.data.papers.tables import Grid, grids

_STATISTICS = re.compile(r"\b(?:statistics?|characteristics) of\b|\bstatistics\b", re.IGNORECASE)
_SETTINGS = re.compile(r"hyper-?\s?param|\bsettings?\b of|parameter settings?|search space", re.IGNORECASE)
_ABLATION = re.compile(r"\bablati|\bvariants?\b|\beffect of (?:each|the)\b|\bcomponents?\b", re.IGNORECASE)
_SWEEP = re.compile(
    r"\b(?:sensitivity|different (?:number|values?|sizes?|dimension)|impact of (?:the )?(?:number|size|param))",
    re.IGNORECASE,
)
_NO_RESULTS = re.compile(r"\brank(?:ing)? order\b|\bsimilarity\b|\bcorrelation\b", re.IGNORECASE)


def read_paper(path: Path, metric: str | None = None) -> Paper:
    """The tables and sentences of a LaTeX file, a folder or an archive; `metric` is that of tables that name none."""
    budget = Budget(str(path))
    text, sources, notes = read_source(path, budget)
    parts = [(_unread(grid, body), body) for grid in grids(text, budget) for body in (taken_apart(grid),)]
    described = [_statistics(table, body) if body else table for table, body in parts]
    datasets = {canonical(name) for table in described for name in table.datasets}
    tables = tuple(_read(table, body, datasets, metric) if body and table.kind == "other" else table
                   for table, (_, body) in zip(described, parts, strict=True))  # fmt: skip
    if not tables:
        fix = "give the paper's .tex file, its folder or its archive of sources"
        raise InputError("holds no LaTeX table", where=str(path), fix=fix)
    return Paper(tables, tuple(passages(text, [(t.number, t.caption) for t in tables], budget)), sources, notes)


def _unread(grid: Grid, body: Body | None) -> PaperTable:
    reason = "no row of numbers stands below a header"
    return PaperTable(grid.number, grid.caption, "other", reason, grid.cells, body.headers if body else 1)


def _statistics(table: PaperTable, body: Body) -> PaperTable:
    """The same table, where it describes datasets along its rows or its columns with the number of their users."""
    tops = [path[-1] or path[0] for path in body.rows[0][2][body.stubs :]]
    stubs, firsts = [row[1][-1] for row in body.rows], [row[1][0] for row in body.rows]
    captioned = bool(_STATISTICS.search(table.caption))
    for labels, others, down in ((tops, firsts, True), (stubs, tops, False)):
        counted = [label for label in labels if names.is_statistic(label)]
        if len(counted) >= 2 - captioned and 2 * len(counted) >= len(list(filter(None, labels))) - captioned:
            at = next((i for i, label in enumerate(labels) if names.is_users(label)), None)
            places = [
                (body.rows[i if down else at or 0][0], body.stubs + ((at or 0) if down else i))
                for i in range(len(others))
            ]
            values = [table.cells[row][column].value for row, column in places] if at is not None else []
            users = tuple(
                (name, int(value)) for name, value in zip(others, values, strict=False) if value and value % 1 == 0
            )
            reason = f"{'columns' if down else 'rows'} count {listing(counted, most=3)}"
            datasets = tuple(dict.fromkeys(filter(None, others)))
            return replace(table, kind="statistics", reason=reason, users=users, datasets=datasets)
    return replace(table, kind="statistics", reason="the caption says statistics") if captioned else table


def _read(table: PaperTable, body: Body, datasets: Collection[str], metric: str | None) -> PaperTable:
    """A table that is not a description of datasets, with its results where it has any."""
    levels, caption = levels_of(body, datasets), table.caption
    metrics = [label for level in levels if level.role == "metric" for label in level.labels]
    heads = [label for level in levels if level.place[0] == "head" for label in level.labels]
    settings = [label for level in levels for label in level.labels if names.is_setting(label)]
    costs = [label for label in heads if names.is_costly(label) or is_cost(names.metric_of(label) or "")]
    of_caption = names.metrics_named(caption) or ([normal_label(metric)] if metric else [])
    if not metrics:
        if len(settings) > 2 or _SETTINGS.search(caption):
            why = f"it names settings ({listing(settings, most=3)}) and no metric"
            return replace(table, kind="parameters", reason=why)
        if costs and 3 * len(costs) >= len(heads):
            return replace(table, kind="timings", reason=f"its columns are {listing(costs, most=3)}")
        known = names.share_of([row[1][0] for row in body.rows], lambda name: canonical(name) in datasets)
        methods = any(level.role == c.ALGORITHM and names.role_of(level.word) for level in levels)
        if known > 0.8 and not methods and not of_caption:
            return replace(table, kind="statistics", reason="its rows are the paper's datasets, and it names no metric")
    entries, derived, notes = results_of(table.cells, body, levels, of_caption)
    if not entries:
        return replace(table, reason="neither header, rows nor caption name one metric")
    if all((entry.cell.value or 0) % 1 == 0 and not entry.cell.percent for entry in entries):
        return replace(table, reason="its numbers are counts or ranks, not values of a metric")
    if _NO_RESULTS.search(caption):
        return replace(table, reason="its caption says that it holds no results")
    kind, reason = _kind(caption, body, levels, entries)
    called = next((names.called(label) for level in levels for label in level.labels
                if level.role == c.ALGORITHM and names.is_ours(label)), "")  # fmt: skip
    remarks = tuple([*body.notes, *notes, *_assumed(levels)])
    return replace(
        table, kind=kind, reason=reason, entries=tuple(entries), derived=tuple(derived), notes=remarks, own=called
    )


def _kind(caption: str, body: Body, levels: Sequence[Level], entries: Sequence[Entry]) -> tuple[Kind, str]:
    """Results, an ablation, timings, or results over the values of a parameter; and why."""
    metrics = list(dict.fromkeys(entry.metric for entry in entries))
    algorithms = list(dict.fromkeys(entry.algorithm for entry in entries))
    if 2 * sum(is_cost(entry.metric) for entry in entries) > len(entries):
        return "timings", f"its metrics are {listing(metrics, most=3)}"
    cut = [
        name for name in (*algorithms, *(text for level in levels for text in level.labels)) if names.is_ablated(name)
    ]
    if _ABLATION.search(caption) or (len(cut) >= 2 and 3 * len(cut) >= len(algorithms)):
        return "ablation", f"variants such as {listing(dict.fromkeys(cut), most=2)}" if cut else "the caption says so"
    numbers = sum(bool(re.fullmatch(r"[\d.]+[KMx]?", name)) for name in algorithms)
    corner = body.corners[-1] if body.corners else ""
    if 2 * numbers > len(algorithms) or (names.is_setting(corner) and not names.role_of(corner)):
        return "parameters", f"its rows are values of {corner or 'a parameter'}"
    if _SWEEP.search(caption):
        return "parameters", "the caption says so"
    sets = count_of(len({entry.dataset for entry in entries}), "dataset")
    return "results", f"{listing(metrics, most=3)} of {count_of(len(algorithms), 'algorithm')} on {sets}"


def _assumed(levels: Sequence[Level]) -> list[str]:
    """What was taken for what where neither a word nor a known name says it."""
    return [
        f"taken as {level.role}s: {listing(level.labels, most=4)}"
        for level in levels
        if level.role in (c.ALGORITHM, c.DATASET)
        and not names.role_of(level.word)
        and not names.names_datasets(level.labels)
    ]
