"""The worked examples of the architecture page run, and keep the promises of their kind."""

from __future__ import annotations

import re
from typing import Any

import polars as pl
import pytest

import recassay
from recassay.core.analysis import AnalysisSpec
from recassay.core.registry import importers
from recassay.testing import check_algorithm, check_analysis, check_metric
from support.places import ROOT

EXAMPLES = dict(re.findall(r"```python (\w+)\n(.*?)```", (ROOT / "docs" / "architecture.md").read_text(), re.S))


def example(kind: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(EXAMPLES[kind], f"architecture.md, {kind}", "exec"), names)  # noqa: S102
    return names


def test_every_kind_of_part_has_an_example():
    assert set(EXAMPLES) == {"algorithm", "metric", "analysis", "dataset", "importer"}


@pytest.mark.slow
def test_the_algorithm_and_the_metric_keep_their_promises():
    check_algorithm(example("algorithm")["Newest"], skip=["check_learns"])
    check_metric(example("metric")["FirstPlace"])


def test_the_analysis_does_what_the_page_says():
    names = example("analysis")
    frame = pl.DataFrame({"algorithm": ["a", "b"], "dataset": "x", "metric": "ndcg@10", "value": [0.5, 0.2]})
    two = pl.concat([frame, frame.with_columns(dataset=pl.lit("y"), value=pl.Series([0.1, 0.9]))])
    check_analysis(names["ANALYSIS"])
    found = names["find_margins"](recassay.load_results(two), AnalysisSpec("ndcg@10"))
    assert found.margins == pytest.approx({"x": 0.3, "y": 0.8})
    assert names["SECTION"].sentences(found) == ["The widest margin is on y."]
    assert names["SECTION"].tables(found)[0].rows[0][0] == "x"


def test_the_dataset_and_the_importer(tmp_path, monkeypatch):
    assert example("dataset")["ENTRY"].name == "my-films"
    monkeypatch.setattr(importers, "_added", {})
    importers.add("mine", example("importer")["IMPORTER"])
    (tmp_path / "films.csv").write_text("contender,ndcg_at_10\nA,0.5\nB,0.25\n")
    results = recassay.load_results(tmp_path / "films.csv", format="mine")
    assert dict(results.frame.select("algorithm", "value").rows()) == {"A": 0.5, "B": 0.25}
