"""Scripts of other libraries without a process: what they are given, how they end, and what becomes of their rows."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from recassay.algorithms.external import process
from recassay.algorithms.external.plugins import load_plugin
from recassay.algorithms.kernels.scoring import scoring_bytes
from recassay.core.errors import RecAssayError
from recassay.core.specs.search import Choice, Real, Whole
from recassay.testing.examples import example_interactions

DESCRIPTION = f"""
name = "together"
source = "the tests"
python = {sys.executable!r}
script = "together.py"
[space]
power = {{ low = 0.0, high = 1.0, default = 0.5 }}
"""


def described(folder: Path, description: str = DESCRIPTION) -> type[Any]:
    (folder / "together.py").write_text("")
    (folder / "together.toml").write_text(description)
    return load_plugin("./together.toml", folder)


def test_the_search_space_of_a_description(tmp_path):
    ranges = """
depth = { low = 1, high = 9, default = 3, log = true }
reg = { low = 0.1, high = 9, default = 1, log = true }
how = { options = ["a", "b"], default = "b" }
"""
    kind = described(tmp_path, description=DESCRIPTION + ranges)
    assert kind.space == {
        "power": Real(0.0, 1.0, 0.5),
        "depth": Whole(1, 9, 3, log=True),
        "reg": Real(0.1, 9.0, 1.0, log=True),
        "how": Choice(("a", "b"), "b"),
    }
    assert (kind.name, kind.source) == ("together", "the tests")
    (tmp_path / "together.toml").rename(tmp_path / "OTHER.TOML")
    assert load_plugin("./OTHER.TOML", tmp_path).name == "together"


def test_lists_that_are_far_too_large_and_a_guess_of_memory(tmp_path, monkeypatch):
    train = example_interactions(np.array([0, 1, 2]), np.array([0, 1, 2]), n_users=3, n_items=5)
    table = pl.DataFrame({"user": [0, 1], "item": [3, 4], "score": [1.0, 2.0]})
    table.write_parquet(tmp_path / "lists.parquet")
    assert process._read(tmp_path / "lists.parquet", train, 2, "mine").rows() == [(0, 3, 1.0), (1, 4, 2.0)]
    for change, words in (
        ({"item": [3.0, 4.5]}, "1 of its 2 rows have no whole number as item"),
        ({"item": [3, 5]}, "1 of its rows have no item from 0 to 4"),
        ({"user": [-1, 3]}, "2 of its rows have no user from 0 to 2"),
        ({"user": [0, None]}, "1 of its rows have no user from 0 to 2"),
        ({"score": [1.0, float("inf")]}, "it gives a score that is not a finite number"),
        ({"score": [1.0, None]}, "it gives a score that is not a finite number"),
        ({"item": [3.0, None]}, "1 of its rows have no item from 0 to 4"),
        ({"user": [0, 0], "item": [3, 3]}, "it recommends an item twice to one user"),
        ({"item": [0, 1]}, "all 2 rows of its recommendations.parquet name an item that the user has in train.parquet"),
    ):
        table.with_columns(**{key: pl.Series(values) for key, values in change.items()}).write_parquet(
            tmp_path / "wrong.parquet"
        )
        with pytest.raises(RecAssayError, match=re.escape(words)):
            process._read(tmp_path / "wrong.parquet", train, 2, "mine")
    whole = table.with_columns(user=pl.Series([0.0, 1.0]), item=pl.Series([3.0, 4.0]))
    for fewer in (
        table.clear(),
        whole,
        table.with_columns(item=pl.Series([0, 4])),
    ):  # what is had is left out, not refused
        fewer.write_parquet(tmp_path / "fewer.parquet")
        assert process._read(tmp_path / "fewer.parquet", train, 2, "mine").height == fewer.height
    with pytest.raises(RecAssayError, match=r"mine: its script wrote no recommendations\.parquet"):
        process._read(tmp_path / "gone.parquet", train, 2, "mine")
    monkeypatch.setattr(process, "MOST_BYTES_A_ROW", 0)
    with pytest.raises(RecAssayError, match="is far larger than what was asked for"):
        process._read(tmp_path / "lists.parquet", train, 2, "mine")
    described = {"space": {}, "spec": SimpleNamespace(parameters={}), "name": "mine"}
    kind = type("Mine", (process.ExternalProcess,), described)
    beside = 4 * 256 * 30 + 64 * 100 + scoring_bytes(20)
    assert kind().memory_bytes(10, 20, 100) == beside + 16 * 100 * 10
    assert kind(depth=7).memory_bytes(10, 20, 100) == beside + 16 * 7 * 10


class Ended:
    """Stands for `subprocess.run`: writes what a script would, and remembers what it was asked."""

    def __init__(self, code=0, said="", lists=None, versions=""):
        self.code, self.said, self.lists, self.versions, self.asked = code, said, lists, versions, []

    def __call__(self, command, *, env, stderr=None, cwd=None, **options):
        self.asked.append((command, env))
        if stderr is None:
            return SimpleNamespace(stdout=self.versions, stderr="Traceback\nno such package\n")
        stderr.write(self.said.encode())
        if self.lists is not None:
            self.train = pl.read_parquet(cwd / "train.parquet")
            self.request = json.loads((cwd / "request.json").read_text())
            self.lists.write_parquet(cwd / "recommendations.parquet")
        return SimpleNamespace(returncode=self.code)


@pytest.fixture
def ended(monkeypatch):
    """From what a script does to the algorithm that runs it, without a process."""

    def make(requires=(), **does):
        run = Ended(**does)
        monkeypatch.setattr(process.subprocess, "run", run)
        places = {"interpreter": Path("envs/python"), "script_path": Path("mine.py")}
        spec = SimpleNamespace(parameters={"note": 1, "power": 2}, requires=requires, **places)
        described = {"name": "mine", "spec": spec, "space": {"power": Real(0.0, 1.0, 0.5), "size": Whole(1, 9, 3)}}
        return type("Mine", (process.ExternalProcess,), described), run

    return make


TWO_USERS = example_interactions(np.array([0, 1]), np.array([0, 1]), n_users=2, n_items=5)


def test_what_a_script_is_given_and_how_its_rows_become_lists(ended, monkeypatch):
    ours = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PYTHONSTARTUP"}
    for variable in ours:
        monkeypatch.setenv(variable, "ours")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    rows = pl.DataFrame({"user": [1, 0, 1, 1], "item": [3, 4, 0, 2], "score": [1.0, 5.0, 2.0, 2.0]})
    kind, run = ended(lists=rows)
    top = (
        kind(depth=3, size=4, note=7)
        .fit(TWO_USERS, rng=np.random.default_rng(0))
        .recommend(np.array([0, 1], dtype=np.int32), 3, exclude=None)
    )
    assert top.items.tolist() == [[4, -1, -1], [0, 2, 3]]  # the best first, equal scores as the script wrote them
    assert run.request == {
        "parameters": {"power": 2, "size": 4, "note": 7}, "seed": int(np.random.default_rng(0).integers(2**31)),
        "k": 3, "n_users": 2, "n_items": 5,
    }  # fmt: skip
    assert run.train["user"].to_list() == [0, 1]
    [(command, environment)] = run.asked
    assert command[:3] == ["envs/python", "-P", "mine.py"]
    assert environment["OMP_NUM_THREADS"] == "1"
    assert not ours & environment.keys()
    kind().fit(TWO_USERS, rng=np.random.default_rng(0))
    assert run.request["k"] == 5, "no more than there are items"
    assert run.train.columns == ["user", "item", "weight", "time"]
    kind().fit(replace(TWO_USERS, weight=None), rng=np.random.default_rng(0))
    assert run.train.columns == ["user", "item", "time"], "what the data lack is left out"


@pytest.mark.parametrize(
    ("does", "words"),
    [
        ({"code": 3, "said": "one\n\nout of luck \n \n"}, "^mine: its script ended with exit code 3: out of luck$"),
        ({"code": -9}, "^mine: its script ended with signal 9: it said nothing$"),
        ({"code": 1, "said": "x" * 30_000 + "\n" + "y" * 400}, f"exit code 1: {'y' * 300}$"),
        ({}, "its script wrote no recommendations"),
        (
            {"requires": ("a==1", "b==2"), "versions": "['a 1', 'b 3']"},
            r"^mine: its environment has \['a 1', 'b 3'\], and the description requires a==1, b==2; install what",
        ),
        ({"requires": ("a==1",), "versions": " "}, "its environment has no such package, and the description requires"),
    ],
)
def test_how_a_script_ends_is_one_line(ended, capsys, does, words):
    kind, _ = ended(**does)
    with pytest.raises(RecAssayError, match=words):
        kind().fit(TWO_USERS, rng=np.random.default_rng(0))
    if "said" in does:
        assert capsys.readouterr().err == does["said"][-20_000:], "what it said goes to the log of the cell"


def test_versions_are_asked_of_its_own_interpreter(ended):
    rows = pl.DataFrame({"user": [0], "item": [4], "score": [1.0]})
    kind, run = ended(requires=("a==1", "b==2"), versions="['a 1', 'b 2']\n", lists=rows)
    kind().fit(TWO_USERS, rng=np.random.default_rng(0))
    asked, script = (command for command, _ in run.asked)
    assert (asked[:3], asked[4:]) == (["envs/python", "-P", "-c"], ["a", "b"])
    assert script[2] == "mine.py"


def test_finished_lists_by_hand():
    train = example_interactions(np.array([0, 1, 2]), np.array([0, 1, 2]), n_users=3, n_items=5)
    user, item, score = [0, 0, 0, 2], [4, 0, 3, 1], [9.0, 8.0, 7.0, 6.0]
    lists = process.Lists(pl.Series(user), pl.Series(item), pl.Series(score), train)
    asked = np.array([2, 0, 1], dtype=np.int32)
    top = lists.recommend(asked, 2, exclude=None)
    assert top.items.tolist() == [[1, -1], [4, 0], [-1, -1]]
    top = lists.recommend(asked, 2, exclude=train.csr())
    assert top.items.tolist() == [[1, -1], [4, 3], [-1, -1]]
    assert top.scores.tolist() == [[6.0, -np.inf], [9.0, 7.0], [-np.inf, -np.inf]]
