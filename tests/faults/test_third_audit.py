"""Faults that a third audit found: each test failed on the state before."""

from __future__ import annotations

import gzip
import json
import zipfile

import polars as pl
import pytest

import recassay
from recassay.algorithms.external.plugins import load_plugin
from recassay.api.tables import load_characteristics
from recassay.core.errors import InputError
from recassay.data.classification.table import read_class_table
from recassay.data.lists.read import read_lists
from recassay.data.readers import read_interactions
from recassay.recommenders.trying import Tried, why
from recassay.runner.jobs import Outcome, reason_of

CONTROL, JOINED, TURNED = "\x01\x02", "A\u200b", "B\u202e"


def table(folder, names, ending="csv"):
    rows = [
        {"algorithm": name, "dataset": f"d{day}\x07", "metric": "ndcg@10", "value": (7 * a + 3 * day) % 11 / 20 + 0.1}
        for a, name in enumerate(names)
        for day in range(6)
    ]
    pl.DataFrame(rows).write_csv(folder / f"results.{ending}")
    return folder / f"results.{ending}"


def test_names_are_cleaned_at_the_door_with_a_note(tmp_path):
    results = recassay.load_results(table(tmp_path, ["A", JOINED, CONTROL, TURNED]))
    assert results.algorithms == ["A", "A\\u200b", "B\\u202e", "\\x01\\x02"]
    assert results.datasets[0] == "d0\\x07"
    assert [note for note in results.notes if "codes" in note] == [
        "9 names hold characters that cannot be shown and stand with their codes: A\\u200b, B\\u202e, \\x01\\x02, "
        "d0\\x07, d1\\x07 and 4 more"
    ]


def test_names_that_can_be_shown_are_left_alone(tmp_path):
    names = ["A b", "Ä", "名", "😀", "x\\x01"]
    results = recassay.load_results(
        pl.read_csv(table(tmp_path, names)).with_columns(dataset=pl.lit("d").add(pl.col("dataset").str.slice(1, 1)))
    )
    assert results.algorithms == sorted(names)
    assert not [note for note in results.notes if "codes" in note]


def test_scores_of_users_and_characteristics_find_the_cleaned_names(tmp_path):
    rows = pl.DataFrame(
        [
            {"algorithm": name, "dataset": "films\x01", "metric": "ndcg@10", "user": f"u{user}", "value": user / 20}
            for name in ("A", CONTROL)
            for user in range(20)
        ]
    )
    results = recassay.load_results(rows)
    assert set(results.users["algorithm"]) == set(results.algorithms) == {"A", "\\x01\\x02"}
    path = tmp_path / "sizes.csv"
    pl.DataFrame({"dataset": ["films\x01", "books"], "users": [3, 4]}).write_csv(path)
    assert load_characteristics(path).aligned(results.datasets).values.tolist() == [[3.0]]


@pytest.mark.slow
def test_a_paper_with_a_name_of_control_characters(tmp_path):
    recassay.paper(table(tmp_path, ["EASE", CONTROL, "BPR"]), out=tmp_path / "paper")
    assert r"\textbackslash{}x01" in (tmp_path / "paper" / "tables" / "main.tex").read_text()


PLUGIN = """
import os, sys, time
import numpy as np

class Good:
    def fit(self, train):
        print("training\x1b[31m")
        self.gram = (train.csr().T @ train.csr()).toarray()
        np.fill_diagonal(self.gram, 0)
        self.seen = train.csr()

    def score(self, users):
        return self.seen[users] @ self.gram

class Leaves(Good):
    def fit(self, train):
        os._exit(0)

class Exits(Good):
    def fit(self, train):
        sys.exit(0)

class Loops(Good):
    def fit(self, train):
        while True:
            time.sleep(1)

class Complex(Good):
    def score(self, users):
        return super().score(users).astype(complex)

class Dates(Good):
    def score(self, users):
        return super().score(users).astype("datetime64[s]")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Leaves", "its process ended with exit code 0 without an answer, after it printed 'last words'"),
        ("Loops", "it did not end within 4 seconds"),
    ],
)
def test_a_plugin_that_ends_its_process_or_never_ends_is_not_ready(name, words, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(PLUGIN.replace("os._exit", 'os.write(1, b"last words"), os._exit'))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("recassay.api.study.check.MOST_SECONDS", 4.0)
    result = recassay.check(f"./mine.py:{name}")
    assert (result.name, len(result.broken)) == (name, 1)
    assert words in result.broken[0].problem


@pytest.mark.slow
def test_what_a_plugin_prints_stays_out_of_the_answer(tmp_path, monkeypatch, cli):
    (tmp_path / "mine.py").write_text(PLUGIN)
    monkeypatch.chdir(tmp_path)
    ran = cli("check", "./mine.py:Good", "--json")
    assert (ran.code, json.loads(ran.out)["ready"]) == (0, True)
    assert json.loads(ran.out)["printed"].startswith("training\\x1b[31m\n")


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Exits", "It raises SystemExit: 0"),
        ("Complex", "Its score(users) answers with scores of type complex128"),
        ("Dates", "Its score(users) answers with scores of type datetime64[s]"),
    ],
)
def test_what_no_study_could_use_breaks_a_rule(name, words, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(PLUGIN)
    monkeypatch.chdir(tmp_path)
    result = recassay.check(f"./mine.py:{name}")
    assert {broken.problem for broken in result.broken} == {words}


def test_a_log_that_is_gone_is_not_named():
    reason = "its process ended by SIGSEGV without an answer (its output is in logs/0.log)"
    ended = Tried(Outcome("crashed", reason=reason), "a\nb\n\n")
    assert why(ended, 60) == "its process ended by SIGSEGV without an answer, after it printed 'b'"


def packed_file(folder, name, content):
    if name.endswith(".eval"):
        with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("header.json", '{"eval": {"task": "t", "model": "m"}, "status": "success"}')
            archive.writestr("summaries.json", content)
    else:
        (folder / name).write_bytes(gzip.compress(content, 1))
    return folder / name


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("lists.json.gz", b"[" + b"[]," * 1_500_000 + b"0]", "reading them would take about 627"),
        ("samples.eval", b"[" + b"[]," * 1_500_000 + b"0]", "reading them would take about 627"),
        ("long.eval", b"[" + b" " * 67_000_000 + b"0]", "unpacks to more than a file of its size may"),
        ("blank.csv.gz", b"algorithm,dataset\n" + b"\n" * 17_000_000, "reading them would take about 3,"),
        ("blank.run.gz", b"q Q0 d 1 2 t\n" + b"\n" * 17_000_000, "reading them would take about 3,"),
        ("long.csv.gz", b"algorithm,dataset\n" + b"a" * 67_000_000, "hold more than 66,666,666"),
    ],
)
def test_a_small_packed_file_costs_little(tmp_path, name, content, words):
    with pytest.raises(InputError, match=words):
        recassay.load_results(packed_file(tmp_path, name, content))


@pytest.fixture(scope="module")
def many_rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("packed") / "many.parquet"
    pl.select(user=pl.repeat("u", 9_500_000), item=pl.repeat("i", 9_500_000)).write_parquet(path)
    return path


@pytest.mark.parametrize("door", [recassay.load_results, read_interactions, read_lists])
def test_a_small_parquet_file_costs_little(many_rows, door):
    assert many_rows.stat().st_size < 100_000
    with pytest.raises(InputError, match="packed bytes hold 152,000,000, and reading them would take about"):
        door(many_rows)


@pytest.mark.slow
def test_a_table_of_zeros_that_packs_well_is_read(tmp_path):
    """20 MB of text in 20 KB: it takes 300 MB and some seconds, as any table of its size."""
    columns = [f"word {place}" for place in range(1000)]
    rows = [",".join("1" if place == row % 1000 else "0" for place in range(1000)) for row in range(50)]
    body = "".join(f"{cells},{'ab'[row % 2]}\n" for row, cells in enumerate(rows)) * 200
    path = packed_file(tmp_path, "onehot.csv.gz", f"{','.join(columns)},class\n{body}".encode())
    assert path.stat().st_size < len(body) / 100
    assert read_class_table(path).features.shape == (10_000, 1000)


def test_a_parquet_file_of_few_words_is_read(tmp_path):
    users = pl.int_range(50_000, eager=True)
    frame = pl.DataFrame({"algorithm": "EASE", "dataset": "ml-1m", "metric": "hit@10", "user": users, "value": 0.0})
    frame.write_parquet(tmp_path / "users.parquet", compression="zstd")
    assert recassay.load_results(tmp_path / "users.parquet").users.height == 50_000


def test_a_packed_table_of_usual_repetition_is_read(tmp_path):
    rows = "".join(f"A{i % 3},d{i // 3},ndcg@10,0.{i % 89 + 10}\n" for i in range(3000))
    path = packed_file(tmp_path, "ok.csv.gz", b"algorithm,dataset,metric,value\n" + rows.encode())
    assert len(recassay.load_results(path).datasets) == 1000


ODD = """
class Listed:
    space = [1]

    def fit(self, train, *, rng):
        return self

    def recommend(self, users, k, *, exclude):
        return None

class Meta(type):
    def __getattr__(cls, name):
        raise ZeroDivisionError

class Odd(metaclass=Meta):
    pass
"""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mine.py:Listed", "its space is list, not a mapping from argument to range"),
        ("mine.py:Odd", "its attributes cannot be read: ZeroDivisionError"),
        ("loop.py:Odd", "loop.py"),
    ],
)
def test_an_odd_class_of_ones_own_is_one_line(tmp_path, name, words):
    (tmp_path / "mine.py").write_text(ODD)
    (tmp_path / "loop.py").symlink_to(tmp_path / "loop.py")
    with pytest.raises(InputError, match=words):
        load_plugin(f"./{name}", tmp_path)


def test_what_a_model_raises_when_it_is_looked_at_is_one_line():
    class Model:
        @property
        def fit(self):
            raise ZeroDivisionError

    with pytest.raises(InputError, match="its attributes cannot be read: ZeroDivisionError"):
        recassay.wrap(Model())


def test_a_reason_that_is_stored_steers_no_terminal():
    assert reason_of(ValueError("red \x1b[31m\x07")).startswith(r"ValueError: red \x1b[31m\x07")
    assert reason_of(InputError("red \x1b[31m")) == r"red \x1b[31m"
