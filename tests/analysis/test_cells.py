"""One table, one number: with unequal seeds per fold every analysis and the page see the same value of a cell."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.api.publish.content import AnalysisReport, report_content
from recassay.core.analysis import AnalysisSpec
from recassay.core.errors import NotApplicableError
from recassay.core.registry import analyses
from recassay.core.system.plain import plain
from recassay.core.tables.results import Results
from recassay.reporting.page.board import board_data
from recassay.reporting.page.cautions import cautions

METRICS = ("ndcg@10", "auc", "coverage@10", "diversity@10", "robustness", "seconds_fit", "seconds_predict")
ALGORITHMS, DATASETS = [f"a{i}" for i in range(5)], [f"d{i}" for i in range(7)]
NOT_OF_A_TABLE = {"strata", "user_irt", "decodirt", "users", "adaptive", "groups"}
"""Analyses that need more than a table."""
LOOKS_AT_REPEATS = {"model", "plan"}
"""Those for which the spread of repeated measurements is evidence of its own."""
"""Analyses of what only a study's folder has."""


@pytest.fixture(scope="module")
def unequal() -> Results:
    """Fold 0 has three seeds, fold 1 has one, and they differ a lot."""
    rng = np.random.default_rng(3)
    rows = [
        (a, d, metric, float(value), fold, seed)
        for a in ALGORITHMS
        for d in DATASETS
        for metric in METRICS
        for fold, seed in ((0, 1), (0, 2), (0, 3), (1, 1))
        for value in [rng.uniform(0.05, 0.3) + 0.6 * fold]
    ]
    names = ["algorithm", "dataset", "metric", "value", "fold", "seed"]
    return Results.from_frame(pl.DataFrame(rows, schema=names, orient="row"))


@pytest.fixture(scope="module")
def collapsed(unequal) -> Results:
    """The same table with one row for each cell: the mean over folds of their means."""
    by_fold = unequal.frame.group_by("algorithm", "dataset", "metric", "fold").agg(pl.col("value").mean())
    cells = by_fold.group_by("algorithm", "dataset", "metric").agg(pl.col("value").mean())
    return Results.from_frame(cells.sort("algorithm", "dataset", pl.col("metric").replace_strict(METRICS, range(7))))


def answer(name: str, results: Results):
    spec = AnalysisSpec("ndcg@10", seed=2, replicates=200, evidence={"characteristics": lambda: frame_of_datasets()})
    try:
        return analyses.get(name).run(results, spec)
    except NotApplicableError as reason:
        return str(reason)


def frame_of_datasets():
    rng = np.random.default_rng(1)
    names = ("users", "items", "density", "gini")
    values = rng.lognormal(size=(len(DATASETS), len(names)))
    frame = pl.DataFrame({"dataset": DATASETS} | {name: values[:, i] for i, name in enumerate(names)})
    return recassay.load_characteristics(frame)


def agree(one: object, two: object, where: str = "", near: float = 1e-6) -> None:
    if isinstance(one, dict):
        assert isinstance(two, dict)
        assert one.keys() == two.keys(), where
        for key in one:
            agree(one[key], two[key], f"{where}.{key}", near)
    elif isinstance(one, list | tuple):
        assert len(one) == len(two), where
        for at, (left, right) in enumerate(zip(one, two, strict=True)):
            agree(left, right, f"{where}[{at}]", near)
    elif isinstance(one, float) and not math.isnan(one):
        assert two == pytest.approx(one, rel=near, abs=near / 1000), where
    elif not isinstance(one, float):
        assert one == two, where


@pytest.mark.slow
@pytest.mark.parametrize("name", analyses.names())
def test_every_analysis_sees_the_cells(unequal, collapsed, name):
    one, two = answer(name, unequal), answer(name, collapsed)
    if name in NOT_OF_A_TABLE:
        assert isinstance(one, str)
        assert one == two
    elif name == "rank":  # the intervals look at the repeats besides, as do those of per_dataset
        one, two = ({rule: found.scores.tolist() for rule, found in x.rankings.items()} for x in (one, two))
        agree(one, two)
    elif name in LOOKS_AT_REPEATS:
        assert one.algorithms == two.algorithms
    elif name == "per_dataset":
        agree(one.values.tolist(), two.values.tolist())
    else:
        # Beta-IRT ends when a step is small; how small shows in what last bits of the table move.
        agree(plain(one.to_dict()), plain(two.to_dict()), name, 1e-3 if name == "beta_irt" else 1e-6)


def test_the_page_sees_the_cells(unequal, collapsed):
    def page(results):
        report = AnalysisReport("ndcg@10", results, {}, {}, [])
        return report_content(report, None, AnalysisSpec(report.metric))

    one, two = (board_data(page(results))["metrics"] for results in (unequal, collapsed))
    agree(one, two)
    cell = unequal.frame.filter(algorithm="a0", dataset="d0", metric="ndcg@10")
    by_hand = np.mean([cell.filter(fold=fold)["value"].mean() for fold in ("0", "1")])
    assert one[0]["values"][0][0] == pytest.approx(by_hand, rel=1e-12)
    assert by_hand > cell["value"].mean() + 0.1


def test_a_cell_by_hand():
    rows = [("a", "x", 0.3, 0, 1), ("a", "x", 0.3, 0, 2), ("a", "x", 0.3, 0, 3), ("a", "x", 0.7, 1, 1),
            ("a", "y", 0.2, 0, 1), ("a", "y", None, 1, 1), ("b", "x", 1.0, 0, 1), ("b", "y", 0.5, 1, 4)]  # fmt: skip
    frame = pl.DataFrame(rows, schema=["algorithm", "dataset", "value", "fold", "seed"], orient="row")
    results = Results.from_frame(frame.with_columns(metric=pl.lit("ndcg@10")))
    assert results.cells("ndcg@10").rows() == [
        ("a", "x", pytest.approx(0.5)),
        ("a", "y", None),
        ("b", "x", 1.0),
        ("b", "y", 0.5),
    ]
    assert np.array_equal(np.isnan(results.table("ndcg@10")), [[False, True], [False, False]])
    assert results.matrix("ndcg@10", missing="worst").values.tolist() == [[pytest.approx(0.5), 0.5], [1.0, 0.5]]
    seeds = [("a", "x", "auc", value, seed) for seed, value in enumerate((0.3, 0.3, 0.3, 0.7))]
    frame = pl.DataFrame(seeds, schema=["algorithm", "dataset", "metric", "value", "seed"], orient="row")
    assert Results.from_frame(frame).cells("auc").rows() == [("a", "x", pytest.approx(0.4))]


def test_a_half_measured_cell_of_another_metric_is_told(unequal):
    half = pl.when(metric="auc", algorithm="a1", dataset="d2", seed="3").then(None).otherwise(pl.col("value"))
    results = Results.from_frame(unequal.frame.with_columns(half.alias("value")))
    report = AnalysisReport("ndcg@10", results, {}, {}, [])
    content = report_content(report, None, AnalysisSpec(report.metric))
    assert any("auc (1)" in sentence for _, sentence in cautions(content))
