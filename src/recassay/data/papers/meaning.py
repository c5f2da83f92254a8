"""What a table of a paper means: what its rows and columns name, and which number is the result of what."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from recassay.core import columns as c
from recassay.core.names import canonical
from recassay.core.tables.labels import split_label
from recassay.core.tables.printed import Along, Derived, Entry, PrintedCell
from recassay.core.words import count_of, listing
from recassay.data.papers import labels as names
from recassay.data.papers.body import Body
from recassay.data.papers.cells import is_missing

Cells: TypeAlias = tuple[tuple[PrintedCell, ...], ...]


@dataclass(frozen=True, slots=True)
class Level:
    """Labels of one kind of place, such as a row of headers, and what they name."""

    place: tuple[str, int]
    labels: tuple[str, ...]
    word: str
    role: str = ""


def levels_of(body: Body, datasets: Collection[str]) -> list[Level]:
    """Every level of labels with its role: metric, cutoff, dataset, algorithm, condition or group."""
    depth = max(len(path) for _, _, columns, _ in body.rows for path in columns)
    levels = [Level(("stub", j), _distinct(row[1][j] for row in body.rows), body.corners[j]) for j in range(body.stubs)]
    for i in range(depth):
        labels = _distinct(path[i] for row in body.rows for path in row[2][body.stubs :])
        levels.append(Level(("head", i), labels, body.across[i]))
    if any(row[3] for row in body.rows):
        levels.append(Level(("panel", 0), _distinct(row[3] for row in body.rows), ""))
    made = [replace(level, role=_role_by_content(level, datasets)) for level in levels]
    if not any(level.role == "metric" for level in made):
        made = [replace(level, role="") if level.role == "cutoff" else level for level in made]
    taken = {level.role for level in made}
    for i in sorted(range(len(made)), key=lambda i: (made[i].place[0] != "stub", -i)):
        word = names.role_of(
            made[i].word
        )  # words in corners settle what contents do not; the last column of names first
        if not made[i].role and word:
            made[i] = replace(made[i], role="group" if word in taken else word)
            taken.add(word)
    open_ones = [i for i, level in enumerate(made) if not level.role]
    if c.ALGORITHM not in taken and open_ones:
        stubs = [i for i in open_ones if made[i].place[0] == "stub"]
        heads = [i for i in open_ones if made[i].place[0] == "head"]
        place = (stubs or heads or open_ones)[-1]
        made[place] = replace(made[place], role=c.ALGORITHM)
    for i in [i for i in open_ones if not made[i].role]:
        across = made[i].place[0] == "head" and c.DATASET not in {level.role for level in made}
        made[i] = replace(made[i], role=c.DATASET if across and len(made[i].labels) > 1 else "group")
    return made


def _role_by_content(level: Level, datasets: Collection[str]) -> str:
    labels = [label for label in level.labels if not names.is_gain(label) and not names.is_average(label)]
    labels = [label for label in labels if not names.NO_RESULT.match(label)] or labels
    head = level.place[0] == "head"
    if names.share_of(labels, names.is_metric) >= (0.5 if head else 0.6):
        return "metric"
    if labels and head and names.share_of(labels, names.cutoff_of) > 0.5:
        return "cutoff"
    if names.share_of(labels, names.is_condition) > 0.5:
        return "condition"
    described = names.share_of(labels, lambda label: canonical(label) in datasets) >= 0.5
    if described or (names.names_datasets(labels) and (head or names.role_of(level.word) != c.ALGORITHM)):
        return c.DATASET
    return ""


def _distinct(labels: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(label for label in labels if label))


def results_of(
    cells: Cells, body: Body, levels: Sequence[Level], of_caption: Sequence[str]
) -> tuple[list[Entry], list[Derived], list[str]]:
    """Every result, every number that compares or averages others, and what to know of the reading."""
    roles = {level.place: level.role for level in levels}
    has_metric = "metric" in roles.values()
    if not has_metric and len(of_caption) != 1:
        return [], [], []
    entries: list[Entry] = []
    derived: list[Derived] = []
    left: Counter[str] = Counter()
    signed = {at for at, *_ in body.rows if _all_gains(cells[at][body.stubs :])}
    signed = signed if len(signed) < len(body.rows) else set()
    for at, stub, columns, panel in body.rows:
        for j in range(body.stubs, len(cells[at])):
            cell = cells[at][j]
            if cell.value is None:
                left["cells that are not a single number"] += bool(cell.text) and not is_missing(cell)
                continue
            across = {("head", i): text for i, text in enumerate(columns[j])}
            labels = {("stub", i): text for i, text in enumerate(stub)} | across | {("panel", 0): panel}
            gain, mean = (next((text for text in labels.values() if test(text)), None)
                          for test in (names.is_gain, names.is_average))  # fmt: skip
            texts: dict[str, dict[str, None]] = defaultdict(dict)
            for place, text in labels.items():
                if text and not names.is_gain(text) and not names.is_average(text):
                    texts[roles.get(place, "")][text] = None
            said_metric = next(iter(texts["metric"]), "")
            metric = (
                next(filter(None, map(names.metric_of, texts["metric"])), said_metric.lower())
                if has_metric
                else of_caption[0]
            )
            cutoff = names.cutoff_of(next(iter(texts["cutoff"]), ""))
            if cutoff and metric and split_label(metric)[1] is None:
                metric = f"{metric}@{cutoff}"
            setting = (" / ".join(texts[c.DATASET]), metric, " / ".join(texts["group"]), " / ".join(texts["condition"]))
            if gain is not None or at in signed:
                along: Along = "column" if at in signed or gain in stub else "row"
                derived.append(Derived(at, j, "gain", setting, along, gain or "", cell))
            elif mean is not None:
                derived.append(Derived(at, j, "average", setting, "column" if mean in stub else "row", mean, cell))
            elif cell.unit or not metric or names.NO_RESULT.match(said_metric or columns[j][-1]):
                left[f"column {columns[j][-1]!r}"] += 1
            else:
                dataset, _, group, condition = setting
                name = names.called(" ".join(texts[c.ALGORITHM]))
                entries.append(Entry(at, j, name, dataset, metric, group, condition, cell))
    gone = [f"{what} ({count_of(count, 'number')})" for what, count in left.items() if count]
    notes = [f"left out: {listing(gone, most=6)}"] if gone else []
    if not has_metric and entries:
        notes.append(f"the caption names the metric: {of_caption[0]}")
    return _grouped(entries, derived, notes)


def _all_gains(cells: Sequence[PrintedCell]) -> bool:
    """Whether all numbers of a row are signed percentages."""
    numbers = [cell for cell in cells if cell.value is not None]
    return len(numbers) > 0 and all(cell.percent and (cell.signed or cell.text.startswith("(")) for cell in numbers)


def _grouped(
    entries: list[Entry], derived: list[Derived], notes: list[str]
) -> tuple[list[Entry], list[Derived], list[str]]:
    """Groups of methods are groups; only where a method stands twice without them, it is one of its group."""
    kept: dict[tuple[object, ...], Entry] = {}
    for entry in entries:  # a merged cell beside a name on two lines is one number
        before = kept.setdefault((entry.algorithm, *entry.setting, entry.cell), entry)
        if entry is not before and abs(entry.row - before.row) != 1:
            kept[entry.algorithm, *entry.setting, entry.cell, entry.row] = entry
    entries = list(kept.values())
    alone = Counter((entry.algorithm, entry.dataset, entry.metric, entry.condition) for entry in entries)
    repeated = any(count > 1 for count in alone.values())
    groups = list(dict.fromkeys(entry.group for entry in entries if entry.group))
    if not repeated and len({entry.group for entry in entries}) > 1:
        notes.append(f"groups of methods, no part of their names: {listing(groups)}")
        entries = [replace(entry, group="") for entry in entries]
    return entries, derived, notes
