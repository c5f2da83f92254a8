"""Analyses in further processes: the same answers, whoever gives them."""

from __future__ import annotations

import json
import time

import pytest

import recassay
from recassay.api.publish import analysts
from recassay.api.publish.analysts import answered
from recassay.core.analysis import AnalysisSpec
from recassay.core.registry import analyses
from recassay.core.system import aside
from recassay.core.system.plain import plain
from recassay.reporting.drawing import Drawers
from support.tables import random_results

SPEC = AnalysisSpec("ndcg@10", replicates=200)


@pytest.fixture(scope="module")
def table() -> recassay.Results:
    return random_results()


def answers(processes: int, table: recassay.Results, names: list[str]) -> dict[str, str]:
    results = list(answered(names, table, SPEC, starts=lambda count, name: None, processes=processes))
    assert sorted(name for name, _ in results) == sorted(names), "each is answered once"
    return {
        name: result if isinstance(result, str) else json.dumps(plain(result.to_dict()), sort_keys=True)
        for name, result in results
    }


@pytest.mark.slow
def test_one_process_or_two_the_numbers_are_the_same(table):
    names = ["rank", *(name for name, analysis in analyses if analysis.aside is not None)]
    assert len(names) > 5
    alone, shared = answers(0, table, names), answers(1, table, names)
    assert alone.keys() == shared.keys() == set(names)
    assert alone == shared
    assert "characteristics" in alone["clusters"]  # why it does not apply comes through as well


@pytest.mark.slow
def test_another_process_did_some_of_the_work(table, monkeypatch):
    here = []
    plainly = analysts.answer
    monkeypatch.setattr(analysts, "answer", lambda name, *more: here.append(name) or plainly(name, *more))
    slow = analyses.get("rank")
    monkeypatch.setitem(analyses._loaded, "rank", _slowed(slow))
    assert answers(1, table, ["rank", "ratings", "glicko"]).keys() == {"rank", "ratings", "glicko"}
    assert "rank" in here
    assert "ratings" not in here


def _slowed(analysis):
    from dataclasses import replace
    from time import sleep

    def run(results, spec):
        sleep(6)
        return analysis.run(results, spec)

    return replace(analysis, run=run)


@pytest.mark.slow
@pytest.mark.parametrize("again", [False, True], ids=["once", "always"])
def test_a_process_that_dies_costs_nothing(table, monkeypatch, again):
    """It is replaced; where the next one dies, too, this process does the work."""
    ended = []
    start = aside.Helper.__init__

    def dies(helper, function):
        start(helper, function)
        if again or len(ended) < 2:
            helper.process.kill()
            ended.append(helper.process.wait())

    monkeypatch.setattr(aside.Helper, "__init__", dies)
    names = {"rank", "ratings", "glicko"}
    results = answers(2, table, sorted(names))
    assert {name for name, result in results.items() if result.startswith("{")} == names
    assert len(ended) >= 2


def test_who_is_interrupted_waits_for_nobody(tmp_path, monkeypatch):
    """The process is killed within its request, and no other one is started for it."""
    (tmp_path / "sleeper.py").write_text("import time\n\ndef sleeper():\n    return time.sleep\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    helpers = aside.Helpers("sleeper:sleeper", most=1, processes=1)
    began = time.monotonic()
    pending = helpers.submit(60)
    time.sleep(1.0)
    helpers.__exit__(KeyboardInterrupt)
    assert time.monotonic() - began < 20
    assert isinstance(pending.exception(), (EOFError, OSError))
    assert len(helpers._started) == 1


def test_where_no_process_can_be_started_this_one_works(table, monkeypatch):
    def refused(*arguments, **options):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(aside.subprocess, "Popen", refused)
    assert json.loads(answers(2, table, ["rank"])["rank"])
    with Drawers(2) as drawers:
        spec = {"mark": "point", "data": {"values": [{"a": 1}]}, "encoding": {"x": {"field": "a", "type": "nominal"}}}
        assert drawers.submit(spec, ("svg",)).result()["svg"].startswith(b"<svg")
