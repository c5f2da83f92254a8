"""What stands between us and the operating system: streams, other processes, texts for others and users' own files."""

from __future__ import annotations

import io
import os
import pickle
import socket
import sys
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from recassay.core.errors import InputError, RecAssayError, UsageError
from recassay.core.system import aside, descriptors, display, places
from recassay.core.system.display import Displayed, summary_line
from recassay.core.system.parquet import panics_as_errors, parquet_bytes, parquet_frame, parquet_schema
from recassay.core.system.places import below, home, shareable
from recassay.core.system.plugin_file import load_class, plugin_path, split_reference, typed_reference


def test_numbers_of_closed_streams_are_held_and_the_next_one_is_given_back(monkeypatch):
    numbers, inherited, closed = iter([0, 2, 5]), [], []
    fake = SimpleNamespace(
        open=lambda path, flags: next(numbers),
        set_inheritable=lambda number, value: inherited.append((number, value)),
        close=closed.append,
        devnull=os.devnull,
        O_RDWR=os.O_RDWR,
    )
    monkeypatch.setattr(descriptors, "os", fake)
    descriptors.hold_descriptors()
    assert (inherited, closed) == ([(0, True), (2, True)], [5])


def panicking(*, quietly: bool) -> None:
    with panics_as_errors(quietly=quietly):
        os.write(2, b"thread panicked")
        raise pl.exceptions.PanicException("index out of bounds")


def failing() -> None:
    with panics_as_errors():
        os.write(2, b"kept")
        raise KeyError("another error")


def test_a_panic_of_polars_is_an_error_without_its_report(capfd):
    with pytest.raises(pl.exceptions.ComputeError, match="the file contradicts itself"):
        panicking(quietly=True)
    assert capfd.readouterr().err == ""
    with pytest.raises(pl.exceptions.ComputeError):
        panicking(quietly=False)
    assert capfd.readouterr().err == "thread panicked"
    with panics_as_errors():
        os.write(2, b"a warning" * 10_000)
        assert capfd.readouterr().err == ""
    assert capfd.readouterr().err == "a warning" * 10_000
    with pytest.raises(KeyError):
        failing()
    assert capfd.readouterr().err == "kept"


def test_a_table_as_the_bytes_of_a_file():
    frame = pl.DataFrame({"a": [1, 2], "b": ["x", None]})
    data = parquet_bytes(frame)
    assert parquet_frame(data).equals(frame)
    assert parquet_schema(data) == {"a": pl.Int64, "b": pl.String}
    for read in (parquet_frame, parquet_schema):
        with pytest.raises((pl.exceptions.PolarsError, OSError)):
            read(data[:-20])


def served(function, *requests, monkeypatch):
    """What a process of ours answers to requests, one after the other."""
    asked, answered = io.BytesIO(b"".join(map(pickle.dumps, requests))), io.BytesIO()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=asked))
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=answered))
    aside._serve(function)
    monkeypatch.undo()
    answered.seek(0)
    return [pickle.load(answered) for _ in requests]  # noqa: S301 - what was written above


def halving():
    """Loaded once, by the name of this function."""
    return lambda number, by=2: number // by


def test_requests_are_answered_one_after_the_other_and_failures_are_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "halving_module", SimpleNamespace(halving=halving))
    answers = served("halving_module:halving", (8,), (9, 0), (9, 3), monkeypatch=monkeypatch)
    assert answers == [(4, None), (None, "ZeroDivisionError: integer division or modulo by zero"), (3, None)]


class Asked:
    """A helper that answers without a process."""

    made = 0

    def __init__(self, function):
        type(self).made += 1
        self.function, self.ended = function, False
        self.process = SimpleNamespace(kill=lambda: None)

    def ask(self, *request):
        if self.made == 1 and request == ("die",):
            raise EOFError
        return [self.function, *request]

    def end(self):
        self.ended = True


@pytest.mark.parametrize(
    ("cores", "most", "asked", "started"), [(4, 9, None, 3), (9, 2, None, 2), (1, 5, None, 0), (1, 5, 4, 4)]
)
def test_there_is_a_helper_for_every_processor_but_one(monkeypatch, cores, most, asked, started):
    monkeypatch.setattr(aside, "Helper", Asked)
    monkeypatch.setattr(aside, "usable_cores", lambda: cores)
    with aside.Helpers("a:b", most=most, processes=asked) as helpers:
        assert (len(helpers._started), bool(helpers)) == (started, started > 0)
    assert all(helper.ended for helper in helpers._started)


def test_a_helper_that_dies_is_replaced_and_asked_again(monkeypatch):
    monkeypatch.setattr(Asked, "made", 0)
    monkeypatch.setattr(aside, "Helper", Asked)
    with aside.Helpers("a:b", most=1, processes=1) as helpers:
        answer = helpers.submit("die")
        assert isinstance(answer, Future)
        again = helpers.submit("live")
    assert (answer.result(), again.result()) == (["a:b", "die"], ["a:b", "live"])
    assert len(helpers._started) == 2


def answering(content: bytes):
    made = aside.Helper.__new__(aside.Helper)
    made.process = SimpleNamespace(stdin=io.BytesIO(), stdout=io.BytesIO(content))
    return made


def test_an_answer_a_failure_and_an_end_are_told_apart():
    helper = answering(pickle.dumps(([1], None)))
    assert helper.ask("a", 2) == [1]
    assert helper.process.stdin.getvalue() == pickle.dumps(("a", 2))
    with pytest.raises(ValueError, match="KeyError: 3"):
        answering(pickle.dumps((None, "KeyError: 3"))).ask()
    for broken in (b"", pickle.dumps(([1] * 99, None))[:-9]):
        with pytest.raises(EOFError):
            answering(broken).ask()


def test_another_interpreter_finds_the_code_that_runs_here(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "mine")
    assert aside.environment()["PYTHONPATH"] == f"{aside.SOURCE}{os.pathsep}mine"
    assert (aside.SOURCE / "recassay" / "core").is_dir()
    monkeypatch.delenv("PYTHONPATH")
    assert aside.environment()["PYTHONPATH"] == str(aside.SOURCE)


DATA = '<script type="application/json">'


@pytest.fixture
def called(monkeypatch):
    """Names this machine, and forgets that it did."""

    def name(host: str, full: str | None = None) -> None:
        monkeypatch.setattr(socket, "gethostname", lambda: host)
        monkeypatch.setattr(socket, "getfqdn", lambda: full or host)
        places._patterns.cache_clear()

    yield name
    places._patterns.cache_clear()


@pytest.mark.parametrize(
    ("host", "full", "text", "told"),
    [
        ("node-17", None, "on node-17: fine", "on this machine: fine"),
        ("node-17", None, "node-170 and my.node-17 stay", "node-170 and my.node-17 stay"),
        ("node-17", "node-17.uni.example", "node-17.uni.example", "this machine"),
        ("rank", None, "the rank of rank", "the rank of rank"),  # a word of ours
        ("a-1", None, "a-1 stays", "a-1 stays"),
        ("localhost", "localhost.localdomain", "localhost.localdomain stays", "localhost.localdomain stays"),
        ("x", None, "see /home/ada/a/b.csv, /scratch/x/y.", "see …/a/b.csv, …/x/y."),
        ("x", None, "at ./home/a/b and a/tmp/c and /etc/passwd/x", "at ./home/a/b and a/tmp/c and /etc/passwd/x"),
        ("x", None, "(/tmp/one/two)", "(…/one/two)"),
        ("x", None, "/tmp/one", "…/tmp/one"),
        ("x", None, r'"C:\\Users\\ada\\mine\\a.csv"', '"…/mine/a.csv"'),
        ("x", None, "C:/Users/ada/mine/a.csv", "…/mine/a.csv"),
        ("x", None, f'{DATA}"/tmp/a/b"</script>', f'{DATA}"…/a/b"</script>'),
        ("x", None, "<style>url(/tmp/a/b)</style>/tmp/a/b", "<style>url(/tmp/a/b)</style>…/a/b"),
    ],
)  # fmt: skip
def test_texts_for_others_name_no_place_of_this_machine(called, host, full, text, told):
    called(host, full)
    assert shareable(text) == told


def test_paths_below_a_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "ada")
    study = tmp_path / "ada" / "study"
    assert below(f"{study} has {study}/a.log, beside {tmp_path}/ada/b", study) == ". has a.log, beside ~/b"

    def nobody():
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "home", nobody)
    assert home() == Path("/")
    assert below("/a/b and /", Path("/study")) == below("/a/b and /", Path("/")) == "/a/b and /"


@pytest.mark.parametrize(
    ("reference", "path", "name"),
    [
        ("./mine.py:Mine", "mine.py", "Mine"),
        ("mine.py: Mine ", "mine.py", "Mine"),
        ("mine.py", "mine.py", ""),
        ("mine.py:", "mine.py:", ""),
        (":Mine", ":Mine", ""),
        ("mine.py:3x", "mine.py:3x", ""),
        ("C:/models/mine.py", "C:/models/mine.py", ""),
        ("C:/models/mine.py:Mine", "C:/models/mine.py", "Mine"),
    ],
)
def test_a_reference_is_a_path_and_a_class(reference, path, name):
    assert split_reference(reference) == (Path(path), name)


def test_where_a_reference_may_lead(tmp_path, monkeypatch):
    (tmp_path / "study").mkdir()
    for place in ("mine.py", "study/own.py"):
        (tmp_path / place).write_text("class Mine: ...\n")
    study = tmp_path / "study"
    assert plugin_path("own.py:Mine", study) == plugin_path("../study/own.py", study) == study / "own.py"
    assert plugin_path(f"{tmp_path}/mine.py:Mine", study) == tmp_path / "mine.py"
    monkeypatch.setenv("HOME", str(tmp_path))
    assert plugin_path("~/mine.py", study) == tmp_path / "mine.py"
    with pytest.raises(
        UsageError, match=r"^\.\./mine\.py: a relative path may not leave the folder of the study; give"
    ):
        plugin_path("../mine.py", study)
    with pytest.raises(InputError, match=f"there is no such file; check the path .relative to {study}"):
        plugin_path("none.py:Mine", study)
    with pytest.raises(InputError, match="there is no such file"):
        plugin_path(".", study)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("../mine.py:Mine", "{up}/mine.py:Mine"), ("lists/../../mine.csv", "{up}/mine.csv"),
        ("./mine.py:Mine", "./mine.py:Mine"), ("EASE", "EASE"), ("/a/../mine.py:Mine", "/a/../mine.py:Mine"),
    ],
)  # fmt: skip
def test_a_typed_path_may_lead_out_of_the_folder(typed, meant, tmp_path):
    assert typed_reference(typed, tmp_path / "here") == meant.format(up=tmp_path.resolve())


OWN = """
from pathlib import Path

class Mine:
    pass

Alias = Path
"""


def test_the_class_of_a_file_is_loaded_and_others_are_not_offered(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    assert load_class("own.py:Mine", tmp_path).__module__.startswith("recassay_plugin_own_")
    assert load_class("own.py:Alias", tmp_path) is Path
    with pytest.raises(InputError, match=r"^own\.py: has no class 'Pth'; known: Mine$"):
        load_class("own.py:Pth", tmp_path)
    (tmp_path / "own.py").write_text("x = 1\n")
    with pytest.raises(InputError, match=r"^own\.py: has no class 'Mine'$"):
        load_class("own.py:Mine", tmp_path)
    (tmp_path / "own.txt").write_text(OWN)
    for reference in ("own.txt:Mine", "own.py"):
        with pytest.raises(UsageError, match="names no class; write it as"):
            load_class(reference, tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "import sys\n\nsys.exit('no licence')\n",
            r"left\.py, line 3: fails when it is loaded: SystemExit: no licence",
        ),
        ("import json\njson.loads('{')\n", r"left\.py, line 2: fails when it is loaded: JSONDecodeError"),
        ("def f():\n    return 1 / 0\n\nf()\n", r"left\.py, line 2: fails when it is loaded: ZeroDivisionError"),
        ("exec('1 +')\n", r"left\.py, line 1: fails when it is loaded: SyntaxError"),
    ],
)
def test_a_file_that_fails_leaves_no_module(tmp_path, text, words):
    (tmp_path / "left.py").write_text(text)
    with pytest.raises(InputError, match=words):
        load_class("left.py:Mine", tmp_path)
    assert not [name for name in sys.modules if name.startswith("recassay_plugin_left_")]


class Shown(Displayed):
    """A result
    in two lines."""


class Bare(Displayed):
    def __repr__(self) -> str:
        return "own words"


def test_a_result_says_what_is_told_of_it(monkeypatch):
    figures = {"first": SimpleNamespace(chart=1), "second": SimpleNamespace(chart=2)}
    told = {"headline": "", "sentences": ["EASE leads."], "figures": figures, "html": "<p>"}
    teller = SimpleNamespace(**{f"result_{kind}": lambda result, kind=kind: told[kind] for kind in told})
    monkeypatch.setattr(display, "_teller", lambda: teller)
    shown = Shown()
    assert repr(shown) == "A result [Shown]"
    told["headline"] = "EASE is best"
    assert (repr(shown), repr(Bare())) == ("EASE is best [Shown]", "own words")
    assert (shown.verdict(), shown._repr_html_(), list(shown.figures)) == (["EASE leads."], "<p>", list(figures))
    assert (shown.plot(), shown.plot("second")) == tuple(figures.values())
    with pytest.raises(UsageError, match="Shown: there is no figure 'third'; it has first, second"):
        shown.plot("third")
    told["figures"] = {}
    for name in (None, "first"):
        with pytest.raises(RecAssayError, match="Shown: it has no figure; it has none"):
            shown.plot(name)
    assert summary_line(Bare()) == "Bare"


def test_a_helper_that_was_ended_is_not_asked_again(monkeypatch):
    monkeypatch.setattr(Asked, "made", 0)
    monkeypatch.setattr(aside, "Helper", Asked)
    with aside.Helpers("a:b", most=1, processes=1) as helpers:
        helpers._over = True
        with pytest.raises(EOFError):
            helpers.submit("die").result()
    assert len(helpers._started) == 1


def test_without_a_standard_error_nothing_is_held_back(monkeypatch):
    def closed(number):
        raise OSError("Bad file descriptor")

    monkeypatch.setattr("recassay.core.system.parquet.os.dup", closed)
    frame = pl.DataFrame({"a": [1]})
    assert parquet_frame(parquet_bytes(frame)).equals(frame)
    with pytest.raises(pl.exceptions.ComputeError, match="the file contradicts itself"), panics_as_errors():
        raise pl.exceptions.PanicException("index out of bounds")
