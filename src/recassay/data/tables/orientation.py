"""Which names of a table are algorithms and which are datasets. Witnesses decide; without one the table is refused.

The words of the file (`model`, `dataset` and their synonyms over columns and levels of headers) are the first witness,
names that are known as algorithms or datasets (of the registry, the catalogue and the published tables) the second.
What the user says stands above both. A table is never turned by a guess about its shape: where witnesses disagree, or
there is none, the reader is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError, listing
from recassay.core.names import canonical
from recassay.core.registry import algorithms, classifiers
from recassay.data.catalog.entries import CATALOG
from recassay.data.tables.grid import PANEL, Table, plain_name
from recassay.data.tables.roles import Asked, Layout, free_names
from recassay.data.tables.words import UNNAMED, role_word

OPPOSITE = {c.ALGORITHM: c.DATASET, c.DATASET: c.ALGORITHM}
_KINDS = (c.ALGORITHM, c.DATASET)


def orient(table: Table, layout: Layout, asked: Asked, where: str) -> None:
    """Find the column of algorithms (and of datasets), and what the headers name beside metrics."""
    free = free_names(table, layout)
    across = _across(layout)
    if c.VALUE in layout.roles:
        _pair(table, layout, free)
    elif across and not set(_KINDS) <= layout.roles.keys():
        layout.across = OPPOSITE[_kind_of_rows(table, layout, free, across, asked, where)]
    elif not across and any(column.metric for column in layout.values):
        _only_rows(table, layout, free, asked, where)


def opinion(rows: Sequence[str], across: Sequence[str]) -> tuple[str | None, str]:
    """What known names say the rows are, and which names these are; None where they say nothing clear."""
    (row_methods, row_data), (across_methods, across_data) = count_known(rows), count_known(across)
    sides = {c.ALGORITHM: row_methods + across_data, c.DATASET: row_data + across_methods}
    kind = max(sides, key=lambda side: sides[side])
    most, least = sides[kind], sides[OPPOSITE[kind]]
    several = most > 1 or 3 * most >= min(len(set(rows)), len(set(across)) or len(set(rows)))
    if not most or 4 * least > most or not several:
        return None, ""
    side = rows if (row_methods if kind == c.ALGORITHM else row_data) else across
    named = [name for name in dict.fromkeys(side) if any(count_known([name]))]
    known_as = kind if side is rows else OPPOSITE[kind]
    one = "is known as an algorithm" if known_as == c.ALGORITHM else "is known as a dataset"
    return kind, f"{listing(named, most=3)} {one if len(named) == 1 else f'are known as {known_as}s'}"


def unclear(rows: Sequence[str], across: Sequence[str], where: str, why: str = "") -> InputError:
    """The question that a reader is asked: which names are algorithms. `rows` or `across` may be empty."""
    shown = [f"its {side} ({listing(dict.fromkeys(names), most=3)})"
             for side, names in (("rows", rows), ("columns", across)) if names]  # fmt: skip
    doubt = f"{' or '.join(shown)} are {'the algorithms' if len(shown) > 1 else 'algorithms or datasets'}"
    ways = ("`wide=True`", "`transpose=True`") if rows else ("`transpose=True`", "`wide=True`")
    first = (rows or across)[0]
    fix = f"add {ways[0]} if {first!r} is an algorithm, or {ways[1]} if it is a dataset"
    return InputError(f"it is not clear whether {doubt}{f': {why}' if why else ''}", where=where, fix=fix)


def _across(layout: Layout) -> list[str]:
    """The different names that headers have beside their metrics."""
    if not any(column.metric for column in layout.values) and c.METRIC not in layout.roles:
        return []
    return list(dict.fromkeys(column.other for column in layout.values if column.statistic == "value" and column.other))


def _names(table: Table, place: int) -> list[str]:
    column = table.columns[place].cast(pl.String).drop_nulls().unique(maintain_order=True)
    return [name for text in column.to_list() if (name := plain_name(text))]


def _kind_of_rows(table: Table, layout: Layout, free: list[int], across: list[str], asked: Asked, where: str) -> str:
    """What the rows name, where headers name the other; the column of the rows gets its role."""
    roles = layout.roles
    named = next((kind for kind in _KINDS if kind in roles), None)
    place = roles.pop(named) if named is not None else _row_column(table, free, where)
    rows = _names(table, place) if place is not None else []
    kinds: set[str] = set()
    if named is not None and (named in asked.columns or table.corner_is_of_rows(across)):
        kinds.add(named)
    word = role_word(table.across_word(across))
    if word in OPPOSITE:
        kinds.add(OPPOSITE[word])
    known, why = opinion(rows, across)
    if asked.rows is not None:
        kinds = {asked.rows}
    elif known is not None and known not in kinds:
        if kinds:
            raise unclear(rows, across, where, f"its header says {next(iter(kinds))}s, but {why}")
        taken = ("rows", known) if rows else ("columns", OPPOSITE[known])
        layout.guesses.append(f"its {taken[0]} were taken as {taken[1]}s, since {why}")
        kinds.add(known)
    if len(kinds) != 1:
        raise unclear(rows, across, where, "its headers contradict each other" if kinds else "")
    kind = kinds.pop()
    if place is not None:
        roles[kind] = place
    return kind


def _row_column(table: Table, free: list[int], where: str) -> int | None:
    """The one column of text that names the rows; of several, the one that has no name of its own."""
    if len(free) > 1:
        bare = [j for j in free if canonical(table.names()[j]) in UNNAMED]
        if len(bare) != 1:
            names = listing(repr(table.names()[j]) for j in free)
            fix = "say `columns={'algorithm': 'NAME'}` (or dataset) with the one that does"
            raise InputError(f"the columns {names} may each name the rows", where=where, fix=fix)
        return bare[0]
    return free[0] if free else None


def _only_rows(table: Table, layout: Layout, free: list[int], asked: Asked, where: str) -> None:
    """Tables whose headers name metrics alone: rows name algorithms, perhaps beside datasets."""
    names, roles = table.names(), layout.roles
    panel = names.index(PANEL) if PANEL in names else None
    if c.ALGORITHM in roles:
        if panel is not None:
            roles.setdefault(c.DATASET, panel)
        return
    if c.DATASET in roles and free and (panel is not None or len(free) == 1):
        roles[c.ALGORITHM] = free[0] if panel is None else panel
        return
    if len(free) > 1:
        datasets_named = c.DATASET in roles
        _pair(table, layout, free)
        if panel is not None and roles.get(c.ALGORITHM, panel) != panel:
            roles.setdefault(c.DATASET, panel)
        if c.ALGORITHM not in roles and not datasets_named:
            columns = [names[j] for j in free]
            raise InputError(
                f"it is not clear which of the columns {listing(map(repr, columns))} has the algorithms",
                where=where,
                fix=f"say `columns={{'algorithm': {columns[0] or 'NAME'!r}}}` (and dataset, if a column has them)",
            )
        return
    if not free and c.DATASET not in roles:
        return
    place = roles.pop(c.DATASET) if c.DATASET in roles else free[0]
    rows = _names(table, place)
    known, why = opinion(rows, [])
    if asked.rows is not None:
        roles[asked.rows] = place
    elif known == c.ALGORITHM:
        roles[c.ALGORITHM] = place
        layout.guesses.append(f"its rows were taken as algorithms, since {why}")
    else:
        raise unclear(rows, [], where, why)


def _pair(table: Table, layout: Layout, free: list[int]) -> None:
    """Columns without a word of their own get the roles that are open, where known names say which is which."""
    roles = layout.roles
    for kind in (kind for kind in _KINDS if kind not in roles):
        at = 0 if kind == c.ALGORITHM else 1
        counts = {j: count_known(_names(table, j)) for j in free if j not in roles.values()}
        fitting = [j for j, count in counts.items() if count[at] > 0 and not count[1 - at]]
        if len(fitting) == 1:
            roles[kind] = fitting[0]
            name = table.names()[fitting[0]]
            layout.guesses.append(f"column {name!r} was taken as {kind}s, since their names are known as such")


_PUBLISHED = Path(__file__).parents[1] / "published"


@cache
def _known() -> tuple[frozenset[str], frozenset[str]]:
    """Algorithms and datasets, in the form of `names.canonical`; a name that is both is neither."""
    tables = [pl.read_csv(path, infer_schema=False) for path in sorted(_PUBLISHED.glob("*_results.csv*"))]

    def named(column: str) -> set[str]:
        return {canonical(name) for table in tables for name in table.get_column(column).unique()}

    methods = {*map(canonical, (*algorithms.names(), *classifiers.names())), *named(c.ALGORITHM)}
    data = {canonical(name) for entry in CATALOG for name in (*entry.names, entry.title)} | named(c.DATASET)
    return frozenset(methods - data), frozenset(data - methods)


def count_known(names: Iterable[str]) -> tuple[int, int]:
    """How many of the different names are known as algorithms, and how many as datasets."""
    distinct = {canonical(name) for name in names}
    methods, data = _known()
    return len(distinct & methods), len(distinct & data)
