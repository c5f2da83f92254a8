"""Numbers as papers and spreadsheets print them: `**0.428**`, `0.161±0.001`, `61.2%`, `16,1`, `OOM`.

A column of plain numbers is cast at once. Otherwise each distinct text is read by itself, after it was settled for the
whole column whether its comma is a decimal one; what was taken off is counted, for a note to the reader.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import polars as pl

from recassay.core.tables.result_checks import not_numbers

_ABSENT = (
    "- -- --- – — − / \\ . ... … ? x × ✗ ✘ na n/a n.a. n.a nan null none nil missing oom oot ot oome oots tle to "
    "timeout time-out timed-out oot/oom oom/oot memout mem-out failed fail error err n/r nr dnf tba tbd <na> #n/a #na"
)
MISSING = frozenset(
    (*_ABSENT.split(), "time out", "timed out", "out of memory", "out of time", "not available", "not reported",
     "did not finish", "")
)  # fmt: skip
"""What stands in a cell that has no value, in lower case."""

_DROPPED_MACROS = re.compile(
    r"\\(?:cellcolor|rowcolor|columncolor|hphantom|vphantom|phantom|color|[cC]ite\w*|footnote\w*|tnote|label|ref|hspace|"
    r"vspace|rule|href|url|thanks)\*?(?:\s*\[[^\]]*\])*\s*\{[^{}]*\}"
)
_COLOURED = re.compile(r"\\(?:textcolor|colorbox|fcolorbox)\*?(?:\[[^\]]*\])?\{[^{}]*\}")
_EMPHASIS = re.compile(
    r"\\(?:textbf|mathbf|bm|boldsymbol|bfseries|bf|underline|uline|uuline|emph|textit|it|em)\b|\*\*|__"
)
_SIGNS = re.compile(
    r"\\(?:dag|dagger|ddag|ddagger|ast|star|bigstar|uparrow|downarrow|triangle\w*|bullet|diamond|S|P)\b"
)
_SUPERSCRIPT = re.compile(
    r"\^\s*(?:\{[^{}]*\}|\\[a-zA-Z]+|\S)|<sup>.*?</sup>|\\textsuperscript\s*\{[^{}]*\}", re.IGNORECASE
)
_SUBSCRIPT = re.compile(
    r"(?:_\s*\{|\\textsubscript\s*\{|<sub>)\s*(?:±|\+/?-)?\s*([\d.,]+\s*%?)\s*(?:\}|</sub>)", re.IGNORECASE
)
_POWER = re.compile(r"\s*(?:×|\\times|·|\\cdot|\bx\b|\*)\s*10\s*(?:\^|\*\*)?\s*\{?\s*([+-−]?\s*\d+)\s*\}?")
_MACRO = re.compile(r"\\[a-zA-Z]+\*?(?:\[[^\]]*\])?")
_TAG = re.compile(r"</?(?:b|i|u|em|strong|sup|sub|br|span|font|small|code|tt)\b[^<>]*>", re.IGNORECASE)
_ITALIC = re.compile(r"^\s*_([^_]+)_(?=\s|$)")
_MARKS = re.compile("[*†‡§¶°º•◦∗⋆★☆✓✔▲▼△▽↑↓⇑⇓⬆⬇#‖∥⁰¹²³⁴⁵⁶⁷⁸⁹ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ♠♣♦♥🥇🥈🥉]+")
_BARE = r"[+\-−]?(?:\d[\d.,'’ \u00a0\u2009\u202f]*\d|\d+|[.,]\d+)[.,]?(?:[eE][+\-−]?\d+)?"
_ONE = r"[+\-−]?(?:\d+(?:[.,]\d+)?|[.,]\d+)(?:[eE][+\-−]?\d+)?"
_CELL = re.compile(
    rf"^(?P<less>[<>≤≥~≈]\s*)?(?P<value>{_BARE})\s*(?P<percent>%)?\s*"
    rf"(?:(?:±|\+/-|\+-|\+∕-)\s*(?P<deviation>{_BARE})\s*(?P<percent2>%)?"
    rf"|[\[(]\s*(?P<low>{_ONE})\s*(?:[,;]\s+|[;,](?=\d+\.)|\s*[–-]\s*|\s+to\s+)(?P<high>{_ONE})\s*[\])]"
    rf"|\(\s*(?:±\s*)?(?P<inside>{_BARE})\s*(?P<percent3>%)?\s*\)"
    rf"|\((?P<word>[^()]*)\))?\s*(?P<percent4>%)?$"
)
_OVER_BUDGET = re.compile(r"[>≥]\s*\d+(\.\d+)?\s*(h|hrs?|hours?|d|days?|min|gb|gib|tb|s|sec)\.?", re.IGNORECASE)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+")
"""A number that points may part into thousands, and do where the commas of its column are decimal."""
_PLAIN, _WITH_COMMA = re.compile(r"-?[0-9]{1,40}(?:\.[0-9]{1,40})?"), re.compile(r"-?[0-9]{1,40},[0-9]{1,40}")
FROM_INTERVAL = 2 * 1.959964
"""The width of a 95 % interval in standard errors."""


_SIGNED = "percent signs (divided by 100)"
_UNSIGNED = "numbers beside them taken as percent"


class Cell(NamedTuple):
    """What one text says: a number, its deviation, whether it stands for no value, and what was taken off."""

    value: float | None
    deviation: float | None = None
    missing: bool = False
    taken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Numbers:
    """A column of numbers: null where there is no value; `taken` counts the cells that something was taken off."""

    values: pl.Series
    deviations: pl.Series | None = None
    taken: Counter[str] = field(default_factory=Counter)
    absent: Counter[str] = field(default_factory=Counter)


def numbers(column: pl.Series, where: str, *, percent: bool = False, decimal: bool = False) -> Numbers:
    """The column as float64, with what was stated beside the numbers; text that is not a number raises with its row.

    `percent` where the header says that every number is one, with or without its own sign; `decimal` where a comma
    before three digits is a decimal one, since thousands cannot be or since the commas of the other columns are.
    """
    share = 0.01 if percent else 1.0
    if column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null):
        return Numbers(column.cast(pl.Float64).fill_nan(None) * share)
    text = column.cast(pl.String).str.strip_chars().fill_null("")
    plain = text.cast(pl.Float64, strict=False).fill_nan(None)
    odd = text.filter(plain.is_null()).unique(maintain_order=True).to_list()
    if not odd:
        return Numbers(plain * share)
    comma = has_decimal_comma(text.unique().to_list(), three=decimal)
    if comma:
        odd += [
            content
            for content in text.unique(maintain_order=True)
            if _THOUSANDS.fullmatch(content) and content not in odd
        ]
        plain = plain.set(text.is_in(odd), None)
    cells = {content: read_cell(content, comma, percent=percent) for content in odd}
    beside = 0 if percent else _percent_beside(cells, text, plain)
    if beside:
        shares = numbers(column, where, percent=True, decimal=decimal)
        return replace(shares, taken=shares.taken + Counter({_UNSIGNED: beside}))
    bad = text.is_in([content for content, cell in cells.items() if cell.value is None and not cell.missing]).arg_true()
    if bad.len():
        raise not_numbers(text, bad, where)
    taken: Counter[str] = Counter()
    absent: Counter[str] = Counter()
    counts = dict(text.filter(text.is_in(odd)).value_counts().iter_rows())
    for content in odd:  # in the order of the column, so that the note about it has one order
        taken.update(dict.fromkeys(cells[content].taken, counts[content]))
        if cells[content].missing and content:
            absent[content if len(content) < 20 else "..."] += counts[content]
    values = {content: cell.value for content, cell in cells.items()}
    stated = {content: cell.deviation for content, cell in cells.items() if cell.deviation is not None}
    read = text.replace_strict(values, default=None, return_dtype=pl.Float64)
    merged = pl.select(pl.when(text.is_in(odd)).then(read).otherwise(plain * share)).to_series().alias(column.name)
    deviations = text.replace_strict(stated, default=None, return_dtype=pl.Float64) if stated else None
    return Numbers(merged, deviations, taken, absent)


def _percent_beside(cells: dict[str, Cell], text: pl.Series, plain: pl.Series) -> int:
    """How many numbers without a percent sign stand beside signed ones and are too large for shares."""
    if not any(_SIGNED in cell.taken for cell in cells.values()):
        return 0
    bare = [content for content, cell in cells.items() if _SIGNED not in cell.taken and (cell.value or 0) > 1]
    return int((plain > 1).sum()) + int(text.is_in(bare).sum())


def read_cell(text: str, decimal_comma: bool = False, *, percent: bool = False) -> Cell:
    """One cell; `value` None and not `missing` where it is not a number."""
    plain = _WITH_COMMA.fullmatch(text) if decimal_comma else _PLAIN.fullmatch(text)
    if plain is not None:  # most cells; what follows takes ten times as long
        number = float(text.replace(",", "."))
        return Cell(number / 100 if percent else number, taken=("decimal commas",) if decimal_comma else ())
    if len(text) > 400:
        return Cell(None)
    taken: list[str] = []
    bare = _plain(text, taken)
    if bare.lower() in MISSING or _OVER_BUDGET.fullmatch(bare):
        return Cell(None, missing=True)
    parts = _CELL.match(bare)
    if parts is None:
        return Cell(None)
    value = _number(parts["value"], decimal_comma)
    if value is None:
        return Cell(None)
    deviation, kind = _deviation(parts, decimal_comma)
    taken += [kind] if kind else ["deviations (kept)"] if deviation is not None else []
    if parts["less"]:
        taken.append("signs of inequality")
    signed = parts["percent"] or parts["percent2"] or parts["percent4"]
    if signed:
        taken.append(_SIGNED)
    if signed or percent:
        value, deviation = value / 100, None if deviation is None else deviation / 100
    if decimal_comma and "," in parts["value"]:
        taken.append("decimal commas")
    elif any(mark in parts["value"].strip() for mark in ",'’ ") or (
        decimal_comma and _THOUSANDS.fullmatch(parts["value"])
    ):
        taken.append("separators of thousands")
    return Cell(value, deviation, taken=tuple(dict.fromkeys(taken)))


def read_alone(text: str) -> Cell:
    """A cell whose column is not known: its comma is a decimal one unless it separates thousands, as in `1,234.5`."""
    return read_cell(text, "," in text and has_decimal_comma([text]))


def holds_numbers(column: pl.Series) -> bool:
    """Whether most of what is filled in is a number or stands for a missing one, and at least one is a number."""
    if column.dtype.is_numeric():
        return True
    if column.dtype == pl.Null:
        return False
    text = column.cast(pl.String).str.strip_chars().drop_nulls()
    text = text.filter(text != "")
    if text.len() == 0:
        return False
    plain = text.cast(pl.Float64, strict=False)
    if plain.null_count() == 0:
        return True
    odd = [read_alone(cell) for cell in text.filter(plain.is_null()).head(200).to_list()]
    numbers = plain.len() - plain.null_count()
    held = numbers + sum(cell.value is not None for cell in odd)
    fine = numbers + sum(cell.value is not None or cell.missing for cell in odd)
    return held > 0 and 2 * fine > numbers + len(odd)


def has_decimal_comma(texts: Iterable[str], *, three: bool = False) -> bool:
    """Whether the commas of a column are decimal: where `0,4`, `12,34` or `1.234,5` occur and `1,234.5` does not.

    A comma before exactly three digits (`1,234`) may be either; it separates thousands unless others decide, or unless
    every number of the column has just one such comma and starts with a zero. With `three` it is a decimal one.
    """
    decimal = thousands = 0
    for text in texts:
        for token in re.findall(r"\d[\d.,]*\d", text):
            if "," not in token:
                thousands += bool(re.fullmatch(r"\d*\.\d+", token) and not _THOUSANDS.fullmatch(token))
            elif token.rfind(".") > token.rfind(","):
                return False
            elif (three and token.count(",") == 1) or not re.fullmatch(r"[1-9]\d{0,2}(,\d{3})+", token):
                decimal += 1
    return decimal > 0 and not thousands


def _plain(text: str, taken: list[str]) -> str:
    """The text without the marks of LaTeX, Markdown and HTML; what carried meaning is added to `taken`."""
    bare = text
    if "\\" in bare or "$" in bare or "{" in bare:
        bare = _DROPPED_MACROS.sub("", bare)
        bare = _COLOURED.sub("", bare)
        bare = bare.replace("\\pm", "±").replace("\\%", "%").replace("\\,", "").replace("\\;", "").replace("\\!", "")
        bare = bare.replace("\\infty", "inf").replace("{,}", ",").replace("\\textminus", "-").replace("\\-", "")
    bare = re.sub(r"\\([*_#|~])", r"\1", bare)
    bare = _ITALIC.sub(r"\1", bare)
    bare = bare.replace("&plusmn;", "±").replace("&nbsp;", " ").replace("−", "-").replace("＋", "+")
    if _EMPHASIS.search(bare):
        taken.append("bold and underlined marks")
        bare = _EMPHASIS.sub("", bare)
    bare = _POWER.sub(lambda m: "e" + m[1].replace(" ", "").replace("−", "-"), bare) if "10" in bare else bare
    bare = _SUBSCRIPT.sub(r"±\1", bare)
    without = _SIGNS.sub("", _SUPERSCRIPT.sub("", bare))
    without = _TAG.sub("", _MACRO.sub("", without)).replace("$", "").replace("{", "").replace("}", "").replace("~", " ")
    unmarked = _MARKS.sub("", without.replace("`", ""))
    if unmarked != without or _SIGNS.search(bare) or _SUPERSCRIPT.search(bare):
        taken.append("stars, daggers and superscripts")
    return re.sub(r"\s*\bn\.?\s?s\.?$", "", unmarked.strip().strip('"“”').strip())


def _number(text: str, decimal_comma: bool) -> float | None:
    """The number, where its points and commas stand as the column's do: groups of three digits, one decimal mark."""
    digits = text.replace("−", "-").strip()
    point, group = (",", ".") if decimal_comma and ("," in text or _THOUSANDS.fullmatch(digits)) else (".", ",")
    shape = rf"[+-]?(?:\d+|\d{{1,3}}(?:[{group} '’\u00a0\u2009\u202f]\d{{3}})+)?(?:[{point}]\d*)?(?:[eE][+-]?\d+)?"
    if not re.fullmatch(shape, digits):
        return None
    return float(re.sub(rf"[{group} '’\u00a0\u2009\u202f]", "", digits).replace(point, "."))


def _deviation(parts: re.Match[str], decimal_comma: bool) -> tuple[float | None, str]:
    """The number after ±, in brackets, or half of an interval; and what else stood there."""
    if parts["deviation"]:
        return _number(parts["deviation"], decimal_comma), ""
    if parts["low"]:
        low, high = (_number(parts[end], decimal_comma) for end in ("low", "high"))
        return (None if low is None or high is None else abs(high - low) / FROM_INTERVAL), "intervals"
    inside = parts["inside"]
    if inside:
        whole = re.fullmatch(r"\d+", inside) and re.search(r"[.,]\d", parts["value"])
        if whole or parts["percent3"] or inside[0] in "+-−":
            return None, "ranks or gains in brackets"
        return _number(inside, decimal_comma), ""
    return None, "words in brackets" if parts["word"] is not None else ""
