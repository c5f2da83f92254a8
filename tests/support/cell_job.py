"""The payload of a job of a cell, for tests that replace its work."""

from __future__ import annotations

from pathlib import Path

from recassay.core.specs.specs import ProtocolSpec
from recassay.core.specs.study import TuningSpec
from recassay.recommenders.payload import CellJob
from recassay.recommenders.plan import CellSpec, SplitSpec

CELL = CellSpec(
    algorithm="Own", code="1", dataset="films", split=SplitSpec(data="", protocol=ProtocolSpec()), seed=3,
    settings={}, tuning=TuningSpec(trials=0), metrics=("ndcg@5",), depth=8,
)  # fmt: skip
JOB = CellJob(CELL, id="c1", reference="Own", base=".", folder=Path()).plain()
