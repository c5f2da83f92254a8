"""A file of unknown kind: its bytes are read once, and looked at as text, JSON or a table when somebody asks."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from recassay.core.errors import InputError
from recassay.core.system.json_text import read_json
from recassay.core.system.lines import lines_of
from recassay.core.system.parquet import parquet_schema
from recassay.data.tables.read import read_bytes, read_frame, text_of
from recassay.data.tables.textual import without_escapes

MOST_BYTES = 512 << 20
"""Of a log, a JSON document or a LaTeX source; tables may be larger."""
HEAD = 65_536

_WORDS = (
    "results result table tables metrics metric performance evaluation eval evals scores score summary report "
    "summaries output outputs leaderboard all test final list recs run runs export exported data log logs experiment "
    "exp csv tsv per user overall averaged mean benchmark comparison cornacexp experiments trials"
)
_GENERIC = frozenset(_WORDS.split())
"""Words in the names of files that say nothing of what the file is on."""
_REPEAT = re.compile(r"^(?:run|exp|trial|seed|fold|split|version|v|part|round|attempt)[-_= ]?\d+$", re.IGNORECASE)
"""Names of folders that tell repeats apart, and not what was measured on."""
_DATE = r"(?:\d{4}[-_.]\d{1,2}[-_.]\d{1,2}|\d{1,2}[-_.]\d{1,2}[-_.]\d{4})"
_STAMP = re.compile(rf"[-_. ]*{_DATE}(?:[-_.T ]\d{{1,2}}[-_.:]\d{{1,2}}(?:[-_.:]\d{{1,2}}(?:[-_.]\d+)?)?)?")


class OpenedFile:
    """A file and its content; `name` is what messages call it."""

    def __init__(self, path: Path, *, empty_fix: str = "give a file with results in it") -> None:
        self.path = path
        self.data, self.source = read_bytes(path, empty_fix=empty_fix)
        self.name = self.source.file

    def refused(self, what: str, *, fix: str) -> InputError:
        """What is wrong with the file, as an error that names it."""
        return InputError(what, where=self.name, fix=fix)

    @property
    def suffix(self) -> str:
        """The ending in lower case, without that of a packed file."""
        return Path(self.path.name.lower().removesuffix(".gz")).suffix

    @property
    def stem(self) -> str:
        """The name without its ending."""
        return Path(self.path.name.removesuffix(".gz")).stem

    @cached_property
    def is_parquet(self) -> bool:
        """Whether the bytes are those of a Parquet file."""
        return self.data[:4] == b"PAR1" or self.suffix in {".parquet", ".pq"}

    @cached_property
    def is_text(self) -> bool:
        """Whether the content is text, by its first bytes."""
        return b"\0" not in self.data[:HEAD] and not self.is_parquet and self.data[:4] != b"PK\x03\x04"

    @cached_property
    def text(self) -> str:
        """The content as text, without the codes that colour a terminal; raises where it is not text."""
        if len(self.data) > MOST_BYTES:
            raise self.refused(f"has {len(self.data):,} bytes", fix="give a file below 512 MiB")
        return without_escapes(text_of(self.data, self.name))

    @cached_property
    def head(self) -> str:
        """The first characters of a text, empty for other files; never raises."""
        return without_escapes(self.data[:HEAD].decode("utf-8-sig", "replace")) if self.is_text else ""

    @cached_property
    def lines(self) -> list[str]:
        """The first lines that are not blank."""
        return [line for line in lines_of(self.head) if line.strip()][:200]

    @cached_property
    def json(self) -> Any:
        """The content as JSON, or None where it is not JSON."""
        if not self.head.lstrip().startswith(("{", "[")) or len(self.data) > MOST_BYTES:
            return None
        try:
            return read_json(self.data, self.name)
        except ValueError:
            return None

    @property
    def document(self) -> dict[str, Any]:
        """The JSON object that the file holds; empty where it holds none."""
        return self.json if isinstance(self.json, dict) else {}

    @cached_property
    def header(self) -> list[str]:
        """The column names of a delimited or Parquet file; empty where it is neither."""
        if self.is_parquet:
            return list(self.schema)
        first = self.lines[0] if self.lines else ""
        delimiter = max("\t,;", key=first.count)
        return [cell.strip().strip('"') for cell in first.split(delimiter)] if first.count(delimiter) else []

    @cached_property
    def schema(self) -> dict[str, pl.DataType]:
        """The columns of a Parquet file and their types."""
        try:
            return parquet_schema(self.data)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise self.refused("is not a readable Parquet file", fix="write it again") from error

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The table that the file is, by `read_frame`."""
        return read_frame(self.data, self.name)

    def parents(self) -> list[str]:
        """The names of the folders above the file, the nearest first."""
        return [part for part in reversed(self.path.absolute().parts[:-1]) if part not in {"/", "."}]

    def folder(self) -> str:
        """The nearest folder whose name says something: the dataset of files that are named after a system."""
        return next((left for name in self.parents()[:4] if (left := meaningful(name))), self.stem)

    def dataset(self) -> str:
        """What the file is on by its name: what is left of it without general words, else the folder's name."""
        return meaningful(self.stem) or self.folder()


def meaningful(name: str) -> str:
    """A name without dates and without the general words at its ends: `toya-all-list_metrics` is toya."""
    bare = _STAMP.sub("", name)
    if _REPEAT.match(bare):
        return ""
    parts = re.split(r"([-_. ]+)", bare)
    while parts and (parts[-1].lower() in _GENERIC or not parts[-1].strip("-_. ")):
        parts.pop()
    while parts and (parts[0].lower() in _GENERIC or not parts[0].strip("-_. ")):
        parts.pop(0)
    return "".join(parts)
