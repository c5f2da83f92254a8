"""ARFF, the format of OpenML's tables: a header that types the columns, then rows, dense or sparse."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from recassay.core.errors import InputError
from recassay.core.system.lines import lines_of
from recassay.core.words import count_of

_ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+)\s*(.+)$""", re.I | re.S)
_VALUE = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,]*?)\s*(?:,|$)""")
_SPARSE = re.compile(r"""\s*(\d+)\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,]+?)\s*(?:,|$)""")
_ESCAPED = re.compile(r"\\(.)")
_NUMERIC = {"numeric", "real", "integer"}


def read_arff(text: str, where: str) -> pl.DataFrame:
    """A frame of Float64 (numeric, real, integer) and String (nominal, string, date) columns; `?` is missing.

    A sparse row `{3 1.5, 7 yes}` holds zero in the columns it does not name: the number 0, or the first value of a
    nominal one (https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/).
    """
    lines = enumerate(lines_of(text), start=1)
    attributes = _header(lines, where)
    zeros = [attribute.zero for attribute in attributes]
    filled = ((number, line.strip()) for number, line in lines)
    rows = [_row(text, zeros, f"{where}, line {number}") for number, text in filled if text and text[0] != "%"]
    if not attributes or not rows:
        raise InputError("holds no rows", where=where, fix="check that this is an ARFF file with an @data part")
    columns = []
    for (name, is_number, _, allowed), column in zip(attributes, zip(*rows, strict=True), strict=True):
        series = pl.Series(name, column, dtype=pl.String)
        if is_number:
            numbers = series.cast(pl.Float64, strict=False)
            bad = (numbers.is_null() & series.is_not_null()).arg_true()
            if bad.len():
                what = f"column {name!r} holds {series[int(bad[0])]!r} in data row {int(bad[0]) + 1}"
                raise InputError(what, where=where, fix="it is declared numeric: give numbers, or declare it nominal")
            series = numbers
        elif allowed is not None:
            strange = (~series.is_in(allowed) & series.is_not_null()).arg_true()
            if strange.len():
                row = int(strange[0])
                what = f"column {name!r} holds {str(series[row])[:80]!r} in data row {row + 1}, which is not declared"
                raise InputError(what, where=where, fix="add it to the values of the attribute, or correct the row")
        columns.append(series)
    return pl.DataFrame(columns)


class _Attribute(NamedTuple):
    """What the header declares of a column."""

    name: str
    is_number: bool
    zero: str
    """What a sparse row that does not name the column means."""
    allowed: list[str] | None = None
    """The values of a nominal one."""


def _header(lines: Iterator[tuple[int, str]], where: str) -> list[_Attribute]:
    attributes: list[_Attribute] = []
    for number, line in lines:
        text = line.strip()
        word = text.split(None, 1)[0].lower() if text else ""
        if word == "@data":
            break
        if word != "@attribute":
            continue
        match, place = _ATTRIBUTE.match(text), f"{where}, line {number}"
        if match is None:
            raise InputError("is not an attribute", where=place, fix="write @attribute NAME TYPE")
        name, kind = _plain(match[1]), match[2].strip()
        if kind.startswith("{"):
            if not kind.endswith("}"):
                raise InputError("the list of values has no end", where=place, fix="close it with }")
            declared = [_plain(value) for value in _tokens(kind[1:-1].strip(), place)]
            attributes.append(_Attribute(name, False, declared[0] if declared else "0", declared))
        elif (base := kind.lower().split()[0]) in {*_NUMERIC, "string", "date"}:
            attributes.append(_Attribute(name, base in _NUMERIC, "0"))
        else:
            what = f"the type {kind[:60]!r} is not known"
            raise InputError(what, where=place, fix="use numeric, string, date or {a, b, c}")
    names = [attribute.name for attribute in attributes]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InputError(f"attribute {repeated[0]!r} is declared twice", where=where, fix="rename one of them")
    return attributes


def _row(text: str, zeros: list[str], where: str) -> list[str | None]:
    """The values of a line, which messages call `where`."""
    if text.startswith("{"):
        values: list[str | None] = list(zeros)
        body = text[1:-1].strip()
        if not text.endswith("}") or _SPARSE.sub("", body).strip():
            raise InputError("is not a sparse row", where=where, fix="write {0 1.5, 3 yes}")
        for at, value in _SPARSE.findall(body):
            if int(at) >= len(values):
                raise InputError(f"names column {at} of {len(values)}", where=where)
            values[int(at)] = _value(value)
        return values
    quoted = "'" in text or '"' in text
    tokens = _tokens(text, where) if quoted else (value.strip() for value in text.split(","))
    values = [_value(token) for token in tokens]
    if len(values) != len(zeros):
        raise InputError(
            f"has {count_of(len(values), 'value')} where {len(zeros)} attributes are declared",
            where=where,
        )
    return values


def _tokens(text: str, where: str) -> Iterator[str]:
    at = 0
    while at <= len(text):
        match = _VALUE.match(text, at)
        if match is None or (match[1][:1] in ("'", '"') and (len(match[1]) < 2 or match[1][-1] != match[1][0])):
            raise InputError("a quotation mark is not closed", where=where, fix="close it, or write \\' inside a value")
        yield match[1]
        if not match[0].endswith(",") or match.end() == at:
            return
        at = match.end()


def _value(text: str) -> str | None:
    return None if text in {"?", ""} else _plain(text)


def _plain(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return _ESCAPED.sub(r"\1", text[1:-1])
    return text
