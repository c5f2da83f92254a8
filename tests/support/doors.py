"""Every door through which files from outside come in, with files to start from: for what looks for ways to break it.

A door is called with a file's name, its content and an empty folder to write it into.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import shutil
import sqlite3
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import recassay
from recassay.core.specs.specs import ProtocolSpec, ReadSpec
from recassay.data.catalog.entries import read_catalog
from recassay.data.classification.table import read_class_table
from recassay.data.download.pins import read_pins
from recassay.data.download.unpack import unpack
from recassay.data.lists.judgements import read_judgements
from recassay.data.lists.read import read_lists
from recassay.data.readers import read_interactions
from recassay.data.tables.characteristics import read_characteristics, read_properties
from recassay.data.tables.responses import read_items, read_responses
from recassay.recommenders.split_folder import open_split_folder
from recassay.recommenders.study_file import load_study
from support.fault_files import EVENTS, FILES, GOOD, LISTS, STUDY, TRAIN, parquet
from support.in_process import without_processes
from support.papers import LAYOUTS, latex, make

SAMPLES = Path(__file__).parents[1] / "samples"
MOST = 30_000
"""Bytes of a file to start from."""
Seeds = Mapping[str, bytes]


@dataclass(frozen=True)
class Door:
    """`read` gets a path below an empty folder; `seeds` are made once."""

    read: Callable[[Path], object]
    seeds: Callable[[], Seeds]
    suffixes: tuple[str, ...] = ()
    """Endings that a file may come with, whatever it holds; none: files keep their names."""
    kin: tuple[str, ...] = ()
    """Of the seeds, good files of its own kind: half of the inputs start from one, and keep its name."""

    def opened(self, folder: Path, name: str, content: bytes) -> None:
        """Write the file, and read it."""
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        self.read(path)


class Inside(Door):
    """A door whose file is a part of something larger, which is made around it from the other parts."""

    def __init__(
        self, read: Callable[[Path, str, bytes], object], seeds: Callable[[], Seeds], kin: tuple[str, ...] = ()
    ) -> None:
        super().__init__(lambda path: None, seeds, (), kin)
        object.__setattr__(self, "around", read)

    def opened(self, folder: Path, name: str, content: bytes) -> None:
        """Make the whole with this part, and read it."""
        self.around(folder, name, content)  # type: ignore[attr-defined]


@cache
def tables() -> Seeds:
    """The small files of the table of faults."""
    plain = {name: one if isinstance(one, bytes) else one.encode() for name, one in FILES.items()}
    return {name: one for name, one in sorted(plain.items()) if len(one) < 3000}


@cache
def samples() -> Seeds:
    """Files of other tools, each by its place below the samples."""
    found = {str(path.relative_to(SAMPLES)): path for path in sorted(SAMPLES.rglob("*")) if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if 0 < path.stat().st_size < MOST}


@cache
def packed() -> Seeds:
    """Archives of every kind with the same few files."""
    texts = {"ml/ratings.csv": EVENTS, "ml/readme.txt": "of films", "ml/deep/more.csv": GOOD}
    zipped, tarred = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    with tarfile.open(fileobj=tarred, mode="w") as archive:
        for name, text in texts.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    plain = tarred.getvalue()
    return {
        "a.zip": zipped.getvalue(),
        "a.tar": plain,
        "a.tar.gz": gzip.compress(plain),
        "a.tar.bz2": bz2.compress(plain),
        "a.tar.xz": lzma.compress(plain),
        "a.csv.gz": gzip.compress(EVENTS.encode()),
    }


@cache
def columns() -> Seeds:
    """Tables as Parquet files, of several types and packings."""
    frames = {
        "results": pl.read_csv(io.BytesIO(GOOD.encode())),
        "events": pl.read_csv(io.BytesIO(EVENTS.encode())),
        "lists": pl.read_csv(io.BytesIO(LISTS.encode())),
    }
    files = {f"{name}.parquet": parquet(frame) for name, frame in frames.items()}
    plain = io.BytesIO()
    frames["events"].write_parquet(plain, compression="uncompressed", statistics=False)
    return {**files, "plain.parquet": plain.getvalue()}


_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
_SPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def _cell(words: list[str], i: int, j: int, text: str) -> str:
    kind, value = (' t="s"', str(words.index(text))) if text in words else ("", text)
    return f'<c r="{"ABCD"[j]}{i + 1}"{kind}><v>{value}</v></c>'


@cache
def sheets() -> Seeds:
    """The parts of a small workbook."""
    rows = [row.split(",") for row in GOOD.splitlines()]
    words = sorted({cell for row in rows for cell in row if not cell.startswith("0.")})
    cells = "".join(f'<row r="{i + 1}">{"".join(_cell(words, i, j, text) for j, text in enumerate(row))}</row>'
                    for i, row in enumerate(rows))  # fmt: skip
    return {
        "xl/workbook.xml": (
            f'{_HEAD}<workbook xmlns="{_SPACE}" xmlns:r="{_RELATIONS}"><sheets>'
            '<sheet name="one" sheetId="1" r:id="rId1"/></sheets></workbook>'
        ).encode(),
        "xl/_rels/workbook.xml.rels": (
            f'{_HEAD}<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>'
        ).encode(),
        "xl/sharedStrings.xml": (
            f'{_HEAD}<sst xmlns="{_SPACE}">' + "".join(f"<si><t>{word}</t></si>" for word in words) + "</sst>"
        ).encode(),
        "xl/worksheets/sheet1.xml": (
            f'{_HEAD}<worksheet xmlns="{_SPACE}"><sheetData>{cells}</sheetData>'
            '<mergeCells><mergeCell ref="B2:B3"/></mergeCells></worksheet>'
        ).encode(),
    }


def workbook(parts: Mapping[str, bytes]) -> bytes:
    """The parts as an `.xlsx` file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def _with_sheet(folder: Path, name: str, content: bytes) -> None:
    path = folder / "input.xlsx"
    path.write_bytes(workbook({**sheets(), name: content}))
    recassay.load_results(path)


@cache
def study_folder() -> Path:
    """A small finished study that was run adaptively, made once; it goes when the process ends."""
    place = tempfile.TemporaryDirectory(prefix="recassay-study-")
    study_folder.keep = place  # type: ignore[attr-defined]
    base = Path(place.name)
    (base / "events.csv").write_text(EVENTS)
    (base / "more.csv").write_text(EVENTS.replace("i1,", "i2,"))
    text = STUDY.replace('["./events.csv"]', '["./events.csv", "./more.csv"]').replace(
        '["MostPop"]', '["MostPop", "ItemKNN"]'
    )
    (base / "study.toml").write_text(
        text.replace("trials = 0", "trials = 2").replace('["ndcg@10"]', '["ndcg@10", "hitrate@10"]')
    )
    with without_processes():
        recassay.run(base / "study.toml", base / "study", adaptive=True, target="order")
        recassay.run(base / "study.toml", base / "study")
    return base / "study"


def _study_files() -> Seeds:
    folder = study_folder()
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def _with_study_file(folder: Path, name: str, content: bytes) -> None:
    copy = folder / "study"
    shutil.copytree(study_folder(), copy)
    (copy / name).write_bytes(content)
    read_study(copy)


def _stored_values() -> Seeds:
    """Every value of a store, by table, row and column."""
    found = {}
    with sqlite3.connect(study_folder() / "study.sqlite") as index:
        for (table,) in index.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            names = [row[1] for row in index.execute(f"PRAGMA table_info({table})")]
            for row in index.execute(f"SELECT rowid, * FROM {table}").fetchall():
                for name, value in zip(names, row[1:], strict=True):
                    found[f"{table}/{row[0]}/{name}"] = str("" if value is None else value).encode()
    return found


def _with_stored_value(folder: Path, name: str, content: bytes) -> None:
    copy = folder / "study"
    shutil.copytree(study_folder(), copy)
    table, row, column = name.split("/")
    text = content.decode("utf-8", "replace")
    value: Any = {"": None, "0": 0, "-1": -1, "1.5": 1.5, "1e308": 1e308, "nan": float("nan")}.get(text, text)
    index = sqlite3.connect(copy / "study.sqlite")
    try:
        index.execute("PRAGMA ignore_check_constraints = ON")
        index.execute(f"UPDATE OR IGNORE {table} SET {column} = ? WHERE rowid = ?", (value, row))
        index.commit()
    except sqlite3.Error:
        return
    finally:
        index.close()
    read_study(copy)


def read_study(folder: Path) -> None:
    """Everything that commands read of a study; each part is read though another was refused."""
    from recassay.api.results import results
    from recassay.api.study.studies import adaptive_standing, status
    from recassay.evidence.facts import study_facts
    from recassay.evidence.study import evidence_of

    said: list[recassay.RecAssayError] = []

    def tried(call: Callable[[], Any]) -> Any:
        try:
            return call()
        except recassay.RecAssayError as error:
            said.append(error)
            return None

    tried(lambda: status(folder, verify=True))
    tried(lambda: adaptive_standing(folder))
    tried(lambda: recassay.load_results(folder))
    tried(lambda: results(folder, per_user=True))
    tried(lambda: study_facts(folder))
    for name, load in (tried(lambda: evidence_of(folder)) or {}).items():
        found, options = tried(load), {"seed": 1} if name == "strata" else {}
        asked = {"gains": ("more", "ndcg@10", ("ItemKNN", "MostPop")), "windows": ("more", "ndcg@10")}
        if callable(found):
            tried(partial(found, *asked.get(name, ("ndcg@10",)), **options))
    if said:
        raise said[0]


@cache
def split_parts() -> Seeds:
    """A folder that `recassay split` wrote."""
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(scratch)
        (base / "events.csv").write_text(EVENTS)
        recassay.split(base / "events.csv", base / "split", protocol={"split": "random", "filter": "none"})
        return {path.name: path.read_bytes() for path in sorted((base / "split").iterdir())}


def _with_part(folder: Path, name: str, content: bytes) -> None:
    for other, kept in {**split_parts(), name: content}.items():
        (folder / other).write_bytes(kept)
    open_split_folder(folder, ProtocolSpec.checked(split="given", filter="none"), ReadSpec())


def _unpacked(path: Path) -> None:
    unpack(path, path.parent / "unpacked")


def _either(path: Path) -> None:
    """A Parquet file at every door that takes one; the last refusal is told."""
    said = None
    for read in (recassay.load_results, read_interactions, read_lists, read_responses, read_class_table):
        try:
            read(path)
        except recassay.RecAssayError as error:
            said = error
    if said is not None:
        raise said


@cache
def catalogue() -> Seeds:
    """Two entries of the catalogue."""
    text = (Path(recassay.__file__).parent / "data" / "catalog" / "catalog.toml").read_text(encoding="utf-8")
    tables = text.split("[[dataset]]")
    return {"catalog.toml": ("[[dataset]]" + "[[dataset]]".join(tables[1:3])).encode()}


@cache
def pins() -> Seeds:
    """The file that remembers what was fetched."""
    return {
        "pins.json": b'{"ml-100k": {"file": "a.zip", "size": 3, "sha256": "ab", "md5": "cd", "address": "https://x.org/a"}}'
    }


@cache
def papers() -> Seeds:
    """A paper of every layout, in LaTeX."""
    chance = np.random.default_rng(1)
    text = "Ours outperforms all baselines by 5.3\\% on Beauty (Wilcoxon, p < 0.05 over five runs)."
    return {f"{layout.replace(' ', '-')}.tex": latex(make(chance, layout), text).encode() for layout in LAYOUTS}


@cache
def histories() -> Seeds:
    """Logs whose users have one event each, or one user all of them."""
    head = "user,item,timestamp\n"
    one = head + "".join(f"u{n},i{n % 7},{n}\n" for n in range(40))
    every = head + "".join(f"u,i{n * n % 11},{n}\n" for n in range(300))
    return {"train.csv": TRAIN.encode(), "one.csv": one.encode(), "long.csv": every.encode()}


def _recommended(path: Path) -> None:
    """Lists by an algorithm that reads order."""
    with without_processes():
        recassay.recommend(str(path), "SequentialRules", out=path.parent / "lists" / "out.csv")


DOORS: dict[str, Door] = {
    "results": Door(
        recassay.load_results,
        tables,
        (".csv", ".tsv", ".json", ".txt", ".md", ".tex", ".log", ".xlsx", ".parquet"),
        ("good.csv", "wide.csv", "missing.csv", "hostile.csv"),
    ),
    "interactions": Door(
        read_interactions,
        tables,
        (".csv", ".tsv", ".dat", ".inter", ".txt", ".parquet"),
        ("train.csv", "eventtypes.csv", "oneuser.csv"),
    ),
    "lists": Door(read_lists, tables, (".csv", ".json", ".trec", ".txt", ".parquet", ".lz4"), ("lists.csv",)),
    "judgements": Door(
        read_judgements, tables, (".csv", ".json", ".qrels", ".txt", ".lz4", ".parquet"), ("test.csv", "train.csv")
    ),
    "classes": Door(read_class_table, tables, (".csv", ".arff", ".parquet"), ("classes.csv", "classes.arff")),
    "answers": Door(read_responses, tables, (".csv", ".parquet"), ("answers.csv",)),
    "items": Door(read_items, tables, (".csv",), ("items.csv",)),
    "properties": Door(read_properties, tables, (".csv",), ("properties.csv",)),
    "characteristics": Door(read_characteristics, tables, (".csv",), ("properties.csv",)),
    "study": Door(load_study, tables, (".toml", ".yaml"), ("study.toml", "weightsnan.toml", "settingnan.toml")),
    "other tools": Door(recassay.load_results, samples),
    "lists of other tools": Door(read_lists, samples),
    "judgements of other tools": Door(read_judgements, samples),
    "archives": Door(_unpacked, packed),
    "Parquet": Door(_either, columns),
    "sheets": Inside(_with_sheet, sheets),
    "study folder": Inside(_with_study_file, _study_files, ("manifest.json", "adaptive.json", "study.sqlite")),
    "store": Inside(_with_stored_value, _stored_values),
    "split folder": Inside(_with_part, split_parts, ("split.json",)),
    "papers": Door(recassay.review, papers, (".tex",)),
    "logs to recommend from": Door(_recommended, histories, (".csv", ".tsv", ".inter")),
    "catalogue": Door(lambda path: read_catalog(path.read_bytes().decode("utf-8", "replace")), catalogue),
    "pins": Door(read_pins, pins),
}
