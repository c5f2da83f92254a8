"""A study from end to end, with tiny data and fake algorithms of a plugin file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

from recassay.api.study.studies import make_study
from recassay.core.errors import InputError, UsageError
from recassay.core.registry import algorithms
from recassay.core.specs.study import DatasetSpec
from recassay.core.types import Interactions
from recassay.data.sources import open_dataset
from recassay.metrics.evaluate import evaluate
from recassay.protocol.apply import apply_protocol
from recassay.recommenders.plan import SplitSpec, plan
from recassay.recommenders.splits import load_split, prepare_split
from recassay.recommenders.study import run_study
from recassay.runner.references import dataset_version
from recassay.store import Store
from recassay.store.lock import study_lock
from support.in_process import without_processes
from support.run import PLUGIN, children_of, numbers, tiny_data, tiny_folder, tiny_study


@pytest.fixture
def folder(tmp_path):
    return tiny_folder(tmp_path, other=True)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A study that ran to its end, with the events of its run."""
    tmp_path = tmp_path_factory.mktemp("finished")
    tiny_folder(tmp_path, other=True)
    events = []
    spec = tiny_study(tmp_path, ("Fake", "Pop", "Staged"), datasets=("tiny", "other"), trials=12)
    record = run_study(spec, tmp_path / "out", workers=2, progress=events.append)
    return tmp_path, spec, record, events


def load_interactions(spec: DatasetSpec, base: str) -> Interactions:
    return open_dataset(spec.reference, spec.read, base=base).interactions


@pytest.mark.slow
def test_a_study_runs_to_its_end(finished):
    folder, _, record, events = finished
    assert (record.planned, record.done, record.ran, record.failed) == (6, 6, 6, ())
    assert json.loads(json.dumps(record.to_dict()))["done"] == 6
    with Store.open(folder / "out") as store:
        results = store.results()
        assert results.algorithms == ["Fake", "Pop", "Staged"]
        assert results.metrics == [
            "ndcg@10",
            "hitrate@5",
            "coverage@10",
            "seconds_fit",
            "seconds_predict",
            "memory",
            "joules",
        ]
        assert results.matrix("ndcg@10").values.shape == (3, 2)
        assert store.status().trials == 2 * 2 * 12
        states = store.trials()["state"].unique().to_list()
        assert "pruned" in states
    kinds = [event.kind for event in events]
    assert kinds[0] == "plan"
    assert kinds[-1] == "end"
    assert (kinds.count("split"), kinds.count("started"), kinds.count("finished")) == (2, 6, 6)
    assert kinds.count("trial") == 48
    assert events[-1].done == events[-1].total == 6


@pytest.mark.slow
def test_the_numbers_are_those_of_the_parts_put_together_by_hand(finished):
    folder, spec, *_ = finished
    with Store.open(folder / "out") as store:
        cell = next(c for c in store.cells() if (c.algorithm, c.dataset) == ("Pop", "tiny"))
        lists, scores = store.top_lists(cell.id), store.per_user(cell.id)
    split = apply_protocol(load_interactions(spec.datasets[0], spec.base), spec.protocol)
    popularity = np.bincount(split.refit().item, minlength=split.train.n_items)
    seen = split.refit().csr()
    for user, group in lists.group_by("user"):
        position = split.train.users.index_of(user[0])
        best = popularity.astype(float)
        best[seen[[position]].indices] = -1
        items = group.sort("rank")["item"].to_list()
        assert len(items) == (best >= 0).sum()
        counts = [popularity[split.train.items.index_of(item)] for item in items]
        assert counts == sorted(counts, reverse=True)
    assert scores["user"].to_list() == split.train.users.gather(np.unique(split.test.user)).to_list()
    assert cell.metrics["ndcg@10"] == pytest.approx(scores["ndcg@10"].mean(), abs=1e-15)


def test_the_manifest_says_what_is_needed_to_repeat_it(finished):
    folder, *_ = finished
    with Store.open(folder / "out") as store:
        manifest = store.manifest()
    assert manifest["seeds"] == [1]
    assert manifest["versions"]["optuna"]
    assert manifest["metrics"]["ndcg@10"]["formula"]
    assert set(manifest["datasets"]) == {"tiny", "other"}
    assert len(manifest["algorithms"]["Fake"]) == 64
    assert manifest["study"]["tuning"]["trials"] == 12
    assert str(folder) not in json.dumps(manifest)


def test_the_same_command_does_nothing_again(finished):
    folder, spec, *_ = finished
    before = numbers(folder / "out")
    record = run_study(spec, folder / "out", workers=2)
    assert (record.ran, record.done) == (0, 6)
    assert numbers(folder / "out") == before


@pytest.mark.slow
def test_one_worker_in_fresh_processes_gives_the_same_numbers(finished, monkeypatch):
    monkeypatch.setattr("recassay.runner.local.FORKS", False)
    folder, spec, *_ = finished
    backwards = spec.model_copy(update={"algorithms": spec.algorithms[::-1], "datasets": spec.datasets[:1]})
    run_study(backwards, folder / "alone", workers=1)
    order = {c[0]: n for n, c in enumerate(numbers(folder / "out")[0])}
    cells, trials, users, lists = numbers(folder / "alone")
    places = [order[cell[0]] for cell in cells]
    expected = numbers(folder / "out")
    assert cells == [expected[0][n] for n in places]
    assert len(trials) == 24
    assert set(trials) <= set(expected[1])
    assert users == [expected[2][n] for n in places]
    assert lists == [expected[3][n] for n in places]


@pytest.mark.slow
def test_a_dry_run_predicts_memory_and_leaves_nothing(folder):
    spec = tiny_study(folder, ("Fake", "Raises"))
    record = run_study(spec, folder / "out", workers=1, dry_run=True)
    assert not (folder / "out").exists()
    fake = record.predictions[0]
    assert json.loads(json.dumps(record.to_dict()))["predictions"][0]["algorithm"] == "Fake"
    assert (fake.algorithm, fake.state, fake.users, fake.items, fake.trials) == ("Fake", "to go", 60, 40, 4)
    assert fake.memory == fake.most_memory == 8 * 60 * 40 + 8 * 40**2


@pytest.mark.usefixtures("in_process")
def test_a_changed_parameter_runs_only_that_algorithm_again(folder):
    run_study(tiny_study(folder, ("Fake", "Pop")), folder / "out", workers=1)
    changed = tiny_study(folder, ("Fake", "Pop"), settings={"Fake": {"power": 1.0}})
    events = []
    record = run_study(changed, folder / "out", workers=1, progress=events.append)
    assert [event.algorithm for event in events if event.kind == "started"] == ["Fake"]
    assert (record.ran, record.done) == (1, 2)
    with Store.open(folder / "out") as store:
        assert store.cells()[0].parameters["power"] == 1.0
    back = run_study(tiny_study(folder, ("Fake", "Pop")), folder / "out", workers=1)
    assert back.ran == 0


@pytest.mark.usefixtures("in_process")
def test_more_trials_or_another_metric_keep_the_trials_there_are(folder):
    run_study(tiny_study(folder, ("Fake",)), folder / "out", workers=1)
    events = []
    more = tiny_study(folder, ("Fake",), trials=5, metrics=["ndcg@10", "recall@20"])
    run_study(more, folder / "out", workers=1, progress=events.append)
    assert [event.trial.number for event in events if event.kind == "trial"] == [4]
    run_study(more, folder / "at once", workers=1)
    assert numbers(folder / "out") == numbers(folder / "at once")
    run_study(tiny_study(folder, ("Fake",)), folder / "out", workers=1)
    with Store.open(folder / "out") as store:
        assert store.trials()["number"].to_list() == [0, 1, 2, 3]


@pytest.mark.slow
@pytest.mark.parametrize("parallel", [1, 2])
def test_the_seconds_of_a_cell_are_those_of_all_its_trials(folder, parallel):
    """Also where an earlier run made some of them."""
    out = folder / "out"
    for trials in (2, 4):
        run_study(tiny_study(folder, ("Slow",), trials=trials, parallel=parallel), out, workers=1)
    with Store.open(out) as store:
        (cell,), (row,) = store.cells(), store.plan()
        made = store.kept_trials(row.tuning)
    assert len(made) == 4
    assert cell.seconds_tune >= sum(trial.seconds for trial in made.values())
    assert cell.seconds >= cell.seconds_tune


@pytest.mark.slow
def test_a_larger_budget_lets_refused_trials_be_tried_again(folder):
    small = tiny_study(folder, ("Fake",), memory_gb=0.001)
    (refused,) = run_study(small, folder / "out", workers=1).failed
    assert refused.status in ("over_budget", "memory")
    record = run_study(tiny_study(folder, ("Fake",)), folder / "out", workers=1, retry_failed=True)
    assert (record.ran, record.done) == (1, 1)


def test_an_identity_holds_what_the_numbers_depend_on_and_no_more(folder):
    def ids(**more):
        return {c.algorithm.name: c.id for c in plan(tiny_study(folder, ("Fake", "Pop"), **more)).cells}

    first = ids()
    assert ids() == first
    assert ids(seconds_per_cell=5.0, memory_gb=1.0, name="other") == first
    moved = folder / "moved"
    moved.mkdir()
    tiny_folder(moved)
    assert {c.algorithm.name: c.id for c in plan(tiny_study(moved, ("Fake", "Pop"))).cells} == first
    for changed in ({"trials": 5}, {"metrics": ["ndcg@5"]}, {"seed": 2}, {"protocol": {"split": "user_time"}}):
        other = ids(**changed)
        assert all(other[name] != first[name] for name in first)
    one = ids(settings={"Fake": {"depth": 3}})
    assert one["Fake"] != first["Fake"]
    assert one["Pop"] == first["Pop"]
    tiny_data(folder, seed=5)
    assert all(ids()[name] != first[name] for name in first)
    tiny_data(folder)
    (folder / "fakes.py").write_text(PLUGIN + "\n# changed\n")
    assert all(ids()[name] != first[name] for name in first)


@pytest.mark.usefixtures("in_process")
def test_seeds_and_folds_make_cells_of_their_own(folder):
    protocol = {"split": "kfold", "folds": 3, "min_item_interactions": 1, "min_user_interactions": 1}
    spec = tiny_study(folder, ("Pop",), seed=[1, 2], protocol=protocol, trials=0)
    record = run_study(spec, folder / "out", workers=1)
    assert (record.done, record.failed) == (6, ())
    with Store.open(folder / "out") as store:
        frame = store.results().frame.filter(metric="ndcg@10")
        assert frame.select("seed", "fold").unique().height == 6
        assert frame.get_column("value").null_count() == 0


@pytest.mark.usefixtures("in_process")
def test_presets_and_dataset_settings(folder):
    spec = make_study(["synthetic:dense-small"], ["./fakes.py:Pop"], metrics=["recall@10"], trials=0, base=folder)
    run_study(spec, folder / "out", workers=1)
    with Store.open(folder / "out") as store:
        assert store.results().datasets == ["dense-small"]
        assert store.cells()[0].metrics["recall@10"] > 0
    with pytest.raises(UsageError, match="no preset 'dense-smal'"):
        plan(make_study(["synthetic:dense-smal"], ["./fakes.py:Pop"], base=folder))
    with pytest.raises(UsageError, match="'big' in 'synthetic:dense-small@big' is not a scale"):
        plan(make_study(["synthetic:dense-small@big"], ["./fakes.py:Pop"], base=folder))


@pytest.mark.usefixtures("in_process")
def test_a_file_of_recommendations_counts_as_an_algorithm(folder):
    lists = (
        pl.read_csv(folder / "tiny.csv")
        .select("user")
        .unique()
        .join(pl.DataFrame({"item": [f"i{n}" for n in range(40)], "rank": range(1, 41)}), how="cross")
    )
    lists.write_csv(folder / "lists.csv")
    protocol = tiny_study(folder, ("Pop",)).protocol.model_dump()
    spec = make_study(["./tiny.csv"], ["lists.csv"], metrics=["hitrate@10"], base=folder, protocol=protocol)
    record = run_study(spec, folder / "out", workers=1)
    assert (record.done, record.failed) == (1, ())
    with Store.open(folder / "out") as store:
        assert store.results().algorithms == ["lists"]
        assert store.cells()[0].metrics["hitrate@10"] > 0.5


def test_an_imported_dataset_is_found_by_name(folder, monkeypatch):
    from recassay.core.specs.specs import ReadSpec
    from recassay.data.library import import_dataset

    monkeypatch.setenv("RECASSAY_HOME", str(folder / "home"))
    import_dataset(folder / "tiny.csv", "mine")
    spec = DatasetSpec(reference="mine", name="mine")
    version = dataset_version(spec, str(folder))
    import_dataset(folder / "tiny.csv", "again")
    assert dataset_version(DatasetSpec(reference="again", name="again"), str(folder)) == version
    import_dataset(folder / "tiny.csv", "other", ReadSpec(repeated="first"))
    assert dataset_version(DatasetSpec(reference="other", name="other"), str(folder)) != version
    assert len(load_interactions(spec, str(folder))) == 60 * 16


@pytest.mark.parametrize(
    ("datasets", "algorithms_", "message"),
    [
        (["./nothing.csv"], ["./fakes.py:Pop"], r"nothing\.csv: the file of this dataset cannot be read"),
        (["./tiny.csv"], ["./nothing.py:Pop"], r"nothing\.py: the file of this algorithm cannot be read"),
        (["./tiny.csv"], ["NoSuchThing"], "unknown algorithm 'NoSuchThing'"),
    ],
)
def test_what_is_not_there_is_refused_before_anything_runs(folder, datasets, algorithms_, message):
    with pytest.raises((InputError, UsageError), match=message):
        run_study(make_study(datasets, algorithms_, base=folder), folder / "out")
    assert not (folder / "out").exists()


def test_an_algorithm_added_from_python_is_refused(folder, monkeypatch):
    monkeypatch.setattr(algorithms, "_added", {})
    algorithms.add("Homemade", object)
    spec = make_study(["./tiny.csv"], ["home-made"], base=folder)
    assert spec.algorithms[0].name == "Homemade"
    with pytest.raises(UsageError, match="added from Python"):
        plan(make_study(["./tiny.csv"], ["Homemade"], base=folder))


@pytest.mark.usefixtures("in_process")
def test_a_dataset_that_cannot_be_split_becomes_rows_and_the_others_go_on(folder):
    (folder / "bad.csv").write_text("user,item,timestamp\nu1,i1,5\nu1,i1\n")
    spec = tiny_study(folder, ("Pop",), datasets=("bad", "tiny"))
    record = run_study(spec, folder / "out", workers=1)
    assert (record.done, len(record.failed)) == (1, 1)
    assert record.failed[0].status == "failed"
    assert record.failed[0].reason.startswith("dataset bad: ")
    with without_processes():
        again = run_study(spec, folder / "out", workers=1)
        asked = run_study(spec, folder / "out", workers=1, retry_failed=True)
    assert (again.planned, again.done, again.ran, len(again.failed)) == (2, 1, 0, 1)
    assert (asked.planned, asked.done, asked.ran, len(asked.failed)) == (2, 1, 1, 1)
    assert [(cause.datasets, cause.cells) for cause in asked.causes()] == [(("bad",), 1)]


def test_a_split_is_stored_once_and_comes_back_the_same(folder):
    spec = tiny_study(folder, ("Pop",))
    wanted = SplitSpec(data="x", protocol=spec.protocol)
    (folder / "out").mkdir()
    record = prepare_split(folder / "out", wanted, spec.datasets[0], spec.base)
    made = apply_protocol(load_interactions(spec.datasets[0], spec.base), spec.protocol)
    stored = load_split(folder / "out", wanted.id)
    assert record.fingerprint == stored.fingerprint == made.fingerprint
    assert stored.counts == made.counts
    assert stored.train.users.equals(made.train.users)
    for part in ("train", "valid", "test", "unjudged_valid"):
        one, other = getattr(stored, part), getattr(made, part)
        assert np.array_equal(one.user, other.user)
        assert np.array_equal(one.item, other.item)
        assert np.array_equal(one.time, other.time)
        assert not one.user.flags.writeable
    with pytest.raises(InputError, match="missing or damaged"):
        load_split(folder / "out", "nothing")


@pytest.mark.usefixtures("in_process")
def test_an_empty_test_part_of_a_cell_is_a_row(folder):
    protocol = {"split": "random", "ratios": [0.9, 0.1, 0.0], "allow_leakage": ["empty_test"]}
    record = run_study(tiny_study(folder, ("Pop",), protocol=protocol), folder / "out", workers=1)
    assert "the test part is empty" in record.failed[0].reason


def test_two_drivers_are_refused(folder):
    with (
        study_lock(folder / "out"),
        pytest.raises(UsageError, match=rf"another run is at work .*process {os.getpid()}"),
    ):
        run_study(tiny_study(folder, ("Pop",)), folder / "out")


DRIVER = """
import sys
from support.run import tiny_study
from pathlib import Path
from recassay.recommenders.study import run_study
folder = Path(sys.argv[1])
spec = tiny_study(folder, tuple(sys.argv[2].split(",")), trials=40)
def tell(event):
    print(event.kind, flush=True)
try:
    run_study(spec, folder / "out", workers=2, progress=tell)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_an_interrupt_ends_the_processes_and_leaves_a_whole_store(folder):
    path = os.pathsep.join([os.environ.get("PYTHONPATH", ""), *sys.path])
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(folder), "Slow,Pop"],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
    )
    assert driver.stdout is not None
    seen = 0
    for line in driver.stdout:
        seen += line == "trial\n"
        if seen == 3:
            break
    assert children_of(driver.pid)
    driver.send_signal(signal.SIGINT)
    rest = driver.stdout.read()
    assert driver.wait(120) == 0
    driver.stdout.close()
    assert rest.endswith("interrupted\n")
    for _ in range(600):
        if not children_of(driver.pid):
            break
        time.sleep(0.1)
    assert children_of(driver.pid) == []
    with Store.open(folder / "out") as store:
        kept = store.trials()
        assert kept.height >= 3
        assert kept.filter(algorithm="Slow")["number"].to_list() == list(range(kept.filter(algorithm="Slow").height))
        assert len(store.status().to_go) >= 1


def test_per_user_scores_can_be_recomputed_from_the_stored_lists(finished):
    folder, spec, *_ = finished
    from recassay.core.types import TopK

    with Store.open(folder / "out") as store:
        cell = store.cells()[0]
        lists, scores = store.top_lists(cell.id), store.per_user(cell.id)
    split = apply_protocol(load_interactions(spec.datasets[0], spec.base), spec.protocol)
    users = np.unique(split.test.user).astype(np.int32)
    items = np.full((len(users), 100), -1, dtype=np.int32)
    row = np.searchsorted(users, [split.train.users.index_of(u) for u in lists["user"]])
    items[row, lists["rank"].to_numpy() - 1] = [split.train.items.index_of(i) for i in lists["item"]]
    top = TopK(users, items, np.where(items >= 0, 0, -np.inf).astype(np.float32))
    again = evaluate(top, split.test, ["ndcg@10", "hitrate@5"], train=split.refit())
    assert again.per_user.equals(scores.with_columns(pl.col("ndcg@10")))
