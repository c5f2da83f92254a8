"""A split that was made elsewhere: a folder with files of training, validation and test interactions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from recassay.core.errors import InputError
from recassay.core.specs.specs import ReadSpec
from recassay.core.types import Interactions
from recassay.core.words import listing
from recassay.data.readers import read_interactions
from recassay.data.reading.times import UNITS

WORDS: Mapping[str, tuple[str, ...]] = {
    "train": ("train", "training"),
    "valid": ("valid", "validation", "val", "dev"),
    "test": ("test", "testing"),
}
"""What the name of a part's file says, between its ends, dots, hyphens and underscores."""

SUFFIXES = (".csv", ".tsv", ".tab", ".txt", ".dat", ".data", ".inter", ".parquet", ".pq")


def find_parts(folder: Path) -> dict[str, Path]:
    """By part, its file: `train.csv`, `films.train.inter`, `test.parquet.gz`, ... Training and test must be there."""
    if not folder.is_dir():
        fix = "name a folder that holds train.csv, test.csv and, to tune by, valid.csv"
        raise InputError("a given split is a folder with files of its parts", where=str(folder), fix=fix)
    files: dict[str, list[Path]] = {part: [] for part in WORDS}
    for file in sorted(folder.iterdir()):
        name = file.name.lower().removesuffix(".gz")
        if not file.is_file() or not name.endswith(SUFFIXES):
            continue
        words = set(re.split(r"[._\-\s]+", name))
        for part, known in WORDS.items():
            if words & set(known):
                files[part].append(file)
    for part, several in files.items():
        if len(several) > 1:
            what = f"{listing(file.name for file in several)} could each be the {part} part"
            raise InputError(what, where=str(folder), fix="keep one of them in the folder")
    missing = [part for part in ("train", "test") if not files[part]]
    if missing:
        fix = "name the files train.csv, valid.csv and test.csv (or .parquet, .tsv, .inter)"
        raise InputError(f"there is no file of the {' or the '.join(missing)} part", where=str(folder), fix=fix)
    return {part: several[0] for part, several in files.items() if several}


def read_parts(folder: Path, read: ReadSpec) -> tuple[Interactions, Interactions, Interactions]:
    """Training, validation (empty where there is no file of it) and test part, each read as `read` says."""
    results = {part: read_interactions(file, read) for part, file in find_parts(folder).items()}
    clocked = in_one_clock([(result.interactions, result.record.time_unit) for result in results.values()], str(folder))
    parts = dict(zip(results, clocked, strict=True))
    test = parts["test"]
    return parts["train"], parts.get("valid", test.take(test.user < 0)), test


def in_one_clock(parts: Sequence[tuple[Interactions, str | None]], where: str) -> list[Interactions]:
    """Parts that were read one by one, with their times in one unit: the finest that any of them has.

    Each reading stores the coarsest unit that loses nothing, so that a part of whole seconds would else be compared
    with one of milliseconds.
    """
    units = {unit for events, unit in parts if unit is not None and len(events)}
    if "position" in units and len(units) > 1:
        what = "the times of one part are positions and those of another a clock"
        raise InputError(what, where=where, fix="say how they are read: time = 'position', or a unit")
    finest = max((UNITS.index(unit) for unit in units if unit in UNITS), default=0)
    brought = []
    for events, unit in parts:
        if unit in UNITS and events.time is not None:
            factor = 1000 ** (finest - UNITS.index(unit))
            events = replace(events, time=events.time * factor) if factor > 1 else events
        brought.append(events)
    return brought
