"""What a study file of classifiers means, which cells follow from it, and what each of them answers."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.classifiers import cell, study, study_file
from recassay.classifiers.artificial import Majority, Minority, Optimal, Pessimal, RandomClassifier
from recassay.classifiers.cell import balanced_accuracy
from recassay.classifiers.parts import load_classifier, make_classifier
from recassay.classifiers.spec import HoldoutSpec, MlpsSpec, TableSpec, TableSplitSpec
from recassay.classifiers.study import plan_classifiers
from recassay.classifiers.study_file import ARTIFICIAL, REAL, growing_mlps, load_classify_study
from recassay.classifiers.tables import PreparedTable, load_table, prepare_table, table_record
from recassay.core.errors import InputError, UsageError
from recassay.core.registry import classifiers
from recassay.data.classification.openml import OpenmlTable
from recassay.store import Store
from recassay.store.sealed import split_folder
from support.classify import tiny_table, write_study, write_tables


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
    other = RandomClassifier(random_state=2).fit(None, labels).answer(np.zeros(9000, dtype=int))
    assert not np.array_equal(many, other)
    assert Pessimal().fit(None, np.array([0, 0])).answer(np.array([0, 0])).tolist() == [1, 1]
    assert Minority().fit(None, np.array([0, 0, 2])).answer(np.array([0, 2])).tolist() == [2, 2]


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("KNeighbors-2", {"n_neighbors": 2}),
        ("KNeighbors-3", {"n_neighbors": 3}),
        ("KNeighbors-5", {"n_neighbors": 5}),
        ("KNeighbors-8", {"n_neighbors": 8}),
        ("RandomForest-3", {"n_estimators": 3}),
        ("RandomForest-5", {"n_estimators": 5}),
        ("RandomForest", {"n_estimators": 100}),
        ("MLP", {"hidden_layer_sizes": (100,)}),
        ("SVM", {"kernel": "rbf"}),
    ],
)
def test_the_portfolio_is_that_of_the_paper(name, parameters):
    made = classifiers.get(name)().get_params()
    assert {key: made[key] for key in parameters} == parameters


def test_settings_come_before_what_is_fixed():
    assert classifiers.get("KNeighbors-8")(n_neighbors=4).n_neighbors == 4
    grown = classifiers.get("GrowingMLP")(depth=2, width=3, max_iter=7, random_state=9)
    assert (grown.hidden_layer_sizes, grown.max_iter, grown.random_state) == ((3, 3), 7, 9)
    mlp, parameters = make_classifier(classifiers.get("MLP"), "MLP", {"hidden_layer_sizes": [4, 2]}, 5)
    assert (mlp.hidden_layer_sizes, mlp.random_state) == ((4, 2), 5)
    assert parameters == {"random_state": 5, "hidden_layer_sizes": (4, 2)}


class Answers:
    """A fitted classifier that answers what it was made with."""

    def __init__(self, answers):
        self.answers = answers

    def predict(self, features):
        return self.answers


class Told(Answers, Optimal):
    """One that could be told the truth."""


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([0, 1], r"an answer of shape \(2,\) for 3 instances; return one class for each row"),
        (["a", "b", "a"], "gave <U1 where classes are whole numbers"),
        ([0.0, 1.0, float("nan")], "gave float64 where classes are whole numbers"),
        ([0, 2, 5], r"predict gave 2, which is not a class \(2 of 3 answers\)"),
        ([0, -1, 1], r"predict gave -1, which is not a class \(1 of 3 answers\)"),
        ([0.5, 0.0, 1.0], r"predict gave 0.5, which is not a class \(1 of 3 answers\)"),
    ],
)
def test_answers_that_are_no_classes_are_refused(answers, message):
    table = PreparedTable(
        np.zeros((1, 1)), np.array([0]), np.zeros((3, 1)), np.array([1, 1, 0]), np.arange(3), ("a", "b")
    )
    with pytest.raises(InputError, match=message):
        cell._answers(Answers(answers), table, "real")
    for answered in ([True, False, 1.0], [True, False, True]):
        assert cell._answers(Answers(answered), table, "real").tolist() == [1, 0, 1]
    assert cell._answers(Told([0, 0, 0]), table, "real").tolist() == [0, 0, 0]
    assert cell._answers(Answers([0, 0, 0]), table, "artificial").tolist() == [0, 0, 0], "it cannot be told the truth"
    assert cell._answers(Told([0, 0, 0]).fit(None, np.array([0])), table, "artificial").tolist() == [1, 1, 0]


def test_an_answer_that_is_no_class_is_kept_as_missing():
    table = PreparedTable(
        np.zeros((1, 1)), np.array([0]), np.zeros((3, 1)), np.array([1, 1, 0]), np.array([4, 6, 9]), ("a", "b")
    )
    answers = np.array([2, 1, -1])
    assert cell._responses(table, answers, answers == table.test_y).rows() == [
        (4, "b", None, 0), (6, "b", "b", 1), (9, "a", None, 0)
    ]  # fmt: skip


def test_balanced_accuracy():
    truth = np.array([0, 0, 0, 0, 2, 2])
    right = np.array([True, True, True, False, False, False])
    assert balanced_accuracy(truth, right) == pytest.approx(0.375)
    assert balanced_accuracy(np.array([0, 0, 1]), np.array([True, False, True])) == pytest.approx(0.75)
    assert balanced_accuracy(np.array([0, 0, 1]), np.array([True, False, False])) == pytest.approx(0.25)


def test_a_network_that_was_stopped_is_no_fault():
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cell._ignore_convergence()
        warnings.warn("stopped", ConvergenceWarning, stacklevel=1)
        with pytest.raises(RuntimeWarning, match="divide"):
            warnings.warn("divide", RuntimeWarning, stacklevel=1)


def test_a_damaged_table_is_prepared_again(tmp_path):
    write_tables(tmp_path, "one")
    table = TableSpec(reference="one.csv", name="one", target="class")
    spec = TableSplitSpec(dataset="one", data="x", target="class", categorical=(), drop=(), protocol=HoldoutSpec(),
                          seed=1)  # fmt: skip
    first = prepare_table(tmp_path, spec, table, str(tmp_path))
    whole = load_table(tmp_path, spec.id)
    assert first["counts"] == {"train": 56, "test": 24, "columns": first["counts"]["columns"]}
    file = split_folder(tmp_path, spec.id) / "train_x.npy"
    file.write_bytes(file.read_bytes()[:-8])
    with pytest.raises(InputError, match=r"train_x\.npy"):
        load_table(tmp_path, spec.id)
    assert prepare_table(tmp_path, spec, table, str(tmp_path)) == first
    assert np.array_equal(load_table(tmp_path, spec.id).train_x, whole.train_x)


def test_tables_are_divided_by_seed_and_name(tmp_path):
    write_tables(tmp_path, "one")
    table = TableSpec(reference="one.csv", name="one", target="class")
    spec = TableSplitSpec(dataset="one", data="x", target="class", categorical=(), drop=(), protocol=HoldoutSpec(),
                          seed=1)  # fmt: skip
    tested = []
    for change in ({}, {"dataset": "two"}, {"seed": 2}, {"data": "y"}):
        changed = spec.model_copy(update=change)
        prepare_table(tmp_path, changed, table, str(tmp_path))
        tested.append(load_table(tmp_path, changed.id).rows.tolist())
    assert tested[3] == tested[0]
    assert len({*map(tuple, tested)}) == 3


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"classifiers": '"SVN"'}, "line 4: unknown classifier 'SVN'; did you mean 'SVM'"),
        ({"more": "[clasifier.SVM]\nC = 1\n"}, "unknown key clasifier"),
        ({"classifiers": '"SVM"]\nseeds = [1'}, "unknown key study.seeds; did you mean 'seed'"),
        ({"more": "[classifier.SVN]\nC = 1\n"}, "classifier.SVN: the study has no such classifier; did you mean 'SVM'"),
        ({"more": "[classifier.SVM]\nC = { low = 1 }\n"}, "classifier.SVM.C"),
        ({"more": "[classifier.SVM]\nC = [1, { low = 1 }]\n"}, "classifier.SVM.C = .*; give a value, or a list"),
        ({"more": "[protocol]\ntest_share = 2\n"}, "protocol.test_share = 2: input should be less than 1"),
        ({"more": "[protocol]\ntarget = 3\n"}, "protocol.target = 3 is not a name"),
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
    (tmp_path / "one.csv").rename(tmp_path / "One.CSV")
    (tmp_path / "folder.csv").mkdir()
    spec = load_classify_study(write_study(tmp_path, datasets='"two.csv", "*.csv", "./*"', classifiers='"SVM"'))
    assert [(table.reference, table.name) for table in spec.datasets] == [("two.csv", "two"), ("./One.CSV", "One")]


def test_patterns_look_into_folders_and_may_begin_at_the_root_or_at_home(tmp_path, monkeypatch):
    (tmp_path / "data" / "more").mkdir(parents=True)
    write_tables(tmp_path / "data" / "more", "one")
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path / "data"))
    whole = tmp_path / "data" / "more" / "one.csv"
    for pattern, reference in (
        ("**/*.csv", "./data/more/one.csv"),
        (f"{tmp_path.as_posix()}/data/more/*.csv", whole),
        ("~/more/o?e.csv", whole),
        ("data/more/[no]*.csv", "./data/more/one.csv"),
    ):
        spec = load_classify_study(write_study(tmp_path, datasets=f'"{pattern}"', classifiers='"SVM"'))
        assert [Path(table.reference) for table in spec.datasets] == [Path(reference)]
        assert spec.datasets[0].reference.startswith("./") is isinstance(reference, str)


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
    with pytest.raises(InputError, match="not a classifier study"):
        recassay.load_instances(tmp_path / "films")


@pytest.mark.usefixtures("in_process")
def test_the_command(cli, tmp_path):
    write_tables(tmp_path, "one", "two")
    study = write_study(tmp_path, classifiers='"./mine.py:Nearest", "optimal", "./mine.py:Raises"')
    out = tmp_path / "out"
    assert cli("run", study, "--out", out, "--dry-run", "--json").json()["planned"] == 6
    ran = cli("run", study, "--out", out, "-j", 1)
    assert ran.code == 1
    assert "optimal" in ran.out
    assert "4 of 6 cells are done and 2 failed; this run ran 6 cells" in ran.out
    assert "failed: Raises on one, two: ValueError: no luck today" in " ".join(ran.out.split())
    document = cli("run", study, "--out", out, "--json").json()
    assert document["ran"] == 0
    assert document["classifiers"][0] == {
        "classifier": "optimal", "role": "artificial", "datasets": 2, "accuracy": 1.0, "balanced_accuracy": 1.0,
        "seconds_fit": document["classifiers"][0]["seconds_fit"],
    }  # fmt: skip
    assert cli("status", out, "--json").json()["done"] == 4
    ranked = cli("rank", out, "--metric", "accuracy", "--missing", "drop-algorithms", "--json")
    assert ranked.code == 2
    assert "only one algorithm has values for accuracy" in ranked.err
    bad = cli("run", write_study(tmp_path, classifiers='"SVN"'))
    assert (bad.code, bad.out) == (2, "")
    assert bad.err.count("\n") == 1
    listed = cli("list", "classifiers", "--json").json()["classifiers"]
    assert {*REAL, *ARTIFICIAL} <= {row["name"] for row in listed}


STUDY = """
[study]
name = "by hand"
seed = 5
datasets = ["data/*.csv*"]
classifiers = ["optimal", "pessimal", "majority", "./mine.py:Quiet", "./mine.py:Handing"]

[protocol]
target = "id"
test_share = 0.25
max_test = 4
one_hot_limit = 2

[mlps]
count = 0

[budget]
seconds_per_cell = 77

[dataset.t]
target = "kind"
categorical = ["code", "two"]
drop = ["id"]

[classifier.Quiet]
always = [1]
"""
QUIET = """
import numpy as np

class Quiet:
    def __init__(self, always):
        self.always = always

    def fit(self, X, y):
        assert X.shape == (16, 5) and y.tolist().count(0) == 10

    def predict(self, X):
        return np.full(len(X), self.always[0])


class Handing:
    def fit(self, X, y):
        return Quiet([0])

    def predict(self, X):
        raise ValueError("ask what fit returned")
"""


@pytest.mark.usefixtures("in_process")
def test_a_small_study_by_hand(tmp_path, monkeypatch):
    monkeypatch.setattr(cell, "time", SimpleNamespace(perf_counter=cycle([1, 4, 10, 14]).__next__))
    kinds = ["a", "b", "a", "a", "b"] * 4
    columns = {"id": [f"r{n}" for n in range(20)], "x": range(20), "code": [1, 2, 3, 4] * 5, "two": [7, 8] * 10}
    (tmp_path / "data").mkdir()
    pl.DataFrame({**columns, "kind": kinds, "last": range(20)}).write_csv(tmp_path / "data" / "t.csv")
    (tmp_path / "data" / "t.csv.txt~").write_text("no table")
    (tmp_path / "data" / "u.csvs").write_text("no table")
    (tmp_path / "mine.py").write_text(QUIET)
    (tmp_path / "study.toml").write_text(STUDY)
    spec = load_classify_study(tmp_path / "study.toml")
    assert (spec.name, spec.seed, spec.budget.seconds_per_cell) == ("by hand", 5, 77)
    assert (spec.protocol, spec.mlps.count) == (HoldoutSpec(test_share=0.25, max_test=4, one_hot_limit=2), 0)
    assert spec.datasets == (
        TableSpec(reference="./data/t.csv", name="t", target="kind", categorical=("code", "two"), drop=("id",)),
    )
    work = plan_classifiers(spec)
    assert work.budget.seconds_per_cell == 77
    assert {planned.row.seed for planned in work.cells} == {5}
    record = recassay.classify(spec, tmp_path / "out", workers=1)
    assert (record.done, record.failed) == (5, ())
    states = {row.state for row in recassay.classify(spec, tmp_path / "out", dry_run=True).predictions}
    assert states == {"done"}
    with Store.open(tmp_path / "out") as store:
        cells = {record.algorithm: record for record in store.cells()}
        responses = {name: store.responses(record.id) for name, record in cells.items()}
    # A quarter of 20 rows are 5, of which 4 are tested: 2.4 and 1.6 of the classes are two each.
    scores = {name: tuple(record.metrics.values()) for name, record in cells.items()}
    assert scores == {"optimal": (1, 1), "pessimal": (0, 0), "majority": (0.5, 0.5), "Quiet": (0.5, 0.5),
                      "Handing": (0.5, 0.5)}  # fmt: skip
    assert all(record.counts == {"train": 16, "test": 4} for record in cells.values())
    assert {(record.seconds_fit, record.seconds_predict) for record in cells.values()} == {(3, 4)}
    assert cells["Quiet"].parameters == {"always": [1]}
    told = {"optimal": {"a": "a", "b": "b"}, "pessimal": {"a": "b", "b": "a"}}
    for name, frame in responses.items():
        assert frame.get_column("truth").to_list() == [kinds[row - 1] for row in frame.get_column("row")]
        given = told.get(name, dict.fromkeys("ab", "b" if name == "Quiet" else "a"))
        assert frame.get_column("predicted").to_list() == [given[truth] for truth in frame.get_column("truth")]
        assert frame.get_column("right").to_list() == [
            int(given[truth] == truth) for truth in frame.get_column("truth")
        ]
    known = table_record(tmp_path / "out", cells["Quiet"].split)
    assert known["columns"] == ["x", "code", "two=7", "two=8", "last"]
    assert known["features"] == {"numeric": 2, "categorical": 2}
    assert known["counts"] == {"train": 16, "test": 4, "columns": 5}


def test_what_a_study_is_by_default(tmp_path):
    write_tables(tmp_path, "one")
    (tmp_path / "mine.toml").write_text('[study]\ndatasets = ["one.csv"]\n')
    spec = load_classify_study(tmp_path / "mine.toml")
    assert (spec.name, spec.seed, spec.protocol) == ("mine", 1, HoldoutSpec())
    assert spec.protocol.model_dump() == {"test_share": 0.3, "max_test": 500, "one_hot_limit": 30}
    assert spec.mlps.model_dump() == {"count": 12, "grow": "depth", "width": 16, "max_iter": 200}
    mlps = spec.classifiers[19:]
    assert [part.name for part in spec.classifiers[:19]] == [*REAL, *ARTIFICIAL]
    assert [part.role for part in spec.classifiers] == ["real"] * 12 + ["artificial"] * 7 + ["mlp"] * 12
    assert mlps[1].settings == {"depth": 12, "width": 16, "max_iter": 200}
    assert spec.datasets == (TableSpec(reference="one.csv", name="one"),)


def test_tables_of_openml_are_known_by_what_openml_says_of_them(tmp_path, monkeypatch):
    """Suites become their tables, each once; the class of a table is the one that OpenML names, unless it is said."""
    write_tables(tmp_path, "one")
    said = {n: OpenmlTable(n, name, "kind", (), "", "m") for n, name in ((7, "glass"), (8, "one"), (9, "wine"))}
    for module in (study, study_file):
        monkeypatch.setattr(module, "describe_openml", said.__getitem__)
    monkeypatch.setattr(study_file, "suite_tables", lambda suite: {99: [9, 7]}[suite])
    more = '[protocol]\ntarget = "class"\n[dataset.wine]\ntarget = "colour"\n'
    named = '"openml:07", "openml-suite:99", "one.csv", "openml:8"'
    spec = load_classify_study(write_study(tmp_path, datasets=named, classifiers='"SVM"', more=more))
    assert [(table.reference, table.target) for table in spec.datasets] == [
        ("openml:7", None), ("openml:9", "colour"), ("one.csv", "class"), ("openml:8", None)
    ]  # fmt: skip
    names = [table.name for table in spec.datasets]
    assert (names[:2], len(set(names))) == (["glass", "wine"], 4)
    first = plan_classifiers(spec).cells[0]
    for change in ({"md5": "n"}, {"target": "colour"}, {"drop": ("id",)}):
        whole, said[7] = said[7], replace(said[7], **change)
        assert plan_classifiers(spec).cells[0].split != first.split, change
        said[7] = whole
    assert plan_classifiers(spec).cells[0].id == first.id


def test_what_a_run_of_classifiers_is_asked_for_reaches_the_driver(tmp_path, monkeypatch):
    write_tables(tmp_path, "one", "two")
    named = '"./mine.py:Nearest", "majority", "SVM"'
    spec = load_classify_study(write_study(tmp_path, classifiers=named))
    driven = []
    monkeypatch.setattr(study, "drive", lambda work, folder, **how: driven.append((work, folder, how)))
    monkeypatch.chdir(tmp_path)
    asked = {"workers": 3, "progress": print, "retry_failed": True, "cluster": "tcp://here"}
    study.run_classifiers(spec, "out", **asked)
    ((work, folder, how),) = driven
    assert (folder, how) == ((tmp_path / "out").resolve(), asked)
    assert [(cell.row.dataset, cell.row.algorithm) for cell in work.cells] == [
        (table, name) for table in ("one", "two") for name in ("Nearest", "majority", "SVM")
    ]
    ours = ("recassay.classifiers.artificial", "recassay.classifiers.cell", "recassay.classifiers.portfolio")
    assert tuple(work.preload) == (*ours, "sklearn.svm"), "files are executed in the processes of their cells alone"
    assert {work.splits[cell.split](tmp_path)["table"]["name"] for cell in work.cells} == {"one", "two"}
    made = work.manifest(3, 2)
    assert (made["machine"]["workers"], made["machine"]["threads"], made["seeds"]) == (3, 2, [spec.seed])
    assert made["cells"] == [cell.id for cell in work.cells]
    assert {name: made["datasets"][name] for name in ("one", "two")} == {
        cell.row.dataset: cell.spec["split"]["data"] for cell in work.cells
    }
    assert made["classifiers"] == {cell.row.algorithm: cell.spec["code"] for cell in work.cells}
    assert "base" not in made["study"]
    monkeypatch.setattr(study, "known_cells", lambda folder: {work.cells[1].id: "failed"})
    monkeypatch.setattr(study, "earlier_versions", lambda work, folder: {"SVM": len(work.cells)})
    dry = study.run_classifiers(spec, "out", dry_run=True)
    assert [cell.state for cell in dry.predictions] == ["to go", "failed", *["to go"] * 4]
    assert (dry.planned, dry.earlier, dry.folder, len(driven)) == (6, {"SVM": 6}, folder, 1)


def test_roles_are_those_of_the_registered(tmp_path):
    write_tables(tmp_path, "one")
    named = '"GrowingMLP", "rand1", "SVM", "./mine.py:Spy"'
    spec = load_classify_study(write_study(tmp_path, datasets='"one.csv"', classifiers=named))
    assert [part.role for part in spec.classifiers] == ["mlp", "artificial", "real", "real"]
    both = load_classify_study(write_study(tmp_path, datasets='"one.csv"', classifiers='"SVM", "rand2", "real"'))
    others = [name for name in REAL if name != "SVM"]
    assert [part.name for part in both.classifiers] == ["SVM", "rand2", *others], "each once, where it is first named"
    with pytest.raises(InputError, match=r"is not a classifier: it lacks fit; give it fit\(X, y\) and predict\(X\)"):
        load_classifier("./mine.py:Lazy", str(tmp_path))


def test_a_cell_is_known_by_all_that_its_answers_depend_on(tmp_path):
    write_tables(tmp_path, "one")
    base = load_classify_study(write_study(tmp_path, datasets='"one.csv"', classifiers='"./mine.py:Nearest"'))
    table, part = base.datasets[0], base.classifiers[0]
    changes = {
        "seed": {"seed": 2},
        "protocol": {"protocol": HoldoutSpec(max_test=9)},
        "target": {"datasets": (table.model_copy(update={"target": "colour"}),)},
        "categorical": {"datasets": (table.model_copy(update={"categorical": ("first",)}),)},
        "drop": {"datasets": (table.model_copy(update={"drop": ("first",)}),)},
        "settings": {"classifiers": (part.model_copy(update={"settings": {"shift": 1.0}}),)},
        "role": {"classifiers": (part.model_copy(update={"role": "mlp"}),)},
        "nothing": {"name": "other", "budget": base.budget.model_copy(update={"seconds_per_cell": 9.0})},
    }
    ids = {why: plan_classifiers(base.model_copy(update=what)).cells[0].id for why, what in changes.items()}
    assert len(set(ids.values())) == len(changes)
    assert ids["nothing"] == plan_classifiers(base).cells[0].id
    with (tmp_path / "mine.py").open("a") as file:
        file.write("\nx = 1\n")
    assert plan_classifiers(base).cells[0].id not in ids.values()


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
