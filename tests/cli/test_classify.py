"""The classifier benchmark from the outside: folders of response tables, JSON, the terminal, pictures and sentences."""

from __future__ import annotations

import dataclasses
import json
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.api.decodirt import analyze_instances, load_response_folder, sources_of
from recassay.api.publish.content import document, tell
from recassay.api.study.studies import is_classifier_study
from recassay.cli.render import print_answer
from recassay.core.errors import InputError
from recassay.core.tables.responses import InstanceResponses, Responses
from recassay.data.tables.instances import guessed_role, read_instances
from recassay.reporting.drawing import render
from recassay.reporting.figures import build_sections, figures
from recassay.reporting.sections.decodirt import sentences
from recassay.store import CellRecord
from support.decodirt import benchmark
from support.stores import write_records
from support.vega import assert_valid

NASTY = "<script>alert('1')</script> \\ \"quoted\" and far too long a name for any picture to show whole"


def write(folder, instances):
    for one in instances:
        columns = {name: one.responses.codes[:, i] for i, name in enumerate(one.responses.items)}
        pl.DataFrame({"respondent": one.responses.respondents, **columns}).write_csv(folder / f"{one.dataset}.csv")
    pl.DataFrame([{"dataset": one.dataset, **one.metadata} for one in instances]).write_csv(folder / "metadata.csv")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("responses")
    write(where, benchmark(6, items=30, networks=8))
    return where


@pytest.fixture(scope="module")
def instances(folder):
    return load_response_folder(folder)


@pytest.fixture(scope="module")
def result(instances):
    return analyze_instances(instances, orders=10)


def test_a_folder_is_what_was_written(instances):
    for read, wrote in zip(instances, benchmark(6, items=30, networks=8), strict=True):
        assert read.dataset == wrote.dataset
        assert read.responses.respondents == wrote.responses.respondents
        assert (read.responses.codes == wrote.responses.codes).all()
        assert read.roles == wrote.roles
        assert read.metadata == pytest.approx(wrote.metadata)
        assert read.responses.sources[0].sha256


def test_roles_by_name_and_from_a_table(tmp_path):
    assert [guessed_role(n) for n in ("optimal", "Rand2", "random", "MLP-7", "mlp12", "MLP", "RandomForest")] == [
        "artificial", "artificial", "artificial", "mlp", "mlp", "real", "real",
    ]  # fmt: skip
    (tmp_path / "one.tsv").write_text("who\tr1\tr2\na\t1\t0\nb\t0\t1\n")
    (tmp_path / "respondents.csv").write_text("respondent,role\nb,artificial\n")
    (tmp_path / "notes.md").write_text("not a table")
    (one,) = read_instances(tmp_path)
    assert (one.dataset, one.roles, one.metadata) == ("one", ("real", "artificial"), {})
    (tmp_path / "respondents.csv").write_text("respondent,role\nb,teacher\n")
    with pytest.raises(InputError, match=r"'teacher' is not a role; use one of real, artificial, mlp"):
        read_instances(tmp_path)


def test_bad_folders(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        read_instances(tmp_path / "none")
    with pytest.raises(InputError, match="no response table"):
        read_instances(tmp_path)
    (tmp_path / "one.csv").write_text("who,r1\na,1\nb,7\n")
    with pytest.raises(InputError, match=r"one.csv: item 'r1' holds '7' in data row 2"):
        read_instances(tmp_path)
    (tmp_path / "one.csv").write_text("who,r1\na,1\nb,0\n")
    (tmp_path / "metadata.csv").write_text("dataset,NumberOfClasses\ntwo,3\n")
    with pytest.raises(InputError, match="metadata name two"):
        read_instances(tmp_path)
    (tmp_path / "one.tsv").write_text("who\tr1\na\t1\nb\t0\n")
    with pytest.raises(InputError, match="one dataset"):
        read_instances(tmp_path)


@pytest.mark.slow
def test_the_document_is_plain_and_its_keys_stay(instances, result):
    content = json.loads(json.dumps(document("classify", result.to_dict(), sources_of(instances)), allow_nan=False))
    assert set(content) == {
        "recassay", "command", "input", "datasets", "bins", "true_score", "mean_probability", "correlations",
        "probability", "ratings", "recommended", "rated", "settings", "notes",
    }  # fmt: skip
    assert len(content["input"]) == 6
    one = content["datasets"]["dataset-05"]
    assert set(one["difficulty"]) == {"mean", "median", "deviation"}
    assert len(one["negative_items"]) == round(one["negative_share"] * 30)
    rated = content["ratings"]["least_difficulty_deviation"]["without_negative"]
    assert set(rated["ratings"]["SVM"]) == {"rating", "deviation", "volatility", "interval"}
    assert (rated["above_optimal"], rated["below_pessimal"]) == (0, 0)
    assert set(content["true_score"]["dataset-00"]["SVM"]) == {"ability", "all_instances", "without_negative"}
    assert content["recommended"]["set"] in content["ratings"]


@pytest.mark.slow
def test_tables_hold_every_number(result):
    frames = result.frames()
    assert next(iter(frames)) == "decodirt_datasets"
    assert frames["decodirt_items"].height == 6 * 30
    assert frames["decodirt_scores"].height == 6 * 20
    assert frames["decodirt_ratings"].height == 6 * 2 * 12
    assert frames["decodirt_history"].height == 2 * (4 * 6 // 2 + 2 * 6) * 12
    assert frames["decodirt_items"].filter("negative").height == sum(len(one.negative) for one in result.traits)
    assert "dataset-05" in result._repr_html_()


def test_the_terminal_shows_everything(result, capsys):
    print_answer(tell(result))
    shown = capsys.readouterr().out
    for words in (
        "6 datasets, hardest first",
        "Bins by difficulty",
        "Glicko-2 ratings, all instances",
        "without negatively discriminating",
        "Recommended, ",
        "Rule: ",
        "RandomForest",
    ):
        assert words in shown


@pytest.mark.slow
def test_the_command_on_a_folder(cli, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "recassay.reporting.figures.build_sections",
        lambda results: [dataclasses.replace(one, figures=one.figures[1:2]) for one in build_sections(results)],
    )
    names = "SVM,MLP,optimal,pessimal"
    answer = cli("irt", "instances", folder, "--rated", names, "--json", "--out", tmp_path / "out").json()
    assert answer["rated"] == ["SVM", "MLP", "optimal", "pessimal"]
    assert (tmp_path / "out" / "tables" / "decodirt_datasets.csv").exists()
    assert (tmp_path / "out" / "figures" / "decodirt_bins.svg").exists()
    assert json.loads((tmp_path / "out" / "analysis.json").read_text())["rated"] == answer["rated"]


def test_pictures_name_their_tables_and_sentences_their_numbers(result):
    drawn = figures({"decodirt": result})
    assert_valid(drawn)
    assert [figure.name for figure in drawn] == [
        "decodirt_datasets", "decodirt_bins", "decodirt_deviation", "decodirt_true_scores", "decodirt_correlations",
        "decodirt_ratings", "decodirt_ranks_difficulty", "decodirt_ranks_least_difficulty_deviation",
        "decodirt_by_MinorityClassPercentage", "decodirt_by_PercentageOfInstancesWithMissingValues",
        "decodirt_by_NumberOfInstances",
    ]  # fmt: skip
    assert {figure.table for figure in drawn} <= set(result.frames())
    said = list(sentences(result))
    table = result.to_frame().to_dicts()
    assert f"{table[0]['dataset']} is the hardest ({table[0]['mean_difficulty']:.2f})" in said[0]
    assert any("on 6 of 6 sets" in sentence and sentence.startswith("Without negative") for sentence in said)
    assert any(result.recommendation.set.title in sentence for sentence in said)


@pytest.mark.slow
def test_odd_names_and_thirty_classifiers_are_drawn():
    rng = np.random.default_rng(2)
    names = (NASTY, "optimal", "pessimal", *(f"classifier {i:02d}" for i in range(27)))
    made = []
    for d in range(4):
        codes = (rng.random((30, 20)) < rng.uniform(0.3, 0.9, (30, 1))).astype(np.uint8)
        codes[1], codes[2] = 1, 0
        roles = ("real", "artificial", "artificial") + ("real",) * 27
        responses = Responses(codes, names, tuple(f"r{i}" for i in range(20)))
        made.append(
            InstanceResponses(
                f"{NASTY} {d}", responses, roles, None, {"NumberOfInstances": float(d), "ClassEntropy": 1.0}
            )
        )
    found = analyze_instances(made, rated="all", orders=5)
    assert len(found.players) == 30
    for figure in figures({"decodirt": found})[3:7]:
        drawn = render(figure.drawn, "svg").decode()
        assert "<script" not in drawn
        assert "undefined" not in drawn


def test_one_dataset_or_a_flat_one_still_has_pictures(instances):
    one = instances[0]
    flat = InstanceResponses("flat", Responses(np.ones_like(one.responses.codes), one.responses.respondents,
                                               one.responses.items), one.roles, None, {})  # fmt: skip
    for given in ([one], [one, flat]):
        found = analyze_instances(given, orders=3)
        assert all(figure.spec["config"] for figure in figures({"decodirt": found}))
        assert list(sentences(found))


def classified(name, algorithm, dataset, accuracy, *, role="real", status="done", seconds=None):
    metrics = {} if accuracy is None else {"accuracy": accuracy, "balanced_accuracy": accuracy / 2}
    spec = {"role": role, "classifier": algorithm}
    return CellRecord(name, algorithm, dataset, 1, None, spec, status, metrics=metrics, seconds_fit=seconds)


def test_classifiers_are_listed_by_the_accuracy_of_what_they_have_done(tmp_path):
    records = [
        classified("a", "SVM", "iris", 0.5, seconds=1.0),
        classified("b", "SVM", "wine", 1.0, seconds=None),
        classified("c", "Forest", "iris", 0.875, seconds=4.0),
        classified("d", "Forest", "wine", 0.125, status="failed"),
        classified("e", "optimal", "iris", None, role="artificial", status="timeout"),
        CellRecord("f", "Tree", "iris", 1, None, {}, "failed"),
        classified("g", "never", "iris", 0.0, role="artificial"),
    ]
    folder = write_records(tmp_path, ["accuracy"], records)
    names = ("classifier", "role", "datasets", "accuracy", "balanced_accuracy", "seconds_fit")
    assert [tuple(row[name] for name in names) for row in recassay.classifier_scores(folder)] == [
        ("Forest", "real", 1, 0.875, 0.4375, 4.0),
        ("SVM", "real", 2, 0.75, 0.375, 1.0),
        ("never", "artificial", 1, 0.0, 0.0, None),
        ("optimal", "artificial", 0, None, None, None),
        ("Tree", "real", 0, None, None, None),
    ]


def test_how_a_classifier_study_ends(cli, monkeypatch, tmp_path):
    asked = {}
    record = SimpleNamespace(folder=tmp_path, done=3, planned=4, failed=[1], ran=2, seconds=7.6, causes=lambda: ())
    scores = [{"classifier": "SVM", "role": "real", "datasets": 2, "accuracy": 0.75, "balanced_accuracy": None,
               "seconds_fit": 1.0}]  # fmt: skip
    place, made = "recassay.api.classify", "recassay.api.decodirt.analyze_instances"
    monkeypatch.setattr("recassay.cli.classify.is_classifier_study", lambda path: True)
    monkeypatch.setattr(f"{place}.load_classify_study", lambda path: SimpleNamespace(name="named", seed=5))
    monkeypatch.setattr("recassay.api.classify.classify", lambda study, **more: asked.update(more) or record)
    monkeypatch.setattr(f"{place}.classifier_scores", lambda folder: scores)
    monkeypatch.setattr(f"{place}.load_instances", lambda folder: ["answers"])
    monkeypatch.setattr(made, lambda answers, **more: asked.update(more, given=answers))
    ran = cli("run", "s.toml", "--out", tmp_path, "-j", 2, "--retry-failed", "--rated", "all")
    assert ran.code == 1, "a cell failed"
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    assert "SVM real 2 0.750 1.000" in lines
    assert "3 of 4 cells are done and 1 failed; this run ran 2 cells in 8 s." in lines
    assert f"Now: recassay analyze {tmp_path}" in lines
    assert asked.pop("progress") is None, "of the analysis: there is no terminal"
    assert asked == {"folder": tmp_path, "workers": 2, "retry_failed": True, "given": ["answers"], "rated": "all",
                     "seed": 5}  # fmt: skip
    asked.clear()
    record.predictions, record.earlier = [SimpleNamespace(algorithm="SVM", dataset="iris", state="to run")], {}
    lines = [" ".join(line.split()) for line in cli("run", "s.toml", "--dry-run").out.splitlines()]
    assert {"4 cells", "classifier dataset state", "SVM iris to run"} <= set(lines)
    assert "given" not in asked, "a dry run analyses nothing"
    with monkeypatch.context() as patch:
        patch.setattr("recassay.cli.classify.run_content", lambda record: {"done": record.done})
        patch.setattr(made, lambda *_, **__: SimpleNamespace(to_dict=lambda: {"rated": 2}))
        ran = cli("run", "s.toml", "--json")
        assert (ran.code, ran.json()) == (1, {"done": 3, "classifiers": scores, "analysis": {"rated": 2}})
        record.done = 0
        assert cli("run", "s.toml", "--json").json() == {"done": 0, "classifiers": scores}
    record.done, record.failed = 0, []
    ran = cli("run", "s.toml")
    assert (ran.code, ran.out) == (0, "0 of 4 cells are done; this run ran 2 cells in 8 s.\n")
    assert "given" not in asked, "nothing to analyse yet"


KINDS = {
    '[study]\nclassifiers = ["real"]\n': True,
    "[study]\nname = 'a'\n[mlps]\ncount = 3\n": True,
    "[classifier.SVM]\nC = 1\n": True,
    '[study]\nalgorithms = ["EASE"]\n': False,
    '[study]\nalgorithms = ["EASE"]\nclassifiers = ["real"]\n': False,
    "study = 3\n": False,
    "no TOML": False,
}


@pytest.mark.parametrize("text", KINDS)
def test_a_study_file_says_whether_it_is_about_classifiers(text, tmp_path):
    (tmp_path / "s.toml").write_text(text)
    assert is_classifier_study(tmp_path / "s.toml") is KINDS[text]


def test_a_study_file_that_is_not_there_is_about_nothing(tmp_path):
    assert not is_classifier_study(tmp_path / "s.toml")


@pytest.mark.parametrize(("options", "why"), [
    ("--adaptive", "--adaptive does not apply to a study of classifiers; leave it out"),
    ("--skip-preflight", "--skip-preflight does not apply to a study of classifiers; leave it out"),
    ("--trials 3", "--trials is for a study without a file; write it into"),
    ("--rated mine", "'mine' names no group of classifiers; use paper, all, everybody, or two names and more"),
])  # fmt: skip
def test_a_study_of_classifiers_refuses_options_of_other_studies(cli, tmp_path, options, why):
    (tmp_path / "s.toml").write_text('[study]\nclassifiers = ["real"]\n')
    ran = cli("run", tmp_path / "s.toml", *options.split())
    assert ran.code == 2
    assert why in ran.err


def test_a_file_of_several_datasets_is_one_source(instances):
    files = [one.responses.sources[0] for one in instances]
    assert sources_of([*instances, *instances]).sources == tuple(files)
