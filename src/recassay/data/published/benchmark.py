"""A shipped benchmark: results of tuned baselines, with all that is needed to place another algorithm among them.

A folder of five files. `benchmark.json` says how it was made: the protocol, the split and the source of each dataset,
tuning, versions, and what was not run. `results.csv.gz` has every value, `cells.csv.gz` the cost and the parameters of
every cell, `characteristics.csv.gz` what the datasets are like. `users.parquet` has the values of a sample of users,
for paired tests: nDCG@10, in steps of 1/250; on the boards it is that of the first seed. No id of a user and no
interaction is in it: users are known by their place among the sorted ids of the judged users, which a verified split
fixes.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
from pydantic import ConfigDict, Field, Strict

from recassay.core import columns as c
from recassay.core.errors import InputError
from recassay.core.seeds import derived_rng
from recassay.core.specs.specs import ProtocolSpec, ReadSpec
from recassay.core.specs.study import Budget, TuningSpec
from recassay.core.system.files import refuse_special
from recassay.core.system.printable import one_line
from recassay.core.system.shapes import Shape, shaped
from recassay.core.types import FloatArray, IntArray
from recassay.data.published.tables import FOLDER, PREFIX, find_published, is_published

MANIFEST, RESULTS, CELLS = "benchmark.json", "results.csv.gz", "cells.csv.gz"
CHARACTERISTICS, USERS = "characteristics.csv.gz", "users.parquet"
OPEN = f"{PREFIX}open"
TRIAL = FOLDER / "trial"
"""Three embedded datasets, on which an algorithm is tried."""
MOST_USERS = 1_000
"""Users per dataset whose values are shipped; more are sampled."""
USER_METRIC = "ndcg@10"
STEPS, UNDEFINED = 250, 255
DIGITS = 6
"""Significant digits of every shipped value."""


class _Dataset(Shape):
    model_config = ConfigDict(extra="forbid", strict=True)

    reference: str
    read: Annotated[ReadSpec, Strict(False)]
    protocol: Annotated[ProtocolSpec, Strict(False)]
    split: str
    judged: Annotated[int, Field(ge=1, le=2**31)]
    windows: Annotated[list[str], Field(min_length=2, max_length=1000)] | None = None
    family: str = "other"
    licence: str = "unknown"
    source: str = ""


class _Stated(Shape):
    name: str
    datasets: dict[str, _Dataset]
    metrics: Annotated[list[str], Field(min_length=1)]
    tuning: Annotated[TuningSpec, Strict(False)]
    seeds: Annotated[list[Annotated[int, Field(ge=0, lt=2**63)]], Field(min_length=1)]
    budget: Annotated[Budget, Strict(False)]
    not_run: list[dict[str, str]]
    left_out: dict[str, str]
    environments: list[dict[str, Any]]
    notes: list[str] | None = None


@dataclass(frozen=True, slots=True)
class BenchmarkDataset:
    """A dataset of a shipped benchmark: where it comes from, and the split that results stand for."""

    name: str
    reference: str
    """What the study named: a preset, a name of the catalogue, or a file, of which the name is kept."""
    read: Mapping[str, Any]
    protocol: Mapping[str, Any]
    split: str
    """The fingerprint of the split."""
    judged: int
    """How many users are judged."""
    windows: tuple[str, ...] | None = None
    """Of a dataset that is judged in several windows of time the fingerprints of their splits: `split` is the last,
    values are means over the windows, and users' values stand window after window."""
    family: str = "other"
    licence: str = "unknown"
    source: str = ""
    """How to obtain it."""


@dataclass(frozen=True, slots=True, eq=False)
class Benchmark:
    """A shipped benchmark, opened."""

    folder: Path
    name: str
    datasets: Mapping[str, BenchmarkDataset]
    metrics: tuple[str, ...]
    tuning: Mapping[str, Any]
    seeds: tuple[int, ...]
    budget: Mapping[str, Any]
    not_run: tuple[Mapping[str, str], ...]
    """Cells without a value, grouped: algorithm, dataset and reason."""
    left_out: Mapping[str, str]
    """By dataset that is not part of it, why."""
    environments: tuple[Mapping[str, Any], ...]
    """Versions and machines of the studies that it was made of."""
    notes: tuple[str, ...] = ()
    """What a reader of the numbers must know."""

    def cells(self) -> pl.DataFrame:
        """One row per finished cell: algorithm, dataset, seed, seconds, joules, parameters (as JSON), trials."""
        return pl.read_csv(self.folder / CELLS)

    def scores_of(self, dataset: str) -> dict[str, FloatArray]:
        """By algorithm, the values of the sampled users of one dataset, NaN where undefined."""
        rows = pl.read_parquet(self.folder / USERS).filter(pl.col(c.DATASET) == dataset)
        return {name: unpacked(scores) for name, scores in rows.select(c.ALGORITHM, "scores").iter_rows()}


def open_benchmark(source: str | Path = OPEN) -> Benchmark:
    """The shipped benchmark that `published:open` or a folder names."""
    folder = FOLDER / Path(find_published(source).results).parent if is_published(source) else Path(source)
    file = folder / MANIFEST
    if not file.is_file():
        raise InputError(
            "there is no benchmark in this folder (no benchmark.json)", where=str(source), fix=f"use {OPEN!r}"
        )
    refuse_special(file)
    fix = "export the benchmark again"
    try:
        stated = json.loads(file.read_bytes())
        shaped(_Stated, stated, "this is not a description of a benchmark", where=str(file), fix=fix)
        datasets = {
            name: replace(dataset, windows=dataset.windows and tuple(dataset.windows))
            for name, described in stated["datasets"].items()
            for dataset in [BenchmarkDataset(name, **described)]
        }
        return Benchmark(
            folder, str(stated["name"]), datasets, tuple(stated["metrics"]), stated["tuning"], tuple(stated["seeds"]),
            stated["budget"], tuple(stated["not_run"]), stated["left_out"], tuple(stated["environments"]),
            tuple(stated.get("notes") or ()),
        )  # fmt: skip
    except (ValueError, TypeError, RecursionError) as error:
        what = f"this is not a description of a benchmark ({one_line(str(error))})"
        raise InputError(what, where=str(file), fix=fix) from None


def sampled_users(dataset: str, judged: int) -> IntArray:
    """The places, among the sorted ids of the judged users, of those whose values are shipped."""
    if judged <= MOST_USERS:
        return np.arange(judged, dtype=np.int32)
    drawn = derived_rng(0, "users of the benchmark", dataset).choice(judged, MOST_USERS, replace=False)
    return np.sort(drawn).astype(np.int32)


def packed(values: FloatArray) -> bytes:
    """Values from 0 to 1 in steps of 1/250, a byte each."""
    steps = np.rint(np.clip(np.nan_to_num(values), 0.0, 1.0) * STEPS).astype(np.uint8)
    return np.where(np.isfinite(values), steps, np.uint8(UNDEFINED)).tobytes()


def unpacked(scores: bytes) -> FloatArray:
    """The values that `packed` wrote, NaN where undefined."""
    steps = np.frombuffer(scores, dtype=np.uint8)
    return np.where(steps == UNDEFINED, np.nan, steps / STEPS)


def rounded(value: float | None) -> float | None:
    """A value as it is shipped, which those that are compared with it are, too."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.{DIGITS}g}")


SYSTEM = 9
"""The byte of a gzip header that names the system, which versions of Python set differently."""


def compressed_csv(frame: pl.DataFrame) -> bytes:
    """A table as gzipped CSV, the same bytes for the same table."""
    import gzip

    text = io.BytesIO()
    frame.write_csv(text)
    packed = gzip.compress(text.getvalue(), 9, mtime=0)
    return packed[:SYSTEM] + b"\x03" + packed[SYSTEM + 1 :]
