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
from recassay.core.system.failures import causes
from recassay.core.types import TopK
from recassay.evidence.facts import study_facts
from recassay.metrics.make import make_metric
from recassay.protocol.apply import apply_protocol
from recassay.protocol.audit import FINDINGS
from recassay.protocol.targets import judgements
from recassay.recommenders import cell
from recassay.recommenders import work as working_on
from recassay.recommenders.plan import CellSpec, SplitSpec, plan
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


def test_a_model_without_fold_in_is_refused_by_name(tmp_path, monkeypatch):
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


TABLES = {
    "study": {
        "datasets": ["synthetic:few-items", "synthetic:drifting"],
        "algorithms": ["MostPop", "ItemKNN", "UserKNN", "NMF"],
    },
    "protocol": {"split": "leave_last_out", "target": "last"},
    "tuning": {"trials": 0},
}


def test_what_knows_users_alone_is_not_part_of_the_plan_where_targets_come_after_histories():
    whole = plan(study_of(TABLES))
    assert {cell.algorithm.name for cell in whole.cells} == {"MostPop", "ItemKNN"}
    left_out = {(one.algorithm, one.dataset) for one in whole.left_out}
    assert left_out == {(name, data) for name in ("UserKNN", "NMF") for data in ("few-items", "drifting")}
    [cause] = causes(whole.left_out)
    assert cause.sentence().startswith("left out: UserKNN, NMF on few-items, drifting: cannot be asked with a history")
    one = plan(study_of(TABLES | {"dataset": {"drifting": {"target": "all"}}}))
    assert {(cell.algorithm.name, cell.dataset.name) for cell in one.cells} == {
        *((name, "few-items") for name in ("MostPop", "ItemKNN")),
        *((name, "drifting") for name in ("MostPop", "ItemKNN", "UserKNN", "NMF")),
    }
    assert {one.dataset for one in one.left_out} == {"few-items"}
    both = plan(study_of(TABLES | {"multiverse": {"target": ["all", "last"]}}))
    assert {cell.spec.split.protocol.target for cell in both.cells if cell.algorithm.name == "NMF"} == {"all"}
    assert {one.algorithm for one in both.left_out} == {"UserKNN", "NMF"}
    alone = {**TABLES, "study": {**TABLES["study"], "algorithms": ["NMF"]}}
    with pytest.raises(UsageError, match="no cell is left: NMF cannot be asked with a history"):
        plan(study_of(alone))


@pytest.mark.slow
def test_what_is_left_out_is_told_and_is_no_failure(tmp_path):
    study = study_of({**TABLES, "dataset": {"drifting": {"target": "all"}}})
    heard = []
    record = recassay.run(study, tmp_path / "study", workers=1, progress=heard.append)
    state = recassay.status(tmp_path / "study")
    named = [("UserKNN", "few-items"), ("NMF", "few-items")]
    for told in (record.left_out, state.left_out, heard[0].left_out, study_facts(tmp_path / "study").left_out):
        assert [(one.algorithm, one.dataset) for one in told] == named
    assert (record.failed, record.planned, record.done) == ((), 6, 6)
    recassay.report(tmp_path / "study", out=tmp_path / "page.html", missing="drop-algorithms")
    page = (tmp_path / "page.html").read_text()
    assert "UserKNN, NMF on few-items: cannot be asked with a history" in page
    adaptive = recassay.run(study, tmp_path / "adaptive", workers=1, adaptive=True)
    assert not adaptive.failed


OWN = """
class Own:
    def fit(self, train):
        raise RuntimeError("fitted")

    def score(self, users):
        return 0
"""


@pytest.mark.slow
def test_a_class_of_a_file_without_fold_in_is_refused_before_it_is_fitted(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    own = {**TABLES, "study": {**TABLES["study"], "datasets": ["synthetic:few-items"], "algorithms": ["./own.py:Own"]}}
    record = recassay.run(study_of(own, base=tmp_path), tmp_path / "study", workers=1, skip_preflight=True)
    assert [cell.reason.partition(" (")[0] for cell in record.failed] == ["Own cannot be asked with a history"]


def test_parts_that_are_written_are_judged_as_sets(tmp_path):
    protocol = {"split": "leave_last_out", "target": "last"}
    with pytest.raises(UsageError, match="target = 'last' is judged by a study"):
        recassay.split("synthetic:few-items", tmp_path / "parts", protocol=protocol)
