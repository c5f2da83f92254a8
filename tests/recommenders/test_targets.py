"""Cells whose targets are asked for after histories: tuned, judged and stored so, and refused by name."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.algorithms.linear import EASE
from recassay.algorithms.neighbours import UserKNN
from recassay.core.errors import NotApplicableError, RecAssayError, UsageError
from recassay.core.judgements import Judgements
from recassay.core.specs.specs import ProtocolSpec
from recassay.core.specs.study import TuningSpec
from recassay.core.types import TopK
from recassay.metrics.make import make_metric
from recassay.protocol.apply import apply_protocol
from recassay.protocol.audit import FINDINGS
from recassay.protocol.targets import judgements
from recassay.recommenders import cell
from recassay.recommenders import work as working_on
from recassay.recommenders.plan import CellSpec, SplitSpec
from recassay.recommenders.study_file import study_of
from recassay.recommenders.universes import universes
from recassay.recommenders.work import Validation
from support.cell_job import JOB
from support.protocol import synthetic


class LastAgain:
    """The last item of the history, then the items by number; remembers the lengths of histories."""

    name, source, space = "LastAgain", "a test", {}
    reads_order = True

    def fit(self, train, *, rng):
        self.n_items = train.n_items
        return self

    def recommend(self, users, k, *, exclude):
        raise AssertionError("users are not asked for where there are histories")

    def recommend_from(self, histories, k, *, exclude):
        type(self).asked += histories.lengths().tolist()
        top = TopK.empty(np.arange(len(histories), dtype=np.int32), k)
        for row in range(len(histories)):
            items = histories.items[histories.starts[row] : histories.starts[row + 1]]
            barred = [] if exclude is None else exclude[[row]].indices
            order = [item for item in dict.fromkeys([*items[::-1], *range(self.n_items)]) if item not in barred][:k]
            top.items[row, : len(order)], top.scores[row, : len(order)] = order, -np.arange(len(order))
        return top


def working(tmp_path, monkeypatch, kind, target, **more):
    protocol = ProtocolSpec.checked(
        split="user_time", filter="none", target=target, ratios=(0.6, 0.2, 0.2), allow_leakage=FINDINGS, **more
    )
    split = apply_protocol(synthetic(12, 15, 150), protocol)
    spec = CellSpec(
        algorithm="Own", code="1", dataset="films", split=SplitSpec(data="", protocol=protocol), settings={}, seed=3,
        tuning=TuningSpec(trials=0, seed=9, metric="mrr@5"), metrics=("ndcg@5", "auc", "coverage@5"), depth=8,
    )  # fmt: skip
    work = SimpleNamespace(spec=spec, kind=kind, split=split, folder=tmp_path, refuse_over_budget=lambda parameters: 7)
    monkeypatch.setattr(cell, "Work", lambda payload, emit: work)
    LastAgain.asked = []
    return work


@pytest.mark.parametrize("target", ["next", "last", "each"])
@pytest.mark.parametrize("task", ["new", "repeat"])
def test_a_cell_asks_after_the_history_of_each_target(tmp_path, monkeypatch, target, task):
    work = working(tmp_path, monkeypatch, LastAgain, target, task=task)
    asked = judgements(work.split, target, "test")
    record = cell.run_cell(JOB, lambda event: None)
    lengths = asked.histories(slice(0, len(asked))).lengths().tolist()
    assert LastAgain.asked == lengths * 2, "once for lists of 8 items, once for the whole order"
    assert record["counts"]["judgements"] == len(asked)
    scores = pl.read_parquet(tmp_path / "scores" / "c1.parquet")
    assert scores.columns == ["user", "ndcg@5", "auc"]
    assert scores.height == record["counts"]["evaluated"] == len(asked.judged())
    assert record["metrics"]["ndcg@5"] == pytest.approx(scores.get_column("ndcg@5").mean())
    lists = pl.read_parquet(tmp_path / "lists" / "c1.parquet")
    assert lists.get_column("user").n_unique() == scores.height
    one = record["metrics"]["ndcg@5"] * len(asked) if target != "each" else 0
    if task == "repeat" and target != "each":
        again = [asked.sequences.items[place - 1] == asked.sequences.items[place] for place in asked.place]
        assert one >= sum(again), "the last item again is the first of the list"


def test_trials_are_judged_after_the_history_of_training(tmp_path, monkeypatch):
    work = working(tmp_path, monkeypatch, LastAgain, "each", task="repeat")
    validation = Validation(work, {}, make_metric("mrr@5"))
    [stage] = list(validation.stages({}, 0))
    asked = judgements(work.split, "each", "valid")
    assert LastAgain.asked == asked.histories(slice(0, len(asked))).lengths().tolist()
    assert 0 <= stage.value <= 1
    monkeypatch.setattr(working_on, "USERS_A_STAGE", 4)
    some = Validation(work, {}, make_metric("mrr@5"))
    assert isinstance(some.some_truth, Judgements)
    assert some.some_truth.judged().tolist() == some.some_users.tolist()
    [stage] = list(some.stages({}, 0))
    assert stage.value == pytest.approx(next(iter(validation.stages({}, 0))).value)


def test_an_algorithm_without_fold_in_is_left_out_by_name(tmp_path, monkeypatch):
    working(tmp_path, monkeypatch, UserKNN, "next")
    with pytest.raises(NotApplicableError, match="Own cannot be asked with a history"):
        cell.run_cell(JOB, lambda event: None)
    working(tmp_path, monkeypatch, EASE, "next")
    assert cell.run_cell(JOB, lambda event: None)["counts"]["judgements"] > 0


def test_a_multiverse_may_vary_the_target_and_an_attack_needs_sets():
    tables = {
        "study": {"datasets": ["synthetic:few-items"], "algorithms": ["EASE"]},
        "protocol": {"split": "leave_last_out"},
        "multiverse": {"target": ["all", "next", "last"], "sessions": ["1h", "2h"]},
    }
    made = universes(study_of(tables))
    assert {universe.study.protocol.target for universe in made} == {"all", "next", "last"}
    assert {universe.study.protocol.sessions for universe in made} == {"1h", "2h"}
    with pytest.raises(RecAssayError, match="it needs target = 'all'"):
        study_of(tables | {"comper": {}})


def test_parts_that_are_written_are_judged_as_sets(tmp_path):
    protocol = {"split": "leave_last_out", "target": "last"}
    with pytest.raises(UsageError, match="target = 'last' is judged by a study"):
        recassay.split("synthetic:few-items", tmp_path / "parts", protocol=protocol)
