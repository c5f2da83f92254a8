"""Readers of statistics: means, deviations and repeats that stand in headers, in names of rows, or in a column.

A statistic is never part of a name. Where a name is another one and a word for a deviation, but its numbers are not
deviations, the table is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError
from recassay.core.names import canonical
from recassay.core.words import count_of, listing
from recassay.data.tables.cells import Numbers, holds_numbers, numbers
from recassay.data.tables.form import Reading, Table
from recassay.data.tables.labels import known_metric
from recassay.data.tables.words import CUTOFFS, STATISTICS, SYNONYMS

_KINDS = {
    "value": r"mean|avg\.?|average",
    "deviation": r"std\.?(?:[ _]?dev(?:iation|\.)?)?|stdev|stddev|s\.?d\.?|standard[ _]deviation",
    "error": r"std\.?[ _]?err(?:or|\.)?|stderr|s\.?e\.?(?:m\.?)?|standard[ _]error",
    "skip": r"min(?:imum)?|max(?:imum)?|median|count|n|var(?:iance)?|(?:95 ?% ?)?ci(?:95)?",
}
_WORD = "|".join(f"(?P<{kind}>{words})" for kind, words in _KINDS.items())
_ALONE = re.compile(rf"^(?:{_WORD}|(?P<sign>±|\+/-))$", re.IGNORECASE)
_AFTER = re.compile(rf"^(?P<base>.+?)(?P<apart>[\s_.:/\-]+|\s*[(\[]\s*)(?:±\s*)?(?:{_WORD})\s*[)\]]?$", re.IGNORECASE)
_BEFORE = re.compile(rf"^(?:{_WORD})(?P<apart>[\s_.:/\-]+(?:of\s+)?)(?P<base>.+)$", re.IGNORECASE)
_AROUND = re.compile(rf"^(?:{_WORD})(?P<apart>\s*\()(?P<base>.+)\)$", re.IGNORECASE)
_SIGN = re.compile(r"^(?:(?:±|\+/-)\s*(?P<before>.+?)|(?P<after>.+?)\s*[(\[]?\s*(?:±|\+/-)\s*[)\]]?)$")
_QUANTILE = re.compile(r"\d{1,2}(?:\.\d+)? ?%")
_SHORT = re.compile(r"s\.?d\.?|s\.?e\.?(?:m\.?)?|n|ci|min|max", re.IGNORECASE)
"""Words that names of algorithms may end in after a hyphen, as in `ResNet-SE`."""
_SEED = re.compile(
    r"^(?:(?P<base>.+?)[\s_.:/\-]+)?(?P<kind>seed|run|trial|rep(?:eat|etition|lication)?|fold)[\s_.#\-]*(?P<no>\d+)$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?P<base>)(?P<kind>)(?P<no>\d+)")
_SPREADS = ("deviation", "error")
_LARGEST = 0.5
"""The most that deviations are of their values, in the middle; numbers above that are values themselves."""


class Stated(NamedTuple):
    """A name without its statistic, which is `value`, `deviation`, `error` or `skip`; and whether the word is sure."""

    base: str
    kind: str
    sure: bool = True


def statistic_in(name: str) -> Stated | None:
    """The statistic that a name states beside something else, as `ML-1M std`, `std(ML-1M)` and `±ML-1M` do."""
    text = name.strip()
    sign = _SIGN.match(text)
    if sign:
        return Stated((sign["before"] or sign["after"]).strip(), "deviation")
    for pattern in (_AFTER, _AROUND, _BEFORE):
        found = pattern.match(text)
        if found is None:
            continue
        kind = next(kind for kind in _KINDS if found[kind])
        short = bool(_SHORT.fullmatch(found[kind]))
        if not (short and "-" in found["apart"]):
            return Stated(found["base"].strip(" _.:/-"), kind, not short)
    return None


def statistic_alone(name: str) -> str:
    """The statistic that a name is and nothing else; empty where it is something else."""
    text = name.strip()
    if _QUANTILE.fullmatch(text):
        return "skip"
    found = _ALONE.match(text)
    return next((kind for kind in _KINDS if found[kind]), "deviation") if found else STATISTICS.get(text.lower(), "")


def statistics_in_rows(reading: Reading) -> Reading:
    """Rows of deviations below rows of means become columns beside them."""
    table = reading.table
    names = [j for j, column in enumerate(table.columns) if not holds_numbers(column)]
    for place in names:
        stated = _stated_rows(reading, place)
        if stated is not None:
            joined = _beside(reading, names, place, stated)
            if joined is not None:
                return joined
    return reading.passed("no rows are means and deviations of one name")


def _stated_rows(reading: Reading, place: int) -> dict[str, Stated] | None:
    """What the names of a column state, where each name has a mean and a deviation; None where they are names."""
    column = reading.table.columns[place].cast(pl.String).drop_nulls()
    names = column.unique(maintain_order=True).to_list()
    alone = {name: statistic_alone(name) for name in names}
    if all(alone.values()) and "value" in alone.values() and set(alone.values()) & set(_SPREADS):
        return {name: Stated("", kind) for name, kind in alone.items()}
    stated = {name: statistic_in(name) or Stated(name, "value") for name in names}
    values = {each.base for each in stated.values() if each.kind == "value"}
    spreads = {each.base for each in stated.values() if each.kind in _SPREADS}
    return stated if values and values == spreads else None


def _beside(reading: Reading, names: Sequence[int], place: int, stated: Mapping[str, Stated]) -> Reading | None:
    """The reading with the rows of deviations as further columns; None where rows do not pair up."""
    table = reading.table
    text = table.columns[place].cast(pl.String)
    bases = text.replace({name: each.base for name, each in stated.items()})
    kinds = text.replace_strict({name: each.kind for name, each in stated.items()}, default=None)
    alone = not any(each.base for each in stated.values())
    repeats = {*CUTOFFS, *SYNONYMS[c.SEED], *SYNONYMS[c.FOLD], *SYNONYMS[c.RUNS]}
    keyed = [j for j, name in enumerate(table.names()) if j in names or canonical(name) in repeats]
    keys = pl.DataFrame([(bases if j == place else table.columns[j].cast(pl.String)).alias(f"{j}") for j in keyed])
    spread = next(kind for kind in _SPREADS if (kinds == kind).any())
    means, spreads = (keys.with_row_index("row").filter(kinds == kind) for kind in ("value", spread))
    if means.select(keys.columns).is_duplicated().any() or spreads.select(keys.columns).is_duplicated().any():
        if not alone:
            return None
        what = f"rows repeat a cell and its {listing(stated)} in column {table.names()[place]!r}"
        raise InputError(what, where=reading.where, fix="keep one row for each cell and statistic")
    rows = means.join(spreads, on=keys.columns, how="left", nulls_equal=True, maintain_order="left")
    if rows.get_column("row_right").null_count() == rows.height:
        return None
    kept = [j for j in range(len(table.columns)) if not (alone and j == place)]
    whole = [bases if j == place else column for j, column in enumerate(table.columns)]
    columns = [whole[j].gather(rows.get_column("row")) for j in kept]
    headers = [table.headers[j] for j in kept]
    found: dict[int, tuple[str, str]] = {}
    for j in (j for j in kept if j not in keyed):
        column = whole[j].gather(rows.get_column("row_right"))
        if not alone and not _smaller(column, whole[j].gather(rows.get_column("row"))):
            raise _looks_like(next(n for n, each in stated.items() if each.kind in _SPREADS), stated, reading.where)
        long = canonical(table.names()[j]) in SYNONYMS[c.VALUE]
        headers.append(({"deviation": "std", "error": "stderr"}[spread],) if long else table.headers[j])
        if not long:
            found[len(columns)] = (spread, table.names()[j])
        columns.append(column)
    words = {name if alone else _word(name, each) for name, each in stated.items()}
    why = f"rows of {listing(sorted(words))} were read as statistics of one cell"
    made = replace(table, columns=tuple(columns), headers=tuple(headers))
    return replace(reading, table=made, stated=found, reasons=reading.because(why, "note"))


def _word(name: str, stated: Stated) -> str:
    return name.replace(stated.base, "").strip(" _.:/-()[]") or "values"


def statistics_in_headers(reading: Reading) -> Reading:
    """What headers say of statistics: a level of its own at any height, or a part of a name beside the other names."""
    table = reading.table
    headers = list(table.headers)
    found = dict(reading.stated)
    stacked = [j for j, levels in enumerate(headers) if len(levels) > 1]
    depth = min((len(headers[j]) for j in stacked), default=1)
    for at in [i for i in range(depth - 1) if all(statistic_alone(headers[j][i]) for j in stacked)][:1]:
        for j in stacked:
            found[j] = (statistic_alone(headers[j][at]), table.names()[j])
            headers[j] = (*headers[j][:at], *headers[j][at + 1 :])
    for j, stated in _stated_columns(replace(table, headers=tuple(headers)), reading.where, found).items():
        found[j] = (stated.kind, table.names()[j])
        headers[j] = (stated.base,)
    if len(found) == len(reading.stated):
        return reading.passed("no header states a statistic beside a name")
    why = f"headers of {count_of(len(found), 'column')} state a statistic"
    made = replace(table, headers=tuple(headers))
    return replace(reading, table=made, stated=found, reasons=reading.because(why))


def _stated_columns(table: Table, where: str, found: Mapping[int, tuple[str, str]]) -> dict[int, Stated]:
    """The flat headers that are the name of another column and a statistic; or each a name and the word for a mean."""
    names = {
        j: levels[0]
        for j, levels in enumerate(table.headers)
        if len(levels) == 1 and j not in found and levels[0] and holds_numbers(table.columns[j])
    }
    stated = {j: each for j, name in names.items() if known_metric(name) is None and (each := statistic_in(name))}
    values = {canonical(stated[j].base if j in stated and stated[j].kind == "value" else name): j
              for j, name in names.items() if j not in stated or stated[j].kind == "value"}  # fmt: skip
    taken: dict[int, Stated] = {}
    for j, each in stated.items():
        mean = values.get(canonical(each.base))
        if each.kind not in _SPREADS or mean is None:
            continue
        if _smaller(table.columns[j], table.columns[mean]):
            taken[j] = each
        elif each.sure:
            raise _looks_like(names[j], stated={names[j]: each}, where=where)
    means = {j: each for j, each in stated.items() if each.kind == "value"}
    bases = {canonical(each.base) for each in taken.values()}
    beside = {j: each for j, each in stated.items() if canonical(each.base) in bases and each.kind in ("value", "skip")}
    if not taken and len(means) > 1 and len(means) == len([j for j in names if known_metric(names[j]) is None]):
        return means
    return taken | beside


def _looks_like(name: str, stated: Mapping[str, Stated], where: str) -> InputError:
    """A name that is another one and a word of statistics, although its numbers are as large as values."""
    what = f"{name!r} looks like a statistic of {stated[name].base!r}, but its numbers are as large as values"
    return InputError(what, where=where, fix=f"rename {name!r} if it is a name of its own, or leave it out")


def _smaller(spread: pl.Series, values: pl.Series) -> bool:
    """Whether numbers may be the deviations of others: none is negative, and most are much smaller."""
    try:
        read: list[Numbers] = [numbers(column, "") for column in (spread, values)]
    except InputError:
        return False
    small, large = (each.values.abs().median() for each in read)
    least = read[0].values.min()
    if not isinstance(small, float) or not isinstance(large, float):
        return True
    return not (isinstance(least, float) and least < 0) and small <= _LARGEST * large


def _repeats(table: Table, pattern: re.Pattern[str]) -> dict[int, re.Match[str]]:
    """The columns of numbers whose last header fits a pattern, and how."""
    return {j: match for j, levels in enumerate(table.headers)
            if (match := pattern.fullmatch(levels[-1].strip())) and holds_numbers(table.columns[j])}  # fmt: skip


def seeds_across(reading: Reading) -> Reading:
    """Columns of seeds, runs or folds (`seed 1`, `NDCG@10_seed2`), one below the other."""
    table = reading.table
    plain = [canonical(name) for name in table.names()]
    repeated = {*SYNONYMS[c.SEED], *SYNONYMS[c.FOLD]} & set(plain)
    found = _repeats(table, _SEED)
    if not found and set(SYNONYMS[c.DATASET]) & set(plain):
        counted = _repeats(table, _NUMBERED)  # as `pivot` writes seeds
        if [match["no"] for match in counted.values()] in [
            [str(no + first) for no in range(len(counted))] for first in (0, 1)
        ]:
            found = counted
    if len(found) < 2 or repeated or not set(SYNONYMS[c.ALGORITHM]) & set(plain):
        return reading.passed("no columns of seeds beside one of algorithms")
    bases = {j: tuple(text for text in (*table.headers[j][:-1], match["base"] or "") if text) or ("value",)
             for j, match in found.items()}  # fmt: skip
    each = list(dict.fromkeys(match["no"] for match in found.values()))
    kinds = {"fold" if match["kind"].lower() == "fold" else "seed" for match in found.values()}
    cells = {(bases[j], match["no"]): j for j, match in found.items()}
    across = list(dict.fromkeys(bases.values()))
    if len(kinds) > 1 or len(each) < 2 or len(cells) != len(across) * len(each) or len(cells) != len(found):
        return reading.passed("columns of seeds are not of the same seeds")
    kept = [j for j in range(len(table.columns)) if j not in found]
    columns = [pl.concat([table.columns[j]] * len(each)) for j in kept]
    columns.append(pl.Series("seed", [no for no in each for _ in range(table.height)]))
    for base in across:
        columns.append(pl.concat([table.columns[cells[base, no]].cast(pl.String).alias("") for no in each]))
    headers = (*(table.headers[j] for j in kept), (kinds.pop(),), *across)
    why = f"{count_of(len(each), 'column')} of repeats were put below each other"
    made = replace(table, columns=tuple(columns), headers=headers)
    return replace(reading, table=made, reasons=reading.because(why, "note"))
