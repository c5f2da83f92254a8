"""What a report hands to an analysis besides its options: what a study knows, and the other metrics."""

from __future__ import annotations

import importlib
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from recassay.core.analysis import AnalysisSpec
from recassay.core.errors import NotApplicableError
from recassay.core.tables.results import Results

VALUES = np.random.default_rng(0).random((3, 7))


def results(*, repeats: int = 1) -> Results:
    """Three algorithms on seven datasets, the last of which lacks a cell."""
    rows = [
        (f"a{a}", f"d{d}", metric, float(VALUES[a, d]) + seed / 100, seed)
        for metric in ("score", "coverage@10")
        for a in range(3)
        for d in range(7)
        for seed in range(repeats)
        if (a, d) != (2, 6)
    ]
    names = ["algorithm", "dataset", "metric", "value", "seed"]
    return Results.from_frame(pl.DataFrame(rows, schema=names, orient="row"))


EVIDENCE = {
    "users": lambda: lambda metric: (["users of", metric], {"d9": "failed"}),
    "user_scores": lambda: lambda metric: f"spread of {metric}",
    "strata": lambda: lambda metric, *, seed: f"strata of {metric} by {seed}",
    "user_responses": lambda: lambda metric: (f"hits of {metric}", {"films": "table"}),
}
ASKED = AnalysisSpec(
    "score", "drop-datasets", False, seed=7, alpha=0.1, replicates=123, control="a1", evidence=EVIDENCE
)


@pytest.fixture
def asked(monkeypatch):
    """From a module, the name of its function and a spec to what the function is called with."""

    def ask(module, function, spec=ASKED, table=None):
        there = importlib.import_module(f"recassay.analysis.{module}")
        monkeypatch.setattr(there, function, lambda *args, **more: (args, more))
        return there.ANALYSIS.run(results() if table is None else table, spec)

    return ask


def test_repeats_need_no_spread_over_users_and_one_dataset_is_enough(asked):
    assert asked("per_dataset", "per_dataset", table=results(repeats=2))[1]["users"] is None
    bare = AnalysisSpec("score", "drop-datasets", True)
    assert asked("per_dataset", "per_dataset", bare)[1] == {"users": None, "confidence": 0.95}
    one = Results.from_frame(results().frame.filter(pl.col("dataset") == "d0"))
    assert asked("per_dataset", "per_dataset", bare, one)[0][0].datasets == ("d0",)


def test_what_a_study_knows_of_its_users_is_asked_for_the_metric(asked):
    """What else a report asks of an analysis is tried by its answers: tests/api/test_options.py."""
    loaded = asked("plan.fit", "plan_study")[1]["users"]
    assert loaded("x") == (["users of", "x"], {"d9": "failed"})
    args, more = asked("users.fit", "compare_users")
    assert (args, more["skipped"]) == ((["users of", "score"], "score"), {"d9": "failed"})
    args, more = asked("strata.fit", "sweep_strata")
    assert args == ("strata of score by 7",)
    assert more == {"alpha": 0.1, "confidence": 0.9, "replicates": 123, "seed": 7}
    args, more = asked("user_irt.fit", "fit_user_irt")
    assert args == ({"films": "table"},)
    assert more == {"metric": "hits of score", "confidence": 0.9}
    assert asked("pareto", "trade_off")[1] == {"higher_is_better": False, "replicates": 123, "seed": 7}


def test_a_choice_of_datasets_gets_the_other_metrics(asked):
    spec = replace(ASKED, evidence={"characteristics": lambda: "table"})
    more = asked("select.fit", "select_datasets", spec)[1]
    assert {name: len(other.datasets) for name, other in more["others"].items()} == {"coverage@10": 6}
    assert more["characteristics"] == "table"
    assert asked("select.fit", "select_datasets")[1]["characteristics"] is None


def test_where_nothing_was_asked_each_draws_its_usual_number(asked):
    plain = AnalysisSpec("score", higher_is_better=True, evidence=EVIDENCE)
    drawn = {
        module: asked(module, function, plain)[1]["replicates"]
        for module, function in (
            ("pareto", "trade_off"),
            ("strata.fit", "sweep_strata"),
            ("users.fit", "compare_users"),
        )
    }
    assert drawn == {"pareto": 1000, "strata.fit": 2000, "users.fit": 10_000}


@pytest.mark.parametrize(("module", "why"), [
    ("users.fit", "knows the score of each user"), ("strata.fit", "held-out interactions and lists"),
    ("user_irt.fit", "knows which user got a hit"),
])  # fmt: skip
def test_what_a_table_does_not_say_is_not_answered(module, why):
    analysis = importlib.import_module(f"recassay.analysis.{module}").ANALYSIS
    with pytest.raises(NotApplicableError, match=why):
        analysis.run(results(), AnalysisSpec("score", higher_is_better=True))


@pytest.mark.parametrize(
    ("module", "name", "other"),
    [("beta_irt.fit", "beta_irt", "irt"), ("associations", "associations", "metadata"),
     ("select.fit", "select", "selection")],
)  # fmt: skip
def test_an_analysis_is_asked_for_by_its_other_name(module, name, other):
    analysis = importlib.import_module(f"recassay.analysis.{module}").ANALYSIS
    assert (analysis.name, analysis.aliases) == (name, (other,))
