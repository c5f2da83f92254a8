"""Lists in text: tables with or without a header, and TREC runs."""

from __future__ import annotations

import io
import re

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError
from recassay.core.system.lines import lines_of
from recassay.core.words import count_of
from recassay.data.lists.roles import is_list_header
from recassay.data.reading.sniffing import Head, is_number, sniff_delimiter

TREC_FIELDS = 6
"""user Q0 item rank score tag."""

_HEADERLESS = {2: (c.USER, c.ITEM), 3: (c.USER, c.ITEM, c.SCORE), 4: (c.USER, c.ITEM, c.RANK, c.SCORE)}
_IDS = re.compile(r"[\w.-]+")
_SAMPLE = 200
_START = 1 << 20


def text_table(data: bytes, where: str) -> tuple[pl.DataFrame, str, list[str]]:
    """The table of a text file with its columns named, what kind of file it is, and what was assumed.

    Lines of six fields of which the fourth and fifth are numbers are a TREC run. Without a header two columns are user
    and item in the order of the list, three user, item and score, four user, item, rank and score (or, where the last
    is whole numbers and the third is not, score and rank). A line may also hold a user and the whole list in order.
    """
    if not _is_text(data[:_START]):
        raise InputError(
            "is not text, and none of the other kinds of lists", where=where, fix="give UTF-8 text, or Parquet"
        )
    data = data.removeprefix(b"\xef\xbb\xbf")
    sample = [line for line in lines_of(data[:_START].decode(errors="ignore")) if line.strip()][:_SAMPLE]
    if not sample:
        raise InputError("the file is empty", where=where, fix="give columns user, item and score or rank")
    cells = [line.split() for line in sample]
    if all(len(row) == TREC_FIELDS and is_number(row[3]) and is_number(row[4]) for row in cells):
        names = [c.USER, "iteration", c.ITEM, c.RANK, c.SCORE, "tag"]
        return _split(data, " ", names, where).drop("iteration"), "TREC run", []
    head = Head(tuple(sample), where)
    delimiter = sniff_delimiter(head)
    rows = head.rows(delimiter)
    last = [is_number(row[-1]) for row in rows if len(row) == len(rows[0])]
    if is_list_header(rows[0]) or (len(last) > 1 and not last[0] and all(last[1:])):
        names = [cell.strip() for cell in rows[0]]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InputError(f"column {twice[0]!r} appears twice in the header", where=where, fix="rename one of them")
        body = data.lstrip().partition(b"\n")[2]
        return _split(body, delimiter, names, where), "table", []
    fields = len(rows[0])
    if _is_listed(sample):
        return _listed(data), "lines", ["each line was taken as a user and the list of items in order"]
    if fields not in _HEADERLESS or not all(is_number(row[-1]) for row in rows[1:] if len(row) == fields):
        columns = f"{count_of(fields, 'column')} without a header {'is' if fields == 1 else 'are'} not known"
        what = f"the first line names no user and item, and {columns}"
        raise InputError(what, where=where, fix="name the columns in a header: user, item and score or rank")
    names = list(_HEADERLESS[fields])
    if fields == 4 and _whole(rows, 3) and not _whole(rows, 2):
        names[2:] = [c.SCORE, c.RANK]
    return _split(data, delimiter, names, where), "table", [f"no header: columns taken as {', '.join(names)}"]


def _is_listed(lines: list[str]) -> bool:
    """Whether each line holds a user and then several items (`17: 3, 5, 8`): ids alone, and no user twice."""
    rows = [_IDS.findall(line) for line in lines]
    whole = all(re.fullmatch(r"\s*\w[\w.-]*\s*[:,;\t ]\s*\[?[\w.,;\t -]+\]?\s*", line) for line in lines)
    users = {row[0] for row in rows if row}
    return whole and len(rows) > 1 and len(users) == len(rows) and all(len(row) > 5 for row in rows)


def _listed(data: bytes) -> pl.DataFrame:
    rows = [_IDS.findall(line) for line in data.decode(errors="replace").splitlines() if line.strip()]
    places = [(row[0], item, place) for row in rows for place, item in enumerate(row[1:], 1)]
    return pl.DataFrame(places, schema={c.USER: pl.String, c.ITEM: pl.String, c.RANK: pl.Int64}, orient="row")


def qrels_table(data: bytes, where: str) -> pl.DataFrame | None:
    """User, item and rating of TREC relevance judgements (`user 0 item relevance`); None for any other text."""
    sample = [line.split() for line in lines_of(data[:_START].decode(errors="ignore")) if line.strip()][:_SAMPLE]
    if not sample or any(len(row) != 4 or row[1] not in ("0", "Q0") or not is_number(row[3]) for row in sample):
        return None
    return _split(data, " ", [c.USER, "iteration", c.ITEM, c.RATING], where).drop("iteration")


def _is_text(start: bytes) -> bool:
    try:
        start.decode()
    except UnicodeDecodeError as error:
        return error.start >= len(start) - 4
    return b"\x00" not in start


def _whole(rows: list[list[str]], place: int) -> bool:
    return all(row[place].strip().isdigit() for row in rows if len(row) > place)


def _split(body: bytes, delimiter: str, names: list[str], where: str) -> pl.DataFrame:
    """The lines as text columns; blank lines are passed over, a line with too many fields is refused."""
    if delimiter == " ":
        stream = io.BytesIO(body)  # block by block: each replacement costs memory until the last
        body, delimiter = b"".join(map(_with_tabs, iter(lambda: stream.readlines(1 << 20), []))), "\t"
    elif len(delimiter) > 1:
        body, delimiter = body.replace(delimiter.encode(), b"\x1f"), "\x1f"
    quoted = b'"' in body[:_START]
    try:
        frame = pl.read_csv(
            io.BytesIO(body),
            separator=delimiter,
            has_header=False,
            schema=dict.fromkeys(names, pl.String),
            quote_char='"' if quoted else None,
            raise_if_empty=False,
        )
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0][:160]
        raise InputError(f"cannot be read as a table: {reason}", where=where, fix="check its rows") from error
    return frame.filter(~pl.all_horizontal(pl.all().is_null()))


def _with_tabs(lines: list[bytes]) -> bytes:
    """Lines with one tab for each run of blanks; each blank line would cost a row of memory before it is dropped."""
    block = re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", b"".join(lines))
    return re.sub(rb"[ \t]+", b"\t", re.sub(rb"[\r\n]+", b"\n", block))
