"""Arguments of the verbs: what is of the wrong kind is one line that names it, and what fits passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import recassay
from recassay.api.arguments import _fits, _kinds, _words, checked
from recassay.core.choices import Range
from recassay.core.errors import RecAssayError, UsageError
from recassay.core.specs.study import StudySpec
from recassay.core.tables.results import Results
from support.fault_files import FILES

NAN = float("nan")
WRONG = {
    "text for a whole number": (lambda: recassay.rank("good.csv", replicates="many"), "give a whole number"),
    "a fraction for a whole number": (lambda: recassay.rank("good.csv", replicates=100.5), "replicates is 100.5"),
    "truth for a whole number": (lambda: recassay.rank("good.csv", seed=True), "seed is True; give a whole number"),
    "nothing for a number": (lambda: recassay.compare("good.csv", rope=None), "rope is None; give a number"),
    "a share as text": (lambda: recassay.compare("good.csv", within="2%"), "within is '2%'; give a number"),
    "a number for a text": (lambda: recassay.rank("good.csv", 3), "metric is 3; give a text or None"),
    "an unknown choice": (lambda: recassay.compare("good.csv", zeros="x"), "zeros is 'x'; give one of 'wilcox'"),
    "a text for a list": (lambda: recassay.rank("good.csv", methods="mean"), "methods is 'mean'; give a list or None"),
    "a list of numbers": (lambda: recassay.rank("good.csv", methods=[1]), "methods is [1]; give a list or None"),
    "a list for a mapping": (lambda: recassay.load_results("good.csv", columns=["a"]), "columns is ['a']"),
    "a number for a path": (lambda: recassay.status(3), "folder is 3; give a text or a path"),
    "nothing for a study": (lambda: recassay.run(None), "study is None; give StudySpec, a text or a path"),
    "a number for a study": (lambda: recassay.run(3), "study is 3"),
    "workers in parts": (lambda: recassay.run("study.toml", "out", workers=1.5), "workers is 1.5"),
    "no time": (lambda: recassay.run("study.toml", "out", adaptive=True, budget=-1.0), "budget is -1.0"),
    "time that is none": (lambda: recassay.adaptive("good.csv", budget=NAN), "budget is nan"),
    "a level that is none": (lambda: recassay.rank("good.csv", confidence=NAN), "confidence is nan"),
    "no lists": (lambda: recassay.evaluate({}, train="train.csv", test="test.csv"), "no lists were given"),
    "a protocol of another kind": (lambda: recassay.split("events.csv", "out", protocol=3), "protocol is 3"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    for name in ("good.csv", "study.toml", "events.csv", "train.csv", "test.csv"):
        (tmp_path / name).write_text(str(FILES[name]))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_argument_is_one_line(what):
    call, words = WRONG[what]
    with pytest.raises(RecAssayError) as said:
        call()
    assert words in str(said.value)
    assert "\n" not in str(said.value)


def test_what_fits_passes():
    @checked
    def verb(path: str | Path, share: float, many: int = 1, names: list[str] | None = None) -> tuple[object, ...]:
        return path, share, many, names

    assert verb("a", 1) == ("a", 1, 1, None)
    assert verb(Path("a"), np.float32(0.5), many=np.int64(3)) == (Path("a"), 0.5, 3, None)
    with pytest.raises(TypeError, match="missing a required argument"):
        verb()  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="share is True"):
        verb("a", True)


def test_a_verb_keeps_its_name_and_its_signature():
    import inspect

    assert recassay.rank.__name__ == "rank"
    assert list(inspect.signature(recassay.rank).parameters)[:2] == ["results", "metric"]


def test_a_verb_on_results_runs_with_one_thread_of_blas_and_leaves_the_others_as_they_were():
    def threads(results: str = "") -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        assert checked(threads)() == {1}
        assert threads() == {2}


def test_texts_of_numpy_are_texts():
    found = recassay.compare("good.csv", np.str_("ndcg@10"), zeros=np.str_("pratt"))
    assert found.metric == "ndcg@10"


LIMITED = Annotated[int, Range(1, 100)]
FITS = [
    (int, 3, True), (int, 3.0, False), (int, True, False), (int, np.int8(3), True), (int, np.bool_(True), False),
    (float, 3, True), (float, np.float32(3), True), (float, "3", False), (float, False, False),
    (bool, True, True), (bool, np.bool_(False), True), (bool, 1, False), (bool, None, False),
    (str, "x", True), (str, b"x", False), (str | None, None, True), (int | str, 2.5, False),
    (LIMITED, 1, True), (LIMITED, 100, True), (LIMITED, 0, False), (LIMITED, 101, False), (LIMITED | None, None, True),
    (LIMITED | None, 0, False), (Annotated[float, Range(0.0)], 1e9, True), (Annotated[float, Range(0.0)], -1e-9, False),
    (Literal["a", "b"], "a", True), (Literal["a", "b"], "c", False), (Literal[1, 2], True, False),
    (Literal[1, 2], 1, True),
    (Sequence[str], ["a"], True), (Sequence[str], ("a", 1), False), (Sequence[str], "a", False),
    (Sequence[str], b"a", False),
    (Sequence[int], np.array([1, 2]), True), (Iterable[str], {"a": 1}, True), (Sequence[str], 3, False),
    (Sequence[LIMITED], [1, 0], False), (Sequence[int] | int, [1], True),
    (Mapping[str, int], {}, True), (Mapping[str, int], [], False),
    (Callable[[int], int], len, True), (Callable[[int], int] | None, 3, False),
    (Path, Path("a"), True), (str | Path, 3, False), (StudySpec, "x", False), (Results | str, 3, False),
    (Any, object(), True),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value", "fits"), FITS)
def test_a_value_fits_its_annotation(kind, value, fits):
    def verb(thing):
        return "called"

    verb.__annotations__["thing"] = kind
    if fits:
        assert checked(verb)(value) == checked(verb)(thing=value) == "called"
    else:
        with pytest.raises(UsageError, match="thing is "):
            checked(verb)(value)


WORDS = [
    (LIMITED | None, "a whole number from 1 to 100 or None"),
    (Literal["a", "b"], "one of 'a', 'b'"),
    (str | Path | Mapping[str, int] | Callable[[], None], "a text, a path, a mapping or a function"),
    (Sequence[str] | bool | float, "a list, True or False or a number"),
    (StudySpec, "StudySpec"),
]


@pytest.mark.parametrize(("kind", "words"), WORDS)
def test_what_to_give_is_said(kind, words):
    def verb(thing):
        return thing

    verb.__annotations__["thing"] = kind
    with pytest.raises(UsageError) as refused:
        checked(verb)(b"x" * 200)
    assert str(refused.value).endswith(f"; give {words}")
    assert len(str(refused.value)) < 220


VERBS = [getattr(recassay, name) for name in recassay.__all__ if hasattr(getattr(recassay, name), "__wrapped__")]


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
def test_no_number_of_any_verb_is_nan_or_infinite(verb):
    numbers = {name: kind for name, kind in _kinds(verb.__wrapped__).items() if "number" in _words(kind)}
    assert [name for name, kind in numbers.items() for value in (NAN, np.inf, -np.inf) if _fits(value, kind)] == []
