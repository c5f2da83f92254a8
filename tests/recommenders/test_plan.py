"""What a cell and its tuning are known by."""

from __future__ import annotations

import pytest

from recassay.core.specs.specs import ProtocolSpec
from recassay.core.specs.study import ComPerSpec, TuningSpec
from recassay.recommenders.plan import CellSpec, SplitSpec

CELL = CellSpec(
    algorithm="EASE",
    code="1",
    dataset="films",
    split=SplitSpec(data="bytes", protocol=ProtocolSpec()),
    metrics=("ndcg@10",),
    tuning=TuningSpec(trials=20),
    seed=1,
)


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 2},
        {"algorithm": "ALS"},
        {"code": "2"},
        {"settings": {"reg": 3.0}},
        {"dataset": "books"},
        {"split": SplitSpec(data="other bytes", protocol=ProtocolSpec())},
        {"split": SplitSpec(data="bytes", protocol=ProtocolSpec(seed=1))},
        {"tuning": TuningSpec(trials=20, metric="recall@20")},
        {"tuning": TuningSpec(trials=20, pruning=False)},
    ],
    ids=str,
)
def test_trials_are_kept_apart_by_what_they_depend_on(change):
    other = CELL.model_copy(update=change)
    assert other.tuning_id != CELL.tuning_id
    assert other.id != CELL.id


@pytest.mark.parametrize(
    "change",
    [{"metrics": ("recall@5",)}, {"depth": 300}, {"tuning": TuningSpec(trials=30)}, {"comper": ComPerSpec()}],
    ids=str,
)
def test_what_is_reported_keeps_the_trials(change):
    other = CELL.model_copy(update=change)
    assert other.tuning_id == CELL.tuning_id
    assert other.id != CELL.id
