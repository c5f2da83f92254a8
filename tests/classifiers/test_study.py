"""Classifier studies: from a file to stored answers, whatever happens on the way."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.classifiers.study_file import ARTIFICIAL, REAL, load_classify_study
from recassay.store import Store
from support.classify import tiny_table, write_study, write_tables
from support.drivers import drivers


def answers(folder):
    with Store.open(folder) as store:
        return [
            (c.algorithm, c.dataset, c.status, dict(c.metrics), store.responses(c.id).rows()) for c in store.cells()
        ]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The default portfolio with two small MLPs on two tables, run once with two processes."""
    folder = tmp_path_factory.mktemp("classify")
    write_tables(folder, "one", "two")
    text = '[study]\ndatasets = ["*.csv"]\nseed = 3\n\n[mlps]\ncount = 2\nwidth = 4\nmax_iter = 3\n'
    (folder / "study.toml").write_text(text + '\n[protocol]\ntarget = "class"\n')
    record = recassay.classify(folder / "study.toml", folder / "out", workers=2)
    assert record.failed == ()
    return folder


def test_the_default_portfolio(whole):
    spec = load_classify_study(whole / "study.toml")
    names = [classifier.name for classifier in spec.classifiers]
    assert names == [*REAL, *ARTIFICIAL, "mlp-1", "mlp-120"]
    assert [one.role for one in spec.classifiers] == ["real"] * 12 + ["artificial"] * 7 + ["mlp"] * 2


def test_the_responses_of_the_study(whole):
    found = recassay.load_instances(whole / "out")
    assert [one.dataset for one in found] == ["one", "two"]
    for at, one in enumerate(found):
        table = tiny_table(seed=at)
        assert len(one.responses.items) == 24
        assert one.responses.complete
        assert one.roles.count("artificial") == 7
        rows = [int(item.removeprefix("r")) - 1 for item in one.responses.items]
        assert one.truth == tuple(table.get_column("class")[row] for row in rows)
        right = dict(zip(one.responses.respondents, one.responses.right(), strict=True))
        assert right["optimal"].all()
        assert not right["pessimal"].any()
        trained = [label for row, label in enumerate(table.get_column("class")) if row not in rows]
        counts = {label: trained.count(label) for label in sorted(set(trained))}
        most, fewest = max(counts, key=counts.__getitem__), min(counts, key=counts.__getitem__)
        assert right["majority"].tolist() == [truth == most for truth in one.truth]
        assert right["minority"].tolist() == [truth == fewest for truth in one.truth]
        assert not np.array_equal(right["rand1"], right["rand2"])
        assert right["RandomForest"].mean() > 0.6
        assert one.metadata["NumberOfInstances"] == 80
        assert one.metadata["NumberOfFeatures"] == 4


@pytest.mark.usefixtures("in_process")
def test_one_process_gives_the_same_answers(whole, tmp_path):
    spec = load_classify_study(whole / "study.toml")
    chosen = [one for one in spec.classifiers if one.name in {"RandomForest-3", "MLP", "SVM", "rand1", "mlp-1"}]
    recassay.classify(spec.model_copy(update={"classifiers": tuple(chosen)}), tmp_path / "again", workers=1)
    names = {one.name for one in chosen}
    assert answers(tmp_path / "again") == [cell for cell in answers(whole / "out") if cell[0] in names]


def test_a_second_run_has_nothing_to_do(whole):
    assert recassay.classify(whole / "study.toml", whole / "out", workers=1).ran == 0
    dry = recassay.classify(whole / "study.toml", whole / "out", dry_run=True)
    assert {prediction.state for prediction in dry.predictions} == {"done"}
    fresh = recassay.classify(whole / "study.toml", whole / "nowhere", dry_run=True)
    assert {prediction.state for prediction in fresh.predictions} == {"to go"}
    assert not (whole / "nowhere").exists()


def test_the_table_of_results(whole):
    results = recassay.load_results(whole / "out")
    assert set(results.metrics) >= {"accuracy", "balanced_accuracy", "seconds_fit", "seconds_predict"}
    matrix = results.matrix("accuracy")
    assert matrix.higher_is_better
    with Store.open(whole / "out") as store:
        everybody = store.results().matrix("accuracy")
    assert everybody.values[everybody.algorithms.index("optimal")].tolist() == [1.0, 1.0]
    ranked = recassay.rank(whole / "out", replicates=100)
    assert ranked.to_dict()["metric"] == "accuracy"
    roles = {row["classifier"]: row["role"] for row in recassay.classifier_scores(whole / "out")}
    assert set(ranked.algorithms) == set(matrix.algorithms) == {name for name, role in roles.items() if role == "real"}


def test_every_analysis_meets_a_classifier_study(whole, cli):
    ran = cli("analyze", whole / "out", "--json")
    assert ran.code == 0, ran.err
    document = ran.json()
    assert document["metric"] == "accuracy"
    assert {"rank", "decodirt"} <= set(document["analyses"])
    assert not {"strata", "user_irt", "select"} & set(document["analyses"])


def test_own_classifiers_and_those_that_fail(tmp_path):
    write_tables(tmp_path, "one")
    names = ("Nearest", "Raises", "Hangs", "Dies", "Short", "Texts", "Spy", "Lazy")
    study = write_study(
        tmp_path,
        datasets='"one.csv"',
        classifiers=", ".join(f'"./mine.py:{name}"' for name in names),
        more="[budget]\nseconds_per_cell = 8\n\n[classifier.Spy]\nshift = 0.1\n",
    )
    record = recassay.classify(study, tmp_path / "out", workers=1)
    failed = {cell.algorithm: (cell.status, cell.reason or "") for cell in record.failed}
    assert failed["Raises"][0] == "failed"
    assert "ValueError: no luck today (mine.py, line" in failed["Raises"][1]
    assert failed["Hangs"][0] == "timeout"
    assert failed["Dies"][0] == "crashed"
    assert "shape (23,) for 24 instances" in failed["Short"][1]
    assert "classes are whole numbers" in failed["Texts"][1]
    assert "is not a classifier: it lacks fit" in failed["Lazy"][1]
    one = recassay.load_instances(tmp_path / "out")[0]
    assert one.responses.respondents == ("Nearest", "Spy")
    assert one.roles == ("real", "real")
    assert not one.responses.right()[1].all()
    results = recassay.load_results(tmp_path / "out").frame
    assert results.filter(pl.col("algorithm") == "Raises").get_column("value").null_count() == 6
    again = recassay.classify(study, tmp_path / "out", workers=2)
    assert again.ran == 0


DRIVE = """
import recassay
classify = recassay.classify

def drive(study, out):
    classify(study, out, workers=1, progress=lambda event: print(event.kind, flush=True))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="finds the workers through /proc")
def test_killed_and_resumed_it_ends_with_the_same_answers(tmp_path):
    write_tables(tmp_path, "one", "two", "three")
    study = write_study(tmp_path, datasets='"*.csv"', classifiers='"./mine.py:Slow", "./mine.py:Nearest", "rand1"')
    recassay.classify(study, tmp_path / "peaceful", workers=1)
    done = 0
    with drivers(DRIVE, study, tmp_path / "killed") as start:
        for events in (2, 7, 5):
            driver = start.start()
            assert not {"end", "gone"} & {driver.says() for _ in range(events)}
            driver.kill()
            before, done = done, recassay.status(tmp_path / "killed").done
            assert before <= done < 9
    assert done > 0
    record = recassay.classify(study, tmp_path / "killed", workers=1)
    assert (record.done, record.ran, record.failed) == (9, 9 - done, ())
    assert answers(tmp_path / "killed") == answers(tmp_path / "peaceful")
    assert list((tmp_path / "killed").glob("*/.*")) == []
