"""A metric of a plugin is first-class: its direction, bounds and kind count in every verb that asks for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.core import registry
from recassay.core.metric_facts import MetricFacts
from recassay.metrics.accuracy import AccuracyMetric
from recassay.testing import ConformanceError, check_metric
from support.shared import only_analyses

DATASETS = [f"d{number}" for number in range(8)]
ALGORITHMS = ["A", "B", "C", "D"]


class Misses(AccuracyMetric):
    """The share of the list that is not relevant."""

    name = "misses"
    formula = "1 - h / k"
    source = "an example"
    variants = {"plain": "one convention"}  # noqa: RUF012
    facts = MetricFacts(
        "misses", "share of the list that is not relevant", "accuracy", higher_is_better=False, bounds=(0, 1),
        written="MissRate", aliases=("miss share",),
    )  # fmt: skip

    def _values(self, hits: Any, relevant: Any, k: int) -> Any:
        return 1 - hits.sum(axis=1) / k


class Glee:
    facts = MetricFacts("glee", "how glad users are", "beyond accuracy")


class Water:
    facts = MetricFacts("water", "litres of cooling water", "cost", higher_is_better=False, cutoff=False)


@pytest.fixture(autouse=True)
def plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry.metrics, "_added", {})
    for name, part in (("misses", Misses), ("glee", Glee), ("water", Water)):
        registry.metrics.add(name, part)


def table(*metrics: str) -> pl.DataFrame:
    """The values of A are the lowest everywhere, those of D the highest."""
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        [
            {"algorithm": algorithm, "dataset": dataset, "metric": metric,
             "value": round(0.2 + 0.15 * place + 0.05 * float(rng.random()), 4)}
            for metric in metrics
            for dataset in DATASETS
            for place, algorithm in enumerate(ALGORITHMS)
        ]
    )  # fmt: skip


def test_it_keeps_the_promises_it_states() -> None:
    check_metric(Misses)

    class Wrong(Misses):
        facts = MetricFacts("misses", kind="accuracy", higher_is_better=False, bounds=(0, 0.5))

    with pytest.raises(ConformanceError, match=r"gives values outside its bounds, 0 to 0\.5"):
        check_metric(Wrong)

    class HitLike(Misses):
        facts = MetricFacts("misses", kind="accuracy", higher_is_better=False, hit_like=True)

    with pytest.raises(ConformanceError, match="is stated as hit-like and is not"):
        check_metric(HitLike)


def test_rank_knows_its_direction_and_tables_its_names() -> None:
    frame = table("misses@10")
    assert recassay.rank(frame, replicates=100).to_frame().get_column("algorithm")[0] == "A"
    assert recassay.load_results(frame.with_columns(metric=pl.lit("Miss_Share@10"))).metrics == ["misses@10"]
    wide = frame.pivot(on="dataset", index="algorithm", values="value")
    headers = wide.rename({name: f"{name}_MissRate@10" for name in DATASETS})
    assert recassay.load_results(headers.rename({"algorithm": "model"})).datasets == DATASETS


def test_the_model_takes_a_share_to_logits() -> None:
    fitted = recassay.model(table("misses@10"))
    assert (fitted.scale.transform, fitted.scale.higher_is_better) == ("logit", False)
    assert recassay.model(table("glee@10")).scale.transform == "log"


def test_a_multiverse_leaves_a_cost_out_and_turns_what_is_better_low() -> None:
    found = recassay.multiverse(table("misses@10", "glee@10", "water"), metric="all")
    assert found.axes["metric"] == ("glee@10", "misses@10")
    assert any("water" in note for note in found.notes)


def test_comper_turns_its_correctness() -> None:
    names = ("misses@10", "coverage@10", "diversity@10", "robustness", "scalability")
    assert recassay.comper(table(*names), correctness="misses").table.negative.tolist() == [
        True, False, False, True, True
    ]  # fmt: skip


def test_the_report_writes_it_trades_it_and_counts_its_cost(tmp_path, monkeypatch) -> None:
    only_analyses(monkeypatch, "rank", "pareto", "cost")
    frame = table("misses@10", "glee@10", "water")
    found = recassay.analyze(frame, "misses@10", replicates=100)
    trades = {trade.other: (trade.higher_is_better, trade.mean) for trade in found.analyses["pareto"].trades}
    assert trades == {"glee@10": (True, "mean"), "water": (False, "geometric mean")}
    assert found.analyses["cost"].measures == ["water"]
    recassay.report(frame, "misses@10", out=tmp_path / "page.html", replicates=100)
    page = (tmp_path / "page.html").read_text()
    assert "MissRate@10" in page
    assert "litres of cooling water" in page


def test_it_is_listed_with_its_facts(monkeypatch) -> None:
    monkeypatch.setattr(registry.metrics, "_added", {"misses": ("misses", Misses)})
    listed = {row["name"]: row for row in recassay.list_available("metrics")}["misses"]
    assert (listed["kind"], listed["better"], listed["values"]) == ("accuracy", "lower", "0 to 1")
    assert listed["aliases"] == "miss share"
    assert [row["name"] for row in recassay.list_available("labels")][-1] == "misses"
