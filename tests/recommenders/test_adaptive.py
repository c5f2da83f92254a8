"""Adaptive studies: chosen cells are ordinary cells, killed and resumed, extended, and run to the whole grid."""

from __future__ import annotations

import json
import sys
import time

import pytest

import recassay
from recassay.analysis.adaptive.fit import Question, log_sizes
from recassay.api.study.adaptive_study import AdaptiveStudy
from recassay.api.study.studies import adaptive_standing
from recassay.core.specs.study import AlgorithmSpec
from recassay.recommenders.plan import plan
from recassay.recommenders.price import planned_sizes
from recassay.recommenders.probes import Probing, probe_study
from recassay.recommenders.study import run_study
from recassay.store import Store
from recassay.store.adaptive import ADAPTIVE_FILE, read_adaptive
from support.drivers import drivers
from support.run import PLUGIN, numbers, tiny_data, tiny_study

ALGORITHMS = ("Pop", "Fake", "Slow")
DATASETS = ("tiny", "other", "third")
DRIVE = """
from pathlib import Path
import recassay.recommenders.cell
from recassay.analysis.adaptive.fit import Question
from recassay.api.study.adaptive_study import AdaptiveStudy
from recassay.recommenders.study import run_study
from support.run import tiny_study

def drive(folder):
    folder = Path(folder)
    spec = tiny_study(folder, ("Pop", "Fake", "Slow"), datasets=("tiny", "other", "third"), trials=6)
    chooser = AdaptiveStudy(Question("order", 0.999, indifference=0.0))
    run_study(spec, folder / "killed", workers=1, choose=chooser,
              progress=lambda event: print(event.kind, flush=True))
"""


@pytest.fixture
def data(tmp_path):
    (tmp_path / "fakes.py").write_text(PLUGIN)
    for seed, name in enumerate(DATASETS):
        tiny_data(tmp_path, name, seed=seed, users=40 + 20 * seed)
    return tmp_path


def study(folder, **more):
    return tiny_study(folder, ALGORITHMS, datasets=DATASETS, **{"trials": 0, **more})


@pytest.mark.usefixtures("in_process")
def test_chosen_cells_are_ordinary_cells_and_the_rest_can_follow(data):
    events = []
    chooser = AdaptiveStudy(Question("first", 0.5), workers=1)
    record = run_study(study(data), data / "out", workers=1, choose=chooser, progress=events.append)
    assert chooser.last is not None
    assert chooser.last.certified
    assert 3 <= record.done < 9
    said = [event.said for event in events if event.kind == "decided"]
    assert "0 of 9 cells" in said[0]
    assert "nothing more has to be run" in said[-1]
    journal = read_adaptive(data / "out")
    assert journal is not None
    ran = {tuple(cell) for step in journal["steps"] for cell in step["cells"]}
    with Store.open(data / "out") as store:
        assert {(cell.algorithm, cell.dataset) for cell in store.cells()} == ran
    assert journal["ended"] == "certified"
    assert (journal["metric"], journal["seed"], journal["budget"]) == ("ndcg@10", 0, None)
    assert (journal["algorithms"], journal["datasets"]) == (list(ALGORITHMS), list(DATASETS))
    assert journal["question"] == {"target": "first", "confidence": 0.5, "indifference": 1.0, "rho": 0.97}
    sizes = log_sizes(planned_sizes(plan(study(data)), data / "out"))
    assert journal["features"] == [[pytest.approx(size)] for size in sizes]
    assert journal["classes"] == ["other"] * 3
    assert all(step["why"] for step in journal["steps"])
    again = run_study(study(data), data / "out", workers=1, choose=AdaptiveStudy(Question("first", 0.5)))
    assert again.ran == 0
    whole = run_study(study(data), data / "out", workers=1)
    assert (whole.done, whole.ran) == (9, 9 - record.done)
    run_study(study(data), data / "plain", workers=1)
    assert numbers(data / "out") == numbers(data / "plain")
    after = recassay.adaptive(data / "out")
    assert after.ended == "complete"
    assert after.measured.all()


@pytest.mark.usefixtures("in_process")
def test_a_budget_stops_it_and_a_failing_algorithm_counts_as_last(data):
    spec = tiny_study(data, ("Pop", "Raises", "Fake"), datasets=DATASETS, trials=0)
    spent = run_study(spec, data / "out", workers=1, choose=AdaptiveStudy(Question(), budget=1e-6))
    assert spent.ran == 0
    assert "the budget is spent" in str(adaptive_standing(data / "out"))
    chooser = AdaptiveStudy(Question("order", 0.999, indifference=0.0))
    run_study(spec, data / "out", workers=1, choose=chooser)
    assert chooser.last is not None
    assert chooser.last.order[-1] == "Raises"
    states = set(chooser.last.cells().filter(algorithm="Raises").get_column("state"))
    assert states <= {"failed", "predicted"}


@pytest.mark.usefixtures("in_process")
def test_the_budget_counts_from_the_first_decision_on(data):
    begun = AdaptiveStudy(Question(), budget=50.0, began=time.monotonic() - 60.0)
    assert run_study(study(data), data / "out", workers=1, choose=begun).ran == 0
    in_time = AdaptiveStudy(Question("first", 0.5), budget=500.0, began=time.monotonic() - 60.0)
    assert run_study(study(data), data / "out", workers=1, choose=in_time).ran > 0


@pytest.mark.usefixtures("in_process")
def test_where_the_tuned_metric_is_not_reported_the_first_one_decides(data):
    spec = study(data, metrics=("hitrate@5", "coverage@10"))
    run_study(spec, data / "out", workers=1, choose=AdaptiveStudy(Question("first", 0.5)))
    assert read_adaptive(data / "out")["metric"] == "hitrate@5"


@pytest.mark.usefixtures("in_process")
def test_a_dataset_that_cannot_be_prepared_is_no_part_of_the_grid(data):
    (data / "third.csv").write_text("user,item,timestamp\nu1,i1,1\n")
    chooser = AdaptiveStudy(Question("first", 0.9))
    record = run_study(study(data), data / "out", workers=1, choose=chooser)
    assert chooser.last is not None
    assert chooser.last.datasets == ("tiny", "other")
    assert {cell.dataset for cell in record.failed} == {"third"}


@pytest.mark.skipif(sys.platform != "linux", reason="finds the workers through /proc")
def test_killed_and_resumed_it_comes_to_the_same_table(data):
    with drivers(DRIVE, data) as start:
        for finished in (2, 3):
            driver = start.start()
            seen = 0
            while seen < finished:
                line = driver.says()
                assert line not in ("", "gone")
                seen += line == "finished"
            driver.kill()
    with Store.open(data / "killed") as store:
        kept = {cell.id for cell in store.cells()}
    assert 5 <= len(kept) < 9
    chooser = AdaptiveStudy(Question("order", 0.999, indifference=0.0))
    record = run_study(study(data, trials=6), data / "killed", workers=1, choose=chooser)
    assert record.ran == record.done - len(kept)
    assert record.done == 9
    run_study(study(data, trials=6), data / "peaceful", workers=1)
    assert numbers(data / "killed") == numbers(data / "peaceful")
    assert chooser.last is not None
    assert len(chooser.last.steps) >= 3


@pytest.mark.usefixtures("in_process")
def test_a_damaged_journal_is_one_clear_line(data):
    run_study(study(data), data / "out", workers=1, choose=AdaptiveStudy(Question("first", 0.6)))
    (data / "out" / ADAPTIVE_FILE).write_text(json.dumps({"version": 99}))
    with pytest.raises(recassay.RecAssayError, match="journal of the adaptive run is damaged"):
        recassay.adaptive(data / "out")


@pytest.mark.usefixtures("in_process")
def test_probes_are_untuned_cells_in_a_study_of_their_own(data):
    events = []
    spec = study(data, trials=3)
    record = recassay.run(
        spec, data / "out", workers=1, adaptive=True, probes=True, target="first", confidence=0.97,
        progress=events.append,
    )  # fmt: skip
    journal = read_adaptive(data / "out")
    assert journal is not None
    probes = {tuple(cell) for step in journal["steps"] for cell in step["probes"]}
    assert probes
    assert {(algorithm, dataset) for algorithm, dataset, _, _ in journal["probes"]} == probes
    assert journal["probe_ratio"] == 0.25
    with Store.open(data / "out" / "probes") as store:
        stored = {(cell.algorithm, cell.dataset): cell for cell in store.cells()}
        assert set(stored) == probes
        assert all(row.trials == 0 for row in store.plan())
    assert record.planned == 9, "probes are not cells of the study"
    assert set(recassay.load_results(data / "out").frame["dataset"]) <= set(DATASETS)
    assert any("probe of" in (event.said or "") for event in events)
    found = recassay.adaptive(data / "out")
    assert found.probed == len(probes)
    assert f"cells and {len(probes)} probes" in str(adaptive_standing(data / "out")), "what `status` shows"
    again = recassay.run(spec, data / "out", workers=1, adaptive=True, probes=True, target="first", confidence=0.97)
    assert again.ran == 0
    recassay.run(spec, data / "out", workers=1, adaptive=True, target="first", confidence=0.97)
    assert recassay.adaptive(data / "out").probed == len(probes), "a run without probes forgets none"


@pytest.mark.usefixtures("in_process")
def test_a_study_that_tunes_nothing_cannot_be_probed(data):
    with pytest.raises(recassay.UsageError, match="this study tunes nothing"):
        recassay.run(study(data), data / "out", adaptive=True, probes=True)


@pytest.mark.usefixtures("in_process")
def test_probes_on_a_sample_of_the_users_with_few_epochs(data):
    """A study that tunes nothing is probed on half of the users; the probes are counted as others are."""
    spec = study(data)
    recassay.run(spec, data / "out", workers=1, adaptive=True, probe_users=0.5, confidence=0.6)
    journal = read_adaptive(data / "out")
    assert journal["probe_ratio"] == 0.5
    assert f"{len(journal['probes'])} probes" in journal["said"]
    with Store.open(data / "out" / "probes") as probes, Store.open(data / "out") as whole:
        users = {(cell.algorithm, cell.dataset): cell.counts["users"] for cell in probes.cells()}
        assert users
        for cell in whole.cells():
            probe = users.get((cell.algorithm, cell.dataset))
            assert probe is None or probe < 0.8 * cell.counts["users"]
    with pytest.raises(recassay.UsageError, match="no algorithm of the study is trained in epochs"):
        recassay.run(spec, data / "other", adaptive=True, probe_epochs=2)
    with pytest.raises(recassay.UsageError, match="probe_users is 1"):
        recassay.run(spec, data / "other", adaptive=True, probe_users=1.0)
    tuned = study(data, trials=3).model_copy(
        update={"algorithms": tuple(AlgorithmSpec(reference=name, name=name) for name in ("MultiVAE", "EASE"))}
    )
    cheap = probe_study(tuned, Probing(users=0.2, epochs=4))
    assert [algorithm.settings for algorithm in cheap.algorithms] == [{"epochs": 4}, {}]
    assert (cheap.protocol.user_share, cheap.tuning.trials) == (0.2, 0)
    assert Probing(users=0.2).ratio(3) == pytest.approx(0.05)


@pytest.mark.usefixtures("in_process")
def test_a_run_begun_without_a_prior_goes_on_without(data):
    def known(grid):
        asked.append(grid)

    asked: list[object] = []
    for evidence, confidence in ((None, 0.5), (known, 0.9)):
        chooser = AdaptiveStudy(Question("first", confidence), evidence=evidence)
        run_study(study(data), data / "out", workers=1, choose=chooser)
    assert not asked
    assert read_adaptive(data / "out")["with_prior"] is False
    run_study(study(data), data / "new", workers=1, choose=AdaptiveStudy(Question("first", 0.5), evidence=known))
    assert asked
    assert read_adaptive(data / "new")["with_prior"] is True
