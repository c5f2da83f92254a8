"""What is known of metrics stands once, in `core/metric_facts.py`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

import recassay
from recassay.core import registry
from recassay.core.metric_facts import FACTS, OWN_FACTS, MetricFacts, MetricKind, named_facts, of_kind
from recassay.core.names import canonical
from recassay.core.specs.study import DEFAULT_METRICS
from recassay.core.tables.labels import facts_of, is_cost, is_share, known_direction, metric_name, normal_label
from recassay.evidence.users import is_hit_metric

SOURCE = Path(recassay.__file__).parent
ALLOWED = {
    "api/demo.py": "the metrics that the demo's study asks for",
    "data/importers/conventions.py": "how frameworks compute a metric of ours, by its name",
    "classifiers/cell.py": "the fields of a cell's record",
    "recommenders/cell.py": "the fields of a cell's record",
    "store/store.py": "the costs that a stored cell holds, each a field of it",
    "analysis/comper/matrix.py": "the dimensions of ComPer, which the paper names so",
    "analysis/comper/table.py": "what to add where a dimension of ComPer is missing",
    "analysis/board/result.py": "the costs that the page of a board shows, and names of findings",
    "analysis/board/fit.py": "names of findings",
    "reporting/words/board.py": "names of findings",
    "recommenders/bundle/make.py": "the fields of a cell's record",
    "testing/analysis_examples.py": "a table for the conformance suite",
}
"""Files that may name three or more metrics in one literal, and why."""


def test_each_metric_has_one_record() -> None:
    assert len(OWN_FACTS) == len(FACTS)
    names = [canonical(name) for facts in FACTS for name in (facts.name, *facts.aliases)]
    assert len(names) == len(set(names))
    assert {facts.kind for facts in FACTS} == set(get_args(MetricKind)) - {"other"}
    letters = [facts.letter for facts in FACTS if facts.letter]
    assert sorted(letters) == sorted(set(letters))


def test_the_facts_agree_with_each_other() -> None:
    for facts in FACTS:
        assert facts.bounds is None or facts.bounds[0] < facts.bounds[1]
        assert not facts.hit_like or (facts.kind == "accuracy" and facts.higher_is_better and facts.cutoff)
        assert facts.kind not in ("cost", "error") or not facts.cutoff
        assert facts.kind != "cost" or not facts.higher_is_better


def test_shares_beyond_accuracy_are_those_that_their_definitions_bound() -> None:
    assert " ".join(facts.name for facts in of_kind("beyond accuracy") if facts.share) == (
        "coverage longtail gini epc user_coverage poprsp popreo"
    )


def test_what_is_asked_of_a_label() -> None:
    assert facts_of("R-prec@20") is OWN_FACTS["rprecision"]
    assert facts_of("fancy@5") is None
    assert [is_share(label) for label in ("rprecision", "HR@10", "novelty@10", "rmse", "fancy")] == [
        True, True, False, False, False
    ]  # fmt: skip
    assert [is_cost(label) for label in ("train_time_s", "joules", "scalability", "ndcg@10", "fancy")] == [
        True, True, True, False, False
    ]  # fmt: skip
    assert [is_hit_metric(label) for label in ("hr@5", "f1@10", "rprecision@10", "auc", "fancy")] == [
        True, True, False, False, False
    ]  # fmt: skip


def test_a_study_reports_the_metrics_of_the_kdd24_study() -> None:
    """The order is part of what a cell is known by."""
    assert DEFAULT_METRICS == (
        "ndcg@10", "hitrate@10", "precision@10", "recall@10", "map@10", "mrr@10", "coverage@10", "diversity@10",
        "novelty@10",
    )  # fmt: skip


def test_a_plugin_states_the_same_record(monkeypatch: pytest.MonkeyPatch) -> None:
    class Joy:
        name = "joy"
        facts = MetricFacts("joy", "joy of users", "beyond accuracy", bounds=(0, 1), written="JOY", aliases=("glee",))

    class Sorrow:
        higher_is_better, aliases, summary = False, ("grief",), "sorrow of users"

    class Plain:
        higher_is_better = True

    monkeypatch.setattr(registry.metrics, "_added", {})
    for name, part in (("joy", Joy), ("sorrow", Sorrow), ("plain", Plain)):
        registry.metrics.add(name, part)
    assert facts_of("Glee@10") is Joy.facts
    assert (normal_label("Glee@10"), metric_name("joy@10"), is_share("joy")) == ("joy@10", "JOY@10", True)
    assert of_kind("beyond accuracy")[-1] is Joy.facts
    assert named_facts("grief") == MetricFacts("sorrow", "sorrow of users", higher_is_better=False, aliases=("grief",))
    assert (known_direction("plain"), metric_name("plain")) == (True, "Plain")


def test_a_plugin_that_cannot_be_loaded_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    class Broken:
        name, value, dist = "broken", "nowhere:Broken", None

        def load(self) -> None:
            tried.append(1)
            raise ImportError("no such thing")

    parts: registry.Registry[object] = registry.Registry("metric", "recassay.metrics")
    monkeypatch.setattr(registry, "entry_points", lambda group: [Broken()])
    monkeypatch.setattr(registry, "metrics", parts)
    assert facts_of("broken") is facts_of("fancy") is None
    assert facts_of("ndcg") is OWN_FACTS["ndcg"]
    assert tried == [1]


def _lists(tree: ast.AST) -> Iterator[list[str]]:
    """The texts of each tuple, list, set and dictionary of a module, and of each text that is split at once."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            yield [item.value for item in node.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)]
        elif isinstance(node, ast.Dict):
            for side in (node.keys, node.values):
                yield [item.value for item in side if isinstance(item, ast.Constant) and isinstance(item.value, str)]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "split":
            yield [*_words(node.func.value)]
        elif isinstance(node, ast.Assign):
            yield [*_words(node.value)]


def _words(node: ast.AST) -> list[str]:
    return node.value.split() if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def _metrics(texts: list[str]) -> set[str]:
    return {text.partition("@")[0] for text in texts} & set(OWN_FACTS)


def test_no_second_list_of_metrics() -> None:
    """Whoever needs the metrics with some property asks for the fact."""
    lists = {}
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if sum(name in text for name in OWN_FACTS) <= 2:
            continue
        found = [names for texts in _lists(ast.parse(text)) if len(names := _metrics(texts)) > 2]
        if found:
            lists[path.relative_to(SOURCE).as_posix()] = found
    assert {path: names for path, names in lists.items() if path not in ALLOWED} == {}
    assert set(lists) == set(ALLOWED)
