from __future__ import annotations

import sys

import pytest

from recassay.api.study.studies import make_study
from recassay.core.errors import InputError, MissingExtraError, UsageError
from recassay.core.specs.study import DEFAULT_METRICS, OptionsSpec, RangeSpec
from recassay.recommenders.study_file import load_study
from recassay.runner import file_tables

WHOLE = """
[study]
name = "films"
seed = 7
datasets = ["ml-100k", "synthetic:dense-small@2", "./data/mine.parquet"]
algorithms = ["MostPop", "EASE", "ItemKNN", "./mymodel.py:MyModel"]
metrics = ["ndcg@10", "coverage@10"]
[protocol]
positive_threshold = 3.5
split = "user_time"
ratios = [0.7, 0.1, 0.2]
[tuning]
trials = 12
metric = "recall@20"
[budget]
seconds_per_cell = 60
memory_gb = 8
[algorithm.EASE]
reg = 250.0
[algorithm.ItemKNN]
k = {low = 10, high = 500, log = true}
similarity = ["cosine", "jaccard"]
[algorithm.MyModel]
depth = 3
[dataset.mine]
positive_threshold = 0.3
read = {time = "ignore"}
[dataset.ml-100k]
positive_threshold = "none"
"""


def write(tmp_path, text, name="films.toml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def refused(tmp_path, text):
    with pytest.raises(InputError) as raised:
        load_study(write(tmp_path, text))
    return str(raised.value)


def study(more="", **changed):
    keys = {"datasets": '["a"]', "algorithms": '["EASE"]'} | changed
    return "[study]\n" + "\n".join(f"{key} = {value}" for key, value in keys.items()) + "\n" + more


def test_a_whole_file_is_read(tmp_path):
    spec = load_study(write(tmp_path, WHOLE))
    assert (spec.name, spec.seeds, spec.metrics) == ("films", (7,), ("ndcg@10", "coverage@10"))
    assert [d.name for d in spec.datasets] == ["ml-100k", "dense-small@2", "mine"]
    assert [a.name for a in spec.algorithms] == ["MostPop", "EASE", "ItemKNN", "MyModel"]
    assert spec.protocol.split == "user_time"
    assert spec.protocol.ratios == (0.7, 0.1, 0.2)
    assert (spec.tuning.trials, spec.tuning.metric) == (12, "recall@20")
    assert (spec.budget.seconds_per_cell, spec.budget.memory_gb) == (60, 8)
    assert spec.algorithms[1].settings == {"reg": 250.0}
    assert spec.algorithms[2].settings == {
        "k": RangeSpec(low=10, high=500, log=True),
        "similarity": OptionsSpec(options=("cosine", "jaccard")),
    }
    assert spec.algorithms[3].settings == {"depth": 3}
    assert spec.datasets[2].protocol == {"positive_threshold": 0.3}
    assert spec.datasets[0].protocol == {"positive_threshold": None}
    assert spec.datasets[2].read.time == "ignore"
    assert spec.base == str(tmp_path.resolve())


def test_defaults_are_those_of_the_design(tmp_path):
    spec = load_study(write(tmp_path, study()))
    assert spec.name == "films"
    assert spec.metrics == DEFAULT_METRICS
    assert (spec.tuning.trials, spec.tuning.metric, spec.seeds) == (40, "ndcg@10", (1,))
    assert spec.folds is None


def test_kfold_runs_every_fold_unless_one_is_named(tmp_path):
    assert load_study(write(tmp_path, study('[protocol]\nsplit = "kfold"\nfolds = 3'))).folds == (0, 1, 2)
    assert load_study(write(tmp_path, study('[protocol]\nsplit = "kfold"\nfold = 1'))).folds is None


def test_several_seeds(tmp_path):
    assert load_study(write(tmp_path, study(seed="[3, 5]"))).seeds == (3, 5)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (study("[protocol]\npositive_treshold = 3"), ["protocol.positive_treshold", "'positive_threshold'", "line 5"]),
        (study("[tunning]\ntrials = 3"), ["tunning", "'tuning'", "line 4"]),
        (study(algorithm='["x"]'), ["study.algorithm", "'algorithms'", "line 4"]),
        (study("[tuning]\ntrials = -1"), ["tuning.trials = -1", "greater than or equal to 0", "line 5"]),
        (study('[tuning]\ntrials = "many"'), ["tuning.trials = 'many'", "integer"]),
        (study('[protocol]\nsplit = "sideways"'), ["protocol.split = 'sideways'", "'global_time'"]),
        (study("[protocol]\nratios = [0.5, 0.1, 0.1]"), ["protocol", "sum to 1"]),
        (study("[algorithm.EAES]\nreg = 1"), ["algorithm.EAES", "did you mean 'EASE'", "line 4"]),
        (study("[algorithm.EASE]\nreg = {low = 1, hihg = 2}"), ["algorithm.EASE.reg.hihg", "'high'"]),
        (study("[algorithm.EASE]\nreg = {low = 3, high = 2}"), ["algorithm.EASE.reg", "low = 3 is above high = 2"]),
        (study("[algorithm.EASE]\nreg = 2020-01-01"), ["algorithm.EASE.reg", "give a value"]),
        (study("[dataset.a]\nmin_user_interaction = 2"), ["dataset.a.min_user_interaction", "'min_user_interactions'"]),
        (study("[budget]\nmemory_gb = 0"), ["budget.memory_gb = 0", "greater than 0"]),
        (study("[algorithm]\nEASE = 3"), ["algorithm.EASE is not a section", "write [algorithm.EASE] and keys below"]),
        (study("[dataset.a]\nread = 3"), ["dataset.a.read is not a section", "line 5"]),
        (study('[dataset.a]\ndata = ""'), ["dataset.a.data = ''", "name a stored dataset, a preset, a file or"]),
        (study("[algorithm.EASE]\nreg = nan"), ["algorithm.EASE.reg = nan", "give a value"]),
        (study("[algorithm.EASE]\nreg = []"), ["algorithm.EASE.reg"]),
        (
            study("[multiverse]\nsplit = 3"),
            ["multiverse.split = 3 is not a list", "write split = [..., ...]", "line 5"],
        ),
        (study("[multiverse]\nexclude = [3]"), ["multiverse.exclude is not a list of rules"]),
        (
            study("[multiverse]\ntrials = [1, 2]\nexclude = [{}]"),
            ["multiverse.exclude is not a list of rules", "line 6"],
        ),
        (study("[dataset.a]\ndata = 3"), ["dataset.a.data = 3", "name a stored dataset, a preset, a file or"]),
        (study("[algorithm.EASE]\nreg = inf"), ["algorithm.EASE.reg = inf", "give a value"]),
        (study(metrics="[]"), ["study.metrics is not a list of names"]),
        (study(name="3"), ["study.name = 3"]),
        (study(seed="[1, 1]"), ["study.seed"]),
        (
            study('[protocol]\nsplit = "random"\n[dataset.a]\nsplit = "sideways"'),
            ["line 7", "dataset.a.split = 'sideways'"],
        ),
        (study(seed='"one"'), ["study.seed", "line 4"]),
        (study(datasets="[]"), ["study.datasets", "at least one"]),
        (study(datasets='["a", "a"]'), ["study.datasets", "'a' twice"]),
        ("[study]\ndatasets = ['a']", ["study.algorithms is missing"]),
        ("study = 3", ["study is not a section"]),
        ("[study\n", ["not TOML", "line 1"]),
    ],
)
def test_a_mistake_names_its_key_and_the_nearest(tmp_path, text, parts):
    message = refused(tmp_path, text)
    assert message.startswith(str(tmp_path / "films.toml"))
    assert "\n" not in message
    for part in parts:
        assert part in message


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (study(seed="[1, 1]"), "study.seed: "),
        (study(seed='"one"'), "study.seed = "),
        (study("[tuning]\ntrials = -1"), "tuning.trials = -1: input should be"),
        (study("[tuning]\ntrials = {a = 1}"), "tuning.trials = {'a': 1}: input should be"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_key_and_its_value(tmp_path, text, problem):
    """A rule on the study as a whole has no single value; that of one key shows what was given."""
    assert problem in refused(tmp_path, text)


def test_a_missing_file_is_one_line(tmp_path):
    with pytest.raises(InputError, match=r"nothing\.toml: the study file cannot be read"):
        load_study(tmp_path / "nothing.toml")


def test_yaml_needs_its_library(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(MissingExtraError, match=r"reading films\.yaml needs pyyaml"):
        load_study(write(tmp_path, "study: {}", "films.yaml"))


def test_yaml_says_the_same(tmp_path):
    pytest.importorskip("yaml", reason="pyyaml is not installed")
    text = "study:\n  datasets: [a]\n  algorithms: [EASE]\nalgorithm:\n  EASE: {reg: {low: 1, high: 9}}\n"
    spec = load_study(write(tmp_path, text, "films.yaml"))
    assert spec.algorithms[0].settings == {"reg": RangeSpec(low=1, high=9)}
    with pytest.raises(InputError, match=r"line 4.*tunnig.*'tuning'"):
        load_study(write(tmp_path, "study:\n  datasets: [a]\n  algorithms: [EASE]\ntunnig: {}\n", "films.yaml"))


def test_arguments_make_the_same_study(tmp_path):
    spec = make_study(
        ["a", "b"], ["x"], metrics=["ndcg@5"], trials=10, protocol={"split": "random"}, settings={"x": {"k": 3}}
    )
    assert [d.reference for d in spec.datasets] == ["a", "b"]
    assert spec.tuning.trials == 10
    assert spec.protocol.split == "random"
    assert spec.algorithms[0].settings == {"k": 3}
    with pytest.raises(UsageError, match=r"there is no option 'splt'; did you mean 'split'"):
        make_study(["a"], ["x"], protocol={"splt": "random"})


def test_names_that_clash_are_told_apart_by_the_whole_reference():
    spec = make_study(["./a/x.csv", "./b/x.csv", "y.csv.gz"], ["./a.py:Model", "./b.py:Model", "EASE"])
    assert [d.name for d in spec.datasets] == ["./a/x.csv", "./b/x.csv", "y"]
    assert [a.name for a in spec.algorithms] == ["./a.py:Model", "./b.py:Model", "EASE"]


def test_options_may_be_written_out(tmp_path):
    spec = load_study(write(tmp_path, study("[algorithm.EASE]\nreg = {options = [1.0, 9.0]}")))
    assert spec.algorithms[0].settings == {"reg": OptionsSpec(options=(1.0, 9.0))}


def test_a_given_split_is_filtered_only_where_that_is_said(tmp_path):
    given = '[dataset.a]\nsplit = "given"\n'
    for more, changes in (
        (given, {"split": "given", "filter": "none"}),
        (given + 'filter = "core"', {"split": "given", "filter": "core"}),
        ('[dataset.a]\nfilter = "none"\npositive_threshold = "none"', {"filter": "none", "positive_threshold": None}),
        ('[protocol]\nfilter = "once"\n' + given, {"split": "given"}),
        ('[protocol]\nsplit = "given"\n', {"filter": "none"}),
        ("", {}),
    ):
        assert load_study(write(tmp_path, study(more))).datasets[0].protocol == changes


def test_the_folds_of_a_dataset_of_its_own(tmp_path):
    folds = []
    for more in ('split = "kfold"\nfolds = 3', 'split = "kfold"\nfold = 1', 'split = "random"'):
        folds.append(load_study(write(tmp_path, study(f"[dataset.a]\n{more}"))).datasets[0].folds)
    assert folds == [(0, 1, 2), None, None]
    named = '[protocol]\nsplit = "kfold"\nfold = 1\n[dataset.a]\nfolds = 3'
    assert load_study(write(tmp_path, study(named))).datasets[0].folds is None, "one fold is named for all"


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        (b"\xff\xfe", "a.toml", "the study file is not UTF-8 text; save it as UTF-8"),
        (b"x = " + b"[" * 3000 + b"]" * 3000, "a.toml", "this is nested too deeply; write plain keys in sections"),
        (b"# " + b"long " * 100, "a.toml", "is too large for a study file; name a TOML or YAML file"),
        (b"study: [", "a.yaml", "this is not YAML: "),
        (b"- 3", "a.yml", "this holds no sections; write study, protocol, tuning, "),
        (b"study:\n  name: a\n  name: b\n", "a.yaml", "a.yaml, line 3: the key 'name' stands twice; keep one of them"),
    ],
    ids=["bytes", "deep", "large", "yaml", "list", "twice"],
)
def test_a_file_that_is_no_study(tmp_path, monkeypatch, content, name, words):
    if name != "a.toml":
        pytest.importorskip("yaml", reason="pyyaml is not installed")
    monkeypatch.setattr(file_tables, "MOST_BYTES", 400 if content.startswith(b"#") else 10_000)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as raised:
        load_study(tmp_path / name)
    assert words in str(raised.value)
    assert str(tmp_path / name) in str(raised.value)


def test_a_folder_is_no_study(tmp_path):
    with pytest.raises(InputError, match="is a folder, not a study file"):
        load_study(tmp_path)


def test_a_file_with_a_mark_of_its_encoding_is_read(tmp_path):
    assert load_study(write(tmp_path, "\ufeff" + study(name='"marked"'))).name == "marked"
