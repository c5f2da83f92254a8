"""Which names of a table are algorithms and which are datasets. Witnesses decide; without one the table is refused.

The words of the file (`model`, `dataset` and their synonyms over columns and levels of headers) are the first witness,
names that are known as algorithms or datasets (of the registry, the catalogue and the published tables) the second.
What the user says stands above both. A table is never turned by a guess about its shape: where witnesses disagree, or
there is none, the reader is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError
from recassay.core.names import canonical
from recassay.core.registry import algorithms, classifiers
from recassay.core.words import listing
from recassay.data.tables.form import Reading, Reason, Table
from recassay.data.tables.grid import PANEL, plain_name
from recassay.data.tables.roles import free_names
from recassay.data.tables.words import UNNAMED, role_word

OPPOSITE = {c.ALGORITHM: c.DATASET, c.DATASET: c.ALGORITHM}
_KINDS = (c.ALGORITHM, c.DATASET)


def rows_without_names(reading: Reading) -> Reading:
    """A table whose rows have no names (each column is an algorithm or a dataset), with their numbers as names."""
    table, roles = reading.table, reading.roles
    headed = any(column.other for column in reading.values if column.metric)
    if {c.VALUE, c.METRIC, *_KINDS} & roles.keys() or not headed or free_names(reading):
        return reading.passed("rows have names, or headers name metrics alone")
    names = pl.Series("rows", [f"row {i + 1}" for i in range(table.height)])
    return replace(
        reading,
        table=replace(table, columns=(names, *table.columns), headers=(("",), *table.headers)),
        values=tuple(replace(column, place=column.place + 1) for column in reading.values),
        roles={role: place + 1 for role, place in roles.items()},
        reasons=reading.because("no column names the rows: they were numbered"),
    )


def names_of_a_long_table(reading: Reading) -> Reading:
    """Columns of a long table that have no word of their own."""
    if not reading.is_long:
        return reading.passed("no column holds all values")
    return _by_known_names(reading, "headers name the columns of algorithms and datasets, or nothing does")


def rows_beside_headers(reading: Reading) -> Reading:
    """What the rows name, where headers name the other; the column of the rows gets its role."""
    across = _across(reading)
    if reading.is_long or not across or set(_KINDS) <= reading.roles.keys():
        return reading.passed("headers name neither algorithms nor datasets, or rows name both")
    named = next((kind for kind in _KINDS if kind in reading.roles), None)
    place = reading.roles[named] if named is not None else _row_column(reading)
    rows = _names(reading.table, place) if place is not None else []
    kind, why, guess = _kind_of_rows(reading, named, rows, across)
    roles = {role: at for role, at in reading.roles.items() if role != named}
    return replace(
        reading,
        roles=roles if place is None else {**roles, kind: place},
        across=OPPOSITE[kind],
        reasons=reading.because(why, "guess" if guess else "taken"),
    )


def rows_alone(reading: Reading) -> Reading:
    """Tables whose headers name metrics alone: rows name algorithms, perhaps beside datasets."""
    if reading.is_long or _across(reading) or not reading.has_metrics:
        return reading.passed("headers name more than metrics, or none")
    names, roles, free = reading.table.names(), reading.roles, free_names(reading)
    panel = names.index(PANEL) if PANEL in names else None
    if c.ALGORITHM in roles:
        more = {c.DATASET: panel} if panel is not None and c.DATASET not in roles else {}
        return replace(reading, roles={**roles, **more}, reasons=reading.because("a header names the algorithms"))
    if c.DATASET in roles and free and (panel is not None or len(free) == 1):
        place = free[0] if panel is None else panel
        why = "the other column of names has the algorithms"
        return replace(reading, roles={**roles, c.ALGORITHM: place}, reasons=reading.because(why))
    if len(free) > 1:
        return _of_several_columns(reading, free, panel)
    if not free and c.DATASET not in roles:
        return reading.passed("no column names the rows")
    return _of_one_column(reading, roles[c.DATASET] if c.DATASET in roles else free[0])


def names_of_the_path(reading: Reading) -> Reading:
    """A table of metrics and values alone is of the algorithm and the dataset that its file and folder are named after.

    Known names say which is which, or the reader is asked.
    """
    table, names = reading.table, [reading.stem, reading.folder]
    if not reading.is_long or c.METRIC not in reading.roles or set(_KINDS) & reading.roles.keys():
        return reading.passed("rows or headers name algorithms or datasets")
    if not all(names) or free_names(reading):
        return reading.passed("the path has no name for each, or the table has names of its own")
    known, why = opinion([reading.folder], [reading.stem])
    kind = reading.asked.rows or known
    if kind is None:
        what = f"its folder {reading.folder!r} and its name {reading.stem!r} do not say which is the algorithm"
        fix = "add `wide=True` if the folder is, or `transpose=True` if the file is"
        raise InputError(what, where=reading.where, fix=fix)
    columns = (pl.Series(kind, [reading.folder] * table.height), pl.Series("", [reading.stem] * table.height))
    made = replace(table, columns=(*table.columns, *columns), headers=(*table.headers, (kind,), (OPPOSITE[kind],)))
    at = len(table.columns)
    note = f"its folder was taken as the {kind} and its name as the {OPPOSITE[kind]}"
    return replace(
        reading,
        table=made,
        roles={**reading.roles, kind: at, OPPOSITE[kind]: at + 1},
        reasons=reading.because(f"{note}, since {why}" if known else note, "guess" if known else "taken"),
    )


def _of_several_columns(reading: Reading, free: list[int], panel: int | None) -> Reading:
    """Which of several columns of names has the algorithms: known names say so, or the reader is asked."""
    names = reading.table.names()
    made = _by_known_names(reading, "no known name says which column has the algorithms")
    if panel is not None and made.roles.get(c.ALGORITHM, panel) != panel and c.DATASET not in made.roles:
        made = replace(made, roles={**made.roles, c.DATASET: panel})
    if c.ALGORITHM not in made.roles and c.DATASET not in reading.roles:
        columns = [names[j] for j in free]
        raise InputError(
            f"it is not clear which of the columns {listing(map(repr, columns))} has the algorithms",
            where=reading.where,
            fix=f"say `columns={{'algorithm': {columns[0] or 'NAME'!r}}}` (and dataset, if a column has them)",
        )
    return made


def _of_one_column(reading: Reading, place: int) -> Reading:
    """Whether the one column of names has algorithms: the user or known names say so, or the reader is asked."""
    rows = _names(reading.table, place)
    known, why = opinion(rows, [])
    roles = {role: at for role, at in reading.roles.items() if role != c.DATASET}
    if reading.asked.rows is not None:
        return replace(reading, roles={**roles, reading.asked.rows: place}, reasons=reading.because("the user said so"))
    if known != c.ALGORITHM:
        raise unclear(rows, [], reading.where, why)
    note = f"its rows were taken as algorithms, since {why}"
    return replace(reading, roles={**roles, c.ALGORITHM: place}, reasons=reading.because(note, "guess"))


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


def _across(reading: Reading) -> list[str]:
    """The different names that headers have beside their metrics."""
    if not reading.has_metrics and c.METRIC not in reading.roles:
        return []
    values = (column for column in reading.values if column.statistic == "value")
    return list(dict.fromkeys(column.other for column in values if column.other))


def _names(table: Table, place: int) -> list[str]:
    column = table.columns[place].cast(pl.String).drop_nulls().unique(maintain_order=True)
    return [name for text in column.to_list() if (name := plain_name(text))]


def _kind_of_rows(
    reading: Reading, named: str | None, rows: Sequence[str], across: Sequence[str]
) -> tuple[str, str, bool]:
    """What the rows are by every witness, why, and whether that is a guess; `named` is what the header says."""
    if reading.asked.rows is not None:
        return reading.asked.rows, "the user said so", False
    table, kinds = reading.table, set()
    if named is not None and (named in reading.asked.columns or table.corner_is_of_rows(across)):
        kinds.add(named)
    word = role_word(table.across_word(across))
    if word in OPPOSITE:
        kinds.add(OPPOSITE[word])
    known, why = opinion(rows, across)
    if known is None or known in kinds:
        if len(kinds) != 1:
            raise unclear(rows, across, reading.where, "its headers contradict each other" if kinds else "")
        return kinds.pop(), "its headers say so", False
    if kinds:
        raise unclear(rows, across, reading.where, f"its header says {next(iter(kinds))}s, but {why}")
    side, kind = ("rows", known) if rows else ("columns", OPPOSITE[known])
    return known, f"its {side} were taken as {kind}s, since {why}", True


def _row_column(reading: Reading) -> int | None:
    """The one column of text that names the rows; of several, the one that has no name of its own."""
    free = free_names(reading)
    if len(free) > 1:
        bare = [j for j in free if canonical(reading.table.name(j)) in UNNAMED]
        if len(bare) != 1:
            fix = "say `columns={'algorithm': 'NAME'}` (or dataset) with the one that does"
            what = f"the columns {listing(reading.names_at(free))} may each name the rows"
            raise InputError(what, where=reading.where, fix=fix)
        return bare[0]
    return free[0] if free else None


def _by_known_names(reading: Reading, otherwise: str) -> Reading:
    """Columns without a word of their own get the roles that are open, where known names say which is which."""
    roles, reasons = dict(reading.roles), []
    free = free_names(reading)
    for kind in (kind for kind in _KINDS if kind not in roles):
        at = 0 if kind == c.ALGORITHM else 1
        counts = {j: count_known(_names(reading.table, j)) for j in free if j not in roles.values()}
        fitting = [j for j, count in counts.items() if count[at] > 0 and not count[1 - at]]
        if len(fitting) == 1:
            roles[kind] = fitting[0]
            (name,) = reading.names_at(fitting)
            reasons.append(f"column {name} was taken as {kind}s, since their names are known as such")
    if not reasons:
        return reading.passed(otherwise)
    return replace(reading, roles=roles, reasons=(*reading.reasons, *(Reason(why, "guess") for why in reasons)))


_PUBLISHED = Path(__file__).parents[1] / "published"


@cache
def _known() -> tuple[frozenset[str], frozenset[str]]:
    """Algorithms and datasets, in the form of `names.canonical`; a name that is both is neither."""
    from recassay.data.catalog.entries import CATALOG

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
