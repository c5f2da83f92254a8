"""Classifier studies: from a file to stored answers, whatever happens on the way."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.classifiers.artificial import Majority, Minority, Optimal, Pessimal, RandomClassifier
from recassay.classifiers.cell import balanced_accuracy
from recassay.classifiers.spec import MlpsSpec
from recassay.classifiers.study_file import ARTIFICIAL, REAL, growing_mlps, load_classify_study
from recassay.core.errors import InputError, UsageError
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


@pytest.mark.usefixtures("in_process")
def test_a_changed_study_runs_what_changed(tmp_path):
    write_tables(tmp_path, "one", "two")
    chosen = '"./mine.py:Nearest", "majority"'
    study = write_study(tmp_path, classifiers=chosen)
    assert recassay.classify(study, tmp_path / "out", workers=1).ran == 4
    write_study(tmp_path, classifiers=chosen, more="[classifier.Nearest]\nshift = 0.5\n")
    assert recassay.classify(study, tmp_path / "out", workers=1).ran == 2
    write_study(tmp_path, classifiers=chosen, more="[protocol]\nmax_test = 9\n")
    assert recassay.classify(study, tmp_path / "out", workers=1).ran == 4
    assert {len(one.responses.items) for one in recassay.load_instances(tmp_path / "out")} == {9}


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
    assert "is no classifier: it lacks fit" in failed["Lazy"][1]
    one = recassay.load_instances(tmp_path / "out")[0]
    assert one.responses.respondents == ("Nearest", "Spy")
    assert one.roles == ("real", "real")
    assert not one.responses.right()[1].all()
    results = recassay.load_results(tmp_path / "out").frame
    assert results.filter(pl.col("algorithm") == "Raises").get_column("value").null_count() == 6
    again = recassay.classify(study, tmp_path / "out", workers=2)
    assert again.ran == 0


@pytest.mark.usefixtures("in_process")
def test_a_table_that_cannot_be_read_fails_its_cells_alone(tmp_path):
    write_tables(tmp_path, "one")
    (tmp_path / "bad.csv").write_text("a,class\n" + "1,x\n" * 20)
    study = write_study(tmp_path, datasets='"one.csv", "bad.csv"', classifiers='"majority", "rand1"')
    record = recassay.classify(study, tmp_path / "out", workers=1)
    assert record.done == 2
    assert {cell.dataset for cell in record.failed} == {"bad"}
    assert all("a single class" in (cell.reason or "") for cell in record.failed)
    tiny_table(seed=5).write_csv(tmp_path / "bad.csv")
    assert recassay.classify(study, tmp_path / "out", workers=1).done == 4


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


def test_mlps_are_spread_over_the_hundred_and_twenty():
    names = [one.name for one in growing_mlps(MlpsSpec())]
    assert (names[0], names[-1], len(names)) == ("mlp-1", "mlp-120", 12)
    every = growing_mlps(MlpsSpec(count=120))
    assert [one.settings["depth"] for one in every] == list(range(1, 121))
    assert [one.name for one in growing_mlps(MlpsSpec(count=1))] == ["mlp-120"]
    assert growing_mlps(MlpsSpec(count=0)) == ()
    grown = growing_mlps(MlpsSpec(count=3, grow="iterations"))
    assert [one.settings for one in grown] == [{"max_iter": 1}, {"max_iter": 60}, {"max_iter": 120}]


def test_artificial_classifiers():
    labels, truth = np.array([0, 0, 0, 1, 1, 2, 2, 2]), np.array([0, 1, 2, 2])
    made = {
        kind: kind(random_state=1).fit(None, labels)
        for kind in (Optimal, Pessimal, Majority, Minority, RandomClassifier)
    }
    assert made[Optimal].answer(truth).tolist() == [0, 1, 2, 2]
    assert made[Pessimal].answer(truth).tolist() == [1, 2, 0, 0]
    assert made[Majority].answer(truth).tolist() == [0] * 4
    assert made[Minority].answer(truth).tolist() == [1] * 4
    many = made[RandomClassifier].answer(np.zeros(9000, dtype=int))
    assert np.bincount(many) / 9000 == pytest.approx([1 / 3] * 3, abs=0.03)


def test_balanced_accuracy():
    truth = np.array([0, 0, 0, 0, 2, 2])
    right = np.array([True, True, True, False, False, False])
    assert balanced_accuracy(truth, right) == pytest.approx(0.375)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"classifiers": '"SVN"'}, "line 4: unknown classifier 'SVN'; did you mean 'SVM'"),
        ({"more": "[clasifier.SVM]\nC = 1\n"}, "unknown key clasifier"),
        ({"more": "[classifier.SVN]\nC = 1\n"}, "classifier.SVN: the study has no such classifier; did you mean 'SVM'"),
        ({"more": "[classifier.SVM]\nC = { low = 1 }\n"}, "classifier.SVM.C"),
        ({"more": "[protocol]\ntest_share = 2\n"}, "protocol.test_share = 2: input should be less than 1"),
        ({"more": "[protocol]\ntarget = 3\n"}, "protocol.target = 3 is no name"),
        ({"more": "[protocol]\ntest_shar = 0.2\n"}, "unknown key protocol.test_shar; did you mean 'test_share'"),
        ({"more": '[dataset.three]\ntarget = "x"\n'}, "the study has no such dataset"),
        ({"more": '[dataset.one]\ntargt = "x"\n'}, "unknown key dataset.one.targt; did you mean 'target'"),
        ({"datasets": '"data/*.csv"'}, "no table fits the pattern 'data/\\*.csv'"),
        ({"datasets": '"one.csv", "one.csv"'}, "names 'one.csv' twice"),
    ],
)
def test_mistakes_in_the_file(tmp_path, parts, message):
    write_tables(tmp_path, "one", "two")
    with pytest.raises(InputError, match=message):
        load_classify_study(write_study(tmp_path, **parts))


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"more": "[classifier.SVM]\nD = 1\n"}, "the classifier SVM cannot be made with random_state, D"),
        ({"more": "[classifier.GaussianNB]\nD = 1\n"}, "GaussianNB cannot be made.*it takes priors, var_smoothing"),
        ({"datasets": '"nowhere.csv"'}, "the file of this dataset cannot be read"),
        ({"classifiers": '"./nowhere.py:Mine"'}, "the file of this classifier cannot be read"),
    ],
)
def test_mistakes_that_the_plan_finds(tmp_path, parts, message):
    write_tables(tmp_path, "one", "two")
    with pytest.raises((InputError, UsageError), match=message):
        recassay.classify(write_study(tmp_path, **parts), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_patterns_are_sorted_and_name_a_table_once(tmp_path):
    write_tables(tmp_path, "two", "one")
    spec = load_classify_study(write_study(tmp_path, datasets='"two.csv", "*.csv", "./*"', classifiers='"SVM"'))
    assert [(table.reference, table.name) for table in spec.datasets] == [("two.csv", "two"), ("./one.csv", "one")]


def test_yaml_says_the_same(tmp_path):
    write_tables(tmp_path, "one", "two")
    toml = load_classify_study(write_study(tmp_path, classifiers='"SVM"', more="[classifier.SVM]\nC = 2.0\n"))
    (tmp_path / "study.yaml").write_text(
        "study: {name: tables, datasets: [one.csv, two.csv], classifiers: [SVM]}\n"
        "mlps: {count: 0}\nclassifier: {SVM: {C: 2.0}}\n"
    )
    assert load_classify_study(tmp_path / "study.yaml") == toml


@pytest.mark.usefixtures("in_process")
def test_only_a_classifier_study_has_instances(tmp_path):
    with pytest.raises(InputError, match="no study in this folder"):
        recassay.load_instances(tmp_path)
    study = recassay.make_study(["synthetic:few-items"], ["MostPop"], trials=0, metrics=["ndcg@10"])
    recassay.run(study, tmp_path / "films", workers=1)
    with pytest.raises(InputError, match="no classifier study"):
        recassay.load_instances(tmp_path / "films")


@pytest.mark.usefixtures("in_process")
def test_the_command(cli, tmp_path):
    write_tables(tmp_path, "one", "two")
    study = write_study(tmp_path, classifiers='"./mine.py:Nearest", "optimal", "./mine.py:Raises"')
    out = tmp_path / "out"
    assert cli("classify", study, "--out", out, "--dry-run", "--json").json()["planned"] == 6
    ran = cli("classify", study, "--out", out, "-j", 1)
    assert ran.code == 1
    assert "optimal" in ran.out
    assert "4 of 6 cells are done and 2 failed; this run ran 6 cells" in ran.out
    assert "failed: Raises on one, two: ValueError: no luck today" in " ".join(ran.out.split())
    document = cli("classify", study, "--out", out, "--json").json()
    assert document["ran"] == 0
    assert document["classifiers"][0] == {
        "classifier": "optimal", "role": "artificial", "datasets": 2, "accuracy": 1.0, "balanced_accuracy": 1.0,
        "seconds_fit": document["classifiers"][0]["seconds_fit"],
    }  # fmt: skip
    assert cli("status", out, "--json").json()["done"] == 4
    ranked = cli("rank", out, "--metric", "accuracy", "--missing", "drop-algorithms", "--json")
    assert ranked.code == 2
    assert "only one algorithm has values for accuracy" in ranked.err
    bad = cli("classify", write_study(tmp_path, classifiers='"SVN"'))
    assert (bad.code, bad.out) == (2, "")
    assert bad.err.count("\n") == 1
    listed = cli("list", "classifiers", "--json").json()["classifiers"]
    assert {*REAL, *ARTIFICIAL} <= {row["name"] for row in listed}
