"""What a cell and its tuning are known by."""

from __future__ import annotations

import pytest

import recassay
from recassay.core.specs.specs import ProtocolSpec
from recassay.core.specs.study import ComPerSpec, TuningSpec
from recassay.recommenders.plan import CellSpec, SplitSpec, plan
from recassay.recommenders.probes import Probing, probe_study

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


def test_a_probe_is_one_seed_and_one_fold_without_tuning():
    folds = {"split": "kfold", "folds": 3}
    study = recassay.make_study(["synthetic:dense-small"], ["EASE"], seed=[3, 4], trials=5, protocol=folds)
    assert len(plan(study).cells) == 6
    (cell,) = plan(probe_study(study, Probing())).cells
    assert (cell.spec.seed, cell.spec.tuning.trials, cell.spec.metrics) == (3, 0, ("ndcg@10",))
    assert cell.spec.split.protocol.fold == 0
