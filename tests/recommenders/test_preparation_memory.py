"""A dataset that cannot be prepared within the memory of the study is refused before it is read."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from recassay.core.specs.specs import ProtocolSpec
from recassay.core.specs.study import DatasetSpec
from recassay.data.sources import count_events, open_dataset
from recassay.recommenders.cell import prepare
from recassay.recommenders.plan import SplitSpec
from recassay.recommenders.splits import preparation_bytes
from recassay.runner.jobs import JobFailure


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = pl.DataFrame({"user": range(400), "item": range(400), "timestamp": range(10**9, 10**9 + 400)})
    rows.with_columns(pl.col("user", "item") % 7).write_parquet(tmp_path / "events.parquet")
    rows.write_csv(tmp_path / "events.csv")
    return tmp_path


def payload(folder: Path, memory: int | None) -> dict[str, object]:
    protocol = ProtocolSpec.checked(filter="none", task="repeat")
    return {
        "folder": str(folder),
        "split": SplitSpec(data="x", protocol=protocol).model_dump(mode="json"),
        "dataset": DatasetSpec(name="events", reference="./events.parquet").model_dump(mode="json"),
        "base": str(folder),
        "memory": memory,
    }


def test_what_cannot_fit_is_said_and_nothing_is_made(folder: Path) -> None:
    needed = preparation_bytes(400)
    with pytest.raises(JobFailure, match=r"400 events of events would need about 0.3 GB.*budget.memory_gb") as error:
        prepare(payload(folder, needed - 1), lambda *_: None)
    assert error.value.status == "over_budget"
    assert not (folder / "splits").exists()
    made = prepare(payload(folder, needed), lambda *_: None)
    assert made["counts"]["input_interactions"] == 400


def test_events_are_counted_where_no_reading_is_needed(folder: Path) -> None:
    assert count_events("./events.parquet", folder) == 400
    assert count_events("./events.csv", folder) is None
    assert count_events("synthetic:dense-small") == len(open_dataset("synthetic:dense-small").interactions)
