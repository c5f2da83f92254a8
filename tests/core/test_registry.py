"""The one door for parts: lazy, no collisions, near names suggested; and the metric labels."""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from recassay.core import registry as module
from recassay.core.analysis import Analysis, AnalysisResult
from recassay.core.errors import RecAssayError, UsageError
from recassay.core.names import canonical
from recassay.core.registry import Registry
from recassay.core.tables.labels import KNOWN_LABELS, find_label, known_direction, normal_label


@pytest.fixture
def announce(monkeypatch):
    def make(*entries: tuple[str, str]) -> Registry:
        points = [EntryPoint(name, value, "recassay.metrics") for name, value in entries]
        monkeypatch.setattr(module, "entry_points", lambda group: points)
        return Registry("metric", "recassay.metrics")

    return make


def test_parts_load_when_asked(announce):
    parts = announce(("Fine", "json:dumps"), ("broken", "no_such_module:thing"))
    assert parts.names() == ["Fine", "broken"]
    import json

    assert parts.get("fine") is json.dumps
    with pytest.raises(RecAssayError, match=r"'broken' cannot be loaded from no_such_module:thing"):
        parts.get("broken")


def test_unknown_names_suggest(announce):
    with pytest.raises(UsageError, match=r"unknown metric 'precison'; did you mean 'precision'\?"):
        announce(("precision", "json:dumps"), ("recall", "json:loads")).get("precison")


def test_collisions_are_refused(announce):
    parts = announce(("ndcg", "one:A"), ("nDCG", "two:B"))
    with pytest.raises(RecAssayError, match="two packages announce the metric 'nDCG': one:A and two:B"):
        parts.names()
    parts = announce(("ndcg", "json:dumps"))
    with pytest.raises(UsageError, match="'NDCG' is taken by"):
        parts.add("NDCG", object())


def test_aliases_and_python_parts(announce):
    class Thing:
        aliases = ("hr",)

    parts = announce()
    thing = Thing()
    parts.add("hitrate", thing)
    assert parts.get("HR") is parts.get("hit_rate") is thing
    assert "hr" in parts
    assert "x" not in parts
    other = Thing()
    parts.add("hits", other)
    with pytest.raises(RecAssayError, match="alias of several"):
        parts.get("hr")


def test_our_analyses_come_through_the_door():
    found = dict(module.analyses)
    assert {"rank", "compare", "profiles", "correlations"} <= set(found)
    for name, analysis in found.items():
        assert isinstance(analysis, Analysis)
        assert analysis.name == name
        assert analysis.question.endswith("?")


@pytest.mark.slow
def test_results_of_analyses_keep_the_contract():
    from recassay import analyze
    from recassay.core.tables.results import Results
    from recassay.testing.results import synthetic_results

    report = analyze(Results.from_frame(synthetic_results()), replicates=100)
    assert set(report.analyses) | set(report.skipped) == set(module.analyses.names())
    for result in report.analyses.values():
        assert isinstance(result, AnalysisResult)
        assert result.to_frame().equals(next(iter(result.frames().values())))


def test_labels_are_unambiguous():
    names = [canonical(n) for label in KNOWN_LABELS for n in (label.name, *label.aliases)]
    assert len(names) == len(set(names))


def test_labels():
    assert normal_label(" HR@20 ") == "hitrate@20"
    assert normal_label("Fancy@5") == "fancy@5"
    assert known_direction("rmse") is False
    assert known_direction("MRR@5") is True
    assert known_direction("fancy") is None
    assert find_label("ndcg", ["ndcg@10", "mrr@10"]) == "ndcg@10"
    with pytest.raises(UsageError, match="ambiguous; choose one of ndcg@10, ndcg@5"):
        find_label("ndcg", ["ndcg@10", "ndcg@5"])


def test_a_plugin_metric_brings_its_direction(announce, monkeypatch):
    class Joy:
        higher_is_better = False

    parts = announce()
    parts.add("joy", Joy())
    monkeypatch.setattr(module, "metrics", parts)
    assert known_direction("joy@10") is False


def test_core_reaches_no_room_above_it():
    root = Path(module.__file__).parent
    for path in root.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^\s*import recassay\b", text, re.M), path
        assert "registry.sections" not in text, path
