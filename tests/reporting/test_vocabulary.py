"""Words of a table: models on tasks where it says so, names untouched, and algorithms on datasets everywhere else."""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl
import pytest

from recassay import load_results, rank
from recassay.api.publish.content import tell
from recassay.api.publish.report import report_page
from recassay.core.analysis import AnalysisSpec
from recassay.core.tables.results import Results
from recassay.core.vocabulary import USUAL, Vocabulary


def table(model: str = "model", task: str = "task") -> pl.DataFrame:
    rows = [(m, f"t{t}", (i + 1) / 10 + ((7 * t + 3 * i) % 5) / 100) for i, m in enumerate("xyz") for t in range(8)]
    return pl.DataFrame(rows, schema=[model, task, "accuracy"], orient="row")


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (("model", "task"), ("model", "task")),
        (("Model", "Task Name"), ("model", "task")),
        (("algorithm", "task"), ("algorithm", "task")),
        (("model", "dataset"), ("algorithm", "dataset")),
        (("algorithm", "benchmark"), ("algorithm", "dataset")),
    ],
)
def test_the_headers_of_a_table_decide(tmp_path, header, words):
    table(*header).write_csv(tmp_path / "t.csv")
    assert load_results(tmp_path / "t.csv").words == words


def test_a_command_tells_the_words_of_the_table(tmp_path, cli):
    table().write_csv(tmp_path / "models.csv")
    table("algorithm", "dataset").write_csv(tmp_path / "algorithms.csv")
    for name, said, unsaid in (("models", "model", "algorithm"), ("algorithms", "algorithm", "model")):
        ran = cli("rank", str(tmp_path / f"{name}.csv"), "--all")
        assert said in ran.out
        assert unsaid not in ran.out.replace(str(tmp_path), "")
    assert "dataset" not in cli("rank", str(tmp_path / "models.csv")).out
    assert "task" not in cli("rank", str(tmp_path / "algorithms.csv")).out


def test_battles_are_told_of_models(tmp_path, cli):
    rows = "".join(f"a,b,{'model_a' if i % 3 else 'model_b'}\nb,c,model_{'ab'[i % 2]}\na,c,tie\n" for i in range(30))
    (tmp_path / "battles.csv").write_text("model_a,model_b,winner\n" + rows)
    ran = cli("ratings", str(tmp_path / "battles.csv"))
    assert ran.code == 0, ran.err
    assert "model" in ran.out
    assert "algorithm" not in ran.out


def spoken(words: tuple[str, str] = ("model", "task"), *names: str):
    frame = table().rename({"model": "algorithm", "task": "dataset"}).with_columns(metric=pl.lit("accuracy"))
    frame = frame.rename({"accuracy": "value"})
    if names:
        frame = frame.with_columns(pl.col("algorithm").replace(dict(zip("xyz", names, strict=False))))
    return replace(Results.from_frame(frame), words=words)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "3 of 9 {algorithms} could be best on {datasets} like these.",
            "3 of 9 models could be best on tasks like these.",
        ),
        ("An {algorithm} wins on a {dataset}.", "A model wins on a task."),
        ("{Datasets}, {Algorithm}", "Tasks, Model"),
        ("On the 40 {users} of digits, a {user}", "On the 40 instances of digits, an instance"),
        ("use --missing drop-datasets or `datasets={x}`", "use --missing drop-datasets or `datasets={x}`"),
    ],
)
def test_places_are_filled_and_other_words_stay(text, said):
    assert Vocabulary.of(("model", "task")).filled(text) == said
    usual = text.replace("{x}", "X").replace("{", "").replace("}", "").replace("X", "{x}")
    assert USUAL.filled(text) == usual


def test_a_vocabulary_names_one_and_several_with_their_articles():
    words = Vocabulary.of(("model", "evaluation"))
    assert (words.algorithms, words.datasets, words.users) == ("models", "evaluations", "instances")
    assert (words.an_algorithm, words.a_dataset, USUAL.an_algorithm) == ("a model", "an evaluation", "an algorithm")
    assert words.heading("users_of_dataset_x2") == "instances of evaluation x2"
    assert Vocabulary.of(("algorithm", "dataset")) is USUAL


def test_names_on_a_page_stay_whole_and_everything_else_is_said_in_the_words_of_the_table():
    results = spoken(("model", "task"), "the dataset zoo", "my algorithm", "z")
    _, page = report_page(results, AnalysisSpec("accuracy", replicates=100))
    shown = page[: page.index('id="appendix"')]
    for kept in ("script", "style", "td", "dd"):  # cells of data, and reasons why an analysis was not done
        shown = re.sub(rf"<{kept}\b.*?</{kept}>", "", shown, flags=re.DOTALL)
    shown = re.sub(r"was left out: it [^<]*|<th scope=.row.[^<]*", "", shown)
    read = re.sub(r"<[^>]*>", " ", shown).replace("the dataset zoo", "").replace("my algorithm", "")
    assert re.findall(r".{0,30}(?<![-\w`/.=])(?:algorithm|dataset|user)s?(?![-\w=`]).{0,20}", read, re.IGNORECASE) == []
    assert "the dataset zoo" in shown
    assert " models" in read
    assert " tasks" in read


def test_without_words_of_its_own_nothing_changes():
    found = rank(table("algorithm", "dataset"), "accuracy", replicates=100)
    assert tell(found).sentences == tell(found, spoken(("algorithm", "dataset"))).sentences


def test_a_table_of_test_instances_speaks_of_models_and_instances(tmp_path):
    rows = [f"{model},d,i{i},{(i + k) % 2}" for k, model in enumerate(("a", "b")) for i in range(6)]
    (tmp_path / "t.csv").write_text("model,dataset,instance,accuracy\n" + "\n".join(rows) + "\n")
    results = load_results(tmp_path / "t.csv")
    assert results.words == ("model", "dataset")
    words = Vocabulary.of(results.words)
    assert words.filled("{algorithms} on the {users} of a {dataset}") == "models on the instances of a dataset"
