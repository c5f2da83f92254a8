"""Who answers which analysis, in which order, and what is told of those that fail; no further process is started."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import recassay
from recassay.api.publish import analysts
from recassay.api.publish.analyze import run_analyses
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.errors import NotApplicableError
from support.tables import random_results

SPEC = AnalysisSpec("ndcg@10", replicates=200)


@pytest.fixture(scope="module")
def table() -> recassay.Results:
    return random_results()


def fails(error: BaseException) -> Any:
    def run(*_: Any) -> Any:
        raise error

    return run


GOOD = SimpleNamespace(to_dict=lambda: {"a": 1.0}, frames=dict)
ANSWERS = {
    "a result": (lambda table, spec: GOOD, GOOD),
    "a refusal": (fails(NotApplicableError("too few datasets")), "too few datasets"),
    "an error": (fails(KeyError("x")), "it failed with KeyError: 'x'"),
    "an exit": (fails(SystemExit(3)), "it failed with SystemExit: 3"),
    "no data": (
        lambda table, spec: SimpleNamespace(to_dict=fails(ValueError("no\ndata")), frames=dict),
        "it failed with ValueError: no data",
    ),
    "no tables": (
        lambda table, spec: SimpleNamespace(to_dict=dict, frames=fails(ValueError("no tables"))),
        "it failed with ValueError: no tables",
    ),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_an_answer_is_a_result_or_why_there_is_none(monkeypatch, case):
    run, answer = ANSWERS[case]
    monkeypatch.setattr(analysts.analyses, "get", lambda name: Analysis("mine", "Why?", "", run))
    assert analysts.answer("mine", None, SPEC) == answer


KNOWN = {
    "plain": Analysis("plain", "Why?", "", None),
    "short": Analysis("short", "Why?", "", None, aside=2),
    "local": Analysis("local", "Why?", "", None, aside=7),
    "long": Analysis("long", "Why?", "", None, aside=9),
    "first": Analysis("first", "Why?", "", None, early=True),
}
"""`local` is not announced, so that no other process knows it."""


@pytest.fixture
def shared(monkeypatch, table):
    """Answers with another process, whose futures `end` finishes; and what was asked of whom."""

    def answered(end, spec=SPEC, *, processes=True):
        asked, started = [], []

        class Helpers:
            def __init__(self, function: str, **more: Any) -> None:
                assert function == "recassay.api.publish.analysts:analyst"

            def __bool__(self) -> bool:
                return processes

            def __enter__(self) -> Helpers:
                return self

            def __exit__(self, *_: object) -> None:
                pass

            def submit(self, name: str, given: Any, request: AnalysisSpec) -> Future[str]:
                asked.append((name, given.users, {key: load() for key, load in request.evidence.items()}))
                future: Future[str] = Future()
                end(name, future)
                return future

        monkeypatch.setattr(analysts, "Helpers", Helpers)
        announced = lambda name: None if name == "local" else "recassay"  # noqa: E731
        monkeypatch.setattr(
            analysts, "analyses", SimpleNamespace(get=KNOWN.__getitem__, announcement=announced, loadable=lambda: ())
        )
        monkeypatch.setattr(analysts, "answer", lambda name, *_: f"{name} here")
        with_users = replace(table, users=pl.DataFrame({"user": ["u1"]}))
        found = list(analysts.answered(list(KNOWN), with_users, spec, starts=lambda *told: started.append(told)))
        return found, asked, started

    return answered


HERE = [("first", "first here"), ("plain", "plain here"), ("local", "local here")]


def test_the_longest_are_asked_of_others_first(shared):
    found, asked, started = shared(lambda name, future: future.set_result(f"{name} there"))
    assert [name for name, _, _ in asked] == ["long", "short"]
    assert found == [HERE[0], ("long", "long there"), ("short", "short there"), *HERE[1:]]
    assert started == [(0, "first"), (3, "plain"), (4, "local")]


def test_what_no_other_has_begun_with_is_done_here_the_shortest_first(shared):
    found, _, started = shared(lambda name, future: None)
    assert found == [*HERE, ("short", "short here"), ("long", "long here")]
    assert started == [(0, "first"), (1, "plain"), (2, "local"), (3, "short"), (4, "long")]


def test_what_another_fails_at_is_done_here(shared):
    found, _, _ = shared(lambda name, future: future.set_exception(EOFError()))
    assert dict(found) == {name: f"{name} here" for name in KNOWN}
    assert len(found) == len(KNOWN)


def test_what_others_have_begun_with_is_waited_for(shared):
    def begins(name, future):
        future.set_running_or_notify_cancel()
        threading.Timer(0.02, future.set_result, [f"{name} there"]).start()

    found, _, started = shared(begins)
    assert dict(found) == {**dict(HERE), "long": "long there", "short": "short there"}
    assert len(found) == len(KNOWN)
    assert [name for _, name in started] == ["first", "plain", "local"]


def test_a_further_process_loads_the_analyses_first(monkeypatch):
    loaded = []
    monkeypatch.setattr(analysts, "analyses", SimpleNamespace(loadable=lambda: loaded.append("all")))
    assert analysts.analyst() is analysts.answer
    assert loaded == ["all"]


def test_without_others_all_is_done_here(shared):
    found, asked, _ = shared(lambda name, future: None, processes=False)
    assert (dict(found), asked) == ({name: f"{name} here" for name in KNOWN}, [])


def test_others_are_given_the_table_and_the_characteristics_alone(shared, table):
    evidence = {"characteristics": lambda: "sizes", "users": lambda: "scores"}
    _, asked, _ = shared(lambda name, future: future.set_result(""), AnalysisSpec("ndcg@10", evidence=evidence))
    assert asked == [("long", None, {"characteristics": "sizes"}), ("short", None, {"characteristics": "sizes"})]
    evidence["characteristics"] = fails(NotApplicableError("not known"))
    found, asked, _ = shared(lambda name, future: future.set_result(""), AnalysisSpec("ndcg@10", evidence=evidence))
    assert (dict(found), asked) == ({name: f"{name} here" for name in KNOWN}, [])


@pytest.mark.slow
def test_ranking_comes_first_and_all_are_told(table):
    told = []
    done, skipped = run_analyses(table, SPEC, ["glicko", "rank", "strata"], progress=lambda *stage: told.append(stage))
    assert [name for _, _, name in told] == ["rank", "glicko", "strata", "tables and figures"]
    assert [(count, total) for count, total, _ in told] == [(0, 4), (1, 4), (2, 4), (3, 4)]
    assert list(done) == ["glicko", "rank"]  # in their usual order
    assert "strata" in skipped


def test_pictures_are_told_each_result_beside_the_ranking(table):
    told = []
    run_analyses(table, SPEC, ["glicko", "rank", "strata"], pictures=lambda results, _: told.append(list(results)))
    assert told == [["rank"], ["rank", "glicko"]]


def test_an_analysis_that_cannot_be_loaded_states_nothing(monkeypatch):
    def refuses(name):
        raise recassay.RecAssayError("cannot be loaded")

    stated = Analysis("mine", "Why?", "", lambda table, spec: None, aside=3)
    monkeypatch.setattr(analysts.analyses, "get", lambda name: stated)
    assert (analysts._trait("mine", "aside"), analysts._trait("mine", "early")) == (3, 0)
    monkeypatch.setattr(analysts.analyses, "get", refuses)
    assert (analysts._trait("mine", "aside"), analysts._trait("mine", "early")) == (0, 0)
