"""What a cell and its tuning are known by."""

from __future__ import annotations

import os
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.core.errors import UsageError
from recassay.core.specs.specs import ProtocolSpec
from recassay.core.specs.study import PRUNE_AFTER, ComPerSpec, TuningSpec
from recassay.metrics.evaluate import EvaluationResult
from recassay.recommenders import cell, price, probes
from recassay.recommenders import study as running
from recassay.recommenders.attacked import robustness_convention
from recassay.recommenders.plan import CellSpec, SplitSpec, dataset_protocol, plan
from recassay.recommenders.probes import Probing, probe_study, prober
from recassay.runner.jobs import Outcome
from recassay.runner.work import Rounds

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


def test_trials_too_few_to_be_stopped_are_known_as_such():
    few, all_of_them = (CELL.model_copy(update={"tuning": TuningSpec(trials=trials)}) for trials in (1, PRUNE_AFTER))
    unpruned = CELL.model_copy(update={"tuning": TuningSpec(trials=20, pruning=False)})
    assert few.tuning_id == all_of_them.tuning_id == unpruned.tuning_id != CELL.tuning_id
    more = CELL.model_copy(update={"tuning": TuningSpec(trials=PRUNE_AFTER + 1)})
    assert more.tuning_id == CELL.tuning_id


def test_a_probe_is_one_seed_and_one_fold_without_tuning():
    folds = {"split": "kfold", "folds": 3}
    study = recassay.make_study(["synthetic:dense-small"], ["EASE"], seed=[3, 4], trials=5, protocol=folds)
    assert len(plan(study).cells) == 6
    (cell,) = plan(probe_study(study, Probing())).cells
    assert (cell.spec.seed, cell.spec.tuning.trials, cell.spec.metrics) == (3, 0, ("ndcg@10",))
    assert cell.spec.split.protocol.fold == 0


def study(*algorithms, **more):
    return recassay.make_study(["synthetic:dense-small"], list(algorithms), **more)


def test_a_cell_has_the_seed_of_its_search_and_reports_what_its_attack_shows():
    assert (CELL.search_seed, CELL.fold, CELL.reported) == (1, None, ("ndcg@10",))
    other = CELL.model_copy(update={"tuning": TuningSpec(seed=9), "comper": ComPerSpec()})
    assert (other.search_seed, other.reported) == (9, ("ndcg@10", "robustness"))
    folded = CELL.model_copy(update={"split": SplitSpec(data="", protocol=ProtocolSpec(split="kfold", fold=2))})
    assert folded.fold == 2


def test_a_seed_of_zero_and_the_first_fold_count_as_named():
    assert CELL.model_copy(update={"seed": 5, "tuning": TuningSpec(seed=0)}).search_seed == 0
    named = study("EASE", protocol={"split": "kfold", "folds": 3, "fold": 2})
    assert [dataset_protocol(named, named.datasets[0], fold).fold for fold in (None, 0, 1)] == [2, 0, 1]


@pytest.mark.parametrize(("own", "folds"), [({}, [0, 1, 2]), ({"fold": 1}, [1]), ({"fold": 0}, [0])])
def test_a_dataset_that_names_a_fold_has_no_other(own, folds):
    every = study("EASE", protocol={"split": "kfold", "folds": 3}, dataset_settings={"dense-small": own})
    assert [cell.spec.fold for cell in plan(every).cells] == folds


def test_a_cell_has_the_settings_of_its_algorithm():
    (plain,) = plan(study("EASE")).cells
    (settled,) = plan(study("EASE", settings={"EASE": {"reg": 3.0}})).cells
    assert (plain.spec.settings, settled.spec.settings) == ({}, {"reg": 3.0})
    assert plain.id != settled.id


def test_the_lists_of_a_cell_are_as_deep_as_what_judges_them():
    metrics = {"metrics": ["ndcg@10", "recall@250"]}
    (cell,) = plan(study("EASE", **metrics)).cells
    assert (cell.spec.depth, cell.spec.metrics) == (250, ("ndcg@10", "recall@250"))
    (cell,) = plan(study("EASE", metrics=["ndcg@10"], comper={"k": 300})).cells
    assert cell.spec.depth == 300
    assert cell.spec.metrics[0] == "ndcg@10"
    assert len(cell.spec.metrics) == len(set(cell.spec.metrics)) == 4
    (cell,) = plan(study("EASE", metrics=["coverage@300"], comper={"k": 300})).cells
    assert cell.spec.metrics == ("coverage@300", "auc", "diversity@300")
    (cell,) = plan(study("EASE", metrics=["ndcg@10"], tuning_metric="nDCG@10")).cells
    assert (cell.spec.depth, cell.spec.tuning.metric) == (100, "ndcg@10")


def test_what_a_probe_is_expected_to_cost():
    ratios = [probing.ratio(trials) for probing, trials in (
        (Probing(), 4), (Probing(users=0.5), 0), (Probing(users=0.5, epochs=3), 1)
    )]  # fmt: skip
    assert ratios == pytest.approx([1 / 5, 0.5, 0.5 * 0.3 / 2])


def test_probes_with_fewer_users_and_epochs(tmp_path):
    (tmp_path / "own.py").write_text("class Own: pass")
    files = [str(tmp_path / "own.py:Own"), "EASE", "WARP"]
    settings = {"Own": {"epochs": 50}}
    spec = probe_study(study(*files, trials=3, settings=settings), Probing(users=0.25, epochs=3))
    assert [algorithm.settings for algorithm in spec.algorithms] == [{"epochs": 3}, {}, {"epochs": 3}]
    assert (spec.protocol.user_share, spec.tuning.trials, spec.name) == (0.25, 0, "probes of study")
    with pytest.raises(UsageError, match="no algorithm of the study is trained in epochs; leave `probe_epochs` out"):
        probe_study(study(files[0], "EASE", trials=3), Probing(epochs=3))
    with pytest.raises(UsageError, match="a probe is a cell without tuning, and this study tunes nothing"):
        probe_study(study("EASE", trials=0), Probing())
    assert probe_study(study("EASE", trials=0), Probing(users=0.5)).protocol.user_share == 0.5
    assert probe_study(study("WARP", trials=3), Probing()).algorithms[0].settings == {}
    shared = probe_study(study("EASE", trials=3, protocol={"user_share": 0.7}, comper={"k": 5}), Probing())
    assert (shared.protocol.user_share, shared.comper) == (0.7, None)
    folds = {"dense-small": {"split": "kfold", "folds": 3}}
    assert probe_study(study("EASE", trials=3, dataset_settings=folds), Probing()).datasets[0].folds == (0,)


def test_a_probe_judges_what_tuning_does_where_that_is_reported():
    for tuned, expected in (("recall@20", "recall@20"), ("Recall @20", "recall@20"), ("hitrate@3", "ndcg@10")):
        spec = probe_study(study("EASE", metrics=["ndcg@10", "RECALL@20"], tuning_metric=tuned), Probing())
        assert spec.metrics == (expected,)


@pytest.mark.parametrize("linked", [True, False])
def test_probes_run_once_on_the_splits_of_the_study(tmp_path, monkeypatch, linked):
    rows = [SimpleNamespace(cell=f"{name}1", algorithm=name, dataset="d") for name in ("EASE", "ALS")]
    ran = []

    def run_study(spec, folder, *, choose, **how):
        chosen = [choose(None, SimpleNamespace(plan=lambda: rows)).cells for _ in range(2)]
        ran.append((spec.name, folder, chosen, how))

    def no_links(*_):
        raise OSError

    monkeypatch.setattr(probes, "run_study", run_study)
    if not linked:
        monkeypatch.setattr(os, "link", no_links)
    split = tmp_path / "splits" / "ab" / "train.user.npy"
    split.parent.mkdir(parents=True)
    split.write_text("events")
    prober(study("EASE", trials=2), Probing(), workers=3)(tmp_path, [("ALS", "d"), ("ALS", "other")])
    assert ran == [("probes of study", tmp_path / "probes", [["ALS1"], []], {"workers": 3})]
    prober(study("EASE", trials=2), Probing())(tmp_path, [])
    shared = tmp_path / "probes" / "splits" / "ab" / "train.user.npy"
    assert shared.read_text() == "events"
    assert shared.samefile(split) is linked


def test_the_sizes_of_prepared_datasets(tmp_path, monkeypatch):
    planned = plan(recassay.make_study(["synthetic:dense-small", "synthetic:few-items"], ["EASE"], seed=[1, 2]))
    ready = planned.cells[-1].spec.split.id
    monkeypatch.setattr(price, "is_prepared", lambda folder, split: split == ready)
    monkeypatch.setattr(
        price, "split_record", lambda folder, split: SimpleNamespace(sizes=(30, 20, 100), n_interactions=100)
    )
    sizes = price.planned_sizes(planned, tmp_path)
    assert (sizes.datasets, sizes.names, sizes.values.tolist()) == (("few-items",), ("Nu", "Ni", "Nr"), [[30, 20, 100]])
    assert price.split_size(tmp_path, ready) == 100.0
    assert price.split_size(tmp_path, "other") is None
    folded = plan(study("EASE", protocol={"split": "kfold", "folds": 3}))
    _, second, third = (cell.spec.split.id for cell in folded.cells)
    held = {second: (30, 20, 100), third: (30, 20, 99)}
    monkeypatch.setattr(price, "is_prepared", lambda folder, split: split in held)
    monkeypatch.setattr(price, "split_record", lambda folder, split: SimpleNamespace(sizes=held[split]))
    assert price.planned_sizes(folded, tmp_path).values.tolist() == [[30, 20, 100]], "the first that is there"


def test_what_a_fit_took_is_known_from_done_cells_that_were_timed(tmp_path, monkeypatch):
    def ran(id, algorithm="EASE", dataset="films", status="done", **took):
        spec = {"tuning": {"trials": 4}}
        took = {"seconds": None, "seconds_fit": None, "seconds_predict": None, **took}
        return SimpleNamespace(id=id, algorithm=algorithm, dataset=dataset, status=status, spec=spec, **took)

    cells = [
        ran("a", seconds=10.0),  # five fits
        ran("b", seconds=10.0, seconds_fit=3.0, seconds_predict=1.0),  # it took over the trials of another
        ran("c"),  # of an earlier version, which kept no time
        ran("d", status="timeout", seconds=900.0),
        ran("e", "ALS", seconds=5.0, seconds_predict=0.5),
        ran("f", "BPR", seconds=900.0),
        ran("g", dataset="songs", seconds=900.0),
    ]
    store = SimpleNamespace(cells=lambda every: cells if every else [])
    opened = SimpleNamespace(begun=lambda folder: folder == tmp_path, open=lambda folder: nullcontext(store))
    monkeypatch.setattr(price, "Store", opened)
    seconds, ran_here, done = price._stored(tmp_path, ("ALS", "EASE"), ("books", "films"))
    assert np.array_equal(seconds, [[np.nan, 1.0], [np.nan, 3.0]], equal_nan=True)
    assert (ran_here, done) == (3, {"a", "b", "e"})
    seconds, ran_here, done = price._stored(tmp_path / "new", ("ALS",), ("films",))
    assert (np.isnan(seconds).tolist(), ran_here, done) == ([[True]], 0, set())


def test_algorithms_cost_like_those_of_their_class():
    classes = price.cost_classes(study("MostPop", "EASE", "BPR", "ELSA", "./own.py:Own"))
    assert list(classes.values()) == ["baseline", "closed form", "factor model", "neural", "other"]


def test_what_a_run_is_asked_for_reaches_the_driver(tmp_path, monkeypatch):
    driven, checked = [], []
    monkeypatch.setattr(running, "drive", lambda work, folder, **how: driven.append((work, folder, how)))
    monkeypatch.setattr(running, "checked_plan", lambda spec, folder, **how: (checked.append(how), plan(spec))[1])
    spec = study("MostPop", "EASE", trials=0)
    first, second = plan(spec).cells
    asked = {"threads": 2, "retry_failed": True, "cluster": "tcp://here", "progress": print}

    def choose(planned, store):
        return len(planned.cells), store

    running.run_study(spec, tmp_path, workers=3, only=[second.id], choose=choose, preflight=True, **asked)
    ((work, folder, how),) = driven
    assert folder == tmp_path
    assert [cell.id for cell in work.cells] == [second.id]
    assert how.pop("choose")("store") == (1, "store")
    assert how == {**asked, "workers": 3}
    assert checked == [{"elsewhere": True, "retry_failed": True, "workers": 3}]
    running.run_study(spec, tmp_path, workers=1)
    work, _, how = driven[1]
    assert [cell.id for cell in work.cells] == [first.id, second.id]
    assert (how["choose"], how["cluster"], how["retry_failed"], how["threads"]) == (None, None, False, 1)
    assert len(checked) == 1
    monkeypatch.setattr(running, "dry_run_study", lambda work, folder, workers: (workers,))
    dry = running.run_study(spec, tmp_path / "new", workers=2, dry_run=True, preflight=True)
    assert (dry.planned, dry.predictions, len(checked), len(driven)) == (2, (2,), 1, 2)
    assert (work.prepare, work.budget, work.classes) == (
        "recassay.recommenders.cell:prepare", spec.budget, {"MostPop": "baseline", "EASE": "closed form"}
    )  # fmt: skip
    assert [cell.gpu for cell in work.cells] == [False, True], "EASE computes on a GPU where there is one"
    assert (work.is_usable, work.size) == (running.is_usable, running.split_size)
    assert (work.function, work.trial_function, work.better) == (
        "recassay.recommenders.cell:run_cell", "recassay.recommenders.cell:run_trial", max
    )  # fmt: skip
    row = work.cells[1].row
    assert (row.cell, row.algorithm, row.dataset, row.seed, row.fold) == (second.id, "EASE", "dense-small", 1, None)
    assert (row.metrics, row.tuning, row.trials) == (second.spec.metrics, second.spec.tuning_id, 0)
    payload = work.cells[1].payload(tmp_path)
    assert (payload["id"], payload["reference"], payload["folder"]) == (second.id, "EASE", str(tmp_path))
    assert payload["memory_in_words"] == "nine tenths of the machine's memory are"


def test_a_dry_run_tells_the_states_of_the_store_and_why_cells_cannot_run(tmp_path, monkeypatch):
    spec = recassay.make_study(
        ["synthetic:dense-small", "synthetic:few-items"], ["MostPop", "EASE"], trials=0, seconds_per_cell=9.0
    )
    work = running._work(plan(spec))
    ready, missing = work.cells[0].split, work.cells[2].split
    ends = {
        ready: Outcome("done", {}),
        missing: Outcome("failed", reason="no file"),
        work.cells[0].id: Outcome("done", {"memory": 5}),
        work.cells[1].id: Outcome("over_budget", reason="too large"),
    }
    places, asked = [], []

    class Asking:
        def __init__(self, workers, logs, *, preload):
            places.append((workers, logs.parent, preload == work.preload))

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def run(self, jobs, watcher):
            for job in jobs:
                asked.append((job.id, job.function.rpartition(":")[2], job.seconds, job.payload()["folder"]))
                watcher.finished(job, ends[job.id])

    store = SimpleNamespace(statuses=lambda: {work.cells[0].id: "done", work.cells[2].id: "failed"})
    monkeypatch.setattr(running, "LocalExecutor", Asking)
    monkeypatch.setattr(running, "is_prepared", lambda folder, split: split == ready)
    monkeypatch.setattr(running, "study_lock", nullcontext)
    monkeypatch.setattr(running, "Store", SimpleNamespace(open=lambda folder: nullcontext(store)))

    def told():
        return [(cell.state, cell.memory, cell.reason) for cell in running.dry_run_study(work, tmp_path, 9)]

    out = ("cannot run", None, "no file")
    assert told() == [("to go", 5, None), ("cannot run", None, "too large"), out, out]
    ((workers, place, _),) = places
    assert (workers, place.exists(), place == tmp_path) == (4, False, False)
    assert asked == [
        (ready, "prepare", 9.0, str(place)), (missing, "prepare", 9.0, str(place)),
        *((cell.id, "predict", 9.0, str(place)) for cell in work.cells[:2]),
    ]  # fmt: skip
    (tmp_path / "splits").mkdir()
    assert told() == [("done", 5, None), ("cannot run", None, "too large"), ("failed", None, "no file"), out]
    assert places[1] == (4, tmp_path, True)


def test_a_run_knows_its_gpus_its_rounds_and_which_objective_is_better(monkeypatch):
    monkeypatch.setattr(running, "visible_gpus", lambda: ("0", "1"))
    work = running._work(plan(study("MostPop", "EASE", trials=6, parallel=3, tuning_metric="gini@10")))
    assert (work.gpus, work.better) == (("0", "1"), min)
    assert [cell.rounds for cell in work.cells] == [Rounds(0), Rounds(6, 3)]
    assert running._work(plan(study("MostPop", trials=0))).gpus == ()
    seeds = study("MostPop", trials=0, protocol={"split": "random"}, multiverse={"split_seed": [0, 1]})
    assert [cell.row.universe for cell in running._work(plan(seeds)).cells] == [0, 1]


def test_a_split_is_made_once_for_the_cells_that_share_it(tmp_path):
    planned = plan(study("MostPop", "EASE", trials=0, seed=[1, 2], memory_gb=3.0))
    work = running._work(planned)
    ((split, payload),) = work.splits.items()
    assert {cell.split for cell in work.cells} == {split} == {planned.cells[0].spec.split.id}
    told = payload(tmp_path)
    assert (told["folder"], told["dataset"]["name"], told["memory"]) == (str(tmp_path), "dense-small", 3 * 10**9)
    assert SplitSpec.model_validate(told["split"]).id == split
    told = work.cells[3].payload(tmp_path)
    assert CellSpec.model_validate(told["cell"]).id == told["id"] == planned.cells[3].id
    assert (told["memory"], told["memory_in_words"], told["base"]) == (
        3 * 10**9, "budget.memory_gb is", planned.study.base
    )  # fmt: skip


def test_the_manifest_names_every_metric_and_the_attack():
    planned = plan(study("MostPop", trials=2, metrics=["recall@5"], tuning_metric="ndcg@10", comper={"k": 7}))
    made = running.manifest_of(planned, 3, 2)
    assert next(iter(made["metrics"])) == "recall@5"
    assert {"ndcg@10", "robustness", *planned.cells[0].spec.metrics} == set(made["metrics"])
    assert made["metrics"]["robustness"] == {
        "metric": "robustness", "k": 7, "higher_is_better": False, "variant": "targets",
        "formula": "|average hit ratio after the attack - before it|",
        "convention": "target items in the lists of test users", "source": "Alslaity and Tran 2019, section V.B",
    }  # fmt: skip
    assert robustness_convention(ComPerSpec(hits="test"))["robustness"]["convention"] == "test users hit"
    assert (made["machine"]["workers"], made["machine"]["threads"], made["cells"]) == (3, 2, [planned.cells[0].id])
    assert made["algorithms"] == {"MostPop": planned.cells[0].spec.code}
    assert made["datasets"] == {"dense-small": planned.cells[0].spec.split.data}
    assert "base" not in made["study"]
    assert "robustness" not in running.manifest_of(plan(study("MostPop", trials=0)), 1, 1)["metrics"]


def test_the_price_of_universes_counts_cells_splits_and_fits():
    alone = plan(study("EASE", trials=4, metrics=["ndcg@10"], multiverse={"fit_seed": [1, 2]}))
    # one search of four trials, and two last fits
    assert alone.price() == "2 universes: 2 cells, 1 splits, at most 6 fits"
    both = plan(study("EASE", trials=0, metrics=["ndcg@10"], multiverse={"missing": ["worst", "drop-datasets"]}))
    assert both.price() == "2 universes: 1 cells (1 more are shared), 1 splits, at most 1 fits"


def test_a_dataset_may_have_folds_of_its_own():
    spec = recassay.make_study(
        ["synthetic:dense-small"], ["MostPop"], trials=0, protocol={"split": "kfold", "folds": 3}
    )
    assert [cell.spec.fold for cell in plan(spec).cells] == [0, 1, 2]
    (dataset,) = spec.datasets
    for folds, expected in (((2, 1), [2, 1]), (None, [0, 1, 2])):
        own = spec.model_copy(update={"datasets": (dataset.model_copy(update={"folds": folds}),)})
        assert [cell.spec.fold for cell in plan(own).cells] == expected
    for split in ("random", "global_time"):  # outside a multiverse, what has no effect stays as it was written
        plain = dataset.model_copy(update={"protocol": {"split": split, "seed": 4}, "folds": None})
        (cell,) = plan(spec.model_copy(update={"datasets": (plain,)})).cells
        assert (cell.spec.fold, cell.spec.split.protocol.seed, cell.spec.split.protocol.split) == (None, 4, split)


def test_metrics_over_the_whole_order_leave_out_what_lists_leave_out(monkeypatch):
    """Where users may have items again, nothing is barred, though everything was seen."""
    given = {}

    def values(recommender, users, relevant, metrics, **more):
        given.update(more)
        return {"auc": np.array([0.5, np.nan])}

    judged = EvaluationResult(pl.DataFrame({"user": [0, 1], "auc": [0.1, 0.2]}), {}, {}, {})
    monkeypatch.setattr(cell, "evaluate", lambda *lists, **more: judged)
    monkeypatch.setattr(cell, "users_of", lambda test: np.array([0, 1]))
    monkeypatch.setattr(cell, "whole_ranking_values", values)
    split = SimpleNamespace(test=SimpleNamespace(csr=lambda: "relevant"))
    work = SimpleNamespace(split=split, spec=SimpleNamespace(metrics=("auc",)))
    answer = cell._judge_test(work, None, None, "seen", None)
    assert given == {"train": "seen", "exclude": None}
    assert answer.per_user["auc"].to_list() == [0.5, None], "nowhere defined for the second user"
    work.spec.metrics = ("ndcg@10", "coverage@10", "auc@10")
    assert cell._judge_test(work, None, None, "seen", None) is judged, "no metric reads the whole order"
    plain = SimpleNamespace(scope="user", k=None)
    monkeypatch.setattr(cell, "make_metric", lambda label: plain)
    assert cell._judge_test(work, None, None, "seen", None) is judged, "a metric of one's own need not say so"
